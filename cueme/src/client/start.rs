//! Starting a broker by running ourselves again, so that the first call on a machine just works.
//!
//! Of any number of clients that find no broker, the one that holds the start lock starts it; the others wait for the
//! lock and then find it running.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use cueme_broker::lifecycle::Record;
use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;
use protocol_spec::version::PROGRAM;
use rustix::event::{PollFd, PollFlags, Timespec};
use semver::Version;

use super::connect::connect;
use super::link::{Side, target};
use super::remote;
use super::stream::Connection;
use super::trust::{check_directory, check_file, is_own_file, is_safe_program};
use crate::environment;
use crate::error::CliError;

/// The timeout from a broker's start until it accepts connections; it may check a large database first.
const READY_WAIT_MAX: Duration = Duration::from_secs(60);
/// The size of the log's tail that is searched for the reason of a failed start, in bytes.
const REASON_BYTES_MAX: u64 = 16 * 1024;
/// The longest ready line, in bytes.
const READY_BYTES_MAX: usize = 8 * 1024;

/// Connects to the broker: one elsewhere where this machine is linked to it, else this user's, which is started if needed.
pub(crate) fn connect_or_start(places: &Places, side: Side) -> Result<Connection, CliError> {
    if let Some(target) = target(places, side)? {
        return remote::connect(&target);
    }
    match connect(places)? {
        Some(stream) => Ok(stream.into()),
        None => Ok(start(places)?.into()),
    }
}

/// The same; where a proxy finds no broker, it tries again for some seconds.
pub(super) fn connect_patiently(places: &Places, side: Side) -> Result<Connection, CliError> {
    remote::patiently(|| connect_or_start(places, side))
}

/// Takes the lock under which brokers are started. No other process starts one until it is dropped.
pub(crate) fn lock_start(places: &Places) -> Result<File, CliError> {
    for directory in [&places.socket_dir, &places.data_dir, &places.log_dir] {
        check_directory(directory)?;
        create_private(directory)?;
        check_directory(directory)?;
    }
    // A directory that was open to others may hold what they put there.
    for file in [
        places.start_lock(),
        places.lock(),
        places.database(),
        places.log(),
    ] {
        check_file(&file)?;
    }
    let path = places.start_lock();
    let failed = |error: io::Error| CliError::io("lock", &path, &error).with_exit(Exit::NoBroker);
    let file = private_file().append(true).open(&path).map_err(failed)?;
    file.lock().map_err(failed)?;
    Ok(file)
}

fn start(places: &Places) -> Result<UnixStream, CliError> {
    let _lock = lock_start(places)?;
    if let Some(stream) = connect(places)? {
        return Ok(stream);
    }
    let ran = run_broker(places);
    // One that somebody else started at the same moment, such as a user service, is as good as ours.
    match connect(places)? {
        Some(stream) => Ok(stream),
        None => Err(ran.err().unwrap_or_else(|| vanished(places))),
    }
}

fn vanished(places: &Places) -> CliError {
    CliError::no_broker("the broker reported that it was ready, but cannot be reached")
        .with_hint(format!("read {}", places.log().display()))
}

/// Runs a broker in the background and returns once it accepts.
fn run_broker(places: &Places) -> Result<(), CliError> {
    let executable = executable_for(places)?;
    let log_path = places.log();
    let mut log = open_log(&log_path)?;
    let log_start = log.seek(SeekFrom::End(0)).unwrap_or_default();
    let mut child = spawn(&executable, log, &places.data_dir)?;
    let stdout = child.stdout.take();
    match stdout.map(read_ready_line) {
        Some(Ready::Yes) => Ok(()),
        Some(Ready::Late) => {
            let waited = READY_WAIT_MAX.as_secs();
            Err(
                CliError::no_broker(format!("the broker was not ready after {waited} s"))
                    .with_hint(format!("read {}", log_path.display())),
            )
        }
        Some(Ready::Ended) | None => Err(ended_early(&mut child, &log_path, log_start)),
    }
}

fn spawn(executable: &Path, log: File, directory: &Path) -> Result<Child, CliError> {
    Command::new(executable)
        .args(["broker", "run", "--background"])
        .current_dir(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()
        .map_err(|error| CliError::io("start the broker", executable, &error).with_exit(Exit::NoBroker))
}

enum Ready {
    Yes,
    Ended,
    Late,
}

fn read_ready_line(mut stdout: ChildStdout) -> Ready {
    let deadline = Instant::now() + READY_WAIT_MAX;
    let mut line = Vec::new();
    let mut piece = [0; 512];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let mut descriptors = [PollFd::new(&stdout, PollFlags::IN)];
        let timeout = Timespec::try_from(left).ok();
        match rustix::event::poll(&mut descriptors, timeout.as_ref()) {
            Ok(0) => return Ready::Late,
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return Ready::Ended,
            Ok(_) => {}
        }
        match stdout.read(&mut piece) {
            Ok(0) | Err(_) => return Ready::Ended,
            Ok(count) => line.extend_from_slice(&piece[..count]),
        }
        if line.contains(&b'\n') {
            return if line.starts_with(b"ready") {
                Ready::Yes
            } else {
                Ready::Ended
            };
        }
        if line.len() > READY_BYTES_MAX {
            return Ready::Ended;
        }
    }
}

