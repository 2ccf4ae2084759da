//! A human names, pins, archives or instructs an agent.

use protocol_spec::id::AgentId;
use protocol_spec::message::{Amended, ErrorCode, EventKind, Failure, Reply};

use super::agent::Agent;
use super::effect::Change;
use super::input::{Amendment, Ticket};
use super::outbox::Outbox;

impl Agent {
    pub(super) fn amend(&mut self, ticket: Ticket, amendment: Amendment, out: &mut Outbox) {
        self.amend_now(amendment, out);
        let agent_id = self.id.clone();
        out.reply(ticket, Reply::Amended(Amended { agent_id }));
    }

    /// Unarchives an agent, so that a new question is never hidden.
    pub(super) fn surface(&mut self, out: &mut Outbox) {
        if self.is_archived {
            let amendment = Amendment {
                archived: Some(false),
                ..Amendment::default()
            };
            self.amend_now(amendment, out);
        }
    }

    fn amend_now(&mut self, amendment: Amendment, out: &mut Outbox) {
        if let Some(archived) = amendment.archived {
            self.is_archived = archived;
        }
        if let Some(standing) = &amendment.standing {
            self.standing.clone_from(standing);
        }
        out.store(Change::AmendAgent {
            agent: self.id.clone(),
            amendment,
        });
        out.log(EventKind::Changed, &self.id, None);
    }
}

pub(super) fn unknown_agent(agent: &AgentId) -> Failure {
    Failure::new(
        ErrorCode::UnknownAgent,
        format!("no agent {agent} has joined here"),
    )
    .with_hint("`cueme agents` lists them")
}
