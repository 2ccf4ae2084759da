//! Calls that are answered at once.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use protocol_spec::endpoint::Places;
use protocol_spec::id::RequestId;
use protocol_spec::message::{
    End, ErrorCode, EventView, Failure, Reply, Request, RunFollow, RunWoken, Watch,
};

use super::connect::connect;
use super::link::Side;
use super::session::{Lost, Session, encode_call, mint};
use super::start::{connect_or_start, connect_patiently};
use super::stream::Connection;
use crate::error::CliError;

/// The timeout of a broker's reply.
const ANSWER_WAIT_MAX: Duration = Duration::from_secs(60);
/// The timeout of a call that reads or copies the whole database.
const LONG_ANSWER_WAIT_MAX: Duration = Duration::from_secs(60 * 60);
/// The most sends of one call, each repeat to the successor of a lost broker. The request id makes a repeat safe.
const SENDS_MAX: u32 = 4;
/// The pause before the call is sent again to a successor.
const SEND_PAUSE: Duration = Duration::from_millis(50);

/// Makes a call with one reply, starting the broker if needed.
pub(crate) fn call(places: &Places, request: &Request) -> Result<Reply, CliError> {
    let mut only = None;
    exchange(places, request, |reply| {
        only = Some(reply);
        Ok(Flow::Done)
    })?;
    only.ok_or_else(nothing_came)
}

/// Makes a call that is answered with a list, starting the broker if needed.
pub(crate) fn list(
    places: &Places,
    request: &Request,
    mut each: impl FnMut(Reply) -> Result<(), CliError>,
) -> Result<End, CliError> {
    let mut end = End::default();
    exchange(places, request, |reply| match reply {
        Reply::End(found) => {
            end = found;
            Ok(Flow::Done)
        }
        entry => each(entry).map(|()| Flow::More),
    })?;
    Ok(end)
}

/// Makes a call with one reply to a broker that is running; returns `None` when none is.
pub(crate) fn call_running(places: &Places, request: &Request) -> Result<Option<Reply>, CliError> {
    let Some(stream) = connect(places)? else {
        return Ok(None);
    };
    let mut session = Session::open(stream, &encode_call(mint(), request)?);
    match session.reply(Instant::now() + wait_max(request)) {
        Ok(Reply::Error(failure)) => Err(failure.into()),
        Ok(reply) => Ok(Some(reply)),
        // A socket whose broker is just ending accepts and says nothing.
        Err(Lost::Gone(_)) => Ok(None),
        Err(lost) => Err(lost.into_error()),
    }
}

/// An event for a watcher.
#[derive(Debug)]
pub(crate) enum Watched {
    /// Something happened.
    Event(EventView),
    /// Events may have been missed: the state is to be read anew.
    Missed,
    /// Nothing happened for the length of a tick.
    Tick,
}

/// Follows what happens for as long as the broker lives.
pub(crate) fn watch(
    places: &Places,
    tick: Option<Duration>,
    mut each: impl FnMut(Watched) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let stream = connect_or_start(places, Side::Human)?;
    let mut session = Session::open(stream, &encode_call(mint(), &Request::Watch(Watch::default()))?);
    // Events before the connection are unknown, so the state is read once at the beginning.
    each(Watched::Missed)?;
    loop {
        match session.hear(None, tick.map(|tick| Instant::now() + tick)) {
            Ok(super::session::SessionEvent::Reply(reply)) => match *reply {
                Reply::Event(event) => each(Watched::Event(event))?,
                Reply::Lagged(_) => each(Watched::Missed)?,
                Reply::Error(failure) => return Err(failure.into()),
                _ => {}
            },
            Ok(super::session::SessionEvent::Deadline) => each(Watched::Tick)?,
            Ok(super::session::SessionEvent::Signal(_)) => {}
            Err(Lost::Gone(_)) => return Ok(()),
            Err(lost) => return Err(lost.into_error()),
        }
    }
}

