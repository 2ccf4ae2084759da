//! `cueme demo`: questions and answers in one minute, with real processes.

use std::io::{self, IsTerminal, Read};
use std::process::ChildStdout;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use protocol_spec::exit::Exit;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::sandbox::{CHECK, Sandbox, Waiting};
use crate::cli::DemoArgs;
use crate::display::{Paint, visible};
use crate::error::CliError;
use crate::output;

pub(super) fn run(args: &DemoArgs) -> Result<Exit, CliError> {
    let has_person = io::stdin().is_terminal() && output::is_terminal();
    if args.interactive && !io::stdin().is_terminal() {
        return Err(CliError::usage("--interactive needs a terminal")
            .with_hint("run `cueme demo` without --interactive"));
    }
    let sandbox = Arc::new(if args.here {
        Sandbox::here()?.guarded()
    } else {
        Sandbox::inside(&std::env::temp_dir())?.guarded()
    });
    let stage = Stage {
        sandbox: Arc::clone(&sandbox),
        paint: Paint::for_stdout(),
        is_guided: has_person && !args.interactive && !args.here,
        is_here: args.here,
        answers: match (args.interactive, args.here) {
            (true, _) => Answers::Terminal,
            (false, true) => Answers::Inbox,
            (false, false) => Answers::Scripted,
        },
    };
    let (ended, end) = mpsc::channel();
    watch_signals(&ended)?;
    thread::spawn(move || ended.send(End::Played(stage.play_all())));
    let end = end.recv();
    sandbox.close();
    match end {
        Ok(End::Played(played)) => played.map(|()| Exit::Done),
        Ok(End::Signal(exit)) => Err(CliError::silent(exit)),
        Err(_) => Err(CliError::new(Exit::Io, "the demo ended early").with_hint(CHECK)),
    }
}

/// The end of the demo.
enum End {
    Played(Result<(), CliError>),
    Signal(Exit),
}

/// Turns Ctrl-C into the end of the demo, which then removes its files.
fn watch_signals(ended: &mpsc::Sender<End>) -> Result<(), CliError> {
    let signals = Signals::new([SIGINT, SIGTERM, SIGHUP]);
    let mut signals =
        signals.map_err(|error| CliError::new(Exit::Io, format!("could not watch for Ctrl-C: {error}")))?;
    let ended = ended.clone();
    thread::spawn(move || {
        let exit = match signals.forever().next() {
            Some(SIGINT) => Exit::Interrupted,
            _ => Exit::Terminated,
        };
        ended.send(End::Signal(exit))
    });
    Ok(())
}

/// One question and how it is answered.
struct Scene {
    title: &'static str,
    kind: Kind,
    answer: &'static [&'static str],
}

enum Kind {
    Cue {
        prompt: &'static str,
        payload: Option<&'static str>,
    },
    Pause {
        prompt: &'static str,
    },
}

const SCENES: &[Scene] = &[
    Scene {
        title: "It asks in plain words",
        kind: Kind::Cue {
            prompt: "The refactoring is done and the tests pass. What should I name the branch?",
            payload: None,
        },
        answer: &["tidy-payments, please"],
    },
    Scene {
        title: "It offers a choice",
        kind: Kind::Cue {
            prompt: "Which database shall I use for the sessions?",
            payload: Some(r#"{"type":"choice","options":["SQLite","PostgreSQL"]}"#),
        },
        answer: &["--select", "SQLite"],
    },
    Scene {
        title: "It wants a yes or a no",
        kind: Kind::Cue {
            prompt: "The migration drops the column `legacy_id`.",
            payload: Some(
                r#"{"type":"confirm","text":"Run it?","confirm_label":"Run it","cancel_label":"Leave it"}"#,
            ),
        },
        answer: &["--cancel", "not before the backup"],
    },
    Scene {
        title: "It needs several values",
        kind: Kind::Cue {
            prompt: "I am ready to deploy.",
            payload: Some(
                r#"{"type":"form","fields":[{"label":"Environment","options":["staging","production"]},{"label":"Replicas","kind":"number"}]}"#,
            ),
        },
        answer: &["--field", "Environment=staging", "--field", "Replicas=3"],
    },
    Scene {
        title: "It stops until it may continue",
        kind: Kind::Pause {
            prompt: "Staging is deployed. Have a look before I go on.",
        },
        answer: &["--confirm"],
    },
];

/// The question that the person answers.
const LAST_PROMPT: &str = "You have seen all kinds of questions. **What do you think of it?**";
const LAST_PAYLOAD: &str = r#"{"type":"choice","options":["I like it","Not for me"]}"#;
/// The timeout of an answer on its way from the inbox to the agent: the time to undo, and a little more.
const ANSWER_SETTLES: Duration = Duration::from_secs(8);

/// The first event while the person is asked.
enum DemoEvent {
    Enter,
    Answer(String),
}

/// The person or program that answers the demo's questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answers {
    /// The demo itself.
    Scripted,
    /// A human in this terminal.
    Terminal,
    /// A human in their own inbox: the page, or another terminal.
    Inbox,
}

