//! A client acknowledges outcomes that it has printed.

use protocol_spec::message::{ACKS_MAX, Ack, Acked, ErrorCode, Failure, Reply};

use super::Next;
use crate::engine::Work;

pub(in crate::socket) fn ack(ack: Ack) -> Result<Next, Failure> {
    if ack.cue_ids.is_empty() {
        return Ok(Next::Reply(Reply::Acked(Acked { cue_ids: Vec::new() })));
    }
    check_ack(ack).map(Next::Submit)
}

/// The engine looks each question up while everybody else waits.
fn check_ack(ack: Ack) -> Result<Work, Failure> {
    let count = ack.cue_ids.len();
    if count > ACKS_MAX {
        let message = format!("{count} questions are more than {ACKS_MAX}");
        return Err(
            Failure::new(ErrorCode::TooLarge, message).with_hint("acknowledge them in several requests")
        );
    }
    Ok(Work::Ack {
        cues: ack.cue_ids,
        nonce: ack.nonce,
    })
}

#[cfg(test)]
mod tests {
    use protocol_spec::id::CueId;

    use super::*;

    fn many(count: u64) -> Ack {
        Ack {
            cue_ids: (0..count).map(CueId::from_random).collect(),
            nonce: None,
        }
    }

    #[test]
    fn an_acknowledgement_names_no_more_questions_than_the_engine_looks_up_in_a_moment() {
        assert!(check_ack(many(ACKS_MAX as u64)).is_ok());
        let failure = check_ack(many(ACKS_MAX as u64 + 1)).unwrap_err();
        assert_eq!(failure.code, ErrorCode::TooLarge);
        assert!(failure.message.contains("256"), "{failure}");
    }
}
