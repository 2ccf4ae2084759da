//! `cueme agent run`: a conversation with Cursor's agent in which no turn ends without the human being asked.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use adapter_core::acp::{AcpAgent, AcpHuman};
use adapter_core::contract::{Ending, Event, Item, Resumption, Sink};
use adapter_core::cursor::chats::ChatsRoot;
use adapter_core::cursor::cli::{CliAgent, check_chat, missing_options};
use adapter_core::hap::{Agent, ConversationEnd, HapEvent, HapOptions, converse};
use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;
use protocol_spec::id::{AgentId, RuntimeTag};
use protocol_spec::message::{Join, Request};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use uuid::Uuid;

use super::driven::Driven;
use super::failed::{TURN_FAILED, failed, log_failure};
use super::human::BrokerHuman;
use super::identity::Identity;
use super::path::search_path;
use super::reload::Reloads;
use super::reported::ReportedRun;
use super::setup::{choose, config_file, directory, load_config, program, runtime};
use super::terminal_answer::TerminalAnswers;
use super::tools::registry;
use super::transport::{Driver, TransportFacts, choose_transport};
use super::view::View;
use crate::cli::{AgentRunArgs, Permission, Sandbox, Via};
use crate::client::{call, expect_reply};
use crate::command::{chats, terminal};
use crate::error::CliError;
use crate::input::text_of;
use crate::{environment, output};
use adapter_core::process::{Canceller, cancellation};

