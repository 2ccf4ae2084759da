//! R7: browsers and programs that send slowly, stop in the middle, or never read, while others use the page.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use cueme_tests::{Home, Http, head, resident_kib};
use protocol_spec::message::{Reply, Request, WebLink};

use crate::load::{Times, join_all, millis, noise, one_round};
use crate::trial::{NotRun, Trial};

/// When every connection that does not finish its head must be closed.
const CLOSED_WITHIN: Duration = Duration::from_secs(10);
/// When a reader that has stopped must have been dropped.
const LAGGARD_DROPPED_WITHIN: Duration = Duration::from_secs(40);
/// The limit on the data queued for a stopped reader, in bytes: the buffers of its system and of ours.
const QUEUED_BYTES_MAX: usize = 256 * 1024;
/// The most sockets of the broker beside readers: listeners, signals, and the two callers of this test.
const SOCKETS_OF_ITS_OWN: usize = 8;
/// The limit on the growth of the broker's memory meanwhile, in KiB.
const GROWTH_KIB_MAX: u64 = 64 * 1024;
/// The limit on the slowdown of the slowest hundredth of honest requests.
const SLOWDOWN_MAX: f64 = 2.0;

/// Opens slow connections of each kind, and watches how long they live.
pub(crate) fn run(trial: &mut Trial) -> Result<(), NotRun> {
    let [half, silent, stalled, deaf] = trial.size(
        [100, 100, 100, 20],
        [1000, 1000, 200, 200],
        [1000, 1000, 200, 200],
    );
    let home = Home::new();
    let agents = join_all(&home, 1);
    let (http, cookie) = page(&home);
    let broker = home.broker_pid();
    let calm = honest(http, &cookie, trial.size(300, 1000, 1000));
    let memory_before = resident_kib(broker);

    let listeners: Vec<TcpStream> = (0..deaf).map(|_| listen(http, &cookie)).collect();
    let mut waiting: Vec<Slow> = Vec::new();
    waiting.extend((0..silent).map(|_| Slow::new("silent", http.connect())));
    waiting.extend((0..half).map(|_| Slow::new("half a head", half_head(http))));
    waiting.extend((0..stalled).map(|_| Slow::new("a stalled body", stalled_body(http, &cookie))));
    let busy = honest(http, &cookie, trial.size(300, 1000, 1000));
    let memory_during = resident_kib(broker);
    let last = all_closed(trial, waiting);
    compare(trial, &calm, &busy);
    trial.check(memory_during <= memory_before + GROWTH_KIB_MAX, || {
        format!("the broker grew from {memory_before} to {memory_during} KiB")
    });
    if trial.is_thorough() {
        laggards_are_dropped(trial, &home, &agents[0], listeners);
    } else {
        trial.leave_to_larger("readers that stop");
    }
    catches_up(trial, &home, http, &cookie, &agents[0]);
    trial.check(home.broker_pid() == broker, || "the broker ended".into());
    trial.figure(
        "half heads, silent, stalled bodies, deaf",
        format!("{half}, {silent}, {stalled}, {deaf}"),
    );
    trial.figure("last closed after", millis(last));
    trial.figure("p99 of a GET calm", millis(calm.percentile(99)));
    trial.figure("p99 attacked", millis(busy.percentile(99)));
    trial.figure("memory", format!("{memory_before} → {memory_during} KiB"));
    Ok(())
}

/// Signs a browser in.
pub(crate) fn page(home: &Home) -> (Http, String) {
    let web = home.status().web.unwrap_or_else(|| panic!("no page is served"));
    let port = web.rsplit(':').next().and_then(|port| port.parse().ok());
    let http = Http::new(port.unwrap_or_else(|| panic!("no port in {web}")));
    match home.wire().call(&Request::WebLink(WebLink::default())) {
        Some(Reply::WebLink(link)) => (http, http.sign_in(&link.url)),
        other => panic!("no link: {other:?}"),
    }
}

/// Does what a page does, so many times, and returns how long each took.
fn honest(http: Http, cookie: &str, count: usize) -> Times {
    let times = (0..count).map(|_| {
        let started = Instant::now();
        let answer = http.get("/api/v1/state", Some(cookie));
        assert_eq!(answer.status, 200, "{}", answer.text());
        started.elapsed()
    });
    Times::new(times.collect())
}

fn half_head(http: Http) -> TcpStream {
    let mut stream = http.connect();
    let _ = stream.write_all(b"GET / HTTP/1.1\r\nhost: 127");
    stream
}

fn stalled_body(http: Http, cookie: &str) -> TcpStream {
    let (host, origin) = (http.host(), http.origin());
    let headers = [
        ("host", host.as_str()),
        ("origin", &origin),
        ("cookie", cookie),
        ("content-type", "application/json"),
    ];
    let mut stream = http.connect();
    let _ = stream.write_all(&head("PATCH", "/api/v1/settings", &headers, Some(1000)));
    let _ = stream.write_all(b"{\"undo_ms\":");
    stream
}

/// Opens a stream of events with as little room as the system gives.
fn listen(http: Http, cookie: &str) -> TcpStream {
    let host = http.host();
    let mut stream = http.connect();
    let _ = rustix::net::sockopt::set_socket_recv_buffer_size(&stream, 4096);
    let head = head(
        "GET",
        "/api/v1/events",
        &[("host", &host), ("cookie", cookie)],
        None,
    );
    let _ = stream.write_all(&head);
    stream
}

