//! The broker dies the hard way while a question waits, in the shell and in the stop hook.

use cueme_tests::model_server::Step;

use crate::hosts::Host;
use crate::programs::Programs;
use crate::scene::{Rule, Scene};
use crate::verdict::{Row, Rows};

pub(super) fn play(programs: &'static Programs, host: &'static Host) -> Vec<Row> {
    let scene = Scene::connected(programs, host);
    let steps = vec![
        Step::shell(format!("cueme join {}", host.tag)),
        Step::shell(host.cue("Is it you?")),
        Step::shell("ls"),
        Step::say("The parser is renamed."),
        Step::expect("go on"),
        Step::say("All is renamed."),
    ];
    let rules = [
        Rule {
            about: "Is it you?",
            answer: &["it is me"],
        },
        Rule {
            about: "The parser is renamed.",
            answer: &["go on"],
        },
    ];
    let ran = scene.run_killing_brokers("scenario-broker", steps, &rules);
    let mut rows = Rows::of(host.tag);
    rows.check(
        "broker killed while the shell waits",
        ran.told(1, "it is me"),
        || ran.story(),
    );
    let continued = ran.play.is_over() && ran.play.failures().is_empty();
    rows.check("broker killed while the stop hook waits", continued, || {
        ran.story()
    });
    rows.done()
}
