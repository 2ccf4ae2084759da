//! The attacks of R17 that have to be aimed, each named after the invariant that it attacks.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use cueme_test_kit::free_port;
use cueme_test_kit::postgres::Server;
use cueme_test_kit::postgres_proxy::{Cut, Proxy};
use cueme_tests::{Home, Http, Random, Wire, eventually};
use protocol_spec::id::{CueId, RequestId};
use protocol_spec::message::{ErrorCode, Reply, Request, RevokeToken, Watch};
use rustix::process::{Pid, Signal, kill_process};

use crate::r17_brokers::{BEYOND_LEASE, CATCH_UP_MAX};
use crate::trial::Trial;
use cueme_test_kit::request::{ack, answer, ask};

/// The number of concurrent deciders of one question.
const DECIDERS: usize = 8;
/// Readers of events, spread over all brokers.
pub(crate) const READERS: usize = 6;

/// Returns a broker of its own machine on a database.
pub(crate) fn home_on(url: &str, more: &str) -> Home {
    let home = Home::new();
    home.configure(&format!("reminder = false\nstore = \"{url}\"\n{more}"));
    home.ok(&["inbox"]);
    home
}

const NO_PAGE: &str = "listen = \"off\"\n";
/// The time that a server takes to restart.
const RESTART: Duration = Duration::from_millis(1500);
/// For so long nobody may hear of a commit that is held.
const SILENCE: Duration = Duration::from_millis(150);

/// Asks, and waits on the connection that it returns.
fn ask_at(home: &Home, agent: &str, prompt: &str) -> (Wire, CueId) {
    let mut wire = home.wire();
    match wire.call(&ask(agent, prompt)) {
        Some(Reply::Asked(asked)) => (wire, asked.cue_id),
        other => panic!("{prompt:?} was not asked: {other:?}"),
    }
}

/// Hears the outcome as the agent's process, and acknowledges it.
fn hear(trial: &mut Trial, wire: &mut Wire, cue: CueId, wanted: &str) {
    match wire.hear() {
        Some(Reply::Outcome(told)) if told.text == wanted => {
            wire.call(&ack(cue));
        }
        other => trial.violation(format!(
            "{cue} was answered {wanted:?}, and its agent heard {other:?}"
        )),
    }
}

/// T1: while a commit is on its way nobody is told of it, and broker or server are killed then: who was told was told the truth.
pub(crate) fn t1_told_after_the_commit(trial: &mut Trial, server: &Server) {
    let url = server.database();
    let proxy = Proxy::start(server.port());
    let (through, direct) = (home_on(&proxy.url(&url), NO_PAGE), home_on(&url, NO_PAGE));
    let agent = direct.join();
    let rounds = trial.size(1, 10, 25);
    let mut told_late = 0u32;
    for round in 0..rounds {
        for (at, kills_server) in [
            (Cut::Commit, false),
            (Cut::Confirmation, false),
            (Cut::Commit, true),
            (Cut::Confirmation, true),
        ] {
            let prompt = format!("Told too early {round}, {at:?}, {kills_server}?");
            let (mut asking, cue) = ask_at(&through, &agent, &prompt);
            let (say, request) = (answer(cue.as_str(), &prompt), Wire::mint());
            let mut human = through.wire();
            let broker = through.broker_pid();
            proxy.hold(at);
            human.send_as(request, &say);
            eventually("the commit is held", || proxy.holds().then_some(()));
            let is_silent = human.is_silent_for(SILENCE) && asking.is_silent_for(SILENCE);
            trial.check(is_silent, || {
                format!("T1: {cue} was told while its commit was held at {at:?}")
            });
            match kills_server {
                true => server.kill(),
                false => through.kill_brokers(&[broker]),
            }
            proxy.release();
            if kills_server {
                server.restart();
            }
            let first = human.hear();
            let is_stored = || {
                let count = "SELECT count(*) FROM decisions JOIN cues USING (seq) WHERE cue_id = ";
                server.run(&url, &format!("{count}'{}'", cue.as_str())) == "1"
            };
            trial.check(!matches!(first, Some(Reply::Decided(_))) || is_stored(), || {
                format!("T1: {cue} was reported as decided, and is not")
            });
            told_late += u32::from(matches!(first, Some(Reply::Decided(_))));
            eventually("the same decision is taken", || {
                let mut human = direct.wire();
                human.send_as(request, &say);
                matches!(human.hear(), Some(Reply::Decided(_))).then_some(())
            });
            if kills_server {
                hear(trial, &mut asking, cue, &prompt);
            } else {
                hear_again(trial, &direct, &agent, &prompt, cue, false);
                through.ok(&["inbox"]);
            }
        }
    }
    trial.figure(
        "T1 commits held, of them told later",
        format!("{}; {told_late}", 4 * rounds),
    );
}

