//! A published ACP agent, driven by `cueme agent run --via acp` in the place of Cursor's.

use cueme_test_kit::within;
use cueme_tests::model_server::Step;
use protocol_spec::message::CueView;
use protocol_spec::outcome::Origin;

use super::proxy::{GO_ON, SCENE_MAX, answer_new, answer_of};
use crate::hosts::Host;
use crate::programs::Programs;
use crate::scene::Scene;
use crate::verdict::{Row, Rows};

/// The number of reminders to an agent that ends silently, before the human is asked. An agent that cannot load its
/// session has forgotten the task, so the human is asked at once.
fn reminders(host: &Host) -> usize {
    if host.tag == "claude_code" { 3 } else { 0 }
}

/// A permission is a question inside of the turn; a silent end is one after it, whose answer begins the next turn; and the
/// human ends the run.
pub(super) fn play(programs: &'static Programs, host: &'static Host) -> Vec<Row> {
    // Not connected: a stop hook of the host's own would ask before the run does.
    let scene = Scene::empty(programs, host);
    let silence = || std::iter::repeat_with(|| Step::say("As I said.")).take(reminders(host));
    let mut steps = vec![
        Step::shell("mkdir made-by-the-agent"),
        Step::say("The folder is there."),
    ];
    steps.extend(silence());
    steps.extend([Step::expect(GO_ON), Step::say("The docs are written.")]);
    steps.extend(silence());
    let play = scene.model.play("scenario-driven", steps);
    let mut running = scene.driven("scenario-driven: do as the script says.");
    let mut asked: Vec<CueView> = Vec::new();
    let ended = within(SCENE_MAX, || {
        answer_new(&scene, &mut asked, |cue, earlier| {
            let is_of_adapter = |cue: &CueView| cue.origin == Origin::Adapter;
            let is_last = is_of_adapter(cue) && earlier.iter().any(is_of_adapter);
            if is_last {
                vec!["--done".to_owned()]
            } else {
                answer_of(cue)
            }
        });
        running.client.ended()
    });
    let prompts: Vec<&str> = asked.iter().map(|cue| cue.prompt.as_str()).collect();
    let is_made = scene.project().join("made-by-the-agent").is_dir();
    let shows_input = asked
        .iter()
        .any(|cue| cue.origin == Origin::Approval && cue.prompt.contains("mkdir made-by-the-agent"));
    let shows_last_words = prompts
        .iter()
        .any(|prompt| prompt.contains("The folder is there."));
    let mut rows = Rows::of(host.tag);
    let story = || {
        format!(
            "asked: {prompts:#?}, made: {is_made}, over: {}, failures: {:#?}, ended: {ended:#?}, stderr: {}",
            play.is_over(),
            play.failures(),
            running.client.stderr()
        )
    };
    rows.check(
        "driven by `cueme agent run --via acp`: a permission is given in the inbox inside of the turn",
        is_made && shows_input,
        story,
    );
    rows.check(
        "driven by `cueme agent run --via acp`: a silent end is a question, and its answer begins the next turn",
        shows_last_words && play.is_over() && play.failures().is_empty(),
        story,
    );
    rows.check(
        "driven by `cueme agent run --via acp`: the human ends the run",
        ended.as_ref().is_some_and(|run| run.code == Some(0)),
        story,
    );
    rows.done()
}
