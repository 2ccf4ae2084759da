//! Space on the disk: some is kept for answers, and given up for them when there is no other; the log has some of its own.

use super::Core;
use crate::engine::order::{Order, Work};
use crate::store::StoreError;

impl Core {
    /// Gives up the ballast, if there is one.
    pub(super) fn make_room(&mut self) -> bool {
        self.is_full = self.ballast.fits();
        let has_made_room = self.ballast.give_up();
        if has_made_room {
            tracing::error!(
                "the disk is full; the space kept for answers is used, new questions are refused"
            );
        }
        has_made_room
    }

    /// Keeps space for answers again, once there is enough; returns whether there is.
    pub(super) fn regain_room(&mut self) -> bool {
        if !self.is_full || !self.ballast.lay() {
            return !self.is_full;
        }
        self.is_full = false;
        if let Some(Err(error)) = self.store.as_ref().map(|store| store.be_frugal(false)) {
            tracing::warn!(%error, "the log of the database stays small");
        }
        tracing::info!("there is space again");
        true
    }

    /// Makes some of the room that the store's log may need.
    pub fn make_log_room(&mut self) {
        if let Some(store) = self.store.as_ref().filter(|_| !self.is_full) {
            // Where it cannot be made, commits make their own, and say what is wrong.
            self.has_log_room = !store.make_log_room().unwrap_or(false);
        }
    }

    /// Says whether an order would take space that is kept for answers.
    pub(super) fn takes_space(&self, order: &Order) -> bool {
        match &order.work {
            Work::Join { .. }
            | Work::Bind { .. }
            | Work::Say { .. }
            | Work::EditQueue { .. }
            | Work::Amend { .. }
            | Work::Import { .. } => true,
            Work::Ask { agent, content, .. } => {
                !self.machine.knows_request(order.request) && !self.machine.has_live(agent, *content)
            }
            Work::Attach(_)
            | Work::Ack { .. }
            | Work::Rest(_)
            | Work::Answer { .. }
            | Work::Decline { .. }
            | Work::Cancel { .. }
            | Work::Close { .. }
            | Work::Undo(_)
            | Work::Collect { .. }
            | Work::Gone
            | Work::HumanSeen
            | Work::Tick => false,
        }
    }

    pub(super) fn no_space(&self) -> StoreError {
        StoreError::NoSpace {
            path: self.path.clone(),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use protocol_spec::answer::Answer;
    use protocol_spec::id::RequestId;
    use protocol_spec::message::{ErrorCode, Reply};
    use protocol_spec::outcome::{Kind, Origin};
    use protocol_spec::time::Timestamp;
    use uuid::Uuid;

    use super::*;
    use crate::engine::DiskReserve;
    use crate::machine::{Now, Ticket};
    use crate::store::{Ballast, Store, Synchronous};

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
        let mut core = Core::open(path, Synchronous::Full, false, now, random).unwrap();
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
        // Where nothing can be seen of a disk, there is no space on it either.
        let nowhere = Ballast::of(&directory.path().join("none/cueme.db"));
        let kept = std::mem::replace(&mut core.ballast, nowhere);
        core.is_full = true;
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
        // What nobody needs for an answer is not worth the space that is left.
        let set = |store: &Store| store.set("settings", "{}");
        let refused = core.write(now, DiskReserve::Keep, set);
        assert!(matches!(refused, Err(StoreError::NoSpace { .. })), "{refused:?}");
        core.write(now, DiskReserve::Use, set).unwrap();
        core.ballast = kept;
        core.write(now, DiskReserve::Keep, set).unwrap();
        core.is_full = true;
        let replies = say(&mut core, 7, ask("Another?"));
        assert!(matches!(&replies[..], [Reply::Asked(_)]), "{replies:?}");
        assert!(!core.is_full);
    }
}
