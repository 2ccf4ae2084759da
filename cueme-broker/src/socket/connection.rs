//! One connection: reads lines, writes replies, and tells the engine when the caller is gone.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use protocol_spec::frame::Splitter;
use protocol_spec::id::{CueId, RequestId};
use protocol_spec::message::{ErrorCode, Failure, LineError, Reply, Request, decode_request, encode_reply};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};
use uuid::Uuid;

use super::caller::{Admitted, Caller};
use super::dispatch;
use super::room::Share;
use super::stream::Stream;
use crate::broker::Broker;
use crate::engine::Line;
use crate::machine::Ticket;

/// The timeout of a line, from its first byte to its last.
const LINE_TIMEOUT: Duration = Duration::from_secs(30);
/// The timeout of a caller that reads a reply.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// The longest silence of a connection that waits for nothing.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(600);
/// The longest silence of a program elsewhere: while it waits, it sends something every half minute.
const REMOTE_SILENCE_TIMEOUT: Duration = Duration::from_secs(90);
/// The size of one read.
const READ_BYTES: usize = 16 * 1024;
/// A long line is paused after each of so many bytes …
const STRIDE_BYTES: usize = 256 * 1024;
/// … for this long, so that other connections get a turn.
const PAUSE: Duration = Duration::from_millis(1);
/// The size of one write, if there is that much to write.
const WRITE_BYTES: usize = 64 * 1024;

/// A connection being served.
pub(super) struct Connection {
    pub(super) stream: Stream,
    pub(super) caller: Caller,
    pub(super) broker: Arc<Broker>,
    /// Replies of the engine.
    pub(super) sender: mpsc::UnboundedSender<Box<Line>>,
    outbox: mpsc::UnboundedReceiver<Box<Line>>,
    /// The calls of this caller that wait.
    pub(super) waits: Vec<Wait>,
    /// Bytes that are sent with the next reply, because one is sure to come.
    unsent: Vec<u8>,
    /// The memory its lines take.
    share: Share,
}

/// A call that waits.
pub(super) struct Wait {
    /// The call.
    pub(super) call: RequestId,
    /// Its ticket in the engine.
    pub(super) ticket: Ticket,
    /// The question it waits for, once that is known.
    pub(super) cue: Option<CueId>,
    /// The question whose outcome it got.
    pub(super) told: Option<CueId>,
}

/// The reason why a connection ends.
pub(super) enum Ended {
    /// The caller left, or was too slow.
    Gone,
}

impl From<io::Error> for Ended {
    fn from(_: io::Error) -> Self {
        Self::Gone
    }
}

/// Serves a connection until its caller leaves; `splitter` has the bytes already read.
pub(super) async fn serve(
    stream: Stream,
    caller: Caller,
    splitter: Splitter,
    broker: Arc<Broker>,
    share: Share,
) {
    let (sender, outbox) = mpsc::unbounded_channel();
    let mut connection = Connection {
        stream,
        caller,
        broker,
        sender,
        outbox,
        waits: Vec::new(),
        unsent: Vec::new(),
        share,
    };
    let Err(Ended::Gone) = connection.run(splitter).await;
    for wait in connection.waits.drain(..) {
        connection.broker.engine().gone(wait.ticket);
    }
}

impl Connection {
    async fn run(&mut self, mut splitter: Splitter) -> Result<std::convert::Infallible, Ended> {
        Box::pin(self.handle_lines(&mut splitter)).await?;
        let silence = if self.caller.is_remote() {
            REMOTE_SILENCE_TIMEOUT
        } else {
            SILENCE_TIMEOUT
        };
        let mut deadline = Instant::now() + silence;
        loop {
            let has_deadline =
                splitter.has_partial_line() || self.waits.is_empty() || self.caller.is_remote();
            tokio::select! {
                biased;
                Some(line) = self.outbox.recv() => {
                    if self.send_all(line).await? && !splitter.has_partial_line() {
                        // A caller that waited in silence may stay silent for a while.
                        deadline = Instant::now() + silence;
                    }
                }
                ready = self.stream.readable() => {
                    ready?;
                    let was_partial = splitter.has_partial_line();
                    let strides_before = splitter.held() / STRIDE_BYTES;
                    let has_read = read_some(&self.stream, &mut splitter)?;
                    let is_long = splitter.held() / STRIDE_BYTES > strides_before;
                    if !self.share.hold(splitter.held()) {
                        drop(splitter);
                        return Err(Box::pin(self.turn_away()).await);
                    }
                    // Boxed, so that a connection that waits does not hold the space of every operation.
                    Box::pin(self.handle_lines(&mut splitter)).await?;
                    self.share.hold(splitter.held());
                    if is_long {
                        // A caller that sends this much at once would monopolize the processors.
                        Box::pin(tokio::time::sleep(PAUSE)).await;
                    }
                    if has_read && !(was_partial && splitter.has_partial_line()) {
                        let patience = if splitter.has_partial_line() { LINE_TIMEOUT } else { silence };
                        deadline = Instant::now() + patience;
                    }
                }
                () = tokio::time::sleep_until(deadline), if has_deadline => return Err(Ended::Gone),
            }
        }
    }

