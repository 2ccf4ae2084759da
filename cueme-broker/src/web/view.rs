//! What the page is shown.

use std::ops::Range;

use protocol_spec::answer::{Answer, NO, Reply, YES};
use protocol_spec::message::{CueView, Purpose};
use protocol_spec::outcome::{Delivery, Kind, Origin, Outcome, is_withdrawn};
use protocol_spec::payload::{Payload, Shape};
use protocol_spec::time::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use super::files::{FileShown, names_files};
use super::markdown::{Part, Rendered, end, part, render, verbatim, visible};
use crate::machine::{TextParts, text_parts};
use crate::policy::Policy;
use crate::presence::Presence;
use crate::store::{AgentRow, CueRow, Draft, MessageRow, POLICY_PREFIX};

/// How much of a text one part has where a single question is shown.
pub(super) const PART_BYTES: usize = 64 * 1024;
/// How much of a text one part has where many questions are shown.
pub(super) const FOLDED_BYTES: usize = 16 * 1024;
/// How long after its last sign an agent counts as working.
const WORKING_MS: u64 = 30 * 60 * 1000;

/// A point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub(super) struct When(Timestamp);

impl From<Timestamp> for When {
    fn from(at: Timestamp) -> Self {
        Self(at)
    }
}

impl JsonSchema for When {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "When".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }
}

/// What an agent is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum AgentState {
    /// It asked, and listens.
    Waiting,
    /// It asked, and nobody listens.
    Detached,
    /// It asks nothing and was there lately.
    Working,
    /// It has not been there for a while.
    Quiet,
}

/// An agent.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Agent")]
pub(super) struct AgentCard {
    agent_id: String,
    name: Option<String>,
    runtime: String,
    project_dir: String,
    project: String,
    terminal: String,
    joined_at: When,
    seen_at: When,
    state: AgentState,
    since: When,
    pinned: bool,
    archived: bool,
    standing: Option<String>,
    unread: u32,
    queued: u32,
    open: Vec<CueCard>,
    /// Questions that are out of service until somebody closes them.
    damaged: Vec<CueCard>,
    last: Option<CueCard>,
}

/// How a question wants to be answered.
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
pub(super) struct CueCard {
    pub(super) cue_id: String,
    seq: i64,
    pub(super) agent_id: String,
    #[schemars(with = "String")]
    kind: Kind,
    #[schemars(with = "String")]
    origin: Origin,
    #[serde(rename = "type")]
    asks: CueType,
    beginning: String,
    #[schemars(with = "String")]
    outcome: Outcome,
    #[schemars(with = "String")]
    delivery: Delivery,
    asked_at: When,
    waiting: u32,
    detached_at: Option<When>,
    decided_at: Option<When>,
    released_at: Option<When>,
    acknowledged_at: Option<When>,
    by: Option<String>,
    policy: Option<String>,
    /// Whether a queued answer answered it, before a human saw it.
    from_queue: bool,
    /// Whether the program that asked took it back: nobody closed it, and the agent is told nothing.
    withdrawn: bool,
    /// Whether its record is damaged on the disk; then it is out of service.
    damaged: bool,
    /// The same for every agent that asks this, word for word; absent where each question is answered by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
}

/// A question whole.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Cue {
    #[serde(flatten)]
    card: CueCard,
    prompt: Markup,
    payload: Option<PayloadShown>,
    /// Whether its agent works in a run that has not ended, which an answer can end.
    in_run: bool,
    /// What the human wrote or chose; the labels that the agent reads around it are left out.
    text: Option<Markup>,
    /// Notes that went above the answer.
    notes: Vec<String>,
    /// The standing instruction that went below the answer.
    standing: Option<String>,
    answer: Option<AnswerShown>,
    draft: Option<DraftShown>,
    /// The rule that leaves it to a human, after enough automatic answers in a row.
    stopped_policy: Option<StoppedPolicy>,
    /// What a human answered to a question like this one, in the same project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) precedent: Option<Precedent>,
    /// Images and patches of the project that an open question names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) files: Vec<FileShown>,
    /// Whether it names files, which each project has its own of: then the same words ask something else in another project.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    names_files: bool,
}

/// An earlier answer to a question like this one.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Precedent {
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
    /// Shows an earlier question with what may be answered again.
    pub(super) fn new(past: CueView, answer: Answer, is_same: bool) -> Self {
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

/// A rule that does not go on without a human.
#[derive(Debug, Serialize, JsonSchema)]
struct StoppedPolicy {
    name: String,
    in_a_row_max: u32,
}

/// A part of a text as HTML.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Markup {
    /// Sanitised.
    html: String,
    /// Of the whole source.
    bytes: usize,
    /// Of the whole source.
    lines: usize,
    /// Where the rest begins, if there is one.
    next: Option<usize>,
    /// How many lines the rest has, up to the end that is shown.
    folded: usize,
    /// The end of a long text, which is shown with its beginning.
    end: Option<End>,
    /// Whether marks of the source, such as `**`, are not in the text.
    hides_marks: bool,
}

