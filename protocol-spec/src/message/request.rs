//! The requests that a client can send to the broker.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::import::Import;
use super::line::operations;
use super::run::{MintBootstrap, PublicProbe, RunClaim, RunFollow, RunQuery, RunReport};
use crate::answer::Answer;
use crate::id::{AgentId, CueId, RuntimeTag};
use crate::outcome::{Kind, Origin};

operations! {
    /// One operation and its body.
    pub enum Request, "op" {
        /// Describes the caller. Optional, answered with `welcome`.
        Hello(Hello) = "hello",
        /// Registers an agent.
        Join(Join) = "join",
        /// Gives an agent the session that it turned out to be.
        Bind(Bind) = "bind",
        /// Finds an agent by its questions and answers.
        Recall(Recall) = "recall",
        /// Asks a human and waits.
        Ask(Ask) = "ask",
        /// Waits again for a question that is known by its id.
        Attach(Attach) = "attach",
        /// Confirms that an outcome was printed.
        Ack(Ack) = "ack",
        /// Says that the caller stops waiting because its runtime allows no more.
        Rest(Rest) = "rest",
        /// Proves the deliveries of a turn.
        Receipts(Receipts) = "receipts",
        /// Fetches everything a human left for an agent, at once and without asking anything.
        Collect(Collect) = "collect",
        /// Reads a piece of a file that an answer carries, where it is not on the caller's machine.
        File(FileWanted) = "file",
        /// Lists the open questions.
        Inbox(Nothing) = "inbox",
        /// Lists the questions that a queued answer answered and no human has looked at.
        Unseen(Nothing) = "unseen",
        /// Shows one question whole.
        Show(Show) = "show",
        /// Shows one question whole to a human: it is unseen no more.
        Seen(Show) = "seen",
        /// Answers a question.
        Answer(GiveAnswer) = "answer",
        /// Refuses to answer a question.
        Decline(Decline) = "decline",
        /// Closes a question without an answer.
        Cancel(Cancel) = "cancel",
        /// Takes back an answer that was not released yet.
        Undo(Undo) = "undo",
        /// Leaves a message for an agent's next question.
        Say(Say) = "say",
        /// Names an agent, or puts it out of sight.
        Amend(Amend) = "amend",
        /// Lists the agents.
        Agents(Nothing) = "agents",
        /// Returns the last answer an agent was given.
        Last(Last) = "last",
        /// Lists past questions, newest first.
        History(History) = "history",
        /// Follows events.
        Watch(Watch) = "watch",
        /// Describes the broker.
        Status(Nothing) = "status",
        /// Ends the broker.
        Stop(Nothing) = "stop",
        /// Ends the broker in favour of a newer one.
        Retire(Retire) = "retire",
        /// Checks the database.
        Check(Nothing) = "check",
        /// Writes a copy of the database.
        Backup(Backup) = "backup",
        /// Deletes old, delivered questions.
        Purge(Purge) = "purge",
        /// Imports records of another program.
        Import(Import) = "import",
        /// Makes a link that signs one browser in.
        WebLink(WebLink) = "web_link",
        /// Makes a token for programs that speak over HTTP.
        Token(MintToken) = "token",
        /// Lists the tokens.
        Tokens(Nothing) = "tokens",
        /// Revokes a token.
        RevokeToken(RevokeToken) = "revoke_token",
        /// Reports the state of a run that an adapter drives, and its events.
        RunReport(Box<RunReport>) = "run_report",
        /// Is told when to look at a run again, or to stop it. The connection serves nothing else from here on.
        RunFollow(RunFollow) = "run_follow",
        /// Asks for the right to send the human's word to the agent of a run.
        RunClaim(RunClaim) = "run_claim",
        /// Lists runs, newest first.
        Runs(RunQuery) = "runs",
        /// Makes a one-time token for an agent in the cloud.
        Bootstrap(MintBootstrap) = "bootstrap",
        /// Asks whether agents elsewhere reach the broker.
        PublicProbe(PublicProbe) = "public_probe",
    }
}

/// A body without content.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nothing {}

/// Describes the caller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The version of the calling program.
    pub version: String,
}

/// Registers an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Join {
    /// The runtime the agent lives in.
    pub runtime: RuntimeTag,
    /// The directory it works in.
    pub project_dir: String,
    /// Its shell family, or `unknown`.
    pub terminal: String,
    /// The runtime's own name for the conversation; joining again with the same one returns the same agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// Gives an agent its session, when that was not known as it joined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bind {
    /// The agent.
    pub agent_id: AgentId,
    /// See [`Join::session`]; from now on it means this agent, even if it meant another before.
    pub session: String,
}

/// Finds an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recall {
    /// Words the agent remembers.
    pub hints: String,
    /// The directory the agent works in, if it knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_dir: Option<String>,
}

