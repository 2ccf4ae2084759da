//! Questions and events as humans read them.

use protocol_spec::answer::Answer;
use protocol_spec::message::{CueView, EventView};
use protocol_spec::outcome::Outcome;
use protocol_spec::time::Timestamp;
use serde_json::value::RawValue;

use super::{Columns, RowFault, is_whole};
use crate::parse_answer;

columns! {
    CUE_ID, SEQ, AGENT_ID, RUNTIME, PROJECT_DIR, KIND, ORIGIN, PROMPT, PAYLOAD, OUTCOME, DELIVERY,
    ASKED_AT, DECIDED_AT, RELEASED_AT, ACKNOWLEDGED_AT, DECIDED_BY, SHOWN_TEXT, SHOWN_ANSWER,
    FROM_QUEUE, SEAL, TEXT, REMINDER, ANSWER, IN_RUN
}

/// The decision about a question, as it is shown.
#[derive(Debug, Default)]
struct DecisionView {
    decided_at: Option<Timestamp>,
    released_at: Option<Timestamp>,
    by: Option<String>,
    from_queue: bool,
    text: Option<String>,
    answer: Option<Answer>,
}

/// Reads a question as it is shown. A decision that cannot be read, or has a wrong checksum, is left out.
///
/// A damaged question does not hide the others: it is shown as far as it can be read, and marked as damaged.
pub fn cue_view<R: Columns>(row: &R) -> Result<CueView, R::Fault> {
    let decision = if is_whole(row, OUTCOME, SEAL) {
        match decision_view(row) {
            Ok(decision) => Some(decision),
            Err(fault) if fault.is_of_one_value() => None,
            Err(fault) => return Err(fault),
        }
    } else {
        None
    };
    let (prompt, is_prompt_whole) = row.lossy_text(PROMPT)?;
    let payload = match row.maybe_text(PAYLOAD) {
        Err(fault) if !fault.is_of_one_value() => return Err(fault),
        payload => payload.ok(),
    };
    let payload = payload.and_then(|payload| payload.map(RawValue::from_string).transpose().ok());
    let outcome: Outcome = row.code(OUTCOME)?;
    let is_question_whole = is_prompt_whole && payload.is_some();
    let damaged = decision.is_none() || (outcome.is_answerable() && !is_question_whole);
    let decision = decision.unwrap_or_default();
    Ok(CueView {
        cue_id: row.id(CUE_ID)?,
        seq: row.number(SEQ)?,
        agent_id: row.id(AGENT_ID)?,
        agent_runtime: row.id(RUNTIME)?,
        project_dir: row.text(PROJECT_DIR)?,
        kind: row.code(KIND)?,
        origin: row.code(ORIGIN)?,
        prompt,
        payload: payload.flatten(),
        outcome,
        delivery: row.code(DELIVERY)?,
        asked_at: row.time(ASKED_AT)?,
        waiting: 0,
        detached_at: None,
        decided_at: decision.decided_at,
        released_at: decision.released_at,
        acknowledged_at: row.maybe_time(ACKNOWLEDGED_AT)?,
        by: decision.by,
        from_queue: decision.from_queue,
        damaged,
        in_run: row.flag(IN_RUN)?,
        text: decision.text,
        answer: decision.answer,
        ends_run: false,
    })
}

fn decision_view<R: Columns>(row: &R) -> Result<DecisionView, R::Fault> {
    let answer = parse_answer(row.maybe_text(SHOWN_ANSWER)?.as_deref())?;
    Ok(DecisionView {
        decided_at: row.maybe_time(DECIDED_AT)?,
        released_at: row.maybe_time(RELEASED_AT)?,
        by: row.maybe_text(DECIDED_BY)?,
        from_queue: row.flag(FROM_QUEUE)?,
        text: row.maybe_text(SHOWN_TEXT)?,
        answer: answer.map(|answer| (*answer).clone()),
    })
}

pub use event::event;

mod event {
    use super::{Columns, EventView};

    columns! {
        ID, AT, WHAT, AGENT_ID, CUE_ID
    }

    /// Reads an event.
    pub fn event<R: Columns>(row: &R) -> Result<EventView, R::Fault> {
        Ok(EventView {
            id: Some(row.number(ID)?),
            at: row.time(AT)?,
            what: row.code(WHAT)?,
            agent_id: row.id(AGENT_ID)?,
            cue_id: row.maybe_id(CUE_ID)?,
        })
    }
}
