//! The broker's replies.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::import::Imported;
use super::line::operations;
use super::request::TokenScope;
use super::run::{BootstrapMade, PublicProbed, RunClaimed, RunNoted, RunView, RunWoken};
use super::view::{AgentView, CueView, EventView};
use crate::answer::Answer;
use crate::exit::Exit;
use crate::id::{AgentId, CueId, RequestId, RuntimeTag};
use crate::outcome::{Kind, Outcome};
use crate::time::Timestamp;

operations! {
    /// One line of a reply.
    pub enum Reply, "re" {
        /// Describes the broker.
        Welcome(Welcome) = "welcome",
        /// The agent is registered.
        Joined(Joined) = "joined",
        /// The agents that fit, best first.
        Recalled(Recalled) = "recalled",
        /// The question is on disk; the outcome follows on a later line.
        Asked(Asked) = "asked",
        /// The outcome of the question.
        Outcome(DeliveredOutcome) = "outcome",
        /// Outcomes of earlier questions; the new question is open and no client waits for it.
        Mailbox(Mailbox) = "mailbox",
        /// The acknowledgement is on disk.
        Acked(Acked) = "acked",
        /// The caller may stop waiting.
        Rested(Rested) = "rested",
        /// The deliveries of a turn.
        Receipts(ReceiptList) = "receipts",
        /// Everything that humans left for an agent.
        Collected(Collected) = "collected",
        /// A piece of a file.
        File(FilePiece) = "file",
        /// One question; `end` closes a list of them.
        Cue(Box<CueView>) = "cue",
        /// One agent; `end` closes a list of them.
        Agent(Box<AgentView>) = "agent",
        /// The end of a list.
        End(End) = "end",
        /// A question is decided.
        Decided(Decided) = "decided",
        /// An answer was taken back.
        Undone(Undone) = "undone",
        /// A message waits for the agent.
        Said(Said) = "said",
        /// Something happened.
        Event(EventView) = "event",
        /// Events were missed: read the state anew.
        Lagged(Lagged) = "lagged",
        /// The broker's description.
        Status(Status) = "status",
        /// The broker ends.
        Stopping(Stopping) = "stopping",
        /// The result of a check of the database.
        Checked(Checked) = "checked",
        /// The copy is written and verified.
        BackedUp(BackedUp) = "backed_up",
        /// Questions were deleted.
        Purged(Purged) = "purged",
        /// The result of an import.
        Imported(Imported) = "imported",
        /// A link that signs one browser in.
        WebLink(WebLinked) = "web_link",
        /// A token, shown this once.
        Token(TokenMade) = "token",
        /// The tokens there are, oldest first.
        Tokens(TokenList) = "tokens",
        /// A token opens nothing any more.
        TokenRevoked(TokenRevoked) = "token_revoked",
        /// An agent is named, pinned, archived or instructed as wished.
        Amended(Amended) = "amended",
        /// The messages that wait for an agent.
        Queue(Queue) = "queue",
        /// A report of a run is on disk.
        RunNoted(RunNoted) = "run_noted",
        /// The driver of the run should poll it again.
        RunWoken(RunWoken) = "run_woken",
        /// Whether a driver may send the human's word.
        RunClaimed(RunClaimed) = "run_claimed",
        /// One run; `end` closes a list of them.
        Run(Box<RunView>) = "run",
        /// A one-time token, shown this once.
        Bootstrap(BootstrapMade) = "bootstrap",
        /// The response to expect from a probe of the public address.
        PublicProbe(PublicProbed) = "public_probe",
        /// The request failed.
        Error(Failure) = "error",
    }
}

/// Describes the broker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Welcome {
    /// The broker's version.
    pub version: String,
    /// The wire protocol it speaks.
    pub protocol: u32,
    /// Its process.
    pub pid: u32,
}

/// The agent is registered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Joined {
    /// Its new id, or the one its session has.
    pub agent_id: AgentId,
    /// Whether the session had joined before.
    #[serde(default)]
    pub again: bool,
}

/// A piece of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilePiece {
    /// The bytes, in Base64.
    pub data: String,
    /// The size of the whole file, in bytes.
    pub bytes: u64,
}

/// The agents that fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recalled {
    /// Best first, and the first is the match; empty when no agent is a clear match.
    pub matches: Vec<Match>,
    /// Agents that fit about equally well, or not well enough, when no agent is a clear match.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Match>,
}

