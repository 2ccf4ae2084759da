//! Brokers and their leases. A broker whose lease ended counts as dead, and no client waits there any more.

use std::time::Duration;

use uuid::Uuid;

use crate::moved::host_name;
use crate::statements::{Step, params};

/// The lease: the time that a broker counts as alive after its last sign.
pub(crate) const LEASE: Duration = Duration::from_secs(10);

/// Asks whether the others took this broker for dead, and which others have an expired lease.
pub(crate) const FIND_EXPIRED: &str = "SELECT (SELECT expelled FROM brokers WHERE broker = $1),
    EXISTS (SELECT 1 FROM brokers WHERE broker <> $1 AND NOT expelled AND lease_until < clock_timestamp())";

/// The identity of this broker among the others.
#[derive(Debug, Clone)]
pub(crate) struct Broker {
    pub(crate) id: Uuid,
    pub(crate) name: String,
}

impl Broker {
    /// Generates an id, which no other process ever has.
    pub(crate) fn of_this_process() -> Self {
        Self {
            id: Uuid::new_v4(),
            name: format!("{}:{}", host_name(), std::process::id()),
        }
    }

    /// Registers the broker, or revives it.
    pub(crate) fn register(&self) -> Step {
        Step::Prepared(
            "INSERT INTO brokers (broker, name, lease_until) VALUES ($1, $2, clock_timestamp() + $3 * interval '1 ms')
             ON CONFLICT (broker) DO UPDATE SET lease_until = excluded.lease_until, expelled = false",
            params![self.id, &self.name, lease_millis()],
        )
    }

    /// Renews the lease; changes no row when the others took this broker for dead.
    pub(crate) fn renew(&self) -> Step {
        Step::Prepared(
            "UPDATE brokers SET lease_until = clock_timestamp() + $2 * interval '1 ms' WHERE broker = $1 AND NOT expelled",
            params![self.id, lease_millis()],
        )
    }

    /// Records the batch that is about to be committed, and renews the lease.
    pub(crate) fn note_batch(&self, batch: i64) -> Step {
        Step::Prepared(
            "UPDATE brokers SET batch = $2, lease_until = clock_timestamp() + $3 * interval '1 ms' WHERE broker = $1",
            params![self.id, batch, lease_millis()],
        )
    }

    /// Acquires or renews the leadership; changes no row while another broker has it, or after this one has left or was expelled.
    pub(crate) fn lead(&self) -> Step {
        Step::Prepared(
            "UPDATE leader SET broker = $1, lease_until = clock_timestamp() + $2 * interval '1 ms'
             WHERE (broker = $1 OR lease_until < clock_timestamp())
                 AND EXISTS (SELECT 1 FROM brokers WHERE broker = $1 AND NOT expelled)",
            params![self.id, lease_millis()],
        )
    }

    /// Shortens every lease that ends later than one that begins now: the clock of the database was set back, and a dead broker
    /// would count as alive until it has caught up.
    pub(crate) fn shorten_leases(&self) -> [Step; 2] {
        [
            Step::Prepared(
                "UPDATE brokers SET lease_until = clock_timestamp() + $1 * interval '1 ms'
                 WHERE lease_until > clock_timestamp() + $1 * interval '1 ms'",
                params![lease_millis()],
            ),
            Step::Prepared(
                "UPDATE leader SET lease_until = clock_timestamp() + $1 * interval '1 ms'
                 WHERE lease_until > clock_timestamp() + $1 * interval '1 ms'",
                params![lease_millis()],
            ),
        ]
    }

    /// Releases the leadership.
    pub(crate) fn stop_leading(&self) -> Step {
        Step::Prepared(
            "UPDATE leader SET broker = NULL, lease_until = '-infinity' WHERE broker = $1",
            params![self.id],
        )
    }

    /// Expels the brokers with an expired lease, and returns the questions that their clients waited for.
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

    /// Leaves: as if the others had expelled this broker, but at once.
    pub(crate) fn expel_itself(&self) -> Step {
        Step::Prepared(
            "WITH gone AS (UPDATE brokers SET expelled = true WHERE broker = $1)
             DELETE FROM waits WHERE broker = $1 RETURNING cue_id",
            params![self.id],
        )
    }
}

/// Records for each of these questions without a waiting client that it is detached, and its agent's new revision.
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
