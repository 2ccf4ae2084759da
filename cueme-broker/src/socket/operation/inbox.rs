//! Lists the open questions, and those that the queue answered.

use protocol_spec::id::RequestId;

use crate::socket::connection::{Connection, Ended};
use crate::socket::list::cues;

/// Lists the open questions.
pub(in crate::socket) async fn inbox(connection: &mut Connection, id: RequestId) -> Result<(), Ended> {
    connection.broker.engine().human_seen();
    cues(connection, id, |reader, visit| {
        reader.inbox(visit).map(|()| false)
    })
    .await
}

/// Lists the questions that a queued answer answered and no human has looked at.
pub(in crate::socket) async fn unseen(connection: &mut Connection, id: RequestId) -> Result<(), Ended> {
    connection.broker.engine().human_seen();
    cues(connection, id, |reader, visit| {
        reader.unseen(visit).map(|()| false)
    })
    .await
}
