//! The ids of server-sent events: the number of an event, and the history that it belongs to where brokers share a store.
//!
//! A database that was restored or has failed over gives the numbers of its lost part again. A page that goes on from such a number
//! would miss events, so its id names the history.

use std::str::FromStr;
use std::sync::Arc;

use serde::Deserialize;

use crate::store::{Reader, StoreError};

/// The digits that name a history.
const HISTORY_DIGITS: usize = 8;

/// The history of the store in force.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct History(Option<Arc<str>>);

impl History {
    /// Reads it.
    pub(super) fn read(reader: &dyn Reader) -> Result<Self, StoreError> {
        Ok(Self(reader.history_id()?.map(Arc::from)))
    }

    /// Returns the id of a server-sent event.
    pub(super) fn id_of(&self, event: i64) -> String {
        match &self.0 {
            Some(history) => format!("{event}-{history}"),
            None => event.to_string(),
        }
    }

    /// Says whether a cursor is of this history; one without a history may be.
    pub(super) fn has(&self, cursor: &Cursor) -> bool {
        cursor.history.is_none() || cursor.history.as_deref() == self.0.as_deref()
    }
}

/// The last event that a page has seen.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Cursor {
    /// Its number, which anybody may have written.
    pub(super) event: i64,
    history: Option<String>,
}

impl FromStr for Cursor {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Ok(event) = text.parse() {
            return Ok(Self { event, history: None });
        }
        let parts = text.split_once('-').and_then(|(event, history)| {
            let is_history =
                history.len() == HISTORY_DIGITS && history.bytes().all(|byte| byte.is_ascii_hexdigit());
            Some((event.parse().ok()?, is_history.then(|| history.to_owned())?))
        });
        let (event, history) = parts.ok_or_else(|| "it is no id of an event".to_owned())?;
        Ok(Self {
            event,
            history: Some(history),
        })
    }
}

impl TryFrom<String> for Cursor {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_as_it_was_written_and_belongs_to_its_history_alone() {
        let of = |name: &str| History(Some(name.into()));
        let cursor: Cursor = of("0a1b2c3d").id_of(7).parse().unwrap();
        assert_eq!(cursor.event, 7);
        assert!(of("0a1b2c3d").has(&cursor) && !of("0a1b2c3e").has(&cursor));
        assert!(
            !History::default().has(&cursor),
            "a store of one broker has no history"
        );
        let plain: Cursor = History::default().id_of(7).parse().unwrap();
        assert!(of("0a1b2c3d").has(&plain) && History::default().has(&plain));
        for wrong in [
            "",
            "x",
            "7-",
            "7-0a1b2c3",
            "7-0a1b2c3x",
            "7-0a1b2c3d-",
            "-0a1b2c3d",
            "9223372036854775808",
        ] {
            assert!(wrong.parse::<Cursor>().is_err(), "{wrong}");
        }
    }
}
