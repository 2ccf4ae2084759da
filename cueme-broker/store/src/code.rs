//! Enumerations as the small numbers they are stored as. The numbers are for ever.

use std::str::FromStr;

use protocol_spec::message::{EventKind, Purpose, RunEnd, RunKind, TokenScope};
use protocol_spec::outcome::{Delivery, Kind, Origin, Outcome};

use crate::StoreError;

/// A value that is stored as a number.
pub trait Code: Sized + Copy + 'static {
    /// The name of the type in errors.
    const WHAT: &'static str;
    /// Every value with its number.
    const TABLE: &'static [(Self, i64)];

    /// Returns the number it is stored as.
    fn number(self) -> i64;

    /// Returns the value that a number stands for.
    fn from_number(number: i64) -> Result<Self, StoreError> {
        Self::TABLE
            .iter()
            .find(|(_, known)| *known == number)
            .map(|(value, _)| *value)
            .ok_or_else(|| StoreError::BadValue {
                what: Self::WHAT,
                value: number.to_string(),
            })
    }
}

macro_rules! codes {
    ($type:ty, $what:literal, { $($value:ident = $number:literal),* $(,)? }) => {
        impl Code for $type {
            const WHAT: &'static str = $what;
            const TABLE: &'static [(Self, i64)] = &[$((Self::$value, $number)),*];

            fn number(self) -> i64 {
                match self { $(Self::$value => $number,)* }
            }
        }
    };
}

/// Reads an id as it was stored.
pub fn parse_id<T: FromStr>(text: String) -> Result<T, StoreError> {
    text.parse().map_err(|_| StoreError::BadValue {
        what: "an id",
        value: text,
    })
}

codes!(Kind, "a verb", { Cue = 0, Pause = 1 });
codes!(Origin, "an origin", { Agent = 0, Hook = 1, Approval = 2, Adapter = 3, Import = 4 });
codes!(Outcome, "an outcome", { Open = 0, Answered = 1, Declined = 2, Cancelled = 3, Superseded = 4 });
codes!(Delivery, "a delivery", { None = 0, Handed = 1, Acknowledged = 2 });
codes!(EventKind, "an event", {
    Joined = 0, Asked = 1, Answered = 2, Declined = 3, Cancelled = 4, Superseded = 5, Reopened = 6,
    Delivered = 7, Said = 8, Waiting = 9, Detached = 10, Released = 11, Queue = 12, Changed = 13,
});
codes!(Purpose, "a purpose", { Note = 0, QueuedAnswer = 1 });
codes!(TokenScope, "a scope", { Join = 0, Agent = 1, Human = 2 });
codes!(RunKind, "a kind of run", { Local = 0, Cloud = 1 });
codes!(RunEnd, "the end of a run", { Succeeded = 0, Failed = 1, Cancelled = 2 });
