//! A TCP proxy that knows where PostgreSQL's messages begin, so that it can cut a connection at any of them, or hold one back.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU16, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex};

/// The point at which a connection is cut or held: after so many messages of one side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// After so many messages of the client reached the server.
    Sent(u32),
    /// After so many messages of the server reached the client.
    Received(u32),
    /// When the client commits.
    Commit,
    /// When the server confirms a commit.
    Confirmation,
    /// When either side sends a message of at least so many bytes.
    Large(usize),
}

/// What happens to a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Strike {
    /// It does not arrive, and the connection ends.
    Cut,
    /// It arrives once it is released.
    Hold,
}

#[derive(Debug, Default)]
struct State {
    /// The port of the server that it leads to.
    server_port: AtomicU16,
    strike: Mutex<Option<(Cut, Strike)>>,
    /// Whether a message is held back, and the signal that it is not any more.
    is_holding: Mutex<bool>,
    released: Condvar,
    /// The number of round trips: the client spoke when the server had answered everything.
    turns: AtomicU32,
    /// Whether notifications are lost, as in a pooler.
    is_deaf: AtomicBool,
    /// The number of answers that the server still owes.
    owed: AtomicI32,
}

/// A proxy in front of a server.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    /// The port of the server that it led to at first.
    server_port: u16,
    state: Arc<State>,
}

impl Proxy {
    /// Starts it in front of the server at this port.
    ///
    /// # Panics
    ///
    /// Panics when it cannot listen.
    pub fn start(server_port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::<State>::default();
        state.server_port.store(server_port, Ordering::SeqCst);
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // A server that is gone refuses, and so does this.
                let port = shared.server_port.load(Ordering::SeqCst);
                let Ok(server) = TcpStream::connect(("127.0.0.1", port)) else {
                    continue;
                };
                client.set_nodelay(true).unwrap();
                server.set_nodelay(true).unwrap();
                relay(&client, &server, true, &shared);
                relay(&server, &client, false, &shared);
            }
        });
        Self {
            port,
            server_port,
            state,
        }
    }

    /// Leads new connections to another server; returns the port of the one before.
    pub fn lead_to(&self, server_port: u16) -> u16 {
        self.state.server_port.swap(server_port, Ordering::SeqCst)
    }

    /// Returns the URL of a database through this proxy.
    ///
    /// # Panics
    ///
    /// Panics when the URL is not one of the server that it was started for.
    pub fn url(&self, direct: &str) -> String {
        let port = format!(":{}/", self.server_port);
        let through = direct.replace(&port, &format!(":{}/", self.port));
        assert_ne!(direct, through);
        format!("{through}?sslmode=disable")
    }

    /// Cuts the connection there, counted from now on, once.
    ///
    /// # Panics
    ///
    /// Panics when a thread of the proxy has.
    pub fn cut(&self, cut: Cut) {
        *self.state.strike.lock().unwrap() = Some((cut, Strike::Cut));
    }

    /// Holds one message back, and with it what follows on its connection, until [`release`](Self::release).
    ///
    /// # Panics
    ///
    /// Panics when a thread of the proxy has.
    pub fn hold(&self, at: Cut) {
        *self.state.strike.lock().unwrap() = Some((at, Strike::Hold));
    }

    /// Says whether a message is held back.
    ///
    /// # Panics
    ///
    /// Panics when a thread of the proxy has.
    pub fn holds(&self) -> bool {
        *self.state.is_holding.lock().unwrap()
    }

    /// Lets the message arrive that is held back.
    ///
    /// # Panics
    ///
    /// Panics when a thread of the proxy has.
    pub fn release(&self) {
        *self.state.is_holding.lock().unwrap() = false;
        self.state.released.notify_all();
    }

    /// Cuts nothing; says whether something would still have been cut.
    ///
    /// # Panics
    ///
    /// Panics when a thread of the proxy has.
    pub fn spare(&self) -> bool {
        self.state.strike.lock().unwrap().take().is_some()
    }

    /// Loses every notification from now on.
    pub fn drop_notifications(&self) {
        self.state.is_deaf.store(true, Ordering::SeqCst);
    }

    /// Returns how many round trips there were.
    pub fn turns(&self) -> u32 {
        self.state.turns.load(Ordering::SeqCst)
    }
}

fn relay(from: &TcpStream, to: &TcpStream, is_client: bool, state: &Arc<State>) {
    let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
    let state = Arc::clone(state);
    std::thread::spawn(move || {
        let mut is_first = is_client;
        while let Some(message) = read_message(&mut from, std::mem::take(&mut is_first)) {
            if !is_client && message.first() == Some(&b'A') && state.is_deaf.load(Ordering::SeqCst) {
                continue;
            }
            // Sync, and a plain query: each is answered when the server is ready again.
            let is_question = is_client && matches!(message.first(), Some(b'S' | b'Q'));
            if is_question && state.owed.fetch_add(1, Ordering::SeqCst) == 0 {
                state.turns.fetch_add(1, Ordering::SeqCst);
            }
            if !is_client && message.first() == Some(&b'Z') {
                state.owed.fetch_sub(1, Ordering::SeqCst);
            }
            match strike(&state, is_client, &message) {
                Some(Strike::Cut) => break,
                Some(Strike::Hold) => hold(&state),
                None => {}
            }
            if to.write_all(&message).is_err() {
                break;
            }
        }
        let _ = from.shutdown(Shutdown::Both);
        let _ = to.shutdown(Shutdown::Both);
    });
}

/// Waits until the message that is held back may arrive.
fn hold(state: &State) {
    let mut is_holding = state.is_holding.lock().unwrap();
    *is_holding = true;
    while *is_holding {
        is_holding = state.released.wait(is_holding).unwrap();
    }
}

/// Counts a message; returns what happens to it, if it is the one.
fn strike(state: &State, is_client: bool, message: &[u8]) -> Option<Strike> {
    let mut planned = state.strike.lock().unwrap();
    let (at, strike) = planned.as_mut()?;
    let is_of_commit = message.ends_with(b"COMMIT\0");
    let left = match (at, is_client) {
        (Cut::Sent(left), true) | (Cut::Received(left), false) => left,
        (Cut::Commit, true) | (Cut::Confirmation, false) if is_of_commit => &mut 0,
        (Cut::Large(bytes), _) if message.len() >= *bytes => &mut 0,
        _ => return None,
    };
    if *left > 0 {
        *left -= 1;
        return None;
    }
    let strike = *strike;
    *planned = None;
    Some(strike)
}

/// Reads a message; the first one of a client has no type.
fn read_message(from: &mut TcpStream, is_first: bool) -> Option<Vec<u8>> {
    let mut head = vec![0; if is_first { 4 } else { 5 }];
    from.read_exact(&mut head).ok()?;
    let length = u32::from_be_bytes(*head.last_chunk::<4>()?) as usize;
    let start = head.len();
    head.resize(start + length - 4, 0);
    from.read_exact(&mut head[start..]).ok()?;
    Some(head)
}
