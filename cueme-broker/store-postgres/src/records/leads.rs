//! The leader of each run: the driver that speaks with the human, and the message that it was about to send to the
//! agent.

use cueme_store::{LeadRecords, RunLead, StoreError, parse_id};
use protocol_spec::id::{CueId, DriverId, RunId};
use protocol_spec::message::Sending;
use tokio_postgres::Row;

use crate::fault::Fault;
use crate::statements::params;
use crate::store::PostgresStore;
use crate::text::Text;

impl LeadRecords for PostgresStore {
    fn lead_of_run(&self, run: RunId) -> Result<Option<RunLead>, StoreError> {
        let row = self.query_one(
            "SELECT leader, sender, cue_ids, position FROM run_leads WHERE run_id = $1",
            params![&run.to_string()],
        )?;
        row.as_ref().map(lead).transpose()
    }

    fn keep_leader(&self, run: RunId, leader: DriverId) -> Result<(), StoreError> {
        self.note_record(
            "INSERT INTO run_leads (run_id, leader) VALUES ($1, $2)
             ON CONFLICT (run_id) DO UPDATE SET leader = excluded.leader",
            params![&run.to_string(), &leader.to_string()],
        )
    }

    fn keep_sending(&self, run: RunId, leader: DriverId, sending: &Sending) -> Result<(), StoreError> {
        let cues: Vec<&str> = sending.cue_ids.iter().map(CueId::as_str).collect();
        self.note_record(
            "UPDATE run_leads SET sender = $2, cue_ids = $3, position = $4 WHERE run_id = $1 AND leader = $2",
            params![
                &run.to_string(),
                &leader.to_string(),
                &cues.join(" "),
                &sending.position
            ],
        )
    }

    fn forget_ended_leads(&self) -> Result<(), StoreError> {
        self.note_record(
            "DELETE FROM run_leads l WHERE NOT EXISTS
                 (SELECT 1 FROM runs r WHERE r.run_id = l.run_id AND r.ending IS NULL)",
            params![],
        )
    }
}

fn lead(row: &Row) -> Result<RunLead, StoreError> {
    let text = |column: usize| -> Result<Option<String>, Fault> {
        Ok(row.try_get::<_, Option<Text>>(column)?.map(|text| text.0))
    };
    let leader = parse_id(text(0)?.unwrap_or_default())?;
    let Some(sender) = text(1)? else {
        return Ok(RunLead {
            leader,
            sending: None,
        });
    };
    let cues = text(2)?.unwrap_or_default();
    let cue_ids = cues.split_whitespace().map(|cue| parse_id(cue.to_owned()));
    let sending = Sending {
        cue_ids: cue_ids.collect::<Result<_, _>>()?,
        position: text(3)?.unwrap_or_default(),
    };
    Ok(RunLead {
        leader,
        sending: Some((parse_id(sender)?, sending)),
    })
}
