//! A published ACP agent behind `cueme acp`, in an editor in front of which nobody sits.

use std::time::Duration;

use cueme_test_kit::within;
use cueme_tests::model_server::Step;
use protocol_spec::message::CueView;
use protocol_spec::outcome::Origin;
use serde_json::Value;

use crate::hosts::Host;
use crate::programs::Programs;
use crate::scene::Scene;
use crate::verdict::{Row, Rows};

/// The timeout of the whole scene; the machine may be busy.
pub(super) const SCENE_MAX: Duration = Duration::from_secs(120);
pub(super) const GO_ON: &str = "now write the docs";

/// A permission is given in the inbox, and the words in the inbox begin the next turn.
pub(super) fn play(programs: &'static Programs, host: &'static Host) -> Vec<Row> {
    let scene = Scene::connected(programs, host);
    let play = scene.model.play(
        "scenario-proxy",
        vec![
            Step::shell("mkdir made-by-the-agent"),
            Step::say("The folder is there."),
            Step::expect(GO_ON),
            Step::say("The docs are written."),
        ],
    );
    let mut editor = scene.proxied();
    let session = editor.begin(&scene.project().to_string_lossy());
    editor.prompt(&session, "scenario-proxy: do as the script says.");
    let mut asked: Vec<CueView> = Vec::new();
    within(SCENE_MAX, || {
        answer_new(&scene, &mut asked, |cue, _| answer_of(cue));
        play.is_over().then_some(())
    });
    let prompts: Vec<&str> = asked.iter().map(|cue| cue.prompt.as_str()).collect();
    let is_made = scene.project().join("made-by-the-agent").is_dir();
    let shows_input = prompts
        .iter()
        .any(|prompt| prompt.contains("mkdir made-by-the-agent"));
    let is_withdrawn = editor
        .messages()
        .iter()
        .any(|message| message["method"] == "$/cancel_request");
    let mut rows = Rows::of(host.tag);
    let story = || {
        format!(
            "asked: {prompts:#?}, made: {is_made}, withdrawn: {is_withdrawn}, over: {}, failures: {:#?}, editor: {:#?}",
            play.is_over(),
            play.failures(),
            editor.lines()
        )
    };
    rows.check(
        "behind `cueme acp`: a permission is given in the inbox, with the whole command shown",
        is_made && shows_input && is_withdrawn,
        story,
    );
    rows.check(
        "behind `cueme acp`: the answer to a turn's end begins the next turn",
        play.is_over() && play.failures().is_empty(),
        story,
    );
    rows.done()
}

/// Answers every question that a client waits for and that was not answered yet; the answer may depend on those before.
pub(super) fn answer_new(
    scene: &Scene,
    asked: &mut Vec<CueView>,
    answer: impl Fn(&CueView, &[CueView]) -> Vec<String>,
) {
    for cue in scene.home.open_cues() {
        let is_known = asked.iter().any(|known| known.cue_id == cue.cue_id);
        if is_known || cue.waiting == 0 {
            continue;
        }
        let (id, answer) = (cue.cue_id.to_string(), answer(&cue, asked));
        let words: Vec<&str> = answer.iter().map(String::as_str).collect();
        scene.home.run(&[&["answer", &id], words.as_slice()].concat());
        asked.push(cue);
    }
}

/// Returns what a person answers: yes to a permission, once, and then what follows.
pub(super) fn answer_of(cue: &CueView) -> Vec<String> {
    if cue.origin != Origin::Approval {
        return vec![GO_ON.to_owned()];
    }
    let payload = cue
        .payload
        .as_ref()
        .and_then(|payload| serde_json::from_str::<Value>(payload.get()).ok());
    let options = payload.as_ref().and_then(|payload| payload["options"].as_array());
    let once = |option: &&str| option.to_lowercase().contains("allow once");
    match options.and_then(|options| options.iter().filter_map(Value::as_str).find(once)) {
        Some(option) => vec!["--select".to_owned(), option.to_owned()],
        None => vec!["--confirm".to_owned()],
    }
}
