//! Refuses a server that could lose acknowledged commits, or that delivers no notifications, with a remedy.

use std::time::{Duration, Instant};

use cueme_store::StoreError;
use tokio::sync::mpsc;
use tokio_postgres::Client;

use crate::connect::Settings;
use crate::fault::failed;
use crate::listen::drive;

/// The oldest server that is supported.
const VERSION_MIN: i64 = 140_000;
/// The timeout of a notification.
const NOTIFICATION_PATIENCE: Duration = Duration::from_secs(3);

/// Prepares a session: no timeout may end a commit, a commit stays as durable as it is when the session begins, and a broker that is stopped in a transaction must not block the
/// others. Its statements are planned once: each finds its rows by an index, and planning takes longer than running them.
///
/// The timeout of an idle transaction does not count while the server sends a result. `tcp_user_timeout` ends a connection whose
/// peer is gone or does not read, and the keepalives find a lost peer that the server waits for. A Unix socket ignores them.
///
/// With `set_config`, because older servers do not know every setting.
const SESSION: &str = "SELECT set_config(name, CASE name
        WHEN 'default_transaction_isolation' THEN 'read committed'
        WHEN 'idle_in_transaction_session_timeout' THEN '10s'
        WHEN 'plan_cache_mode' THEN 'force_generic_plan'
        WHEN 'tcp_user_timeout' THEN '15s'
        WHEN 'tcp_keepalives_idle' THEN '5'
        WHEN 'tcp_keepalives_interval' THEN '3'
        WHEN 'tcp_keepalives_count' THEN '3'
        WHEN 'synchronous_commit' THEN setting
        ELSE '0' END, false)
    FROM pg_settings WHERE name IN ('statement_timeout', 'lock_timeout', 'transaction_timeout', 'idle_session_timeout',
        'idle_in_transaction_session_timeout', 'default_transaction_isolation', 'plan_cache_mode',
        'tcp_user_timeout', 'tcp_keepalives_idle', 'tcp_keepalives_interval', 'tcp_keepalives_count',
        'synchronous_commit')";

/// Prepares a connection of ours.
pub(crate) async fn configure(client: &Client, settings: &Settings) -> Result<(), StoreError> {
    client
        .query(SESSION, &[])
        .await
        .map(drop)
        .map_err(failed("configure", settings.location()))
}

/// Checks the server's settings for this connection.
pub(crate) async fn check_server(client: &Client, settings: &Settings) -> Result<(), StoreError> {
    let failed = failed("check", settings.location());
    let row = client
        .query_one(
            "SELECT current_setting('server_version_num')::bigint, current_setting('server_version'),
                 current_setting('fsync'), current_setting('full_page_writes'),
                 current_setting('synchronous_commit'), current_setting('server_encoding')",
            &[],
        )
        .await
        .map_err(failed)?;
    let number: i64 = row.try_get(0).map_err(failed)?;
    let text = |column: usize| row.try_get::<_, String>(column).map_err(failed);
    let refuse = |what: String, remedy: &str| {
        Err(StoreError::Unsuitable {
            path: settings.location().to_owned(),
            what,
            remedy: remedy.to_owned(),
        })
    };
    if number < VERSION_MIN {
        let what = format!("the server is PostgreSQL {}, and 14 is needed", text(1)?);
        return refuse(what, "update the server");
    }
    if text(2)? != "on" {
        let what = "fsync is off, so that a crash loses answers".to_owned();
        return refuse(what, "set fsync = on in postgresql.conf and restart the server");
    }
    if text(4)? == "off" {
        let what = "synchronous_commit is off, so that a crash loses answers".to_owned();
        return refuse(
            what,
            "set synchronous_commit = on in postgresql.conf, or reset it for this user and database with ALTER ROLE and ALTER DATABASE",
        );
    }
    if text(5)? != "UTF8" {
        let what = format!("its encoding is {}", text(5)?);
        return refuse(what, "create the database with ENCODING 'UTF8'");
    }
    if text(3)? != "on" {
        tracing::warn!(
            "full_page_writes is off: a power loss can damage the database, unless its file system prevents that"
        );
    }
    Ok(())
}

/// Refuses a pooler that accepts LISTEN and never delivers a notification: one connection listens, another one notifies.
///
/// Returns how long that took.
pub(crate) async fn check_notifications(
    client: &Client,
    settings: &Settings,
) -> Result<Duration, StoreError> {
    let failed = failed("listen to", settings.location());
    let channel = format!("cueme_probe_{}", uuid::Uuid::new_v4().simple());
    let (listener, connection) = settings.connect().await?;
    let (sender, mut notifications) = mpsc::unbounded_channel();
    tokio::spawn(drive(connection, sender));
    listener
        .batch_execute(&format!("LISTEN {channel}"))
        .await
        .map_err(failed)?;
    let started = Instant::now();
    client
        .batch_execute(&format!("NOTIFY {channel}"))
        .await
        .map_err(failed)?;
    match tokio::time::timeout(NOTIFICATION_PATIENCE, notifications.recv()).await {
        Ok(Some(_)) => Ok(started.elapsed()),
        Ok(None) | Err(_) => Err(StoreError::Unsuitable {
            path: settings.location().to_owned(),
            what: "notifications do not arrive; a connection pooler in transaction mode drops them".into(),
            remedy: "name the server itself in the URL, or use the pooler in session mode".into(),
        }),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use cueme_test_kit::postgres::Server;

    use super::*;
    use crate::runtime::Runtime;

    #[test]
    fn a_session_commits_as_durably_as_when_it_began() {
        let Some(server) = Server::own(&[]) else { return };
        let url = server.database();
        let settings = Settings::from_url(&url).unwrap();
        let runtime = Runtime::start().unwrap();
        runtime.block_on(async {
            let connect = async || {
                let (client, connection) = settings.connect().await.unwrap();
                runtime.spawn(drive(connection, mpsc::unbounded_channel().0));
                configure(&client, &settings).await.unwrap();
                client
            };
            let client = connect().await;
            server.run(&url, "ALTER SYSTEM SET synchronous_commit = off");
            server.run(&url, "SELECT pg_reload_conf()");
            cueme_test_kit::eventually("the server has read its configuration", || {
                (server.run(&url, "SHOW synchronous_commit") == "off").then_some(())
            });
            check_server(&client, &settings).await.unwrap();
            assert!(check_server(&connect().await, &settings).await.is_err());
        });
    }
}
