//! Claude Code under an editor, by way of its adapter for the Agent Client Protocol.

use cueme_tests::model_server::Step;
use protocol_spec::message::CueView;
use protocol_spec::outcome::Origin;

use crate::hosts::{Host, here_document};
use crate::programs::Programs;
use crate::scene::{Human, Rule, Scene};
use crate::verdict::{Row, Rows};

const GO_ON: &str = "now rename the lexer as well";

/// A question in the shell, and two ends without one: each time the human sees the words that the agent ended with.
pub(super) fn play(programs: &'static Programs, host: &'static Host) -> Vec<Row> {
    let scene = Scene::connected(programs, host);
    let play = scene.model.play(
        "scenario-editor",
        vec![
            Step::shell(format!("cueme join {}", host.tag)),
            Step::shell(here_document("May I begin?", None)),
            Step::expect("begin with the parser"),
            Step::shell("ls"),
            Step::say("The parser is renamed."),
            Step::expect(GO_ON),
            Step::say("The lexer is renamed."),
        ],
    );
    let rules = [
        Rule {
            about: "May I begin?",
            answer: &["begin with the parser"],
        },
        Rule {
            about: "The parser is renamed.",
            answer: &[GO_ON],
        },
    ];
    let mut acp = scene.acp();
    let session = acp.begin(&scene.project().to_string_lossy());
    let prompt = acp.prompt(&session, "scenario-editor: do as the script says.");
    let mut human = Human::new(&scene, &rules);
    human.looks_until(|_| acp.reply(prompt).is_some());
    let is_hooks = |cue: &&CueView| cue.origin == Origin::Hook;
    let shown: Vec<&str> = human
        .asked
        .iter()
        .filter(is_hooks)
        .map(|cue| cue.prompt.lines().next().unwrap_or_default())
        .collect();
    let ended = acp.reply(prompt).unwrap_or_default();
    let holds = shown == ["The parser is renamed.", "The lexer is renamed."]
        && ended["result"]["stopReason"] == "end_turn"
        && play.is_over()
        && play.failures().is_empty();
    let mut rows = Rows::of(host.tag);
    rows.check(
        "in an editor (`claude-agent-acp`): the message shown is the one the agent ended with",
        holds,
        || {
            format!(
                "shown: {shown:#?}, ended: {ended}, session: {session}, failures: {:#?}",
                play.failures()
            )
        },
    );
    rows.done()
}
