//! A person at the host's own window, in a real terminal.

use std::time::Duration;

use cueme_tests::model_server::{Play, Step};
use cueme_tests::{PATIENCE, Terminal, eventually, within};
use serde_json::json;

use super::shell::NASTY;
use crate::hosts::{Host, here_document};
use crate::programs::Programs;
use crate::scene::{Human, Rule, Scene};
use crate::verdict::{Row, Rows};

/// The human types while the stop hook waits: the hook lets go, the question closes, the words reach the agent.
pub(super) fn typed(programs: &'static Programs, host: &'static Host) -> Vec<Row> {
    let scene = Scene::connected(programs, host);
    let play = scene.model.play(
        "scenario-window",
        vec![
            Step::say("The parser is renamed."),
            Step::expect("never mind, take the lexer"),
            Step::say("The lexer is renamed."),
        ],
    );
    let terminal = scene.window();
    submit(&terminal, &play, "scenario-window: do as the script says.");
    let question = eventually("the question of the stop hook", || {
        let cues = scene.home.open_cues();
        cues.into_iter().find(|cue| cue.waiting > 0)
    });
    terminal.types("never mind, take the lexer");
    enter(&terminal);
    if let Some(key) = host.send_key {
        terminal.sees("↳ never mind");
        terminal.press(key);
    }
    let is_over = within(PATIENCE, || play.is_over().then_some(())).is_some();
    let is_typed = is_over && play.failures().is_empty();
    let outcome = scene.home.show(&question.cue_id.to_string())["outcome"].clone();
    let mut rows = Rows::of(host.tag);
    rows.check(
        "the human types in the host's own window",
        is_typed && outcome == "cancelled",
        || {
            format!(
                "outcome: {outcome}, told: {:#?}, failures: {:?}\n{}",
                play.told().len(),
                play.failures(),
                terminal.screen()
            )
        },
    );
    rows.done()
}