/// T6: the agent's broker or the human's dies before the answer, after it, or before the agent has confirmed it: the agent
/// asks again, at whichever, and has this answer, marked if it has heard it before.
pub(crate) fn t6_each_killed(trial: &mut Trial, server: &Server) {
    let url = server.database();
    let homes = [home_on(&url, NO_PAGE), home_on(&url, NO_PAGE)];
    let [agents, humans] = &homes;
    let agent = agents.join();
    let rounds = trial.size(8, 100, 400);
    let mut marked = 0u32;
    for round in 0..rounds {
        let prompt = format!("Handed over {round}?");
        let (mut asking, cue) = ask_at(agents, &agent, &prompt);
        let (say, request) = (answer(cue.as_str(), &prompt), Wire::mint());
        let decide = || {
            eventually("the answer is taken", || {
                let mut human = humans.wire();
                human.send_as(request, &say);
                matches!(human.hear(), Some(Reply::Decided(_))).then_some(())
            });
        };
        let mut has_heard = false;
        match round % 4 {
            0 => {
                agents.kill_broker();
                decide();
            }
            1 => {
                decide();
                humans.kill_broker();
            }
            stage => {
                decide();
                let told = asking.hear();
                has_heard = true;
                trial.check(
                    matches!(&told, Some(Reply::Outcome(told)) if told.text == prompt && told.repeat_of.is_none()),
                    || format!("T6: {cue} was answered, and its agent heard {told:?}"),
                );
                let dying = if stage == 2 { agents } else { humans };
                dying.kill_broker();
            }
        }
        for home in &homes {
            home.ok(&["inbox"]);
        }
        drop(asking);
        let next = &homes[trial.random.index(homes.len())];
        marked += u32::from(hear_again(trial, next, &agent, &prompt, cue, has_heard));
    }
    trial.figure(
        "T6 brokers killed; outcomes repeated and marked",
        format!("{rounds}; {marked}"),
    );
}

/// Asks again as an agent whose connection broke, hears the outcome, and confirms it. Returns whether it was marked as a repeat.
fn hear_again(
    trial: &mut Trial,
    home: &Home,
    agent: &str,
    prompt: &str,
    cue: CueId,
    has_heard: bool,
) -> bool {
    let (mut asking, again) = ask_at(home, agent, prompt);
    trial.check(again == cue, || {
        format!("T6: {prompt:?} was {cue}, and is {again} when it is asked again")
    });
    let told = asking.hear();
    let Some(Reply::Outcome(outcome)) = &told else {
        trial.violation(format!("T6: {cue} was asked again, and its agent heard {told:?}"));
        return false;
    };
    trial.check(outcome.cue_id == cue && outcome.text == prompt, || {
        format!("T6: {cue} was asked again, and its agent heard {told:?}")
    });
    let is_marked = outcome.repeat_of.is_some();
    trial.check(is_marked || !has_heard, || {
        format!("T6: {cue} was told twice, and the repeat is not marked")
    });
    asking.call(&ack(cue));
    is_marked
}

