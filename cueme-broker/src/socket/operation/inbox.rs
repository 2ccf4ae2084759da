//! Lists the open questions.

use protocol_spec::id::RequestId;

use crate::socket::connection::{Connection, Ended};
use crate::socket::list::cues;

pub(in crate::socket) async fn inbox(connection: &mut Connection, id: RequestId) -> Result<(), Ended> {
    connection.broker.engine().human_seen();
    cues(connection, id, |reader, visit| {
        reader.inbox(visit).map(|()| false)
    })
    .await
}