struct Stage {
    sandbox: Arc<Sandbox>,
    paint: Paint,
    answers: Answers,
    /// Whether a person watches, at their own pace.
    is_guided: bool,
    is_here: bool,
}

impl Stage {
    fn play_all(&self) -> Result<(), CliError> {
        self.title("An agent joins")?;
        let joined = self.shown(&["join", "demo"])?;
        let agent = agent_id(&joined)?;
        output::print(&first_lines(&joined, 4))?;
        for scene in SCENES {
            self.pause()?;
            self.play(scene, agent)?;
        }
        if self.is_guided {
            self.pause()?;
            self.now_you(agent)?;
        }
        let note = if self.is_here {
            ""
        } else {
            " Your own data was not touched, and the demo has removed its files."
        };
        output::print_line(&format!(
            "\nThat is all: a question blocks the agent until a human answers.{note}\n\
             Next: `cueme inbox` for you, `cueme join <agent_runtime>` for an agent."
        ))
    }

    /// Waits for Enter, so that a person can read.
    fn pause(&self) -> Result<(), CliError> {
        if !self.is_guided {
            return Ok(());
        }
        output::print(&self.paint.dim("\n(Enter goes on, Ctrl-C leaves) "))?;
        read_enter();
        Ok(())
    }

    /// Lets the person answer a real question, here or on the page.
    fn now_you(&self, agent: &str) -> Result<(), CliError> {
        self.title("Now you")?;
        let envelope = envelope(LAST_PROMPT, Some(LAST_PAYLOAD));
        let (mut waiting, _) = self.sandbox.ask(&["cue", agent, "-"], Some(&envelope))?;
        output::print_line("The agent has asked one more question and waits for your answer.")?;
        output::print_line("  here:         press Enter to open `cueme tui`; q leaves it")?;
        if let Ok(link) = self.sandbox.run(&["ui", "--print-url"]) {
            output::print_line(&format!("  in a browser: {}", visible(link.trim())))?;
        }
        let stdout = waiting.take_stdout();
        let (told, heard) = mpsc::channel();
        let answered = told.clone();
        thread::spawn(move || answered.send(DemoEvent::Answer(read_all(stdout))));
        loop {
            let enter = told.clone();
            thread::spawn(move || {
                read_enter();
                enter.send(DemoEvent::Enter)
            });
            match heard.recv() {
                Ok(DemoEvent::Enter) => self.sandbox.run_visibly(&["tui"])?,
                Ok(DemoEvent::Answer(text)) => {
                    self.speaker("agent reads")?;
                    output::print_line(&self.paint.green(visible(&text).trim_end()))?;
                    return Ok(());
                }
                Err(_) => return Ok(()),
            }
            // Leaving without an answer is fine: the question is still there.
            if let Ok(DemoEvent::Answer(text)) = heard.recv_timeout(ANSWER_SETTLES) {
                self.speaker("agent reads")?;
                return output::print_line(&self.paint.green(visible(&text).trim_end()));
            }
            output::print_line("The agent still waits: Enter opens `cueme tui` again, Ctrl-C leaves.")?;
        }
    }

