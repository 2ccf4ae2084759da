//! Questions that a program asks in an agent's place and closes again when nobody needs their answer any more.

use std::time::Instant;

use protocol_spec::endpoint::Places;
use protocol_spec::id::{CueId, RequestId};
use protocol_spec::message::{Ack, Cancel, Request};
use protocol_spec::outcome::Origin;

use super::ask::Question;
use super::call::call;
use super::session::mint;
use super::signals::Signals;
use super::take::{Taken, ask_and_take_until};
use super::wait::{Patience, Waited, wait_for};
use crate::error::CliError;

/// Asks until these signals end the wait; then the question is closed for this reason, whether the broker had confirmed
/// it or not.
pub(crate) fn ask_or_withdraw(
    places: &Places,
    question: Question,
    origin: Origin,
    signals: &Signals,
    reason: impl FnOnce() -> &'static str,
) -> Result<Taken, CliError> {
    let (id, again) = (mint(), question.clone());
    let taken = ask_and_take_until(places, question.encode_as(id, origin, None)?, signals)?;
    if let Taken::Stopped(cue) = taken
        && let Some(cue) = cue.or_else(|| find(places, id, again, origin))
    {
        withdraw(places, cue, reason())?;
    }
    Ok(taken)
}

/// Closes a question that a program asked in the agent's place. The agent knows nothing of it, so it need not hear of
/// its end either.
pub(crate) fn withdraw(places: &Places, cue: CueId, reason: &str) -> Result<(), CliError> {
    close(places, cue, reason)?;
    let cue_ids = vec![cue];
    call(places, &Request::Ack(Ack { cue_ids, nonce: None }))?;
    Ok(())
}

/// Closes a question; the agent that asked it hears of that.
pub(crate) fn close(places: &Places, cue: CueId, reason: &str) -> Result<(), CliError> {
    let cancel = Cancel {
        cue: cue.to_string(),
        reason: Some(reason.to_owned()),
        by: None,
    };
    call(places, &Request::Cancel(cancel))?;
    Ok(())
}

/// Finds a question that was sent and not confirmed: the same call under the same id is the same question.
fn find(places: &Places, id: RequestId, question: Question, origin: Origin) -> Option<CueId> {
    let call = question.encode_as(id, origin, None).ok()?;
    let (signals, _switch) = Signals::by_switch().ok()?;
    match wait_for(places, call, Patience::UntilAsked, &signals, Instant::now()).ok()? {
        Waited::Rested(rested) => rested.cue,
        Waited::Outcome(told, _) => Some(told.cue_id),
        Waited::Mailbox(mailbox, _) => Some(mailbox.cue_id),
        Waited::Stopped(_, cue) => cue,
    }
}