/// T7: a broker is stopped inside of its transaction, or between the commit and its confirmation, for longer than its lease. It
/// goes on, and changes nothing that was decided meanwhile.
pub(crate) fn t7_stopped_in_a_commit(trial: &mut Trial, server: &Server) {
    let url = server.database();
    let proxy = Proxy::start(server.port());
    let (stopping, other) = (home_on(&proxy.url(&url), NO_PAGE), home_on(&url, NO_PAGE));
    let agent = stopping.join();
    let rounds = trial.size(1, 4, 10);
    for round in 0..rounds {
        for at in [Cut::Commit, Cut::Confirmation] {
            let (mut asking, cue) = ask_at(&stopping, &agent, &format!("Stopped {round}, {at:?}?"));
            let mut human = stopping.wire();
            let broker = i32::try_from(stopping.broker_pid()).ok().and_then(Pid::from_raw);
            let Some(broker) = broker else {
                return trial.violation("T7: no broker to stop");
            };
            proxy.hold(at);
            human.send(&answer(cue.as_str(), "by the stopped broker"));
            eventually("the commit is held", || proxy.holds().then_some(()));
            let stopped = kill_process(broker, Signal::STOP);
            trial.check(stopped.is_ok(), || format!("T7: not stopped: {stopped:?}"));
            std::thread::sleep(BEYOND_LEASE);
            let decided = other.wire().call(&answer(cue.as_str(), "by the other broker"));
            let is_by_other = match &decided {
                Some(Reply::Decided(_)) => true,
                Some(Reply::Error(failure)) if failure.code == ErrorCode::AlreadyDecided => false,
                _ => {
                    trial.violation(format!("T7: the other broker said {decided:?}"));
                    false
                }
            };
            proxy.release();
            let _ = kill_process(broker, Signal::CONT);
            let first = human.hear();
            let fits = match &first {
                Some(Reply::Decided(_)) => !is_by_other,
                Some(Reply::Error(failure)) => is_by_other && failure.code == ErrorCode::AlreadyDecided,
                _ => false,
            };
            trial.check(fits, || {
                format!("T7: stopped at {at:?}, decided by the other: {is_by_other}, and it said {first:?}")
            });
            let by = if is_by_other { "other" } else { "stopped" };
            hear(trial, &mut asking, cue, &format!("by the {by} broker"));
        }
    }
    trial.figure("T7 brokers stopped in a commit", 2 * rounds);
}

/// T2: of eight who decide one question at three brokers one wins, and each gets the same reply when it says the same again.
pub(crate) fn t2_eight_deciders(trial: &mut Trial, homes: &[Home]) {
    for home in homes {
        home.ok(&["inbox"]);
    }
    let questions = trial.size(25, 500, 500);
    let agent = homes[0].join();
    for number in 0..questions {
        let (mut asking, cue) = ask_at(&homes[0], &agent, &format!("Who decides {number}?"));
        let decide = |decider: usize| {
            let (mut wire, request) = (homes[decider % homes.len()].wire(), Wire::mint());
            let say = answer(cue.as_str(), &format!("decider {decider}"));
            [(); 2].map(|()| {
                wire.send_as(request, &say);
                match wire.hear() {
                    Some(Reply::Decided(_)) => Ok(true),
                    Some(Reply::Error(failure)) if failure.code == ErrorCode::AlreadyDecided => Ok(false),
                    other => Err(format!("{other:?}")),
                }
            })
        };
        let heard: Vec<[Result<bool, String>; 2]> = std::thread::scope(|scope| {
            let decide = &decide;
            let deciders: Vec<_> = (0..DECIDERS)
                .map(|decider| scope.spawn(move || decide(decider)))
                .collect();
            deciders
                .into_iter()
                .filter_map(|decider| decider.join().ok())
                .collect()
        });
        let winners: Vec<usize> = (0..heard.len())
            .filter(|place| heard[*place][0] == Ok(true))
            .collect();
        let is_steady = heard.iter().all(|[first, again]| first == again && first.is_ok());
        trial.check(is_steady && winners.len() == 1 && heard.len() == DECIDERS, || {
            format!("T2: {cue} was decided by {heard:?}")
        });
        let Some(winner) = winners.first() else { continue };
        hear(trial, &mut asking, cue, &format!("decider {winner}"));
    }
    trial.figure("T2 questions of eight deciders", questions);
}

