//! Writes records of another program: settled from the start, and ordered before all questions asked here.

use cueme_store::{Code, PastDecision, StoreError, answer_json, place_of_past};
use protocol_spec::id::CueId;
use protocol_spec::message::PastAgent;
use protocol_spec::outcome::{Delivery, Origin};
use rusqlite::params;

use super::SqliteStore;
use cueme_rules::PastCue;

impl SqliteStore {
    pub(super) fn import_agent(&self, agent: &PastAgent) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO agents (agent_id, runtime, project_dir, terminal, name, joined_at, seen_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                agent.agent_id.as_str(),
                agent.runtime.as_str(),
                agent.project_dir,
                agent.terminal,
                agent.name,
                agent.joined_at.as_millis(),
                agent.seen_at.as_millis(),
            ],
        )
    }

    pub(super) fn import_cue(&self, past: &PastCue) -> Result<(), StoreError> {
        let seq = place_of_past(past.asked_at, |seq| {
            self.exists("SELECT 1 FROM cues WHERE seq = ?1", params![seq])
        })?;
        self.run(
            "INSERT INTO cues (seq, cue_id, agent_id, kind, origin, content, asked_at, delivery)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            params![
                seq,
                past.cue.as_str(),
                past.agent.as_str(),
                past.kind.number(),
                Origin::Import.number(),
                past.content.0,
                past.asked_at.as_millis(),
                Delivery::Acknowledged.number(),
            ],
        )?;
        self.run(
            "INSERT INTO questions (seq, prompt, payload) VALUES (?1, ?2, ?3)",
            params![seq, &*past.prompt, past.payload.as_deref()],
        )?;
        self.run(
            "INSERT INTO requests (request_id, seq) VALUES (?1, ?2)",
            params![past.request.0.as_bytes(), seq],
        )?;
        self.index_question(seq, &past.prompt, past.payload.as_deref())?;
        self.write_end(past.cue, past)
    }

    /// Replaces the outcome of a question that was imported without one.
    pub(super) fn end_past(&self, cue: CueId, past: &PastCue) -> Result<(), StoreError> {
        self.run(
            "DELETE FROM decisions WHERE seq = (SELECT seq FROM cues WHERE cue_id = ?1)",
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
            "UPDATE cues SET handed_at = ?2, acknowledged_at = ?2 WHERE cue_id = ?1",
            params![cue.as_str(), at],
        )?;
        self.run(
            "INSERT INTO decisions (seq, request_id, text, answer, decided_at)
             VALUES ((SELECT seq FROM cues WHERE cue_id = ?1), ?2, ?3, ?4, ?5)",
            params![
                cue.as_str(),
                decision.request.0.as_bytes(),
                decision.text,
                answer_json(decision.answer)?,
                at
            ],
        )
    }
}
