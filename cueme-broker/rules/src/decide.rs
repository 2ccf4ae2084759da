//! The rules for deciding a question (answer, decline, cancel), and for undoing a decision.

use std::sync::Arc;

use protocol_spec::id::CueId;
use protocol_spec::message::{
    CONTENT_BYTES_MAX, Decided, ErrorCode, EventKind, Failure, LINE_BYTES_PER_BYTE_MAX, Reply, Undone,
    line_bytes,
};
use protocol_spec::outcome::{Origin, Outcome};
use protocol_spec::time::Timestamp;

use super::agent::{Agent, Message};
use super::cue::{Decision, State};
use super::effect::Change;
use super::input::{Decide, Ticket, Verdict};
use super::machine::Present;
use super::outbox::Outbox;
use super::text::{cancelled, refusal};
use super::{ANSWER_LINE_BYTES_MAX, HOLD_MS_MAX, compose, with_standing, worded_notes};

impl Agent {
    /// Decides a question exactly once. The same decision sent again is confirmed, another one is refused.
    pub(super) fn decide(&mut self, now: Present, decide: Decide, out: &mut Outbox) {
        let (ticket, id) = (decide.ticket, decide.cue);
        let Some(cue) = self.cue(id) else { return };
        match cue.state.decision() {
            None => {
                if let Some(failure) = too_long(&decide.verdict) {
                    return out.refuse(ticket, failure);
                }
                self.decide_now(now, decide, out);
                self.confirm(ticket, id, out);
            }
            Some(made) if made.request == decide.request => self.confirm(ticket, id, out),
            Some(made) => out.refuse(ticket, already_decided(id, made)),
        }
    }

    /// Decides an undecided question, without a reply to the caller.
    pub(super) fn decide_now(&mut self, now: Present, decide: Decide, out: &mut Outbox) {
        let Decide {
            ticket: _,
            request,
            cue: id,
            verdict,
            by,
            hold_ms,
            reminder,
        } = decide;
        let Some(cue) = self.cue(id) else { return };
        let (origin, asked_at) = (cue.origin, cue.asked_at);
        // A cancelled question tells the agent nothing. The answer to an approval goes to the runtime, which shows no
        // text when it may go on. Notes keep waiting for an answer that the agent reads.
        let taken = match &verdict {
            Verdict::Answer { .. } | Verdict::Decline { .. } if origin != Origin::Approval => {
                self.take_notes()
            }
            Verdict::Answer { .. } | Verdict::Decline { .. } | Verdict::Cancel { .. } => Vec::new(),
        };
        let worded = Worded::from(verdict, &taken, asked_at, self.standing.as_deref());
        let hold_ms = hold_ms.min(HOLD_MS_MAX);
        let released_at =
            (hold_ms > 0).then(|| Timestamp::from_millis(now.wall.as_millis() + hold_ms.cast_signed()));
        let decision = Decision {
            request,
            outcome: worded.outcome,
            text: Arc::clone(&worded.text),
            reminder: reminder.clone().filter(|_| worded.wants_reminder()),
            answer: worded.answer.clone(),
            redacted: worded.redacted.clone(),
            by: by.clone(),
            decided_at: now.wall,
        };
        out.store(Change::Decide {
            cue: id,
            outcome: worded.outcome,
            request,
            text: worded.text,
            reminder: decision.reminder.clone(),
            answer: worded.answer,
            redacted: worded.redacted,
            by,
            released_at,
            from_queue: false,
        });
        if !taken.is_empty() {
            let messages = taken.iter().map(|message| message.request).collect();
            out.store(Change::TakeMessages { messages, cue: id });
        }
        out.log(worded.event, &self.id, Some(id));
        let Some(cue) = self.cue_mut(id) else { return };
        match released_at {
            Some(released_at) => {
                let until = now.steady + hold_ms;
                cue.state = State::Held {
                    decision,
                    until,
                    released_at,
                    taken,
                };
            }
            None => {
                cue.state = State::Decided {
                    decision,
                    handed_at: None,
                };
                out.released.push(id);
            }
        }
    }

    fn confirm(&self, ticket: Ticket, id: CueId, out: &mut Outbox) {
        let Some(cue) = self.cue(id) else { return };
        let Some(decision) = cue.state.decision() else {
            return;
        };
        let released_at = match &cue.state {
            State::Held { released_at, .. } => Some(*released_at),
            State::Open | State::Superseded | State::Decided { .. } | State::Settled { .. } => None,
        };
        let decided = Decided {
            cue_id: id,
            agent_id: cue.agent.clone(),
            outcome: decision.outcome,
            handed_to: cue.waiting(),
            released_at,
        };
        out.reply(ticket, Reply::Decided(decided));
    }

