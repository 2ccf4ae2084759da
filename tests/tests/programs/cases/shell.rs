//! The verbs in the host's shell tool, as the rule teaches them: join, every kind of question, a pause, and an end.

use cueme_tests::model_server::{AGENT, Step};

use crate::hosts::{Host, here_document};
use crate::programs::Programs;
use crate::scene::{Rule, Scene};
use crate::verdict::{Row, Rows};

/// A question that the model asks in the shell.
struct Cue {
    case: &'static str,
    prompt: &'static str,
    payload: Option<&'static str>,
    answer: &'static [&'static str],
    /// Text that the model must read.
    reads: &'static str,
}

pub(super) const NASTY: &str = "Keep `rm -rf \"$HOME/x\"`? 它说:\"好\" — it's $5 & {\"a\":[1,'b']} !history \\n\n```sh\necho $(date) | tee 'a b'\n```";

const CUES: &[Cue] = &[
    Cue {
        case: "cue, plain",
        prompt: "Shall I go on with the parser?",
        payload: None,
        answer: &["yes, the parser first"],
        reads: "yes, the parser first",
    },
    Cue {
        case: "cue, choice",
        prompt: "Which database?",
        payload: Some(r#"{"type":"choice","options":["SQLite","PostgreSQL"]}"#),
        answer: &["--select", "PostgreSQL"],
        reads: "PostgreSQL",
    },
    Cue {
        case: "cue, confirm",
        prompt: "May I drop it?",
        payload: Some(
            r#"{"type":"confirm","text":"Drop the table?","confirm_label":"Drop it now","cancel_label":"Keep"}"#,
        ),
        answer: &["--confirm"],
        reads: "Drop it now",
    },
    Cue {
        case: "cue, form",
        prompt: "Where to?",
        payload: Some(
            r#"{"type":"form","fields":[{"label":"Env","kind":"text","options":["prod","staging"]},{"label":"Note","kind":"text"}]}"#,
        ),
        answer: &["--field", "Env=staging", "--field", "Note=mind the 表"],
        reads: "Env: staging",
    },
    Cue {
        case: "cue with code, quotes, `$`, backticks and Chinese",
        prompt: NASTY,
        payload: Some(r#"{"type":"choice","options":["it's `ok`","$no"]}"#),
        answer: &["--select", "$no"],
        reads: "$no",
    },
];

pub(super) fn play(programs: &'static Programs, host: &'static Host) -> Vec<Row> {
    let scene = Scene::connected(programs, host);
    let mut steps = vec![Step::shell(format!("cueme join {}", host.tag))];
    steps.extend(
        CUES.iter()
            .map(|cue| Step::shell(here_document(cue.prompt, cue.payload))),
    );
    steps.push(Step::shell(format!("cueme pause {AGENT} \"Ready to deploy?\"")));
    steps.push(Step::say("I have done what you said."));
    let mut rules: Vec<Rule<'_>> = CUES
        .iter()
        .map(|cue| Rule {
            about: cue.prompt,
            answer: cue.answer,
        })
        .collect();
    rules.push(Rule {
        about: "Ready to deploy?",
        answer: &["--confirm"],
    });
    let ran = scene.run("scenario-shell", steps, &rules);

    let mut rows = Rows::of(host.tag);
    rows.check("join in the shell", ran.told(0, "agent_id="), || ran.story());
    for (index, cue) in CUES.iter().enumerate() {
        let was_asked = ran.asked.iter().any(|seen| seen.prompt == cue.prompt);
        rows.check(cue.case, was_asked && ran.told(index + 1, cue.reads), || {
            ran.story()
        });
    }
    let is_paused = ran.asked.iter().any(|cue| cue.prompt == "Ready to deploy?");
    let pause = CUES.len() + 1;
    rows.check("pause", is_paused && !ran.told(pause, "error"), || ran.story());
    let is_quiet = ran.by_hook().is_empty() && ran.play.is_over() && ran.play.failures().is_empty();
    rows.check(
        "question answered, then the end: not asked again",
        is_quiet,
        || ran.story(),
    );
    rows.done()
}
