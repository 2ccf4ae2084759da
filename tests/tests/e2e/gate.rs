//! A proxy in front of brokers: it takes turns between them, or answers itself, as an ingress does while they are replaced.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// The proxy.
pub(crate) struct Gate {
    port: u16,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    brokers: Vec<u16>,
    /// The number of connections that it passed on.
    passed: usize,
    /// The number of connections that it passes on before it answers itself.
    spared: u32,
    /// The head of its own answer, and how often it is still given.
    answer: Option<(String, u32)>,
    answered: u32,
    open: Vec<TcpStream>,
}

impl Gate {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::<Mutex<State>>::default();
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                std::thread::spawn(move || serve(client, &state));
            }
        });
        Self { port, state }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Returns the lines of a broker's configuration that let it be called through here.
    pub(crate) fn configuration(&self) -> String {
        format!("[web]\nhosts = [\"127.0.0.1:{}\"]\n", self.port)
    }

    /// Passes connections on to the brokers at these ports, in turn.
    pub(crate) fn lead_to(&self, brokers: &[u16]) {
        self.state.lock().unwrap().brokers = brokers.to_vec();
    }

    /// Answers the next requests itself, such as with `503 Service Unavailable`; further headers may follow.
    pub(crate) fn answer(&self, head: &str, times: u32) {
        self.state.lock().unwrap().answer = Some((head.to_owned(), times));
    }

    /// Passes so many connections on, and answers all later ones itself.
    pub(crate) fn answer_after(&self, spared: u32, head: &str) {
        let mut state = self.state.lock().unwrap();
        state.spared = spared;
        state.answer = Some((head.to_owned(), u32::MAX));
    }

    /// Passes connections on again.
    pub(crate) fn pass(&self) {
        self.state.lock().unwrap().answer = None;
    }

    /// Returns how many requests it answered itself.
    pub(crate) fn answered(&self) -> u32 {
        self.state.lock().unwrap().answered
    }

    /// Ends every connection that it passed on.
    pub(crate) fn cut(&self) {
        for stream in self.state.lock().unwrap().open.drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

fn serve(client: TcpStream, state: &Mutex<State>) {
    let mut locked = state.lock().unwrap();
    if locked.spared > 0 {
        locked.spared -= 1;
    } else if let Some((head, left)) = &mut locked.answer
        && *left > 0
    {
        *left -= 1;
        let head = head.clone();
        locked.answered += 1;
        drop(locked);
        return refuse(client, &head);
    }
    let broker = locked.brokers[locked.passed % locked.brokers.len()];
    locked.passed += 1;
    let Ok(server) = TcpStream::connect(("127.0.0.1", broker)) else {
        return;
    };
    locked
        .open
        .extend([client.try_clone().unwrap(), server.try_clone().unwrap()]);
    drop(locked);
    let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    std::thread::spawn(move || relay(from, to));
    relay(server, client);
}

fn relay(mut from: TcpStream, mut to: TcpStream) {
    let _ = std::io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
}

/// Reads one request, and answers it.
fn refuse(mut client: TcpStream, head: &str) {
    let mut reader = BufReader::new(client.try_clone().unwrap());
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) <= 2 {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap();
        }
    }
    let _ = reader.read_exact(&mut vec![0; length]);
    let answer = format!("HTTP/1.1 {head}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    let _ = client.write_all(answer.as_bytes());
}