/// An agent that fits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Match {
    /// The agent.
    pub agent: AgentView,
    /// Why it fits, in words.
    pub why: Vec<String>,
}

/// The question is on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// The question's id.
    pub cue_id: CueId,
    /// The runtime of its agent, which knows how long a wait may last there.
    pub agent_runtime: RuntimeTag,
    /// Whether the question existed before this call.
    #[serde(default)]
    pub again: bool,
}

/// The outcome of a question, in the words that the agent reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeliveredOutcome {
    /// The question.
    pub cue_id: CueId,
    /// The verb it was asked with.
    pub kind: Kind,
    /// The outcome.
    pub outcome: Outcome,
    /// The text for the agent; never rendered anew.
    pub text: String,
    /// A reminder to print below the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reminder: Option<String>,
    /// The answer as data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    /// Whether an answer that is left out here, because it does not fit, ends the run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends_run: bool,
    /// When it was decided.
    pub decided_at: Timestamp,
    /// The author of the decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The beginning of the question, to tell outcomes apart.
    pub question: String,
    /// When the same text was handed over before, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat_of: Option<Timestamp>,
}

impl DeliveredOutcome {
    /// Says whether the human ends the run with this answer.
    pub fn ends_run(&self) -> bool {
        self.ends_run || self.answer.as_ref().is_some_and(|answer| answer.ends_run)
    }
}

/// Outcomes of earlier questions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mailbox {
    /// The new question, which is open.
    pub cue_id: CueId,
    /// The outcomes that the agent has not received yet, oldest first.
    pub earlier: Vec<DeliveredOutcome>,
}

/// The acknowledgement is on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acked {
    /// The questions this acknowledgement was the first for.
    pub cue_ids: Vec<CueId>,
}

/// The caller may stop waiting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rested {
    /// The question, which stays open.
    pub cue_id: CueId,
    /// The number of waits that ended like this since a human was last seen.
    pub rounds: u32,
    /// Whether the agent should end its turn instead of asking again.
    pub give_up: bool,
}

/// The deliveries of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiptList {
    /// Oldest first.
    pub receipts: Vec<Receipt>,
}

/// The record of one acknowledged delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The question.
    pub cue_id: CueId,
    /// The agent it was delivered to.
    pub agent_id: AgentId,
    /// The verb it was asked with.
    pub kind: Kind,
    /// The outcome.
    pub outcome: Outcome,
    /// When the delivery was acknowledged.
    pub acknowledged_at: Timestamp,
    /// Whether the human ended the run with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends_run: bool,
}

/// Everything that humans left for an agent. The agent acknowledges it by the ids of its questions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Collected {
    /// Messages that were left before any question, as the agent reads them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<DeliveredOutcome>,
    /// Outcomes of questions that the agent has not received, oldest first.
    pub earlier: Vec<DeliveredOutcome>,
    /// Questions that a hook asked in the agent's place and that were closed: nothing to tell the agent.
    pub closed: Vec<CueId>,
}

/// The end of a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// Whether there is more than was sent.
    #[serde(default)]
    pub more: bool,
}

/// A question is decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    /// The question.
    pub cue_id: CueId,
    /// Its agent.
    pub agent_id: AgentId,
    /// The outcome.
    pub outcome: Outcome,
    /// The number of clients that got the outcome at once; with zero, the agent gets it when it asks again.
    pub handed_to: u32,
    /// When the agent gets it, if it can still be taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released_at: Option<Timestamp>,
}

/// An answer was taken back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Undone {
    /// The question, open again.
    pub cue_id: CueId,
    /// The answer without its secrets, to be used as a draft.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
}

/// A message waits for the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// The agent.
    pub agent_id: AgentId,
    /// The number of messages that wait for it now.
    pub queued: u32,
    /// A question of that agent which is open now and could be answered instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_cue: Option<CueId>,
    /// The number of clients that wait for the outcome of that question; with none, an answer is delivered when the
    /// agent asks again.
    #[serde(default, skip_serializing_if = "is_none_waiting")]
    pub waiting: u32,
}

/// Events were missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lagged {
    /// The newest event there is.
    pub newest: i64,
}

