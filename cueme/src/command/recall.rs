//! `cueme recall`: an agent that forgot its id finds it by what it remembers.

use protocol_spec::exit::Exit;
use protocol_spec::message::{Match, Recall, Recalled, Request};
use protocol_spec::visible::quoted;

use super::join::project_dir;
use crate::cli::RecallArgs;
use crate::client::{call, expect_reply};
use crate::display::visible_line;
use crate::error::CliError;
use crate::input::words_of;
use crate::{environment, output};

pub(super) fn run(args: &RecallArgs) -> Result<Exit, CliError> {
    let hints = words_of(&args.hints, &args.rest).join(" ");
    let found = find(&hints)?;
    if args.json {
        output::print_json(&found.matches)?;
    }
    if found.matches.is_empty() && !(args.json && found.candidates.is_empty()) {
        return Err(nobody_can_tell(&hints, &found.candidates));
    }
    if args.json {
        return Ok(if found.matches.is_empty() {
            Exit::NotFound
        } else {
            Exit::Done
        });
    }
    output::print(&message(&found.matches))?;
    Ok(Exit::Done)
}

/// Finds agents, best first.
pub(super) fn find(hints: &str) -> Result<Recalled, CliError> {
    let recall = Recall {
        hints: hints.to_owned(),
        project_dir: project_dir().ok(),
    };
    let reply = call(&environment::places()?, &Request::Recall(recall))?;
    expect_reply!(reply, Recalled)
}

/// Says that no agent matches, or that several do. A wrong identity is worse than none, so none is picked.
pub(super) fn nobody_can_tell(hints: &str, candidates: &[Match]) -> CliError {
    if candidates.is_empty() {
        return CliError::new(Exit::NotFound, format!("no agent matches {}", quoted(hints)))
            .with_hint("try other words, or `cueme join <agent_runtime>` for a new agent_id");
    }
    let listed: String = candidates.iter().map(|found| described(found, true)).collect();
    let message = format!(
        "no single agent matches {}; candidates:\n{}",
        quoted(hints),
        listed.trim_end()
    );
    CliError::new(Exit::NotFound, message).with_hint(
        "add words that only you would know, name the agent_id, or `cueme join <agent_runtime>` for a new one",
    )
}

pub(super) fn message(matches: &[Match]) -> String {
    let mut text = String::new();
    for (place, found) in matches.iter().enumerate() {
        match place {
            0 => text.push_str(&format!("agent_id={}\n", found.agent.agent_id)),
            1 => text.push_str("\nweaker matches:\n"),
            _ => {}
        }
        text.push_str(&described(found, place > 0));
    }
    text
}

/// Describes one agent: where it works, and why it fits.
fn described(found: &Match, with_id: bool) -> String {
    let agent = &found.agent;
    let id = if with_id {
        format!("{}  ", agent.agent_id)
    } else {
        String::new()
    };
    let why = found
        .why
        .iter()
        .map(|why| visible_line(why))
        .collect::<Vec<_>>()
        .join("; ");
    let why = if why.is_empty() {
        String::new()
    } else {
        format!(": {why}")
    };
    format!(
        "  {id}{} in {}{why}\n",
        agent.agent_runtime,
        visible_line(&agent.project_dir)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol_spec::message::AgentView;
    use protocol_spec::time::Timestamp;

    fn found(id: &str, why: &str) -> Match {
        let agent = AgentView {
            agent_id: id.parse().unwrap(),
            agent_runtime: "cursor".parse().unwrap(),
            project_dir: "/srv/shop".into(),
            agent_terminal: "zsh".into(),
            name: None,
            joined_at: Timestamp::from_millis(0),
            seen_at: Timestamp::from_millis(0),
            open_cues: 0,
            waiting: 0,
            queued: 0,
            archived: false,
        };
        Match {
            agent,
            why: vec![why.into()],
        }
    }

    #[test]
    fn the_best_match_is_on_the_first_line_and_the_others_say_why() {
        let text = message(&[
            found("bako-nefi", "asked about refunds"),
            found("dozi-lami", "same project"),
        ]);
        assert!(text.starts_with("agent_id=bako-nefi\n"), "{text}");
        assert!(
            text.contains("dozi-lami  cursor in /srv/shop: same project"),
            "{text}"
        );
        assert_eq!(text.matches("agent_id=").count(), 1);
    }
}
