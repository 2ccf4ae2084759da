//! Joining and leaving the group of brokers, and expelling dead ones.

use std::collections::BTreeSet;

use cueme_store::StoreError;
use uuid::Uuid;

use crate::fault::Fault;
use crate::lease::detach;
use crate::moved::{FIND_MARK, REMOVE_MARK, check_mark};
use crate::shared::Head;
use crate::statements::{Returned, Step, params};
use crate::store::PostgresStore;
use crate::transactions::{LOCK_HEAD, first_texts, head_of, identity_of, set_head};

/// Records the timeline `$1`. With another one the database gets a new identity, because its newest part may be lost. Returns the
/// identity, and whether there was another timeline before.
const SET_TIMELINE: &str = "UPDATE head SET timeline = $1,
        identity = CASE WHEN timeline <> $1 THEN gen_random_uuid() ELSE identity END
    WHERE timeline IS DISTINCT FROM $1 RETURNING identity, (SELECT timeline IS NOT NULL FROM head)";

impl PostgresStore {
    /// Expels brokers with an expired lease, and adds the agents concerned.
    pub(crate) fn expel_others(&self, agents: &mut BTreeSet<String>) -> Result<(), StoreError> {
        let expelled = self.send(self.shared.broker.expel_others())?;
        self.mark_dirty();
        let cues = first_texts(expelled.last())?;
        self.detach_all(cues, agents)
    }

    /// Records that no client of some broker waits for these questions any more.
    pub(crate) fn detach_all(
        &self,
        cues: Vec<String>,
        agents: &mut BTreeSet<String>,
    ) -> Result<(), StoreError> {
        if cues.is_empty() {
            return Ok(());
        }
        let detached = self.send(detach(cues, self.next_revision()))?;
        self.note_revised();
        agents.extend(first_texts(detached.last())?);
        Ok(())
    }

    /// Joins the other brokers, and expels those with an expired lease.
    ///
    /// Under the lock of the head, because a lost connection of this broker may still be about to commit.
    pub(crate) fn enter(&self) -> Result<(), StoreError> {
        let timeline = self.timeline();
        let broker = &self.shared.broker;
        let mut steps = vec![
            Step::Plain("BEGIN"),
            Step::Prepared(LOCK_HEAD, params![]),
            Step::Prepared(FIND_MARK, params![]),
            broker.register(),
        ];
        steps.extend(broker.expel_others());
        let found = self.send(steps)?;
        self.refuse_moved(found.get(2))?;
        let head = head_of(found.get(1))?;
        let (identity, has_failed_over) = match timeline {
            Some(timeline) => self.set_timeline(&timeline)?,
            None => None,
        }
        .unwrap_or((identity_of(found.get(1))?, false));
        self.commit_detached(head, first_texts(found.last())?)?;
        self.shared.find(identity, has_failed_over, head);
        self.shared.set_left(false);
        self.shared.bell.notify_one();
        Ok(())
    }

    /// Records the timeline; returns the identity and whether another server has taken over, unless nothing changed.
    fn set_timeline(&self, timeline: &str) -> Result<Option<(Uuid, bool)>, StoreError> {
        let Some(row) = self.query_one(SET_TIMELINE, params![timeline])? else {
            return Ok(None);
        };
        let read = || Ok::<_, Fault>((row.try_get(0)?, row.try_get(1)?));
        Ok(Some(read()?))
    }

    /// Refuses a database whose content was moved away. An unfinished move of this machine is taken back.
    fn refuse_moved(&self, found: Option<&Returned>) -> Result<(), StoreError> {
        let mark = found.and_then(|returned| returned.rows.first());
        let (location, file) = (&self.shared.location, self.shared.file.as_deref());
        match check_mark(mark, location, file) {
            Ok(false) => Ok(()),
            Ok(true) => {
                tracing::warn!(database = %location.display(), "the inbox was not moved out of the database completely: it stays there");
                self.send(vec![Step::Plain(REMOVE_MARK)]).map(drop)
            }
            Err(error) => {
                // If this fails, the connection is lost, which undoes the transaction, too.
                let _ = self.send(vec![Step::Plain("ROLLBACK")]);
                Err(error)
            }
        }
    }

    /// Returns the timeline of the server, where it says one: some that are compatible with PostgreSQL do not.
    fn timeline(&self) -> Option<String> {
        let read = self.find_one(
            "SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)",
            params![],
        );
        read.inspect_err(|error| tracing::debug!(%error, "the server says no timeline"))
            .ok()
            .flatten()
    }

    /// Leaves the other brokers in an orderly way.
    pub(crate) fn leave(&self) -> Result<(), StoreError> {
        self.shared.set_left(true);
        self.shared.leadership.stop();
        let broker = &self.shared.broker;
        let found = self.send(vec![
            Step::Plain("BEGIN"),
            Step::Prepared(LOCK_HEAD, params![]),
            broker.stop_leading(),
            broker.expel_itself(),
        ])?;
        let head = head_of(found.get(1))?;
        self.commit_detached(head, first_texts(found.last())?)?;
        // The listener may have ended by now.
        self.send(vec![Step::Plain("NOTIFY cueme")]).map(drop)
    }

    /// Records that no client of some broker waits for these questions any more, and commits.
    fn commit_detached(&self, head: Head, cues: Vec<String>) -> Result<(), StoreError> {
        let mut steps = Vec::new();
        if !cues.is_empty() {
            let revision = head.revision + 1;
            steps = detach(cues, revision);
            steps.push(set_head(Head { revision, ..head }));
        }
        steps.push(Step::Plain("COMMIT"));
        self.send(steps).map(drop)
    }
}