/// A question as the rule teaches it, asked in the window: no dialog stands before it.
pub(super) fn here_document_asked(programs: &'static Programs, host: &'static Host) -> Vec<Row> {
    let scene = Scene::connected(programs, host);
    let play = scene.model.play(
        "scenario-document",
        vec![
            Step::shell(format!("cueme join {}", host.tag)),
            Step::shell(here_document(
                NASTY,
                Some(r#"{"type":"choice","options":["it's `ok`","$no"]}"#),
            )),
            Step::say("It is kept."),
        ],
    );
    let terminal = scene.window();
    submit(&terminal, &play, "scenario-document: do as the script says.");
    let rules = [Rule {
        about: NASTY,
        answer: &["--select", "$no"],
    }];
    let mut human = Human::new(&scene, &rules);
    human.looks_until(|_| play.is_over());
    let is_told = play.told().get(2).is_some_and(|told| told.contains("$no"));
    let mut rows = Rows::of(host.tag);
    rows.check("cue in a here-document in the window: no dialog", is_told, || {
        format!("told: {:#?}\n{}", play.told(), terminal.screen())
    });
    rows.done()
}

/// Tools that need permission, allowed and refused in the host's own window: the questions in the inbox close.
pub(super) fn approved_there(programs: &'static Programs, host: &'static Host) -> Vec<Row> {
    let scene = Scene::empty(programs, host);
    scene.init(&["--yes", "--approvals"]);
    let play = scene.model.play(
        "scenario-there",
        vec![
            Step::shell("touch allowed-there"),
            Step::shell("touch refused-there"),
            Step::say("It is done."),
        ],
    );
    let terminal = scene.window();
    submit(&terminal, &play, "scenario-there: do as the script says.");
    let mut rows = Rows::of(host.tag);
    for (case, name, key) in [
        (
            "approval given in the host's own window: the inbox question closes",
            "allowed-there",
            "Enter",
        ),
        (
            "approval refused in the host's own window: the inbox question closes",
            "refused-there",
            "Escape",
        ),
    ] {
        let question = eventually("the question whether the tool may run", || {
            let cues = scene.home.open_cues();
            cues.into_iter()
                .find(|cue| cue.waiting > 0 && cue.prompt.contains(name))
        });
        decides(&terminal, name, key);
        let id = question.cue_id.to_string();
        let closed = eventually("the end of the question", || {
            Some(scene.home.show(&id)).filter(|shown| shown["outcome"] != "open")
        });
        let was_run = scene.project().join(name).exists();
        let holds = closed["outcome"] == "cancelled" && was_run == (key == "Enter");
        rows.check(case, holds, || format!("{closed:#}\n{}", terminal.screen()));
    }
    rows.done()
}

/// `--approvals --questions`: a tool that needs permission, and the host's own question, are answered in the inbox.
pub(super) fn approved(programs: &'static Programs, host: &'static Host) -> Vec<Row> {
    let scene = Scene::empty(programs, host);
    scene.init(&["--yes", "--approvals", "--questions"]);
    let mut steps = vec![
        needs_permission(host, "touch allowed-by-human"),
        needs_permission(host, "touch denied-by-human"),
    ];
    let asks = host.question_tool;
    if let Some(tool) = asks {
        steps.push(Step::Call {
            tool,
            arguments: json!({ "questions": [{
                "question": "Which framework?", "header": "Framework", "multiSelect": false,
                "options": [
                    { "label": "React", "description": "the usual one" },
                    { "label": "Svelte", "description": "the small one" },
                ],
            }] }),
        });
    }
    steps.push(Step::say("It is done."));
    let rules = [
        Rule {
            about: "allowed-by-human",
            answer: &["--confirm"],
        },
        Rule {
            about: "denied-by-human",
            answer: &["--cancel"],
        },
        Rule {
            about: "Which framework?",
            answer: &["--select", "Svelte"],
        },
    ];
    let play = scene.model.play("scenario-approvals", steps);
    let terminal = scene.window();
    submit(&terminal, &play, "scenario-approvals: do as the script says.");
    let mut human = Human::new(&scene, &rules);
    // The end is asked too, which comes last.
    human.looks_until(|human| human.asked.iter().any(|cue| cue.prompt.contains("It is done.")));
    let made = |name: &str| scene.project().join(name).exists();
    let mut rows = Rows::of(host.tag);
    let story = || {
        format!(
            "told: {:#?}\n{}",
            play.told().iter().skip(1).collect::<Vec<_>>(),
            terminal.screen()
        )
    };
    rows.check("approval allowed in the inbox", made("allowed-by-human"), story);
    let was_asked = human
        .asked
        .iter()
        .any(|cue| cue.prompt.contains("denied-by-human"));
    rows.check(
        "approval denied in the inbox",
        was_asked && !made("denied-by-human"),
        story,
    );
    if asks.is_some() {
        let is_told = play.told().iter().any(|told| told.contains("Svelte"));
        rows.check("the host's own question answered in the inbox", is_told, story);
    }
    rows.done()
}

/// Calls the shell in a way that the host asks about. Codex asks only about a command that wants to leave its sandbox.
fn needs_permission(host: &Host, command: &str) -> Step {
    if host.tag == "codex" {
        Step::Call {
            tool: "exec_command",
            arguments: json!({ "cmd": command, "sandbox_permissions": "require_escalated", "justification": "as told" }),
        }
    } else {
        Step::shell(command)
    }
}

/// Presses a key in the dialog about a command, until it is gone: the dialog ignores keys right after it appears.
fn decides(terminal: &Terminal, command: &str, key: &str) {
    let is_asked = |screen: &str| screen.contains(command) && screen.contains("Do you want to proceed?");
    eventually("the dialog", || is_asked(&terminal.screen()).then_some(()));
    eventually("the end of the dialog", || {
        std::thread::sleep(Duration::from_millis(500));
        if is_asked(&terminal.screen()) {
            terminal.press(key);
            return None;
        }
        Some(())
    });
}

/// Types a prompt and sends it. A busy program takes an Enter that comes soon for a part of pasted text, so it may need another.
fn submit(terminal: &Terminal, play: &Play, prompt: &str) {
    terminal.types(prompt);
    terminal.sees(prompt);
    let is_sent = || (!play.told().is_empty()).then_some(());
    eventually("the request of the program", || {
        enter(terminal);
        within(Duration::from_secs(3), is_sent)
    });
}

/// Presses Enter; programs take one that follows the text at once for a part of pasted text.
fn enter(terminal: &Terminal) {
    std::thread::sleep(Duration::from_millis(500));
    terminal.press("Enter");
}
