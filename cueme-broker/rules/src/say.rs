//! A human leaves a note for the next answer, or queues an answer for the agent's next question.

use protocol_spec::id::AgentId;
use protocol_spec::message::{ErrorCode, EventKind, Failure, Reply, Said};

use super::amend::unknown_agent;
use super::ask::refuse;
use super::effect::{Change, Effect};
use super::input::{Now, Say};
use super::state::{Machine, Message, State};
use super::{MESSAGES_BYTES_PER_AGENT_MAX, MESSAGES_PER_AGENT_MAX};

impl Machine {
    /// Keeps a message; it never decides a question that is open already.
    pub(super) fn say(&mut self, now: Now, say: Say, effects: &mut Vec<Effect>) {
        self.human_signs += 1;
        let Say {
            ticket,
            request,
            agent: agent_id,
            text,
            purpose,
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
                purpose,
                by: by.clone(),
            });
            effects.push(Effect::Store(Change::AddMessage {
                request,
                agent: agent_id.clone(),
                text,
                purpose,
                by,
            }));
            effects.push(Effect::Log {
                what: EventKind::Said,
                agent: agent_id.clone(),
                cue: None,
            });
        }
        effects.push(Effect::Reply {
            to: ticket,
            reply: Box::new(Reply::Said(self.said(agent_id))),
        });
    }

    /// Describes what waits for an agent, and the question that could be answered instead.
    pub fn said(&self, agent_id: AgentId) -> Said {
        let agent = self.agents.get(&agent_id);
        let cues = agent.map(|agent| agent.cues.as_slice()).unwrap_or_default();
        let open = cues.iter().filter_map(|id| {
            let cue = self.cues.get(id)?;
            matches!(cue.state, State::Open).then_some((cue.waiting(), *id))
        });
        // One that somebody waits for is answered at once; of those the oldest.
        let best = open.reduce(|best, next| if best.0 == 0 && next.0 > 0 { next } else { best });
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Said {
            queued: count(agent.map_or(0, |agent| agent.messages.len())),
            open_cue: best.map(|(_, id)| id),
            waiting: best.map_or(0, |(waiting, _)| waiting),
            agent_id,
        }
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
