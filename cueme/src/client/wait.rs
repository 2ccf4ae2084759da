//! Asking, and waiting for as long as it takes.
//!
//! A wait survives the broker: when the connection breaks, the same question is attached to again, by its request id
//! until the broker has named it and by its cue id from then on. An outcome is printed first and acknowledged after.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;
use protocol_spec::id::CueId;
use protocol_spec::message::{
    Asked, Attach, DeliveredOutcome, ErrorCode, Failure, Mailbox, Reply, Request, Rest,
};
use protocol_spec::outcome::Outcome;
use rustix::event::{PollFd, PollFlags, Timespec};

use super::ack::Receipt;
use super::ask::{Asker, Call, Progress};
use super::budget;
use super::files::bring;
use super::link::Side;
use super::session::{Lost, Session, SessionEvent, encode_call, mint, unexpected_reply};
use super::signals::{Signal, Signals};
use super::start::connect_or_start;
use crate::agent_output::{Form, Rested};
use crate::error::CliError;
use crate::{host_session, output, wording};

/// The timeout for telling the broker that a wait ends; the runtime's own limit is near by then.
const REST_WAIT_MAX: Duration = Duration::from_secs(1);
/// The pause before the second attempt to reach a broker again; it doubles with each further one.
const BACKOFF_MIN: Duration = Duration::from_millis(50);
/// The longest pause between two attempts.
const BACKOFF_MAX: Duration = Duration::from_secs(5);
/// The most connections that a broker may close before it accepts the question; the pauses between them add up to some
/// seconds.
const ASK_LOSSES_MAX: u32 = 8;
/// A connection that was heard on for so long and is then lost begins a new count.
const STEADY_MIN: Duration = Duration::from_secs(1);
/// Spreads the attempts of many clients that lost the same broker.
const BACKOFF_SPREAD_MS: u32 = 97;

/// The limit of a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    /// As long as the agent's runtime lets a command run.
    OfRuntime,
    /// As long as the environment says, else as long as the human takes.
    OfEnvironment,
    /// As long as the human takes.
    Unlimited,
    /// Only until the question is on disk, or its outcome is there already.
    UntilAsked,
}

/// The end of a wait. An outcome counts as delivered once its receipt is given, and no sooner.
#[derive(Debug)]
pub(crate) enum Waited {
    /// The outcome of the question.
    Outcome(Box<DeliveredOutcome>, Receipt),
    /// Outcomes of earlier questions.
    Mailbox(Mailbox, Receipt),
    /// The wait had to end; the question is open.
    Rested(Rested),
    /// Somebody asked this process to stop.
    Stopped(Signal, Option<CueId>),
}

/// Asks, waits, prints the result, and acknowledges it.
pub(crate) fn ask_and_wait(
    places: &Places,
    call: Call,
    form: Form,
    started: Instant,
) -> Result<Exit, CliError> {
    let signals = Signals::catch()
        .map_err(|error| CliError::new(Exit::Io, format!("could not listen for signals: {error}")))?;
    match wait_for(places, call, Patience::OfRuntime, &signals, started)? {
        Waited::Outcome(told, receipt) => {
            output::deliver(&form.outcome(&told))?;
            receipt.give(places);
            Ok(exit_of(told.outcome))
        }
        Waited::Mailbox(mailbox, receipt) => {
            output::deliver(&form.mailbox(&mailbox, receipt.language()))?;
            receipt.give(places);
            Ok(Exit::StillOpen)
        }
        Waited::Rested(rested) => {
            output::deliver(&form.rested(&rested))?;
            Ok(if rested.give_up {
                Exit::Away
            } else {
                Exit::StillOpen
            })
        }
        Waited::Stopped(signal, cue) => {
            output::tell(&stopped_text(cue));
            Ok(signal.exit())
        }
    }
}

