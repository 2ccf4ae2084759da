//! Shows one question whole, and records that a human has looked at it.

use protocol_spec::id::RequestId;

use super::find_cue;
use super::show::show;
use crate::socket::connection::{Connection, Ended};

pub(in crate::socket) async fn seen(
    connection: &mut Connection,
    id: RequestId,
    prefix: &str,
) -> Result<(), Ended> {
    if let Ok(cue) = find_cue(&connection.broker, prefix).await {
        // A question that could not be marked is merely listed once more.
        let _ = connection
            .broker
            .engine()
            .write(move |store, _| store.mark_seen(cue))
            .await;
    }
    show(connection, id, prefix).await
}
