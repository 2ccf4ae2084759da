//! The rules for an agent that registers, and for one that learns its session later.

use protocol_spec::message::{EventKind, Joined, Reply};

use super::agent::Agent;
use super::effect::Change;
use super::input::{Join, Ticket};
use super::outbox::Outbox;

/// Registers an agent.
pub(super) fn join(join: Join, out: &mut Outbox) {
    let Join {
        ticket,
        agent,
        runtime,
        project_dir,
        terminal,
        session,
    } = join;
    out.store(Change::AddAgent {
        agent: agent.clone(),
        runtime,
        project_dir,
        terminal,
        session,
    });
    out.log(EventKind::Joined, &agent, None);
    let joined = Joined {
        agent_id: agent,
        again: false,
    };
    out.reply(ticket, Reply::Joined(joined));
}

impl Agent {
    /// Gives the agent its session, even if another agent had it before.
    ///
    /// A program that drives an agent joins before its runtime has a name for the conversation; a hook of that
    /// runtime may have joined under the name meanwhile.
    pub(super) fn bind_session(&mut self, ticket: Ticket, session: String, out: &mut Outbox) {
        out.store(Change::BindSession {
            agent: self.id.clone(),
            session,
        });
        let joined = Joined {
            agent_id: self.id.clone(),
            again: true,
        };
        out.reply(ticket, Reply::Joined(joined));
    }
}
