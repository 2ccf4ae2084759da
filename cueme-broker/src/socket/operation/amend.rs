//! A human names or archives an agent.

use std::sync::Arc;

use protocol_spec::message::{Amend, ErrorCode, Failure};

use super::{Next, find_agent};
use crate::broker::Broker;
use crate::engine::Work;
use crate::machine::Amendment;
use crate::socket::check::check_by;

pub(in crate::socket) async fn amend(broker: &Arc<Broker>, amend: Amend) -> Result<Next, Failure> {
    let agent = find_agent(broker, &amend.agent).await?;
    check_by(amend.name.as_ref())?;
    if amend.archived == Some(true) {
        let wanted = agent.clone();
        let open = broker
            .read(move |reader| {
                let mut open = 0;
                reader.agents(&mut |found| {
                    if found.agent_id == wanted {
                        open = found.open_cues;
                    }
                    true
                })?;
                Ok(open)
            })
            .await?;
        // A question asked from here on unarchives it.
        if open > 0 {
            let message = format!("agent {agent} has open questions ({open})");
            return Err(Failure::new(ErrorCode::Stale, message)
                .with_hint("answer, decline or cancel them first; `cueme inbox` lists them"));
        }
    }
    let name = amend
        .name
        .map(|name| Some(name.trim().to_owned()).filter(|name| !name.is_empty()));
    let amendment = Amendment {
        name,
        archived: amend.archived,
        ..Amendment::default()
    };
    Ok(Next::Submit(Work::Amend { agent, amendment }))
}
