//! The drivers of each run, the leader among them, and the state that a run needs of the broker until it ends.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use cloud_settings::Secret;
use protocol_spec::id::{AgentId, DriverId, RunId};
use protocol_spec::message::{Lead, RunFollow, RunWoken};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc};
use uuid::Uuid;

use super::lead::{Asking, Leads};

/// The most wake-ups that wait for one follower; a follower that is behind polls anyway.
const WAKES_WAITING_MAX: usize = 16;
/// The number of changes that a listener may fall behind; each only says that there was one.
const CHANGES_KEPT: usize = 64;
/// The most runs without a driver whose webhook secret and address are remembered.
const LEFT_RUNS_MAX: usize = 1_024;

/// The followers of all runs.
#[derive(Debug)]
pub(crate) struct Followers {
    known: Mutex<Known>,
    changes: broadcast::Sender<()>,
    ends: broadcast::Sender<AgentId>,
}

#[derive(Debug, Default)]
struct Known {
    /// By the order of arrival.
    followers: BTreeMap<u64, Follower>,
    next: u64,
    leads: Leads,
    /// The webhook secrets and addresses of runs, until the runs end.
    callbacks: HashMap<RunId, Callbacks>,
}

#[derive(Debug)]
struct Follower {
    run: RunId,
    driver: DriverId,
    wake: mpsc::Sender<RunWoken>,
    asks: bool,
    /// Whether it knows the leader of the run. One that asks is not woken before that.
    knows_lead: bool,
    /// A stop request that did not fit into the channel yet.
    stop: bool,
    /// Whether the run has ended, repeated with every wake-up.
    ended: bool,
}

/// The access to a run from outside.
#[derive(Debug, Clone, Default)]
pub(crate) struct Callbacks {
    pub(crate) secret: Option<Secret>,
    pub(crate) public_url: Option<String>,
}

/// A driver's subscription to its run; it ends when dropped.
#[derive(Debug)]
pub(crate) struct Following {
    followers: Arc<Followers>,
    key: u64,
    run: RunId,
    pub(crate) wakes: mpsc::Receiver<RunWoken>,
}

impl Default for Followers {
    fn default() -> Self {
        Self {
            known: Mutex::default(),
            changes: broadcast::channel(CHANGES_KEPT).0,
            ends: broadcast::channel(CHANGES_KEPT).0,
        }
    }
}

impl Followers {
    /// Adds a driver of a run. Its first wake-up makes it poll, because earlier ones are not repeated. A driver that
    /// asks is woken when the lead is settled.
    pub(crate) fn follow(self: &Arc<Self>, follow: RunFollow) -> Following {
        let run = follow.run_id;
        let (wake, wakes) = mpsc::channel(WAKES_WAITING_MAX);
        let mut known = self.lock();
        let key = known.next;
        known.next += 1;
        known.remember(run, follow.webhook_secret.map(Secret::new), follow.public_url);
        let asks = follow.asks;
        let driver = follow.driver.unwrap_or_else(|| DriverId(Uuid::now_v7()));
        known.leads.note_arrival(run, driver);
        known.followers.insert(
            key,
            Follower {
                run,
                driver,
                wake,
                asks,
                knows_lead: !asks,
                stop: false,
                ended: false,
            },
        );
        if !asks {
            known.wake(run, false, false);
        }
        drop(known);
        self.announce();
        Following {
            followers: Arc::clone(self),
            key,
            run,
            wakes,
        }
    }

    /// Wakes the drivers of a run to poll it, or to stop it; returns whether there is one.
    pub(crate) fn wake(&self, run: RunId, stop: bool) -> bool {
        self.lock().wake(run, stop, false)
    }

    /// Tells the drivers of a run that it has ended, and forgets its secret and address.
    pub(crate) fn end(&self, run: RunId) {
        let mut known = self.lock();
        known.callbacks.remove(&run);
        known.leads.forget(run);
        known.release(run);
        known.wake(run, false, true);
    }

