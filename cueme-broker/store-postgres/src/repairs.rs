//! Repairs damage in the database as far as it keeps a human from closing a question.

use cueme_rules::Message;
use cueme_store::{Code, Repairs, StoreError};
use protocol_spec::id::CueId;
use protocol_spec::message::Purpose;
use protocol_spec::outcome::{Delivery, Outcome};

use crate::statements::params;
use crate::store::PostgresStore;

impl Repairs for PostgresStore {
    fn remove_damaged_decision(&self, cue: CueId) -> Result<Option<Vec<Message>>, StoreError> {
        let delivery: Option<i64> = self.find_one(
            "SELECT delivery FROM cues WHERE cue_id = $1",
            params![cue.as_str()],
        )?;
        if delivery.is_none_or(|delivery| delivery == Delivery::Acknowledged.number()) {
            return Ok(None);
        }
        self.touch_agent_of(cue);
        let mut notes = Vec::new();
        if delivery == Some(Delivery::None.number()) {
            notes = self.messages_in(cue)?;
            notes.retain(|message| message.purpose == Purpose::Note);
            for note in &notes {
                self.run(
                    "UPDATE messages SET cue_id = NULL WHERE request_id = $1",
                    params![note.request.0],
                )?;
            }
        }
        self.delete_decision(cue)?;
        self.run(
            "UPDATE cues SET outcome = $2, delivery = $3, handed_at = NULL, automatic = false WHERE cue_id = $1",
            params![cue.as_str(), Outcome::Open.number(), Delivery::None.number()],
        )?;
        Ok(Some(notes))
    }
}
