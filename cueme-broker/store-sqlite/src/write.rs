//! Applies the machine's changes, inside the transaction the engine began.

use cueme_store::{Changes, Code, POLICY_PREFIX, Sealed, StoreError, answer_json};
use protocol_spec::answer::Answer;
use protocol_spec::id::{AgentId, CueId, RequestId};
use protocol_spec::message::EventKind;
use protocol_spec::outcome::{Delivery, Outcome};
use protocol_spec::time::Timestamp;
use rusqlite::types::FromSql;
use rusqlite::{Connection, OptionalExtension, ToSql, params};

use super::SqliteStore;
use super::fault::Fault;
use cueme_rules::{Amendment, Change};

impl Changes for SqliteStore {
    fn apply(&self, at: Timestamp, change: &Change) -> Result<(), StoreError> {
        if change.erases() {
            self.has_erased.set(true);
        }
        let at = at.as_millis();
        match change {
            Change::AddAgent { agent, runtime, project_dir, terminal, session } => self.run(
                "INSERT INTO agents (agent_id, runtime, project_dir, terminal, session, joined_at, seen_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)",
                params![agent.as_str(), runtime.as_str(), project_dir, terminal, session, at],
            ),
            Change::BindSession { agent, session } => {
                self.run(
                    "UPDATE agents SET session = NULL
                     WHERE session = ?2 AND runtime = (SELECT runtime FROM agents WHERE agent_id = ?1)",
                    params![agent.as_str(), session],
                )?;
                self.run("UPDATE agents SET session = ?2 WHERE agent_id = ?1", params![agent.as_str(), session])
            }
            Change::AddCue { cue, agent, kind, origin, prompt, payload, content } => {
                self.run(
                    "INSERT INTO cues (cue_id, agent_id, kind, origin, content, asked_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                    params![cue.as_str(), agent.as_str(), kind.number(), origin.number(), content.0, at],
                )?;
                self.run(
                    "INSERT INTO questions (seq, prompt, payload) VALUES (last_insert_rowid(), ?1, ?2)",
                    params![&**prompt, payload.as_deref()],
                )?;
                self.run("UPDATE agents SET seen_at = ?2 WHERE agent_id = ?1", params![agent.as_str(), at])
            }
            Change::ImportAgent(agent) => self.import_agent(agent),
            Change::ImportCue(past) => self.import_cue(past),
            Change::EndPast { cue, past } => self.end_past(*cue, past),
            Change::BindRequest { request, cue } => self.run(
                "INSERT INTO requests (request_id, seq) VALUES (?1, (SELECT seq FROM cues WHERE cue_id = ?2))",
                params![request.0.as_bytes(), cue.as_str()],
            ),
            Change::Decide { cue, outcome, request, text, reminder, answer, redacted, by, released_at, from_queue } => {
                let is_by_rule = by.as_ref().is_some_and(|by| by.starts_with(POLICY_PREFIX));
                let is_automatic = is_by_rule || *from_queue;
                self.set_outcome(*cue, *outcome, is_automatic)?;
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
                    "INSERT INTO decisions (seq, request_id, text, reminder, answer, redacted_text, redacted_answer,
                                            decided_by, decided_at, released_at, seal, from_queue)
                     VALUES ((SELECT seq FROM cues WHERE cue_id = ?1), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
                    params![
                        cue.as_str(),
                        request.0.as_bytes(),
                        &**text,
                        reminder.as_deref(),
                        answer,
                        redacted.map(|(text, _)| text),
                        answer_json(redacted.map(|(_, answer)| answer))?,
                        by,
                        at,
                        released_at.map(Timestamp::as_millis),
                        sealed.seal(),
                        from_queue,
                    ],
                )
            }
            Change::Release { cue } => self.run(
                "UPDATE decisions SET released_at = NULL WHERE seq = (SELECT seq FROM cues WHERE cue_id = ?1)",
                params![cue.as_str()],
            ),
            Change::Reopen { cue, outcome, .. } => {
                self.set_outcome(*cue, *outcome, false)?;
                self.delete_decision(*cue)
            }
            Change::Hand { cue } => self.run(
                "UPDATE cues SET delivery = ?2, handed_at = ?3 WHERE cue_id = ?1",
                params![cue.as_str(), Delivery::Handed.number(), at],
            ),
            Change::Acknowledge { cue, nonce, erase } => self.acknowledge(at, *cue, nonce.as_deref(), *erase),
            Change::SetDetached { cue, at } => self.run(
                "UPDATE cues SET detached_at = ?2 WHERE cue_id = ?1",
                params![cue.as_str(), at.map(Timestamp::as_millis)],
            ),
            Change::AddMessage { request, agent, text, purpose, by } => self.run(
                "INSERT INTO messages (request_id, agent_id, text, said_by, said_at, purpose) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![request.0.as_bytes(), agent.as_str(), &**text, by, at, purpose.number()],
            ),
            Change::TakeMessages { messages, cue } => messages.iter().try_for_each(|message| {
                self.run(
                    "UPDATE messages SET cue_id = ?2 WHERE request_id = ?1",
                    params![message.0.as_bytes(), cue.as_str()],
                )
            }),
            Change::DropMessage { message } => {
                self.run("DELETE FROM messages WHERE request_id = ?1", params![message.0.as_bytes()])
            }
            Change::RewordMessage { message, text } => self.run(
                "UPDATE messages SET text = ?2 WHERE request_id = ?1",
                params![message.0.as_bytes(), &**text],
            ),
            Change::ReorderMessages { messages } => self.reorder(messages),
            Change::AddReceipt { cue, nonce } => self.run(
                "INSERT INTO receipts (nonce, cue_id, acknowledged_at) SELECT ?1, ?2, ?3
                 WHERE NOT EXISTS (SELECT 1 FROM receipts WHERE nonce = ?1 AND cue_id = ?2)",
                params![nonce, cue.as_str(), at],
            ),
            Change::AmendAgent { agent, amendment } => self.amend(agent, amendment),
            Change::ReturnMessages { cue } => {
                self.run("UPDATE messages SET cue_id = NULL WHERE cue_id = ?1", params![cue.as_str()])
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
        self.run(
            "INSERT INTO events (at, what, agent_id, cue_id) VALUES (?1, ?2, ?3, ?4)",
            params![
                at.as_millis(),
                what.number(),
                agent.as_str(),
                cue.as_ref().map(CueId::as_str)
            ],
        )?;
        Ok(self.connection.last_insert_rowid())
    }
}

impl SqliteStore {
    /// Redistributes the messages' places among them, so that messages left later still come after them.
    fn reorder(&self, messages: &[RequestId]) -> Result<(), StoreError> {
        let mut places: Vec<i64> = self.with(|connection| {
            let mut statement =
                connection.prepare_cached("SELECT ifnull(place, seq) FROM messages WHERE request_id = ?1")?;
            let places = messages
                .iter()
                .map(|message| statement.query_row(params![message.0.as_bytes()], |row| row.get(0)));
            Ok(places.collect::<Result<_, _>>()?)
        })?;
        places.sort_unstable();
        messages.iter().zip(places).try_for_each(|(message, place)| {
            self.run(
                "UPDATE messages SET place = ?2 WHERE request_id = ?1",
                params![message.0.as_bytes(), place],
            )
        })
    }

