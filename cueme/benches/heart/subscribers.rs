//! One event told to a thousand open pages, against the same with nothing but axum and a broadcast channel.

use std::convert::Infallible;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::State;
use axum::response::Sse;
use axum::response::sse::Event;
use axum::routing::{get, post};
use cueme_test_kit::Wire;
use futures_util::stream;
use protocol_spec::message::{Reply, Request, Say};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{broadcast, mpsc};

use crate::home::Home;
use crate::process::resident_kib;
use crate::table::{Goal, Row, median, ratio, show};
use crate::visitor::Visitor;

const SUBSCRIBERS: usize = 1000;
/// The name by which both servers announce the event that is waited for.
const MARK: &[u8] = b"event: change";
/// The event that the bare server sends; as long as our own frame.
const DATA: &str = "{\"id\":1234,\"at\":\"2026-01-01T00:00:00.000Z\",\"what\":\"queued\",\"agent_id\":\"bako-nefi\",\"note\":\"0123456789abcdef\"}";
/// Set in a process that is a floor, to which one.
pub(crate) const FLOOR_ENV: &str = "CUEME_BENCH_FLOOR";
const AXUM: &str = "axum";
const LOOP: &str = "loop";

pub(crate) fn measure(scale: usize) -> Vec<Row> {
    crate::process::raise_descriptor_limit();
    let home = Home::start();
    let agent = home.connect().join("terminal", "/");
    let before = resident_kib(home.pid());
    let (mut ours, _pages) = Audience::gather(&Invitation::to(&home));
    let each = resident_kib(home.pid()).saturating_sub(before) as f64 / SUBSCRIBERS as f64;
    let (axum, bare) = (Floor::start(AXUM), Floor::start(LOOP));
    let (mut theirs, _others) = Audience::gather(&axum.invitation());
    let (mut looped, _more) = Audience::gather(&bare.invitation());
    let mut human = home.connect();
    let (mut ring_axum, mut ring_bare) = (axum.connect(), bare.connect());
    let (mut our_times, mut axum_times, mut loop_times) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..12 * scale {
        axum_times.push(theirs.time(|| ring(&mut ring_axum)));
        our_times.push(ours.time(|| say(&mut human, agent.as_str(), round)));
        loop_times.push(looped.time(|| ring(&mut ring_bare)));
    }
    let time = median(&mut our_times);
    let against = |what: &'static str, floor, goal, aim| Row {
        id: "P12",
        what: what.into(),
        ours: show(time),
        floor: show(floor),
        ratio: ratio(time, floor),
        goal,
        aim,
    };
    vec![
        against(
            "one event to 1,000 open pages, the last has it ÷ a loop that writes to 1,000 sockets",
            median(&mut loop_times),
            Goal::Told,
            Goal::AtMost(1.3),
        ),
        against(
            "the same ÷ bare axum broadcast",
            median(&mut axum_times),
            Goal::AtMost(2.0),
            Goal::Told,
        ),
        Row {
            id: "P12",
            what: "broker memory for each open page, KiB".into(),
            ours: format!("{each:.1} KiB"),
            floor: "32 KiB".into(),
            ratio: each / 32.0,
            goal: Goal::AtMost(1.0),
            aim: Goal::AtMost(1.0),
        },
    ]
}

fn say(human: &mut Wire, agent: &str, round: usize) {
    human.send(&Request::Say(Say {
        agent: agent.to_owned(),
        text: format!("message {round}"),
        purpose: Default::default(),
        by: None,
    }));
    assert!(matches!(human.receive(), Reply::Said(_)));
}

fn ring(ring: &mut TcpStream) {
    ring.write_all(b"POST /ring HTTP/1.1\r\nHost: floor\r\nContent-Length: 0\r\n\r\n")
        .expect("the floor");
    let mut reply = [0; 512];
    assert!(ring.read(&mut reply).expect("a reply") > 0);
}

/// The address to subscribe at, and the request.
struct Invitation {
    address: SocketAddr,
    head: String,
}

impl Invitation {
    fn to(home: &Home) -> Self {
        let visitor = Visitor::to(home);
        Self {
            address: visitor.address,
            head: visitor.head("/api/v1/events"),
        }
    }
}

/// Subscribers that say when they were told.
struct Audience {
    told: mpsc::UnboundedReceiver<()>,
}

