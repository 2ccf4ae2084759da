//! `cueme join`: an agent registers and learns how to ask.

use protocol_spec::exit::Exit;
use protocol_spec::id::{AgentId, RuntimeTag};
use protocol_spec::message::{Join, NAME_BYTES_MAX, Request};

use super::terminal;
use crate::cli::JoinArgs;
use crate::client::{call, expect_reply};
use crate::error::CliError;
use crate::{output, surroundings};

/// The variable by which a hook tells the agent's commands which session they belong to.
pub(super) const SESSION_VARIABLE: &str = "CUEME_SESSION";

/// An agent that has joined.
#[derive(Debug)]
pub(super) struct Registered {
    pub(super) agent_id: AgentId,
    pub(super) join: Join,
}

impl Registered {
    /// Returns what the agent reads.
    pub(super) fn message(&self) -> String {
        message(&self.agent_id, &self.join)
    }
}

pub(super) fn run(args: &JoinArgs) -> Result<Exit, CliError> {
    output::print(&register(&args.agent_runtime)?.message())?;
    Ok(Exit::Done)
}

/// Registers an agent that lives in this runtime.
pub(super) fn register(agent_runtime: &str) -> Result<Registered, CliError> {
    let runtime: RuntimeTag = agent_runtime.parse()?;
    let join = Join {
        runtime,
        project_dir: project_dir()?,
        terminal: terminal::family().to_owned(),
        session: surroundings::variable(SESSION_VARIABLE),
    };
    if let Some(agent_id) = surroundings::driven_agent() {
        return Ok(Registered { agent_id, join });
    }
    let request = Request::Join(join.clone());
    let agent_id = expect_reply!(call(&surroundings::places()?, &request)?, Joined)?.agent_id;
    Ok(Registered { agent_id, join })
}

/// Returns the directory the agent works in.
pub(super) fn project_dir() -> Result<String, CliError> {
    let directory = std::env::current_dir().map_err(|error| {
        CliError::usage(format!("could not read the working directory: {error}"))
            .with_hint("change into the project's directory and run it again")
    })?;
    let text = directory.to_string_lossy().into_owned();
    if text.len() > NAME_BYTES_MAX {
        return Err(CliError::usage(format!(
            "the working directory's path is longer than {NAME_BYTES_MAX} bytes"
        )));
    }
    Ok(text)
}

fn message(agent_id: &AgentId, join: &Join) -> String {
    let Join {
        runtime,
        project_dir,
        terminal,
        ..
    } = join;
    format!(
        "\
agent_id={agent_id}
project_dir={project_dir}
agent_terminal={terminal}
agent_runtime={runtime}

You have joined. Keep your agent_id. Before each summary and before you finish, ask the human and wait, in the
foreground and without a timeout of your own:

cueme cue {agent_id} - <<'CUEME'
<cueme_prompt>
Your question
</cueme_prompt>
<cueme_payload>
{{\"type\":\"choice\",\"options\":[\"Continue\",\"Stop\"]}}
</cueme_payload>
CUEME

The payload block is optional (choice, confirm or form). What the command prints is the human's answer. Exit code 75
means that the question is still open: run exactly the same command again. `cueme pause {agent_id}` waits until the
human lets you continue.
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol_spec::envelope;

    #[test]
    fn the_message_has_the_four_facts_on_lines_of_their_own_and_an_example_that_parses() {
        let join = Join {
            runtime: "cursor".parse().unwrap(),
            project_dir: "/home/a/my project".into(),
            terminal: "zsh".into(),
            session: None,
        };
        let text = message(&"bako-nefi".parse().unwrap(), &join);
        let lines: Vec<&str> = text.lines().take(4).collect();
        assert_eq!(
            lines,
            [
                "agent_id=bako-nefi",
                "project_dir=/home/a/my project",
                "agent_terminal=zsh",
                "agent_runtime=cursor"
            ]
        );
        let (_, example) = text.split_once("<<'CUEME'\n").unwrap();
        let (example, _) = example.split_once("CUEME\n").unwrap();
        assert!(envelope::parse_cue(example).unwrap().payload.is_some());
    }
}