/// Tells why a broker ended before it was ready, in its own words where it left some.
fn ended_early(child: &mut Child, log_path: &Path, log_start: u64) -> CliError {
    let how = child
        .wait()
        .map_or_else(|error| error.to_string(), |status| status.to_string());
    let said = read_from(log_path, log_start).unwrap_or_default();
    let (reason, hint) = last_words(&said);
    let message = match reason {
        Some(reason) => format!("the broker could not start: {reason}"),
        None => format!("the broker ended before it was ready ({how})"),
    };
    let hint = hint.map_or_else(
        || {
            format!(
                "read {}, or run `cueme broker run` to watch it fail",
                log_path.display()
            )
        },
        str::to_owned,
    );
    CliError::no_broker(message).with_hint(hint)
}

fn read_from(path: &Path, start: u64) -> io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(
        start.max(length.saturating_sub(REASON_BYTES_MAX)),
    ))?;
    let mut bytes = Vec::new();
    file.take(REASON_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Finds what a failing `cueme broker run` printed last: its error and its hint.
fn last_words(said: &str) -> (Option<&str>, Option<&str>) {
    let mut reason = None;
    let mut hint = None;
    for line in said.lines() {
        if let Some(text) = line.strip_prefix("error: ") {
            (reason, hint) = (Some(text), None);
        } else if let Some(text) = line.strip_prefix("hint: ") {
            hint = Some(text);
        }
    }
    (reason, hint)
}

/// Returns the newest program that is known to have served this database: ours, or the one recorded beside it.
///
/// An older program must not serve a newer database. Where the newer one is gone, ours is started and refuses a schema
/// that it does not know. A record or a program that somebody else could have written is as good as gone.
fn executable_for(places: &Places) -> Result<PathBuf, CliError> {
    let ours = environment::executable().map_err(|error| {
        CliError::no_broker(format!("could not find this program: {error}"))
            .with_hint("start the broker yourself with `cueme broker run`")
    })?;
    let record = is_own_file(&places.record())
        .then(|| Record::read(places))
        .flatten();
    let newer =
        record.filter(|record| is_older(PROGRAM, &record.version) && is_safe_program(&record.executable));
    Ok(newer.map_or(ours, |record| record.executable))
}

/// Says whether version `one` is older than version `other`; what cannot be compared is not older.
pub(super) fn is_older(one: &str, other: &str) -> bool {
    if one == other {
        // Mostly, and then there is nothing to be parsed.
        return false;
    }
    match (Version::parse(one), Version::parse(other)) {
        (Ok(one), Ok(other)) => one.cmp_precedence(&other).is_lt(),
        _ => false,
    }
}

fn create_private(directory: &Path) -> Result<(), CliError> {
    if directory.is_dir() {
        return Ok(());
    }
    let created = DirBuilder::new().recursive(true).mode(0o700).create(directory);
    created.map_err(|error| {
        CliError::io("create the directory", directory, &error)
            .with_exit(Exit::NoBroker)
            .with_hint("check that you may write there, or set CUEME_HOME to another directory")
    })
}

fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.create(true).mode(0o600);
    options
}

fn open_log(path: &Path) -> Result<File, CliError> {
    let opened = private_file().append(true).open(path);
    opened.map_err(|error| CliError::io("open the log", path, &error).with_exit(Exit::NoBroker))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_version_that_is_really_older_counts_as_older() {
        assert!(is_older("0.1.0", "0.1.1"));
        assert!(is_older("0.9.0", "0.10.0"));
        assert!(is_older("1.0.0-rc.1", "1.0.0"));
        assert!(!is_older("0.2.0", "0.2.0"));
        assert!(!is_older("0.2.0", "0.2.0+build"));
        assert!(!is_older("what", "0.2.0"));
    }

    #[test]
    fn the_last_error_of_a_failed_start_is_told_with_its_hint() {
        let said = "error: old\nhint: old hint\n2026 INFO something\nerror: the database is damaged\nhint: restore\n";
        assert_eq!(
            last_words(said),
            (Some("the database is damaged"), Some("restore"))
        );
        assert_eq!(last_words("panicked"), (None, None));
    }

    #[test]
    fn the_newer_program_beside_the_database_is_started_and_an_older_one_is_not() {
        let home = tempfile::tempdir().unwrap();
        let places = Places::below(home.path());
        std::fs::create_dir(&places.data_dir).unwrap();
        let ours = environment::executable().unwrap();
        assert_eq!(executable_for(&places).unwrap(), ours);
        let other = home.path().join("other-cueme");
        std::fs::write(&other, "").unwrap();
        for (version, expected) in [("999.0.0", &other), ("0.0.1", &ours)] {
            let record = serde_json::json!({"version": version, "executable": other, "schema": 1});
            std::fs::write(places.record(), record.to_string()).unwrap();
            assert_eq!(&executable_for(&places).unwrap(), expected, "{version}");
        }
        let record = serde_json::json!({"version": "999.0.0", "executable": "/nowhere/cueme", "schema": 1});
        std::fs::write(places.record(), record.to_string()).unwrap();
        assert_eq!(executable_for(&places).unwrap(), ours);
    }
}
