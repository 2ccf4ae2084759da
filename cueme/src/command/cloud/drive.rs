//! Drives a run in the cloud from here: the broker is told of it, wakes it, and asks the human at its end.

use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

use adapter_core::cursor::cloud::{
    CallbackIssuer, CancelHandle, CloudRun, CloudSettings, EXIT_SUCCESS, ExecutionResult, HumanGate, RUNTIME,
    RetryPolicy, RunRequest, RunSignals, cancellation, connect, execute,
};
use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;
use protocol_spec::id::{AgentId, DriverId, RunId, RuntimeTag};
use protocol_spec::message::{Join, Request, Run, RunEnd, RunFollow, RunKind};
use tokio::signal::unix::{SignalKind, signal};
use uuid::Uuid;

use super::gate::{BrokerCallbacks, BrokerGate, mint};
use super::lead::LeadWatch;
use super::reach::probe;
use super::report::{CloudReporter, turn_start};
use super::settings::failed;
use crate::cli::CloudDriving;
use crate::client::{call, expect_reply};
use crate::command::agent::{BrokerHuman, runtime};
use crate::error::CliError;
use crate::output;
use crate::runs::{Reporter, follow, run_id, shorten_text, title};

/// The exit code of a run that did not succeed.
const RUN_FAILED: Exit = Exit::NotFound;

/// A run that is to be driven.
#[derive(Debug)]
pub(super) struct Drive {
    pub(super) places: Places,
    pub(super) settings: CloudSettings,
    pub(super) request: RunRequest,
    /// The task, as it is shown.
    pub(super) task: String,
    /// The agent that asks in it, where it is known from before.
    pub(super) agent_id: Option<AgentId>,
    /// The run that is found again; a new one otherwise.
    pub(super) run_id: Option<RunId>,
    /// Whether being interrupted ends the run, or only stops looking at it.
    pub(super) is_ours: bool,
    /// Whether the end of stdin stops looking at it, as for a driver that the broker started.
    pub(super) while_stdin_open: bool,
}

impl Drive {
    /// Drives the run to its end.
    pub(super) fn complete(self, driving: &CloudDriving) -> Result<Exit, CliError> {
        let api = connect(&self.settings, RetryPolicy::default()).map_err(|error| failed(&error))?;
        let agent_id = match (driving.no_hap, self.agent_id.clone()) {
            (true, _) => None,
            (false, Some(known)) => Some(known),
            (false, None) => Some(join(&self.places, &self.settings.repository)?),
        };
        let run = self.run(agent_id.clone());
        let run_id = run.run_id;
        self.warn_if_unreachable();
        let callbacks = agent_id.as_ref().and_then(|agent| self.callbacks(agent, run_id));
        let turn = turn_start();
        let lead = LeadWatch::default();
        let asks = agent_id.is_some();
        let driver = DriverId(Uuid::now_v7());
        let gate = agent_id.map(|agent_id| BrokerGate {
            human: BrokerHuman::new(self.places.clone(), agent_id),
            run_id,
            turn: Arc::clone(&turn),
            once: driving.once,
            lead: lead.clone(),
            driver,
            heard: Mutex::default(),
            left: Mutex::default(),
        });
        let reporter = Reporter::begin(self.places.clone(), run);
        let signals = RunSignals::default();
        let (canceller, cancellation) = cancellation();
        let follow = self.follow_request(run_id, asks, driver);
        pass_on_wakes(self.places.clone(), follow, &signals, &canceller, &lead);
        lead.wait_for_broker();
        let mut cloud_reporter = CloudReporter {
            reporter: &reporter,
            turn,
            is_json: driving.json || !output::is_terminal(),
        };
        let cloud_run = CloudRun {
            api: &*api,
            settings: &self.settings,
            signals: &signals,
            cancellation: &cancellation,
            callbacks: callbacks.as_ref().map(|issuer| issuer as &dyn CallbackIssuer),
            gate: gate.as_ref().map(|gate| gate as &dyn HumanGate),
        };
        let runtime = runtime()?;
        let driven = runtime.block_on(async {
            let stopped = stop_on_signal(self.is_ours.then_some(canceller))?;
            if self.while_stdin_open {
                stop_at_end_of_stdin(Arc::clone(&stopped));
            }
            let result = tokio::select! {
                result = execute(cloud_run, &self.request, &mut cloud_reporter) => Some(result),
                () = left(&stopped), if !self.is_ours => None,
            };
            Ok::<_, CliError>((result, stopped.get().copied()))
        });
        // A question that is still waited for on a thread must not keep the process.
        runtime.shutdown_background();
        let (result, stopped) = driven?;
        let Some(result) = result else {
            reporter.leave();
            return Ok(stopped.unwrap_or(Exit::Interrupted));
        };
        if lead.has_ended() || lead.is_anothers() {
            // The process that leads the run reports its end.
            reporter.leave();
        } else if result.unattended {
            leave_unattended(reporter, &result);
        } else {
            reporter.end(end_of(&result), result.error_message.as_deref());
        }
        if let Some(file) = &driving.result {
            write_result(file, &result)?;
        }
        Ok(match stopped {
            Some(exit) => exit,
            None if result.exit_code == EXIT_SUCCESS => Exit::Done,
            None if result.cancelled => Exit::Interrupted,
            None => RUN_FAILED,
        })
    }

    fn run(&self, agent_id: Option<AgentId>) -> Run {
        Run {
            run_id: self.run_id.unwrap_or_else(run_id),
            kind: RunKind::Cloud,
            agent_id,
            project: self.settings.repository.clone(),
            title: title(&self.task),
            status: "STARTING".to_owned(),
            end: None,
            error: None,
            session: None,
            session_params: None,
            model: self.settings.model.clone(),
            branch: None,
            pr_url: None,
            url: None,
        }
    }

