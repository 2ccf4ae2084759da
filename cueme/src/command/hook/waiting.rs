//! Waits of a hook, which end early when they have lost their point: the host is gone, or the human typed or decided
//! in its window.

use std::sync::{Arc, OnceLock};
use std::thread;

use protocol_spec::exit::Exit;
use protocol_spec::id::CueId;
use runtimes::hook::{Event, Follower};

use super::host_process::Lineage;
use super::run::Called;
use super::{close, log};
use crate::client::{self, Call, Signals, Switch, Taken, ask_and_take_until};
use crate::error::CliError;

/// A wait that is watched.
pub(super) struct Waiting {
    pub(super) signals: Signals,
    /// Why the wait ended early.
    cause: Arc<OnceLock<&'static str>>,
}

impl Waiting {
    /// Begins to watch.
    pub(super) fn begin(called: &Called<'_>) -> Result<Self, CliError> {
        let (signals, switch) = Signals::catch_with_switch()
            .map_err(|error| CliError::new(Exit::Io, format!("could not listen for signals: {error}")))?;
        let stop = Stop {
            cause: Arc::default(),
            switch: Arc::new(switch),
        };
        let lineage = Lineage::of_this_process();
        if called
            .input
            .host_pid
            .is_some_and(|host| !lineage.begins_with(host))
        {
            stop.now(close::HOST_ENDED);
        }
        stop.when(move || {
            lineage.wait_until_broken();
            Some(close::HOST_ENDED)
        });
        if let Some((follower, cause)) = followed(called) {
            if follower.is_found() {
                stop.now(cause);
            } else {
                stop.when(move || follower.wait().ok().map(|()| cause));
            }
        }
        let cause = stop.cause;
        Ok(Self { signals, cause })
    }

    /// Tells whether the host was gone, or the human had typed, before anything was asked.
    pub(super) fn is_over(&self) -> bool {
        self.cause.get().is_some()
    }

    /// Closes the question of a wait that was stopped.
    pub(super) fn withdraw(&self, called: &Called<'_>, cue: Option<CueId>) {
        let reason = self.cause.get().copied().unwrap_or(close::HOST_LET_GO);
        let Some(cue) = cue else {
            return;
        };
        if let Err(error) = client::withdraw(called.places, cue, reason) {
            log::note(called.places, &format!("could not withdraw a question: {error}"));
        }
    }
}

/// Asks in a watched wait, and closes the question when the wait is stopped.
pub(super) fn ask_and_take(called: &Called<'_>, call: Call) -> Result<Taken, CliError> {
    let waiting = Waiting::begin(called)?;
    let taken = ask_and_take_until(called.places, call, &waiting.signals)?;
    if let Taken::Stopped(cue) = taken {
        waiting.withdraw(called, cue);
    }
    Ok(taken)
}

/// Follows what the human does in the host's own window, where the host records that.
fn followed(called: &Called<'_>) -> Option<(Follower, &'static str)> {
    let input = called.input;
    let transcript = input.transcript.as_deref()?;
    let (follower, cause) = match (input.event, &input.tool) {
        (Event::Stop, _) if input.host.records_typing() => {
            (Follower::of_typing(transcript), close::TYPED_HERE)
        }
        (Event::Permission, Some(call)) if input.host.asks_beside_its_hook() => {
            (Follower::of_call_end(transcript, call), close::DECIDED_HERE)
        }
        _ => return None,
    };
    Some((follower.ok()?, cause))
}

/// Stops a wait, once.
#[derive(Clone)]
struct Stop {
    cause: Arc<OnceLock<&'static str>>,
    switch: Arc<Switch>,
}

impl Stop {
    fn now(&self, cause: &'static str) {
        // The first cause counts.
        let _ = self.cause.set(cause);
        self.switch.stop();
    }

    /// Stops the wait when `until` returns a cause. The thread ends with the process.
    fn when(&self, until: impl FnOnce() -> Option<&'static str> + Send + 'static) {
        let stop = self.clone();
        thread::spawn(move || {
            if let Some(cause) = until() {
                stop.now(cause);
            }
        });
    }
}
