//! Lists past and present questions.

use protocol_spec::id::RequestId;
use protocol_spec::message::History;

use super::find_agent;
use crate::socket::connection::{Connection, Ended};
use crate::socket::list::cues;
use crate::store::HistoryQuery;

/// The default number of questions in a history.
const HISTORY_DEFAULT: u32 = 50;
/// The most questions in a history.
const HISTORY_MAX: u32 = 10_000;

/// Lists past and present questions.
pub(in crate::socket) async fn history(
    connection: &mut Connection,
    id: RequestId,
    history: History,
) -> Result<(), Ended> {
    connection.broker.engine().human_seen();
    let agent = match &history.agent {
        Some(prefix) => match find_agent(&connection.broker, prefix).await {
            Ok(agent) => Some(agent),
            Err(failure) => return connection.fail(id, failure).await,
        },
        None => None,
    };
    if history.search.is_some() {
        connection.broker.engine().catch_up_soon().await.ok();
    }
    let query = HistoryQuery {
        agent,
        search: history.search,
        before: history.before,
        limit: history.limit.unwrap_or(HISTORY_DEFAULT).min(HISTORY_MAX),
    };
    cues(connection, id, move |reader, visit| reader.history(&query, visit)).await
}
