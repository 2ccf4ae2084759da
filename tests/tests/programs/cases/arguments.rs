//! A question in the arguments of the command, for shells that keep stdin away from the socket.

use cueme_tests::model_server::{AGENT, Step};

use crate::hosts::Host;
use crate::programs::Programs;
use crate::scene::{Rule, Scene};
use crate::verdict::{Row, Rows};

pub(super) fn play(programs: &'static Programs, host: &'static Host) -> Vec<Row> {
    let scene = Scene::connected(programs, host);
    let steps = vec![
        Step::shell(format!("cueme join {}", host.tag)),
        Step::shell(format!(
            r#"cueme cue {AGENT} --prompt 'Ship `v2` for $5 "now"? 发布?' --payload '{{"type":"choice","options":["ship","wait"]}}'"#
        )),
        Step::say("It is shipped."),
    ];
    let rules = [Rule {
        about: "Ship `v2` for $5 \"now\"? 发布?",
        answer: &["--select", "ship"],
    }];
    let ran = scene.run("scenario-arguments", steps, &rules);
    let mut rows = Rows::of(host.tag);
    rows.check(
        "cue in arguments (`--prompt`, `--payload`)",
        ran.told(1, "ship"),
        || ran.story(),
    );
    rows.done()
}