/// A connection that is not used as it should be, and since when.
struct Slow {
    what: &'static str,
    stream: TcpStream,
    opened: Instant,
}

impl Slow {
    fn new(what: &'static str, stream: TcpStream) -> Self {
        Self {
            what,
            stream,
            opened: Instant::now(),
        }
    }
}

/// Waits until every connection is closed; returns how long the last one took, as far as can be seen from here.
fn all_closed(trial: &mut Trial, waiting: Vec<Slow>) -> Duration {
    let total = waiting.len() as u64;
    let mut last = Duration::ZERO;
    let mut open = 0;
    for (number, slow) in (0..).zip(waiting) {
        let Slow {
            what,
            mut stream,
            opened,
        } = slow;
        let left = (opened + CLOSED_WITHIN).saturating_duration_since(Instant::now());
        let _ = stream.set_read_timeout(Some(left.max(Duration::from_millis(1))));
        let mut rest = Vec::new();
        match stream.read_to_end(&mut rest) {
            Err(error) if error.kind() != std::io::ErrorKind::ConnectionReset => {
                open += 1;
                trial.violation(format!("{what} is still open after {:?}", opened.elapsed()));
            }
            Ok(_) | Err(_) => last = last.max(opened.elapsed()),
        }
        trial.progress(number, total);
    }
    trial.figure("still open after 10 s", open);
    last
}

fn compare(trial: &mut Trial, calm: &Times, busy: &Times) {
    let (before, during) = (calm.percentile(99), busy.percentile(99));
    let slowdown = during.as_secs_f64() / before.as_secs_f64().max(f64::EPSILON);
    trial.check(slowdown <= SLOWDOWN_MAX || during <= noise(trial), || {
        format!("honest requests became {slowdown:.2} times slower: {before:?} → {during:?}")
    });
}

/// Makes so many events that readers who take none are given up on, with little kept for them.
fn laggards_are_dropped(trial: &mut Trial, home: &Home, agent: &str, listeners: Vec<TcpStream>) {
    let deaf = listeners.len();
    let (mut client, mut human) = (home.wire(), home.wire());
    let broker = home.broker_pid();
    let before = resident_kib(broker);
    for number in 0..3000 {
        one_round(&mut client, &mut human, agent, number);
        trial.progress(number, 3000);
    }
    let grown = resident_kib(broker).saturating_sub(before);
    let wait = Instant::now() + LAGGARD_DROPPED_WITHIN;
    std::thread::sleep(wait.saturating_duration_since(Instant::now()));
    let mut most = 0;
    // Closed connections may still deliver data to the listeners, so the broker's own descriptors are counted.
    let alive = sockets_of(broker).saturating_sub(SOCKETS_OF_ITS_OWN);
    for mut stream in listeners {
        let _ = stream.set_read_timeout(Some(Duration::from_millis(500)));
        let mut queued = Vec::new();
        // It ends with the end of the stream, a reset, or silence.
        let _ = stream.read_to_end(&mut queued);
        most = most.max(queued.len());
    }
    trial.check(alive == 0, || {
        format!("{alive} readers that never read are still served")
    });
    trial.check(most <= QUEUED_BYTES_MAX, || {
        format!("{most} bytes were queued for one")
    });
    let grown_max = deaf * QUEUED_BYTES_MAX / 1024;
    trial.check(grown <= grown_max as u64, || {
        format!("the broker grew by {grown} KiB for {deaf} readers that never read")
    });
    trial.figure(
        "deaf readers dropped",
        format!("{} of {deaf}", deaf.saturating_sub(alive)),
    );
    trial.figure("most queued for a deaf reader", format!("{} KiB", most / 1024));
    trial.figure("memory for all deaf readers", format!("{grown} KiB"));
}

/// Counts the sockets a process has open.
fn sockets_of(pid: u32) -> usize {
    let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd"))
        .into_iter()
        .flatten()
        .flatten();
    let targets = descriptors.filter_map(|entry| std::fs::read_link(entry.path()).ok());
    targets
        .filter(|target| target.to_string_lossy().starts_with("socket:"))
        .count()
}

/// A reader that comes back with the last event it knows misses nothing.
fn catches_up(trial: &mut Trial, home: &Home, http: Http, cookie: &str, agent: &str) {
    let newest = http.get("/api/v1/state", Some(cookie)).json()["newest_event"].as_i64();
    let Some(newest) = newest else {
        return trial.violation("the state names no newest event");
    };
    let (mut client, mut human) = (home.wire(), home.wire());
    for number in 0..20 {
        one_round(&mut client, &mut human, agent, 1_000_000 + number);
    }
    let (host, last) = (http.host(), newest.to_string());
    let headers = [
        ("host", host.as_str()),
        ("cookie", cookie),
        ("last-event-id", &last),
    ];
    let mut stream = http.connect();
    let _ = stream.write_all(&head("GET", "/api/v1/events", &headers, None));
    let mut seen = Vec::new();
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        if let Some(id) = line
            .strip_prefix("id:")
            .and_then(|id| id.trim().parse::<i64>().ok())
        {
            seen.push(id);
        }
        if line.starts_with("event:") && line.contains("ready") {
            break;
        }
    }
    seen.dedup();
    let expected: Vec<i64> = (newest + 1..).take(seen.len().saturating_sub(0)).collect();
    trial.check(seen.len() >= 60 && seen == expected, || {
        format!("after {newest} came {seen:?}, with gaps or too few")
    });
}