    /// Undoes a decision that was not released; its messages wait again.
    pub(super) fn undo(&mut self, now: Present, ticket: Ticket, id: CueId, out: &mut Outbox) {
        let Some(cue) = self.cue_mut(id) else { return };
        let State::Held { decision, taken, .. } = &mut cue.state else {
            let failure = Failure::new(ErrorCode::AlreadyReleased, "there is no answer to take back")
                .with_hint("the agent has it already; `cueme say` leaves it a message");
            return out.refuse(ticket, failure);
        };
        let erase = decision.has_secrets();
        let answer = decision
            .draft()
            .filter(|answer| answer.line_bytes() <= CONTENT_BYTES_MAX);
        let taken = std::mem::take(taken);
        cue.state = State::Open;
        if cue.waiting() == 0 {
            let since = cue.detached.map_or(now.wall, |(_, since)| since);
            cue.detached = Some((now.steady, since));
        }
        out.store(Change::Reopen {
            cue: id,
            outcome: Outcome::Open,
            erase,
        });
        if !taken.is_empty() {
            out.store(Change::ReturnMessages { cue: id });
        }
        out.log(EventKind::Reopened, &self.id, Some(id));
        let is_mixed = !taken.is_empty() && !self.messages.is_empty();
        self.messages.splice(0..0, taken);
        if is_mixed {
            // In the store they return to their old places, which need not be before the waiting messages.
            let messages = self.messages.iter().map(|message| message.request).collect();
            out.store(Change::ReorderMessages { messages });
        }
        let reply = Reply::Undone(Undone { cue_id: id, answer });
        out.reply(ticket, reply);
    }
}

/// Renders a verdict in the words that the agent reads.
struct Worded {
    outcome: Outcome,
    event: EventKind,
    text: Arc<str>,
    answer: Option<Arc<protocol_spec::answer::Answer>>,
    redacted: Option<Arc<(String, protocol_spec::answer::Answer)>>,
}

impl Worded {
    /// An agent whose question was closed, or whose run ends, gets no reminder to ask again.
    fn wants_reminder(&self) -> bool {
        let ends_run = self.answer.as_ref().is_some_and(|answer| answer.ends_run);
        self.outcome != Outcome::Cancelled && !ends_run
    }

    fn from(verdict: Verdict, notes: &[Message], asked_at: Timestamp, standing: Option<&str>) -> Self {
        let whole = |text: &str| with_standing(compose(notes, asked_at, text), standing);
        match verdict {
            Verdict::Answer {
                text,
                answer,
                redacted,
            } => Self {
                outcome: Outcome::Answered,
                event: EventKind::Answered,
                text: whole(&text).into(),
                answer: Some(Arc::new(answer)),
                redacted: redacted.map(|(text, answer)| Arc::new((whole(&text), answer))),
            },
            Verdict::Decline { reason } => Self {
                outcome: Outcome::Declined,
                event: EventKind::Declined,
                text: declined(reason.as_deref(), notes, asked_at).into(),
                answer: None,
                redacted: None,
            },
            Verdict::Cancel { reason } => Self {
                outcome: Outcome::Cancelled,
                event: EventKind::Cancelled,
                text: cancelled(reason.as_deref()).into(),
                answer: None,
                redacted: None,
            },
        }
    }
}

/// A refusal comes first, so that an agent that reads only one line reads it.
fn declined(reason: Option<&str>, notes: &[Message], asked_at: Timestamp) -> String {
    let line = refusal(reason);
    if notes.is_empty() {
        line
    } else {
        format!("{line}\n\n{}", worded_notes(notes, asked_at))
    }
}

/// An answer whose letters have to be escaped takes more of a line than it has bytes.
fn too_long(verdict: &Verdict) -> Option<Failure> {
    let text = match verdict {
        Verdict::Answer { text, .. } => Some(text),
        Verdict::Decline { reason } | Verdict::Cancel { reason } => reason.as_ref(),
    }?;
    if text.len() * LINE_BYTES_PER_BYTE_MAX <= ANSWER_LINE_BYTES_MAX {
        return None;
    }
    let bytes = line_bytes(text);
    (bytes > ANSWER_LINE_BYTES_MAX).then(|| {
        let message =
            format!("the answer takes {bytes} bytes of a line, at most {ANSWER_LINE_BYTES_MAX} are allowed");
        Failure::new(ErrorCode::TooLarge, message).with_hint("write it to a file and attach that")
    })
}

fn already_decided(id: CueId, made: &Decision) -> Failure {
    let by = made
        .by
        .as_deref()
        .map(|by| format!(" by {by}"))
        .unwrap_or_default();
    let word = match made.outcome {
        Outcome::Declined => "declined",
        Outcome::Cancelled => "cancelled",
        Outcome::Open | Outcome::Answered | Outcome::Superseded => "answered",
    };
    let shown = if made.has_secrets() {
        String::new()
    } else {
        format!(": {}", super::beginning_of(&made.text))
    };
    Failure::new(
        ErrorCode::AlreadyDecided,
        format!("question {id} was {word}{by} at {}{shown}", made.decided_at),
    )
    .with_hint(format!(
        "`cueme show {id}` shows it; `cueme say` leaves the agent a message"
    ))
}
