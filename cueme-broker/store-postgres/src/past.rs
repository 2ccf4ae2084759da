//! Writes records of another program: settled from the start, and ordered before all questions asked here.

use cueme_rules::PastCue;
use cueme_store::{Code, PastDecision, StoreError, answer_json, place_of_past};
use protocol_spec::id::CueId;
use protocol_spec::message::PastAgent;
use protocol_spec::outcome::{Delivery, Origin};

use crate::changes::content_bytes;
use crate::statements::params;
use crate::store::PostgresStore;

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
        let seq = place_of_past(past.asked_at, |seq| {
            self.exists("SELECT 1 FROM cues WHERE seq = $1", params![seq])
        })?;
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
        let decision = PastDecision::of(past);
        self.set_outcome(cue, decision.outcome, false)?;
        self.claim_uploads(cue, decision.answer)?;
        let at = past.ended_at.as_millis();
        self.run(
            "UPDATE cues SET handed_at = $2, acknowledged_at = $2 WHERE cue_id = $1",
            params![cue.as_str(), at],
        )?;
        self.run(
            "WITH decision AS (INSERT INTO decisions (seq, request_id, text, answer, decided_at)
                 SELECT seq, $2, $3, $4, $5 FROM cues WHERE cue_id = $1 RETURNING seq)
             INSERT INTO unindexed (seq, side) SELECT seq, 1 FROM decision ON CONFLICT DO NOTHING",
            params![
                cue.as_str(),
                decision.request.0,
                &*decision.text,
                answer_json(decision.answer)?.as_deref(),
                at
            ],
        )
    }
}