    async fn handle_lines(&mut self, splitter: &mut Splitter) -> Result<(), Ended> {
        while let Some(line) = self.next_line(splitter).await? {
            self.handle(&line, splitter.has_line()).await?;
        }
        Ok(())
    }

    /// Tracks the effect of a reply on the waits of this caller; returns whether one has ended.
    ///
    /// Until its outcome is acknowledged, a caller still counts as waiting, so that the outcome is delivered to no
    /// other.
    fn note(&mut self, call: RequestId, reply: &Reply) -> bool {
        let engine = self.broker.engine();
        let mut forget = |is_over: &dyn Fn(&Wait) -> bool| {
            let ended = self.waits.extract_if(.., |wait| is_over(wait));
            ended.map(|wait| engine.gone(wait.ticket)).count() > 0
        };
        match reply {
            Reply::Asked(asked) => {
                let mine = self.waits.iter_mut().filter(|wait| wait.call == call);
                mine.for_each(|wait| wait.cue = Some(asked.cue_id));
                false
            }
            // An outcome that came first is still to be acknowledged.
            Reply::Rested(rested) => forget(&|wait| wait.cue == Some(rested.cue_id) && wait.told.is_none()),
            Reply::Outcome(told) => {
                let mine = self.waits.iter_mut().filter(|wait| wait.call == call);
                mine.for_each(|wait| wait.told = Some(told.cue_id));
                false
            }
            Reply::Acked(acked) => forget(&|wait| wait.told.is_some_and(|cue| acked.cue_ids.contains(&cue))),
            _ => forget(&|wait| wait.call == call),
        }
    }

    /// Takes the next whole line; a line beyond the limit ends the connection with an explanation.
    async fn next_line(&mut self, splitter: &mut Splitter) -> Result<Option<Vec<u8>>, Ended> {
        match splitter.next_line() {
            Ok(line) => Ok(line.map(<[u8]>::to_vec)),
            Err(error) => {
                let failure = Failure::new(ErrorCode::TooLarge, error.to_string());
                self.send(RequestId(Uuid::nil()), &Reply::Error(failure)).await?;
                Err(Ended::Gone)
            }
        }
    }

    /// Tells a caller that there is no room for its line, and reads the line to its end so that the caller reads the
    /// reply.
    async fn turn_away(&mut self) -> Ended {
        self.share.hold(0);
        let failure = Failure::new(ErrorCode::Busy, "too many long lines at once")
            .with_hint("run the same command again in a moment");
        let nobody = RequestId(Uuid::nil());
        if self.send(nobody, &Reply::Error(failure)).await.is_ok() {
            // A caller that takes too long may miss the reply.
            let _ = timeout(LINE_TIMEOUT, self.ignore_line()).await;
        }
        Ended::Gone
    }

    async fn ignore_line(&self) -> Result<(), Ended> {
        loop {
            self.stream.readable().await?;
            if ignore_some(&self.stream)? {
                return Ok(());
            }
        }
    }