/// The runtime an agent of this command joins as.
const RUNTIME: &str = "cursor";
/// The command by which Cursor's CLI speaks ACP.
const ACP: &str = "acp";
/// The option by which Cursor's CLI continues its last chat; only the first turn has it.
const CONTINUE: &str = "--continue";
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
        && args.via != Some(Via::Acp)
        && let Err(error) = check_chat(root, chat, &cwd)
    {
        view.item(Item::Event(Event::Error(error)));
        return Ok(TURN_FAILED);
    }
    let options = cli_options(args);
    let human = if args.no_hap {
        None
    } else {
        let agent_id = join(&places, &cwd, resume.clone())?;
        Some(BrokerHuman::new(places.clone(), agent_id))
    };
    let mut agent = agent(args, &places, human.as_ref(), &cwd)?;
    // The broker is told of tools also where stdout is not.
    agent.activity = args.activity || !is_lines || human.is_some();
    agent.details = args.activity;
    agent.cancelled = cancelled;
    agent.chats = chats;
    if let Some(human) = &human {
        agent.human_time = Some(Arc::new(human.clone()));
        let id = human.agent_id.to_string();
        agent.env.insert(environment::AGENT_VARIABLE.to_owned(), id);
        agent
            .env
            .extend(search_path(&places).map(|path| ("PATH".to_owned(), path)));
        view = view.identifying(Identity::new(
            places.clone(),
            human.agent_id.clone(),
            resume.clone(),
        ));
    }
    let runtime = runtime()?;
    runtime.block_on(check_options(&agent, &options))?;
    let driver = runtime.block_on(driver(agent, args, human.as_ref()))?;
    let reported = ReportedRun::begin(human.as_ref(), &cwd, &prompt, resume.as_deref(), &canceller);
    let view = view
        .with_session(args.json)
        .reporting(reported.clone(), args.activity || !is_lines);
    let _answers = human
        .as_ref()
        .filter(|_| !is_lines)
        .and_then(|human| TerminalAnswers::begin(&places, &human.agent_id, &view));
    let talk = Talk {
        driver,
        resume,
        prompt,
        cwd,
        model: args.model.clone(),
        once: args.once,
        places,
    };
    runtime.block_on(async {
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
    driver: Driver,
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
        let resume = self.resume.as_deref();
        let nonce = Uuid::new_v4().simple().to_string();
        let report = self.driver.turn(&self.prompt, resume, &nonce, &mut view).await;
        log_failure(&view, &mut self.driver, &report).await;
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
            reloads: Reloads::of(&config_file(&self.places), view.clone()),
            driver: self.driver,
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
    agent.force = args.permission != Some(Permission::Default);
    agent.extra_args = args.sandbox.map(sandbox_args).unwrap_or_default();
    let (opening, every) = cli_options(args)
        .into_iter()
        .partition(|words| words[0] == CONTINUE);
    let flat = |options: Vec<Vec<String>>| options.into_iter().flatten();
    agent.extra_args.extend(flat(every));
    agent.opening_args.extend(flat(opening));
    Ok(agent)
}

/// Returns the options that are passed on to Cursor's CLI as they are, where it has them.
fn cli_options(args: &AgentRunArgs) -> Vec<Vec<String>> {
    let with_value = |option: &str, value: &Option<String>| {
        value.as_ref().map(|value| vec![option.to_owned(), value.clone()])
    };
    let flag = |option: &str, is_set: bool| is_set.then(|| vec![option.to_owned()]);
    let options = [
        with_value("--mode", &args.mode),
        with_value("--worktree", &args.worktree),
        flag(CONTINUE, args.continue_last),
        flag("--trust", args.trust),
    ];
    options.into_iter().flatten().collect()
}

/// Refuses options that this CLI does not have: it would take them for a part of the task, or end with its own words.
async fn check_options(agent: &CliAgent, options: &[Vec<String>]) -> Result<(), CliError> {
    let names: Vec<&str> = options.iter().map(|words| words[0].as_str()).collect();
    if names.is_empty() {
        return Ok(());
    }
    let spec = agent.config.spec(&agent.model).unwrap_or_default();
    if !spec.prompt_as_arg {
        return Err(CliError::usage(format!(
            "a custom CLI has no {}",
            names.join(", ")
        )));
    }
    let missing = missing_options(&program(&spec.command)?, &names).await;
    match missing.map_err(|error| failed(&error))?.as_slice() {
        [] => Ok(()),
        missing => Err(CliError::usage(format!("this CLI has no {}", missing.join(", ")))
            .with_hint("update it with `agent update`, or omit the option")),
    }
}

/// Chooses how the agent is driven.
async fn driver(
    agent: CliAgent,
    args: &AgentRunArgs,
    human: Option<&BrokerHuman>,
) -> Result<Driver, CliError> {
    let wanted = TransportFacts {
        via: args.via,
        config: &agent.config,
        model: &agent.model,
        is_stream_only: args.resume.is_some() || args.continue_last || human.is_none(),
        path: agent.env.get("PATH").map(String::as_str),
    };
    if choose_transport(wanted).await.via == Via::Stream {
        return Ok(Driver::Stream(Box::new(agent)));
    }
    let spec = agent.config.spec(&agent.model).unwrap_or_default();
    if !spec.prompt_as_arg {
        return Err(CliError::usage("a custom CLI is not driven over ACP")
            .with_hint("omit --via, or put `cueme acp` between it and an editor"));
    }
    let mut words = Vec::new();
    if let Some(name) = &agent.model_flag {
        words.extend(["--model".to_owned(), name.clone()]);
    }
    words.extend(agent.extra_args.iter().chain(&agent.opening_args).cloned());
    words.push(ACP.to_owned());
    let acp = AcpAgent {
        command: spec.command,
        args: words,
        cwd: agent.cwd.clone().unwrap_or_default(),
        env: agent.env.clone(),
        deadline: spec.deadline,
        force: args.permission == Some(Permission::Force),
        activity: agent.activity,
        details: agent.details,
        own_programs: environment::own_paths(),
        human: human.map(|human| Arc::new(human.clone()) as Arc<dyn AcpHuman>),
        human_time: agent.human_time.clone(),
        graces: agent.graces,
        cancelled: agent.cancelled.clone(),
    };
    let fallback = args.via.is_none().then(|| Box::new(agent));
    Ok(Driver::Acp {
        agent: Box::new(acp),
        fallback,
    })
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
        CliError::new(Exit::NotFound, format!("there is no chat in {}", cwd.display()))
            .with_hint("omit --resume to start one, or name the directory with --cwd")
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
