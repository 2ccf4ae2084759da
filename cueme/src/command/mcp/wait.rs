//! The tools that wait for the human.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use protocol_spec::envelope;
use protocol_spec::exit::Exit;
use protocol_spec::id::CueId;
use protocol_spec::outcome::Kind;
use rmcp::model::{CallToolResult, ProgressNotificationParam, ProgressToken};
use rmcp::service::RequestContext;
use rmcp::{Peer, RoleServer};
use runtimes::Language;
use tokio::time::MissedTickBehavior;

use super::content;
use super::elicit::{self, Dialog};
use super::server::{Server, WAITS_MAX};
use super::tools::WaitCall;
use crate::agent_output::Rested;
use crate::client::{Asker, Call, Patience, Question, Receipt, Signals, Waited, wait_for};
use crate::command::{cue, pause};
use crate::error::CliError;

/// The interval of progress notifications: the shortest timeout of a client that progress keeps alive is 30 s.
const PROGRESS_EVERY: Duration = Duration::from_secs(10);

/// The caller of a tool, as far as the wait needs to know it.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    peer: Peer<RoleServer>,
    /// The token under which it wants to hear of progress.
    progress: Option<ProgressToken>,
    /// Whether it can show the human a dialog of its own.
    has_dialogs: bool,
}

/// The result of a call.
pub(super) struct Ended {
    pub(super) result: CallToolResult,
    /// Confirms that the agent has the result.
    pub(super) receipt: Option<Receipt>,
    /// Whether the caller gave the call up; nobody reads the result then.
    pub(super) is_cancelled: bool,
}

impl Caller {
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Self {
        Self {
            peer: context.peer.clone(),
            progress: context.meta.get_progress_token(),
            has_dialogs: elicit::is_offered(context),
        }
    }

    /// Turns progress and dialogs off, for a caller who looks at the result later.
    pub(super) fn left_alone(mut self) -> Self {
        self.progress = None;
        self.has_dialogs = false;
        self
    }
}

/// Asks and waits. When the client cancels the call, the question stays open and the same call waits for it again.
pub(super) async fn wait(
    server: &Server,
    asked: WaitCall,
    context: &RequestContext<RoleServer>,
) -> CallToolResult {
    let caller = Caller::of(context);
    match finish(server, asked, &caller, context.ct.cancelled()).await {
        Ok(ended) => {
            // The answer to a call that was cancelled at the last moment is never written.
            if let Some(receipt) = ended.receipt.filter(|_| !context.ct.is_cancelled()) {
                server.outgoing.hold(context.id.clone(), receipt);
            }
            ended.result
        }
        Err(error) => content::failed(&error),
    }
}

/// Asks, and waits until the human has decided or the caller gives up.
pub(super) async fn finish(
    server: &Server,
    asked: WaitCall,
    caller: &Caller,
    cancelled: impl Future<Output = ()>,
) -> Result<Ended, CliError> {
    let Ok(_permit) = Arc::clone(&server.waits).try_acquire_owned() else {
        let message = format!("{WAITS_MAX} questions are waited for already");
        return Err(CliError::new(Exit::StillOpen, message));
    };
    let started = Instant::now();
    let question = question(asked)?;
    let form = caller.has_dialogs.then(|| elicit::form(&question)).flatten();
    let asker = Asker::of(&question.agent_id);
    let call = question.encode()?;
    let (call, dialog) = match form {
        None => (call, None),
        Some(form) => match ask_first(server, call, started).await? {
            StoreResult::Open(cue, language) => (
                Call::attach_as_asked(cue, asker.reading(language), started)?,
                Dialog::open(&caller.peer, cue, form).await,
            ),
            StoreResult::Over(waited) => return Ok(ended(*waited)),
        },
    };
    wait_for_human(server, call, dialog, caller, started, cancelled).await
}

/// The result of storing a question.
enum StoreResult {
    /// It is open.
    Open(CueId, Language),
    /// There was something to tell the agent at once.
    Over(Box<Waited>),
}

