//! `cueme agent run`: a conversation with Cursor's agent in which no turn ends without the human being asked.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use adapter_core::contract::{Ending, Event, Item, Resumption, Sink};
use adapter_core::cursor::chats::ChatsRoot;
use adapter_core::cursor::cli::{CliAgent, check_chat};
use adapter_core::hap::{ConversationEnd, HapEvent, HapOptions, converse};
use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;
use protocol_spec::id::{AgentId, RuntimeTag};
use protocol_spec::message::{Join, Request};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use super::driven::Driven;
use super::failed::{TURN_FAILED, log_failure};
use super::human::BrokerHuman;
use super::identity::Identity;
use super::path::search_path;
use super::reload::Reloads;
use super::reported::ReportedRun;
use super::setup::{choose, config_file, directory, load_config, runtime};
use super::tools::registry;
use super::view::View;
use crate::cli::{AgentRunArgs, Permission, Sandbox};
use crate::client::{call, expect_reply};
use crate::command::{chats, terminal};
use crate::error::CliError;
use crate::input::text_of;
use crate::{environment, output};
use adapter_core::process::{Canceller, cancellation};

/// The runtime an agent of this command joins as.
const RUNTIME: &str = "cursor";
/// The word for the newest chat of a directory.
const LATEST: &str = "latest";

pub(super) fn run(args: &AgentRunArgs) -> Result<Exit, CliError> {
    let prompt = text_of(&args.prompt, "the task")?.filter(|prompt| !prompt.trim().is_empty());
    let prompt = prompt.ok_or_else(|| {
        CliError::usage("the task is empty").with_hint("run `cueme agent run \"what to do\"`")
    })?;
    let places = environment::places()?;
    let cwd = directory(args.cwd.as_deref())?;
    let chats = ChatsRoot::from_env().ok();
    let resume = args
        .resume
        .as_deref()
        .map(|chat| chat_id(chat, &cwd))
        .transpose()?;
    let (canceller, cancelled) = cancellation();
    let is_lines = args.json || !output::is_terminal();
    let mut view = if is_lines {
        View::lines(canceller.clone(), places.clone())
    } else {
        View::live(canceller.clone(), places.clone())
    };
    // The CLI would begin a new chat under an id that it does not know, and nobody would notice.
    if let (Some(chat), Some(root)) = (&resume, &chats)
        && let Err(error) = check_chat(root, chat, &cwd)
    {
        view.item(Item::Event(Event::Error(error)));
        return Ok(TURN_FAILED);
    }
    let human = if args.no_hap {
        None
    } else {
        let agent_id = join(&places, &cwd, resume.clone())?;
        Some(BrokerHuman::new(places.clone(), agent_id))
    };
    let mut agent = agent(args, &places, human.as_ref(), &cwd)?;
    // The broker is told of tools also where stdout is not.
    agent.activity = args.activity || !is_lines || human.is_some();
    agent.cancelled = cancelled;
    agent.chats = chats;
    if let Some(human) = &human {
        agent.human_time = Some(Arc::new(human.clone()));
        let id = human.agent_id.to_string();
        agent.env.insert(environment::AGENT_VARIABLE.to_owned(), id);
        agent
            .env
            .extend(search_path(&places).map(|path| ("PATH".to_owned(), path)));
    }
    let reported = ReportedRun::begin(human.as_ref(), &cwd, &prompt, resume.as_deref(), &canceller);
    let view = view.reporting(reported.clone(), args.activity || !is_lines);
    let talk = Talk {
        agent,
        resume,
        prompt,
        cwd,
        model: args.model.clone(),
        once: args.once,
        places,
    };
    runtime()?.block_on(async {
        let mut stopped = stop_on_signal(canceller)?;
        let interrupted = human.as_ref().map(|human| Arc::clone(&human.interrupted));
        let is_well = talk.hold(human, view.clone()).await;
        view.close();
        // A wait hears of a signal by itself; the listener here hears of the same one, perhaps a little later.
        if interrupted.is_some_and(|interrupted| interrupted.load(Ordering::SeqCst)) {
            let _ = stopped.wait_for(Option::is_some).await;
        }
        let exit = *stopped.borrow();
        if let Some(reported) = reported {
            reported.end(is_well, exit.is_some());
        }
        Ok(match exit {
            Some(exit) => exit,
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
    cwd: PathBuf,
    model: Option<String>,
    once: bool,
    places: Places,
}

impl Talk {
    /// Holds the conversation; returns whether it ended well.
    async fn hold(self, human: Option<BrokerHuman>, view: View) -> bool {
        match human {
            Some(human) => self.converse(human, view).await,
            None => self.one_turn(view).await,
        }
    }

    /// Runs one turn and asks nobody.
    async fn one_turn(mut self, mut view: View) -> bool {
        let (resume, env) = (self.resume.as_deref(), BTreeMap::new());
        let report = self.agent.turn(&self.prompt, resume, &env, &mut view).await;
        log_failure(&view, &self.agent, &report).await;
        if report.resumption == Resumption::Forgotten {
            view.step(&HapEvent::Forgotten);
        }
        matches!(report.ending, Ending::Done(_))
    }

    async fn converse(self, mut human: BrokerHuman, mut view: View) -> bool {
        let options = HapOptions {
            resume: self.resume.clone(),
            once: self.once,
            ..HapOptions::new(human.agent_id.to_string())
        };
        let steps = view.clone();
        let mut watch = move |event: HapEvent<'_>| steps.step(&event);
        let mut agent = Driven {
            identity: Identity::new(self.places.clone(), human.agent_id.clone(), self.resume),
            reloads: Reloads::of(&config_file(&self.places), view.clone()),
            agent: self.agent,
            human: human.clone(),
            cwd: self.cwd,
            model: self.model,
            view: view.clone(),
        };
        let end = converse(
            &mut agent,
            &mut human,
            &options,
            &self.prompt,
            &mut watch,
            &mut view,
        );
        matches!(end.await, ConversationEnd::Asked | ConversationEnd::EndedByHuman)
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
    let tools = registry(&config, human, cwd.to_owned());
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
fn stop_on_signal(canceller: Canceller) -> Result<watch::Receiver<Option<Exit>>, CliError> {
    let failed =
        |error: std::io::Error| CliError::new(Exit::Io, format!("could not listen for signals: {error}"));
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let (noted, stopped) = watch::channel(None);
    tokio::spawn(async move {
        let exit = tokio::select! {
            _ = interrupt.recv() => Exit::Interrupted,
            _ = terminate.recv() => Exit::Terminated,
        };
        noted.send_replace(Some(exit));
        canceller.cancel();
    });
    Ok(stopped)
}
