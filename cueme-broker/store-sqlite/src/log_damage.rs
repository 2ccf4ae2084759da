//! Detects a write-ahead log that was changed after it was written.
//!
//! SQLite reads a log up to the first page with a wrong checksum and takes that for its end, because a power loss can
//! tear the last write. A bit that flips anywhere else silently drops every later commit, too. This module checks the
//! rest of the log: a commit that is followed by another one was durable, so nothing before it can be torn.
//!
//! The format is described at <https://www.sqlite.org/fileformat2.html#walformat>.

/// The log's head, in bytes.
const HEAD_BYTES: usize = 32;
/// The header of each page, in bytes.
const FRAME_HEAD_BYTES: usize = 24;
/// The unit that a disk writes atomically, in bytes.
const SECTOR_BYTES: usize = 512;
/// The first number of a log; its last bit is the byte order of the checksum.
const MAGIC: u32 = 0x377f_0682;

/// Returns the damage of a log that was changed, but not by a power loss.
pub fn damage_in(log: &[u8]) -> Option<String> {
    let head = log.get(..HEAD_BYTES)?;
    if head.iter().all(|byte| *byte == 0) {
        // Made, and never written to.
        return None;
    }
    let Some(log) = Log::read(log) else {
        return Some("the head of its log was changed after it was written".into());
    };
    let end = log.end();
    // The last write may be torn. Everything after a commit was written after that commit was durable.
    let is_followed = |number: &usize| log.is_commit(*number) && log.adds_up_behind(*number);
    let has_more = (end..log.count()).any(|number| is_followed(&number));
    has_more.then(|| format!("page {} of its log was changed after it was written", end + 1))
}

/// A log whose head is sound.
struct Log<'a> {
    frames: &'a [u8],
    frame_bytes: usize,
    salt: &'a [u8],
    sum: Sum,
    read_word: fn([u8; 4]) -> u32,
}

impl<'a> Log<'a> {
    fn read(log: &'a [u8]) -> Option<Self> {
        let (head, frames) = log.split_at_checked(HEAD_BYTES)?;
        let read_word = match word(head, 0) {
            MAGIC => u32::from_le_bytes,
            magic if magic == MAGIC | 1 => u32::from_be_bytes,
            _ => return None,
        };
        let page_bytes = word(head, 8) as usize;
        let sum = Sum::at(head, 24);
        let is_sound = page_bytes.is_power_of_two()
            && (512..=65_536).contains(&page_bytes)
            && Sum::default().add(&head[..24], read_word) == sum;
        is_sound.then(|| Self {
            frames,
            frame_bytes: FRAME_HEAD_BYTES + page_bytes,
            salt: &head[16..24],
            sum,
            read_word,
        })
    }

    fn count(&self) -> usize {
        self.frames.len() / self.frame_bytes
    }

    fn frame(&self, number: usize) -> &[u8] {
        &self.frames[number * self.frame_bytes..][..self.frame_bytes]
    }

    /// Returns how many frames SQLite would read.
    fn end(&self) -> usize {
        let mut before = self.sum;
        let follows = |number: &usize| {
            let adds_up = self.adds_up(*number, before);
            before = Sum::at(self.frame(*number), 16);
            adds_up
        };
        (0..self.count()).take_while(follows).count()
    }

    /// Says whether a frame is of this log and follows one with that sum.
    fn adds_up(&self, number: usize, before: Sum) -> bool {
        let frame = self.frame(number);
        let sum = || {
            before
                .add(&frame[..8], self.read_word)
                .add(&frame[FRAME_HEAD_BYTES..], self.read_word)
        };
        frame[8..16] == *self.salt && sum() == Sum::at(frame, 16)
    }

    fn adds_up_behind(&self, number: usize) -> bool {
        number + 1 < self.count() && self.adds_up(number + 1, Sum::at(self.frame(number), 16))
    }

    fn is_commit(&self, number: usize) -> bool {
        let frame = self.frame(number);
        word(frame, 4) != 0 && frame[8..16] == *self.salt && self.has_own_mark(number)
    }

    /// Says whether the mark of a commit is of the same frame as the sum behind it.
    ///
    /// Where a sector ends between the two, a power loss can leave the mark of an older log before the sum of this one.
    fn has_own_mark(&self, number: usize) -> bool {
        let begin = HEAD_BYTES + number * self.frame_bytes;
        let is_in_one_sector = (begin + 4) / SECTOR_BYTES == (begin + FRAME_HEAD_BYTES - 1) / SECTOR_BYTES;
        is_in_one_sector || number > 0 && self.adds_up(number, Sum::at(self.frame(number - 1), 16))
    }
}

/// SQLite's checksum of everything up to somewhere.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Sum(u32, u32);

impl Sum {
    fn at(bytes: &[u8], place: usize) -> Self {
        Self(word(bytes, place), word(bytes, place + 4))
    }

    fn add(mut self, bytes: &[u8], read_word: fn([u8; 4]) -> u32) -> Self {
        let mut words = bytes.as_chunks().0.iter().map(|word| read_word(*word));
        while let (Some(first), Some(second)) = (words.next(), words.next()) {
            self.0 = self.0.wrapping_add(first).wrapping_add(self.1);
            self.1 = self.1.wrapping_add(second).wrapping_add(self.0);
        }
        self
    }
}

