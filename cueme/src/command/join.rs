//! `cueme join`: an agent registers and learns how to ask.

use protocol_spec::exit::Exit;
use protocol_spec::id::{AgentId, RuntimeTag};
use protocol_spec::message::{Join, NAME_BYTES_MAX, Request};
use runtimes::Language;

use super::terminal;
use crate::cli::JoinArgs;
use crate::client::{call, expect_reply};
use crate::error::CliError;
use crate::host_session::{self, Evidence};
use crate::{environment, output, wording};

/// An agent that has joined.
#[derive(Debug)]
pub(super) struct Registered {
    pub(super) agent_id: AgentId,
    pub(super) join: Join,
    language: Language,
}

impl Registered {
    /// Returns what the agent reads.
    pub(super) fn message(&self) -> String {
        wording::joined(self.language, &self.agent_id, &self.join)
    }
}

pub(super) fn run(args: &JoinArgs) -> Result<Exit, CliError> {
    output::print(&register(&args.agent_runtime, Evidence::Shell)?.message())?;
    Ok(Exit::Done)
}

/// Registers an agent that lives in this runtime; in a session that has one already, returns that.
pub(super) fn register(agent_runtime: &str, evidence: Evidence<'_>) -> Result<Registered, CliError> {
    let runtime: RuntimeTag = agent_runtime.parse()?;
    let places = environment::places()?;
    let join = Join {
        project_dir: project_dir()?,
        terminal: terminal::family().to_owned(),
        session: host_session::find(&places, runtime.as_str(), evidence),
        runtime,
    };
    let language = wording::language_of(&places, &join.runtime);
    if let Some(agent_id) = environment::driven_agent() {
        return Ok(Registered {
            agent_id,
            join,
            language,
        });
    }
    let request = Request::Join(join.clone());
    let agent_id = expect_reply!(call(&places, &request)?, Joined)?.agent_id;
    Ok(Registered {
        agent_id,
        join,
        language,
    })
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
