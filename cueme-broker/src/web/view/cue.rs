//! A question, in short and whole, with its answer.

use protocol_spec::answer::{Answer, Reply, without_attachments};
use protocol_spec::hex::hex;
use protocol_spec::message::CueView;
use protocol_spec::outcome::{Delivery, Kind, Origin, Outcome, is_withdrawn};
use protocol_spec::payload::Payload;
use schemars::JsonSchema;
use serde::Serialize;

use super::draft::DraftShown;
use super::markup::{Markup, Reading};
use super::payload::PayloadShown;
use super::time::When;
use crate::attachments::names_files;
use crate::machine::{TextParts, text_parts};
use crate::policy::Policy;
use crate::presence::Presence;
use crate::store::{CueRow, Draft, POLICY_PREFIX};
use crate::web::cue::FileShown;
use crate::web::markdown::visible;

/// The kind of answer that a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum CueType {
    Text,
    Choice,
    Confirm,
    Form,
    Pause,
}

/// A question in short.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(in crate::web) struct CueCard {
    pub(in crate::web) cue_id: String,
    seq: i64,
    pub(in crate::web) agent_id: String,
    #[schemars(with = "String")]
    kind: Kind,
    #[schemars(with = "String")]
    origin: Origin,
    #[serde(rename = "type")]
    asks: CueType,
    beginning: String,
    #[schemars(with = "String")]
    pub(super) outcome: Outcome,
    #[schemars(with = "String")]
    delivery: Delivery,
    pub(super) asked_at: When,
    pub(super) waiting: u32,
    pub(super) detached_at: Option<When>,
    decided_at: Option<When>,
    released_at: Option<When>,
    pub(super) acknowledged_at: Option<When>,
    by: Option<String>,
    policy: Option<String>,
    /// Whether a queued answer answered it, before a human saw it.
    from_queue: bool,
    /// Whether the program that asked withdrew it: it was closed without an author, and the agent gets nothing.
    withdrawn: bool,
    /// Whether its record is damaged on the disk; then it is out of service.
    damaged: bool,
    /// The same for every agent with the same words; absent where each question is answered by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
}

/// A question whole.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::web) struct Cue {
    #[serde(flatten)]
    card: CueCard,
    prompt: Markup,
    payload: Option<PayloadShown>,
    /// Whether its agent works in a run that has not ended, which an answer can end.
    in_run: bool,
    /// The text that the human wrote or chose, without the labels that the agent reads around it.
    text: Option<Markup>,
    /// Notes that went above the answer.
    notes: Vec<String>,
    /// The standing instruction that went below the answer.
    standing: Option<String>,
    answer: Option<AnswerShown>,
    draft: Option<DraftShown>,
    /// The rule that leaves it to a human, after enough automatic answers in a row.
    stopped_policy: Option<StoppedPolicy>,
    /// A human's answer to a similar question in the same project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::web) precedent: Option<Precedent>,
    /// Images and patches of the project that an open question names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(in crate::web) files: Vec<FileShown>,
    /// Whether it names files, which differ between projects: then the same words ask something else in another
    /// project.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    names_files: bool,
}

/// An earlier answer to a similar question.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::web) struct Precedent {
    cue_id: String,
    agent_id: String,
    /// The earlier question in short.
    beginning: String,
    /// Whether the earlier question had the same words.
    is_same: bool,
    decided_at: Option<When>,
    by: Option<String>,
    answer: AnswerShown,
}

impl Precedent {
    /// Shows an earlier question with the answer that can be given again.
    pub(in crate::web) fn new(past: CueView, answer: Answer, is_same: bool) -> Self {
        Self {
            beginning: visible(&crate::machine::beginning_of(&past.prompt)).into_owned(),
            cue_id: past.cue_id.into(),
            agent_id: past.agent_id.into(),
            is_same,
            decided_at: past.decided_at.map(When),
            by: past.by,
            answer: AnswerShown {
                text: answer.text,
                reply: answer.reply,
                attachments: Vec::new(),
                ends_run: false,
            },
        }
    }
}

/// A rule that needs a human to go on.
#[derive(Debug, Serialize, JsonSchema)]
struct StoppedPolicy {
    name: String,
    in_a_row_max: u32,
}

/// An answer, secrets removed.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AnswerGiven")]
struct AnswerShown {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    reply: Option<Reply>,
    attachments: Vec<AttachmentShown>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    ends_run: bool,
}

/// A file that an answer carries.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AttachmentGiven")]
pub(in crate::web) struct AttachmentShown {
    pub(in crate::web) path: String,
    pub(in crate::web) name: Option<String>,
    pub(in crate::web) media_type: Option<String>,
    pub(in crate::web) upload_id: Option<String>,
    pub(in crate::web) url: Option<String>,
    pub(in crate::web) bytes: Option<u64>,
}

