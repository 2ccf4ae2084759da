//! Random interleavings of agents, humans, crashes, restarts and failing transactions over machine and store, against a naive model.
//!
//! Every reply is compared with the model's prediction; at the end everything undelivered is fetched, and nothing may
//! be missing. A failure prints its seed; `CUEME_SIM_SEED=<seed>` repeats it, `CUEME_SIM_STEPS` sets the length.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod faulty;
mod model;
mod place;
#[allow(dead_code, unreachable_pub, reason = "others draw more from it")]
#[path = "../../../tests/src/random.rs"]
mod random;

use std::collections::HashMap;

use cueme_broker::engine::{Closing, CommitOutput, Core, Order, Work};
use cueme_rules::{Now, Ticket};
use faulty::{Fault, Faults, FaultyStorage};
use model::{Call, Expected, Message, Model};
use place::Place;
use protocol_spec::answer::Answer;
use protocol_spec::id::{AgentId, CueId, RequestId};
use protocol_spec::message::{DeliveredOutcome, ErrorCode, Purpose, Reply};
use protocol_spec::outcome::{Kind, Origin, Outcome};
use protocol_spec::time::Timestamp;
use random::Random;
use uuid::Uuid;

const STEPS_DEFAULT: u64 = 100_000;
const STEPS_PER_RUN: u64 = 5_000;
/// Fewer over a connection: a step takes a round trip, and a crash several.
const SHARED_STEPS_DEFAULT: u64 = 2_000;
const SHARED_STEPS_PER_RUN: u64 = 500;
/// Runs that have failed once: notes of two answers that were taken back came back in another order after a crash.
const FAILED_ONCE: [u64; 1] = [5_167_813_603_532_620_182];
/// Runs with a failing store that have failed once: callers that waited for one question were told in another order after a failed commit.
const FAILED_ONCE_WITH_FAULTS: [u64; 1] = [8_234_078_861_948_830_365];
const AGENTS: usize = 4;
const CONTENTS: u64 = 6;
const CHOICE: &str = r#"{"type":"choice","options":["a","b"]}"#;

#[test]
fn no_answer_is_lost_or_mixed_up_whatever_happens_in_between() {
    simulate(STEPS_DEFAULT, STEPS_PER_RUN, || Some(Place::sqlite()));
}

#[test]
fn no_answer_is_lost_or_mixed_up_on_a_shared_database() {
    simulate(SHARED_STEPS_DEFAULT, SHARED_STEPS_PER_RUN, Place::postgres);
}

fn simulate(steps_default: u64, steps_per_run: u64, place: fn() -> Option<Place>) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let run = |seed: u64, steps: u64, has_faults: bool| {
        println!("seed {seed}, {steps} steps, failing store: {has_faults}");
        let chance = has_faults.then(|| Random::new(!seed));
        if let Some(place) = place() {
            Simulation::run(place, seed, steps, chance);
        }
    };
    if let Some(seed) = number("CUEME_SIM_SEED") {
        let steps = number("CUEME_SIM_STEPS").unwrap_or(steps_per_run);
        run(seed, steps, false);
        return run(seed, steps, true);
    }
    let runs = number("CUEME_SIM_STEPS")
        .unwrap_or(steps_default)
        .div_ceil(steps_per_run);
    let first = Uuid::new_v4().as_u64_pair().0;
    for seed in FAILED_ONCE {
        run(seed, steps_per_run, false);
    }
    for seed in FAILED_ONCE_WITH_FAULTS {
        run(seed, steps_per_run, true);
    }
    for number in 0..runs {
        // Every other store fails now and then, at moments that follow from the seed too.
        run(first.wrapping_add(number), steps_per_run, number % 2 == 0);
    }
}

struct Simulation {
    random: Random,
    place: Place,
    core: Option<Core>,
    model: Model,
    agents: Vec<AgentId>,
    now: u64,
    tickets: u64,
    answers: u64,
    /// Calls whose reply was lost, which their caller will make again.
    unanswered: Vec<Call>,
    /// The text each question's outcome was first told with.
    told: HashMap<CueId, String>,
    faults: Faults,
    /// The random source of the store's faults; without it, there are none.
    chance: Option<Random>,
    /// Whether the store was opened again: on a shared one, waiting callers get their outcomes once more.
    has_reopened: bool,
}

