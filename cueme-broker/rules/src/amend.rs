//! A human names, pins, archives or instructs an agent.

use protocol_spec::id::AgentId;
use protocol_spec::message::{Amended, ErrorCode, EventKind, Failure, Reply};

use super::ask::refuse;
use super::effect::{Change, Effect};
use super::input::{Amendment, Ticket};
use super::state::Machine;

impl Machine {
    pub(super) fn amend(
        &mut self,
        ticket: Ticket,
        agent_id: AgentId,
        amendment: Amendment,
        effects: &mut Vec<Effect>,
    ) {
        if !self.agents.contains_key(&agent_id) {
            return effects.push(refuse(ticket, unknown_agent(&agent_id)));
        }
        self.amend_now(&agent_id, amendment, effects);
        effects.push(Effect::Reply {
            to: ticket,
            reply: Box::new(Reply::Amended(Amended { agent_id })),
        });
    }

    /// Brings an agent back into sight: a new question is never asked where nobody looks.
    pub(super) fn surface(&mut self, agent_id: &AgentId, effects: &mut Vec<Effect>) {
        if self.agents.get(agent_id).is_some_and(|agent| agent.is_archived) {
            let amendment = Amendment {
                archived: Some(false),
                ..Amendment::default()
            };
            self.amend_now(agent_id, amendment, effects);
        }
    }

    fn amend_now(&mut self, agent_id: &AgentId, amendment: Amendment, effects: &mut Vec<Effect>) {
        let Some(agent) = self.agents.get_mut(agent_id) else {
            return;
        };
        if let Some(archived) = amendment.archived {
            agent.is_archived = archived;
        }
        if let Some(standing) = &amendment.standing {
            agent.standing.clone_from(standing);
        }
        effects.push(Effect::Store(Change::AmendAgent {
            agent: agent_id.clone(),
            amendment,
        }));
        effects.push(Effect::Log {
            what: EventKind::Changed,
            agent: agent_id.clone(),
            cue: None,
        });
    }
}

pub(super) fn unknown_agent(agent: &AgentId) -> Failure {
    Failure::new(
        ErrorCode::UnknownAgent,
        format!("no agent {agent} has joined here"),
    )
    .with_hint("`cueme agents` lists them")
}
