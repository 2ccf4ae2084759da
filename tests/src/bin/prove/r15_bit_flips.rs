//! R15: one bit of the database or of its log flips unnoticed.
//!
//! The broker must notice the damage, or it must make no difference. The broker may refuse an agent; it may never
//! deliver a text that no human wrote.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

use cueme_store::QuestionReads;
use cueme_store_sqlite::{SqliteReader, Synchronous};
use cueme_tests::{Home, Random};
use protocol_spec::id::{AgentId, CueId};
use protocol_spec::message::Reply;

use crate::cases::{Extent, try_all};
use crate::promises::Little;
use crate::raw::{Image, Plan, SimDisk};
use crate::trial::{NotRun, Trial};

/// Questions that were answered and not yet delivered.
const ANSWERED: usize = 40;

const DATABASE: &str = "cueme.db";

/// One flip in so many hits the text of an answer on purpose, and as many what stands before it: by chance hardly any does.
const AIMED_EVERY: u64 = 8;

/// The bytes before an answer in its row: how long the row's parts are, and its keys.
const BEFORE_ANSWER_BYTES: usize = 48;

/// Flips bits.
pub(crate) fn run(trial: &mut Trial) -> Result<(), NotRun> {
    let flips = trial.size(400, 10_000, 200_000);
    let (image, known) = prepare(&mut trial.random)?;
    let answers = places_of_answers(&image, &known);
    trial.check(!answers.is_empty(), || {
        "no answer can be found in the database".into()
    });
    let texts: Vec<usize> = answers.iter().cloned().flatten().collect();
    let before: Vec<usize> = answers
        .iter()
        .flat_map(|answer| answer.start.saturating_sub(BEFORE_ANSWER_BYTES)..answer.start)
        .collect();
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    try_all(
        trial,
        Extent::Count(flips),
        |directory, number, mut random| {
            let places = match number % AIMED_EVERY {
                0 => random.pick(&texts),
                1 => random.pick(&before),
                _ => None,
            };
            let flip = match places {
                Some(offset) => Flip::new(DATABASE, *offset, &mut random),
                None => Flip::anywhere(&image, &mut random),
            };
            let stage = Stage {
                directory: directory.join("flipped"),
                known: &known,
            };
            let was_clean = (number / AIMED_EVERY).is_multiple_of(2);
            let verdict = stage.judge(&flip.done_to(&image), was_clean, &mut random);
            (flip, verdict)
        },
        |trial, number, (flip, verdict)| match verdict {
            Ok(what) => *counts.entry(what).or_default() += 1,
            Err(wrong) => trial.violation(format!("case {number}, after {flip}: {wrong}")),
        },
    )?;
    says_what_to_do(trial);
    trial.figure("flips", flips);
    trial.figure("of them in the text of an answer", flips.div_ceil(AIMED_EVERY));
    trial.figure("of them before one, in its row", flips.div_ceil(AIMED_EVERY));
    for what in [NOTICED, REFUSED, HARMLESS, TORN] {
        trial.figure(what, counts.get(what).copied().unwrap_or(0));
    }
    Ok(())
}

const NOTICED: &str = "noticed at the start";
const REFUSED: &str = "noticed when asked";
const HARMLESS: &str = "harmless";
/// The last commit, and nothing before it, is lost: no program can distinguish that from a power loss.
const TORN: &str = "as if the power had been lost before the last commit";

/// A question and its answer.
struct Known {
    agent: AgentId,
    prompt: String,
    text: String,
}

/// Makes a database in whose file and log there are answers that somebody still has to hear.
fn prepare(random: &mut Random) -> Result<(Image, Vec<Known>), NotRun> {
    let directory = tempfile::tempdir().map_err(|error| NotRun(error.to_string()))?;
    let disk = SimDisk::insert(directory.path(), &Image::new(), Plan::Sound);
    let database = directory.path().join(DATABASE);
    let mut little = Little::open(database, Synchronous::Full, true, random.fork())
        .unwrap_or_else(|error| panic!("{error}"));
    let agents = little.join(ANSWERED);
    let mut known = Vec::new();
    for (number, agent) in agents.iter().enumerate() {
        let prompt = format!("question {number} of {agent}: {}", "which one? ".repeat(number));
        let replies = little.ask(agent, &prompt);
        let Some(Reply::Asked(asked)) = replies.first() else {
            panic!("not asked: {replies:?}");
        };
        let cue: CueId = asked.cue_id;
        let text = format!("answer {number} to {agent}: {}", "that one. ".repeat(number))
            .trim()
            .to_owned();
        let replies = little.answer(cue, &text);
        assert!(matches!(replies.first(), Some(Reply::Decided(_))), "{replies:?}");
        if number == ANSWERED / 2 {
            // Half of it is in the file, the rest in the log.
            little.checkpoint_log();
        }
        known.push(Known {
            agent: agent.clone(),
            prompt,
            text,
        });
    }
    let image = disk.contents();
    drop(little);
    Ok((image, known))
}

/// Returns where answers stand in the database.
fn places_of_answers(image: &Image, known: &[Known]) -> Vec<Range<usize>> {
    let bytes = image.get(DATABASE).map_or(&[][..], Vec::as_slice);
    let places = known.iter().flat_map(|known| {
        let text = known.text.as_bytes();
        let begins = bytes
            .windows(text.len())
            .enumerate()
            .filter(move |(_, window)| *window == text);
        begins.map(move |(begin, _)| begin..begin + text.len())
    });
    places.collect()
}

