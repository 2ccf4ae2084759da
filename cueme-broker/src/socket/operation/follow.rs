//! The program that drives a run follows what concerns it.

use cloud_settings::Secret;
use protocol_spec::id::RequestId;
use protocol_spec::message::{Reply, RunFollow};

use super::watch::drain;
use crate::socket::connection::{Connection, Ended};

/// Tells whoever drives a run when to look again, until they leave. The connection serves nothing else from here on.
pub(in crate::socket) async fn follow(
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
