//! R11: ten thousand wait for a day and for a month, through fifty restarts, without a clock to wait for.

use cueme_broker::engine::{Core, Order, Work};
use cueme_rules::{Now, Ticket};
use cueme_store_sqlite::{SqliteStorage, Synchronous};
use cueme_tests::Random;
use protocol_spec::answer::Answer;
use protocol_spec::id::{AgentId, CueId, RequestId};
use protocol_spec::message::Reply;
use protocol_spec::outcome::{Kind, Origin};
use uuid::Uuid;

use crate::load::by_build;
use crate::promises::moment;
use crate::raw::{Image, Plan, SimDisk, heap};
use crate::trial::{NotRun, Trial};

/// The number of agents that share the questions.
const AGENTS: usize = 64;
/// The number of brokers, one after the other.
const RESTARTS: u64 = 50;
/// The number of heartbeats of each waiting client, in each life of a broker.
const HEARTBEATS: u64 = 2;
const DAY_MS: u64 = 24 * 60 * 60 * 1000;
/// The number of times that all clients reconnect in the one life without a restart.
const COMES_BACK: u64 = 50;
/// The number of these after which tables with many insertions and removals have a stable size.
const SETTLES: usize = 10;
/// The limit on the growth of the heap since the same point of the first life, in percent.
const GROWTH_PERCENT: isize = 1;
/// The least plausible heap size of each waiter, in bytes.
const WAITER_BYTES_MIN: usize = 64;
/// The number of times that all clients reconnect in the control, which leaks each time.
const LEAKS: usize = 4;
/// The leak of the control for each waiter and time, in bytes.
const LEAK_BYTES: usize = 64;

/// Waits for a day, then for a month, then for a day without a restart.
pub(crate) fn run(trial: &mut Trial) -> Result<(), NotRun> {
    let waiters = trial.size(by_build(400, 10_000), 10_000, 10_000);
    for (what, lasts_ms) in [("24 hours", DAY_MS), ("30 days", 30 * DAY_MS)] {
        lives(trial, waiters, what, |trial, long| {
            let heaps = (0..RESTARTS).map(|restart| {
                long.wait(trial, lasts_ms / RESTARTS);
                // Before the restart: after it everything that had gathered would be gone.
                let heap = long.heap_bytes();
                long.restart(trial);
                trial.progress(restart, RESTARTS);
                heap
            });
            heaps.collect()
        })?;
    }
    lives(trial, waiters, "24 hours in one life", |trial, long| {
        let heaps: Vec<isize> = (0..COMES_BACK)
            .map(|number| {
                long.wait(trial, DAY_MS / COMES_BACK);
                trial.progress(number, COMES_BACK);
                long.heap_bytes()
            })
            .skip(SETTLES)
            .collect();
        check_that_a_leak_is_seen(trial, long, &heaps);
        heaps
    })?;
    trial.figure("restarts", RESTARTS * 2);
    Ok(())
}

/// The control: goes on with the same life and leaks a little for each waiter, which must count as growth.
fn check_that_a_leak_is_seen(trial: &mut Trial, long: &mut Long, sound: &[isize]) {
    let mut heaps = sound.to_vec();
    let mut leaked = Vec::with_capacity(LEAKS * long.waiters.len());
    for _ in 0..LEAKS {
        long.wait(trial, DAY_MS / COMES_BACK);
        leaked.extend(long.waiters.iter().map(|_| vec![0_u8; LEAK_BYTES]));
        heaps.push(long.heap_bytes());
    }
    let growth = Growth::of(&heaps, long.before);
    trial.check(!growth.is_within_limit(), || {
        format!(
            "a leak of {} bytes was not seen: {growth}",
            leaked.len() * LEAK_BYTES
        )
    });
    trial.figure("control, which leaks", growth);
}

/// The allocated bytes of the broker and its waiters, at the first point of the measurement and at most afterwards.
#[derive(Debug, Clone, Copy)]
struct Growth {
    first: isize,
    most: isize,
}