impl CueCard {
    /// Shows a question in short, with the presence of its clients.
    pub(in crate::web) fn new(cue: CueRow, presence: &Presence) -> Self {
        let waiting = presence.cue(cue.cue_id);
        let content = shared_content(&cue);
        let asks = match (cue.kind, cue.payload_type.as_deref()) {
            (Kind::Pause, _) => CueType::Pause,
            (Kind::Cue, Some("choice")) => CueType::Choice,
            (Kind::Cue, Some("confirm")) => CueType::Confirm,
            (Kind::Cue, Some("form")) => CueType::Form,
            (Kind::Cue, Some(_) | None) => CueType::Text,
        };
        Self {
            cue_id: cue.cue_id.into(),
            seq: cue.seq,
            agent_id: cue.agent_id.into(),
            kind: cue.kind,
            origin: cue.origin,
            asks,
            beginning: visible(&cue.beginning).into_owned(),
            outcome: cue.outcome,
            delivery: cue.delivery,
            asked_at: cue.asked_at.into(),
            waiting: waiting.clients,
            detached_at: waiting
                .detached_at
                .filter(|_| cue.outcome.is_answerable())
                .map(When),
            decided_at: cue.decided_at.map(When),
            released_at: cue.released_at.map(When),
            acknowledged_at: cue.acknowledged_at.map(When),
            policy: cue
                .by
                .as_deref()
                .and_then(|by| by.strip_prefix(POLICY_PREFIX))
                .map(|name| name.trim().to_owned()),
            from_queue: cue.from_queue,
            withdrawn: is_withdrawn(cue.origin, cue.outcome, cue.by.is_some()) && !cue.damaged,
            damaged: cue.damaged,
            content,
            by: cue.by,
        }
    }
}

/// Returns the key of a question's content, if one answer may serve several agents: approvals are answered one by one.
fn shared_content(cue: &CueRow) -> Option<String> {
    let is_shared = cue.outcome == Outcome::Open
        && cue.kind == Kind::Cue
        && cue.origin != Origin::Approval
        && !cue.damaged;
    let content = cue.content.filter(|_| is_shared)?;
    Some(hex(&content.0))
}

impl Cue {
    /// Shows a question whole, its texts truncated to `bytes_max`.
    pub(in crate::web) fn new(
        cue: CueView,
        presence: &Presence,
        bytes_max: usize,
        draft: Option<Draft>,
        stopped: Option<&Policy>,
        attach: impl Fn(protocol_spec::answer::Attachment) -> AttachmentShown,
    ) -> Self {
        let payload = cue
            .payload
            .as_deref()
            .and_then(|payload| Payload::parse(payload.get()).ok());
        let told = cue
            .text
            .as_deref()
            .map(|text| own_words(text, cue.outcome, cue.answer.as_ref(), bytes_max));
        let row = CueRow {
            cue_id: cue.cue_id,
            seq: cue.seq,
            agent_id: cue.agent_id,
            kind: cue.kind,
            origin: cue.origin,
            beginning: crate::machine::beginning_of(&cue.prompt),
            payload_type: payload.as_ref().map(|payload| payload.shape().name().to_owned()),
            outcome: cue.outcome,
            delivery: cue.delivery,
            asked_at: cue.asked_at,
            decided_at: cue.decided_at,
            released_at: cue.released_at,
            acknowledged_at: cue.acknowledged_at,
            by: cue.by,
            from_queue: cue.from_queue,
            damaged: cue.damaged,
            content: None,
        };
        Self {
            card: CueCard::new(row, presence),
            prompt: Markup::folded(&cue.prompt, cue.origin.into(), bytes_max),
            payload: payload.map(|payload| payload.shape().clone().into()),
            in_run: cue.in_run,
            text: told
                .as_ref()
                .map(|(text, _)| Markup::folded(text, Reading::Markdown, bytes_max)),
            notes: told
                .iter()
                .flat_map(|(_, parts)| parts.notes.iter().map(|&note| note.to_owned()))
                .collect(),
            standing: told.and_then(|(_, parts)| parts.standing.map(str::to_owned)),
            answer: cue.answer.map(|answer| answer_shown(answer, attach)),
            draft: draft.map(DraftShown::from),
            stopped_policy: stopped.map(|policy| StoppedPolicy {
                name: policy.name.clone(),
                in_a_row_max: policy.in_a_row_max,
            }),
            precedent: None,
            files: Vec::new(),
            names_files: cue.outcome.is_answerable() && names_files(&cue.prompt),
        }
    }
}

/// Returns the human's part of a text, with the labels around it. Long texts are read by offset, and so stay whole.
fn own_words<'a>(
    text: &'a str,
    outcome: Outcome,
    answer: Option<&Answer>,
    bytes_max: usize,
) -> (&'a str, TextParts<'a>) {
    let mut parts = text_parts(text, outcome);
    if text.len() > bytes_max {
        parts = TextParts {
            notes: Vec::new(),
            answer: text,
            standing: None,
        };
    }
    let has_files = answer.is_some_and(|answer| !answer.attachments.is_empty());
    let words = if has_files {
        without_attachments(parts.answer)
    } else {
        parts.answer
    };
    (words, parts)
}

fn answer_shown(
    answer: Answer,
    attach: impl Fn(protocol_spec::answer::Attachment) -> AttachmentShown,
) -> AnswerShown {
    AnswerShown {
        text: answer.text,
        reply: answer.reply,
        attachments: answer.attachments.into_iter().map(attach).collect(),
        ends_run: answer.ends_run,
    }
}
