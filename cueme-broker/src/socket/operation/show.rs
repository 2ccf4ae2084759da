//! Shows one question whole.

use protocol_spec::id::RequestId;
use protocol_spec::message::{ErrorCode, Failure};

use super::find_cue;
use crate::socket::connection::{Connection, Ended};
use crate::socket::list::one;

/// Shows one question whole.
pub(in crate::socket) async fn show(
    connection: &mut Connection,
    id: RequestId,
    prefix: &str,
) -> Result<(), Ended> {
    connection.broker.engine().human_seen();
    let cue = match find_cue(&connection.broker, prefix).await {
        Ok(cue) => cue,
        Err(failure) => return connection.fail(id, failure).await,
    };
    one(
        connection,
        id,
        Failure::new(ErrorCode::UnknownCue, format!("there is no question {cue}"))
            .with_hint("`cueme inbox` lists the open questions, `cueme history` the others"),
        move |reader| reader.cue(cue),
    )
    .await
}
