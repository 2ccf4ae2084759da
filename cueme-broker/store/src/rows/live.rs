//! Live agents and questions, as the rules keep them in memory.

use std::sync::Arc;

use cueme_rules::{ContentKey, Cue, Decision, HOLD_MS_MAX, Machine, Now, Rounds, State, beginning_of};
use protocol_spec::answer::Answer;
use protocol_spec::id::{AgentId, CueId};
use protocol_spec::outcome::{Delivery, Outcome};

use super::seal::SealColumns;
use super::{Columns, RowFault};
use crate::{Remembered, StoreError, parse_answer};

columns! {
    SEQ, CUE_ID, AGENT_ID, KIND, CONTENT, OUTCOME, DELIVERY, HANDED_AT, BEGINNING, HAS_PAYLOAD,
    ASKED_AT, REQUEST, TEXT, REMINDER, ANSWER, REDACTED_ANSWER, DECIDED_BY, DECIDED_AT, RELEASED_AT,
    ORIGIN, SEAL, REDACTED_TEXT, DETACHED_AT
}

/// Reads a question; an invalid value in its row affects that question alone.
///
/// `elsewhere` is the number of clients that wait for it at other brokers. The messages in the decision of a question
/// that is held are left to the store.
pub fn live_question<R: Columns>(row: &R, now: Now, elsewhere: u32) -> Result<Remembered, R::Fault> {
    let id: CueId = row.id(CUE_ID)?;
    let damaged = |what| {
        R::Fault::from(StoreError::DamagedQuestion {
            cue: id.to_string(),
            what,
        })
    };
    match read(row, now, elsewhere, id) {
        Ok(Some(cue)) => Ok(Remembered { id, cue }),
        Ok(None) => Err(damaged("what was decided is not what was written".into())),
        Err(fault) if fault.is_of_one_value() => Err(damaged(fault.into().to_string())),
        Err(fault) => Err(fault),
    }
}

/// Reads a question; `None` if its decision does not match its checksum.
fn read<R: Columns>(row: &R, now: Now, elsewhere: u32, id: CueId) -> Result<Option<Cue>, R::Fault> {
    let beginning = row.text(BEGINNING)?;
    let sealed = SealColumns {
        outcome: OUTCOME,
        seal: SEAL,
        text: TEXT,
        reminder: REMINDER,
        answer: ANSWER,
    };
    if sealed.matches(row, id)? == Some(false) {
        return Ok(None);
    }
    let detached_at = row.maybe_time(DETACHED_AT)?;
    Ok(Some(Cue {
        agent: row.id(AGENT_ID)?,
        kind: row.code(KIND)?,
        origin: row.code(ORIGIN)?,
        has_payload: row.flag(HAS_PAYLOAD)?,
        content: ContentKey(row.hash(CONTENT)?),
        question: beginning_of(&beginning).into(),
        ordinal: ordinal(row.number(SEQ)?),
        asked_at: row.time(ASKED_AT)?,
        state: state(row, now)?,
        here: 0,
        elsewhere,
        detached: (elsewhere == 0).then_some((now.steady, detached_at.unwrap_or(now.wall))),
        rounds: Rounds::default(),
    }))
}

fn state<R: Columns>(row: &R, now: Now) -> Result<State, R::Fault> {
    let outcome: Outcome = row.code(OUTCOME)?;
    match outcome {
        Outcome::Open => return Ok(State::Open),
        Outcome::Superseded => return Ok(State::Superseded),
        Outcome::Answered | Outcome::Declined | Outcome::Cancelled => {}
    }
    let decision = Decision {
        request: row.request(REQUEST)?,
        outcome,
        text: row.text(TEXT)?.into(),
        reminder: row.maybe_text(REMINDER)?.map(Arc::from),
        answer: parse_answer(row.maybe_text(ANSWER)?.as_deref())?,
        redacted: redacted(row)?,
        by: row.maybe_text(DECIDED_BY)?,
        decided_at: row.time(DECIDED_AT)?,
    };
    let handed_at = row.maybe_time(HANDED_AT)?;
    let released_at = row.maybe_time(RELEASED_AT)?;
    Ok(match (row.code(DELIVERY)?, released_at) {
        (Delivery::Acknowledged, _) => State::Settled {
            handed_at: handed_at.unwrap_or(decision.decided_at),
            decision,
        },
        (Delivery::None | Delivery::Handed, Some(released_at)) => State::Held {
            decision,
            // After the clock was set back, it must not be held longer than the longest hold.
            until: now
                .steady
                .saturating_add(released_at.millis_since(now.wall).min(HOLD_MS_MAX)),
            released_at,
            taken: Vec::new(),
        },
        (Delivery::None | Delivery::Handed, None) => State::Decided { decision, handed_at },
    })
}

/// Returns text and answer without their secrets, where they hold any that were not erased.
fn redacted<R: Columns>(row: &R) -> Result<Option<Arc<(String, Answer)>>, R::Fault> {
    let Some(text) = row.maybe_text(REDACTED_TEXT)? else {
        return Ok(None);
    };
    let answer = parse_answer(row.maybe_text(REDACTED_ANSWER)?.as_deref())?;
    Ok(Some(Arc::new((
        text,
        answer.map(|answer| Answer::clone(&answer)).unwrap_or_default(),
    ))))
}

/// Returns a question's ordinal among its agent's questions; imported ones come before all others.
fn ordinal(seq: i64) -> u64 {
    u64::try_from(seq).unwrap_or(0)
}

pub use agent::live_agent;

mod agent {
    use super::{AgentId, Arc, Columns, Machine, ordinal};

    columns! {
        AGENT_ID, RUNTIME, NEWEST_SEQ, ARCHIVED, STANDING
    }

    /// Reads an agent into the machine.
    pub fn live_agent<R: Columns>(row: &R, machine: &mut Machine) -> Result<(), R::Fault> {
        let agent: AgentId = row.id(AGENT_ID)?;
        let newest = row.maybe_number(NEWEST_SEQ)?.unwrap_or(0);
        machine.remember_agent(agent.clone(), row.id(RUNTIME)?, ordinal(newest));
        machine.remember_wishes(
            &agent,
            row.flag(ARCHIVED)?,
            row.maybe_text(STANDING)?.map(Arc::from),
        );
        Ok(())
    }
}
