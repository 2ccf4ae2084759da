//! A program that speaks the socket's language itself, and may stop speaking at any point.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use protocol_spec::frame::Splitter;
use protocol_spec::id::RequestId;
use protocol_spec::message::{Reply, Request, decode_reply, encode_request};
use uuid::Uuid;

use crate::patience::PATIENCE;

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
}
