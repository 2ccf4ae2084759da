//! The end of a turn: the human is asked unless the agent's last action was a question that was answered.

use cueme_tests::model_server::Step;

use crate::hosts::{Host, here_document};
use crate::programs::Programs;
use crate::scene::{Ran, Rule, Scene};
use crate::verdict::{Row, Rows};

/// The human's message to an agent that ended without asking.
const GO_ON: &str = "now rename the lexer as well";

/// The agent says that it is done, and nothing else.
pub(super) fn silent(programs: &'static Programs, host: &'static Host) -> Vec<Row> {
    let scene = Scene::connected(programs, host);
    let ran = ended(&scene, "scenario-silent", Vec::new());
    let mut rows = Rows::of(host.tag);
    rows.add("end without asking: the human is asked", continued(&ran));
    // The second end is declined, and with it the turn is over.
    let second = ran
        .by_hook()
        .get(1)
        .is_some_and(|cue| cue.prompt.contains("lexer is renamed"));
    let is_over = ran.run.as_ref().is_some_and(|run| run.code == Some(0));
    rows.check(
        "declined: the turn ends",
        second && is_over && ran.play.is_over(),
        || ran.story(),
    );
    rows.done()
}

/// The agent's call is invalid, so no human is asked, and the agent ends.
pub(super) fn after_a_failure(programs: &'static Programs, host: &'static Host) -> Vec<Row> {
    let scene = Scene::connected(programs, host);
    let wrong = here_document("Which one?", Some(r#"{"type":"no such payload"}"#));
    let steps = vec![
        Step::shell(format!("cueme join {}", host.tag)),
        Step::shell(wrong),
    ];
    let ran = ended(&scene, "scenario-failure", steps);
    let mut rows = Rows::of(host.tag);
    rows.add(
        "failed question, then the end: the human is asked",
        continued(&ran),
    );
    rows.done()
}

/// The agent asks, gets its answer, works on and ends.
pub(super) fn after_more_work(programs: &'static Programs, host: &'static Host) -> Vec<Row> {
    let scene = Scene::connected(programs, host);
    let steps = vec![
        Step::shell(format!("cueme join {}", host.tag)),
        Step::shell(host.cue("May I begin?")),
        Step::shell("ls"),
    ];
    let ran = ended(&scene, "scenario-work", steps);
    let mut rows = Rows::of(host.tag);
    rows.add(
        "question, more work, then the end: the human is asked",
        continued(&ran),
    );
    rows.done()
}

/// Takes these steps, ends, and goes on when the human says so.
fn ended(scene: &Scene, marker: &str, mut steps: Vec<Step>) -> Ran {
    steps.extend([
        Step::say("The parser is renamed."),
        Step::expect(GO_ON),
        Step::say("The lexer is renamed."),
    ]);
    let rules = [
        Rule {
            about: "May I begin?",
            answer: &["begin"],
        },
        Rule {
            about: "The parser is renamed.",
            answer: &[GO_ON],
        },
    ];
    scene.run(marker, steps, &rules)
}

/// The human was shown what the agent said last, and their words continued the turn.
fn continued(ran: &Ran) -> Result<(), String> {
    let asked = ran.by_hook();
    let is_shown = asked
        .first()
        .is_some_and(|cue| cue.prompt.starts_with("The parser is renamed."));
    if is_shown && ran.play.is_over() && ran.play.failures().is_empty() {
        Ok(())
    } else {
        Err(ran.story())
    }
}