/// Follows a run for as long as the broker lives; `woken` is told whenever it should be looked at.
pub(crate) fn follow_run(
    places: &Places,
    follow: &RunFollow,
    mut woken: impl FnMut(RunWoken),
) -> Result<(), CliError> {
    let stream = connect_or_start(places, Side::Human)?;
    let request = Request::RunFollow(follow.clone());
    let mut session = Session::open(stream, &encode_call(mint(), &request)?);
    loop {
        match session.hear(None, None) {
            Ok(super::session::SessionEvent::Reply(reply)) => match *reply {
                Reply::RunWoken(told) => woken(told),
                Reply::Error(failure) => return Err(failure.into()),
                _ => {}
            },
            Ok(_) => {}
            Err(Lost::Gone(_)) => return Ok(()),
            Err(lost) => return Err(lost.into_error()),
        }
    }
}

/// Whether more lines belong to the answer.
enum Flow {
    More,
    Done,
}

/// The end of one attempt.
enum Attempt {
    Done(Session),
    /// Nothing was told to the caller yet, so the call may be sent again.
    Again(Lost),
    Outdated(Session, Failure),
}

fn exchange(
    places: &Places,
    request: &Request,
    mut each: impl FnMut(Reply) -> Result<Flow, CliError>,
) -> Result<(), CliError> {
    let id = mint();
    for _ in 1..SENDS_MAX {
        match attempt(
            connect_patiently(places, Side::of(request))?,
            id,
            request,
            &mut each,
        )? {
            Attempt::Done(session) => {
                leave(session);
                return Ok(());
            }
            Attempt::Again(Lost::Gone(error)) if error.kind() != ErrorKind::TimedOut => {
                std::thread::sleep(SEND_PAUSE);
            }
            Attempt::Again(lost) => return Err(lost.into_error()),
            // An operation that an older broker does not know is asked of the newer one.
            Attempt::Outdated(session, failure) => session.retire().map_err(|_| CliError::from(failure))?,
        }
    }
    match attempt(
        connect_patiently(places, Side::of(request))?,
        id,
        request,
        &mut each,
    )? {
        Attempt::Done(_) => Ok(()),
        Attempt::Again(lost) => Err(lost.into_error()),
        Attempt::Outdated(_, failure) => Err(failure.into()),
    }
}

/// Replaces an outdated broker once the call is answered. Failing at that spoils nothing.
fn leave(session: Session) {
    if session.is_outdated() {
        let _ = session.retire();
    }
}

fn attempt(
    connection: Connection,
    id: RequestId,
    request: &Request,
    each: &mut impl FnMut(Reply) -> Result<Flow, CliError>,
) -> Result<Attempt, CliError> {
    let mut session = Session::open(connection, &encode_call(id, request)?);
    let deadline = Instant::now() + wait_max(request);
    let mut told = false;
    loop {
        match session.reply(deadline) {
            Ok(Reply::Error(failure)) if failure.code == ErrorCode::Unsupported && session.is_outdated() => {
                return Ok(Attempt::Outdated(session, failure));
            }
            Ok(Reply::Error(failure)) => return Err(failure.into()),
            Ok(reply) => match each(reply)? {
                Flow::Done => return Ok(Attempt::Done(session)),
                Flow::More => told = true,
            },
            Err(lost) if told => return Err(lost.into_error()),
            Err(lost) => return Ok(Attempt::Again(lost)),
        }
    }
}

fn wait_max(request: &Request) -> Duration {
    match request {
        Request::Check(_) | Request::Backup(_) | Request::Purge(_) => LONG_ANSWER_WAIT_MAX,
        _ => ANSWER_WAIT_MAX,
    }
}

fn nothing_came() -> CliError {
    CliError::no_broker("the broker did not answer").with_hint("run `cueme doctor` to see what is wrong")
}

/// Extracts the expected reply variant, or returns an error.
macro_rules! expect_reply {
    ($reply:expr, $variant:ident) => {
        match $reply {
            protocol_spec::message::Reply::$variant(body) => Ok(body),
            other => Err($crate::client::unexpected_reply(&other)),
        }
    };
}
pub(crate) use expect_reply;