/// Puts the question on disk, so that it has a name before the client shows it too.
async fn ask_first(server: &Server, call: Call, started: Instant) -> Result<StoreResult, CliError> {
    let places = Arc::clone(&server.places);
    let asked = tokio::task::spawn_blocking(move || {
        let (signals, _switch) = Signals::by_switch().map_err(|error| no_pipe(&error))?;
        wait_for(&places, call, Patience::UntilAsked, &signals, started)
    });
    let waited = asked
        .await
        .map_err(|error| CliError::new(Exit::Io, format!("the call was aborted: {error}")))??;
    Ok(match waited {
        Waited::Rested(Rested {
            cue: Some(cue),
            language,
            ..
        }) => StoreResult::Open(cue, language),
        waited => StoreResult::Over(Box::new(waited)),
    })
}

/// Waits on a thread of its own, and sees to the caller and its dialog meanwhile.
async fn wait_for_human(
    server: &Server,
    call: Call,
    mut dialog: Option<Dialog>,
    caller: &Caller,
    started: Instant,
    cancelled: impl Future<Output = ()>,
) -> Result<Ended, CliError> {
    let (signals, switch) = Signals::by_switch().map_err(|error| no_pipe(&error))?;
    let places = Arc::clone(&server.places);
    let mut waiting = tokio::task::spawn_blocking(move || {
        wait_for(&places, call, Patience::OfEnvironment, &signals, started)
    });
    let mut ticker = tokio::time::interval(PROGRESS_EVERY);
    ticker.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut cancelled = pin!(cancelled);
    let mut is_cancelled = false;
    let waited = loop {
        tokio::select! {
            over = &mut waiting => break over,
            () = &mut cancelled, if !is_cancelled => {
                is_cancelled = true;
                switch.stop();
            }
            decision = Dialog::closed(&mut dialog), if dialog.is_some() => {
                dialog = None;
                // Here, because what a branch waits for is dropped when another one is ready.
                if let Some(request) = decision {
                    Dialog::decide(Arc::clone(&server.places), request).await;
                }
            }
            _ = ticker.tick() => report(caller, started).await,
        }
    };
    if let Some(dialog) = dialog {
        dialog.withdraw().await;
    }
    let waited =
        waited.map_err(|error| CliError::new(Exit::Io, format!("the wait was aborted: {error}")))??;
    if is_cancelled {
        // The client reads no result any more. The outcome is not acknowledged, so the next call gets it.
        return Ok(Ended {
            result: content::still_open(),
            receipt: None,
            is_cancelled,
        });
    }
    Ok(ended(waited))
}

fn no_pipe(error: &std::io::Error) -> CliError {
    CliError::new(Exit::Io, format!("could not make a pipe: {error}"))
}

fn ended(waited: Waited) -> Ended {
    let (result, receipt) = content::told(waited);
    Ended {
        result,
        receipt,
        is_cancelled: false,
    }
}

fn question(asked: WaitCall) -> Result<Question, CliError> {
    match asked.kind {
        Kind::Cue => {
            let prompt = asked.prompt.unwrap_or_default();
            // The envelope is what the command reads, so a tool accepts and refuses what the command does.
            let text = cue::enveloped(&prompt, asked.payload.as_deref())?;
            cue::question(&asked.agent_id, envelope::parse_cue(&text)?)
        }
        Kind::Pause => pause::question(&asked.agent_id, asked.prompt.as_deref().unwrap_or_default()),
    }
}

/// Tells a client that wants to know that the human has not answered yet.
async fn report(caller: &Caller, started: Instant) {
    let Some(token) = caller.progress.clone() else {
        return;
    };
    let seconds = started.elapsed().as_secs_f64();
    let progress = ProgressNotificationParam::new(token, seconds)
        .with_message(format!("waiting for the human ({seconds:.0} s)"));
    // A client that does not listen is none of our business.
    let _ = caller.peer.notify_progress(progress).await;
}
