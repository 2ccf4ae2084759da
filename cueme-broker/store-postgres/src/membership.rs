//! How this broker joins and leaves the others, and what becomes of those that died.

use std::collections::BTreeSet;

use cueme_store::StoreError;

use crate::lease::detach;
use crate::shared::Head;
use crate::statements::{Step, params};
use crate::store::PostgresStore;
use crate::transactions::{LOCK_HEAD, first_texts, head_of, identity_of, set_head};

impl PostgresStore {
    /// Takes brokers for dead whose lease ended, and adds the agents that are concerned.
    pub(crate) fn expel_others(&self, agents: &mut BTreeSet<String>) -> Result<(), StoreError> {
        let expelled = self.send(self.shared.broker.expel_others())?;
        self.note(|_| {});
        let cues = first_texts(expelled.last())?;
        self.detach_all(cues, agents)
    }

    /// Notes that nobody waits for these questions at some broker any more.
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

    /// Joins the other brokers, and takes those for dead whose lease ended.
    ///
    /// Under the lock of the head: a connection of ours that was lost may still be about to commit.
    pub(crate) fn enter(&self) -> Result<(), StoreError> {
        let broker = &self.shared.broker;
        let mut steps = vec![
            Step::Plain("BEGIN"),
            Step::Prepared(LOCK_HEAD, params![]),
            broker.register(),
        ];
        steps.extend(broker.expel_others());
        let found = self.send(steps)?;
        let head = head_of(found.get(1))?;
        self.shared.find(identity_of(found.get(1))?, head);
        self.shared.set_left(false);
        self.commit_detached(head, first_texts(found.last())?)?;
        self.shared.bell.notify_one();
        Ok(())
    }

    /// Leaves the other brokers in an orderly way.
    pub(crate) fn leave(&self) -> Result<(), StoreError> {
        self.shared.set_left(true);
        self.shared.leadership.set(false);
        let broker = &self.shared.broker;
        let found = self.send(vec![
            Step::Plain("BEGIN"),
            Step::Prepared(LOCK_HEAD, params![]),
            broker.stop_leading(),
            broker.expel_itself(),
        ])?;
        let head = head_of(found.get(1))?;
        self.commit_detached(head, first_texts(found.last())?)?;
        // The listener may be gone by now.
        self.send(vec![Step::Plain("NOTIFY cueme")]).map(drop)
    }

    /// Notes that nobody waits for these questions at some broker any more, and commits.
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
