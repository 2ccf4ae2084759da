//! The leader of a run: only one driver speaks with the human, because the agent would get an answer twice otherwise.
//!
//! The first driver that asks leads. The store keeps the leader, so it survives a crash of the broker. A leader that
//! disconnects keeps a lease on the lead, because it comes back by itself after a restart of the broker; then the next
//! driver leads.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use protocol_spec::id::{DriverId, RunId};
use protocol_spec::message::{ErrorCode, Failure, RUN_TEXT_BYTES_MAX, RunClaim, RunClaimed};

use super::followers::until_change;
use crate::broker::Broker;
use crate::store::{Records, StoreError};

/// The lease of a leader whose connection ended.
const LEASE: Duration = Duration::from_secs(3);
/// The same for a leader that an earlier broker left.
const LEASE_AT_START: Duration = Duration::from_secs(10);
/// The pause before retrying to store a lead.
const FAILURE_PAUSE: Duration = Duration::from_secs(1);
/// The most runs whose leader is remembered here; the store knows the others.
const LEADS_MAX: usize = 4_096;
/// The most questions that one claim may name.
const CUES_PER_CLAIM_MAX: usize = 256;

/// The leaders that this broker knows.
#[derive(Debug, Default)]
pub(super) struct Leads(HashMap<RunId, Leading>);

#[derive(Debug, Clone, Copy)]
struct Leading {
    driver: DriverId,
    /// The end of its lease while it is away.
    lease_until: Option<Instant>,
}

impl Leads {
    pub(super) fn leader(&self, run: RunId) -> Option<DriverId> {
        self.0.get(&run).map(|leading| leading.driver)
    }

    pub(super) fn forget(&mut self, run: RunId) {
        self.0.remove(&run);
    }

    /// Records that a driver arrived.
    pub(super) fn note_arrival(&mut self, run: RunId, driver: DriverId) {
        if let Some(leading) = self.of(run, driver) {
            leading.lease_until = None;
        }
    }

    /// Records that a driver left.
    pub(super) fn note_departure(&mut self, run: RunId, driver: DriverId, now: Instant) {
        if let Some(leading) = self.of(run, driver) {
            leading.lease_until = Some(now + LEASE);
        }
    }

    fn of(&mut self, run: RunId, driver: DriverId) -> Option<&mut Leading> {
        self.0.get_mut(&run).filter(|leading| leading.driver == driver)
    }

    /// Makes a driver the leader; `lease_until` is set for one that is away.
    pub(super) fn lead(&mut self, run: RunId, driver: DriverId, lease_until: Option<Instant>) {
        if self.0.len() >= LEADS_MAX {
            self.0.retain(|_, leading| leading.lease_until.is_none());
        }
        self.0.insert(run, Leading { driver, lease_until });
    }

    /// Determines the leader of a run among these drivers, in the order of arrival.
    fn next(&self, run: RunId, present: &[DriverId], now: Instant) -> Next {
        let Some(leading) = self.0.get(&run) else {
            return Next::Unknown;
        };
        match leading.lease_until {
            Some(until) if !present.contains(&leading.driver) => match present.first() {
                Some(first) if now >= until => Next::Change(*first),
                Some(_) | None => Next::Away(until),
            },
            Some(_) | None => Next::Stay,
        }
    }
}

/// The next step for the lead of a run.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    /// The store has to be asked.
    Unknown,
    /// The leader is there.
    Stay,
    /// The leader is away, and keeps the lead until then.
    Away(Instant),
    /// This driver leads from now on.
    Change(DriverId),
}

/// The drivers of a run that ask, in the order of arrival.
#[derive(Debug)]
pub(super) struct Asking {
    pub(super) run: RunId,
    pub(super) present: Vec<DriverId>,
}

/// Settles the leads, whenever a driver comes or goes, for as long as the broker lives.
pub(crate) async fn keep_leads(broker: Arc<Broker>) {
    let mut changes = broker.followers().changes();
    loop {
        let mut next: Option<Instant> = None;
        for asking in broker.followers().asking() {
            let due = settle(&broker, &asking).await;
            next = [next, due].into_iter().flatten().min();
        }
        if !until_change(&mut changes, next).await {
            return;
        }
    }
}

