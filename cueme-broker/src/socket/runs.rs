//! Runs over the socket: listed for anybody, followed by whoever drives them.

use adapter_core::cursor::cloud::Secret;
use protocol_spec::id::RequestId;
use protocol_spec::message::{End, Reply, RunFollow, RunQuery};

use super::connection::{Connection, Ended};
use super::watch::drain;

/// Sends the runs that are wanted.
pub(super) async fn list(connection: &mut Connection, id: RequestId, query: RunQuery) -> Result<(), Ended> {
    match connection.broker.runs(query).await {
        Ok(runs) => {
            for run in runs {
                connection.send(id, &Reply::Run(Box::new(run))).await?;
            }
            connection.send(id, &Reply::End(End::default())).await
        }
        Err(failure) => connection.fail(id, failure).await,
    }
}

/// Tells whoever drives a run when to look again, until they leave. The connection serves nothing else from here on.
pub(super) async fn follow(
    connection: &mut Connection,
    id: RequestId,
    follow: RunFollow,
) -> Result<(), Ended> {
    connection.flush().await?;
    let secret = follow.webhook_secret.map(Secret::new);
    let mut following = connection.broker.followers().follow(follow.run_id, secret);
    loop {
        tokio::select! {
            woken = following.wakes.recv() => match woken {
                Some(woken) => connection.send(id, &Reply::RunWoken(woken)).await?,
                None => return Err(Ended::Gone),
            },
            ready = connection.stream.readable() => {
                ready?;
                drain(connection)?;
            }
        }
    }
}
