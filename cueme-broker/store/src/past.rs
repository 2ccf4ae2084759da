//! Imported questions, which are settled from the start and ordered before all questions asked here.

use std::ops::RangeInclusive;
use std::sync::Arc;

use cueme_rules::{LEFT_OPEN, PastCue, PastEnd, past_text};
use protocol_spec::answer::Answer;
use protocol_spec::id::RequestId;
use protocol_spec::outcome::Outcome;
use protocol_spec::time::Timestamp;

use crate::StoreError;

/// The offset between an imported question's time and its sequence number: far below zero, in the order of time, and
/// within the integers that a browser represents exactly.
const BEFORE_OURS: i64 = 4_000_000_000_000_000;
/// The earliest and latest times that keep their order with it: the years 0 and 9999.
const TIMES: RangeInclusive<i64> = -62_167_219_200_000..=253_402_300_799_999;

/// The decision about an imported question, as it is stored.
#[derive(Debug)]
pub struct PastDecision<'a> {
    /// The outcome.
    pub outcome: Outcome,
    /// The key of the decision.
    pub request: RequestId,
    /// The text.
    pub text: String,
    /// The answer as data, if it was answered.
    pub answer: Option<&'a Answer>,
}

impl<'a> PastDecision<'a> {
    /// Returns the decision about a question.
    pub fn of(past: &'a PastCue) -> Self {
        let (outcome, request, answer) = match &past.end {
            PastEnd::Answered { answer, .. } => (Outcome::Answered, past.request, Some(Arc::as_ref(answer))),
            PastEnd::Closed { .. } => (Outcome::Cancelled, past.request, None),
            PastEnd::LeftOpen => (Outcome::Cancelled, LEFT_OPEN, None),
        };
        Self {
            outcome,
            request,
            text: past_text(&past.end),
            answer,
        }
    }
}

/// Returns a free sequence number for a question asked at this time.
pub fn place_of_past(
    asked_at: Timestamp,
    is_taken: impl Fn(i64) -> Result<bool, StoreError>,
) -> Result<i64, StoreError> {
    let mut seq = asked_at.as_millis().clamp(*TIMES.start(), *TIMES.end()) - BEFORE_OURS;
    while is_taken(seq)? {
        seq += 1;
    }
    Ok(seq)
}
