//! Lists the questions that a queued answer answered and no human has looked at.

use protocol_spec::id::RequestId;

use crate::socket::connection::{Connection, Ended};
use crate::socket::list::cues;

pub(in crate::socket) async fn unseen(connection: &mut Connection, id: RequestId) -> Result<(), Ended> {
    connection.broker.engine().human_seen();
    cues(connection, id, |reader, visit| {
        reader.unseen(visit).map(|()| false)
    })
    .await
}
