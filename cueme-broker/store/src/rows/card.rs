//! Agents and questions as the inbox shows them.

use cueme_rules::{ContentKey, beginning_of};
use protocol_spec::outcome::Outcome;

use super::{Columns, RowFault, is_whole};
use crate::{AgentRow, CueRow};

mod agent {
    use super::{AgentRow, Columns};

    columns! {
        AGENT_ID, RUNTIME, PROJECT_DIR, TERMINAL, NAME, JOINED_AT, SEEN_AT, PINNED, ARCHIVED,
        STANDING, QUEUED, UNREAD, ENDED_AT
    }

    /// Reads an agent as the inbox shows it.
    pub fn agent_row<R: Columns>(row: &R) -> Result<AgentRow, R::Fault> {
        Ok(AgentRow {
            agent_id: row.id(AGENT_ID)?,
            runtime: row.id(RUNTIME)?,
            project_dir: row.text(PROJECT_DIR)?,
            terminal: row.text(TERMINAL)?,
            name: row.maybe_text(NAME)?,
            joined_at: row.time(JOINED_AT)?,
            seen_at: row.time(SEEN_AT)?,
            pinned: row.flag(PINNED)?,
            archived: row.flag(ARCHIVED)?,
            standing: row.maybe_text(STANDING)?,
            queued: row.count(QUEUED)?,
            unread: row.count(UNREAD)?,
            ended_at: row.maybe_time(ENDED_AT)?,
        })
    }
}

pub use agent::agent_row;

columns! {
    CUE_ID, SEQ, AGENT_ID, KIND, ORIGIN, BEGINNING, PAYLOAD, OUTCOME, DELIVERY, ASKED_AT, DECIDED_AT,
    RELEASED_AT, ACKNOWLEDGED_AT, DECIDED_BY, FROM_QUEUE, SEAL, TEXT, REMINDER, ANSWER, CONTENT
}

/// The type of a question's payload, which a store reads in its own way.
#[derive(Debug, Default)]
pub struct PayloadType {
    /// Its name, if there is a payload.
    pub name: Option<String>,
    /// Whether the payload can be read, if there is one.
    pub is_whole: bool,
}

/// Reads a question as the inbox shows it; `payload` reads the type from its column.
pub fn cue_row<R: Columns>(
    row: &R,
    payload: impl FnOnce(&R, usize) -> Result<PayloadType, R::Fault>,
) -> Result<CueRow, R::Fault> {
    let payload = payload(row, PAYLOAD)?;
    let (beginning, is_beginning_whole) = row.lossy_text(BEGINNING)?;
    let outcome: Outcome = row.code(OUTCOME)?;
    let by = match row.maybe_text(DECIDED_BY) {
        Err(fault) if !fault.is_of_one_value() => return Err(fault),
        by => by.ok(),
    };
    let is_question_whole = is_beginning_whole && payload.is_whole;
    let is_decision_whole = by.is_some() && is_whole(row, OUTCOME, SEAL);
    Ok(CueRow {
        damaged: (outcome.is_answerable() && !is_question_whole) || !is_decision_whole,
        cue_id: row.id(CUE_ID)?,
        seq: row.number(SEQ)?,
        agent_id: row.id(AGENT_ID)?,
        kind: row.code(KIND)?,
        origin: row.code(ORIGIN)?,
        beginning: beginning_of(&beginning),
        payload_type: payload.name,
        outcome,
        delivery: row.code(DELIVERY)?,
        asked_at: row.time(ASKED_AT)?,
        decided_at: row.maybe_time(DECIDED_AT)?,
        released_at: row.maybe_time(RELEASED_AT)?,
        acknowledged_at: row.maybe_time(ACKNOWLEDGED_AT)?,
        by: by.flatten(),
        from_queue: row.flag(FROM_QUEUE)?,
        content: row.hash(CONTENT).ok().map(ContentKey),
    })
}