/// Asks and waits; what to do with the outcome is the caller's business.
pub(crate) fn wait_for(
    places: &Places,
    call: Call,
    patience: Patience,
    signals: &Signals,
    started: Instant,
) -> Result<Waited, CliError> {
    let mut wait = Wait {
        places,
        signals,
        fixed_budget: match patience {
            Patience::OfRuntime => budget::from_environment()?,
            Patience::OfEnvironment => Some(budget::from_environment()?.flatten()),
            Patience::Unlimited => Some(None),
            Patience::UntilAsked => Some(Some(Duration::ZERO)),
        },
        started,
        progress: call.progress,
        nonce: call.nonce,
        asker: call.asker,
        losses: 0,
        was_connected: false,
        has_retired: false,
        has_told_loss: false,
    };
    let ending = wait.until_ended()?;
    let (nonce, language) = (wait.nonce, wait.asker.language);
    Ok(match ending {
        Ending::Outcome(told, session) => {
            let cue_ids = vec![told.cue_id];
            Waited::Outcome(
                told,
                Receipt {
                    session: Some(Box::new(session)),
                    cue_ids,
                    nonce,
                    language,
                },
            )
        }
        Ending::Mailbox(mailbox, session) => {
            let cue_ids = mailbox.earlier.iter().map(|told| told.cue_id).collect();
            Waited::Mailbox(
                mailbox,
                Receipt {
                    session: Some(Box::new(session)),
                    cue_ids,
                    nonce,
                    language,
                },
            )
        }
        Ending::Rested(rested) => Waited::Rested(rested),
        Ending::Stopped(signal, cue) => Waited::Stopped(signal, cue),
    })
}

fn exit_of(outcome: Outcome) -> Exit {
    match outcome {
        Outcome::Answered | Outcome::Declined => Exit::Done,
        Outcome::Cancelled => Exit::Cancelled,
        Outcome::Open | Outcome::Superseded => Exit::StillOpen,
    }
}

fn stopped_text(cue: Option<CueId>) -> String {
    match cue {
        Some(cue) => {
            format!("interrupted: question {cue} stays open; run the same command again to go on waiting")
        }
        None => "interrupted: run the same command again to ask".to_owned(),
    }
}

/// The end of a wait.
enum Ending {
    Outcome(Box<DeliveredOutcome>, Session),
    Mailbox(Mailbox, Session),
    Rested(Rested),
    Stopped(Signal, Option<CueId>),
}

/// The end of one connection.
enum Round {
    Ended(Ending),
    /// The broker is gone or cannot serve now; `why` is for a person.
    Lost(String),
    /// A proxy finds no broker now.
    Refused(CliError),
}

struct Wait<'a> {
    places: &'a Places,
    signals: &'a Signals,
    /// The budget set from outside; the inner `None` is no limit.
    fixed_budget: Option<Option<Duration>>,
    started: Instant,
    progress: Progress,
    nonce: Option<String>,
    asker: Asker,
    /// The number of connections lost in a row.
    losses: u32,
    /// Whether a broker has replied at this address.
    was_connected: bool,
    has_retired: bool,
    has_told_loss: bool,
}