impl Growth {
    /// Compares readings of the heap, beyond what was in use before everything.
    fn of(heaps: &[isize], before: isize) -> Self {
        let first = heaps.first().copied().unwrap_or(before);
        Self {
            first: first - before,
            most: heaps.iter().copied().max().unwrap_or(first) - before,
        }
    }

    fn is_within_limit(self) -> bool {
        self.most <= self.first + self.first * GROWTH_PERCENT / 100
    }
}

impl std::fmt::Display for Growth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "heap {} → at most {}", self.first, self.most)
    }
}

/// Lets everybody wait through `live`, which returns what was allocated at each of its points, and answers them.
fn lives(
    trial: &mut Trial,
    waiters: usize,
    what: &str,
    live: impl FnOnce(&mut Trial, &mut Long) -> Vec<isize>,
) -> Result<(), NotRun> {
    let directory = tempfile::tempdir().map_err(|error| NotRun(error.to_string()))?;
    let disk = SimDisk::insert(directory.path(), &Image::new(), Plan::Sound);
    let mut long = Long::begin(
        disk,
        directory.path().join("cueme.db"),
        trial.random.fork(),
        waiters,
    );
    let heaps = live(trial, &mut long);
    let answered = long.answer_all(trial);
    trial.check(answered == waiters, || {
        format!("{answered} of {waiters} heard their answer after {what}")
    });
    let growth = Growth::of(&heaps, long.before);
    // Each waiter is known by words of its own, so a smaller figure was not measured.
    let least = isize::try_from(waiters * WAITER_BYTES_MIN).unwrap_or(isize::MAX);
    trial.check(growth.first >= least, || {
        format!("{waiters} waiters took only {} bytes in {what}", growth.first)
    });
    trial.check(growth.is_within_limit(), || {
        format!("memory grew in {what}: {growth}")
    });
    trial.figure(what, format!("{waiters} waited, {answered} heard, {growth}"));
    Ok(())
}

struct Waiter {
    agent: AgentId,
    words: String,
    request: RequestId,
    cue: CueId,
    ticket: Ticket,
}

struct Long {
    /// The allocated bytes before there was a broker.
    before: isize,
    database: std::path::PathBuf,
    core: Option<Core>,
    disk: SimDisk,
    random: Random,
    now_ms: u64,
    tickets: u64,
    waiters: Vec<Waiter>,
}

impl Long {
    fn begin(disk: SimDisk, database: std::path::PathBuf, random: Random, count: usize) -> Self {
        let mut long = Self {
            before: heap::live_bytes() - disk.held_bytes(),
            database,
            core: None,
            disk,
            random,
            now_ms: 0,
            tickets: 0,
            waiters: Vec::with_capacity(count),
        };
        long.start();
        let agents: Vec<AgentId> = (0..AGENTS).map(|_| long.join()).collect();
        for number in 0..count {
            let agent = agents[number % AGENTS].clone();
            let words = format!("question {number} can wait");
            let request = long.request();
            let (ticket, reply) = long.say(request, ask(&agent, &words));
            let Some(Reply::Asked(asked)) = reply else {
                panic!("not asked: {reply:?}");
            };
            long.waiters.push(Waiter {
                agent,
                words,
                request,
                cue: asked.cue_id,
                ticket,
            });
        }
        // As every later life begins.
        long.core = None;
        long.start();
        long.attach_all(None);
        long
    }

    /// Returns what is allocated now, without what the simulated disk keeps.
    fn heap_bytes(&self) -> isize {
        heap::live_bytes() - self.disk.held_bytes()
    }

    fn start(&mut self) {
        let mut ids = self.random.fork();
        let now = self.now();
        let core = Core::open(
            Box::new(SqliteStorage::at(&self.database, Synchronous::Full)),
            true,
            now,
            Box::new(move || ids.next_number()),
        );
        self.core = Some(core.unwrap_or_else(|error| panic!("{error}")));
    }

    fn now(&self) -> Now {
        moment(self.now_ms)
    }

    fn join(&mut self) -> AgentId {
        let work = Work::Join {
            runtime: "terminal".parse().unwrap_or_else(|_| panic!("a runtime")),
            project_dir: "/prove".into(),
            terminal: "sh".into(),
            session: None,
        };
        let request = self.request();
        match self.say(request, work).1 {
            Some(Reply::Joined(joined)) => joined.agent_id,
            other => panic!("not joined: {other:?}"),
        }
    }

