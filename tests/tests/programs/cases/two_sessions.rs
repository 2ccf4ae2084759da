//! Two sessions of one host at once, in one project: each gets its own answers.

use cueme_tests::model_server::{Play, Step};

use crate::hosts::Host;
use crate::programs::Programs;
use crate::scene::{Rule, Scene};
use crate::verdict::{Row, Rows};

pub(super) fn play(programs: &'static Programs, host: &'static Host) -> Vec<Row> {
    let scene = Scene::connected(programs, host);
    let rules = [
        Rule {
            about: "Question of scenario-east",
            answer: &["sunrise"],
        },
        Rule {
            about: "Question of scenario-west",
            answer: &["sunset"],
        },
    ];
    let plays =
        ["scenario-east", "scenario-west"].map(|marker| scene.model.play(marker, steps(host, marker)));
    let (ended, asked) = scene.run_together(["scenario-east", "scenario-west"], &rules);
    let mut rows = Rows::of(host.tag);
    let heard = |play: &Play, text: &str| play.told().get(2).is_some_and(|told| told.contains(text));
    let holds = heard(&plays[0], "sunrise")
        && heard(&plays[1], "sunset")
        && plays[0].agent() != plays[1].agent()
        && ended
        && asked == 2;
    rows.check("two sessions at once", holds, || {
        format!(
            "ended: {ended}, questions: {asked}, told: {:#?}, agents: {:?}",
            plays
                .each_ref()
                .map(Play::told)
                .map(|told| told.into_iter().skip(1).collect::<Vec<_>>()),
            plays.each_ref().map(Play::agent)
        )
    });
    rows.done()
}

fn steps(host: &Host, marker: &str) -> Vec<Step> {
    vec![
        Step::shell(format!("cueme join {}", host.tag)),
        Step::shell(host.cue(&format!("Question of {marker}"))),
        Step::say("Done."),
    ]
}