fn word(bytes: &[u8], place: usize) -> u32 {
    bytes[place..]
        .first_chunk()
        .map_or(0, |word| u32::from_be_bytes(*word))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use rusqlite::Connection;

    use super::*;

    /// A log of so many commits, as SQLite writes it, and where each commit ends in it.
    fn log_of(commits: usize) -> (Vec<u8>, Vec<usize>) {
        log_after(
            (1..commits)
                .map(|number| format!("INSERT INTO t VALUES ('{}')", number.to_string().repeat(1500))),
        )
    }

    /// The log after a table was made and then these statements, and where each commit ends in it.
    fn log_after(statements: impl IntoIterator<Item = String>) -> (Vec<u8>, Vec<usize>) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("some.db");
        let connection = Connection::open(&path).unwrap();
        connection
            .execute_batch("PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (x)")
            .unwrap();
        let log = || std::fs::read(directory.path().join("some.db-wal")).unwrap();
        let mut ends = vec![log().len()];
        for statement in statements {
            connection.execute_batch(&statement).unwrap();
            ends.push(log().len());
        }
        (log(), ends)
    }

    #[test]
    fn a_log_as_it_was_written_is_sound_wherever_it_ends() {
        let (log, _) = log_of(6);
        for end in (0..log.len()).step_by(512).chain([log.len()]) {
            assert_eq!(damage_in(&log[..end]), None, "{end}");
        }
    }

    #[test]
    fn whatever_a_power_loss_tears_of_the_last_commit_is_no_damage() {
        let (log, ends) = log_of(6);
        let last = ends[4];
        for place in (last..log.len()).step_by(512) {
            let mut torn = log.clone();
            let end = (place + 512).min(torn.len());
            torn[place..end].fill(0);
            assert_eq!(damage_in(&torn), None, "{place}");
        }
    }

    #[test]
    fn what_an_earlier_power_loss_left_behind_the_end_is_no_damage() {
        let (log, ends) = log_of(6);
        // Of two commits that were lost together only the later one reached the disk; others were written over the first.
        let mut overwritten = log.clone();
        overwritten[ends[3]..ends[4]].fill(0x5a);
        let page = 4096 + FRAME_HEAD_BYTES;
        let (from, to) = (ends[2] - page, ends[3]);
        overwritten.copy_within(from..from + page, to);
        assert_eq!(damage_in(&overwritten), None);
    }

    #[test]
    fn whatever_of_an_older_log_a_power_loss_leaves_in_the_last_commit_is_no_damage() {
        let one_page = |_| "INSERT INTO t VALUES (1)".to_owned();
        // Each page of the older log is a commit; the newer one ends with a commit of many pages.
        let (older, _) = log_after((0..200).map(one_page));
        let many_pages = "INSERT INTO t VALUES (zeroblob(500000))".to_owned();
        let (log, ends) = log_after((0..30).map(one_page).chain([many_pages]));
        let last = ends[30];
        assert!(log.len() - last > 100 * 4096);
        for place in (last.next_multiple_of(SECTOR_BYTES)..log.len()).step_by(SECTOR_BYTES) {
            let mut torn = log.clone();
            let end = (place + SECTOR_BYTES).min(torn.len());
            torn[place..end].copy_from_slice(&older[place..end]);
            assert_eq!(damage_in(&torn), None, "{place}");
        }
    }

    #[test]
    fn a_mark_that_a_sector_separates_from_its_sum_counts_if_its_page_adds_up() {
        let frame = |number: usize| HEAD_BYTES + number * (4096 + FRAME_HEAD_BYTES);
        assert_eq!((frame(41) + 8) % SECTOR_BYTES, 0);
        let (mut log, _) = log_after((0..60).map(|_| "INSERT INTO t VALUES (1)".to_owned()));
        log.truncate(frame(43));
        assert_eq!(damage_in(&log), None);
        // In the salt: that frame is no commit of this log any more, and only the next one has something behind it.
        log[frame(40) + 8] ^= 1;
        assert!(damage_in(&log).is_some());
    }

    #[test]
    fn a_bit_that_flipped_before_the_last_commit_is_noticed() {
        let (log, ends) = log_of(6);
        // Without the mark of the commit before it, the last one could be a part of that.
        let mark = ends[4] - 4096 - FRAME_HEAD_BYTES;
        let has_mark = |place: &usize| !(mark..mark + FRAME_HEAD_BYTES).contains(place);
        for place in (0..ends[4]).step_by(61).filter(has_mark) {
            let mut flipped = log.clone();
            flipped[place] ^= 1 << (place % 8);
            assert!(damage_in(&flipped).is_some(), "byte {place}");
        }
    }

    #[test]
    fn what_is_not_a_log_is_told_from_one_that_has_nothing_in_it() {
        assert_eq!(damage_in(b""), None);
        assert_eq!(damage_in(&[0; 40_000]), None);
        let (log, _) = log_of(2);
        assert_eq!(damage_in(&[&log[..32], &[0; 9000]].concat()), None);
        assert!(damage_in(&[7; 40]).is_some());
    }
}
