//! The rules for changing the messages that wait for an agent.

use std::sync::Arc;

use protocol_spec::id::RequestId;
use protocol_spec::message::{ErrorCode, EventKind, Failure, Queue, Reply};

use super::MESSAGES_BYTES_PER_AGENT_MAX;
use super::agent::{Agent, Message};
use super::effect::Change;
use super::input::{QueueEdit, Ticket};
use super::outbox::Outbox;
use super::say::too_much_waits;

impl Agent {
    /// Edits the queue, or refuses when it has changed since the human saw it.
    pub(super) fn edit_queue(&mut self, ticket: Ticket, edit: QueueEdit, out: &mut Outbox) {
        if let QueueEdit::Reword(message, text) = &edit {
            let others = self.messages.iter().filter(|other| other.request != *message);
            let others = others.map(|other| other.text.len()).sum::<usize>();
            if others + text.len() > MESSAGES_BYTES_PER_AGENT_MAX {
                return out.refuse(ticket, too_much_waits(&self.id, others));
            }
        }
        let change = match apply(&mut self.messages, edit) {
            Ok(change) => change,
            Err(failure) => return out.refuse(ticket, failure),
        };
        out.store(change);
        out.log(EventKind::Queue, &self.id, None);
        let queue = Queue {
            agent_id: self.id.clone(),
            messages: self.messages.iter().map(|message| message.request).collect(),
        };
        out.reply(ticket, Reply::Queue(queue));
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
