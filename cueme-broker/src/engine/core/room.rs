//! Disk space: some is reserved for answers, and released when there is no other.

use cueme_store::StoreError;

use super::Core;
use crate::engine::order::{Order, Work};

impl Core {
    /// Releases the space reserved for answers, if there is some.
    pub(super) fn make_room(&mut self) -> bool {
        let has_made_room = self.storage.use_reserve();
        if has_made_room {
            tracing::error!(
                "the disk is full; the space kept for answers is used, new questions are refused"
            );
        }
        has_made_room
    }

    /// Reserves space for answers again, once there is enough; returns whether it did.
    pub(super) fn regain_room(&mut self) -> bool {
        if !self.storage.is_full() {
            return true;
        }
        if !self.storage.regain_reserve() {
            return false;
        }
        if let Some(store) = &self.store {
            store.save_space(false);
        }
        tracing::info!("there is space again");
        true
    }

    /// Lets the store prepare for later work while the engine is idle.
    pub fn prepare_for_more(&mut self) {
        if let Some(store) = self.store.as_ref().filter(|_| !self.storage.is_full()) {
            store.prepare_for_more();
        }
    }

    /// Says whether an order would take space that is reserved for answers.
    pub(super) fn takes_space(&self, order: &Order) -> Result<bool, StoreError> {
        Ok(match &order.work {
            Work::Join { .. }
            | Work::Bind { .. }
            | Work::Say { .. }
            | Work::EditQueue { .. }
            | Work::Amend { .. }
            | Work::Import { .. } => true,
            Work::Ask { agent, content, .. } => {
                !self.machine.has_live(agent, *content)
                    && self.opened()?.cue_of_request(order.request)?.is_none()
            }
            Work::Attach(_)
            | Work::Ack { .. }
            | Work::Rest(_)
            | Work::Answer { .. }
            | Work::Close { .. }
            | Work::Undo(_)
            | Work::Collect { .. }
            | Work::Gone
            | Work::HumanSeen
            | Work::Tick => false,
        })
    }

    pub(super) fn no_space(&self) -> StoreError {
        StoreError::NoSpace {
            path: self.storage.location(),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use cueme_rules::{Now, Ticket};
    use cueme_store::{Reader, Records, Storage, Store};
    use cueme_store_sqlite::{SqliteStorage, Synchronous};
    use protocol_spec::answer::Answer;
    use protocol_spec::id::RequestId;
    use protocol_spec::message::{ErrorCode, Reply};
    use protocol_spec::outcome::{Kind, Origin};
    use protocol_spec::time::Timestamp;
    use uuid::Uuid;

    use super::*;
    use crate::engine::DiskReserve;

    /// A disk that is full for as long as the test says so, once the broker has noticed.
    #[derive(Debug)]
    struct SmallDisk {
        storage: SqliteStorage,
        is_full: Arc<AtomicBool>,
        has_space: Arc<AtomicBool>,
    }

    impl Storage for SmallDisk {
        fn open(&mut self, was_clean: bool) -> Result<Box<dyn Store>, StoreError> {
            self.storage.open(was_clean)
        }

        fn reader(&self) -> Arc<dyn Reader> {
            self.storage.reader()
        }

        fn schema(&self) -> u32 {
            self.storage.schema()
        }

        fn location(&self) -> PathBuf {
            self.storage.location()
        }

        fn is_full(&self) -> bool {
            self.is_full.load(Ordering::Relaxed)
        }

        fn use_reserve(&mut self) -> bool {
            self.storage.use_reserve()
        }

        fn regain_reserve(&mut self) -> bool {
            if self.has_space.load(Ordering::Relaxed) {
                self.is_full.store(false, Ordering::Relaxed);
            }
            !self.is_full()
        }
    }

    fn say(core: &mut Core, request: u128, work: Work) -> Vec<Reply> {
        let now = Now {
            wall: Timestamp::from_millis(1),
            steady: 0,
        };
        let order = Order {
            ticket: Ticket(u64::try_from(request).unwrap()),
            request: RequestId(Uuid::from_u128(request)),
            work,
        };
        let output = core.carry_out(now, [order]);
        output.replies.into_iter().map(|(_, reply)| *reply).collect()
    }

    #[test]
    fn on_a_full_disk_only_what_was_asked_before_goes_on() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("cueme.db");
        let now = Now {
            wall: Timestamp::from_millis(1),
            steady: 0,
        };
        let random = Box::new(|| Uuid::new_v4().as_u64_pair().0);
        let (is_full, has_space) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        let disk = SmallDisk {
            storage: SqliteStorage::at(&path, Synchronous::Full),
            is_full: Arc::clone(&is_full),
            has_space: Arc::clone(&has_space),
        };
        let mut core = Core::open(Box::new(disk), false, now, random).unwrap();
        let join = || Work::Join {
            runtime: "terminal".parse().unwrap(),
            project_dir: "/p".into(),
            terminal: "sh".into(),
            session: None,
        };
        let [Reply::Joined(joined)] = &say(&mut core, 1, join())[..] else {
            panic!("not joined")
        };
        let ask = |prompt: &str| {
            Work::ask(
                joined.agent_id.clone(),
                Kind::Cue,
                prompt.into(),
                None,
                Origin::Agent,
            )
        };
        let [Reply::Asked(asked)] = &say(&mut core, 2, ask("Which port?"))[..] else {
            panic!("not asked")
        };
        let cue = asked.cue_id;
        is_full.store(true, Ordering::Relaxed);
        let is_refused = |replies: &[Reply]| matches!(replies, [Reply::Error(failure)] if failure.code == ErrorCode::Storage);
        assert!(is_refused(&say(&mut core, 3, join())));
        assert!(is_refused(&say(&mut core, 4, ask("Another?"))));
        // The same call, and another with the same words, mean the question that is there.
        for call in [2, 5] {
            let replies = say(&mut core, call, ask("Which port?"));
            assert!(
                matches!(&replies[..], [Reply::Asked(asked)] if asked.cue_id == cue),
                "{replies:?}"
            );
        }
        let answer = Work::Answer {
            cue,
            answer: Answer {
                text: Some("8080".into()),
                ..Answer::default()
            },
            by: None,
            hold_ms: 0,
        };
        let replies = say(&mut core, 6, answer);
        assert!(
            replies.iter().any(|reply| matches!(reply, Reply::Decided(_))),
            "{replies:?}"
        );
        assert!(core.is_stumbling() && !core.index_some());
        // A write that no answer needs must not use the remaining space.
        let set = |records: &dyn Records| records.set("settings", "{}");
        let refused = core.write(now, DiskReserve::Keep, set);
        assert!(matches!(refused, Err(StoreError::NoSpace { .. })), "{refused:?}");
        core.write(now, DiskReserve::Use, set).unwrap();
        has_space.store(true, Ordering::Relaxed);
        core.write(now, DiskReserve::Keep, set).unwrap();
        is_full.store(true, Ordering::Relaxed);
        let replies = say(&mut core, 7, ask("Another?"));
        assert!(matches!(&replies[..], [Reply::Asked(_)]), "{replies:?}");
        assert!(!is_full.load(Ordering::Relaxed));
    }
}