/// What goes wrong in a transaction of T3.
#[derive(Debug, Clone, Copy)]
enum Operation {
    Ask,
    Answer,
    Ack,
}

const OPERATIONS: [Operation; 3] = [Operation::Ask, Operation::Answer, Operation::Ack];

/// T3: the connection to the database is cut at a message of a transaction, in either direction.
pub(crate) fn t3_commit_cut(trial: &mut Trial, server: &Server) {
    let url = server.database();
    let proxy = Proxy::start(server.port());
    let (through, direct) = (home_on(&proxy.url(&url), NO_PAGE), home_on(&url, NO_PAGE));
    let agent = direct.join();
    let cut = CutTown {
        server,
        url,
        proxy,
        through,
        direct,
        agent,
    };
    // Larger tiers try every message.
    let stride = trial.size(8, 1, 1);
    let mut cuts = 0u32;
    let mut handed = 0u32;
    for make in [Cut::Sent as fn(u32) -> Cut, Cut::Received] {
        for operation in OPERATIONS {
            let mut place = 0;
            while cut.cut_at(trial, operation, make(place)) {
                cuts += 1;
                place += stride;
            }
        }
        let mut place = 0;
        while cut.hand_at(trial, make(place)) {
            handed += 1;
            place += stride;
        }
    }
    for operation in OPERATIONS {
        for at in [Cut::Commit, Cut::Confirmation] {
            cut.away_at(trial, operation, at);
        }
    }
    trial.check(cuts > 0 && handed > 0, || "T3: nothing was cut".to_owned());
    trial.figure("T3 transactions cut", cuts + handed);
    trial.figure("T3 commits during a restart of the server", 2 * OPERATIONS.len());
}

/// A broker behind a proxy, and one beside it.
struct CutTown<'a> {
    server: &'a Server,
    url: String,
    proxy: Proxy,
    through: Home,
    direct: Home,
    agent: String,
}

/// A request of T3, and the statement that counts what it stores.
struct Attempt {
    request: Request,
    count: String,
    /// The wire of the agent that waits for the question, unless asking is what is cut.
    asking: Option<(Wire, CueId)>,
    text: String,
}

