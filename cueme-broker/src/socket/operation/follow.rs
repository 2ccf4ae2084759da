//! The driver of a run follows it.

use protocol_spec::id::RequestId;
use protocol_spec::message::{Reply, RunFollow};

use super::watch::drain;
use crate::socket::connection::{Connection, Ended};

/// Wakes the driver of a run until it leaves. The connection serves nothing else from here on.
pub(in crate::socket) async fn follow(
    connection: &mut Connection,
    id: RequestId,
    follow: RunFollow,
) -> Result<(), Ended> {
    connection.flush().await?;
    let run = follow.run_id;
    let mut following = connection.broker.followers().follow(follow);
    let row = connection.broker.reader().one_run(run).ok().flatten();
    if row.is_some_and(|row| row.run.end.is_some()) {
        connection.broker.followers().end(run);
    }
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