    fn request(&mut self) -> RequestId {
        RequestId(Uuid::from_u64_pair(
            self.random.next_number(),
            self.random.next_number(),
        ))
    }

    fn say(&mut self, request: RequestId, work: Work) -> (Ticket, Option<Reply>) {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        let now = self.now();
        let Some(core) = &mut self.core else {
            return (ticket, None);
        };
        let spoken = core.carry_out(
            now,
            [Order {
                ticket,
                request,
                work,
            }],
        );
        let reply = spoken.replies.into_iter().find(|(to, _)| *to == ticket);
        (ticket, reply.map(|(_, reply)| *reply))
    }

    /// Lets time pass; timers fire when they are due, and clients come and go to show that they are there.
    fn wait(&mut self, trial: &mut Trial, lasts_ms: u64) {
        for _ in 0..HEARTBEATS {
            self.now_ms += lasts_ms / HEARTBEATS;
            self.tick(trial);
            self.attach_all(Some(trial));
        }
    }

    fn tick(&mut self, trial: &mut Trial) {
        let now = self.now();
        let Some(core) = &mut self.core else { return };
        let order = Order {
            ticket: Ticket(0),
            request: RequestId(Uuid::nil()),
            work: Work::Tick,
        };
        let spoken = core.carry_out(now, [order]);
        trial.check(spoken.replies.is_empty(), || {
            format!("time alone told somebody something: {:?}", spoken.replies.first())
        });
    }

    /// Every client leaves and comes back by its key.
    fn attach_all(&mut self, mut trial: Option<&mut Trial>) {
        let mut waiters = std::mem::take(&mut self.waiters);
        for waiter in &mut waiters {
            let gone = Order {
                ticket: waiter.ticket,
                request: RequestId(Uuid::nil()),
                work: Work::Gone,
            };
            let now = self.now();
            if let Some(core) = &mut self.core {
                core.carry_out(now, [gone]);
            }
            let (ticket, reply) = self.say(waiter.request, ask(&waiter.agent, &waiter.words));
            waiter.ticket = ticket;
            let is_same =
                matches!(&reply, Some(Reply::Asked(asked)) if asked.cue_id == waiter.cue && asked.again);
            match &mut trial {
                Some(trial) => trial.check(is_same, || format!("{} came back as {reply:?}", waiter.cue)),
                None => assert!(is_same, "{} came back as {reply:?}", waiter.cue),
            }
        }
        self.waiters = waiters;
    }

    fn restart(&mut self, trial: &mut Trial) {
        self.core = None;
        self.start();
        self.attach_all(Some(trial));
    }

    /// Answers everybody; returns how many heard it.
    fn answer_all(&mut self, trial: &mut Trial) -> usize {
        let waiters = std::mem::take(&mut self.waiters);
        let mut heard = 0;
        for (number, waiter) in waiters.iter().enumerate() {
            self.tickets += 1;
            let text = format!("answer {number}");
            let order = Order {
                ticket: Ticket(self.tickets),
                request: self.request(),
                work: Work::Answer {
                    cue: waiter.cue,
                    answer: Answer {
                        text: Some(text.clone()),
                        ..Answer::default()
                    },
                    by: None,
                    hold_ms: 0,
                },
            };
            let now = self.now();
            let Some(core) = &mut self.core else { return heard };
            let spoken = core.carry_out(now, [order]);
            let told = spoken.replies.iter().find(|(to, _)| *to == waiter.ticket);
            let is_right =
                matches!(told.map(|(_, reply)| &**reply), Some(Reply::Outcome(told)) if told.text == text);
            trial.check(is_right, || format!("{} heard {told:?}", waiter.cue));
            heard += usize::from(is_right);
        }
        heard
    }
}

fn ask(agent: &AgentId, words: &str) -> Work {
    Work::ask(agent.clone(), Kind::Cue, words.to_owned(), None, Origin::Agent)
}
