//! Asking, and waiting for as long as it takes.
//!
//! A wait survives the broker: when the connection breaks, the same question is attached to again, by its request id
//! until the broker has named it and by its cue id from then on. An outcome is printed first and acknowledged after.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use adapter_core::hap::TURN_ENV;
use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;
use protocol_spec::id::{AgentId, CueId};
use protocol_spec::message::{Ask, Asked, Attach, ErrorCode, Failure, Mailbox, Reply, Request, Rest, Told};
use protocol_spec::outcome::{Kind, Origin, Outcome};
use rustix::event::{PollFd, PollFlags, Timespec};
use serde_json::value::RawValue;

use super::ack::acknowledge;
use super::budget;
use super::session::{Heard, Lost, Session, encode_call, mint, unexpected_reply};
use super::signals::{Signal, Signals};
use super::start::connect_or_start;
use crate::error::CliError;
use crate::output;
use crate::surroundings;
use crate::told::{Form, Rested};

/// How long the broker may take to note that a wait ends; the runtime's own ceiling is near by then.
const REST_WAIT_MAX: Duration = Duration::from_secs(1);
/// The pause before the second attempt to reach a broker again; it doubles with each further one.
const BACKOFF_MIN: Duration = Duration::from_millis(50);
/// The longest pause between two attempts.
const BACKOFF_MAX: Duration = Duration::from_secs(5);
/// Spreads the attempts of many clients that lost the same broker.
const BACKOFF_SPREAD_MS: u32 = 97;

/// What an agent asks.
#[derive(Debug)]
pub(crate) struct Question {
    /// The asking agent.
    pub(crate) agent_id: AgentId,
    /// The verb.
    pub(crate) kind: Kind,
    /// The question.
    pub(crate) prompt: String,
    /// The payload as written.
    pub(crate) payload: Option<Box<RawValue>>,
}

/// A question that is ready to be sent, and to be sent again.
#[derive(Debug)]
pub(crate) struct Call {
    bytes: Vec<u8>,
    nonce: Option<String>,
}

impl Question {
    /// Encodes the agent's own question under a key of its own, marked with the turn it runs in.
    pub(crate) fn encode(self) -> Result<Call, CliError> {
        self.encode_as(Origin::Agent, surroundings::variable(TURN_ENV))
    }

    /// Encodes a question that `origin` opens, in the turn that `nonce` marks.
    pub(crate) fn encode_as(self, origin: Origin, nonce: Option<String>) -> Result<Call, CliError> {
        let ask = Ask {
            agent_id: self.agent_id,
            kind: self.kind,
            prompt: self.prompt,
            payload: self.payload,
            origin,
            nonce: nonce.clone(),
        };
        let bytes = encode_call(mint(), &Request::Ask(ask))?;
        Ok(Call { bytes, nonce })
    }
}

/// Asks, waits, prints what became of it, and acknowledges that.
pub(crate) fn ask_and_wait(
    places: &Places,
    call: Call,
    form: Form,
    started: Instant,
) -> Result<Exit, CliError> {
    let signals = catch_signals()?;
    let mut wait = Wait::new(places, &signals, call, started);
    wait.fixed_budget = budget::from_environment()?;
    match wait.until_ended()? {
        Ending::Outcome(told, session) => {
            output::deliver(&form.outcome(&told))?;
            acknowledge(places, session, vec![told.cue_id], wait.nonce);
            Ok(exit_of(told.outcome))
        }
        Ending::Mailbox(mailbox, session) => {
            output::deliver(&form.mailbox(&mailbox))?;
            let printed = mailbox.earlier.iter().map(|told| told.cue_id).collect();
            acknowledge(places, session, printed, wait.nonce);
            Ok(Exit::StillOpen)
        }
        Ending::Rested(rested) => {
            output::deliver(&form.rested(&rested))?;
            Ok(Exit::StillOpen)
        }
        Ending::Stopped(signal, cue) => {
            output::tell(&stopped_text(cue));
            Ok(signal.exit())
        }
    }
}

/// What a question came to that was asked in an agent's place.
#[derive(Debug)]
pub(crate) enum Taken {
    /// The outcome, and those of earlier questions that nobody had received.
    Outcome {
        /// Oldest first.
        earlier: Vec<Told>,
        /// What became of this question.
        told: Box<Told>,
    },
    /// The wait was interrupted; the question stays open.
    Stopped,
}

/// Asks, waits without a limit, and returns what became of it instead of printing it.
pub(crate) fn ask_and_take(places: &Places, call: Call) -> Result<Taken, CliError> {
    let signals = catch_signals()?;
    let mut wait = Wait::new(places, &signals, call, Instant::now());
    // No runtime stands above this process and ends its waits.
    wait.fixed_budget = Some(None);
    let mut earlier: Vec<Told> = Vec::new();
    loop {
        match wait.until_ended()? {
            Ending::Outcome(told, session) => {
                let taken = earlier.iter().map(|told| told.cue_id);
                let taken = taken.chain([told.cue_id]).collect();
                acknowledge(places, session, taken, wait.nonce);
                return Ok(Taken::Outcome { earlier, told });
            }
            Ending::Mailbox(mailbox, _) => {
                earlier.extend(mailbox.earlier);
                wait.progress = Progress::Waiting {
                    cue: mailbox.cue_id,
                    deadline: None,
                };
            }
            Ending::Rested(_) => {}
            Ending::Stopped(..) => return Ok(Taken::Stopped),
        }
    }
}