    async fn handle(&mut self, line: &[u8], has_more: bool) -> Result<(), Ended> {
        match decode_request(line) {
            // The next line gets a reply, too, and one write for both wakes the caller once.
            Ok((id, Request::Hello(_))) if has_more => {
                self.unsent.append(&mut encode(id, &dispatch::welcome())?);
                Ok(())
            }
            Ok((id, request)) => match self.caller.admit(&self.broker, request).await {
                Ok(Admitted::Request(request)) => dispatch::dispatch(self, id, *request).await,
                Ok(Admitted::Reply(reply)) => self.send(id, &reply).await,
                Err(failure) => self.fail(id, failure).await,
            },
            Err(error) => {
                let code = match error {
                    LineError::Version { .. } | LineError::Unknown { .. } => ErrorCode::Unsupported,
                    LineError::Malformed(_) | LineError::Body { .. } => ErrorCode::BadRequest,
                };
                let id = error.id().unwrap_or(RequestId(Uuid::nil()));
                self.send(id, &Reply::Error(Failure::new(code, error.to_string())))
                    .await?;
                // After a line that is not even a message, nothing that follows can be trusted to be one.
                if matches!(error, LineError::Malformed(_)) {
                    Err(Ended::Gone)
                } else {
                    Ok(())
                }
            }
        }
    }

    /// Writes a reply, and those queued behind it; returns whether a wait has ended.
    async fn send_all(&mut self, first: Box<Line>) -> Result<bool, Ended> {
        if self.caller.is_revoked() {
            return Err(Ended::Gone);
        }
        let mut has_ended = false;
        let mut lines = Vec::new();
        let mut next = Some(first);
        while let Some(line) = next {
            has_ended |= self.note(line.id, &line.reply);
            lines.append(&mut encode(line.id, &line.reply)?);
            next = if lines.len() < WRITE_BYTES {
                self.outbox.try_recv().ok()
            } else {
                None
            };
        }
        self.write(lines).await?;
        Ok(has_ended)
    }

    /// Writes a reply.
    pub(super) async fn send(&mut self, id: RequestId, reply: &Reply) -> Result<(), Ended> {
        let line = encode(id, reply)?;
        self.write(line).await
    }

    async fn write(&mut self, mut lines: Vec<u8>) -> Result<(), Ended> {
        if !self.unsent.is_empty() {
            lines.splice(..0, std::mem::take(&mut self.unsent));
        }
        match timeout(WRITE_TIMEOUT, self.stream.write_all(&lines)).await {
            Ok(written) => Ok(written?),
            Err(_) => Err(Ended::Gone),
        }
    }

    /// Writes bytes that were kept for a reply, when that will take long.
    pub(super) async fn flush(&mut self) -> Result<(), Ended> {
        self.write(Vec::new()).await
    }

    /// Replies that a request failed.
    pub(super) async fn fail(&mut self, id: RequestId, failure: Failure) -> Result<(), Ended> {
        self.send(id, &Reply::Error(failure)).await
    }
}

/// Encodes a reply, or says that it is too long for a line.
fn encode(id: RequestId, reply: &Reply) -> Result<Vec<u8>, Ended> {
    encode_reply(id, reply).or_else(|error| {
        let failure = Failure::new(ErrorCode::TooLarge, error.to_string());
        encode_reply(id, &Reply::Error(failure)).map_err(|_| Ended::Gone)
    })
}

/// Reads the available bytes, through a buffer that no idle connection has to own.
fn read_some(stream: &Stream, splitter: &mut Splitter) -> Result<bool, Ended> {
    let mut buffer = [0; READ_BYTES];
    match stream.try_read(&mut buffer) {
        Ok(0) => Err(Ended::Gone),
        Ok(count) => {
            splitter.push(&buffer[..count]);
            Ok(true)
        }
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Discards the available bytes; says whether a line ended in them.
fn ignore_some(stream: &Stream) -> Result<bool, Ended> {
    let mut buffer = [0; READ_BYTES];
    match stream.try_read(&mut buffer) {
        Ok(0) => Err(Ended::Gone),
        Ok(count) => Ok(buffer[..count].contains(&b'\n')),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space_of<F>(_: fn(Stream, Caller, Splitter, Arc<Broker>, Share) -> F) -> usize {
        size_of::<F>()
    }

    #[test]
    fn a_connection_that_waits_takes_less_than_a_kibibyte_of_its_own() {
        let space = space_of(serve);
        assert!(space < 1024, "{space} bytes");
    }
}
