//! A program that speaks the socket's language itself, and may stop speaking at any point.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use protocol_spec::frame::Splitter;
use protocol_spec::id::{AgentId, CueId, RequestId};
use protocol_spec::message::{DeliveredOutcome, Reply, Request, decode_reply, encode_request};
use uuid::Uuid;

use crate::patience::PATIENCE;
use crate::request;

/// A connection to the broker.
#[derive(Debug)]
pub struct Wire {
    stream: UnixStream,
    splitter: Splitter,
}

impl Wire {
    /// Connects, if somebody listens.
    pub fn connect(socket: &Path) -> Option<Self> {
        let stream = UnixStream::connect(socket).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        Some(Self {
            stream,
            splitter: Splitter::default(),
        })
    }

    /// Returns a second hand on the same connection, to cut it from elsewhere.
    pub fn cutter(&self) -> Option<UnixStream> {
        self.stream.try_clone().ok()
    }

    /// Mints the permanent key of a call.
    pub fn mint() -> RequestId {
        RequestId(Uuid::now_v7())
    }

    /// Sends a request under a new key, which is returned.
    pub fn send(&mut self, request: &Request) -> RequestId {
        let id = Self::mint();
        self.send_as(id, request);
        id
    }

    /// Sends a request under a key of the caller's.
    pub fn send_as(&mut self, id: RequestId, request: &Request) {
        let line = encode_request(id, request).unwrap_or_else(|error| panic!("{error}"));
        self.send_bytes(&line);
    }

    /// Sends anything at all; whether it arrives is seen by the reply.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes);
    }

    /// Waits for the next line; `None` when the broker has closed the connection.
    ///
    /// # Panics
    ///
    /// Panics when nothing comes, or what comes is not a reply.
    #[track_caller]
    pub fn hear(&mut self) -> Option<Reply> {
        let mut piece = [0; 16 * 1024];
        loop {
            if let Some(line) = self
                .splitter
                .next_line()
                .unwrap_or_else(|error| panic!("{error}"))
            {
                let (_, reply) = decode_reply(line).unwrap_or_else(|error| panic!("{error}"));
                return Some(reply);
            }
            match self.stream.read(&mut piece) {
                Ok(0) => return None,
                Ok(count) => self.splitter.push(&piece[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("nothing came: {error}"),
            }
        }
    }

    /// Says whether nothing comes for so long.
    pub fn is_silent_for(&mut self, span: Duration) -> bool {
        let mut piece = [0; 16 * 1024];
        let _ = self.stream.set_read_timeout(Some(span));
        let read = self.stream.read(&mut piece);
        let _ = self.stream.set_read_timeout(Some(PATIENCE));
        match read {
            Ok(count) => {
                self.splitter.push(&piece[..count]);
                false
            }
            Err(error) => matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
        }
    }

    /// Makes a call with one reply; `None` when the broker has closed the connection.
    #[track_caller]
    pub fn call(&mut self, request: &Request) -> Option<Reply> {
        self.send(request);
        self.hear()
    }

    /// Waits for the next line, before which the broker does not close the connection.
    ///
    /// # Panics
    ///
    /// Panics when no reply comes.
    #[track_caller]
    pub fn receive(&mut self) -> Reply {
        self.hear()
            .unwrap_or_else(|| panic!("the broker closed the connection"))
    }

    /// Registers an agent.
    ///
    /// # Panics
    ///
    /// Panics when it is refused.
    #[track_caller]
    pub fn join(&mut self, runtime: &str, project_dir: &str) -> AgentId {
        self.send(&request::join(runtime, project_dir));
        match self.receive() {
            Reply::Joined(joined) => joined.agent_id,
            other => panic!("not joined: {other:?}"),
        }
    }

    /// Asks in words alone, and returns when the question is on disk.
    ///
    /// # Panics
    ///
    /// Panics when it is refused.
    #[track_caller]
    pub fn ask(&mut self, agent: &AgentId, prompt: &str) -> CueId {
        self.send(&request::ask(agent.as_str(), prompt));
        match self.receive() {
            Reply::Asked(asked) => asked.cue_id,
            other => panic!("not asked: {other:?}"),
        }
    }

    /// Waits for the outcome of a question.
    ///
    /// # Panics
    ///
    /// Panics when something else comes.
    #[track_caller]
    pub fn outcome(&mut self) -> DeliveredOutcome {
        match self.receive() {
            Reply::Outcome(outcome) => outcome,
            other => panic!("no outcome: {other:?}"),
        }
    }

    /// Answers in words alone, and returns when the answer is on disk.
    ///
    /// # Panics
    ///
    /// Panics when it is refused.
    #[track_caller]
    pub fn answer(&mut self, cue: CueId, text: &str) {
        self.send(&request::answer(&cue.to_string(), text));
        let reply = self.receive();
        assert!(matches!(reply, Reply::Decided(_)), "not decided: {reply:?}");
    }
}
