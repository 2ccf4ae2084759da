//! Transactions. Each first locks the head, the one row of the table `head`, so those of all brokers are serialized.

use std::collections::BTreeSet;

use cueme_store::{BatchId, Code, Foreign, StoreError, Transactions, parse_id};
use protocol_spec::id::{AgentId, CueId};
use protocol_spec::message::{EventKind, EventView};
use protocol_spec::time::Timestamp;
use tokio_postgres::Row;
use uuid::Uuid;

use crate::fault::Fault;
use crate::lease;
use crate::shared::Head;
use crate::statements::{Returned, Step, params};
use crate::store::PostgresStore;

/// Locks the head and reads it.
pub(crate) const LOCK_HEAD: &str = "SELECT identity, revision, event, records FROM head FOR UPDATE";

/// Removes the waits of a broker `$1` that are not among `$2`. A condition `<> ALL($2)` would compare each with each: only where
/// the planner knows the values does it hash them.
const LEAVE_OTHERS: &str = "DELETE FROM waits WHERE broker = $1
    AND NOT EXISTS (SELECT 1 FROM unnest($2::text[]) AS kept (cue_id) WHERE kept.cue_id = waits.cue_id) RETURNING cue_id";

/// The events after the last published one `$1`, with that one.
const FIND_EVENTS: &str =
    "SELECT id, at, what, agent_id, cue_id FROM events WHERE id >= $1 ORDER BY id LIMIT $2";
/// The most events in one result. Such a result fits into the buffers of a connection, so the server sends it, and ends the
/// transaction, even if this broker stopped.
const EVENTS_PAGE: i64 = 500;

/// A transaction that is open.
#[derive(Debug)]
pub(crate) struct Open {
    /// The head at the beginning.
    head: Head,
    /// Whether there is anything to commit.
    pub(crate) is_dirty: bool,
    /// Whether agents already have the new revision.
    has_revised: bool,
    /// Whether data outside the rules has changed.
    has_records: bool,
    /// The agents that have changed …
    agents: BTreeSet<String>,
    /// … and the questions whose agents have.
    cues: BTreeSet<String>,
    events: Vec<EventView>,
    /// The newest event that was there before these.
    newest: Option<EventView>,
}

impl PostgresStore {
    /// Says whether a transaction is open.
    pub(crate) fn is_in_transaction(&self) -> bool {
        self.transaction.borrow().is_some()
    }

    /// Returns the revision of the transaction's changes.
    pub(crate) fn next_revision(&self) -> i64 {
        let open = self.transaction.borrow();
        open.as_ref().map_or(0, |open| open.head.revision + 1)
    }

    /// Records that an agent changes.
    pub(crate) fn touch_agent(&self, agent: &AgentId) {
        self.note(|open| {
            open.agents.insert(agent.as_str().to_owned());
        });
    }

    /// Records that the agent of a question changes.
    pub(crate) fn touch_agent_of(&self, cue: CueId) {
        self.note(|open| {
            open.cues.insert(cue.as_str().to_owned());
        });
    }

    /// Records that agents already have the new revision.
    pub(crate) fn note_revised(&self) {
        self.note(|open| open.has_revised = true);
    }

    /// Records that data outside the rules changes.
    pub(crate) fn touch_records(&self) {
        self.look_ups.borrow_mut().forget();
        self.note(|open| open.has_records = true);
    }

    /// Assigns a number to an event; the commit writes it.
    pub(crate) fn add_event(
        &self,
        at: Timestamp,
        what: EventKind,
        agent: &AgentId,
        cue: Option<CueId>,
    ) -> i64 {
        let mut id = 0;
        self.note(|open| {
            id = open.head.event + 1 + open.events.len() as i64;
            open.events.push(EventView {
                id: Some(id),
                at,
                what,
                agent_id: agent.clone(),
                cue_id: cue,
            });
        });
        id
    }

    /// Records that there is something to commit.
    pub(crate) fn mark_dirty(&self) {
        self.note(|_| {});
    }

    /// Records a change in the open transaction.
    pub(crate) fn note(&self, note: impl FnOnce(&mut Open)) {
        if let Some(open) = self.transaction.borrow_mut().as_mut() {
            open.is_dirty = true;
            note(open);
        }
    }
}

