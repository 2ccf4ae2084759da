//! Waits that are longer than what the host lets a call take.

use std::time::Duration;

use cueme_tests::model_server::{AGENT, Step};
use serde_json::json;

use crate::hosts::Host;
use crate::programs::Programs;
use crate::scene::{Rule, Scene};
use crate::verdict::{Row, Rows};

/// The limit of one call in the shell here. The real limits are minutes; the variable that people set shortens them.
const BUDGET: &str = "3s";
/// Set in the nightly tier, where waits of ten minutes are affordable.
const NIGHTLY: &str = "CUEME_TESTS_NIGHTLY";

/// A human who takes longer than the host's own limit for an MCP call, as its vendor ships it.
///
/// Gemini CLI and Qwen Code ship ten minutes, which only the nightly tier waits for.
pub(super) fn mcp(programs: &'static Programs, host: &'static Host) -> Vec<Row> {
    let scene = Scene::connected(programs, host);
    let steps = vec![
        Step::mcp("join", json!({ "agent_runtime": host.tag })),
        Step::mcp("cue", json!({ "agent_id": AGENT, "prompt": "Are you there?" })),
        Step::say("You were there."),
    ];
    let is_nightly = std::env::var_os(NIGHTLY).is_some();
    let seconds = match host.tag {
        "claude_code" => 125,
        "codex" => 305,
        "opencode" => 35,
        "gemini_cli" | "qwen_code" if is_nightly => 605,
        _ => 65,
    };
    let rules = [Rule {
        about: "Are you there?",
        answer: &["after a walk"],
    }];
    let wait = Duration::from_secs(seconds);
    let ran = scene.run_slowly("scenario-walk", steps, &rules, wait);
    let mut rows = Rows::of(host.tag);
    let holds = ran.told(1, "after a walk") && ran.asked.len() == 1;
    rows.check(
        "question by MCP, answered after the host's default limit",
        holds,
        || ran.story(),
    );
    rows.done()
}

/// The call in the shell ends before the host's limit, and the same command goes on waiting for the same question.
pub(super) fn shell(programs: &'static Programs, host: &'static Host) -> Vec<Row> {
    let scene = Scene::connected(programs, host).with_variable("CUEME_WAIT", BUDGET);
    let command = host.cue("Are you there?");
    let steps = vec![
        Step::shell(format!("cueme join {}", host.tag)),
        Step::shell(command.clone()),
        Step::shell(command.clone()),
        Step::shell(command),
        Step::say("You were there."),
    ];
    let rules = [Rule {
        about: "Are you there?",
        answer: &["after a walk"],
    }];
    // Longer than the first call, shorter than all three.
    let ran = scene.run_slowly("scenario-shell-limit", steps, &rules, Duration::from_secs(4));
    let mut rows = Rows::of(host.tag);
    let was_told = ran.told(1, "after a walk") || ran.told(2, "after a walk") || ran.told(3, "after a walk");
    let holds = !ran.told(1, "after a walk") && was_told;
    rows.check(
        "wait longer than the shell's limit: the same command waits on",
        holds,
        || ran.story(),
    );
    rows.done()
}
