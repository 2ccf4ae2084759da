//! `cueme agent run`: a conversation with Cursor's agent in which no turn ends without the human being asked.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use adapter_core::cursor::chats::ChatsRoot;
use adapter_core::cursor::cli::{Canceller, CliAgent, Ending, Sink, TurnReport, cancellation};
use adapter_core::hap::{Agent, ConversationEnd, HapEvent, HapOptions, converse};
use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;
use protocol_spec::id::{AgentId, RuntimeTag};
use protocol_spec::message::{Join, Request};
use tokio::signal::unix::{SignalKind, signal};

use super::failed::TURN_FAILED;
use super::human::BrokerHuman;
use super::reported::ReportedRun;
use super::setup::{choose, directory, load_config, runtime};
use super::tools::registry;
use super::view::View;
use crate::cli::{AgentRunArgs, Permission, Sandbox};
use crate::client::{call, expect_reply};
use crate::command::{chats, terminal};
use crate::display::now;
use crate::error::CliError;
use crate::input::text_of;
use crate::{output, surroundings};

/// The runtime an agent of this command joins as.
const RUNTIME: &str = "cursor";
/// The word for the newest chat of a directory.
const LATEST: &str = "latest";

pub(super) fn run(args: &AgentRunArgs) -> Result<Exit, CliError> {
    let prompt = text_of(&args.prompt, "the task")?.filter(|prompt| !prompt.trim().is_empty());
    let prompt = prompt.ok_or_else(|| {
        CliError::usage("the task is empty").with_hint("run `cueme agent run \"what to do\"`")
    })?;
    let places = surroundings::places()?;
    let cwd = directory(args.cwd.as_deref())?;
    let resume = args
        .resume
        .as_deref()
        .map(|chat| chat_id(chat, &cwd))
        .transpose()?;
    let human = if args.no_hap {
        None
    } else {
        Some(BrokerHuman {
            agent_id: join(&places, &cwd, resume.clone())?,
            places: places.clone(),
            since: now(),
        })
    };
    let (canceller, cancelled) = cancellation();
    let is_lines = args.json || !output::is_terminal();
    let mut agent = agent(args, &places, human.as_ref(), &cwd)?;
    // The broker is told of tools also where stdout is not.
    agent.activity = args.activity || !is_lines || human.is_some();
    agent.cancelled = cancelled;
    let reported = ReportedRun::begin(human.as_ref(), &cwd, &prompt, resume.as_deref(), &canceller);
    let view = if is_lines {
        View::lines(canceller.clone())
    } else {
        View::live(canceller.clone())
    };
    let view = view.reporting(reported.clone(), args.activity || !is_lines);
    let talk = Talk {
        agent,
        resume,
        prompt,
    };
    runtime()?.block_on(async {
        let stopped = stop_on_signal(canceller)?;
        let is_well = talk.hold(human, view.clone()).await;
        view.close();
        if let Some(reported) = reported {
            reported.end(is_well, stopped.get().is_some());
        }
        Ok(match stopped.get() {
            Some(exit) => *exit,
            None if is_well => Exit::Done,
            None => TURN_FAILED,
        })
    })
}

/// An agent, its first task, and the chat it continues.
struct Talk {
    agent: CliAgent,
    resume: Option<String>,
    prompt: String,
}

impl Talk {
    /// Holds the conversation; returns whether it ended well.
    async fn hold(mut self, human: Option<BrokerHuman>, mut view: View) -> bool {
        let Some(mut human) = human else {
            let resume = self.resume.as_deref();
            let env = BTreeMap::new();
            let report = self.agent.turn(&self.prompt, resume, &env, &mut view).await;
            return matches!(report.ending, Ending::Done(_));
        };
        let options = HapOptions::new(human.agent_id.to_string());
        let steps = view.clone();
        let mut watch = move |event: HapEvent<'_>| steps.step(&event);
        let mut agent = Resumed {
            agent: self.agent,
            first: self.resume,
        };
        let end = converse(
            &mut agent,
            &mut human,
            &options,
            &self.prompt,
            &mut watch,
            &mut view,
        );
        !matches!(end.await, ConversationEnd::Failed(_))
    }
}

/// An agent whose first turn continues a chat.
struct Resumed {
    agent: CliAgent,
    first: Option<String>,
}

impl Agent for Resumed {
    async fn turn(
        &mut self,
        prompt: &str,
        resume: Option<&str>,
        nonce: &str,
        sink: &mut (dyn Sink + Send),
    ) -> TurnReport {
        let first = self.first.take();
        Agent::turn(&mut self.agent, prompt, resume.or(first.as_deref()), nonce, sink).await
    }
}

fn agent(
    args: &AgentRunArgs,
    places: &Places,
    human: Option<&BrokerHuman>,
    cwd: &Path,
) -> Result<CliAgent, CliError> {
    let config = load_config(places)?;
    let choice = choose(&config, args.model.as_deref())?;
    let tools = registry(&config, human, cwd.to_owned())?;
    let mut agent = CliAgent::new(Arc::new(config), choice.model);
    agent.cwd = Some(cwd.to_owned());
    agent.tools = tools;
    agent.model_flag = choice.flag;
    agent.force = args.permission == Permission::Force;
    agent.extra_args = args.sandbox.map(sandbox_args).unwrap_or_default();
    Ok(agent)
}

fn sandbox_args(sandbox: Sandbox) -> Vec<String> {
    let mode = match sandbox {
        Sandbox::Enabled => "enabled",
        Sandbox::Disabled => "disabled",
    };
    vec!["--sandbox".to_owned(), mode.to_owned()]
}

/// Returns the chat that is meant.
fn chat_id(chat: &str, cwd: &Path) -> Result<String, CliError> {
    if chat != LATEST {
        return Ok(chat.to_owned());
    }
    let listing = ChatsRoot::from_env().and_then(|root| root.list_for(cwd));
    let listing = listing.map_err(|error| chats::failed(&error))?;
    let chats = listing.projects.into_iter().flat_map(|project| project.chats);
    let newest = chats.into_iter().find(|chat| !chat.is_subagent);
    newest.map(|chat| chat.chat_id).ok_or_else(|| {
        CliError::new(Exit::NotFound, format!("there is no chat of {}", cwd.display()))
            .with_hint("leave --resume out to begin one, or name the directory with --cwd")
    })
}

/// Registers the agent; one that continues a chat is the agent it was there.
fn join(places: &Places, cwd: &Path, session: Option<String>) -> Result<AgentId, CliError> {
    let runtime: RuntimeTag = RUNTIME.parse()?;
    let request = Request::Join(Join {
        runtime,
        project_dir: cwd.to_string_lossy().into_owned(),
        terminal: terminal::family().to_owned(),
        session,
    });
    Ok(expect_reply!(call(places, &request)?, Joined)?.agent_id)
}

/// Ends the running turn, and all it started, when this program is asked to stop.
fn stop_on_signal(canceller: Canceller) -> Result<Arc<OnceLock<Exit>>, CliError> {
    let failed =
        |error: std::io::Error| CliError::new(Exit::Io, format!("could not listen for signals: {error}"));
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let stopped = Arc::new(OnceLock::new());
    let noted = Arc::clone(&stopped);
    tokio::spawn(async move {
        let exit = tokio::select! {
            _ = interrupt.recv() => Exit::Interrupted,
            _ = terminate.recv() => Exit::Terminated,
        };
        // This task ends with the first signal, so nobody has set it before.
        let _ = noted.set(exit);
        canceller.cancel();
    });
    Ok(stopped)
}
