//! The report of `cueme doctor` about a database server.

use std::time::{Duration, Instant};

use cueme_store::StoreError;
use tokio::sync::mpsc;
use tokio_postgres::Client;

use crate::connect::Settings;
use crate::fault::failed;
use crate::listen::drive;
use crate::migrate::check_schema;
use crate::runtime::Runtime;
use crate::start_up::{check_notifications, check_server, configure};

/// The properties of a suitable server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// The server's version.
    pub version: String,
    /// The round-trip time of one statement.
    pub round_trip: Duration,
    /// The latency of a notification from one connection to another.
    pub notified_after: Duration,
    /// The settings that make a commit durable, with their values.
    pub durability: Vec<(String, String)>,
    /// Standbys that have every acknowledged commit.
    pub synchronous_standbys: u32,
    /// Standbys that may lack the latest commits.
    pub asynchronous_standbys: u32,
    /// The brokers that are alive.
    pub brokers: Vec<String>,
}

/// Inspects a server; an unsuitable one is an error with a remedy.
pub fn inspect(settings: &Settings, runtime: &Runtime) -> Result<Inspection, StoreError> {
    runtime.block_on(async {
        let (client, connection) = settings.connect().await?;
        let (sender, _) = mpsc::unbounded_channel();
        runtime.spawn(drive(connection, sender));
        configure(&client, settings).await?;
        check_server(&client, settings).await?;
        let has_schema = check_schema(&client, settings).await?;
        let notified_after = check_notifications(&client, settings).await?;
        look(&client, settings, has_schema, notified_after).await
    })
}

async fn look(
    client: &Client,
    settings: &Settings,
    has_schema: bool,
    notified_after: Duration,
) -> Result<Inspection, StoreError> {
    let failed = failed("inspect", settings.location());
    let started = Instant::now();
    let version = client
        .query_one("SELECT current_setting('server_version')", &[])
        .await
        .and_then(|row| row.try_get(0))
        .map_err(failed)?;
    let round_trip = started.elapsed();
    let durability = "SELECT name, setting FROM pg_settings
        WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') ORDER BY name";
    let durability = client.query(durability, &[]).await.map_err(failed)?;
    let durability = durability
        .iter()
        .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
        .collect::<Result<_, _>>()
        .map_err(failed)?;
    // Without the right to monitor the server, a user sees only that a standby exists.
    let standbys = "SELECT count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')),
        count(*) FILTER (WHERE sync_state NOT IN ('sync', 'quorum')) FROM pg_stat_replication";
    let standbys = client.query_one(standbys, &[]).await.map_err(failed)?;
    let count = |column| -> Result<u32, StoreError> {
        let number: i64 = standbys.try_get(column).map_err(failed)?;
        Ok(u32::try_from(number).unwrap_or(u32::MAX))
    };
    let mut brokers = Vec::new();
    if has_schema {
        let alive =
            "SELECT name FROM brokers WHERE NOT expelled AND lease_until > clock_timestamp() ORDER BY name";
        for row in client.query(alive, &[]).await.map_err(failed)? {
            brokers.push(row.try_get(0).map_err(failed)?);
        }
    }
    Ok(Inspection {
        version,
        round_trip,
        notified_after,
        durability,
        synchronous_standbys: count(0)?,
        asynchronous_standbys: count(1)?,
        brokers,
    })
}
