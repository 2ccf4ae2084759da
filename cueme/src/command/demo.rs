//! `cueme demo`: the whole loop in a minute, with real processes and nothing pretended.

use std::io::{self, IsTerminal};

use protocol_spec::exit::Exit;

use super::sandbox::Sandbox;
use crate::cli::DemoArgs;
use crate::display::{Paint, visible};
use crate::error::CliError;
use crate::output;

pub(super) fn run(args: &DemoArgs) -> Result<Exit, CliError> {
    if args.interactive && !io::stdin().is_terminal() {
        return Err(
            CliError::usage("there is no terminal to ask you in").with_hint("run `cueme demo` without it")
        );
    }
    let sandbox = if args.here {
        Sandbox::here()?
    } else {
        Sandbox::inside(&std::env::temp_dir())?
    };
    let stage = Stage {
        sandbox: &sandbox,
        paint: Paint::for_stdout(),
        is_interactive: args.interactive,
    };
    stage.title("An agent joins")?;
    let joined = stage.shown(&["join", "demo"])?;
    let agent = agent_id(&joined)?;
    output::print(&first_lines(&joined, 4))?;
    for scene in SCENES {
        stage.play(scene, agent)?;
    }
    let note = if args.here {
        ""
    } else {
        " Nothing of yours was touched, and all of it is gone again."
    };
    output::print_line(&format!(
        "\nThat was all: a question blocks the agent until a human answers.{note}\n\
         Next: `cueme inbox` for you, `cueme join <agent_runtime>` for an agent."
    ))?;
    Ok(Exit::Done)
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

struct Stage<'a> {
    sandbox: &'a Sandbox,
    paint: Paint,
    is_interactive: bool,
}

impl Stage<'_> {
    fn play(&self, scene: &Scene, agent: &str) -> Result<(), CliError> {
        self.title(scene.title)?;
        let (waiting, cue) = match scene.kind {
            Kind::Cue { prompt, payload } => {
                let envelope = envelope(prompt, payload);
                self.print_call(&format!("cueme cue {agent} - <<'CUEME'\n{envelope}CUEME"))?;
                self.sandbox.ask(&["cue", agent, "-"], Some(&envelope))?
            }
            Kind::Pause { prompt } => {
                self.print_call(&format!("cueme pause {agent} {prompt:?}"))?;
                self.sandbox.ask(&["pause", agent, prompt], None)?
            }
        };
        self.speaker("human")?;
        if self.is_interactive {
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
        let (text, code) = waiting.finish().map_err(|error| {
            CliError::new(Exit::Io, format!("could not read what the agent got: {error}"))
        })?;
        self.speaker("agent reads")?;
        output::print_line(&self.paint.green(visible(&text).trim_end()))?;
        match code {
            Some(0) => Ok(()),
            code => Err(CliError::new(
                Exit::Io,
                format!("the agent's call ended with {code:?} instead of 0"),
            )),
        }
    }

    /// Runs a command and shows how it was called.
    fn shown(&self, words: &[&str]) -> Result<String, CliError> {
        let quoted: Vec<String> = words
            .iter()
            .map(|word| {
                if word.contains(' ') {
                    format!("{word:?}")
                } else {
                    (*word).to_owned()
                }
            })
            .collect();
        self.print_call(&format!("cueme {}", quoted.join(" ")))?;
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

fn envelope(prompt: &str, payload: Option<&str>) -> String {
    // The prompts above are ours and fit the grammar; a test holds them to it.
    protocol_spec::envelope::render(prompt, payload).unwrap_or_default()
}

fn agent_id(joined: &str) -> Result<&str, CliError> {
    joined
        .lines()
        .find_map(|line| line.strip_prefix("agent_id="))
        .ok_or_else(|| CliError::new(Exit::Io, "joining printed no agent_id"))
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
