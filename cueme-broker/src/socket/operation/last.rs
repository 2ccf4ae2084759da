//! Shows the last answer of an agent.

use protocol_spec::id::RequestId;
use protocol_spec::message::{ErrorCode, Failure};

use super::find_agent;
use crate::socket::connection::{Connection, Ended};
use crate::socket::list::one;

/// Returns the last answer an agent was given.
pub(in crate::socket) async fn last(
    connection: &mut Connection,
    id: RequestId,
    prefix: &str,
) -> Result<(), Ended> {
    let agent = match find_agent(&connection.broker, prefix).await {
        Ok(agent) => agent,
        Err(failure) => return connection.fail(id, failure).await,
    };
    let missing = Failure::new(
        ErrorCode::UnknownCue,
        format!("agent {agent} has not been answered yet"),
    )
    .with_hint("`cueme inbox` lists what agents ask");
    one(connection, id, missing, move |reader| {
        reader.last_answered(&agent)
    })
    .await
}
