//! Reads, sends in batches, and reports the result.

use std::path::PathBuf;

use clap::Args;
use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;
use protocol_spec::message::{Import, Imported, PastAgent, PastCue, Request};
use protocol_spec::visible::quoted;

use super::files::Shelf;
use super::source::Source;
use super::translate;
use crate::client::{call, expect_reply};
use crate::display::{counted, visible_line};
use crate::error::CliError;
use crate::{environment, output};

/// The most records in one batch, and the most bytes.
const BATCH_RECORDS: usize = 200;
const BATCH_BYTES: usize = 8 * 1024 * 1024;
/// The number of questions between two lines of progress.
const PROGRESS_EVERY: u64 = 1000;

/// Arguments of `import`.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// The original's database; without it, ~/.cue/cue.db
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

pub(in crate::command) fn run(args: &ImportArgs) -> Result<Exit, CliError> {
    let places = environment::places()?;
    let path = match &args.file {
        Some(path) => path.clone(),
        None => default_path()?,
    };
    let source = Source::open(&path)?;
    let (agents, refused) = translate::agents(source.agents()?);
    let mut carrier = Carrier {
        places: &places,
        agents,
        cues: Vec::new(),
        bytes: 0,
        total: Imported::default(),
        skipped: 0,
    };
    for (agent, why) in &refused {
        carrier.skip(&format!("agent {}", quoted(agent)), why);
    }
    carrier.send_agents()?;
    let mut shelf = Shelf::new(source.folder(), places.attachments());
    let (count, mut done) = (source.count()?, 0);
    source.cues(|cue| {
        let name = match &cue.request_id {
            Some(id) => format!("question {id}"),
            None => format!("question in row {}", cue.row),
        };
        let mut remarks = Vec::new();
        let files = cue.response.as_ref().map(|response| response.files.as_slice());
        let attachments = shelf.copy(translate::key(&cue), files.unwrap_or_default(), &mut remarks);
        match translate::cue(&cue, attachments) {
            Ok(translated) => {
                remarks.extend(translated.remarks);
                carrier.add(translated.cue)?;
            }
            Err(why) => carrier.skip(&name, &why),
        }
        for remark in remarks {
            output::tell(&visible_line(&format!("{name}: {remark}")));
        }
        done += 1;
        if done % PROGRESS_EVERY == 0 {
            output::tell(&format!("{done} of {count} questions"));
        }
        Ok(())
    })?;
    carrier.send()?;
    summarise(&source, &path, &carrier, shelf.copied)
}

fn default_path() -> Result<PathBuf, CliError> {
    let home = environment::variable("HOME").ok_or_else(|| {
        CliError::usage("HOME is not set, so the original's database cannot be found")
            .with_hint("name the file: `cueme import <path of cue.db>`")
    })?;
    Ok(PathBuf::from(home).join(".cue").join("cue.db"))
}

/// Carries records to the broker, many at a time.
struct Carrier<'a> {
    places: &'a Places,
    agents: Vec<PastAgent>,
    cues: Vec<PastCue>,
    bytes: usize,
    total: Imported,
    skipped: u64,
}

impl Carrier<'_> {
    fn send_agents(&mut self) -> Result<(), CliError> {
        for batch in std::mem::take(&mut self.agents).chunks(BATCH_RECORDS) {
            let import = Import {
                agents: batch.to_vec(),
                cues: Vec::new(),
            };
            self.deliver(import)?;
        }
        Ok(())
    }

    fn add(&mut self, cue: PastCue) -> Result<(), CliError> {
        let bytes = size(&cue);
        if self.cues.len() >= BATCH_RECORDS || self.bytes + bytes > BATCH_BYTES {
            self.send()?;
        }
        self.bytes += bytes;
        self.cues.push(cue);
        Ok(())
    }

    fn send(&mut self) -> Result<(), CliError> {
        self.bytes = 0;
        if self.cues.is_empty() {
            return Ok(());
        }
        let cues = std::mem::take(&mut self.cues);
        self.deliver(Import {
            agents: Vec::new(),
            cues,
        })
    }

    fn deliver(&mut self, import: Import) -> Result<(), CliError> {
        let imported = expect_reply!(call(self.places, &Request::Import(import))?, Imported)?;
        for refused in imported.refused {
            self.skip(&format!("question {}", refused.key), &refused.why);
        }
        self.total.agents += imported.agents;
        self.total.cues += imported.cues;
        self.total.ended += imported.ended;
        self.total.known += imported.known;
        Ok(())
    }

    fn skip(&mut self, what: &str, why: &str) {
        self.skipped += 1;
        output::tell(&visible_line(&format!("skipped {what}: {why}")));
    }
}

/// Estimates how much of a batch a question takes.
fn size(cue: &PastCue) -> usize {
    let answer = cue.ended.as_ref().and_then(|ended| ended.answer.as_ref());
    cue.prompt.len()
        + cue.payload.as_ref().map_or(0, |payload| payload.get().len())
        + answer.map_or(0, protocol_spec::answer::Answer::bytes)
}

fn summarise(
    source: &Source,
    path: &std::path::Path,
    carrier: &Carrier<'_>,
    files: u64,
) -> Result<Exit, CliError> {
    let total = &carrier.total;
    output::print_line(&format!(
        "imported from {} (schema {}): {}, {}, {}",
        path.display(),
        source.schema,
        counted(total.agents, "agent"),
        counted(total.cues, "question"),
        counted(files, "file")
    ))?;
    if total.ended > 0 {
        output::print_line(&format!(
            "ended since the last import: {}",
            counted(total.ended, "question")
        ))?;
    }
    if total.known > 0 {
        output::print_line(&format!("imported before: {}", counted(total.known, "question")))?;
    }
    if carrier.skipped > 0 {
        output::print_line(&format!(
            "skipped (see above): {}",
            counted(carrier.skipped, "row")
        ))?;
    }
    Ok(Exit::Done)
}