/// One bit that flips.
struct Flip {
    file: String,
    byte: usize,
    bit: u64,
}

impl Flip {
    /// Picks a bit of this byte.
    fn new(file: &str, byte: usize, random: &mut Random) -> Self {
        Self {
            file: file.to_owned(),
            byte,
            bit: random.below(8),
        }
    }

    /// Picks any bit of any file.
    fn anywhere(image: &Image, random: &mut Random) -> Self {
        let mut files: Vec<(&String, usize)> = image
            .iter()
            .map(|(file, bytes)| (file, bytes.len()))
            .filter(|(_, length)| *length > 0)
            .collect();
        files.sort();
        let (file, length) = *random.pick(&files).unwrap_or_else(|| panic!("nothing to flip"));
        let byte = random.index(length);
        Self::new(file, byte, random)
    }

    /// Returns the files with this bit flipped.
    fn done_to(&self, image: &Image) -> Image {
        let mut flipped = image.clone();
        let bytes = flipped.get_mut(&self.file);
        if let Some(byte) = bytes.and_then(|bytes| bytes.get_mut(self.byte)) {
            *byte ^= 1 << self.bit;
        }
        flipped
    }
}

impl fmt::Display for Flip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "bit {} of byte {} of {} flipped",
            self.bit, self.byte, self.file
        )
    }
}

/// The fate of one answer.
enum Seen {
    Told,
    Refused,
    Nothing,
}

/// The directory in which brokers are started on what is left.
struct Stage<'a> {
    directory: PathBuf,
    known: &'a [Known],
}

impl Stage<'_> {
    /// Starts a broker on it, and asks every question again.
    fn judge(&self, image: &Image, was_clean: bool, random: &mut Random) -> Result<&'static str, String> {
        self.write(image)
            .map_err(|error| format!("could not be written: {error}"))?;
        let database = self.directory.join(DATABASE);
        let opened = Little::open(database, Synchronous::Full, was_clean, random.fork());
        let Ok(mut little) = opened else {
            return Ok(NOTICED);
        };
        let mut verdict = HARMLESS;
        for (number, question) in self.known.iter().enumerate() {
            let is_last = number + 1 == self.known.len();
            match self.look(question, &little.ask(&question.agent, &question.prompt))? {
                Seen::Told => {}
                Seen::Refused => verdict = REFUSED,
                Seen::Nothing if is_out_of_service(&self.directory.join(DATABASE), question) => {
                    verdict = REFUSED
                }
                Seen::Nothing if is_last => verdict = TORN,
                Seen::Nothing => return Err(format!("the answer to {:?} is lost", question.prompt)),
            }
        }
        Ok(verdict)
    }

    /// Looks at what came back.
    fn look(&self, question: &Known, replies: &[Reply]) -> Result<Seen, String> {
        let mut seen = Seen::Nothing;
        for reply in replies {
            seen = match reply {
                Reply::Asked(_) => continue,
                Reply::Outcome(told) if told.text == question.text => Seen::Told,
                Reply::Mailbox(mailbox) if mailbox.earlier.iter().all(|told| self.is_known(&told.text)) => {
                    Seen::Refused
                }
                Reply::Error(_) => Seen::Refused,
                other => return Err(format!("{other:?} was said instead of {:?}", question.text)),
            };
        }
        Ok(seen)
    }

    fn is_known(&self, text: &str) -> bool {
        self.known.iter().any(|known| known.text == text)
    }

    /// Writes the files as they are on a real disk.
    fn write(&self, image: &Image) -> io::Result<()> {
        match fs::remove_dir_all(&self.directory) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => fs::create_dir(&self.directory)?,
        }
        for (name, bytes) in image {
            fs::write(self.directory.join(name), bytes)?;
        }
        Ok(())
    }
}

/// Tells whether the inbox names the question as damaged. The same words are a new question then.
fn is_out_of_service(database: &Path, question: &Known) -> bool {
    let mut is_named = false;
    let read = SqliteReader::new(database).inbox(&mut |cue| {
        is_named |= cue.damaged && cue.agent_id == question.agent && cue.prompt == question.prompt;
        true
    });
    read.is_ok() && is_named
}

/// A person whose database is damaged is told what it is and what to do.
fn says_what_to_do(trial: &mut Trial) {
    let home = Home::new();
    let agent = home.join();
    home.ask_and_answer(&agent, "Before?", None, &["kept"]);
    home.ok(&["backup", "copy.db"]);
    home.ok(&["broker", "stop"]);
    let mut bytes = std::fs::read(home.database()).unwrap_or_default();
    let middle = bytes.len() / 2;
    bytes[100..middle].fill(0x55);
    std::fs::write(home.database(), bytes).unwrap_or_else(|error| panic!("{error}"));
    // As after a crash: the mark of an orderly stop is gone.
    let _ = std::fs::remove_file(home.path().join("data/clean"));
    let run = home.run(&["inbox"]);
    trial.check(run.code == Some(69) && run.stderr.contains("restore"), || {
        format!("a damaged database: {run:?}")
    });
    let restored = home.run(&["restore", "copy.db"]);
    trial.check(
        restored.code == Some(0) && home.ok(&["last", &agent]) == "kept\n",
        || format!("the copy could not be restored: {restored:?}"),
    );
}
