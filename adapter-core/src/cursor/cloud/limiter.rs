//! Keeps to the limits of the endpoint that lists repositories.
//!
//! Cursor allows one such request a minute and thirty an hour for each user. The limiter knows no clock: times
//! come in as milliseconds, and its state can be kept between runs of a short-lived command.

use std::collections::VecDeque;
use std::fs::OpenOptions;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const PER_HOUR_MAX: usize = 30;
/// Far more than thirty times take.
const FILE_BYTES_MAX: u64 = 64 << 10;

/// Remembers the requests of the last hour.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepositoryLimiter {
    sent_at_ms: VecDeque<i64>,
}

impl RepositoryLimiter {
    /// Takes leave to send a request now.
    ///
    /// # Errors
    ///
    /// Fails with the time to wait if a limit is reached.
    pub fn acquire(&mut self, now_ms: i64) -> Result<(), Duration> {
        // A clock that was set back must not lock the endpoint for longer than the limits do.
        self.sent_at_ms
            .retain(|&sent| sent > now_ms - HOUR_MS && sent <= now_ms);
        let minute = self.sent_at_ms.back().map(|last| last + MINUTE_MS - now_ms);
        let hour = (self.sent_at_ms.len() >= PER_HOUR_MAX)
            .then(|| self.sent_at_ms.front().map(|first| first + HOUR_MS - now_ms))
            .flatten();
        match minute
            .max(hour)
            .and_then(|wait| u64::try_from(wait).ok())
            .filter(|&wait| wait > 0)
        {
            Some(wait) => Err(Duration::from_millis(wait)),
            None => {
                self.sent_at_ms.push_back(now_ms);
                Ok(())
            }
        }
    }
}

/// The requests of all processes of a user, in a file that they share.
#[derive(Debug, Clone)]
pub struct LimitFile {
    path: PathBuf,
}

impl LimitFile {
    /// Names the file, which need not exist.
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Takes leave to send a request now, unless this or another process has sent too many.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be used. A file that holds something else is begun anew.
    pub fn acquire(&self, now_ms: i64) -> io::Result<Result<(), Duration>> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(&self.path)?;
        file.lock()?;
        let mut kept = Vec::new();
        (&file).take(FILE_BYTES_MAX).read_to_end(&mut kept)?;
        let mut limiter: RepositoryLimiter = serde_json::from_slice(&kept).unwrap_or_default();
        let leave = limiter.acquire(now_ms);
        let kept = serde_json::to_vec(&limiter)?;
        file.set_len(0)?;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(&kept)?;
        Ok(leave)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_that_share_a_file_keep_to_one_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("repositories.json");
        let (one, other) = (LimitFile::new(path.clone()), LimitFile::new(path.clone()));
        assert_eq!(one.acquire(1_000).unwrap(), Ok(()));
        assert_eq!(other.acquire(31_000).unwrap(), Err(Duration::from_secs(30)));
        assert_eq!(other.acquire(61_000).unwrap(), Ok(()));
        std::fs::write(&path, "not ours").unwrap();
        assert_eq!(one.acquire(62_000).unwrap(), Ok(()));
    }

    #[test]
    fn one_request_a_minute_passes() {
        let mut limiter = RepositoryLimiter::default();
        assert_eq!(limiter.acquire(1_000), Ok(()));
        assert_eq!(limiter.acquire(31_000), Err(Duration::from_secs(30)));
        assert_eq!(limiter.acquire(61_000), Ok(()));
    }

    #[test]
    fn thirty_requests_an_hour_pass() {
        let mut limiter = RepositoryLimiter::default();
        for request in 0..30 {
            assert_eq!(limiter.acquire(request * 61_000), Ok(()));
        }
        let after = 30 * 61_000;
        assert_eq!(
            limiter.acquire(after),
            Err(Duration::from_millis((HOUR_MS - after) as u64))
        );
        assert_eq!(limiter.acquire(HOUR_MS), Ok(()));
    }

    #[test]
    fn a_clock_that_was_set_back_does_not_lock_the_endpoint() {
        let mut limiter = RepositoryLimiter::default();
        assert_eq!(limiter.acquire(10 * HOUR_MS), Ok(()));
        assert_eq!(limiter.acquire(HOUR_MS), Ok(()));
    }
}