/// The broker's description.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Always true: only a running broker answers.
    pub running: bool,
    /// Its process.
    pub pid: u32,
    /// Its version.
    pub version: String,
    /// The wire protocol it speaks.
    pub protocol: u32,
    /// The socket it listens on.
    pub socket: String,
    /// Its database.
    pub database: String,
    /// The executable it runs.
    pub executable: String,
    /// When it started.
    pub started_at: Timestamp,
    /// Undecided questions.
    pub open_cues: u32,
    /// Clients that wait for an outcome.
    pub waiting: u32,
    /// Outcomes the agent has not acknowledged.
    pub undelivered: u32,
    /// Registered agents.
    pub agents: u32,
    /// The address of the page, unless it is turned off or could not be served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub web: Option<String>,
    /// The storage error, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage_error: Option<String>,
    /// The configuration error, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_error: Option<String>,
}

/// The broker ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stopping {
    /// Its process.
    pub pid: u32,
}

/// The result of a check of the database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// Empty when all is well.
    pub problems: Vec<String>,
    /// The schema's number.
    pub schema: u32,
    /// Size on disk, in bytes.
    pub bytes: u64,
    /// Stored questions.
    pub cues: u64,
}

/// The copy is written and verified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackedUp {
    /// Its path.
    pub path: String,
    /// Its size, in bytes.
    pub bytes: u64,
    /// The number of questions in it.
    pub cues: u64,
}

/// Questions were deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Purged {
    /// The number of questions.
    pub cues: u64,
}

/// A link that signs one browser in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebLinked {
    /// The link; it works once.
    pub url: String,
    /// Until when it works.
    pub expires_at: Timestamp,
}

/// A token, shown this once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenMade {
    /// Its name for revoking it.
    pub token_id: String,
    /// The secret that the program sends as `Authorization: Bearer`.
    pub token: String,
    /// The address of the API.
    pub url: String,
    /// When it stops working, if it ever does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

/// The tokens there are, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenList {
    /// The tokens without their secrets, which cannot be read again.
    pub tokens: Vec<TokenView>,
}

/// One token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenView {
    /// Its name for revoking it.
    pub token_id: String,
    /// The scope.
    pub scope: TokenScope,
    /// The agent it is for, when it is for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// The name that a human gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it stops working, if it ever does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// When it was last used, to the minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_at: Option<Timestamp>,
}

/// A token opens nothing any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRevoked {
    /// The token.
    pub token_id: String,
}

/// An agent is as wished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amended {
    /// The agent.
    pub agent_id: AgentId,
}

/// The messages that wait for an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queue {
    /// The agent.
    pub agent_id: AgentId,
    /// The messages' keys, in the order of delivery.
    pub messages: Vec<RequestId>,
}

/// Why a request failed.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize)]
#[error("{message}")]
pub struct Failure {
    /// The kind of failure.
    pub code: ErrorCode,
    /// The error message, as a lowercase fragment.
    pub message: String,
    /// The next step to take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Failure {
    /// Describes a failure.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            hint: None,
        }
    }

    /// Adds the next step to take.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// The kind of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The line or its body is wrong.
    BadRequest,
    /// This broker does not know the operation or the protocol version.
    Unsupported,
    /// No such agent.
    UnknownAgent,
    /// No such question.
    UnknownCue,
    /// A prefix fits several ids.
    Ambiguous,
    /// The answer does not fit the question.
    InvalidAnswer,
    /// Someone else decided first.
    AlreadyDecided,
    /// It is too late to take the answer back.
    AlreadyReleased,
    /// A limit was reached.
    TooLarge,
    /// Too much at once; try again.
    Busy,
    /// The caller may not do this.
    Forbidden,
    /// Nothing of that name is there.
    NotFound,
    /// It has changed since the caller looked.
    Stale,
    /// The storage failed; nothing was changed.
    Storage,
    /// A defect of the broker.
    Internal,
}

impl ErrorCode {
    /// Returns the exit code a command ends with when this is its failure.
    pub const fn exit(self) -> Exit {
        match self {
            Self::BadRequest | Self::InvalidAnswer | Self::TooLarge | Self::Ambiguous | Self::Forbidden => {
                Exit::Usage
            }
            Self::UnknownAgent => Exit::UnknownAgent,
            Self::UnknownCue
            | Self::AlreadyDecided
            | Self::AlreadyReleased
            | Self::NotFound
            | Self::Stale => Exit::NotFound,
            Self::Busy => Exit::StillOpen,
            Self::Unsupported => Exit::NoBroker,
            Self::Storage | Self::Internal => Exit::Io,
        }
    }
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
fn is_none_waiting(clients: &u32) -> bool {
    *clients == 0
}
