//! The leader of each run: the driver that speaks with the human, and the message that it was about to send to the
//! agent.

use cueme_store::{LeadRecords, RunLead, StoreError, parse_id};
use protocol_spec::id::{CueId, DriverId, RunId};
use protocol_spec::message::Sending;
use rusqlite::{Row, params};

use super::SqliteStore;
use super::fault::Fault;

impl LeadRecords for SqliteStore {
    fn lead_of_run(&self, run: RunId) -> Result<Option<RunLead>, StoreError> {
        self.with(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT leader, sender, cue_ids, position FROM run_leads WHERE run_id = ?1",
            )?;
            let mut rows = statement.query(params![run.to_string()])?;
            rows.next()?.map(lead).transpose()
        })
    }

    fn keep_leader(&self, run: RunId, leader: DriverId) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO run_leads (run_id, leader) VALUES (?1, ?2)
             ON CONFLICT (run_id) DO UPDATE SET leader = excluded.leader",
            params![run.to_string(), leader.to_string()],
        )
    }

    fn keep_sending(&self, run: RunId, leader: DriverId, sending: &Sending) -> Result<(), StoreError> {
        let cues: Vec<&str> = sending.cue_ids.iter().map(CueId::as_str).collect();
        self.run(
            "UPDATE run_leads SET sender = ?2, cue_ids = ?3, position = ?4 WHERE run_id = ?1 AND leader = ?2",
            params![
                run.to_string(),
                leader.to_string(),
                cues.join(" "),
                sending.position
            ],
        )
    }

    fn forget_ended_leads(&self) -> Result<(), StoreError> {
        self.run(
            "DELETE FROM run_leads WHERE run_id IN (SELECT run_id FROM runs WHERE ending IS NOT NULL)
                 OR run_id NOT IN (SELECT run_id FROM runs)",
            &[],
        )
    }
}

fn lead(row: &Row<'_>) -> Result<RunLead, Fault> {
    let leader = parse_id(row.get(0)?)?;
    let sender: Option<String> = row.get(1)?;
    let Some(sender) = sender else {
        return Ok(RunLead {
            leader,
            sending: None,
        });
    };
    let cues: String = row.get(2)?;
    let cue_ids = cues.split_whitespace().map(|cue| parse_id(cue.to_owned()));
    let sending = Sending {
        cue_ids: cue_ids.collect::<Result<_, _>>()?,
        position: row.get(3)?,
    };
    Ok(RunLead {
        leader,
        sending: Some((parse_id(sender)?, sending)),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::Synchronous;
    use uuid::Uuid;

    #[test]
    fn a_leader_and_what_it_was_about_to_send_are_there_after_the_store_was_opened_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("cueme.db");
        let open = || SqliteStore::open(&path, Synchronous::Normal, true).unwrap();
        let run = RunId(Uuid::from_u128(1));
        let [first, second] = [2, 3].map(|number| DriverId(Uuid::from_u128(number)));
        let sending = Sending {
            cue_ids: vec![CueId::from_random(1), CueId::from_random(2)],
            position: "after the third message".into(),
        };
        let store = open();
        assert_eq!(store.lead_of_run(run).unwrap(), None);
        store.keep_leader(run, first).unwrap();
        store.keep_sending(run, second, &sending).unwrap();
        let lead = store.lead_of_run(run).unwrap().unwrap();
        assert_eq!(
            (lead.leader, lead.sending),
            (first, None),
            "only the leader sends"
        );
        store.keep_sending(run, first, &sending).unwrap();
        store.keep_leader(run, second).unwrap();
        drop(store);
        let store = open();
        let lead = store.lead_of_run(run).unwrap().unwrap();
        assert_eq!((lead.leader, lead.sending), (second, Some((first, sending))));
        store.forget_ended_leads().unwrap();
        assert_eq!(store.lead_of_run(run).unwrap(), None, "nobody knows the run");
    }
}
