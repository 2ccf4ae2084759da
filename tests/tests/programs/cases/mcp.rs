//! The verbs as MCP tools; and that the hooks, the shell and MCP speak for one agent.

use std::collections::BTreeSet;

use cueme_tests::model_server::{AGENT, Step};
use serde_json::json;

use crate::hosts::Host;
use crate::programs::Programs;
use crate::scene::{Rule, Scene};
use crate::verdict::{Row, Rows};

pub(super) fn play(programs: &'static Programs, host: &'static Host) -> Vec<Row> {
    let scene = Scene::connected(programs, host);
    let steps = vec![
        Step::mcp("join", json!({ "agent_runtime": host.tag })),
        Step::mcp(
            "cue",
            json!({
                "agent_id": AGENT,
                "prompt": "Which colour, \"red\" or `绿`?",
                "payload": { "type": "choice", "options": ["red", "绿"] },
            }),
        ),
        Step::shell(format!("cueme join {}", host.tag)),
        Step::mcp("pause", json!({ "agent_id": AGENT, "prompt": "Ready to paint?" })),
        Step::say("It is painted."),
    ];
    let rules = [
        Rule {
            about: "Which colour",
            answer: &["--select", "绿"],
        },
        Rule {
            about: "Ready to paint?",
            answer: &["--confirm"],
        },
    ];
    let ran = scene.run("scenario-mcp", steps, &rules);

    let mut rows = Rows::of(host.tag);
    rows.check("join by MCP", ran.told(0, "agent_id"), || ran.story());
    rows.check("cue by MCP", ran.told(1, "绿"), || ran.story());
    let was_paused = ran.asked.iter().any(|cue| cue.prompt == "Ready to paint?");
    rows.check("pause by MCP", was_paused, || ran.story());
    let is_quiet = ran.by_hook().is_empty();
    rows.check(
        "MCP question answered, then the end: not asked again",
        is_quiet,
        || ran.story(),
    );
    let agents = scene.home.json(&["agents", "--json"]);
    let ids: BTreeSet<&str> = agents
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|agent| agent["agent_id"].as_str())
        .collect();
    rows.check("one agent: hooks, shell and MCP", ids.len() == 1, || {
        format!("{agents:#}{}", ran.story())
    });
    rows.done()
}
