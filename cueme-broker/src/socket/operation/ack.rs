//! A client acknowledges outcomes that it has printed.

use protocol_spec::message::{ACKS_MAX, Ack, Acked, ErrorCode, Failure, Reply};

use super::Next;
use super::ask::check_nonce;
use crate::engine::Work;

pub(in crate::socket) fn ack(ack: Ack) -> Result<Next, Failure> {
    if ack.cue_ids.is_empty() {
        return Ok(Next::Reply(Reply::Acked(Acked { cue_ids: Vec::new() })));
    }
    check_ack(ack).map(Next::Submit)
}

/// A limit, because the engine looks each question up while all other callers wait.
fn check_ack(ack: Ack) -> Result<Work, Failure> {
    let count = ack.cue_ids.len();
    if count > ACKS_MAX {
        let message = format!("{count} questions are more than {ACKS_MAX}");
        return Err(
            Failure::new(ErrorCode::TooLarge, message).with_hint("acknowledge them in several requests")
        );
    }
    check_nonce(ack.nonce.as_deref())?;
    Ok(Work::Ack {
        cues: ack.cue_ids,
        nonce: ack.nonce,
    })
}

#[cfg(test)]
mod tests {
    use protocol_spec::id::CueId;
    use protocol_spec::message::NONCE_BYTES_MAX;

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

    #[test]
    fn the_mark_of_a_turn_is_short() {
        let marked = |bytes: usize| Ack {
            nonce: Some("n".repeat(bytes)),
            ..many(1)
        };
        assert!(check_ack(marked(NONCE_BYTES_MAX)).is_ok());
        let failure = check_ack(marked(NONCE_BYTES_MAX + 1)).unwrap_err();
        assert_eq!(failure.code, ErrorCode::TooLarge);
        assert!(
            failure
                .message
                .contains("a nonce of 257 bytes is longer than 256"),
            "{failure}"
        );
    }
}
