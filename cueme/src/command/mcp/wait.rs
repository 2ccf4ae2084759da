//! The tools that wait for the human.

use std::sync::Arc;
use std::time::{Duration, Instant};

use protocol_spec::envelope;
use protocol_spec::exit::Exit;
use protocol_spec::outcome::Kind;
use rmcp::RoleServer;
use rmcp::model::{CallToolResult, ProgressNotificationParam};
use rmcp::service::RequestContext;
use tokio::time::MissedTickBehavior;

use super::content;
use super::server::{Server, WAITS_MAX};
use super::tools::WaitCall;
use crate::client::{Patience, Question, Signals, wait_for};
use crate::command::{cue, pause};
use crate::error::CliError;

/// How often a client hears that we still wait: the shortest timeout of a client that progress keeps alive is 30 s.
const PROGRESS_EVERY: Duration = Duration::from_secs(10);

/// Asks and waits. When the client cancels the call, the question stays open and the same call waits for it again.
pub(super) async fn wait(
    server: &Server,
    asked: WaitCall,
    context: &RequestContext<RoleServer>,
) -> CallToolResult {
    let Ok(_permit) = server.waits.try_acquire() else {
        let message = format!("{WAITS_MAX} questions are waited for already");
        return content::failed(&CliError::new(Exit::StillOpen, message));
    };
    match try_wait(server, asked, context).await {
        Ok(result) => result,
        Err(error) => content::failed(&error),
    }
}

async fn try_wait(
    server: &Server,
    asked: WaitCall,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, CliError> {
    let started = Instant::now();
    let call = question(asked)?.encode()?;
    let (signals, switch) = Signals::by_switch()
        .map_err(|error| CliError::new(Exit::Io, format!("could not make a pipe: {error}")))?;
    let places = Arc::clone(&server.places);
    let mut waiting = tokio::task::spawn_blocking(move || {
        wait_for(&places, call, Patience::OfEnvironment, &signals, started)
    });
    let mut ticker = tokio::time::interval(PROGRESS_EVERY);
    ticker.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut is_cancelled = false;
    let waited = loop {
        tokio::select! {
            ended = &mut waiting => break ended,
            () = context.ct.cancelled(), if !is_cancelled => {
                is_cancelled = true;
                switch.stop();
            }
            _ = ticker.tick() => report(context, started).await,
        }
    };
    let waited =
        waited.map_err(|error| CliError::new(Exit::Io, format!("the wait was given up: {error}")))??;
    if is_cancelled {
        // Nobody reads this any more. What was handed over is not confirmed, so the next call gets it.
        return Ok(content::still_open());
    }
    let (result, receipt) = content::told(waited);
    if let Some(receipt) = receipt {
        let places = Arc::clone(&server.places);
        // The result leaves whether or not the broker can be told; telling it may take seconds.
        tokio::task::spawn_blocking(move || receipt.give(&places));
    }
    Ok(result)
}

fn question(asked: WaitCall) -> Result<Question, CliError> {
    match asked.kind {
        Kind::Cue => {
            let prompt = asked.prompt.unwrap_or_default();
            // The envelope is what the command reads, so a tool accepts and refuses what the command does.
            let text = envelope::render(&prompt, asked.payload.as_deref())
                .map_err(|error| CliError::usage(error.to_string()).with_hint(error.hint()))?;
            cue::question(&asked.agent_id, envelope::parse_cue(&text)?)
        }
        Kind::Pause => pause::question(&asked.agent_id, asked.prompt.as_deref().unwrap_or_default()),
    }
}

/// Tells a client that wants to know that the human has not answered yet.
async fn report(context: &RequestContext<RoleServer>, started: Instant) {
    let Some(token) = context.meta.get_progress_token() else {
        return;
    };
    let seconds = started.elapsed().as_secs_f64();
    let progress = ProgressNotificationParam::new(token, seconds)
        .with_message(format!("waiting for the human ({seconds:.0} s)"));
    // A client that does not listen is none of our business.
    let _ = context.peer.notify_progress(progress).await;
}