impl Transactions for PostgresStore {
    fn expect(&self, look_ups: cueme_store::LookUps) {
        self.look_ups.borrow_mut().expect(look_ups);
        if !self.is_in_transaction() {
            return;
        }
        // The queued statements concern none of these: what this transaction adds is known without asking.
        let steps = self.look_ups.borrow_mut().steps();
        let found = self.send(steps);
        let kept = found.and_then(|found| self.look_ups.borrow_mut().find(found));
        if let Err(error) = kept {
            // Each is looked up again when it is needed, and fails there.
            tracing::debug!(%error, "look-ups failed");
        }
    }

    fn begin(&self) -> Result<Foreign, StoreError> {
        let published = self.shared.head();
        let mut steps = vec![
            Step::Plain("BEGIN"),
            Step::Prepared(LOCK_HEAD, params![]),
            Step::Prepared(lease::FIND_EXPIRED, params![self.shared.broker.id]),
            Step::Prepared(
                "SELECT agent_id FROM agents WHERE revision > $1",
                params![self.seen.get()],
            ),
            Step::Prepared(FIND_EVENTS, params![published.event, EVENTS_PAGE]),
        ];
        let fixed = steps.len();
        steps.extend(self.look_ups.borrow_mut().steps());
        let mut found = self.send(steps)?;
        self.look_ups.borrow_mut().find(found.split_off(fixed))?;
        let head = head_of(found.get(1))?;
        let mut events = self.events_from(rows_of(found.get(4)))?;
        let newest = events.last().cloned();
        let known = events
            .first()
            .is_some_and(|first| first.id == Some(published.event))
            .then(|| events.remove(0));
        if !self
            .shared
            .is_continued_by(identity_of(found.get(1))?, head, known.as_ref())
        {
            // Restored, or failed over to a standby that lacked the newest part: everything is loaded again.
            self.shared.note_replaced(head);
            return Err(StoreError::Gone {
                path: self.shared.location.clone(),
            });
        }
        *self.transaction.borrow_mut() = Some(Open {
            head,
            is_dirty: false,
            has_revised: false,
            has_records: false,
            agents: BTreeSet::new(),
            cues: BTreeSet::new(),
            events: Vec::new(),
            newest,
        });
        self.shared.set_left(false);
        let mut agents: BTreeSet<String> = first_texts(found.get(3))?.into_iter().collect();
        let lease = found.get(2).and_then(|returned| returned.rows.first());
        let (expelled, has_dead): (Option<bool>, bool) = match lease {
            Some(row) => (
                row.try_get(0).map_err(Fault::from)?,
                row.try_get(1).map_err(Fault::from)?,
            ),
            None => (None, false),
        };
        if has_dead {
            self.expel_others(&mut agents)?;
        }
        if expelled != Some(false) {
            self.send(vec![self.shared.broker.register()])?;
            self.mark_dirty();
            self.must_publish_waits.set(true);
        }
        if !agents.is_empty() || !events.is_empty() {
            self.is_unindexed.set(true);
        }
        Ok(Foreign {
            agents: agents.into_iter().map(parse_id).collect::<Result<_, _>>()?,
            events,
            has_records: head.records > published.records || self.shared.is_replaced(),
            is_expelled: self.must_publish_waits.get(),
        })
    }

    fn commit(&self, batch: BatchId) -> Result<(), StoreError> {
        self.look_ups.borrow_mut().forget();
        let Some(open) = self.transaction.borrow_mut().take() else {
            return Err(StoreError::BadValue {
                what: "a commit",
                value: "there is no transaction".into(),
            });
        };
        if !open.is_dirty {
            if let Err(error) = self.send(vec![Step::Plain("ROLLBACK")]) {
                // There was nothing to store, and all reads happened under the lock. The next transaction fails to
                // begin.
                tracing::debug!(%error, "a transaction without changes could not be ended");
            }
            self.seen.set(open.head.revision);
            self.must_publish_waits.set(false);
            self.shared.tell(batch, open.head, open.newest);
            return Ok(());
        }
        let notifies_others = open.head_after() != open.head;
        let head = open.head_after();
        let newest = open.events.last().or(open.newest.as_ref()).cloned();
        let mut steps = self.queue.borrow_mut().take();
        steps.extend(open.closing_steps(head));
        steps.push(self.shared.broker.note_batch(batch.0.cast_signed()));
        steps.push(Step::Plain("COMMIT"));
        self.shared.expect(batch, head, newest.clone());
        self.send(steps)?;
        self.shared.tell(batch, head, newest);
        self.seen.set(head.revision);
        self.must_publish_waits.set(false);
        if notifies_others {
            self.is_unindexed.set(true);
            self.shared.bell.notify_one();
        }
        Ok(())
    }

