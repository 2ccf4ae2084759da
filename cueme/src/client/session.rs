//! One connection to a broker: sends and receives lines.

use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use protocol_spec::exit::Exit;
use protocol_spec::frame::{FrameError, Splitter};
use protocol_spec::id::RequestId;
use protocol_spec::message::{Hello, Reply, Request, Retire, Welcome, decode_reply, encode_request};
use protocol_spec::version::PROGRAM;
use rustix::event::{PollFd, PollFlags, Timespec};
use uuid::Uuid;

use super::signals::{Signal, Signals};
use super::start::is_older;
use super::stream::{Connection, Stream};
use crate::environment;
use crate::error::CliError;

/// The size of the read buffer, in bytes.
const PIECE_BYTES: usize = 16 * 1024;
/// The timeout of an outdated broker's exit.
const RETIRE_WAIT_MAX: Duration = Duration::from_secs(15);
/// The keepalive interval of a connection to a remote broker: proxies close a silent connection after a minute.
const KEEPALIVE_EVERY: Duration = Duration::from_secs(25);
/// After how much silence, though it was greeted, the broker counts as gone.
const SILENCE_MAX: Duration = Duration::from_secs(60);

/// A connection to the broker.
#[derive(Debug)]
pub(crate) struct Session {
    stream: Stream,
    splitter: Splitter,
    welcome: Option<Welcome>,
    /// When the broker was last heard.
    heard_at: Instant,
    /// When it was last greeted.
    greeted_at: Instant,
}

/// A message of the broker, or the end of the connection.
#[derive(Debug)]
pub(super) enum SessionEvent {
    Reply(Box<Reply>),
    Signal(Signal),
    /// The time to listen is over.
    Deadline,
}

/// Why nothing more will come.
#[derive(Debug)]
pub(super) enum Lost {
    /// The broker is gone; another one may take its place.
    Gone(io::Error),
    /// The bytes are not the protocol; a retry would not help.
    Foreign(String),
}

impl Lost {
    pub(super) fn into_error(self) -> CliError {
        match self {
            Self::Gone(error) => CliError::no_broker(format!("the broker went away: {error}"))
                .with_hint("run the same command again, or `cueme doctor` to see what is wrong"),
            Self::Foreign(why) => CliError::no_broker(format!("could not understand the broker: {why}"))
                .with_hint("run `cueme broker restart`, or update cueme"),
        }
    }
}

/// Mints the permanent key of one call.
pub(crate) fn mint() -> RequestId {
    RequestId(Uuid::now_v7())
}

/// Encodes a greeting and a request as one piece, so that both leave in one write.
pub(super) fn encode_call(id: RequestId, request: &Request) -> Result<Vec<u8>, CliError> {
    let hello = Hello {
        version: PROGRAM.to_owned(),
    };
    let greeting = encode_request(id, &Request::Hello(hello))?;
    let mut bytes = encode_request(id, request)?;
    bytes.splice(..0, greeting);
    Ok(bytes)
}

impl Session {
    /// Sends the first bytes over a new connection.
    ///
    /// A write that fails is not the end: the broker may have said why before it closed the connection, and what it
    /// said is still to be read.
    pub(super) fn open(connection: impl Into<Connection>, call: &[u8]) -> Self {
        let Connection { stream, first } = connection.into();
        let now = Instant::now();
        let mut session = Self {
            stream,
            splitter: Splitter::default(),
            welcome: None,
            heard_at: now,
            greeted_at: now,
        };
        if !first.is_empty() {
            session.splitter.push(&first);
        }
        let _ = session.stream.write_all(call);
        session
    }

    /// Sends a request.
    pub(super) fn send(&mut self, id: RequestId, request: &Request) -> Result<(), Lost> {
        let line = encode_request(id, request).map_err(|error| Lost::Foreign(error.to_string()))?;
        self.stream.write_all(&line).map_err(Lost::Gone)
    }

    /// Waits for the next reply, a signal or the deadline, whichever is first.
    pub(super) fn hear(
        &mut self,
        signals: Option<&Signals>,
        deadline: Option<Instant>,
    ) -> Result<SessionEvent, Lost> {
        loop {
            if let Some(reply) = self.next_reply()? {
                match reply {
                    Reply::Welcome(welcome) => self.welcome = Some(welcome),
                    reply => return Ok(SessionEvent::Reply(Box::new(reply))),
                }
                continue;
            }
            if let Some(other) = self.wait_readable(signals, deadline)? {
                return Ok(other);
            }
            self.read_piece()?;
        }
    }

    /// Waits for the next reply, at most until `deadline`.
    pub(super) fn reply(&mut self, deadline: Instant) -> Result<Reply, Lost> {
        match self.hear(None, Some(deadline))? {
            SessionEvent::Reply(reply) => Ok(*reply),
            SessionEvent::Signal(_) | SessionEvent::Deadline => Err(Lost::Gone(ErrorKind::TimedOut.into())),
        }
    }

    /// Says whether the broker is on another machine.
    pub(super) fn is_remote(&self) -> bool {
        self.stream.is_remote()
    }

    /// Says whether the broker is an older program than this one, and ours to replace.
    pub(super) fn is_outdated(&self) -> bool {
        let is_older = |welcome: &Welcome| is_older(&welcome.version, PROGRAM);
        !self.stream.is_remote() && self.welcome.as_ref().is_some_and(is_older)
    }