    fn play(&self, scene: &Scene, agent: &str) -> Result<(), CliError> {
        self.title(scene.title)?;
        let waiting = match scene.kind {
            Kind::Cue { prompt, payload } => {
                let envelope = envelope(prompt, payload);
                self.print_call(&format!("cueme cue {agent} - <<'CUEME'\n{envelope}CUEME"))?;
                self.answered(scene, &["cue", agent, "-"], Some(&envelope))?
            }
            Kind::Pause { prompt } => {
                self.print_call(&called(&["pause", agent, prompt]))?;
                self.answered(scene, &["pause", agent, prompt], None)?
            }
        };
        let (text, code) = waiting.finish().map_err(|error| {
            CliError::new(
                Exit::Io,
                format!("could not read the output of the agent's call: {error}"),
            )
        })?;
        self.speaker("agent reads")?;
        output::print_line(&self.paint.green(visible(&text).trim_end()))?;
        let how = match code {
            Some(0) => return Ok(()),
            Some(code) => format!("exited with {code}"),
            None => "was ended by a signal".to_owned(),
        };
        Err(CliError::new(Exit::Io, format!("the agent's call {how}")))
    }

    /// Asks, and lets the chosen party answer.
    fn answered(&self, scene: &Scene, call: &[&str], stdin: Option<&str>) -> Result<Waiting, CliError> {
        if self.answers == Answers::Inbox {
            // The human may answer before a look at the inbox would find the question.
            let waiting = self.sandbox.start(call, stdin)?;
            self.speaker("human")?;
            output::print_line("waiting: answer on the page (`cueme ui`), or in a terminal (`cueme inbox`)")?;
            return Ok(waiting);
        }
        let (waiting, cue) = self.sandbox.ask(call, stdin)?;
        self.speaker("human")?;
        if self.answers == Answers::Terminal {
            self.sandbox.run_visibly(&["answer", &cue])?;
        } else {
            let words: Vec<&str> = ["answer", &cue]
                .into_iter()
                .chain(scene.answer.iter().copied())
                .collect();
            let said = self.shown(&words)?;
            output::print(&visible(&said))?;
            output::print_line("")?;
        }
        Ok(waiting)
    }

    /// Runs a command and shows how it was called.
    fn shown(&self, words: &[&str]) -> Result<String, CliError> {
        self.print_call(&called(words))?;
        self.sandbox.run(words)
    }

    fn title(&self, text: &str) -> Result<(), CliError> {
        output::print_line(&format!("\n{}", self.paint.bold(&format!("── {text} ──"))))
    }

    fn speaker(&self, who: &str) -> Result<(), CliError> {
        output::print_line(&self.paint.dim(&format!("[{who}]")))
    }

    fn print_call(&self, call: &str) -> Result<(), CliError> {
        output::print_line(&self.paint.cyan(&format!("$ {call}")))
    }
}

/// Returns a call as a person types it.
fn called(words: &[&str]) -> String {
    let words = shlex::try_join(words.iter().copied()).unwrap_or_else(|_| words.join(" "));
    format!("cueme {words}")
}

fn read_enter() {
    // The end of the input goes on as well.
    let _ = io::stdin().read_line(&mut String::new());
}

fn read_all(stdout: Option<ChildStdout>) -> String {
    let mut text = String::new();
    if let Some(mut stdout) = stdout {
        // A failure to read leaves the text that was read so far.
        let _ = stdout.read_to_string(&mut text);
    }
    text
}

fn envelope(prompt: &str, payload: Option<&str>) -> String {
    // The prompts above are ours and fit the grammar; a test holds them to it.
    protocol_spec::envelope::render(prompt, payload).unwrap_or_default()
}

fn agent_id(joined: &str) -> Result<&str, CliError> {
    joined
        .lines()
        .find_map(|line| line.strip_prefix("agent_id="))
        .ok_or_else(|| CliError::new(Exit::Io, "joining printed no agent_id").with_hint(CHECK))
}

fn first_lines(text: &str, count: usize) -> String {
    text.lines()
        .take(count)
        .map(|line| format!("{}\n", visible(line)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_question_of_the_demo_is_well_formed_and_every_kind_is_shown() {
        let mut kinds = Vec::new();
        for scene in SCENES {
            if let Kind::Cue { prompt, payload } = scene.kind {
                let text = envelope(prompt, payload);
                let parsed = protocol_spec::envelope::parse_cue(&text).unwrap();
                kinds.push(parsed.payload.map_or("text", |payload| payload.shape().name()));
            } else {
                kinds.push("pause");
            }
        }
        assert_eq!(kinds, ["text", "choice", "confirm", "form", "pause"]);
    }
}
