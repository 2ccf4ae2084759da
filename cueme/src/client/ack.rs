//! Acknowledges to the broker that outcomes were printed.

use std::time::{Duration, Instant};

use protocol_spec::endpoint::Places;
use protocol_spec::id::{CueId, RequestId};
use protocol_spec::message::{Ack, ErrorCode, Reply, Request};
use runtimes::Language;

use super::link::Side;
use super::session::{Lost, Session, encode_call, mint};
use super::start::connect_or_start;
use crate::error::CliError;
use crate::output;

/// The timeout of the acknowledgement; after it, the broker delivers the outcome once more, marked as a repeat.
const ACK_WAIT_MAX: Duration = Duration::from_secs(5);
/// The pause between two attempts.
const ACK_PAUSE: Duration = Duration::from_millis(100);

/// Confirms that outcomes reached the agent.
#[derive(Debug)]
pub(crate) struct Receipt {
    /// The connection that the outcomes came over, if it still stands.
    pub(super) session: Option<Box<Session>>,
    pub(super) cue_ids: Vec<CueId>,
    pub(super) nonce: Option<String>,
    pub(super) language: Language,
}

impl Receipt {
    /// Returns the language that the agent reads.
    pub(crate) fn language(&self) -> Language {
        self.language
    }

    /// Confirms outcomes that came with a call of their own.
    pub(crate) fn of(cue_ids: Vec<CueId>) -> Self {
        Self {
            session: None,
            cue_ids,
            nonce: None,
            language: Language::default(),
        }
    }

    /// Tells the broker.
    pub(crate) fn give(self, places: &Places) {
        acknowledge(
            places,
            self.session.map(|session| *session),
            self.cue_ids,
            self.nonce,
        );
    }
}

/// Acknowledges outcomes that were printed, for a few seconds even while the broker restarts.
///
/// Failing at it is only told: the agent has read the text, and reads it again with its next question.
///
/// The connection that they came over is used first, where there is one.
fn acknowledge(places: &Places, session: Option<Session>, cue_ids: Vec<CueId>, nonce: Option<String>) {
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