/// The end of a text as HTML.
#[derive(Debug, Serialize, JsonSchema)]
struct End {
    /// Sanitised.
    html: String,
    /// Where it begins.
    from: usize,
}

/// How a text is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    Markdown,
    /// Every character as it is: what a human approves.
    Verbatim,
}

impl From<Origin> for Reading {
    fn from(origin: Origin) -> Self {
        if origin == Origin::Approval {
            Self::Verbatim
        } else {
            Self::Markdown
        }
    }
}

impl Reading {
    /// Returns what to render of a part: a code block that goes on is opened again only where it means something.
    fn source<'a>(self, part: &'a Part<'_>) -> &'a str {
        match self {
            Self::Markdown => &part.source,
            Self::Verbatim => part.written,
        }
    }

    fn render(self, source: &str) -> Rendered {
        match self {
            Self::Markdown => render(source),
            Self::Verbatim => verbatim(source),
        }
    }
}

/// A payload with every default filled.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
#[schemars(rename = "Payload")]
enum PayloadShown {
    Choice {
        options: Vec<String>,
        allow_multiple: bool,
    },
    Confirm {
        text: Option<String>,
        confirm_label: String,
        cancel_label: String,
        /// Plain words that mean the confirming button, in lower case.
        yes: &'static [&'static str],
        /// Plain words that mean the other button, in lower case.
        no: &'static [&'static str],
    },
    Form {
        fields: Vec<FieldShown>,
    },
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "FormField")]
struct FieldShown {
    label: String,
    kind: String,
    options: Vec<String>,
    allow_multiple: bool,
    required: bool,
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
pub(super) struct AttachmentShown {
    pub(super) path: String,
    pub(super) name: Option<String>,
    pub(super) media_type: Option<String>,
    pub(super) upload_id: Option<String>,
    pub(super) url: Option<String>,
    pub(super) bytes: Option<u64>,
}

/// A draft.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Draft")]
pub(super) struct DraftShown {
    rev: i64,
    body: serde_json::Value,
    by: Option<String>,
    at: When,
}

/// A message that waits for an agent.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Message")]
pub(super) struct MessageShown {
    message_id: String,
    text: String,
    /// `note` or `queued_answer`.
    #[schemars(with = "String", extend("enum" = ["note", "queued_answer"]))]
    purpose: Purpose,
    by: Option<String>,
    at: When,
}

impl AgentCard {
    /// Puts together what is known of an agent.
    pub(super) fn new(
        agent: AgentRow,
        open: Vec<CueCard>,
        damaged: Vec<CueCard>,
        last: Option<CueCard>,
        now: Timestamp,
    ) -> Self {
        let (state, since) = state_of(&agent, &open, last.as_ref(), now);
        let project = agent
            .project_dir
            .trim_end_matches('/')
            .rsplit('/')
            .next()
            .unwrap_or_default();
        Self {
            project: visible(project).into_owned(),
            agent_id: agent.agent_id.into(),
            name: agent.name,
            runtime: agent.runtime.into(),
            project_dir: visible(&agent.project_dir).into_owned(),
            terminal: visible(&agent.terminal).into_owned(),
            joined_at: agent.joined_at.into(),
            seen_at: agent.seen_at.into(),
            state,
            since,
            pinned: agent.pinned,
            archived: agent.archived,
            standing: agent.standing,
            unread: agent.unread,
            queued: agent.queued,
            open,
            damaged,
            last,
        }
    }
}

/// What an agent is doing, and since when.
fn state_of(
    agent: &AgentRow,
    open: &[CueCard],
    last: Option<&CueCard>,
    now: Timestamp,
) -> (AgentState, When) {
    let asked: Vec<&CueCard> = open.iter().filter(|cue| cue.outcome == Outcome::Open).collect();
    if let Some(longest) = asked
        .iter()
        .filter(|cue| cue.waiting > 0)
        .map(|cue| cue.asked_at)
        .min()
    {
        return (AgentState::Waiting, longest);
    }
    if let Some(longest) = asked
        .iter()
        .map(|cue| cue.detached_at.unwrap_or(cue.asked_at))
        .min()
    {
        return (AgentState::Detached, longest);
    }
    let sign = [
        Some(agent.seen_at.into()),
        last.and_then(|cue| cue.acknowledged_at),
    ]
    .into_iter()
    .flatten()
    .max()
    .unwrap_or(When(agent.seen_at));
    if let Some(ended_at) = agent.ended_at.filter(|ended_at| *ended_at >= sign.0) {
        return (AgentState::Quiet, ended_at.into());
    }
    if now.millis_since(sign.0) < WORKING_MS {
        (AgentState::Working, sign)
    } else {
        (AgentState::Quiet, sign)
    }
}

impl CueCard {
    /// Shows a question in short, with who listens.
    pub(super) fn new(cue: CueRow, presence: &Presence) -> Self {
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

/// Names what a question asks, where one answer may serve several agents: what a human approves is approved one by one.
fn shared_content(cue: &CueRow) -> Option<String> {
    let is_shared = cue.outcome == Outcome::Open
        && cue.kind == Kind::Cue
        && cue.origin != Origin::Approval
        && !cue.damaged;
    let content = cue.content.filter(|_| is_shared)?;
    Some(content.0.iter().map(|byte| format!("{byte:02x}")).collect())
}

impl Cue {
    /// Shows a question whole, its texts cut at `bytes_max`.
    pub(super) fn new(
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

/// Returns what the human wrote of a text, with what stood around it. Long texts are read by offset, and so stay whole.
fn own_words<'a>(
    text: &'a str,
    outcome: Outcome,
    answer: Option<&Answer>,
    bytes_max: usize,
) -> (&'a str, TextParts<'a>) {
    let mut parts = text_parts(text);
    if text.len() > bytes_max {
        parts = TextParts {
            notes: Vec::new(),
            answer: text,
            standing: None,
        };
    }
    let mut words = parts.answer;
    if outcome == Outcome::Declined {
        words = words.strip_prefix("declined: ").unwrap_or(words);
    }
    if answer.is_some_and(|answer| !answer.attachments.is_empty())
        && let Some(at) = words.rfind("attachments:\n/")
    {
        words = words[..at].trim_end();
    }
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

impl Markup {
    /// Renders the beginning and the end of a text.
    pub(super) fn folded(text: &str, reading: Reading, bytes_max: usize) -> Self {
        if text.len() <= bytes_max {
            return Self::part(text, reading, 0..text.len(), bytes_max);
        }
        let from = end(text, bytes_max / 4);
        let mut markup = Self::part(text, reading, 0..from, bytes_max - bytes_max / 4);
        if markup.next.is_none() {
            return Self::part(text, reading, 0..text.len(), text.len());
        }
        let rendered = reading.render(reading.source(&part(text, from, text.len())));
        markup.hides_marks |= rendered.hides_marks;
        markup.end = Some(End {
            html: rendered.html,
            from,
        });
        markup
    }

    /// Renders the part of a text that begins where a range does, and ends with it at the latest.
    pub(super) fn part(text: &str, reading: Reading, range: Range<usize>, bytes_max: usize) -> Self {
        let within = text.get(..range.end).unwrap_or(text);
        let part = part(within, range.start, bytes_max);
        let rendered = reading.render(reading.source(&part));
        Self {
            html: rendered.html,
            bytes: text.len(),
            lines: text.lines().count(),
            next: part.next,
            folded: part.next.map_or(0, |next| within[next..].lines().count()),
            end: None,
            hides_marks: rendered.hides_marks,
        }
    }
}

impl From<Shape> for PayloadShown {
    fn from(shape: Shape) -> Self {
        match shape {
            Shape::Choice(choice) => Self::Choice {
                options: choice.options,
                allow_multiple: choice.allow_multiple,
            },
            Shape::Confirm(confirm) => Self::Confirm {
                text: confirm.text,
                confirm_label: confirm.confirm_label,
                cancel_label: confirm.cancel_label,
                yes: &YES,
                no: &NO,
            },
            Shape::Form(form) => Self::Form {
                fields: form
                    .fields
                    .into_iter()
                    .map(|field| FieldShown {
                        kind: known_kind(field.kind.name()).to_owned(),
                        label: field.label,
                        options: field.options,
                        allow_multiple: field.allow_multiple,
                        required: field.required,
                    })
                    .collect(),
            },
        }
    }
}

/// A kind that this version does not know is filled in as text.
fn known_kind(name: &str) -> &str {
    match name {
        "textarea" | "number" | "boolean" | "password" | "date" => name,
        _ => "text",
    }
}

impl From<Draft> for DraftShown {
    fn from(draft: Draft) -> Self {
        Self {
            rev: draft.rev,
            // What was stored was JSON; should it not be, the page starts with nothing.
            body: serde_json::from_str(&draft.body).unwrap_or_default(),
            by: draft.by,
            at: draft.at.into(),
        }
    }
}

impl From<MessageRow> for MessageShown {
    fn from(message: MessageRow) -> Self {
        Self {
            message_id: message.request.to_string(),
            text: message.text,
            purpose: message.purpose,
            by: message.by,
            at: message.at.into(),
        }
    }
}
