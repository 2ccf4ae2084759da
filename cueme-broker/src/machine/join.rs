//! An agent registers.

use protocol_spec::message::{EventKind, Joined, Reply};

use super::effect::{Change, Effect};
use super::input::Join;
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
}