impl Wait<'_> {
    fn until_ended(&mut self) -> Result<Ending, CliError> {
        loop {
            let (why, refusal) = match self.one_connection()? {
                Round::Ended(ending) => return Ok(ending),
                Round::Lost(why) => (why, None),
                Round::Refused(error) => (error.to_string(), Some(error)),
            };
            self.losses = self.losses.saturating_add(1);
            if self.progress.cue().is_none() && self.losses >= ASK_LOSSES_MAX {
                return Err(refusal.unwrap_or_else(|| hung_up(self.losses, &why)));
            }
            self.tell_loss(&why);
            if let Some(ending) = self.back_off() {
                return Ok(ending);
            }
        }
    }

    /// Asks or attaches over one connection and listens until it or the wait ends.
    fn one_connection(&mut self) -> Result<Round, CliError> {
        let stream = match connect_or_start(self.places, Side::Agent) {
            Ok(stream) => stream,
            Err(error) if self.may_pass(&error) => return Ok(Round::Refused(error)),
            Err(error) => return Err(error),
        };
        let mut session = match &self.progress {
            Progress::Asking { call } => Session::open(stream, call),
            Progress::Waiting { cue, .. } => {
                let attach = Attach {
                    cue_id: *cue,
                    nonce: self.nonce.clone(),
                };
                Session::open(stream, &encode_call(mint(), &Request::Attach(attach))?)
            }
        };
        let mut first_heard: Option<Instant> = None;
        loop {
            let heard = session.hear(Some(self.signals), self.progress.deadline());
            // One that says something and hangs up at once, over and over, is no better than one that only hangs up.
            if first_heard.is_some_and(|at| at.elapsed() >= STEADY_MIN) {
                self.losses = 0;
            }
            let reply = match heard {
                Ok(SessionEvent::Reply(reply)) => *reply,
                Ok(SessionEvent::Signal(signal)) => {
                    return Ok(Round::Ended(Ending::Stopped(signal, self.progress.cue())));
                }
                Ok(SessionEvent::Deadline) => return Ok(Round::Ended(self.rest(session))),
                Err(Lost::Gone(error)) => return Ok(Round::Lost(error.to_string())),
                Err(lost) => return Err(lost.into_error()),
            };
            first_heard.get_or_insert_with(Instant::now);
            self.was_connected = true;
            match reply {
                Reply::Asked(asked) => {
                    self.has_asked(&asked);
                    if session.is_outdated() && !self.has_retired {
                        self.has_retired = true;
                        return Ok(Round::Lost(self.retire(session)));
                    }
                }
                Reply::Outcome(mut told) => {
                    bring(self.places, &mut session, std::slice::from_mut(&mut told));
                    return Ok(Round::Ended(Ending::Outcome(Box::new(told), session)));
                }
                Reply::Mailbox(mut mailbox) => {
                    bring(self.places, &mut session, &mut mailbox.earlier);
                    return Ok(Round::Ended(Ending::Mailbox(mailbox, session)));
                }
                Reply::Error(failure) => return self.failed(failure),
                other => return Err(unexpected_reply(&other)),
            }
        }
    }

    /// Says whether another attempt may succeed. A refused token stays refused.
    ///
    /// A question that is on disk is worth waiting for a broker that comes back. A proxy may know nothing of this address while
    /// it restarts, and a wrong address is the same, so that is final until a broker has replied there.
    fn may_pass(&self, error: &CliError) -> bool {
        match self.progress.cue() {
            Some(_) => !error.is_usage() || (error.is_of_proxy() && self.was_connected),
            None => !error.is_usage() && error.is_of_proxy(),
        }
    }

    fn has_asked(&mut self, asked: &Asked) {
        if let Progress::Waiting { .. } = self.progress {
            return;
        }
        self.asker.language = wording::language_of(self.places, &asked.agent_runtime);
        let budget = match self.fixed_budget {
            Some(fixed) => fixed,
            None => budget::of_runtime(self.places, &asked.agent_runtime),
        };
        // Counted from the start of the process, because that is what the runtime counts.
        let deadline = budget.and_then(|budget| self.started.checked_add(budget));
        self.progress = Progress::Waiting {
            cue: asked.cue_id,
            deadline,
        };
    }

    /// A question that is on disk outlasts a full disk and a busy broker; one that is not is refused.
    fn failed(&self, failure: Failure) -> Result<Round, CliError> {
        let is_passing = matches!(failure.code, ErrorCode::Busy | ErrorCode::Storage);
        match self.progress.cue() {
            Some(_) if is_passing => Ok(Round::Lost(failure.message)),
            Some(cue) if failure.code == ErrorCode::UnknownCue => Err(forgotten(cue)),
            _ => Err(failure.into()),
        }
    }

    fn retire(&self, session: Session) -> String {
        match session.retire() {
            Ok(()) => "an older broker made room for this version".to_owned(),
            Err(lost) => lost.into_error().to_string(),
        }
    }

    /// Says that the runtime allows no more waiting; an outcome that comes at this very moment is taken.
    fn rest(&self, mut session: Session) -> Ending {
        let Some(cue) = self.progress.cue() else {
            return Ending::Rested(Rested::unknown());
        };
        let rested = |rounds, give_up| {
            Ending::Rested(Rested {
                cue: Some(cue),
                rounds,
                give_up,
                language: self.asker.language,
            })
        };
        let deadline = Instant::now() + REST_WAIT_MAX;
        if session
            .send(mint(), &Request::Rest(Rest { cue_id: cue }))
            .is_err()
        {
            return rested(None, false);
        }
        loop {
            match session.reply(deadline) {
                Ok(Reply::Rested(told)) => {
                    return rested(Some(told.rounds), told.give_up && self.is_turn_held());
                }
                Ok(Reply::Outcome(mut told)) => {
                    bring(self.places, &mut session, std::slice::from_mut(&mut told));
                    return Ending::Outcome(Box::new(told), session);
                }
                Ok(Reply::Error(_)) | Err(_) => return rested(None, false),
                Ok(_) => {}
            }
        }
    }

    /// Tells whether the agent may end its turn without losing the answer: a hook has spoken for it that can hold one.
    fn is_turn_held(&self) -> bool {
        let agent = self.asker.agent.as_ref();
        agent.is_some_and(|agent| host_session::holds_turn(self.places, agent))
    }

    /// Says once that the broker is away, when it does not come back at once.
    fn tell_loss(&mut self, why: &str) {
        const TOLD_AT: u32 = 4;
        if self.losses >= TOLD_AT && !self.has_told_loss {
            self.has_told_loss = true;
            output::tell(&format!(
                "still waiting, though the broker cannot be reached: {why}"
            ));
        }
    }

    /// Sleeps before the next attempt; returns how the wait ended if it did meanwhile.
    fn back_off(&self) -> Option<Ending> {
        let pause = backoff(self.losses);
        if pause.is_zero() {
            return None;
        }
        let wake_up = Instant::now() + pause;
        let until = self
            .progress
            .deadline()
            .map_or(wake_up, |deadline| deadline.min(wake_up));
        loop {
            if let Some(signal) = self.signals.caught() {
                return Some(Ending::Stopped(signal, self.progress.cue()));
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let mut pipe = [PollFd::new(self.signals, PollFlags::IN)];
            if let Err(error) = rustix::event::poll(&mut pipe, Timespec::try_from(left).ok().as_ref())
                && std::io::Error::from(error).kind() != ErrorKind::Interrupted
            {
                std::thread::sleep(left);
            }
        }
        let is_over = self
            .progress
            .deadline()
            .is_some_and(|deadline| deadline <= Instant::now());
        let cue = self.progress.cue();
        is_over.then_some(Ending::Rested(Rested {
            cue,
            rounds: None,
            give_up: false,
            language: self.asker.language,
        }))
    }
}

