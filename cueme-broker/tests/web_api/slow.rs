//! Slow clients: a slow one is closed, and delays no other; one that only listens stays.

use std::io::{BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use crate::harness::TestBroker;
use cueme_test_kit::{Answer, Http};

/// The number of clients of each kind.
const COUNT: usize = 50;
/// When every one of them must be closed.
const CLOSED_WITHIN: Duration = Duration::from_secs(10);

#[test]
fn a_line_without_events_shows_that_it_is_alive() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let mut events = browser.events(None);
    events.until("ready");
    assert_eq!(events.next_chunk().unwrap(), ": alive\n\n");
    let agent = broker.join("cursor");
    broker.ask(&agent, "Still there?");
    assert_eq!(events.until("change").id, Some(1));
}

#[test]
fn half_heads_silent_connections_and_stalled_bodies_are_closed_within_ten_seconds() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let host = Http::new(broker.port).host();
    let started = Instant::now();
    let mut slow: Vec<(&str, TcpStream)> = Vec::new();
    for _ in 0..COUNT {
        slow.push(("silent", TcpStream::connect(("127.0.0.1", broker.port)).unwrap()));
        let mut half = TcpStream::connect(("127.0.0.1", broker.port)).unwrap();
        half.write_all(b"GET / HTTP/1.1\r\nhost: 127").unwrap();
        slow.push(("half a head", half));
    }
    let origin = format!("http://{host}");
    let headers = [
        ("host", host.as_str()),
        ("origin", &origin),
        ("cookie", &browser.cookie),
        ("content-type", "application/json"),
    ];
    let stalled: Vec<TcpStream> = (0..COUNT)
        .map(|_| {
            let mut stream =
                Http::new(broker.port).send_head("PATCH", "/api/v1/settings", &headers, Some(1000));
            stream.write_all(b"{\"undo_ms\":").unwrap();
            stream
        })
        .collect();
    browser.get("/state").ok(200);
    for (what, mut stream) in slow {
        stream.set_read_timeout(Some(CLOSED_WITHIN)).unwrap();
        let mut rest = Vec::new();
        let read = stream.read_to_end(&mut rest);
        assert!(
            read.is_ok() || read.is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionReset),
            "{what}"
        );
        assert!(
            started.elapsed() < CLOSED_WITHIN,
            "{what}: {:?}",
            started.elapsed()
        );
    }
    for stream in stalled {
        Answer::read(&mut BufReader::new(stream))
            .unwrap()
            .refused(408, "slow");
        assert!(
            started.elapsed() < CLOSED_WITHIN,
            "a stalled body: {:?}",
            started.elapsed()
        );
    }
    assert_eq!(browser.get("/settings").ok(200)["undo_ms"], 5000);
}

#[test]
fn a_line_on_the_socket_must_be_whole_within_half_a_minute_however_it_trickles() {
    let broker = TestBroker::start();
    let started = Instant::now();
    let mut trickling = UnixStream::connect(broker.places().socket()).unwrap();
    trickling
        .set_read_timeout(Some(Duration::from_millis(500)))
        .unwrap();
    let closed_after = loop {
        // A byte after the end is refused, or lost; reading says which end it was.
        let _ = trickling.write_all(b"{");
        match trickling.read(&mut [0; 64]) {
            Ok(0) => break started.elapsed(),
            Ok(_) => panic!("half a line was answered"),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => break started.elapsed(),
        }
        assert!(started.elapsed() < Duration::from_secs(60), "it is still served");
    };
    assert!(closed_after > Duration::from_secs(25), "{closed_after:?}");
}

#[test]
fn bodies_that_are_too_large_are_refused_and_change_nothing() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let before = broker.everything();
    let large = format!("{{\"page\":{{\"x\":\"{}\"}}}}", "x".repeat(2 * 1024 * 1024));
    browser
        .send_bytes("PATCH", "/settings", "application/json", large.as_bytes())
        .refused(413, "too_large");
    let larger = vec![b'x'; 33 * 1024 * 1024];
    browser
        .send_bytes("POST", "/uploads?name=x", "application/octet-stream", &larger)
        .refused(413, "too_large");
    assert_eq!(broker.everything(), before);
    let kept = std::fs::read_dir(broker.places().attachments()).unwrap().count();
    assert_eq!(kept, 0);
}
