//! Applies the machine's changes, inside the transaction the engine began.

use cueme_rules::{Amendment, Change, ContentKey};
use cueme_store::{Changes, Code, POLICY_PREFIX, Sealed, StoreError, answer_json};
use protocol_spec::answer::Answer;
use protocol_spec::id::{AgentId, CueId, RequestId};
use protocol_spec::message::EventKind;
use protocol_spec::outcome::Outcome;
use protocol_spec::time::Timestamp;

use crate::queue::{Cell, Row, cells};
use crate::statements::params;
use crate::store::PostgresStore;

// Statements for any number of rows. The condition `= ANY` beside a join lets the planner find the rows by their index.
const ADD_CUES: &str = "WITH asked AS (SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bytea[], $6::bigint[],
             $7::text[], $8::text[]) WITH ORDINALITY AS asked (cue, agent, kind, origin, content, at, prompt, payload, number)),
         cue AS (INSERT INTO cues (cue_id, agent_id, kind, origin, content, asked_at)
             SELECT cue, agent, kind, origin, content, at FROM asked ORDER BY number RETURNING seq, cue_id),
         question AS (INSERT INTO questions (seq, prompt, payload)
             SELECT seq, prompt, payload FROM cue JOIN asked ON asked.cue = cue.cue_id),
         new AS (INSERT INTO unindexed (seq, side) SELECT seq, 0 FROM cue),
         waiting AS (INSERT INTO waits (cue_id, broker) SELECT cue, $9 FROM asked ON CONFLICT DO NOTHING)
     UPDATE agents SET seen_at = newest.at, revision = $10
     FROM (SELECT agent, max(at) AS at FROM asked GROUP BY agent) AS newest
     WHERE agent_id = newest.agent AND agent_id = ANY($2)";
const BIND_REQUESTS: &str = "INSERT INTO requests (request_id, seq)
     SELECT request, (SELECT seq FROM cues WHERE cue_id = cue) FROM unnest($1::uuid[], $2::text[]) AS bound (request, cue)";
const DECIDE: &str = "WITH decided AS (SELECT * FROM unnest($1::text[], $2::bigint[], $3::bool[], $4::uuid[], $5::text[], $6::text[], $7::text[],
             $8::text[], $9::text[], $10::text[], $11::bigint[], $12::bigint[], $13::bytea[], $14::bool[])
             AS decided (cue, outcome, automatic, request, text, reminder, answer, redacted_text, redacted_answer, decided_by,
                 decided_at, released_at, seal, from_queue)),
         cue AS (UPDATE cues SET outcome = decided.outcome, automatic = decided.automatic FROM decided
             WHERE cue_id = decided.cue AND cue_id = ANY($1) RETURNING seq, cue_id),
         decision AS (INSERT INTO decisions (seq, request_id, text, reminder, answer, redacted_text, redacted_answer, decided_by,
                 decided_at, released_at, seal, from_queue, release_at)
             SELECT seq, request, text, reminder, answer, redacted_text, redacted_answer, decided_by, decided_at, released_at, seal,
                 from_queue, clock_timestamp() + (released_at - decided_at) * interval '1 ms'
             FROM cue JOIN decided ON decided.cue = cue.cue_id
             RETURNING seq)
     INSERT INTO unindexed (seq, side) SELECT seq, 1 FROM decision ON CONFLICT DO NOTHING";
const HAND: &str = "UPDATE cues SET delivery = 1, handed_at = handed.at FROM unnest($1::text[], $2::bigint[]) AS handed (cue, at)
     WHERE cue_id = handed.cue AND cue_id = ANY($1)";
const ACKNOWLEDGE: &str = "WITH gone AS (DELETE FROM waits WHERE cue_id = ANY($1))
     UPDATE cues SET delivery = 2, handed_at = coalesce(handed_at, acked.at), acknowledged_at = acked.at
     FROM unnest($1::text[], $2::bigint[]) AS acked (cue, at) WHERE cue_id = acked.cue AND cue_id = ANY($1)";
const ADD_RECEIPTS: &str = "INSERT INTO receipts (nonce, cue_id, acknowledged_at)
     SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[])";
const ATTACH: &str =
    "WITH came AS (INSERT INTO waits (cue_id, broker) SELECT unnest($1::text[]), $2 ON CONFLICT DO NOTHING)
     UPDATE cues SET detached_at = NULL WHERE cue_id = ANY($1)";
