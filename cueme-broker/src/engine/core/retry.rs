//! The recovery after a failed commit: the engine reloads the state, finds out what happened, and retries.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::time::Duration;

use cueme_rules::{Now, Ticket};
use cueme_store::{DatabaseFault, FaultKind, StoreError};

use super::batch::{Entry, Failed};
use super::{Clock, CommitOutput, Core};

/// The time for which an unreachable server is asked for the outcome of a commit, before the callers are told of the doubt.
const DOUBT_MS_MAX: u64 = 20_000;
/// The backoff between two attempts: at first, and at most.
const RETRY_AFTER: Duration = Duration::from_millis(100);
const RETRY_AFTER_MAX: Duration = Duration::from_secs(1);

impl Core {
    pub(super) fn try_again(
        &mut self,
        clock: &dyn Clock,
        entries: &mut [Entry<'_>],
        failed: Failed,
    ) -> CommitOutput {
        tracing::error!(error = %failed.error, entries = entries.len(), "a transaction failed");
        let is_passing = self.is_over(&failed.error);
        let mut error = match self.recover(clock, entries, failed) {
            Ok(output) => return output,
            Err(error) => error,
        };
        let is_in_doubt = matches!(error, StoreError::InDoubt { .. });
        if is_passing && self.store.is_some() && !is_in_doubt {
            match self.attempt(clock, entries) {
                Ok(output) => return output,
                Err(again) => error = again,
            }
        }
        let mut output = CommitOutput {
            failed: Some(error.to_string()),
            ..CommitOutput::default()
        };
        // Nothing is done twice: a batch in doubt and a batch of one entry are not retried.
        if let StoreError::InDoubt { path, what } = &error {
            for entry in entries {
                let (path, what) = (path.clone(), what.clone());
                entry.fail(StoreError::InDoubt { path, what }, &mut output);
            }
            return output;
        }
        if let [entry] = entries {
            entry.fail(error, &mut output);
            return output;
        }
        let is_away = |core: &Self, error: &StoreError| core.store.is_none() && error.is_unreachable();
        let mut away = is_away(self, &error).then(|| error.to_string());
        for entry in entries {
            // An unreachable server is not tried again for each of them.
            if let Some(message) = away.clone() {
                let kind = FaultKind::Unreachable;
                entry.fail(
                    StoreError::Statement(DatabaseFault { kind, message }),
                    &mut output,
                );
                continue;
            }
            match self.attempt(clock, std::slice::from_mut(entry)) {
                Ok(mut done) => {
                    output.replies.append(&mut done.replies);
                    output.events.append(&mut done.events);
                    output.has_foreign_records |= done.has_foreign_records;
                }
                Err(error) => {
                    away = is_away(self, &error).then(|| error.to_string());
                    entry.fail(error, &mut output);
                }
            }
        }
        output
    }

    /// Says whether a retry may succeed: there is space again, the connection was cut, or a database shared with other
    /// brokers was replaced or undid the transaction for another one.
    fn is_over(&mut self, error: &StoreError) -> bool {
        let is_shared = self.storage.is_shared();
        (error.is_full() && self.make_room())
            || is_shared
                && (error.is_unreachable() || error.is_conflict() || matches!(error, StoreError::Gone { .. }))
    }

    /// Carries out entries in a transaction of their own; a failed entry is undone.
    fn attempt(&mut self, clock: &dyn Clock, entries: &mut [Entry<'_>]) -> Result<CommitOutput, StoreError> {
        self.try_once(clock, entries)
            .or_else(|failed| self.recover(clock, entries, failed))
    }

    fn try_once(&mut self, clock: &dyn Clock, entries: &mut [Entry<'_>]) -> Result<CommitOutput, Failed> {
        let mut transaction = self.open_transaction(clock)?;
        for entry in entries {
            self.carry_out_one(clock.now(), entry, &mut transaction)?;
        }
        self.commit_transaction(transaction)
    }

    /// Reloads the state from disk, and keeps the waiting callers.
    ///
    /// A commit in doubt is resolved first: returns its output if it happened, or the error.
    fn recover(
        &mut self,
        clock: &dyn Clock,
        entries: &[Entry<'_>],
        failed: Failed,
    ) -> Result<CommitOutput, StoreError> {
        let waiters = match self.store {
            Some(_) => self.machine.waiters().collect(),
            None => std::mem::take(&mut self.stranded),
        };
        self.is_suspect |= failed.error.is_alarming();
        // After a failed write or sync nothing about the old connection can be trusted.
        self.store = None;
        let resolved = self.resolve(clock, failed);
        self.stranded = waiters;
        if resolved.is_err() {
            // Callers of these entries get the error and do not wait any more; callers that left are dropped.
            let concerned: HashSet<Ticket> = entries.iter().filter_map(Entry::ticket).collect();
            self.stranded.retain(|(ticket, _)| !concerned.contains(ticket));
        }
        if self.store.is_some()
            && let Err(error) = self.restore_waiters(clock.now())
        {
            tracing::error!(%error, "the storage failed again; trying with each request");
            self.store = None;
        }
        resolved
    }

    pub(super) fn restore_waiters(&mut self, now: Now) -> Result<(), StoreError> {
        if self.storage.is_shared() {
            // A question that was acknowledged at another broker is not live any more, but its callers here still have
            // to get the outcome.
            for place in 0..self.stranded.len() {
                self.remind_of(now, self.stranded[place].1)?;
            }
            self.owes = !self.stranded.is_empty();
        }
        for (ticket, cue) in std::mem::take(&mut self.stranded) {
            // In a store of this broker alone, a question that is not live was acknowledged: its callers have its outcome.
            if !self.machine.restore_waiter(ticket, cue) && self.storage.is_shared() {
                self.orphaned.push((ticket, cue));
            }
        }
        Ok(())
    }

    /// Opens the storage again, and finds out whether a failed commit happened all the same.
    ///
    /// A server that restarts is waited for: the callers get no reply before the outcome is known.
    fn resolve(&mut self, clock: &dyn Clock, failed: Failed) -> Result<CommitOutput, StoreError> {
        let Failed { error, doubt } = failed;
        let Some(doubt) = doubt else {
            if let Err(error) = self.reopen_if_failing(clock) {
                tracing::error!(%error, "the storage cannot be opened again; trying with each request");
            }
            return Err(error);
        };
        let (batch, output) = *doubt;
        let since = clock.now().steady;
        let mut pause = RETRY_AFTER;
        loop {
            let reopened = self.reopen_if_failing(clock);
            match reopened.and_then(|()| self.opened()?.has_committed(batch)) {
                Ok(true) => {
                    tracing::warn!(%error, "a commit was reported as failed, and happened");
                    return Ok(output);
                }
                Ok(false) => return Err(error),
                Err(away) if self.may_look_again(clock, since) && clock.pause(pause) => {
                    tracing::debug!(error = %away, "the outcome of a commit is not known yet");
                    self.store = None;
                    pause = (pause * 2).min(RETRY_AFTER_MAX);
                }
                Err(away) => {
                    tracing::error!(error = %away, "the outcome of a commit cannot be found out; its callers are told so");
                    return Err(StoreError::InDoubt {
                        path: self.storage.location(),
                        what: error.to_string(),
                    });
                }
            }
        }
    }

    /// Says whether the server is worth another attempt: only one that brokers share comes back by itself.
    fn may_look_again(&self, clock: &dyn Clock, since: u64) -> bool {
        self.storage.is_shared()
            && !self.is_stopping.load(Ordering::Relaxed)
            && clock.now().steady.saturating_sub(since) < DOUBT_MS_MAX
    }
}