    fn amend(&self, agent: &AgentId, amendment: &Amendment) -> Result<(), StoreError> {
        let set = |sql: &str, value: &dyn ToSql| self.run(sql, params![agent.as_str(), value]);
        if let Some(name) = &amendment.name {
            set("UPDATE agents SET name = ?2 WHERE agent_id = ?1", name)?;
        }
        if let Some(pinned) = &amendment.pinned {
            set("UPDATE agents SET pinned = ?2 WHERE agent_id = ?1", pinned)?;
        }
        if let Some(archived) = &amendment.archived {
            set("UPDATE agents SET archived = ?2 WHERE agent_id = ?1", archived)?;
        }
        if let Some(standing) = &amendment.standing {
            set(
                "UPDATE agents SET standing = ?2 WHERE agent_id = ?1",
                &standing.as_deref(),
            )?;
        }
        Ok(())
    }

    /// Links uploaded files to the question whose answer carries them.
    pub(super) fn claim_uploads(&self, cue: CueId, answer: Option<&Answer>) -> Result<(), StoreError> {
        let attachments = answer
            .map(|answer| answer.attachments.as_slice())
            .unwrap_or_default();
        attachments.iter().try_for_each(|attachment| {
            self.run(
                "INSERT OR IGNORE INTO upload_uses (upload_id, cue_id) SELECT upload_id, ?1 FROM uploads WHERE path = ?2",
                params![cue.as_str(), attachment.path],
            )
        })
    }

