//! Repairs damage in the database as far as it keeps a human from closing a question.

use std::borrow::Cow;

use cueme_store::{Code, Repairs, StoreError};
use protocol_spec::id::CueId;
use protocol_spec::message::Purpose;
use protocol_spec::outcome::{Delivery, Outcome};
use rusqlite::params;

use super::SqliteStore;
use cueme_rules::Message;

impl Repairs for SqliteStore {
    fn remove_damaged_decision(&self, cue: CueId) -> Result<Option<Vec<Message>>, StoreError> {
        let delivery: Option<i64> = self.find_one(
            "SELECT delivery FROM cues WHERE cue_id = ?1",
            params![cue.as_str()],
        )?;
        if delivery.is_none_or(|delivery| delivery == Delivery::Acknowledged.number()) {
            return Ok(None);
        }
        let mut notes = Vec::new();
        if delivery == Some(Delivery::None.number()) {
            notes = self.messages_in(cue)?;
            notes.retain(|message| message.purpose == Purpose::Note);
            for note in &notes {
                self.run(
                    "UPDATE messages SET cue_id = NULL WHERE request_id = ?1",
                    params![note.request.0.as_bytes()],
                )?;
            }
        }
        self.delete_decision(cue)?;
        self.make_prompt_readable(cue)?;
        self.run(
            "UPDATE cues SET outcome = ?2, delivery = ?3, handed_at = NULL, automatic = 0 WHERE cue_id = ?1",
            params![cue.as_str(), Outcome::Open.number(), Delivery::None.number()],
        )?;
        self.has_erased.set(true);
        Ok(Some(notes))
    }
}

impl SqliteStore {
    fn make_prompt_readable(&self, cue: CueId) -> Result<(), StoreError> {
        let (seq, prompt): (i64, Vec<u8>) = self.with(|connection| {
            Ok(connection
                .prepare_cached(
                    "SELECT q.seq, CAST(q.prompt AS BLOB) FROM questions q JOIN cues c USING (seq) WHERE c.cue_id = ?1",
                )?
                .query_row(params![cue.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?)
        })?;
        match String::from_utf8_lossy(&prompt) {
            Cow::Borrowed(_) => Ok(()),
            Cow::Owned(readable) => self.run(
                "UPDATE questions SET prompt = ?2 WHERE seq = ?1",
                params![seq, readable],
            ),
        }
    }
}