/// The database was replaced under a waiting client; the question has to be asked anew.
fn forgotten(cue: CueId) -> CliError {
    CliError::new(Exit::StillOpen, format!("question {cue} is no longer known here"))
        .with_hint("run the same command again to ask it anew")
}

/// The listener there never accepted the question, so no human can have seen it.
fn hung_up(times: u32, why: &str) -> CliError {
    let message = format!("the broker hung up {times} times before it took the question: {why}");
    CliError::no_broker(message).with_hint("run `cueme broker restart`, then the same command again")
}

/// The first attempt is immediate: a broker that was replaced or restarted is back already.
pub(super) fn backoff(losses: u32) -> Duration {
    if losses <= 1 {
        return Duration::ZERO;
    }
    let doubled = BACKOFF_MIN.saturating_mul(1 << (losses - 2).min(16));
    let spread = std::process::id() % BACKOFF_SPREAD_MS;
    doubled.min(BACKOFF_MAX) + Duration::from_millis(spread.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_begin_at_once_and_never_become_rare() {
        assert_eq!(backoff(1), Duration::ZERO);
        assert!(backoff(2) >= BACKOFF_MIN);
        assert!(backoff(5) > backoff(3));
        assert!(backoff(1_000_000) <= BACKOFF_MAX + Duration::from_millis(BACKOFF_SPREAD_MS.into()));
    }

    #[test]
    fn only_a_word_of_the_human_ends_well() {
        assert_eq!(exit_of(Outcome::Answered), Exit::Done);
        assert_eq!(exit_of(Outcome::Declined), Exit::Done);
        assert_eq!(exit_of(Outcome::Cancelled), Exit::Cancelled);
    }
}
