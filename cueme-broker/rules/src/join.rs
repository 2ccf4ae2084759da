//! An agent registers, and may learn later which session it is.

use protocol_spec::id::AgentId;
use protocol_spec::message::{EventKind, Joined, Reply};

use super::amend::unknown_agent;
use super::ask::refuse;
use super::effect::{Change, Effect};
use super::input::{Join, Ticket};
use super::state::Machine;

impl Machine {
    pub(super) fn join(&mut self, join: Join, effects: &mut Vec<Effect>) {
        let Join {
            ticket,
            agent,
            runtime,
            project_dir,
            terminal,
            session,
        } = join;
        self.remember_agent(agent.clone(), runtime.clone(), 0);
        effects.push(Effect::Store(Change::AddAgent {
            agent: agent.clone(),
            runtime,
            project_dir,
            terminal,
            session,
        }));
        effects.push(Effect::Log {
            what: EventKind::Joined,
            agent: agent.clone(),
            cue: None,
        });
        let reply = Reply::Joined(Joined {
            agent_id: agent,
            again: false,
        });
        effects.push(Effect::Reply {
            to: ticket,
            reply: Box::new(reply),
        });
    }

    /// Gives an agent its session, whoever had it before.
    ///
    /// A program that drives an agent joins before its runtime has a name for the conversation; a hook of that
    /// runtime may have joined under the name meanwhile.
    pub(super) fn bind_session(
        &mut self,
        ticket: Ticket,
        agent: AgentId,
        session: String,
        effects: &mut Vec<Effect>,
    ) {
        if !self.agents.contains_key(&agent) {
            return effects.push(refuse(ticket, unknown_agent(&agent)));
        }
        effects.push(Effect::Store(Change::BindSession {
            agent: agent.clone(),
            session,
        }));
        let reply = Reply::Joined(Joined {
            agent_id: agent,
            again: true,
        });
        effects.push(Effect::Reply {
            to: ticket,
            reply: Box::new(reply),
        });
    }
}