    fn has_committed(&self, batch: BatchId) -> Result<bool, StoreError> {
        if self.shared.knows_committed(batch) {
            return Ok(true);
        }
        // Under the lock of the head, because the lost connection may still be about to commit.
        let found = self.send(vec![
            Step::Plain("BEGIN"),
            Step::Prepared(LOCK_HEAD, params![]),
            Step::Prepared(
                "SELECT batch FROM brokers WHERE broker = $1",
                params![self.shared.broker.id],
            ),
            Step::Plain("ROLLBACK"),
        ])?;
        let row = found.get(2).and_then(|returned| returned.rows.first());
        let newest: Option<i64> = match row {
            Some(row) => row.try_get(0).map_err(Fault::from)?,
            None => None,
        };
        let has_committed = newest == Some(batch.0.cast_signed());
        if has_committed {
            self.shared.confirm(batch);
        }
        Ok(has_committed)
    }

    fn set_waiting(&self, cues: &[CueId]) -> Result<(), StoreError> {
        let cues: Vec<String> = cues.iter().map(|cue| cue.as_str().to_owned()).collect();
        let me = self.shared.broker.id;
        let mut gone = self.query(LEAVE_OTHERS, params![me, cues.clone()])?;
        let mut came = self.query(
            "WITH came AS (INSERT INTO waits (cue_id, broker) SELECT cue_id, $1 FROM cues
                 WHERE cue_id = ANY($2) AND delivery < 2 ON CONFLICT DO NOTHING RETURNING cue_id)
             UPDATE cues SET detached_at = NULL WHERE cue_id IN (SELECT cue_id FROM came) RETURNING cue_id",
            params![me, cues],
        )?;
        gone.append(&mut came);
        if gone.is_empty() {
            return Ok(());
        }
        let changed = gone.iter().map(|row| row.try_get(0));
        let changed: Vec<String> = changed.collect::<Result<_, _>>().map_err(Fault::from)?;
        self.mark_dirty();
        self.detach_all(changed, &mut BTreeSet::new())
    }

    fn roll_back(&self) {
        self.look_ups.borrow_mut().forget();
        self.queue.borrow_mut().clear();
        if self.transaction.borrow_mut().take().is_some() {
            // If even this fails, the owner replaces the connection, which undoes the transaction, too.
            let _ = self.send(vec![Step::Plain("ROLLBACK")]);
        }
    }
}

impl PostgresStore {
    /// Returns the events of a first page, and those of the pages after it.
    fn events_from(&self, first: &[Row]) -> Result<Vec<EventView>, StoreError> {
        let mut events: Vec<EventView> = first.iter().map(event).collect::<Result<_, _>>()?;
        let mut count = first.len() as i64;
        while count == EVENTS_PAGE {
            let next = events.last().and_then(|last| last.id).unwrap_or_default() + 1;
            let page = self.query(FIND_EVENTS, params![next, EVENTS_PAGE])?;
            count = page.len() as i64;
            for row in &page {
                events.push(event(row)?);
            }
        }
        Ok(events)
    }
}

impl Open {
    fn head_after(&self) -> Head {
        let has_changed =
            self.has_revised || !self.agents.is_empty() || !self.cues.is_empty() || !self.events.is_empty();
        Head {
            revision: self.head.revision + i64::from(has_changed),
            event: self.head.event + self.events.len() as i64,
            records: self.head.records + i64::from(self.has_records),
        }
    }

