//! Completions of arguments: current ids, options and runtimes.
//!
//! Only a broker that runs is asked. An option of an agent is offered only if no shell reads anything into it.

use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use cueme_broker::notify::channels;
use protocol_spec::message::{CueView, Nothing, Reply, Request, Show};
use protocol_spec::payload::{Payload, Shape};
use runtimes::Runtime;

use crate::client::{call, connect, expect_reply, list};
use crate::display::{shorten, visible_line};
use crate::environment;
use crate::error::CliError;

/// The width of a question's text that a shell shows beside its id.
const HELP_COLUMNS: usize = 50;

/// Completes the ids of open questions.
pub(super) fn completing_cues() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let request = Request::Inbox(Nothing {});
        listed(&request, |reply| {
            let cue = expect_reply!(reply, Cue)?;
            let help = format!("{}: {}", cue.agent_id, first_line(&cue.prompt));
            Ok(candidate(cue.cue_id.as_str(), &help))
        })
    })
}

/// Completes the ids of agents.
pub(super) fn completing_agents() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        listed(&Request::Agents(Nothing {}), |reply| {
            let agent = expect_reply!(reply, Agent)?;
            let place = agent.name.as_deref().unwrap_or(&agent.project_dir);
            let help = format!("{}, {}", agent.agent_runtime, visible_line(place));
            Ok(candidate(agent.agent_id.as_str(), &help))
        })
    })
}

/// Completes the options of the question that the command line names.
pub(super) fn completing_options() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let words: Vec<String> = std::env::args().collect();
        let cue = words.iter().skip_while(|word| *word != "answer").nth(1).cloned();
        let options = cue.and_then(|cue| options_of(cue).ok()).unwrap_or_default();
        let options = options.into_iter().filter(|option| is_harmless(option));
        options.map(CompletionCandidate::new).collect()
    })
}

/// Completes the tags of runtimes.
pub(crate) fn completing_runtimes() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let tags = Runtime::ALL.iter().map(|runtime| runtime.tag());
        tags.map(CompletionCandidate::new).collect()
    })
}

/// Completes the names of channels.
pub(super) fn completing_channels() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let channels = environment::places()
            .ok()
            .and_then(|places| channels(&places).ok());
        let names = channels.into_iter().flatten().map(|channel| channel.name);
        names
            .filter(|name| is_harmless(name))
            .map(CompletionCandidate::new)
            .collect()
    })
}

fn listed(
    request: &Request,
    each: impl Fn(Reply) -> Result<CompletionCandidate, CliError>,
) -> Vec<CompletionCandidate> {
    let mut candidates = Vec::new();
    let Ok(places) = environment::places() else {
        return candidates;
    };
    // Pressing a key starts no broker.
    if matches!(connect(&places), Ok(Some(_))) {
        let _ = list(&places, request, |reply| {
            candidates.push(each(reply)?);
            Ok(())
        });
    }
    candidates
}

fn options_of(cue: String) -> Result<Vec<String>, CliError> {
    let places = environment::places()?;
    if connect(&places)?.is_none() {
        return Ok(Vec::new());
    }
    let cue: Box<CueView> = expect_reply!(call(&places, &Request::Show(Show { cue }))?, Cue)?;
    let payload = cue
        .payload
        .as_ref()
        .and_then(|raw| Payload::parse(raw.get()).ok());
    Ok(match payload.as_ref().map(Payload::shape) {
        Some(Shape::Choice(choice)) => choice.options.clone(),
        _ => Vec::new(),
    })
}

/// Says whether a shell takes a text as one plain word: what an agent wrote must not become a command.
fn is_harmless(option: &str) -> bool {
    let is_plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.' | '-' | '/' | '+');
    !option.is_empty() && !option.starts_with('-') && option.chars().all(is_plain)
}

fn first_line(prompt: &str) -> String {
    visible_line(prompt.trim_start().lines().next().unwrap_or_default())
}

fn candidate(value: &str, help: &str) -> CompletionCandidate {
    CompletionCandidate::new(value).help(Some(shorten(help, HELP_COLUMNS).into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_that_a_shell_would_read_something_into_is_not_offered() {
        for option in ["SQLite", "数据库", "v1.2", "a/b_c+d"] {
            assert!(is_harmless(option), "{option}");
        }
        for option in [
            "$(reboot)",
            "`id`",
            "a b",
            "a;b",
            "--done",
            "",
            "~",
            "a\u{1b}[0m",
            "*",
            "x=y",
        ] {
            assert!(!is_harmless(option), "{option}");
        }
    }
}