/// Settles the lead of one run, and tells its drivers. Returns when to check again.
async fn settle(broker: &Arc<Broker>, asking: &Asking) -> Option<Instant> {
    let Asking { run, present } = asking;
    let run = *run;
    let next = broker
        .followers()
        .leads(|leads| leads.next(run, present, Instant::now()));
    let kept = match next {
        Next::Stay => {
            broker.followers().tell_lead(run, false);
            return None;
        }
        Next::Away(until) => {
            broker.followers().tell_lead(run, false);
            return Some(until);
        }
        Next::Unknown => claim_free(broker, asking).await,
        Next::Change(driver) => {
            let kept = broker.keep(move |store, _| store.keep_leader(run, driver)).await;
            kept.map(|()| driver)
        }
    };
    let leader = match kept {
        Ok(leader) => leader,
        Err(failure) => {
            tracing::warn!(%failure, %run, "who leads a run could not be kept");
            return Some(Instant::now() + FAILURE_PAUSE);
        }
    };
    let lease_until = (!present.contains(&leader)).then(|| broker.started() + LEASE_AT_START);
    broker
        .followers()
        .leads(|leads| leads.lead(run, leader, lease_until));
    broker.followers().tell_lead(run, true);
    lease_until
}

/// Makes the first driver of a run its leader, unless the store knows one.
async fn claim_free(broker: &Arc<Broker>, asking: &Asking) -> Result<DriverId, Failure> {
    let Some(first) = asking.present.first().copied() else {
        return Err(Failure::new(
            ErrorCode::NotFound,
            "nobody drives the run any more",
        ));
    };
    let run = asking.run;
    broker
        .keep(move |store, _| match store.lead_of_run(run)? {
            Some(lead) => Ok(lead.leader),
            None => store.keep_leader(run, first).map(|()| first),
        })
        .await
}

impl Broker {
    /// Gives the leader of a run the right to send the human's answer, and stores the message that it is about to send.
    pub(crate) async fn claim_run(&self, claim: RunClaim) -> Result<RunClaimed, Failure> {
        if let Some(sending) = &claim.sending
            && (sending.position.len() > RUN_TEXT_BYTES_MAX || sending.cue_ids.len() > CUES_PER_CLAIM_MAX)
        {
            return Err(Failure::new(ErrorCode::TooLarge, "a claim of a run is too long"));
        }
        self.keep(move |store, _| claim_in(store, &claim)).await
    }
}

fn claim_in(store: &dyn Records, claim: &RunClaim) -> Result<RunClaimed, StoreError> {
    let Some(lead) = store.lead_of_run(claim.run_id)? else {
        return Ok(RunClaimed {
            leads: false,
            left: None,
        });
    };
    let leads = lead.leader == claim.driver;
    let left = lead.sending.filter(|(sender, _)| *sender != claim.driver);
    if let Some(sending) = claim.sending.as_ref().filter(|_| leads) {
        store.keep_sending(claim.run_id, claim.driver, sending)?;
    }
    Ok(RunClaimed {
        leads,
        left: left.map(|(_, sending)| sending),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn a_leader_that_is_away_keeps_the_lead_for_a_while_and_then_the_next_one_leads() {
        let run = RunId(Uuid::from_u128(1));
        let [first, second] = [2, 3].map(|number| DriverId(Uuid::from_u128(number)));
        let start = Instant::now();
        let mut leads = Leads::default();
        assert_eq!(leads.next(run, &[first], start), Next::Unknown);
        leads.lead(run, first, None);
        assert_eq!(leads.next(run, &[second, first], start), Next::Stay);
        leads.note_departure(run, second, start);
        assert_eq!(leads.next(run, &[first], start), Next::Stay);
        leads.note_departure(run, first, start);
        assert_eq!(leads.next(run, &[second], start), Next::Away(start + LEASE));
        assert_eq!(leads.next(run, &[], start + LEASE), Next::Away(start + LEASE));
        assert_eq!(leads.next(run, &[second], start + LEASE), Next::Change(second));
        leads.note_arrival(run, first);
        assert_eq!(leads.next(run, &[second, first], start + LEASE), Next::Stay);
    }
}