    /// Returns the drivers that ask, by run.
    pub(super) fn asking(&self) -> Vec<Asking> {
        let known = self.lock();
        let mut runs: Vec<Asking> = Vec::new();
        for follower in known
            .followers
            .values()
            .filter(|follower| follower.asks && !follower.ended)
        {
            let (run, driver) = (follower.run, follower.driver);
            match runs.iter_mut().find(|asking| asking.run == run) {
                Some(asking) => asking.present.push(driver),
                None => runs.push(Asking {
                    run,
                    present: vec![driver],
                }),
            }
        }
        runs
    }

    /// Reads or changes the leaders.
    pub(super) fn leads<T>(&self, work: impl FnOnce(&mut Leads) -> T) -> T {
        work(&mut self.lock().leads)
    }

    /// Sends the leader of a run to its drivers, if one of them does not know.
    pub(super) fn tell_lead(&self, run: RunId, is_news: bool) {
        let mut known = self.lock();
        if known.release(run) || is_news {
            known.wake(run, false, false);
        }
    }

    /// Says whether a run has a driver.
    pub(crate) fn has(&self, run: RunId) -> bool {
        self.lock().of(run).next().is_some()
    }

    /// Returns the access to a run, as its last driver reported it.
    pub(crate) fn callbacks(&self, run: RunId) -> Callbacks {
        self.lock().callbacks.get(&run).cloned().unwrap_or_default()
    }

    /// Returns all current webhook secrets, each once.
    pub(crate) fn secrets(&self) -> Vec<Secret> {
        let mut secrets: Vec<Secret> = Vec::new();
        for secret in self
            .lock()
            .callbacks
            .values()
            .filter_map(|callbacks| callbacks.secret.as_ref())
        {
            if !secrets.contains(secret) {
                secrets.push(secret.clone());
            }
        }
        secrets
    }

    /// Returns the addresses that agents of runs were given.
    pub(crate) fn public_urls(&self) -> Vec<String> {
        let known = self.lock();
        let urls = known.callbacks.values();
        urls.filter_map(|callbacks| callbacks.public_url.clone())
            .collect()
    }

    /// Subscribes to changes of any run.
    pub(crate) fn changes(&self) -> broadcast::Receiver<()> {
        self.changes.subscribe()
    }

    /// Announces that a run has changed.
    pub(crate) fn announce(&self) {
        // A send error is ignored: listeners are optional.
        let _ = self.changes.send(());
    }

    /// Subscribes to the ends of runs, by agent.
    pub(crate) fn ends(&self) -> broadcast::Receiver<AgentId> {
        self.ends.subscribe()
    }

