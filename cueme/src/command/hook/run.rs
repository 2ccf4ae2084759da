//! Reads the host's input, decides, replies, and only then acknowledges the outcomes that the reply delivered.

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::time::Instant;

use clap::Args;
use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;
use protocol_spec::visible::quoted;
use runtimes::Runtime;
use runtimes::hook::input::INPUT_BYTES_MAX;
use runtimes::hook::{Event, HookInput, HookOutput, HookReply, decode, encode};

use super::verdict::Verdict;
use super::{gate, log, prompt_submit, session_end, session_start, stop};
use crate::error::CliError;
use crate::{environment, output};

/// The file to which Claude Code wants variables to be appended.
const ENVIRONMENT_FILE_VARIABLE: &str = "CLAUDE_ENV_FILE";

/// The variable by which a run that nobody watches, such as a script, does without hooks: `off`.
const HOOKS_VARIABLE: &str = "CUEME_HOOKS";

/// Arguments of `hook`.
///
/// They are plain words: a host takes the exit code of a wrong call as a refusal, so nothing is refused here.
#[derive(Debug, Args)]
pub(crate) struct HookArgs {
    /// The runtime whose settings contain the hook
    #[arg(value_name = "RUNTIME")]
    runtime: String,
    /// The event: session_start, prompt_submit, stop, pre_tool, permission, own_call or session_end
    #[arg(value_name = "EVENT")]
    event: String,
}

/// The input of a hook's decision.
pub(super) struct Called<'a> {
    pub(super) places: &'a Places,
    pub(super) input: &'a HookInput,
    pub(super) started: Instant,
}

pub(in crate::command) fn run(args: &HookArgs, started: Instant) -> Result<Exit, CliError> {
    let Ok(places) = environment::places() else {
        // Without a directory for a log, the error cannot be recorded.
        return Ok(Exit::Done);
    };
    let input = match read_input(args) {
        Ok(input) => input,
        Err(why) => {
            log::note(&places, &format!("{} {}: {why}", args.runtime, args.event));
            return Ok(Exit::Done);
        }
    };
    let called = Called {
        places: &places,
        input: &input,
        started,
    };
    let verdict = decide(&called).unwrap_or_else(|error| {
        log::note(&places, &format!("{} {}: {error}", input.host, args.event));
        Verdict::pass()
    });
    Ok(carry_out(&called, verdict))
}

fn read_input(args: &HookArgs) -> Result<HookInput, String> {
    let runtime = Runtime::from_tag(&args.runtime)
        .ok_or_else(|| format!("unknown runtime {}", quoted(&args.runtime)))?;
    let event = args.event.parse::<Event>().map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    let limit = u64::try_from(INPUT_BYTES_MAX).unwrap_or(u64::MAX);
    std::io::stdin()
        .lock()
        .take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|error| format!("could not read stdin: {error}"))?;
    decode(runtime, event, &bytes, environment::variable).map_err(|error| error.to_string())
}

fn decide(called: &Called<'_>) -> Result<Verdict, CliError> {
    if environment::variable(HOOKS_VARIABLE).as_deref() == Some("off") {
        return Ok(Verdict::pass());
    }
    match called.input.event {
        Event::Stop => stop::decide(called),
        Event::SessionStart => session_start::decide(called),
        Event::PromptSubmit => prompt_submit::decide(called),
        Event::PreTool | Event::Permission => gate::decide(called),
        Event::OwnCall => Ok(gate::let_own_call_through(called)),
        Event::SessionEnd => session_end::decide(called),
    }
}

fn carry_out(called: &Called<'_>, verdict: Verdict) -> Exit {
    let Called { places, input, .. } = called;
    let told = encode(input, &verdict.reply);
    let nothing = encode(input, &HookReply::Pass);
    let exit = if told.exit == 0 { Exit::Done } else { Exit::Usage };
    if verdict.reply != HookReply::Pass && told == nothing {
        // The host has no ear for this: it stays undelivered, and the agent gets it with its next question.
        log::note(places, &format!("{} accepts no such reply here", input.host));
        let _ = output::print(&told.stdout);
        return exit;
    }
    match write(&told) {
        Ok(()) => verdict.confirm(places),
        Err(why) => log::note(places, &format!("{}: {why}; nothing was confirmed", input.host)),
    }
    exit
}

fn write(told: &HookOutput) -> Result<(), String> {
    if !told.environment_lines.is_empty()
        && let Some(path) = environment::variable(ENVIRONMENT_FILE_VARIABLE)
    {
        OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&path)
            .and_then(|mut file| file.write_all(told.environment_lines.as_bytes()))
            .map_err(|error| format!("could not write {path}: {error}"))?;
    }
    if !told.stderr.is_empty() {
        output::tell(told.stderr.trim_end());
    }
    output::deliver(&told.stdout).map_err(|error| error.to_string())
}