impl CutTown<'_> {
    fn prepare(&self, operation: Operation, at: Cut) -> Attempt {
        let text = format!("{operation:?} cut at {at:?} {}?", Wire::mint().0);
        if matches!(operation, Operation::Ask) {
            return Attempt {
                request: ask(&self.agent, &text),
                count: format!("SELECT count(*) FROM questions WHERE prompt = '{text}'"),
                asking: None,
                text,
            };
        }
        let (mut asking, cue) = ask_at(&self.direct, &self.agent, &text);
        let seq = format!("cues USING (seq) WHERE cue_id = '{}'", cue.as_str());
        let (request, count) = match operation {
            Operation::Ask | Operation::Answer => (
                answer(cue.as_str(), &text),
                format!("SELECT count(*) FROM decisions JOIN {seq}"),
            ),
            Operation::Ack => {
                self.direct.wire().call(&answer(cue.as_str(), &text));
                asking.hear();
                (
                    ack(cue),
                    format!("SELECT count(*) FROM questions JOIN {seq} AND delivery = 2"),
                )
            }
        };
        Attempt {
            request,
            count,
            asking: Some((asking, cue)),
            text,
        }
    }

    /// Cuts an operation there; returns whether there was something to cut.
    fn cut_at(&self, trial: &mut Trial, operation: Operation, at: Cut) -> bool {
        let attempt = self.prepare(operation, at);
        let (mut wire, id) = (self.through.wire(), Wire::mint());
        self.proxy.cut(at);
        wire.send_as(id, &attempt.request);
        let first = wire.hear();
        let was_spared = self.proxy.spare();
        let is_stored = self.server.run(&self.url, &attempt.count) == "1";
        match &first {
            Some(reply) if has_succeeded(reply) => trial.check(is_stored, || {
                format!("T3: {operation:?} was confirmed at {at:?}, and is not stored")
            }),
            // The server can be reached again at once, so nothing stays in doubt.
            Some(Reply::Error(failure)) if failure.code == ErrorCode::Storage => trial
                .check(!is_stored && !failure.message.contains("not known"), || {
                    format!("T3: {operation:?} failed at {at:?} ({failure:?}), stored: {is_stored}")
                }),
            other => trial.violation(format!("T3: {operation:?} at {at:?} was answered {other:?}")),
        }
        self.finish(trial, attempt, wire, id, first);
        !was_spared
    }

    /// Cuts an operation there while the server restarts: its caller hears how that ended, and no doubt.
    fn away_at(&self, trial: &mut Trial, operation: Operation, at: Cut) {
        let attempt = self.prepare(operation, at);
        let (mut wire, id) = (self.through.wire(), Wire::mint());
        let server = self.proxy.lead_to(free_port());
        self.proxy.cut(at);
        wire.send_as(id, &attempt.request);
        std::thread::sleep(RESTART);
        self.proxy.lead_to(server);
        let first = wire.hear();
        let is_stored = self.server.run(&self.url, &attempt.count) == "1";
        trial.check(first.as_ref().is_some_and(has_succeeded) && is_stored, || {
            format!("T3: {operation:?} at {at:?} of a restart was answered {first:?}, stored: {is_stored}")
        });
        self.finish(trial, attempt, wire, id, first);
    }

    /// Repeats an operation: it is done, and was done once.
    fn finish(
        &self,
        trial: &mut Trial,
        attempt: Attempt,
        mut wire: Wire,
        id: RequestId,
        first: Option<Reply>,
    ) {
        let mut last = first;
        if !last.as_ref().is_some_and(has_succeeded) {
            eventually("the repeated operation is taken", || {
                wire = self.through.wire();
                wire.send_as(id, &attempt.request);
                last = wire.hear();
                last.as_ref().is_some_and(has_succeeded).then_some(())
            });
        }
        let stored = self.server.run(&self.url, &attempt.count);
        trial.check(stored == "1", || {
            format!("T3: {} is stored {stored} times", attempt.text)
        });
        let (mut asking, cue) = match (attempt.asking, &last) {
            (Some(asking), _) => asking,
            (None, Some(Reply::Asked(asked))) => {
                let cue = asked.cue_id;
                self.direct.wire().call(&answer(cue.as_str(), &attempt.text));
                (wire, cue)
            }
            (None, _) => return,
        };
        if !matches!(last, Some(Reply::Acked(_))) {
            hear(trial, &mut asking, cue, &attempt.text);
        }
    }

    /// Cuts the transaction in which a broker hands over an answer that was given at another one.
    fn hand_at(&self, trial: &mut Trial, at: Cut) -> bool {
        let text = format!("Handed over and cut at {at:?}?");
        let (mut asking, cue) = ask_at(&self.through, &self.agent, &text);
        // The tick after the question is not what is cut.
        asking.is_silent_for(SILENCE);
        self.proxy.cut(at);
        self.direct.wire().call(&answer(cue.as_str(), &text));
        hear(trial, &mut asking, cue, &text);
        !self.proxy.spare()
    }
}

fn has_succeeded(reply: &Reply) -> bool {
    matches!(reply, Reply::Asked(_) | Reply::Decided(_) | Reply::Acked(_))
}