    /// Returns what gives turns a way back to the broker; none where agents elsewhere cannot reach it.
    fn callbacks(&self, agent: &AgentId, run_id: RunId) -> Option<BrokerCallbacks> {
        let public_url = self.settings.public_url.clone()?;
        match mint(&self.places, agent, run_id) {
            Ok(first) => Some(BrokerCallbacks {
                places: self.places.clone(),
                public_url,
                agent_id: agent.clone(),
                run_id,
                first: Mutex::new(Some(first)),
            }),
            Err(error) => {
                output::tell(&format!(
                    "warning: the agent cannot ask you itself, so you are asked when it ends: {error}"
                ));
                None
            }
        }
    }

    /// Makes the address of this run known to the broker, and says so if nobody can call back there.
    fn warn_if_unreachable(&self) {
        let Some(public_url) = self.settings.public_url.clone() else {
            return;
        };
        let is_deaf = probe(&self.places, public_url).is_ok_and(|probed| probed.listens_on.is_none());
        if is_deaf && self.settings.webhook_secret.is_some() {
            output::tell(
                "warning: webhooks cannot arrive, so the status is polled: the broker has no `public_listen`; run `cueme cloud doctor`",
            );
        }
    }

    /// Describes this process to the broker.
    fn follow_request(&self, run_id: RunId, asks: bool, driver: DriverId) -> RunFollow {
        let secret = self.settings.webhook_secret.as_ref();
        RunFollow {
            run_id,
            webhook_secret: secret.map(|secret| secret.expose().to_owned()),
            public_url: self.settings.public_url.clone(),
            asks,
            driver: Some(driver),
        }
    }
}

/// Passes on what the broker hears about the run.
fn pass_on_wakes(
    places: Places,
    request: RunFollow,
    signals: &RunSignals,
    canceller: &CancelHandle,
    lead: &LeadWatch,
) {
    let (signals, canceller, lead) = (signals.clone(), canceller.clone(), lead.clone());
    follow(places, request, move |woken| {
        lead.note(woken);
        if woken.stop {
            canceller.cancel();
        }
        signals.wake_all();
    });
}

/// Registers the agent of a run.
fn join(places: &Places, repository: &str) -> Result<AgentId, CliError> {
    let runtime: RuntimeTag = RUNTIME.parse()?;
    let request = Request::Join(Join {
        runtime,
        project_dir: repository.to_owned(),
        terminal: "unknown".to_owned(),
        session: None,
    });
    Ok(expect_reply!(call(places, &request)?, Joined)?.agent_id)
}

/// Notes the signal that asks this program to stop, and ends the run with it.
fn stop_on_signal(canceller: Option<CancelHandle>) -> Result<Arc<Stopped>, CliError> {
    let unheard =
        |error: std::io::Error| CliError::new(Exit::Io, format!("could not listen for signals: {error}"));
    let mut interrupt = signal(SignalKind::interrupt()).map_err(unheard)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(unheard)?;
    let stopped = Arc::new(Stopped::default());
    let noted = Arc::clone(&stopped);
    tokio::spawn(async move {
        let exit = tokio::select! {
            _ = interrupt.recv() => Exit::Interrupted,
            _ = terminate.recv() => Exit::Terminated,
        };
        // This task ends with the first signal, so nobody has set it before.
        let _ = noted.exit.set(exit);
        noted.told.notify_waiters();
        noted.told.notify_one();
        if let Some(canceller) = canceller {
            canceller.cancel();
        }
    });
    Ok(stopped)
}

/// Takes the end of stdin for a wish to leave: the broker that started this program is gone.
fn stop_at_end_of_stdin(stopped: Arc<Stopped>) {
    std::thread::spawn(move || {
        // An error is an end too.
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        let _ = stopped.exit.set(Exit::Terminated);
        stopped.told.notify_one();
    });
}

/// Reports that the agent works on although this program stops.
fn leave_unattended(reporter: Reporter, result: &ExecutionResult) {
    let agent = result
        .session
        .as_ref()
        .map_or("", |session| session.agent_id.as_str());
    let takeover = format!("the agent works on; `cueme cloud watch {agent}` takes over");
    output::tell(&takeover);
    let reason = result.error_message.as_deref().unwrap_or_default();
    let error = shorten_text(&format!("nobody follows it: {reason}; {takeover}"));
    reporter.tell(
        move |run| {
            run.status = "UNATTENDED".to_owned();
            run.error = Some(error);
        },
        Some(("status", "UNATTENDED")),
    );
    reporter.leave();
}

/// Whether this program was asked to stop.
#[derive(Debug, Default)]
struct Stopped {
    exit: OnceLock<Exit>,
    told: tokio::sync::Notify,
}

impl Stopped {
    fn get(&self) -> Option<&Exit> {
        self.exit.get()
    }
}

async fn left(stopped: &Stopped) {
    stopped.told.notified().await;
}

fn end_of(result: &ExecutionResult) -> RunEnd {
    match (result.exit_code, result.cancelled) {
        (EXIT_SUCCESS, _) => RunEnd::Succeeded,
        (_, true) => RunEnd::Cancelled,
        (_, false) => RunEnd::Failed,
    }
}

fn write_result(file: &Path, result: &ExecutionResult) -> Result<(), CliError> {
    let json = serde_json::to_string(result).unwrap_or_default();
    std::fs::write(file, format!("{json}\n"))
        .map_err(|error| CliError::io("write the result to", file, &error))
}