impl Simulation {
    fn run(place: Place, seed: u64, steps: u64, chance: Option<Random>) {
        let mut simulation = Self {
            random: Random::new(seed),
            place,
            core: None,
            model: Model::default(),
            agents: Vec::new(),
            now: 0,
            tickets: 0,
            answers: 0,
            unanswered: Vec::new(),
            told: HashMap::new(),
            faults: Faults::default(),
            chance,
            has_reopened: false,
        };
        simulation.reopen();
        for _ in 0..AGENTS {
            simulation.join();
        }
        for step in 0..steps {
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| simulation.step()));
            if let Err(panic) = result {
                eprintln!("failed at step {step}; repeat with CUEME_SIM_SEED={seed} CUEME_SIM_STEPS={steps}");
                std::panic::resume_unwind(panic);
            }
        }
        simulation.drain();
    }

    fn step(&mut self) {
        self.now += 1 + self.random.below(50);
        match self.random.below(100) {
            0..=29 => self.ask(),
            30..=54 => self.decide(),
            55..=69 => self.acknowledge(),
            70..=79 => self.leave(),
            80..=84 => self.say(),
            85..=88 => self.undo(),
            89..=93 => self.let_time_pass(),
            94..=96 if self.can_stay_away() => self.ask_while_nobody_can_tell(),
            94..=96 => self.ask_and_lose_the_reply(),
            97 => self.crash_before_commit(),
            _ => self.crash(),
        }
    }

    fn reopen(&mut self) {
        self.core = None;
        self.has_reopened = false;
        let mut random = self.random.fork();
        let storage = self.place.storage();
        let core = Core::open(
            Box::new(FaultyStorage::new(storage, self.faults.clone())),
            true,
            self.at(),
            Box::new(move || random.next_number()),
        );
        self.core = Some(core.expect("the database opens"));
    }

    /// Returns the time by the simulated clock, which the database has, too.
    fn at(&self) -> Now {
        let wall = Timestamp::from_millis(1_800_000_000_000 + self.now as i64);
        self.place.set_clock(wall);
        Now {
            wall,
            steady: self.now,
        }
    }

    fn request(&mut self) -> RequestId {
        RequestId(Uuid::from_u64_pair(
            self.random.next_number(),
            self.random.next_number(),
        ))
    }

    /// Gives an order, and gives it again when the store refused it, as its caller does.
    fn order(&mut self, request: RequestId, work: Work) -> (Ticket, CommitOutput) {
        let fault = self.any_fault();
        let (ticket, spoken) = self.order_with(fault, request, work.clone());
        match fault {
            Some(Fault::Refuse | Fault::LoseCommit) if spoken.failed.is_some() => {
                assert_is_failure(ticket, &spoken);
                let (ticket, spoken) = self.order_with(None, request, work);
                assert_eq!(spoken.failed, None);
                (ticket, spoken)
            }
            // The output of a committed transaction is the same as without a fault.
            _ => {
                assert_eq!(spoken.failed, None);
                (ticket, spoken)
            }
        }
    }

    fn any_fault(&mut self) -> Option<Fault> {
        let chance = self.chance.as_mut()?;
        match chance.below(60) {
            0 => Some(Fault::Refuse),
            1 => Some(Fault::LoseCommit),
            2 => Some(Fault::HideCommit),
            3 => Some(Fault::Delay(chance.below(3_000))),
            _ => None,
        }
    }

    /// Lets the broker repeat what it told, after the store was opened again: to those who wait for it alone, and marked.
    fn hear_repeats(&mut self) {
        if !std::mem::take(&mut self.has_reopened) || !self.place.is_shared() {
            return;
        }
        let nobody = Order {
            ticket: Ticket(u64::MAX),
            request: RequestId(Uuid::nil()),
            work: Work::Gone,
        };
        let now = self.at();
        let spoken = self.core.as_mut().expect("a broker").carry_out(now, [nobody]);
        assert_eq!(spoken.failed, None);
        for (to, reply) in &spoken.replies {
            let Reply::Outcome(told) = &**reply else {
                panic!("{reply:?}")
            };
            let waits = self
                .model
                .find(told.cue_id)
                .is_some_and(|cue| cue.waiters.contains(&to.0));
            assert!(waits && told.repeat_of.is_some(), "{to:?}: {told:?}");
            self.check_told(told);
        }
    }

    fn order_with(&mut self, fault: Option<Fault>, request: RequestId, work: Work) -> (Ticket, CommitOutput) {
        self.hear_repeats();
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        let now = self.at();
        self.faults.plan(fault);
        let order = Order {
            ticket,
            request,
            work,
        };
        let core = self.core.as_mut().expect("a broker");
        let spoken = core.carry_out(now, [order]);
        let has_struck = fault.is_some() && !self.faults.cancel();
        self.now += self.faults.delayed_ms();
        if has_struck && !matches!(fault, Some(Fault::Delay(_))) {
            self.model.reload(self.now);
            self.has_reopened = true;
        }
        (ticket, spoken)
    }

    fn join(&mut self) {
        let request = self.request();
        let work = Work::Join {
            runtime: "terminal".parse().unwrap(),
            project_dir: "/p".into(),
            terminal: "bash".into(),
            session: None,
        };
        let (_, spoken) = self.order(request, work);
        let [(_, reply)] = &spoken.replies[..] else {
            panic!("{spoken:?}")
        };
        let Reply::Joined(joined) = &**reply else {
            panic!("{reply:?}")
        };
        self.agents.push(joined.agent_id.clone());
    }

    fn any_call(&mut self) -> Call {
        if !self.unanswered.is_empty() && self.random.below(2) == 0 {
            let index = self.random.below(self.unanswered.len() as u64) as usize;
            return self.unanswered.swap_remove(index);
        }
        self.any_new_call()
    }

    fn any_new_call(&mut self) -> Call {
        let request = self.request();
        let agent = self.random.below(AGENTS as u64) as usize;
        Call {
            request,
            agent: self.agents[agent].clone(),
            content: self.random.below(CONTENTS),
            has_payload: self.random.below(3) == 0,
            is_approval: self.random.below(6) == 0,
        }
    }

    fn ask_work(call: &Call) -> Work {
        let payload = call.has_payload.then(|| CHOICE.to_owned());
        Work::ask(
            call.agent.clone(),
            Kind::Cue,
            format!("question {}", call.content),
            payload,
            if call.is_approval {
                Origin::Approval
            } else {
                Origin::Agent
            },
        )
    }

    fn ask(&mut self) {
        if self.chance.as_mut().is_some_and(|chance| chance.below(10) == 0) {
            return self.ask_together();
        }
        let call = self.any_call();
        let (ticket, spoken) = self.order(call.request, Self::ask_work(&call));
        self.check_asked(&call, ticket, &spoken);
    }

    /// Asks once for each agent in one batch. When its transaction fails, each call is carried out alone.
    fn ask_together(&mut self) {
        let mut calls = Vec::new();
        for index in 0..AGENTS {
            let agent = self.agents[index].clone();
            let call = Call {
                agent,
                ..self.any_new_call()
            };
            self.tickets += 1;
            calls.push((call, Ticket(self.tickets)));
        }
        let orders: Vec<Order> = calls
            .iter()
            .map(|(call, ticket)| Order {
                ticket: *ticket,
                request: call.request,
                work: Self::ask_work(call),
            })
            .collect();
        self.hear_repeats();
        let fault = self.any_fault();
        self.faults.plan(fault);
        let now = self.at();
        let spoken = self.core.as_mut().expect("a broker").carry_out(now, orders);
        let has_struck = fault.is_some() && !self.faults.cancel();
        self.now += self.faults.delayed_ms();
        let is_undone = has_struck && matches!(fault, Some(Fault::Refuse | Fault::LoseCommit));
        assert_eq!(spoken.failed.is_some(), is_undone, "{spoken:?}");
        if has_struck && !matches!(fault, Some(Fault::Delay(_))) {
            self.model.reload(self.now);
            self.has_reopened = true;
        }
        for (call, ticket) in &calls {
            self.check_asked(call, *ticket, &spoken);
        }
    }

    /// Holds the replies to an ask against the model, which then does the same.
    fn check_asked(&mut self, call: &Call, ticket: Ticket, spoken: &CommitOutput) {
        let expected = self.model.expect_ask(call);
        let replies: Vec<&Reply> = spoken
            .replies
            .iter()
            .filter(|(to, _)| *to == ticket)
            .map(|(_, reply)| &**reply)
            .collect();
        let id = match (&expected, &replies[..]) {
            (Expected::Waits { known }, [Reply::Asked(asked)]) => {
                self.check_id(*known, asked.cue_id, asked.again);
                asked.cue_id
            }
            (Expected::Outcome { known, is_repeat }, [Reply::Asked(asked), Reply::Outcome(told)]) => {
                self.check_id(*known, asked.cue_id, asked.again);
                assert_eq!(told.cue_id, asked.cue_id);
                assert_eq!(
                    told.repeat_of.is_some(),
                    *is_repeat,
                    "an unmarked duplicate, or a marked original: {told:?}"
                );
                asked.cue_id
            }
            (Expected::Mailbox { earlier }, [Reply::Mailbox(mailbox)]) => {
                let got: Vec<_> = mailbox
                    .earlier
                    .iter()
                    .map(|told| (told.cue_id, told.repeat_of.is_some()))
                    .collect();
                assert_eq!(got, *earlier);
                mailbox.cue_id
            }
            other => panic!("the model expects another reply: {other:?}"),
        };
        self.model.ask(self.now, call, id, ticket.0);
        for reply in replies {
            match reply {
                Reply::Outcome(told) => self.check_told(told),
                Reply::Mailbox(mailbox) => mailbox.earlier.iter().for_each(|told| self.check_told(told)),
                _ => {}
            }
        }
    }

    fn check_id(&self, known: Option<CueId>, got: CueId, again: bool) {
        match known {
            Some(known) => assert_eq!((known, true), (got, again)),
            None => {
                assert!(!again);
                assert!(
                    self.model.find(got).is_none(),
                    "a new question got the id of an old one"
                );
            }
        }
    }

    /// Checks that a text is the one this question was decided with, and always the same.
    fn check_told(&mut self, told: &DeliveredOutcome) {
        let decision = self.model.find(told.cue_id).and_then(|cue| cue.decision.as_ref());
        let decision = decision.unwrap_or_else(|| panic!("an outcome nobody decided: {told:?}"));
        assert_eq!(told.outcome, decision.outcome);
        let mut rest = told.text.as_str();
        for word in &decision.words {
            let place = rest
                .find(word.as_str())
                .unwrap_or_else(|| panic!("{word:?} is missing in {told:?}"));
            rest = &rest[place + word.len()..];
        }
        let first = self.told.entry(told.cue_id).or_insert_with(|| told.text.clone());
        assert_eq!(*first, told.text, "the text changed");
    }

    fn decide(&mut self) {
        let ids: Vec<CueId> = self.model.cues.iter().rev().take(40).map(|cue| cue.id).collect();
        let Some(&id) = self.random.pick(&ids) else { return };
        self.answers += 1;
        let word = format!("word-{}-for-{id}", self.answers);
        let (outcome, work, hold_ms) = match self.random.below(8) {
            0 => (
                Outcome::Declined,
                Work::Close {
                    cue: id,
                    verdict: Closing::Decline(Some(word.clone())),
                    by: None,
                    hold_ms: 0,
                },
                0,
            ),
            1 => (
                Outcome::Cancelled,
                Work::Close {
                    cue: id,
                    verdict: Closing::Cancel(Some(word.clone())),
                    by: None,
                    hold_ms: 0,
                },
                0,
            ),
            other => {
                let hold_ms = if other == 2 { 5_000 } else { 0 };
                let answer = Answer {
                    text: Some(word.clone()),
                    ..Answer::default()
                };
                (
                    Outcome::Answered,
                    Work::Answer {
                        cue: id,
                        answer,
                        by: None,
                        hold_ms,
                    },
                    hold_ms,
                )
            }
        };
        let request = self.request();
        let waiters = self
            .model
            .find(id)
            .map(|cue| cue.waiters.clone())
            .unwrap_or_default();
        let held_until = (hold_ms > 0).then_some(self.now + hold_ms);
        let should_succeed = self.model.decide(id, request, outcome, &word, held_until);
        let (ticket, spoken) = self.order(request, work);
        let mut heard = Vec::new();
        for (to, reply) in &spoken.replies {
            match &**reply {
                Reply::Decided(decided) => {
                    assert!(should_succeed && *to == ticket, "decided twice: {decided:?}");
                    assert_eq!(decided.handed_to as usize, waiters.len());
                }
                Reply::Error(failure) => {
                    assert!(!should_succeed && *to == ticket, "{failure:?}");
                    assert_eq!(failure.code, ErrorCode::AlreadyDecided);
                }
                Reply::Outcome(told) => {
                    heard.push(to.0);
                    assert_eq!(told.repeat_of, None);
                    self.check_told(told);
                }
                other => panic!("{other:?}"),
            }
        }
        let expected = if should_succeed && held_until.is_none() {
            waiters
        } else {
            Vec::new()
        };
        assert_eq!(heard, expected, "everyone who waits hears it, and nobody else");
    }

    fn acknowledge(&mut self) {
        let handed: Vec<CueId> = self
            .model
            .cues
            .iter()
            .filter(|cue| cue.was_handed)
            .map(|cue| cue.id)
            .collect();
        let recent: Vec<CueId> = handed.into_iter().rev().take(10).collect();
        let Some(&id) = self.random.pick(&recent) else {
            return;
        };
        self.acknowledge_one(id);
    }

    fn acknowledge_one(&mut self, id: CueId) {
        let is_first = !self.model.find(id).expect("known").is_acknowledged;
        let request = self.request();
        let (_, spoken) = self.order(
            request,
            Work::Ack {
                cues: vec![id],
                nonce: None,
            },
        );
        let [(_, reply)] = &spoken.replies[..] else {
            panic!("{spoken:?}")
        };
        let Reply::Acked(acked) = &**reply else {
            panic!("{reply:?}")
        };
        assert_eq!(acked.cue_ids, if is_first { vec![id] } else { vec![] });
        self.model.acknowledge(id);
    }

    fn leave(&mut self) {
        let waiting: Vec<u64> = self
            .model
            .cues
            .iter()
            .flat_map(|cue| cue.waiters.iter().copied())
            .collect();
        let Some(&ticket) = self.random.pick(&waiting) else {
            return;
        };
        let now = self.at();
        let order = Order {
            ticket: Ticket(ticket),
            request: RequestId(Uuid::nil()),
            work: Work::Gone,
        };
        self.core.as_mut().expect("a broker").carry_out(now, [order]);
        self.model.leave(self.now, ticket);
    }

    fn say(&mut self) {
        let index = self.random.below(AGENTS as u64) as usize;
        let agent = self.agents[index].clone();
        self.answers += 1;
        let text = format!("message-{}", self.answers);
        let request = self.request();
        let is_answer = self.random.below(2) == 0;
        let purpose = if is_answer {
            Purpose::QueuedAnswer
        } else {
            Purpose::Note
        };
        let (_, spoken) = self.order(
            request,
            Work::Say {
                agent: agent.clone(),
                text: text.clone(),
                purpose,
                by: None,
            },
        );
        let [(_, reply)] = &spoken.replies[..] else {
            panic!("{spoken:?}")
        };
        assert!(matches!(**reply, Reply::Said(_)), "{reply:?}");
        self.model.messages.push(Message {
            to: agent,
            request,
            text,
            is_answer,
        });
    }

    fn undo(&mut self) {
        let held: Vec<CueId> = self
            .model
            .cues
            .iter()
            .filter(|cue| {
                cue.decision
                    .as_ref()
                    .is_some_and(|decision| decision.held_until.is_some())
            })
            .map(|cue| cue.id)
            .collect();
        let Some(&id) = self.random.pick(&held) else {
            return;
        };
        let request = self.request();
        let (_, spoken) = self.order(request, Work::Undo(id));
        let [(_, reply)] = &spoken.replies[..] else {
            panic!("{spoken:?}")
        };
        assert_eq!(
            matches!(**reply, Reply::Undone(_)),
            self.model.undo(self.now, id),
            "{reply:?}"
        );
    }

    fn let_time_pass(&mut self) {
        let due = self.core.as_ref().expect("a broker").machine().next_due();
        self.now = match due {
            Some(due) if self.random.below(2) == 0 => self.now.max(due),
            _ => self.now + self.random.below(20 * 60 * 1000),
        };
        let now = self.at();
        let order = Order {
            ticket: Ticket(0),
            request: RequestId(Uuid::nil()),
            work: Work::Tick,
        };
        let spoken = self.core.as_mut().expect("a broker").carry_out(now, [order]);
        self.model.tick(self.now);
        for (_, reply) in &spoken.replies {
            let Reply::Outcome(told) = &**reply else {
                panic!("{reply:?}")
            };
            self.check_told(told);
        }
        let core = self.core.as_ref().expect("a broker");
        assert!(
            core.machine().next_due().is_none_or(|due| due > self.now),
            "something due was not done"
        );
    }

    /// The commit happens, the caller never hears of it, and later makes the same call again.
    fn ask_and_lose_the_reply(&mut self) {
        let call = self.any_call();
        let (ticket, spoken) = self.order(call.request, Self::ask_work(&call));
        let id = spoken.replies.iter().find_map(|(_, reply)| match &**reply {
            Reply::Asked(asked) => Some(asked.cue_id),
            Reply::Mailbox(mailbox) => Some(mailbox.cue_id),
            _ => None,
        });
        self.model.ask(self.now, &call, id.expect("an id"), ticket.0);
        self.unanswered.push(call);
        self.crash();
    }

    /// The commit happens, and the store cannot be reached to find out: the caller gets an error in doubt, and asks
    /// again.
    fn ask_while_nobody_can_tell(&mut self) {
        let call = self.any_call();
        let fault = Some(Fault::HideCommitAndStayAway);
        let (ticket, spoken) = self.order_with(fault, call.request, Self::ask_work(&call));
        let core = self.core.as_ref().expect("a broker");
        // If it is a new question, there is one that the model does not know.
        let mut live = core.machine().live_cues().map(|(id, _)| id);
        let fresh = live.find(|id| self.model.find(*id).is_none());
        let id = fresh.unwrap_or(CueId::from_random(0));
        drop(live);
        if spoken.failed.is_some() {
            assert_is_failure(ticket, &spoken);
        }
        let gone = Order {
            ticket,
            request: call.request,
            work: Work::Gone,
        };
        let now = self.at();
        let core = self.core.as_mut().expect("a broker");
        assert_eq!(core.carry_out(now, [gone]).failed, None);
        self.model.ask(self.now, &call, id, ticket.0);
        self.model.leave(self.now, ticket.0);
        self.model.reload(self.now);
        self.unanswered.push(call);
    }

    fn can_stay_away(&mut self) -> bool {
        self.chance.as_mut().is_some_and(|chance| chance.below(2) == 0)
    }

    /// Orders that were never committed never happened.
    fn crash_before_commit(&mut self) {
        let call = self.any_call();
        self.unanswered.push(call);
        self.crash();
    }

    fn crash(&mut self) {
        self.reopen();
        self.model.restart(self.now);
    }

    /// Fetches everything undelivered, as agents do that ask again; afterwards nothing may be left.
    fn drain(&mut self) {
        self.now += 60 * 60 * 1000;
        self.crash();
        self.let_time_pass();
        // Each question takes one queued answer, and the question itself is fetched by the next.
        let rounds = 3 + 2 * self.model.messages.len();
        for round in 0..rounds {
            for agent in self.agents.clone() {
                if round >= 3 && !self.model.has_more_for(&agent) {
                    continue;
                }
                let call = Call {
                    request: self.request(),
                    agent,
                    content: 1_000 + self.tickets,
                    has_payload: false,
                    is_approval: false,
                };
                let before = self.model.expect_ask(&call);
                let (ticket, spoken) = self.order(call.request, Self::ask_work(&call));
                for (_, reply) in &spoken.replies {
                    match &**reply {
                        Reply::Mailbox(mailbox) => {
                            self.model.ask(self.now, &call, mailbox.cue_id, ticket.0);
                            for told in &mailbox.earlier {
                                self.check_told(told);
                                self.acknowledge_one(told.cue_id);
                            }
                        }
                        Reply::Asked(asked) => {
                            self.model.ask(self.now, &call, asked.cue_id, ticket.0);
                        }
                        Reply::Outcome(told) => {
                            self.check_told(told);
                            self.acknowledge_one(told.cue_id);
                        }
                        other => panic!("{other:?} instead of {before:?}"),
                    }
                }
                let now = self.at();
                let gone = Order {
                    ticket,
                    request: call.request,
                    work: Work::Gone,
                };
                self.core.as_mut().expect("a broker").carry_out(now, [gone]);
                self.model.leave(self.now, ticket.0);
            }
        }
        for agent in self.agents.clone() {
            self.answer_with_notes(agent);
        }
        let lost: Vec<_> = self
            .model
            .cues
            .iter()
            .filter(|cue| cue.decision.is_some() && !cue.is_acknowledged)
            .collect();
        assert!(lost.is_empty(), "lost answers: {lost:#?}");
        assert!(
            self.model.messages.is_empty(),
            "lost messages: {:?}",
            self.model.messages
        );
        let counts = self.core.as_ref().expect("a broker").machine().counts();
        assert_eq!(counts.undelivered, 0);
    }

    /// Asks and answers once more: the answer carries the notes that wait.
    fn answer_with_notes(&mut self, agent: AgentId) {
        let call = Call {
            request: self.request(),
            agent,
            content: 1_000_000 + self.tickets,
            has_payload: false,
            is_approval: false,
        };
        let (ticket, spoken) = self.order(call.request, Self::ask_work(&call));
        let [(_, reply)] = &spoken.replies[..] else {
            panic!("{spoken:?}")
        };
        let Reply::Asked(asked) = &**reply else {
            panic!("{reply:?}")
        };
        let cue = asked.cue_id;
        self.model.ask(self.now, &call, cue, ticket.0);
        let request = self.request();
        let answer = Answer {
            text: Some("the last word".into()),
            ..Answer::default()
        };
        let work = Work::Answer {
            cue,
            answer,
            by: None,
            hold_ms: 0,
        };
        assert!(
            self.model
                .decide(cue, request, Outcome::Answered, "the last word", None)
        );
        let (_, spoken) = self.order(request, work);
        for (_, reply) in &spoken.replies {
            if let Reply::Outcome(told) = &**reply {
                self.check_told(told);
            }
        }
        self.acknowledge_one(cue);
        let now = self.at();
        let gone = Order {
            ticket,
            request: call.request,
            work: Work::Gone,
        };
        self.core.as_mut().expect("a broker").carry_out(now, [gone]);
        self.model.leave(self.now, ticket.0);
    }
}

/// Checks that a caller got a failure, and no other caller got anything.
fn assert_is_failure(ticket: Ticket, spoken: &CommitOutput) {
    let [(to, reply)] = &spoken.replies[..] else {
        panic!("{spoken:?}")
    };
    assert!(
        *to == ticket && matches!(&**reply, Reply::Error(failure) if failure.code == ErrorCode::Storage),
        "{spoken:?}"
    );
    assert!(spoken.events.is_empty(), "{spoken:?}");
}