/// T4: reads events from random places at one broker until it is told to stop; each number is the one after the last.
pub(crate) fn t4_read_events(
    home: &Home,
    mut random: Random,
    is_over: &AtomicBool,
    gaps: &Mutex<Vec<String>>,
) {
    let mut newest = 0;
    while !is_over.load(Ordering::Relaxed) {
        let Some(mut wire) = Wire::connect(&home.socket()) else {
            std::thread::sleep(std::time::Duration::from_millis(5));
            continue;
        };
        let mut last = i64::try_from(random.below(newest + 1)).unwrap_or(0);
        wire.send(&Request::Watch(Watch { after: Some(last) }));
        // Once it is over the brokers are killed, which ends this.
        while let Some(Reply::Event(event)) = wire.hear() {
            let Some(id) = event.id else { continue };
            if id != last + 1 {
                let mut gaps = gaps.lock().unwrap_or_else(PoisonError::into_inner);
                gaps.push(format!(
                    "T4: event {id} came after {last} at {}",
                    home.path().display()
                ));
            }
            last = id;
            newest = newest.max(u64::try_from(id).unwrap_or(0));
            // Now and then from another place.
            if random.below(200) == 0 {
                break;
            }
        }
    }
}

/// T5: with every notification lost the same happens, at most as late as a broker looks by itself.
pub(crate) fn t5_notifications_dropped(trial: &mut Trial, server: &Server) {
    let url = server.database();
    let proxies = [Proxy::start(server.port()), Proxy::start(server.port())];
    let homes = [
        home_on(&proxies[0].url(&url), NO_PAGE),
        home_on(&proxies[1].url(&url), NO_PAGE),
    ];
    proxies.iter().for_each(Proxy::drop_notifications);
    let agent = homes[0].join();
    let mut slowest = std::time::Duration::ZERO;
    let questions = trial.size(3, 50, 50);
    for number in 0..questions {
        let (mut asking, cue) = ask_at(&homes[0], &agent, &format!("Unheard {number}?"));
        let text = format!("answer {number}");
        let started = Instant::now();
        let decided = homes[1].wire().call(&answer(cue.as_str(), &text));
        trial.check(matches!(decided, Some(Reply::Decided(_))), || {
            format!("T5: not decided: {decided:?}")
        });
        hear(trial, &mut asking, cue, &text);
        slowest = slowest.max(started.elapsed());
    }
    trial.check(slowest < CATCH_UP_MAX + trial.noise(), || {
        format!("T5: without notifications it took {slowest:?}")
    });
    trial.figure("T5 slowest answer without notifications, ms", slowest.as_millis());
}

/// T8: a token that was revoked at one broker decides nothing at another one that has not heard of it yet.
pub(crate) fn t8_revoked_while_deciding(trial: &mut Trial, server: &Server) {
    let url = server.database();
    let proxy = Proxy::start(server.port());
    let (revoking, deciding) = (home_on(&url, ""), home_on(&proxy.url(&url), ""));
    // The token cache of the deciding broker is as old as can be.
    proxy.drop_notifications();
    let agent = deciding.join();
    let web = deciding.status().web.unwrap_or_default();
    let port = web.trim_end_matches('/').rsplit_once(':');
    let Some(port) = port.and_then(|(_, port)| port.parse().ok()) else {
        return trial.violation(format!("T8: no page at {web:?}"));
    };
    let http = Http::new(port);
    let rounds = trial.size(10, 500, 500);
    let mut refused = 0u32;
    for round in 0..rounds {
        let name = format!("decider-{round}");
        let token = deciding.ok(&["token", "--scope", "human", "--name", &name]);
        let (mut asking, cue) = ask_at(&deciding, &agent, &format!("Revoked {round}?"));
        eventually("the other broker knows the token, and revokes it", || {
            let revoke = Request::RevokeToken(RevokeToken { token: name.clone() });
            matches!(revoking.wire().call(&revoke), Some(Reply::TokenRevoked(_))).then_some(())
        });
        let body = format!(
            r#"{{"id":"{}","answer":{{"text":"by a revoked token"}}}}"#,
            Wire::mint().0
        );
        let (host, bearer) = (http.host(), format!("Bearer {}", token.trim()));
        let headers = [
            ("host", host.as_str()),
            ("authorization", &bearer),
            ("content-type", "application/json"),
        ];
        let path = format!("/api/v1/cues/{}/answer", cue.as_str());
        let answered = http.send("POST", &path, &headers, body.as_bytes());
        trial.check(matches!(answered.status, 401 | 403), || {
            format!("T8: a token decided after it was revoked: {}", answered.text())
        });
        refused += u32::from(answered.status == 403);
        deciding.wire().call(&answer(cue.as_str(), "by the human"));
        hear(trial, &mut asking, cue, "by the human");
    }
    trial.check(refused > 0, || "T8: the door was never late".to_owned());
    trial.figure(
        "T8 tokens revoked; of them past the door",
        format!("{rounds}; {refused}"),
    );
}