    /// Deletes a decision with all references to it.
    pub(super) fn delete_decision(&self, cue: CueId) -> Result<(), StoreError> {
        for sql in [
            "DELETE FROM upload_uses WHERE cue_id = ?1",
            "DELETE FROM search WHERE rowid = (SELECT 2 * seq + 1 FROM cues WHERE cue_id = ?1)",
            "DELETE FROM decisions WHERE seq = (SELECT seq FROM cues WHERE cue_id = ?1)",
        ] {
            self.run(sql, params![cue.as_str()])?;
        }
        Ok(())
    }

    pub(super) fn set_outcome(
        &self,
        cue: CueId,
        outcome: Outcome,
        is_automatic: bool,
    ) -> Result<(), StoreError> {
        self.run(
            "UPDATE cues SET outcome = ?2, automatic = ?3 WHERE cue_id = ?1",
            params![cue.as_str(), outcome.number(), is_automatic],
        )
    }

    fn acknowledge(&self, at: i64, cue: CueId, nonce: Option<&str>, erase: bool) -> Result<(), StoreError> {
        self.run(
            "UPDATE cues SET delivery = ?2, handed_at = ifnull(handed_at, ?3), acknowledged_at = ?3 WHERE cue_id = ?1",
            params![cue.as_str(), Delivery::Acknowledged.number(), at],
        )?;
        if let Some(nonce) = nonce {
            self.run(
                "INSERT INTO receipts (nonce, cue_id, acknowledged_at) VALUES (?1, ?2, ?3)",
                params![nonce, cue.as_str(), at],
            )?;
        }
        if erase {
            self.run(
                "UPDATE decisions SET text = redacted_text, answer = redacted_answer, seal = NULL
                 WHERE redacted_text IS NOT NULL AND seq = (SELECT seq FROM cues WHERE cue_id = ?1)",
                params![cue.as_str()],
            )?;
        }
        Ok(())
    }

    /// Runs a statement.
    pub(super) fn run(&self, sql: &str, params: &[&dyn ToSql]) -> Result<(), StoreError> {
        self.execute(sql, params).map(drop)
    }

    /// Runs a statement and returns how many rows it changed.
    pub(super) fn execute(&self, sql: &str, params: &[&dyn ToSql]) -> Result<usize, StoreError> {
        self.with(|connection| Ok(connection.prepare_cached(sql)?.execute(params)?))
    }

    /// Returns the first value of the first row, if there is one.
    pub(super) fn find_one<T: FromSql>(
        &self,
        sql: &str,
        params: &[&dyn ToSql],
    ) -> Result<Option<T>, StoreError> {
        self.with(|connection| {
            Ok(connection
                .prepare_cached(sql)?
                .query_row(params, |row| row.get(0))
                .optional()?)
        })
    }

    /// Says whether there is such a row.
    pub(super) fn exists(&self, sql: &str, params: &[&dyn ToSql]) -> Result<bool, StoreError> {
        self.with(|connection| Ok(connection.prepare_cached(sql)?.exists(params)?))
    }

    /// Uses the connection.
    pub(super) fn with<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        Ok(work(&self.connection)?)
    }
}
