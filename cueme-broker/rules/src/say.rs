//! The rule for a message: a note for the next answer, or a queued answer for the agent's next question.

use std::sync::Arc;

use protocol_spec::id::AgentId;
use protocol_spec::message::{ErrorCode, EventKind, Failure, Reply, Said};

use super::agent::{Agent, Message};
use super::cue::State;
use super::effect::Change;
use super::input::Say;
use super::machine::Present;
use super::outbox::Outbox;
use super::{MESSAGES_BYTES_PER_AGENT_MAX, MESSAGES_PER_AGENT_MAX};

impl Agent {
    /// Stores a message; it never decides a question that is open already.
    pub(super) fn say(&mut self, now: Present, say: Say, out: &mut Outbox) {
        let Say {
            ticket,
            request,
            agent: _,
            text,
            purpose,
            by,
        } = say;
        if self.messages.iter().any(|message| message.request == request) {
            return out.reply(ticket, Reply::Said(self.said()));
        }
        if self.messages.len() >= MESSAGES_PER_AGENT_MAX {
            let failure = Failure::new(
                ErrorCode::Busy,
                format!("{MESSAGES_PER_AGENT_MAX} messages wait for {} already", self.id),
            )
            .with_hint("wait until the agent asks, or answer its open question");
            return out.refuse(ticket, failure);
        }
        let waiting = self.waiting_bytes();
        if waiting + text.len() > MESSAGES_BYTES_PER_AGENT_MAX {
            return out.refuse(ticket, too_much_waits(&self.id, waiting));
        }
        let text = Arc::<str>::from(text);
        self.messages.push(Message {
            request,
            text: Arc::clone(&text),
            said_at: now.wall,
            purpose,
            by: by.clone(),
        });
        out.store(Change::AddMessage {
            request,
            agent: self.id.clone(),
            text,
            purpose,
            by,
        });
        out.log(EventKind::Said, &self.id, None);
        out.reply(ticket, Reply::Said(self.said()));
    }

    /// Describes the messages that wait for the agent, and the question that could be answered instead.
    pub(super) fn said(&self) -> Said {
        let open = self.live().filter(|(_, cue)| matches!(cue.state, State::Open));
        let open = open.map(|(id, cue)| (cue.waiting(), id));
        // A question with a waiting client is answered at once; of those, the oldest.
        let best = open.reduce(|best, next| if best.0 == 0 && next.0 > 0 { next } else { best });
        Said {
            queued: u32::try_from(self.messages.len()).unwrap_or(u32::MAX),
            open_cue: best.map(|(_, id)| id),
            waiting: best.map_or(0, |(waiting, _)| waiting),
            agent_id: self.id.clone(),
        }
    }
}

/// The error for an agent with too many waiting messages.
pub(super) fn too_much_waits(agent: &AgentId, bytes: usize) -> Failure {
    Failure::new(
        ErrorCode::Busy,
        format!(
            "{bytes} bytes of messages wait for {agent} already, of {MESSAGES_BYTES_PER_AGENT_MAX} that may"
        ),
    )
    .with_hint("wait until the agent asks, or write the text to a file and name its path")
}
