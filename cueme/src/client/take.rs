//! Questions that a program asks in an agent's place: the result is returned instead of printed.
//!
//! Nothing is confirmed here. Outcomes of earlier questions count as delivered only if the caller passes them on to the
//! agent, which not every caller can do.

use std::time::Instant;

use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;
use protocol_spec::id::CueId;
use protocol_spec::message::DeliveredOutcome;

use super::ack::Receipt;
use super::ask::Call;
use super::signals::Signals;
use super::wait::{Patience, Waited, wait_for};
use crate::error::CliError;

/// The result of a question that was asked in an agent's place.
#[derive(Debug)]
pub(crate) enum Taken {
    /// The outcome.
    Outcome {
        /// The outcome of this question.
        told: Box<DeliveredOutcome>,
        /// Confirms that it arrived.
        receipt: Receipt,
        /// Outcomes of earlier questions that the agent has not received.
        missed: Missed,
    },
    /// The wait was interrupted; the question, if it was asked, stays open.
    Stopped(Option<CueId>),
}

/// Outcomes of earlier questions that the agent has not received.
#[derive(Debug, Default)]
pub(crate) struct Missed {
    /// Oldest first.
    pub(crate) earlier: Vec<DeliveredOutcome>,
    /// Confirm that the agent has them; dropped, they come with its next question.
    pub(crate) receipts: Vec<Receipt>,
}

/// Asks, waits without a limit, and returns the result.
pub(crate) fn ask_and_take(places: &Places, call: Call) -> Result<Taken, CliError> {
    let signals = Signals::catch()
        .map_err(|error| CliError::new(Exit::Io, format!("could not listen for signals: {error}")))?;
    ask_and_take_until(places, call, &signals)
}

/// Asks, waits until these signals end the wait, and returns the result.
pub(crate) fn ask_and_take_until(places: &Places, call: Call, signals: &Signals) -> Result<Taken, CliError> {
    let nonce = call.nonce().map(str::to_owned);
    let mut call = call;
    let mut missed = Missed::default();
    loop {
        // No runtime stands above this process and ends its waits.
        match wait_for(places, call, Patience::Unlimited, signals, Instant::now())? {
            Waited::Outcome(told, receipt) => {
                return Ok(Taken::Outcome {
                    told,
                    receipt,
                    missed,
                });
            }
            Waited::Mailbox(mailbox, receipt) => {
                missed.earlier.extend(mailbox.earlier);
                missed.receipts.push(receipt);
                call = Call::attach(mailbox.cue_id, nonce.clone());
            }
            // A wait without a limit does not end by itself; if it did, the question would still be open.
            Waited::Rested(_) => return Ok(Taken::Stopped(None)),
            Waited::Stopped(_, cue) => return Ok(Taken::Stopped(cue)),
        }
    }
}

/// Waits without a limit for a question that is open already, and returns the result.
pub(crate) fn attach_and_take(places: &Places, cue: CueId, nonce: Option<String>) -> Result<Taken, CliError> {
    ask_and_take(places, Call::attach(cue, nonce))
}
