//! A human changes the messages that wait for an agent.

use std::sync::Arc;

use protocol_spec::id::{AgentId, RequestId};
use protocol_spec::message::{ErrorCode, EventKind, Failure, Queue, Reply};

use super::MESSAGES_BYTES_PER_AGENT_MAX;
use super::amend::unknown_agent;
use super::ask::refuse;
use super::effect::{Change, Effect};
use super::input::{QueueEdit, Ticket};
use super::say::too_much_waits;
use super::state::{Machine, Message};

impl Machine {
    /// Changes the queue as wished, or refuses because it is no longer what the human saw.
    pub(super) fn edit_queue(
        &mut self,
        ticket: Ticket,
        agent_id: AgentId,
        edit: QueueEdit,
        effects: &mut Vec<Effect>,
    ) {
        self.human_signs += 1;
        let Some(agent) = self.agents.get_mut(&agent_id) else {
            return effects.push(refuse(ticket, unknown_agent(&agent_id)));
        };
        if let QueueEdit::Reword(message, text) = &edit {
            let of_others = |other: &&Message| other.request != *message;
            let others = agent
                .messages
                .iter()
                .filter(of_others)
                .map(|other| other.text.len());
            let others = others.sum::<usize>();
            if others + text.len() > MESSAGES_BYTES_PER_AGENT_MAX {
                return effects.push(refuse(ticket, too_much_waits(&agent_id, others)));
            }
        }
        let change = match apply(&mut agent.messages, edit) {
            Ok(change) => change,
            Err(failure) => return effects.push(refuse(ticket, failure)),
        };
        effects.push(Effect::Store(change));
        effects.push(Effect::Log {
            what: EventKind::Queue,
            agent: agent_id.clone(),
            cue: None,
        });
        let messages = agent.messages.iter().map(|message| message.request).collect();
        effects.push(Effect::Reply {
            to: ticket,
            reply: Box::new(Reply::Queue(Queue { agent_id, messages })),
        });
    }
}

fn apply(queue: &mut Vec<Message>, edit: QueueEdit) -> Result<Change, Failure> {
    match edit {
        QueueEdit::Delete(message) => {
            let place = place_of(queue, message)?;
            queue.remove(place);
            Ok(Change::DropMessage { message })
        }
        QueueEdit::Reword(message, text) => {
            let place = place_of(queue, message)?;
            let text = Arc::<str>::from(text);
            queue[place].text = Arc::clone(&text);
            Ok(Change::RewordMessage { message, text })
        }
        QueueEdit::Reorder(messages) => {
            *queue = reordered(queue, &messages).ok_or_else(changed_meanwhile)?;
            Ok(Change::ReorderMessages { messages })
        }
    }
}

fn place_of(queue: &[Message], wanted: RequestId) -> Result<usize, Failure> {
    queue
        .iter()
        .position(|message| message.request == wanted)
        .ok_or_else(|| {
            Failure::new(ErrorCode::NotFound, format!("no message {wanted} waits"))
                .with_hint("the agent may have it already")
        })
}

/// Returns the queue in another order, or nothing when the order does not name each message once.
fn reordered(queue: &[Message], order: &[RequestId]) -> Option<Vec<Message>> {
    let mut rest: Vec<&Message> = queue.iter().collect();
    let mut reordered = Vec::with_capacity(queue.len());
    for wanted in order {
        let place = rest.iter().position(|message| message.request == *wanted)?;
        reordered.push(rest.swap_remove(place).clone());
    }
    rest.is_empty().then_some(reordered)
}

fn changed_meanwhile() -> Failure {
    Failure::new(ErrorCode::Stale, "the messages that wait have changed meanwhile")
        .with_hint("read them again")
}
