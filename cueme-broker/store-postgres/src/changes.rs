//! Applies the machine's changes, inside the transaction the engine began.

use cueme_rules::{Amendment, Change, ContentKey};
use cueme_store::{Changes, Code, POLICY_PREFIX, Sealed, StoreError, answer_json};
use protocol_spec::answer::Answer;
use protocol_spec::id::{AgentId, CueId, RequestId};
use protocol_spec::message::EventKind;
use protocol_spec::outcome::{Delivery, Outcome};
use protocol_spec::time::Timestamp;

use crate::statements::params;
use crate::store::PostgresStore;

impl Changes for PostgresStore {
    fn apply(&self, at: Timestamp, change: &Change) -> Result<(), StoreError> {
        self.touch(change)?;
        let at = at.as_millis();
        let me = self.shared.broker.id;
        match change {
            Change::AddAgent { agent, runtime, project_dir, terminal, session } => self.run(
                "INSERT INTO agents (agent_id, runtime, project_dir, terminal, session, joined_at, seen_at, revision)
                 VALUES ($1, $2, $3, $4, $5, $6, $6, $7)",
                params![agent.as_str(), runtime.as_str(), project_dir, terminal, session, at, self.next_revision()],
            ),
            Change::BindSession { agent, session } => {
                self.run(
                    "UPDATE agents SET session = NULL
                     WHERE session = $2 AND runtime = (SELECT runtime FROM agents WHERE agent_id = $1)",
                    params![agent.as_str(), session],
                )?;
                self.run("UPDATE agents SET session = $2 WHERE agent_id = $1", params![agent.as_str(), session])
            }
            Change::AddCue { cue, agent, kind, origin, prompt, payload, content } => self.run(
                "WITH cue AS (INSERT INTO cues (cue_id, agent_id, kind, origin, content, asked_at)
                         VALUES ($1, $2, $3, $4, $5, $6) RETURNING seq),
                     question AS (INSERT INTO questions (seq, prompt, payload) SELECT seq, $7, $8 FROM cue),
                     new AS (INSERT INTO unindexed (seq, side) SELECT seq, 0 FROM cue),
                     waiting AS (INSERT INTO waits (cue_id, broker) VALUES ($1, $9) ON CONFLICT DO NOTHING)
                 UPDATE agents SET seen_at = $6, revision = $10 WHERE agent_id = $2",
                params![
                    cue.as_str(),
                    agent.as_str(),
                    kind.number(),
                    origin.number(),
                    content_bytes(*content),
                    at,
                    &**prompt,
                    payload.as_deref(),
                    me,
                    self.next_revision(),
                ],
            ),
            Change::ImportAgent(agent) => self.import_agent(agent),
            Change::ImportCue(past) => self.import_cue(past),
            Change::EndPast { cue, past } => self.end_past(*cue, past),
            Change::BindRequest { request, cue } => self.run(
                "INSERT INTO requests (request_id, seq) VALUES ($1, (SELECT seq FROM cues WHERE cue_id = $2))",
                params![request.0, cue.as_str()],
            ),
            Change::Decide { cue, outcome, request, text, reminder, answer, redacted, by, released_at, from_queue } => {
                let is_by_rule = by.as_ref().is_some_and(|by| by.starts_with(POLICY_PREFIX));
                self.set_outcome(*cue, *outcome, is_by_rule || *from_queue)?;
                self.claim_uploads(*cue, answer.as_deref())?;
                let redacted = redacted.as_deref();
                let answer = answer_json(answer.as_deref())?;
                let sealed = Sealed {
                    cue: *cue,
                    outcome: outcome.number(),
                    text,
                    reminder: reminder.as_deref(),
                    answer: answer.as_deref(),
                };
                self.run(
                    "WITH decision AS (INSERT INTO decisions (seq, request_id, text, reminder, answer, redacted_text,
                             redacted_answer, decided_by, decided_at, released_at, seal, from_queue, release_at)
                         SELECT seq, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12,
                             clock_timestamp() + ($10::bigint - $9::bigint) * interval '1 ms'
                         FROM cues WHERE cue_id = $1
                         RETURNING seq)
                     INSERT INTO unindexed (seq, side) SELECT seq, 1 FROM decision ON CONFLICT DO NOTHING",
                    params![
                        cue.as_str(),
                        request.0,
                        &**text,
                        reminder.as_deref(),
                        answer.as_deref(),
                        redacted.map(|(text, _)| text.as_str()),
                        answer_json(redacted.map(|(_, answer)| answer))?.as_deref(),
                        by,
                        at,
                        released_at.map(Timestamp::as_millis),
                        &sealed.seal(),
                        *from_queue,
                    ],
                )
            }
            Change::Release { cue } => self.run(
                "UPDATE decisions SET released_at = NULL WHERE seq = (SELECT seq FROM cues WHERE cue_id = $1)",
                params![cue.as_str()],
            ),
            Change::Reopen { cue, outcome, .. } => {
                self.set_outcome(*cue, *outcome, false)?;
                self.delete_decision(*cue)
            }
            Change::Hand { cue } => self.run(
                "UPDATE cues SET delivery = $2, handed_at = $3 WHERE cue_id = $1",
                params![cue.as_str(), Delivery::Handed.number(), at],
            ),
            Change::Acknowledge { cue, nonce, erase } => self.acknowledge(at, *cue, nonce.as_deref(), *erase),
            Change::SetDetached { cue, at: Some(at) } => self.run(
                // Both parts see the waits as they were.
                "WITH gone AS (DELETE FROM waits WHERE cue_id = $1 AND broker = $3)
                 UPDATE cues SET detached_at = $2
                 WHERE cue_id = $1 AND NOT EXISTS (SELECT 1 FROM waits WHERE cue_id = $1 AND broker <> $3)",
                params![cue.as_str(), at.as_millis(), me],
            ),
            Change::SetDetached { cue, at: None } => self.run(
                "WITH came AS (INSERT INTO waits (cue_id, broker) VALUES ($1, $2) ON CONFLICT DO NOTHING)
                 UPDATE cues SET detached_at = NULL WHERE cue_id = $1",
                params![cue.as_str(), me],
            ),
            Change::AddMessage { request, agent, text, purpose, by } => self.run(
                "INSERT INTO messages (request_id, agent_id, text, said_by, said_at, purpose)
                 VALUES ($1, $2, $3, $4, $5, $6)",
                params![request.0, agent.as_str(), &**text, by, at, purpose.number()],
            ),
            Change::TakeMessages { messages, cue } => self.run(
                "UPDATE messages SET cue_id = $2 WHERE request_id = ANY($1)",
                params![uuids(messages), cue.as_str()],
            ),
            Change::DropMessage { message } => {
                self.run("DELETE FROM messages WHERE request_id = $1", params![message.0])
            }
            Change::RewordMessage { message, text } => self.run(
                "UPDATE messages SET text = $2 WHERE request_id = $1",
                params![message.0, &**text],
            ),
            Change::ReorderMessages { messages } => self.reorder(messages),
            Change::AddReceipt { cue, nonce } => self.run(
                "INSERT INTO receipts (nonce, cue_id, acknowledged_at) SELECT $1, $2, $3
                 WHERE NOT EXISTS (SELECT 1 FROM receipts WHERE nonce = $1 AND cue_id = $2)",
                params![nonce, cue.as_str(), at],
            ),
            Change::AmendAgent { agent, amendment } => self.amend(agent, amendment),
            Change::ReturnMessages { cue } => {
                self.run("UPDATE messages SET cue_id = NULL WHERE cue_id = $1", params![cue.as_str()])
            }
        }
    }

    fn log(
        &self,
        at: Timestamp,
        what: EventKind,
        agent: &AgentId,
        cue: Option<CueId>,
    ) -> Result<i64, StoreError> {
        Ok(self.add_event(at, what, agent, cue))
    }
}