/// Asks a human and waits.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Ask {
    /// The asking agent.
    pub agent_id: AgentId,
    /// The verb.
    pub kind: Kind,
    /// The question.
    pub prompt: String,
    /// The payload exactly as the agent wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Box<RawValue>>,
    /// The origin of the question.
    #[serde(default)]
    pub origin: Origin,
    /// Marks the turn this question belongs to, so that its delivery can be proved. At most
    /// [`NONCE_BYTES_MAX`](super::NONCE_BYTES_MAX) bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nonce: Option<String>,
}

/// Waits again for a known question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attach {
    /// The question.
    pub cue_id: CueId,
    /// See [`Ask::nonce`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nonce: Option<String>,
}

/// Confirms that outcomes were printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ack {
    /// The questions whose outcomes were printed.
    pub cue_ids: Vec<CueId>,
    /// See [`Ask::nonce`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nonce: Option<String>,
}

/// Reads a piece of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileWanted {
    /// The question whose answer carries it.
    pub cue_id: CueId,
    /// Its path, as the answer says it.
    pub path: String,
    /// The number of bytes that the caller already has.
    pub offset: u64,
}

/// Stops waiting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rest {
    /// The question, which stays open.
    pub cue_id: CueId,
}

/// Proves the deliveries of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipts {
    /// The turn's mark.
    pub nonce: String,
}

/// Fetches everything a human left for an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collect {
    /// The agent.
    pub agent_id: AgentId,
    /// Closes the questions that the agent left behind, for this reason; absent leaves them open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub close: Option<String>,
}

/// Shows one question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Show {
    /// The question's id, or a prefix that is unique.
    pub cue: String,
}

/// Answers a question. The request id is the answer's identity: sending it again changes nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GiveAnswer {
    /// The question's id, or a prefix that is unique.
    pub cue: String,
    /// The answer.
    pub answer: Answer,
    /// The author of the answer, as shown to others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The time during which the answer can be taken back before the agent gets it, in milliseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hold_ms: u64,
}

/// Refuses to answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decline {
    /// The question's id, or a prefix that is unique.
    pub cue: String,
    /// Why, in the human's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The author of the refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// Closes a question without an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cancel {
    /// The question's id, or a prefix that is unique.
    pub cue: String,
    /// Why it was closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The person or program that closed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// Takes back an answer that was not released yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undo {
    /// The question's id, or a prefix that is unique.
    pub cue: String,
}

/// The purpose of a message. The human chooses it; the broker never guesses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Goes above the human's next answer, to any question, and never closes a question.
    #[default]
    Note,
    /// Answers the agent's next question without a payload, unseen. It never answers an approval.
    QueuedAnswer,
}

impl Purpose {
    /// Says whether this is a note.
    #[allow(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde calls it with a reference"
    )]
    pub const fn is_note(&self) -> bool {
        matches!(self, Self::Note)
    }
}

/// Leaves a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Say {
    /// The agent's id, or a prefix that is unique.
    pub agent: String,
    /// The message.
    pub text: String,
    /// The purpose of the message.
    #[serde(default, skip_serializing_if = "Purpose::is_note")]
    pub purpose: Purpose,
    /// The author of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// Changes a human's settings for an agent; an absent key stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amend {
    /// The agent's id, or a prefix that is unique.
    pub agent: String,
    /// Its name; an empty one takes the name away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether it is out of sight until it asks again; refused while it has open questions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
}

/// Asks for the last answer of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Last {
    /// The agent's id, or a prefix that is unique.
    pub agent: String,
}

/// Lists past questions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct History {
    /// Only this agent's (id, or unique prefix).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Only those in which these words occur.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<String>,
    /// The maximum number of questions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Only those asked before the one with this sequence number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<i64>,
}

/// Follows events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watch {
    /// Begin after this event; absent means from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<i64>,
}

/// Ends the broker in favour of a newer one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retire {
    /// The version of the successor.
    pub version: String,
    /// The successor's executable.
    pub executable: String,
}

/// Writes a copy of the database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backup {
    /// The target, which must not exist yet.
    pub path: String,
}

/// Deletes old, delivered questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Purge {
    /// The age from which on a question is deleted, in milliseconds.
    pub older_than_ms: u64,
    /// Only count.
    #[serde(default)]
    pub dry_run: bool,
}

/// Makes a link that signs one browser in, once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebLink {
    /// The name of the device; the browser's own name unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Makes a token for programs that speak over HTTP.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MintToken {
    /// The scope.
    pub scope: TokenScope,
    /// The agent it is for, when it is for one (id, or unique prefix).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The name to show in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// After how many milliseconds it stops working; never when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_in_ms: Option<u64>,
}

/// Revokes a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevokeToken {
    /// Its id, a unique prefix of it, or its name when only one token has that name.
    pub token: String,
}

/// The permissions of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenScope {
    /// Joining, and asking for the agents that joined with it.
    Join,
    /// Asking for one agent.
    Agent,
    /// Everything a human may do on the page.
    Human,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}