// Both parts see the waits as they were.
const DETACH: &str = "WITH gone AS (DELETE FROM waits WHERE cue_id = ANY($1) AND broker = $3)
     UPDATE cues SET detached_at = left_at FROM unnest($1::text[], $2::bigint[]) AS detached (cue, left_at)
     WHERE cue_id = cue AND cue_id = ANY($1)
         AND NOT EXISTS (SELECT 1 FROM waits WHERE waits.cue_id = cues.cue_id AND broker <> $3)";

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
            Change::AddCue { cue, agent, kind, origin, prompt, payload, content } => {
                let cells = cells![
                    cue.as_str(),
                    agent.as_str(),
                    kind.number(),
                    origin.number(),
                    content_bytes(*content),
                    at,
                    &**prompt,
                    payload.as_deref(),
                ];
                let row = Row { also: Some(agent.to_string()), ..about(*cue, ADD_CUES, cells) };
                self.write_row(row, || params![me, self.next_revision()])
            }
            Change::ImportAgent(agent) => self.import_agent(agent),
            Change::ImportCue(past) => self.import_cue(past),
            Change::EndPast { cue, past } => self.end_past(*cue, past),
            Change::BindRequest { request, cue } => {
                self.look_ups.borrow_mut().note_request(*request, *cue);
                self.write_row(about(*cue, BIND_REQUESTS, cells![request.0, cue.as_str()]), Vec::new)
            }
            Change::Decide { cue, outcome, request, text, reminder, answer, redacted, by, released_at, from_queue } => {
                let is_by_rule = by.as_ref().is_some_and(|by| by.starts_with(POLICY_PREFIX));
                let redacted = redacted.as_deref();
                let json = answer_json(answer.as_deref())?;
                let sealed = Sealed {
                    cue: *cue,
                    outcome: outcome.number(),
                    text,
                    reminder: reminder.as_deref(),
                    answer: json.as_deref(),
                };
                let cells = cells![
                    cue.as_str(),
                    outcome.number(),
                    is_by_rule || *from_queue,
                    request.0,
                    &**text,
                    reminder.as_deref(),
                    json.as_deref(),
                    redacted.map(|(text, _)| text.as_str()),
                    answer_json(redacted.map(|(_, answer)| answer))?.as_deref(),
                    by.as_deref(),
                    at,
                    released_at.map(Timestamp::as_millis),
                    sealed.seal().to_vec(),
                    *from_queue,
                ];
                self.write_row(about(*cue, DECIDE, cells), Vec::new)?;
                self.claim_uploads(*cue, answer.as_deref())
            }
            Change::Release { cue } => self.run(
                "UPDATE decisions SET released_at = NULL WHERE seq = (SELECT seq FROM cues WHERE cue_id = $1)",
                params![cue.as_str()],
            ),
            Change::Reopen { cue, outcome, .. } => {
                self.set_outcome(*cue, *outcome, false)?;
                self.delete_decision(*cue)
            }
            Change::Hand { cue } => self.write_row(about(*cue, HAND, cells![cue.as_str(), at]), Vec::new),
            Change::Acknowledge { cue, nonce, erase } => self.acknowledge(at, *cue, nonce.as_deref(), *erase),
            Change::SetDetached { cue, at: Some(at) } => {
                self.write_row(about(*cue, DETACH, cells![cue.as_str(), at.as_millis()]), || params![me])
            }
            Change::SetDetached { cue, at: None } => {
                self.write_row(about(*cue, ATTACH, cells![cue.as_str()]), || params![me])
            }
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
        self.write_row(about(cue, ACKNOWLEDGE, cells![cue.as_str(), at]), Vec::new)?;
        if let Some(nonce) = nonce {
            self.write_row(
                about(cue, ADD_RECEIPTS, cells![nonce, cue.as_str(), at]),
                Vec::new,
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

/// Returns a row about a question.
fn about(cue: CueId, sql: &'static str, cells: Vec<Cell>) -> Row {
    Row {
        sql,
        key: cue.as_str().to_owned(),
        also: None,
        cells,
    }
}

pub(crate) fn content_bytes(content: ContentKey) -> Vec<u8> {
    content.0.to_vec()
}

fn uuids(requests: &[RequestId]) -> Vec<uuid::Uuid> {
    requests.iter().map(|request| request.0).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use cueme_store::Storage;
    use cueme_test_kit::postgres::Server;

    use super::*;
    use crate::storage::{BY_INDEX, PostgresStorage};

    #[test]
    fn rows_are_found_by_their_index_whatever_the_planner_knows() {
        let Some(server) = Server::start() else { return };
        let url = server.database();
        PostgresStorage::at(&url, |_, _| unreachable!("a backup"))
            .unwrap()
            .open(true)
            .unwrap();
        for (sql, params) in [
            (ADD_CUES, 10),
            (BIND_REQUESTS, 2),
            (DECIDE, 14),
            (HAND, 2),
            (ACKNOWLEDGE, 2),
            (ATTACH, 2),
            (DETACH, 3),
        ] {
            let nulls = vec!["NULL"; params].join(", ");
            let plan = server.run(
                &url,
                &format!(
                    "{BY_INDEX}; SET plan_cache_mode = force_generic_plan;
                     PREPARE rows AS {sql};
                     EXPLAIN EXECUTE rows ({nulls})"
                ),
            );
            for table in ["cues", "agents", "waits"] {
                assert!(!plan.contains(&format!("Seq Scan on {table}")), "{sql}\n{plan}");
            }
        }
    }
}