impl PostgresStore {
    /// Records the agents whose state other brokers have to load again.
    fn touch(&self, change: &Change) -> Result<(), StoreError> {
        match change {
            Change::AddAgent { agent, .. }
            | Change::BindSession { agent, .. }
            | Change::AddCue { agent, .. }
            | Change::AddMessage { agent, .. }
            | Change::AmendAgent { agent, .. } => self.touch_agent(agent),
            Change::ImportAgent(agent) => self.touch_agent(&agent.agent_id),
            Change::ImportCue(past) | Change::EndPast { past, .. } => self.touch_agent(&past.agent),
            Change::Decide { cue, .. }
            | Change::Release { cue }
            | Change::Reopen { cue, .. }
            | Change::SetDetached { cue, .. }
            | Change::Hand { cue }
            | Change::Acknowledge { cue, .. }
            | Change::TakeMessages { cue, .. }
            | Change::ReturnMessages { cue } => self.touch_agent_of(*cue),
            Change::DropMessage { message } | Change::RewordMessage { message, .. } => {
                return self.touch_agents_of_messages(std::slice::from_ref(message));
            }
            Change::ReorderMessages { messages } => return self.touch_agents_of_messages(messages),
            // No state of the machine; both are looked up in the store.
            Change::BindRequest { .. } | Change::AddReceipt { .. } => {}
        }
        Ok(())
    }

    /// Updates the agents at once: by the commit, a message may be deleted.
    fn touch_agents_of_messages(&self, messages: &[RequestId]) -> Result<(), StoreError> {
        self.note_revised();
        self.run(
            "UPDATE agents SET revision = $2
             WHERE agent_id IN (SELECT agent_id FROM messages WHERE request_id = ANY($1))",
            params![uuids(messages), self.next_revision()],
        )
    }