fn catch_signals() -> Result<Signals, CliError> {
    Signals::catch()
        .map_err(|error| CliError::new(Exit::Io, format!("could not listen for signals: {error}")))
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

/// How a wait ends.
enum Ending {
    Outcome(Box<Told>, Session),
    Mailbox(Mailbox, Session),
    Rested(Rested),
    Stopped(Signal, Option<CueId>),
}

/// How one connection ends.
enum Round {
    Ended(Ending),
    /// The broker is gone or cannot serve now; `why` is for a person.
    Lost(String),
}

/// How far the question has come.
enum Progress {
    /// Not known to be on disk: the whole call is sent again.
    Asking { call: Vec<u8> },
    /// On disk, so its name is enough and its text is no longer kept in memory.
    Waiting { cue: CueId, deadline: Option<Instant> },
}

impl Progress {
    fn cue(&self) -> Option<CueId> {
        match self {
            Self::Asking { .. } => None,
            Self::Waiting { cue, .. } => Some(*cue),
        }
    }

    fn deadline(&self) -> Option<Instant> {
        match self {
            Self::Asking { .. } => None,
            Self::Waiting { deadline, .. } => *deadline,
        }
    }
}

struct Wait<'a> {
    places: &'a Places,
    signals: &'a Signals,
    /// The budget set from outside; the inner `None` is no limit.
    fixed_budget: Option<Option<Duration>>,
    started: Instant,
    progress: Progress,
    nonce: Option<String>,
    has_retired: bool,
    has_told_loss: bool,
}

impl<'a> Wait<'a> {
    fn new(places: &'a Places, signals: &'a Signals, call: Call, started: Instant) -> Self {
        Self {
            places,
            signals,
            fixed_budget: None,
            started,
            progress: Progress::Asking { call: call.bytes },
            nonce: call.nonce,
            has_retired: false,
            has_told_loss: false,
        }
    }
}

impl Wait<'_> {
    fn until_ended(&mut self) -> Result<Ending, CliError> {
        let mut losses = 0;
        loop {
            let reached = matches!(self.progress, Progress::Waiting { .. });
            let why = match self.one_connection()? {
                Round::Ended(ending) => return Ok(ending),
                Round::Lost(why) => why,
            };
            // The first connection that was made again and lost again counts from one, like the very first.
            losses = if reached { losses + 1 } else { 1 };
            self.tell_loss(losses, &why);
            if let Some(ending) = self.back_off(losses) {
                return Ok(ending);
            }
        }
    }

    /// Asks or attaches over one connection and listens until it or the wait ends.
    fn one_connection(&mut self) -> Result<Round, CliError> {
        let stream = match connect_or_start(self.places) {
            Ok(stream) => stream,
            // A question that is on disk is worth waiting for a broker that comes back.
            Err(error) if self.progress.cue().is_some() => return Ok(Round::Lost(error.to_string())),
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
        loop {
            let reply = match session.hear(Some(self.signals), self.progress.deadline()) {
                Ok(Heard::Reply(reply)) => *reply,
                Ok(Heard::Signal(signal)) => {
                    return Ok(Round::Ended(Ending::Stopped(signal, self.progress.cue())));
                }
                Ok(Heard::Deadline) => return Ok(Round::Ended(self.rest(session))),
                Err(Lost::Gone(error)) => return Ok(Round::Lost(error.to_string())),
                Err(lost) => return Err(lost.into_error()),
            };
            match reply {
                Reply::Asked(asked) => {
                    self.has_asked(&asked);
                    if session.is_outdated() && !self.has_retired {
                        self.has_retired = true;
                        return Ok(Round::Lost(self.retire(session)));
                    }
                }
                Reply::Outcome(told) => return Ok(Round::Ended(Ending::Outcome(Box::new(told), session))),
                Reply::Mailbox(mailbox) => return Ok(Round::Ended(Ending::Mailbox(mailbox, session))),
                Reply::Error(failure) => return self.failed(failure),
                other => return Err(unexpected_reply(&other)),
            }
        }
    }

    fn has_asked(&mut self, asked: &Asked) {
        if let Progress::Waiting { .. } = self.progress {
            return;
        }
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
        let unnoted = Ending::Rested(Rested {
            cue: Some(cue),
            rounds: None,
            give_up: false,
        });
        let deadline = Instant::now() + REST_WAIT_MAX;
        if session
            .send(mint(), &Request::Rest(Rest { cue_id: cue }))
            .is_err()
        {
            return unnoted;
        }
        loop {
            match session.reply(deadline) {
                Ok(Reply::Rested(rested)) => {
                    let (rounds, give_up) = (Some(rested.rounds), rested.give_up);
                    return Ending::Rested(Rested {
                        cue: Some(cue),
                        rounds,
                        give_up,
                    });
                }
                Ok(Reply::Outcome(told)) => return Ending::Outcome(Box::new(told), session),
                Ok(Reply::Error(_)) | Err(_) => return unnoted,
                Ok(_) => {}
            }
        }
    }

    /// Says once that the broker is away, when it does not come back at once.
    fn tell_loss(&mut self, losses: u32, why: &str) {
        const TOLD_AT: u32 = 4;
        if losses >= TOLD_AT && !self.has_told_loss {
            self.has_told_loss = true;
            output::tell(&format!(
                "still waiting, though the broker cannot be reached: {why}"
            ));
        }
    }

    /// Sleeps before the next attempt; returns how the wait ended if it did meanwhile.
    fn back_off(&self, losses: u32) -> Option<Ending> {
        let pause = backoff(losses);
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
        }))
    }
}

/// The database was replaced under a waiting client; the question has to be asked anew.
fn forgotten(cue: CueId) -> CliError {
    CliError::new(Exit::StillOpen, format!("question {cue} is no longer known here"))
        .with_hint("run the same command again to ask it anew")
}

/// The first attempt is immediate: a broker that was replaced or restarted is back already.
fn backoff(losses: u32) -> Duration {
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
