//! Writes records of another program: settled from the start, and ordered before all questions asked here.

use std::sync::Arc;

use cueme_rules::{LEFT_OPEN, PastCue, PastEnd, past_text};
use cueme_store::{Code, StoreError, answer_json};
use protocol_spec::id::CueId;
use protocol_spec::message::PastAgent;
use protocol_spec::outcome::{Delivery, Origin, Outcome};
use protocol_spec::time::Timestamp;

use crate::changes::content_bytes;
use crate::statements::params;
use crate::store::PostgresStore;

/// The offset between an imported question's time and its sequence number: far below zero, in the order of time, and
/// within the integers that a browser represents exactly.
const BEFORE_OURS: i64 = 4_000_000_000_000_000;
/// The earliest and latest times that keep their order with it: the years 0 and 9999.
const TIMES: std::ops::RangeInclusive<i64> = -62_167_219_200_000..=253_402_300_799_999;

impl PostgresStore {
    pub(crate) fn import_agent(&self, agent: &PastAgent) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO agents (agent_id, runtime, project_dir, terminal, name, joined_at, seen_at, revision)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            params![
                agent.agent_id.as_str(),
                agent.runtime.as_str(),
                &agent.project_dir,
                &agent.terminal,
                &agent.name,
                agent.joined_at.as_millis(),
                agent.seen_at.as_millis(),
                self.next_revision(),
            ],
        )
    }

    pub(crate) fn import_cue(&self, past: &PastCue) -> Result<(), StoreError> {
        self.look_ups.borrow_mut().note_request(past.request, past.cue);
        let seq = self.place_of(past.asked_at)?;
        self.run(
            "WITH cue AS (INSERT INTO cues (seq, cue_id, agent_id, kind, origin, content, asked_at, delivery)
                     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)),
                 question AS (INSERT INTO questions (seq, prompt, payload) VALUES ($1, $9, $10)),
                 request AS (INSERT INTO requests (request_id, seq) VALUES ($11, $1))
             INSERT INTO unindexed (seq, side) VALUES ($1, 0)",
            params![
                seq,
                past.cue.as_str(),
                past.agent.as_str(),
                past.kind.number(),
                Origin::Import.number(),
                content_bytes(past.content),
                past.asked_at.as_millis(),
                Delivery::Acknowledged.number(),
                &*past.prompt,
                past.payload.as_deref(),
                past.request.0,
            ],
        )?;
        self.write_end(past.cue, past)
    }

    /// Replaces the outcome of a question that was imported without one.
    pub(crate) fn end_past(&self, cue: CueId, past: &PastCue) -> Result<(), StoreError> {
        self.run(
            "DELETE FROM decisions WHERE seq = (SELECT seq FROM cues WHERE cue_id = $1)",
            params![cue.as_str()],
        )?;
        self.write_end(cue, past)
    }

    fn write_end(&self, cue: CueId, past: &PastCue) -> Result<(), StoreError> {
        let (outcome, key, answer) = match &past.end {
            PastEnd::Answered { answer, .. } => (Outcome::Answered, past.request, Some(Arc::as_ref(answer))),
            PastEnd::Closed { .. } => (Outcome::Cancelled, past.request, None),
            PastEnd::LeftOpen => (Outcome::Cancelled, LEFT_OPEN, None),
        };
        self.set_outcome(cue, outcome, false)?;
        self.claim_uploads(cue, answer)?;
        let at = past.ended_at.as_millis();
        let text = past_text(&past.end);
        self.run(
            "UPDATE cues SET handed_at = $2, acknowledged_at = $2 WHERE cue_id = $1",
            params![cue.as_str(), at],
        )?;
        self.run(
            "WITH decision AS (INSERT INTO decisions (seq, request_id, text, answer, decided_at)
                 SELECT seq, $2, $3, $4, $5 FROM cues WHERE cue_id = $1 RETURNING seq)
             INSERT INTO unindexed (seq, side) SELECT seq, 1 FROM decision ON CONFLICT DO NOTHING",
            params![cue.as_str(), key.0, &*text, answer_json(answer)?.as_deref(), at],
        )
    }

    /// Returns a free sequence number for a question asked at this time.
    fn place_of(&self, asked_at: Timestamp) -> Result<i64, StoreError> {
        let mut seq = asked_at.as_millis().clamp(*TIMES.start(), *TIMES.end()) - BEFORE_OURS;
        while self.exists("SELECT 1 FROM cues WHERE seq = $1", params![seq])? {
            seq += 1;
        }
        Ok(seq)
    }
}