impl Audience {
    /// Subscribes all of them, and returns when each has been let in.
    fn gather(invitation: &Invitation) -> (Self, tokio::runtime::Runtime) {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_io()
            .build()
            .expect("a runtime");
        let (tell, told) = mpsc::unbounded_channel();
        let mut audience = Self { told };
        for _ in 0..SUBSCRIBERS {
            let (address, head, tell) = (invitation.address, invitation.head.clone(), tell.clone());
            runtime.spawn(async move {
                let mut stream = tokio::net::TcpStream::connect(address)
                    .await
                    .expect("a connection");
                stream.write_all(head.as_bytes()).await.expect("a request");
                listen(stream, &tell).await;
            });
        }
        audience.wait();
        // Data that follows the greeting of the last subscriber must not count as an event.
        std::thread::sleep(Duration::from_millis(500));
        (audience, runtime)
    }

    fn wait(&mut self) {
        for _ in 0..SUBSCRIBERS {
            self.told.blocking_recv().expect("a subscriber that listens");
        }
    }

    fn time(&mut self, ring: impl FnOnce()) -> Duration {
        let started = Instant::now();
        ring();
        self.wait();
        started.elapsed()
    }
}

/// Tells that it was let in, then every time it is told something.
async fn listen(mut stream: tokio::net::TcpStream, tell: &mpsc::UnboundedSender<()>) {
    let mut buffer = vec![0; 4096];
    let count = stream.read(&mut buffer).await.expect("a response");
    assert!(
        buffer[..count].starts_with(b"HTTP/1.1 200"),
        "{}",
        String::from_utf8_lossy(&buffer[..count])
    );
    let mut is_open = tell.send(()).is_ok();
    while is_open {
        let count = stream.read(&mut buffer).await.unwrap_or(0);
        // A frame is far shorter than a segment and is written at once.
        let marks = memchr::memmem::find_iter(&buffer[..count], MARK).count();
        is_open = count > 0 && (0..marks).all(|_| tell.send(()).is_ok());
    }
}

/// The bare server, in a process of its own as the broker is.
struct Floor {
    process: Child,
    address: SocketAddr,
}

impl Floor {
    fn start(which: &str) -> Self {
        let mut process = Command::new(std::env::current_exe().expect("this program"))
            .arg("--bench")
            .env(FLOOR_ENV, which)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the floor");
        let mut line = String::new();
        BufReader::new(process.stdout.take().expect("its output"))
            .read_line(&mut line)
            .expect("its address");
        let address = line.trim().parse().expect("its address");
        Self { process, address }
    }

    fn invitation(&self) -> Invitation {
        Invitation {
            address: self.address,
            head: "GET /events HTTP/1.1\r\nHost: floor\r\n\r\n".to_owned(),
        }
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).expect("the floor")
    }
}

impl Drop for Floor {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Is a floor, for as long as it is let.
pub(crate) fn serve_floor(which: &str) {
    crate::process::raise_descriptor_limit();
    match which {
        LOOP => serve_loop(),
        _ => serve_axum(),
    }
}

/// Lets everybody in who asks for events, and writes to all of them whenever somebody else rings.
fn serve_loop() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    println!("{}", listener.local_addr().expect("its address"));
    let mut pages = Vec::new();
    let frame = format!("id: 1234\nevent: change\ndata: {DATA}\n\n");
    let mut head = [0; 1024];
    for mut stream in listener.incoming().flatten() {
        stream.set_nodelay(true).expect("a socket");
        if pages.len() < SUBSCRIBERS {
            assert!(stream.read(&mut head).expect("a request") > 0);
            stream
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
                .expect("a page");
            pages.push(stream);
            continue;
        }
        while stream.read(&mut head).is_ok_and(|count| count > 0) {
            for page in &mut pages {
                page.write_all(frame.as_bytes()).expect("a page");
            }
            stream
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
                .expect("whoever rang");
        }
    }
}

/// Serves nothing but the broadcast.
fn serve_axum() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let (bell, _) = broadcast::channel::<u64>(1024);
        let router = Router::new()
            .route("/events", get(follow))
            .route("/ring", post(ring_all))
            .with_state(bell);
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0))
            .await
            .expect("a port");
        println!("{}", listener.local_addr().expect("its address"));
        axum::serve(listener, router).await.expect("a server");
    });
}

type Bell = broadcast::Sender<u64>;

async fn follow(State(bell): State<Bell>) -> Sse<impl stream::Stream<Item = Result<Event, Infallible>>> {
    let events = stream::unfold(bell.subscribe(), |mut events| async {
        let number = events.recv().await.ok()?;
        let event = Event::default().id(number.to_string()).event("change").data(DATA);
        Some((Ok(event), events))
    });
    Sse::new(events)
}

async fn ring_all(State(bell): State<Bell>) {
    let _ = bell.send(1234);
}