/// T9: a standby is promoted that lacks the newest part. Brokers say so, who waits for what was lost is told, and the rest goes on.
pub(crate) fn t9_promoted_standby(trial: &mut Trial) {
    let Some(primary) = Server::own(&[]) else { return };
    let url = primary.database();
    let standby = primary.standby();
    let proxy = Proxy::start(primary.port());
    let through = proxy.url(&url);
    let (agents, humans) = (home_on(&through, NO_PAGE), home_on(&through, NO_PAGE));
    let agent = agents.join();
    let (mut kept, kept_cue) = ask_at(&agents, &agent, "Asked before?");
    primary.wait_for_standby();
    standby.stop_following();
    let (mut lost, lost_cue) = ask_at(&agents, &agent, "Asked in the part that is lost?");
    primary.stop("immediate");
    standby.promote();
    proxy.lead_to(standby.port());
    let told = lost.hear();
    trial.check(
        matches!(&told, Some(Reply::Error(failure)) if failure.code == ErrorCode::UnknownCue),
        || format!("T9: who waited for {lost_cue}, which is lost, heard {told:?}"),
    );
    let say = answer(kept_cue.as_str(), "still here");
    eventually("the humans' broker goes on", || {
        matches!(
            humans.wire().call(&say),
            Some(Reply::Decided(_) | Reply::Error(_))
        )
        .then(|| humans.show(kept_cue.as_str())["outcome"] == "answered")
        .filter(|is_answered| *is_answered)
    });
    hear(trial, &mut kept, kept_cue, "still here");
    // The other broker may not have heard of the lost part, and then has lost nothing.
    trial.check(agents.log().contains("lost its newest part"), || {
        format!("T9: nothing was said of the loss at {}", agents.path().display())
    });
    t9_lost_revocation(trial);
    trial.figure("T9 standbys promoted without their newest part", 2);
}

/// What is lost is a revocation alone, which is no event: it is said, and the token is seen to be valid again.
fn t9_lost_revocation(trial: &mut Trial) {
    let Some(primary) = Server::own(&[]) else { return };
    let url = primary.database();
    let standby = primary.standby();
    let proxy = Proxy::start(primary.port());
    let home = home_on(&proxy.url(&url), "");
    home.ok(&["token", "--scope", "human", "--name", "lost-revocation"]);
    primary.wait_for_standby();
    standby.stop_following();
    home.ok(&["token", "revoke", "lost-revocation"]);
    let is_listed = || home.ok(&["token", "list"]).contains("lost-revocation");
    trial.check(!is_listed(), || "T9: the token was not revoked".to_owned());
    primary.stop("immediate");
    standby.promote();
    proxy.lead_to(standby.port());
    eventually("the broker says that something is lost", || {
        home.log().contains("lost its newest part").then_some(())
    });
    eventually("the token is seen to be valid again", || {
        is_listed().then_some(())
    });
}
