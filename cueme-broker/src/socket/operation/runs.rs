//! Lists runs.

use protocol_spec::id::RequestId;
use protocol_spec::message::{End, Reply, RunQuery};

use crate::socket::connection::{Connection, Ended};

/// Sends the runs that are wanted.
pub(in crate::socket) async fn runs(
    connection: &mut Connection,
    id: RequestId,
    query: RunQuery,
) -> Result<(), Ended> {
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
