//! Lists the agents.

use protocol_spec::id::RequestId;
use protocol_spec::message::{AgentView, Reply};

use crate::socket::connection::{Connection, Ended};
use crate::socket::list::{list, presence};

/// Lists the agents.
pub(in crate::socket) async fn agents(connection: &mut Connection, id: RequestId) -> Result<(), Ended> {
    let Some(presence) = presence(connection, id).await? else {
        return Ok(());
    };
    list(
        connection,
        id,
        |reader, visit: &mut dyn FnMut(AgentView) -> bool| reader.agents(visit).map(|()| false),
        move |mut agent| {
            agent.waiting = presence.agent(&agent.agent_id);
            Reply::Agent(Box::new(agent))
        },
    )
    .await
}