    /// Announces that the run of an agent has ended.
    pub(super) fn announce_end(&self, agent: AgentId) {
        let _ = self.ends.send(agent);
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn of(&self, run: RunId) -> impl Iterator<Item = (&u64, &Follower)> {
        self.followers
            .iter()
            .filter(move |(_, follower)| follower.run == run)
    }

    fn remember(&mut self, run: RunId, secret: Option<Secret>, public_url: Option<String>) {
        if secret.is_none() && public_url.is_none() {
            return;
        }
        if self.callbacks.len() >= LEFT_RUNS_MAX {
            let driven: Vec<RunId> = self.followers.values().map(|follower| follower.run).collect();
            self.callbacks.retain(|run, _| driven.contains(run));
        }
        let known = self.callbacks.entry(run).or_default();
        known.secret = secret.or(known.secret.take());
        known.public_url = public_url.or(known.public_url.take());
    }

    /// Marks the leader of a run as known to its followers; returns whether one of them did not know.
    fn release(&mut self, run: RunId) -> bool {
        let mut any = false;
        for follower in self.followers.values_mut().filter(|follower| follower.run == run) {
            any |= !follower.knows_lead;
            follower.knows_lead = true;
        }
        any
    }

    /// Wakes the followers of a run; returns whether there are any.
    fn wake(&mut self, run: RunId, stop: bool, ended: bool) -> bool {
        let leader = self.leads.leader(run);
        let mut any = false;
        for follower in self.followers.values_mut() {
            if follower.run != run {
                continue;
            }
            any = true;
            follower.stop |= stop;
            follower.ended |= ended;
            if !follower.knows_lead {
                continue;
            }
            let woken = RunWoken {
                run_id: run,
                stop: follower.stop,
                lead: match leader {
                    None => Lead::Nobody,
                    Some(leader) if leader == follower.driver => Lead::You,
                    Some(_) => Lead::Another,
                },
                ended: follower.ended,
            };
            // A follower with a full channel has enough wake-ups; a stop request goes with the next one.
            if follower.wake.try_send(woken).is_ok() {
                follower.stop = false;
            }
        }
        any
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        let mut known = self.followers.lock();
        if let Some(gone) = known.followers.remove(&self.key)
            && !known
                .of(self.run)
                .any(|(_, follower)| follower.driver == gone.driver)
        {
            known.leads.note_departure(self.run, gone.driver, Instant::now());
        }
        drop(known);
        self.followers.announce();
    }
}

/// Waits until this time, or until a run changes; returns whether the broker goes on.
pub(super) async fn until_change(changes: &mut broadcast::Receiver<()>, due: Option<Instant>) -> bool {
    let due = async {
        match due {
            Some(due) => tokio::time::sleep_until(due.into()).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        () = due => true,
        change = changes.recv() => !matches!(change, Err(RecvError::Closed)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn whoever_drives_a_run_is_told_to_look_and_is_forgotten_when_they_leave() {
        let followers = Arc::new(Followers::default());
        let run = RunId(Uuid::from_u128(1));
        assert!(!followers.wake(run, false), "nobody drives it yet");
        let mut following = followers.follow(RunFollow::of(run));
        assert_eq!(following.wakes.recv().await.map(|woken| woken.stop), Some(false));
        assert!(followers.wake(run, true) && followers.has(run));
        assert_eq!(following.wakes.recv().await.map(|woken| woken.stop), Some(true));
        drop(following);
        assert!(!followers.has(run));
    }

    #[tokio::test]
    async fn a_driver_that_asks_hears_nothing_before_it_is_settled_who_leads() {
        let followers = Arc::new(Followers::default());
        let run = RunId(Uuid::from_u128(1));
        let [first_id, second_id] = [2, 3].map(|number| DriverId(Uuid::from_u128(number)));
        let asking = |driver| RunFollow {
            asks: true,
            driver: Some(driver),
            ..RunFollow::of(run)
        };
        let mut viewer = followers.follow(RunFollow::of(run));
        assert_eq!(viewer.wakes.recv().await.unwrap().lead, Lead::Nobody);
        let mut first = followers.follow(asking(first_id));
        followers.wake(run, false);
        assert!(first.wakes.try_recv().is_err());
        assert_eq!(followers.asking()[0].present, [first_id]);
        followers.leads(|leads| leads.lead(run, first_id, None));
        followers.tell_lead(run, true);
        assert_eq!(first.wakes.recv().await.unwrap().lead, Lead::You);
        assert_eq!(viewer.wakes.recv().await.unwrap().lead, Lead::Nobody);
        assert_eq!(viewer.wakes.recv().await.unwrap().lead, Lead::Another);
        let mut second = followers.follow(asking(second_id));
        followers.tell_lead(run, false);
        assert_eq!(second.wakes.recv().await.unwrap().lead, Lead::Another);
        drop(first);
        followers.leads(|leads| leads.lead(run, second_id, None));
        followers.tell_lead(run, true);
        assert_eq!(second.wakes.recv().await.unwrap().lead, Lead::You);
        followers.end(run);
        assert!(second.wakes.recv().await.unwrap().ended);
    }

    #[test]
    fn webhooks_and_addresses_are_kept_until_the_run_ends_and_not_only_while_somebody_drives_it() {
        let followers = Arc::new(Followers::default());
        let run = RunId(Uuid::from_u128(1));
        drop(followers.follow(RunFollow {
            webhook_secret: Some("s".into()),
            public_url: Some("https://broker.example".into()),
            ..RunFollow::of(run)
        }));
        assert_eq!(followers.secrets().len(), 1);
        assert_eq!(followers.public_urls(), ["https://broker.example"]);
        // A driver that has neither keeps the remembered ones.
        drop(followers.follow(RunFollow::of(run)));
        assert_eq!(followers.secrets().len(), 1);
        followers.end(run);
        assert!(followers.secrets().is_empty() && followers.public_urls().is_empty());
    }
}
