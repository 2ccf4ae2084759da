//! Creates the schema and brings it up to date. Brokers that start together do it one after the other.

use cueme_store::StoreError;
use tokio_postgres::Client;

use crate::connect::Settings;
use crate::fault::failed;

/// The newest schema this program knows: the number of migrations.
pub const SCHEMA: u32 = MIGRATIONS.len() as u32;

/// Each brings the schema from its index to the next number. Released ones are never edited.
const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001_init.sql"),
    include_str!("../migrations/0002_token_expiry.sql"),
    include_str!("../migrations/0003_release_by_the_database.sql"),
    include_str!("../migrations/0004_moves_and_failovers.sql"),
];

/// The key of our advisory lock.
const LOCK: i64 = 0x6375_656d_6500;

/// Locks the table of the head before all others, as the transactions of brokers that still run do; their rows are not enough,
/// because a migration may change the table. A new database has none.
const LOCK_TABLE: &str = "DO $$ BEGIN
    IF to_regclass('head') IS NOT NULL THEN LOCK TABLE head IN ACCESS EXCLUSIVE MODE; END IF; END $$";

/// Applies the missing migrations in one transaction; a newer schema is left exactly as it is.
pub(crate) async fn migrate(client: &mut Client, settings: &Settings) -> Result<(), StoreError> {
    match try_to_migrate(client, settings).await {
        // Reads lock tables in any order.
        Err(error) if error.is_conflict() => try_to_migrate(client, settings).await,
        result => result,
    }
}

async fn try_to_migrate(client: &mut Client, settings: &Settings) -> Result<(), StoreError> {
    if is_newest(read_schema(client, settings).await?, settings)? {
        return Ok(());
    }
    let failed = failed("migrate", settings.location());
    let transaction = client.transaction().await.map_err(failed)?;
    transaction
        .execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK])
        .await
        .map_err(failed)?;
    // Another broker may have done it meanwhile.
    let found = read_schema(transaction.client(), settings).await?;
    if is_newest(found, settings)? {
        return Ok(());
    }
    transaction.batch_execute(LOCK_TABLE).await.map_err(failed)?;
    transaction
        .batch_execute("CREATE TABLE IF NOT EXISTS cueme_schema (number bigint NOT NULL)")
        .await
        .map_err(failed)?;
    for migration in MIGRATIONS.iter().skip(found as usize) {
        transaction.batch_execute(migration).await.map_err(failed)?;
    }
    let number = i64::from(SCHEMA);
    transaction
        .batch_execute(&format!(
            "DELETE FROM cueme_schema; INSERT INTO cueme_schema VALUES ({number})"
        ))
        .await
        .map_err(failed)?;
    transaction.commit().await.map_err(failed)
}

/// Says whether there is a schema; a newer one is refused.
pub(crate) async fn check_schema(client: &Client, settings: &Settings) -> Result<bool, StoreError> {
    let found = read_schema(client, settings).await?;
    is_newest(found, settings).map(|_| found > 0)
}

async fn read_schema(client: &Client, settings: &Settings) -> Result<u32, StoreError> {
    let failed = failed("read the schema of", settings.location());
    let exists = "SELECT to_regclass('cueme_schema') IS NOT NULL";
    let exists: bool = client
        .query_one(exists, &[])
        .await
        .and_then(|row| row.try_get(0))
        .map_err(failed)?;
    if !exists {
        return Ok(0);
    }
    let number: i64 = client
        .query_one("SELECT coalesce(max(number), 0) FROM cueme_schema", &[])
        .await
        .and_then(|row| row.try_get(0))
        .map_err(failed)?;
    Ok(u32::try_from(number).unwrap_or(u32::MAX))
}

fn is_newest(found: u32, settings: &Settings) -> Result<bool, StoreError> {
    if found > SCHEMA {
        return Err(StoreError::Newer {
            path: settings.location().to_owned(),
            found,
            known: SCHEMA,
        });
    }
    Ok(found == SCHEMA)
}
