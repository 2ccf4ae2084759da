//! Telling the broker that an outcome was printed.

use std::time::{Duration, Instant};

use protocol_spec::endpoint::Places;
use protocol_spec::id::{CueId, RequestId};
use protocol_spec::message::{Ack, ErrorCode, Reply, Request};

use super::link::Side;
use super::session::{Lost, Session, encode_call, mint};
use super::start::connect_or_start;
use crate::error::CliError;
use crate::output;

/// How long the acknowledgement is tried; after that the outcome will be handed over once more, marked as a repeat.
const ACK_WAIT_MAX: Duration = Duration::from_secs(5);
/// The pause between two attempts.
const ACK_PAUSE: Duration = Duration::from_millis(100);

/// Acknowledges outcomes that were printed, for a few seconds even while the broker restarts.
///
/// Failing at it is only told: the agent has read the text, and reads it again with its next question.
///
/// The connection that they came over is used first, where there is one.
pub(super) fn acknowledge(
    places: &Places,
    session: Option<Session>,
    cue_ids: Vec<CueId>,
    nonce: Option<String>,
) {
    let id = mint();
    let request = Request::Ack(Ack { cue_ids, nonce });
    let deadline = Instant::now() + ACK_WAIT_MAX;
    let mut said = match session {
        Some(session) => over(session, id, &request, deadline),
        None => anew(places, id, &request, deadline),
    };
    while let Err(Refused::ForNow(why)) = &said {
        if Instant::now() + ACK_PAUSE >= deadline {
            said = Err(Refused::ForGood(why.clone()));
            break;
        }
        std::thread::sleep(ACK_PAUSE);
        said = anew(places, id, &request, deadline);
    }
    if let Err(Refused::ForGood(why) | Refused::ForNow(why)) = said {
        output::tell(&format!(
            "warning: could not confirm that this was printed ({why}); it may be repeated once"
        ));
    }
}

enum Refused {
    ForNow(String),
    ForGood(String),
}

fn over(mut session: Session, id: RequestId, request: &Request, deadline: Instant) -> Result<(), Refused> {
    let gone = |lost: Lost| Refused::ForNow(lost.into_error().to_string());
    session.send(id, request).map_err(gone)?;
    listen(session, deadline)
}

fn anew(places: &Places, id: RequestId, request: &Request, deadline: Instant) -> Result<(), Refused> {
    let failed = |error: CliError| Refused::ForNow(error.to_string());
    let stream = connect_or_start(places, Side::Agent).map_err(failed)?;
    let session = Session::open(stream, &encode_call(id, request).map_err(failed)?);
    listen(session, deadline)
}

fn listen(mut session: Session, deadline: Instant) -> Result<(), Refused> {
    loop {
        match session.reply(deadline) {
            Ok(Reply::Acked(_)) => return Ok(()),
            Ok(Reply::Error(failure)) if matches!(failure.code, ErrorCode::Busy | ErrorCode::Storage) => {
                return Err(Refused::ForNow(failure.message));
            }
            Ok(Reply::Error(failure)) => return Err(Refused::ForGood(failure.message)),
            Ok(_) => {}
            Err(lost) => return Err(Refused::ForNow(lost.into_error().to_string())),
        }
    }
}
