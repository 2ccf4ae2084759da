//! Brokers and their leases. A broker whose lease ended counts as dead: nobody waits there any more.

use std::time::Duration;

use uuid::Uuid;

use crate::statements::{Step, params};

/// How long a broker counts as alive after it was heard of.
pub(crate) const LEASE: Duration = Duration::from_secs(10);

/// Says whether the others took a broker for dead, and which others are to be taken for dead.
pub(crate) const LOOK: &str = "SELECT (SELECT expelled FROM brokers WHERE broker = $1),
    EXISTS (SELECT 1 FROM brokers WHERE broker <> $1 AND NOT expelled AND lease_until < clock_timestamp())";

/// Who this broker is to the others.
#[derive(Debug, Clone)]
pub(crate) struct Broker {
    pub(crate) id: Uuid,
    pub(crate) name: String,
}

impl Broker {
    /// Makes up an id, which no other process ever has.
    pub(crate) fn of_this_process() -> Self {
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname")
            .ok()
            .or_else(|| std::env::var("HOSTNAME").ok())
            .unwrap_or_else(|| "unknown".to_owned());
        Self {
            id: Uuid::new_v4(),
            name: format!("{}:{}", host.trim(), std::process::id()),
        }
    }

    /// Makes the broker known, or alive again.
    pub(crate) fn register(&self) -> Step {
        Step::Prepared(
            "INSERT INTO brokers (broker, name, lease_until) VALUES ($1, $2, clock_timestamp() + $3 * interval '1 ms')
             ON CONFLICT (broker) DO UPDATE SET lease_until = excluded.lease_until, expelled = false",
            params![self.id, &self.name, lease_millis()],
        )
    }

    /// Keeps the broker alive; changes no row when the others took it for dead.
    pub(crate) fn renew(&self) -> Step {
        Step::Prepared(
            "UPDATE brokers SET lease_until = clock_timestamp() + $2 * interval '1 ms' WHERE broker = $1 AND NOT expelled",
            params![self.id, lease_millis()],
        )
    }

    /// Notes the batch that is about to be committed, and keeps the broker alive.
    pub(crate) fn note_batch(&self, batch: i64) -> Step {
        Step::Prepared(
            "UPDATE brokers SET batch = $2, lease_until = clock_timestamp() + $3 * interval '1 ms' WHERE broker = $1",
            params![self.id, batch, lease_millis()],
        )
    }

    /// Gains the leadership, or keeps it; changes no row while another broker has it.
    pub(crate) fn lead(&self) -> Step {
        Step::Prepared(
            "UPDATE leader SET broker = $1, lease_until = clock_timestamp() + $2 * interval '1 ms'
             WHERE broker = $1 OR lease_until < clock_timestamp()",
            params![self.id, lease_millis()],
        )
    }

    /// Gives the leadership up.
    pub(crate) fn stop_leading(&self) -> Step {
        Step::Prepared(
            "UPDATE leader SET broker = NULL, lease_until = '-infinity' WHERE broker = $1",
            params![self.id],
        )
    }

    /// Takes for dead whose lease ended, and returns the questions somebody waited for there.
    ///
    /// Their rows stay for a day: a broker that comes back finds out there whether its last commit happened.
    pub(crate) fn expel_others(&self) -> Vec<Step> {
        vec![
            Step::Prepared(
                "DELETE FROM brokers WHERE broker <> $1 AND expelled AND lease_until < clock_timestamp() - interval '1 day'",
                params![self.id],
            ),
            Step::Prepared(
                "WITH dead AS (UPDATE brokers SET expelled = true
                     WHERE broker <> $1 AND NOT expelled AND lease_until < clock_timestamp() RETURNING broker)
                 DELETE FROM waits WHERE broker IN (SELECT broker FROM dead) RETURNING cue_id",
                params![self.id],
            ),
        ]
    }

    /// Leaves: as if the others had taken it for dead, but at once.
    pub(crate) fn expel_itself(&self) -> Step {
        Step::Prepared(
            "WITH gone AS (UPDATE brokers SET expelled = true WHERE broker = $1)
             DELETE FROM waits WHERE broker = $1 RETURNING cue_id",
            params![self.id],
        )
    }
}

/// Notes that nobody waits for these questions, as far as that is so, and what their agents' revision is now.
pub(crate) fn detach(cues: Vec<String>, revision: i64) -> Vec<Step> {
    vec![
        Step::Prepared(
            "UPDATE cues SET detached_at = (extract(epoch FROM clock_timestamp()) * 1000)::bigint
             WHERE cue_id = ANY($1) AND delivery < 2 AND NOT EXISTS (SELECT 1 FROM waits w WHERE w.cue_id = cues.cue_id)",
            params![cues.clone()],
        ),
        Step::Prepared(
            "UPDATE agents SET revision = $2
             WHERE agent_id IN (SELECT agent_id FROM cues WHERE cue_id = ANY($1)) RETURNING agent_id",
            params![cues, revision],
        ),
    ]
}

fn lease_millis() -> f64 {
    LEASE.as_secs_f64() * 1000.0
}