    /// Returns the final statements: events, the revision of changed agents, and the head.
    fn closing_steps(self, head: Head) -> Vec<Step> {
        let mut steps = Vec::new();
        if !self.events.is_empty() {
            let events = &self.events;
            let ids: Vec<i64> = (self.head.event + 1..=head.event).collect();
            steps.push(Step::Prepared(
                "INSERT INTO events (id, at, what, agent_id, cue_id)
                 SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[])",
                params![
                    ids,
                    events
                        .iter()
                        .map(|event| event.at.as_millis())
                        .collect::<Vec<i64>>(),
                    events
                        .iter()
                        .map(|event| event.what.number())
                        .collect::<Vec<i64>>(),
                    events
                        .iter()
                        .map(|event| event.agent_id.as_str().to_owned())
                        .collect::<Vec<String>>(),
                    events
                        .iter()
                        .map(|event| event.cue_id.map(|cue| cue.as_str().to_owned()))
                        .collect::<Vec<Option<String>>>(),
                ],
            ));
        }
        if !self.agents.is_empty() || !self.cues.is_empty() {
            steps.push(Step::Prepared(
                "UPDATE agents SET revision = $1 WHERE revision <> $1 AND agent_id IN
                     (SELECT unnest($2::text[]) UNION SELECT agent_id FROM cues WHERE cue_id = ANY($3))",
                params![
                    head.revision,
                    self.agents.into_iter().collect::<Vec<String>>(),
                    self.cues.into_iter().collect::<Vec<String>>(),
                ],
            ));
        }
        if head != self.head {
            steps.push(set_head(head));
        }
        steps
    }
}

pub(crate) fn set_head(head: Head) -> Step {
    Step::Prepared(
        "UPDATE head SET revision = $1, event = $2, records = $3",
        params![head.revision, head.event, head.records],
    )
}

/// Reads the identity of the database.
pub(crate) fn identity_of(returned: Option<&Returned>) -> Result<Uuid, StoreError> {
    Ok(head_row(returned)?.try_get(0).map_err(Fault::from)?)
}

fn head_row(returned: Option<&Returned>) -> Result<&Row, StoreError> {
    let row = returned.and_then(|returned| returned.rows.first());
    row.ok_or_else(|| StoreError::BadValue {
        what: "a head",
        value: "none".into(),
    })
}

/// Reads the head.
pub(crate) fn head_of(returned: Option<&Returned>) -> Result<Head, StoreError> {
    let row = head_row(returned)?;
    Ok(Head {
        revision: row.try_get(1).map_err(Fault::from)?,
        event: row.try_get(2).map_err(Fault::from)?,
        records: row.try_get(3).map_err(Fault::from)?,
    })
}

fn rows_of(returned: Option<&Returned>) -> &[Row] {
    returned
        .map(|returned| returned.rows.as_slice())
        .unwrap_or_default()
}

pub(crate) fn first_texts(returned: Option<&Returned>) -> Result<Vec<String>, StoreError> {
    let texts = rows_of(returned)
        .iter()
        .map(|row| row.try_get(0).map_err(Fault::from));
    Ok(texts.collect::<Result<_, Fault>>()?)
}

fn event(row: &Row) -> Result<EventView, StoreError> {
    let read = || -> Result<EventView, Fault> {
        Ok(EventView {
            id: Some(row.try_get(0)?),
            at: Timestamp::from_millis(row.try_get(1)?),
            what: EventKind::from_number(row.try_get(2)?)?,
            agent_id: parse_id(row.try_get(3)?)?,
            cue_id: row.try_get::<_, Option<String>>(4)?.map(parse_id).transpose()?,
        })
    };
    Ok(read()?)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use cueme_store::Storage;
    use cueme_test_kit::postgres::Server;

    use super::*;
    use crate::storage::PostgresStorage;

    #[test]
    fn the_waits_of_a_broker_are_compared_by_hash() {
        let Some(server) = Server::start() else { return };
        let url = server.database();
        PostgresStorage::at(&url, |_, _| unreachable!("a backup"))
            .unwrap()
            .open(true)
            .unwrap();
        let plan = server.run(
            &url,
            &format!(
                "SET plan_cache_mode = force_generic_plan;
                 PREPARE leave_others (uuid, text[]) AS {LEAVE_OTHERS};
                 EXPLAIN EXECUTE leave_others (gen_random_uuid(), ARRAY['a'])"
            ),
        );
        assert!(plan.contains("Anti Join"), "{plan}");
        assert!(!plan.contains("<> ALL"), "{plan}");
    }
}