    /// Asks an outdated broker to leave in favour of this program, and waits until it has closed the connection.
    pub(super) fn retire(mut self) -> Result<(), Lost> {
        let executable = environment::executable().map_err(Lost::Gone)?;
        let request = Request::Retire(Retire {
            version: PROGRAM.to_owned(),
            executable: executable.to_string_lossy().into_owned(),
        });
        let deadline = Instant::now() + RETIRE_WAIT_MAX;
        self.send(mint(), &request)?;
        loop {
            match self.reply(deadline) {
                Ok(Reply::Error(failure)) => return Err(Lost::Foreign(failure.message)),
                Ok(_) => {}
                Err(Lost::Gone(error)) if error.kind() != ErrorKind::TimedOut => return Ok(()),
                Err(lost) => return Err(lost),
            }
        }
    }

    fn next_reply(&mut self) -> Result<Option<Reply>, Lost> {
        let foreign = |error: FrameError| Lost::Foreign(error.to_string());
        match self.splitter.next_line().map_err(foreign)? {
            None => Ok(None),
            Some(line) => decode_reply(line)
                .map(|(_, reply)| Some(reply))
                .map_err(|error| Lost::Foreign(error.to_string())),
        }
    }

    /// Blocks until there is something to read; returns what else ended the wait.
    fn wait_readable(
        &mut self,
        signals: Option<&Signals>,
        deadline: Option<Instant>,
    ) -> Result<Option<SessionEvent>, Lost> {
        loop {
            if let Some(signal) = signals.and_then(Signals::caught) {
                return Ok(Some(SessionEvent::Signal(signal)));
            }
            if self.stream.has_buffered() {
                return Ok(None);
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Ok(Some(SessionEvent::Deadline));
            }
            let until_greeting = self.keep_alive()?;
            let timeout = left.into_iter().chain(until_greeting).min();
            let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
            let socket = PollFd::new(&self.stream, PollFlags::IN);
            let polled = match signals {
                Some(signals) => {
                    let pipe = PollFd::from_borrowed_fd(signals.as_fd(), PollFlags::IN);
                    let mut both = [socket, pipe];
                    rustix::event::poll(&mut both, timeout.as_ref()).map(|_| !both[0].revents().is_empty())
                }
                None => {
                    let mut alone = [socket];
                    rustix::event::poll(&mut alone, timeout.as_ref()).map(|_| !alone[0].revents().is_empty())
                }
            };
            match polled {
                Ok(true) => return Ok(None),
                Ok(false) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(Lost::Gone(error.into())),
            }
        }
    }

    /// Greets a broker elsewhere that has been silent; returns how long until it is to be greeted next.
    fn keep_alive(&mut self) -> Result<Option<Duration>, Lost> {
        if !self.stream.is_remote() {
            return Ok(None);
        }
        if self.heard_at.elapsed() >= SILENCE_MAX {
            return Err(Lost::Gone(ErrorKind::TimedOut.into()));
        }
        if self.greeted_at.max(self.heard_at).elapsed() >= KEEPALIVE_EVERY {
            let version = PROGRAM.to_owned();
            self.send(mint(), &Request::Hello(Hello { version }))?;
            self.greeted_at = Instant::now();
        }
        let silent = self.greeted_at.max(self.heard_at).elapsed();
        Ok(Some(KEEPALIVE_EVERY.saturating_sub(silent)))
    }

    fn read_piece(&mut self) -> Result<(), Lost> {
        let mut piece = [0; PIECE_BYTES];
        match self.stream.read_ready(&mut piece) {
            Ok(0) => Err(Lost::Gone(ErrorKind::UnexpectedEof.into())),
            Ok(count) => {
                self.heard_at = Instant::now();
                self.splitter.push(&piece[..count]);
                Ok(())
            }
            Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => Ok(()),
            Err(error) => Err(Lost::Gone(error)),
        }
    }
}

/// Describes a reply that does not belong to what was asked.
pub(crate) fn unexpected_reply(reply: &Reply) -> CliError {
    CliError::new(
        Exit::Io,
        format!("the broker answered with an unexpected \"{}\" line", reply.name()),
    )
    .with_hint("this is a defect; please report it with the output of `cueme doctor`")
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    use super::*;
    use protocol_spec::message::{Acked, Nothing, decode_request, encode_reply};

    #[test]
    fn a_call_is_a_greeting_and_a_request_in_one_piece() {
        let id = mint();
        let bytes = encode_call(id, &Request::Inbox(Nothing {})).unwrap();
        let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        assert_eq!(lines.len(), 2);
        let names = lines.iter().map(|line| decode_request(line).unwrap().1.name());
        assert_eq!(names.collect::<Vec<_>>(), ["hello", "inbox"]);
    }

    #[test]
    fn the_welcome_is_noted_and_the_reply_behind_it_is_heard() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let mut session = Session::open(ours, b"");
        let id = mint();
        let welcome = Welcome {
            version: "0.0.1".into(),
            protocol: 1,
            pid: 1,
        };
        theirs
            .write_all(&encode_reply(id, &Reply::Welcome(welcome)).unwrap())
            .unwrap();
        theirs
            .write_all(&encode_reply(id, &Reply::Acked(Acked { cue_ids: vec![] })).unwrap())
            .unwrap();
        let reply = session.reply(Instant::now() + Duration::from_secs(5)).unwrap();
        assert_eq!(reply.name(), "acked");
        assert!(session.is_outdated());
    }

    #[test]
    fn a_deadline_ends_listening_and_a_closed_connection_is_told_apart_from_it() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let mut session = Session::open(ours, b"");
        let soon = Instant::now() + Duration::from_millis(20);
        assert!(matches!(
            session.hear(None, Some(soon)),
            Ok(SessionEvent::Deadline)
        ));
        drop(theirs);
        assert!(matches!(session.hear(None, None), Err(Lost::Gone(_))));
    }
}
