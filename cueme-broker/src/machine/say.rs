//! A human leaves a message for an agent that has not asked yet.

use protocol_spec::id::AgentId;
use protocol_spec::message::{ErrorCode, EventKind, Failure, Reply, Said};

use super::amend::unknown_agent;
use super::ask::refuse;
use super::effect::{Change, Effect};
use super::input::{Now, Say};
use super::state::{Machine, Message, State};
use super::{MESSAGES_BYTES_PER_AGENT_MAX, MESSAGES_PER_AGENT_MAX};

impl Machine {
    /// Keeps a message for the agent's next question.
    pub(super) fn say(&mut self, now: Now, say: Say, effects: &mut Vec<Effect>) {
        self.human_signs += 1;
        let Say {
            ticket,
            request,
            agent: agent_id,
            text,
            by,
        } = say;
        let Some(agent) = self.agents.get_mut(&agent_id) else {
            return effects.push(refuse(ticket, unknown_agent(&agent_id)));
        };
        let is_known = agent.messages.iter().any(|message| message.request == request);
        if !is_known && agent.messages.len() >= MESSAGES_PER_AGENT_MAX {
            let failure = Failure::new(
                ErrorCode::Busy,
                format!("{MESSAGES_PER_AGENT_MAX} messages wait for {agent_id} already"),
            )
            .with_hint("wait until the agent asks, or answer its open question");
            return effects.push(refuse(ticket, failure));
        }
        let waiting = agent.waiting_bytes();
        if !is_known && waiting + text.len() > MESSAGES_BYTES_PER_AGENT_MAX {
            return effects.push(refuse(ticket, too_much_waits(&agent_id, waiting)));
        }
        if !is_known {
            let text = std::sync::Arc::<str>::from(text);
            agent.messages.push(Message {
                request,
                text: text.clone(),
                said_at: now.wall,
            });
            effects.push(Effect::Store(Change::AddMessage {
                request,
                agent: agent_id.clone(),
                text,
                by,
            }));
            effects.push(Effect::Log {
                what: EventKind::Said,
                agent: agent_id.clone(),
                cue: None,
            });
        }
        let open_cue = agent.cues.iter().copied().find(|id| {
            self.cues
                .get(id)
                .is_some_and(|cue| matches!(cue.state, State::Open))
        });
        let queued = u32::try_from(agent.messages.len()).unwrap_or(u32::MAX);
        let reply = Reply::Said(Said {
            agent_id,
            queued,
            open_cue,
        });
        effects.push(Effect::Reply {
            to: ticket,
            reply: Box::new(reply),
        });
    }
}

/// Says that an agent has more to read than it should.
pub(super) fn too_much_waits(agent: &AgentId, bytes: usize) -> Failure {
    Failure::new(
        ErrorCode::Busy,
        format!(
            "{bytes} bytes of messages wait for {agent} already, of {MESSAGES_BYTES_PER_AGENT_MAX} that may"
        ),
    )
    .with_hint("wait until the agent asks, or write the text to a file and name its path")
}