    /// Redistributes the messages' places among them, so that messages left later still come after them.
    fn reorder(&self, messages: &[RequestId]) -> Result<(), StoreError> {
        self.run(
            "UPDATE messages SET place = dealt.place
             FROM (SELECT request_id, row_number() OVER (ORDER BY ordinal) AS number
                   FROM unnest($1::uuid[]) WITH ORDINALITY AS wanted (request_id, ordinal)) AS wanted
             JOIN (SELECT coalesce(place, seq) AS place, row_number() OVER (ORDER BY coalesce(place, seq)) AS number
                   FROM messages WHERE request_id = ANY($1)) AS dealt USING (number)
             WHERE messages.request_id = wanted.request_id",
            params![uuids(messages)],
        )
    }

    fn amend(&self, agent: &AgentId, amendment: &Amendment) -> Result<(), StoreError> {
        let agent = agent.as_str();
        if let Some(name) = &amendment.name {
            self.run(
                "UPDATE agents SET name = $2 WHERE agent_id = $1",
                params![agent, name],
            )?;
        }
        if let Some(pinned) = amendment.pinned {
            self.run(
                "UPDATE agents SET pinned = $2 WHERE agent_id = $1",
                params![agent, pinned],
            )?;
        }
        if let Some(archived) = amendment.archived {
            self.run(
                "UPDATE agents SET archived = $2 WHERE agent_id = $1",
                params![agent, archived],
            )?;
        }
        if let Some(standing) = &amendment.standing {
            self.run(
                "UPDATE agents SET standing = $2 WHERE agent_id = $1",
                params![agent, standing.as_deref()],
            )?;
        }
        Ok(())
    }

    /// Links uploaded files to the question whose answer carries them.
    pub(crate) fn claim_uploads(&self, cue: CueId, answer: Option<&Answer>) -> Result<(), StoreError> {
        let attachments = answer
            .map(|answer| answer.attachments.as_slice())
            .unwrap_or_default();
        if attachments.is_empty() {
            return Ok(());
        }
        let paths: Vec<String> = attachments
            .iter()
            .map(|attachment| attachment.path.clone())
            .collect();
        self.run(
            "INSERT INTO upload_uses (upload_id, cue_id) SELECT upload_id, $1 FROM uploads WHERE path = ANY($2)
             ON CONFLICT DO NOTHING",
            params![cue.as_str(), paths],
        )
    }

    /// Deletes a decision with all references to it.
    pub(crate) fn delete_decision(&self, cue: CueId) -> Result<(), StoreError> {
        for sql in [
            "DELETE FROM upload_uses WHERE cue_id = $1",
            // Before its words: this waits for an indexer that holds it at this moment.
            "DELETE FROM unindexed WHERE side = 1 AND seq = (SELECT seq FROM cues WHERE cue_id = $1)",
            "DELETE FROM words WHERE side = 1 AND seq = (SELECT seq FROM cues WHERE cue_id = $1)",
            "DELETE FROM decisions WHERE seq = (SELECT seq FROM cues WHERE cue_id = $1)",
        ] {
            self.run(sql, params![cue.as_str()])?;
        }
        Ok(())
    }

    pub(crate) fn set_outcome(
        &self,
        cue: CueId,
        outcome: Outcome,
        is_automatic: bool,
    ) -> Result<(), StoreError> {
        self.run(
            "UPDATE cues SET outcome = $2, automatic = $3 WHERE cue_id = $1",
            params![cue.as_str(), outcome.number(), is_automatic],
        )
    }

    fn acknowledge(&self, at: i64, cue: CueId, nonce: Option<&str>, erase: bool) -> Result<(), StoreError> {
        self.run(
            "WITH gone AS (DELETE FROM waits WHERE cue_id = $1)
             UPDATE cues SET delivery = $2, handed_at = coalesce(handed_at, $3), acknowledged_at = $3 WHERE cue_id = $1",
            params![cue.as_str(), Delivery::Acknowledged.number(), at],
        )?;
        if let Some(nonce) = nonce {
            self.run(
                "INSERT INTO receipts (nonce, cue_id, acknowledged_at) VALUES ($1, $2, $3)",
                params![nonce, cue.as_str(), at],
            )?;
        }
        if erase {
            self.run(
                "UPDATE decisions SET text = redacted_text, answer = redacted_answer, seal = NULL
                 WHERE redacted_text IS NOT NULL AND seq = (SELECT seq FROM cues WHERE cue_id = $1)",
                params![cue.as_str()],
            )?;
        }
        Ok(())
    }
}

pub(crate) fn content_bytes(content: ContentKey) -> Vec<u8> {
    content.0.to_vec()
}

fn uuids(requests: &[RequestId]) -> Vec<uuid::Uuid> {
    requests.iter().map(|request| request.0).collect()
}
