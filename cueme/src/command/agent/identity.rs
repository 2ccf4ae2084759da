//! Ties the driven agent to its chat, so that continuing the chat continues the same agent.

use protocol_spec::endpoint::Places;
use protocol_spec::id::AgentId;
use protocol_spec::message::{Bind, Request};
use tokio::task::JoinHandle;

use crate::client::{call, expect_reply};
use crate::error::CliError;

/// An agent and the chat it is known to be.
#[derive(Debug)]
pub(super) struct Identity {
    places: Places,
    agent_id: AgentId,
    chat: Option<String>,
    binding: Option<JoinHandle<Result<(), CliError>>>,
}

impl Identity {
    /// Describes an agent that joined as this chat, or before it had one.
    pub(super) fn new(places: Places, agent_id: AgentId, chat: Option<String>) -> Self {
        Self {
            places,
            agent_id,
            chat,
            binding: None,
        }
    }

    /// Learns the chat's id, and tells the broker without holding up the turn.
    pub(super) fn learn(&mut self, chat: &str) {
        if self.chat.as_deref() == Some(chat) {
            return;
        }
        self.chat = Some(chat.to_owned());
        let places = self.places.clone();
        let request = Request::Bind(Bind {
            agent_id: self.agent_id.clone(),
            session: chat.to_owned(),
        });
        self.binding = Some(tokio::task::spawn_blocking(move || {
            expect_reply!(call(&places, &request)?, Joined).map(drop)
        }));
    }

    /// Takes what tells the broker, if it does.
    pub(super) fn take_binding(&mut self) -> Option<JoinHandle<Result<(), CliError>>> {
        self.binding.take()
    }

    /// Waits until the broker knows; returns why it does not.
    pub(super) async fn settled(binding: JoinHandle<Result<(), CliError>>) -> Option<String> {
        match binding.await {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(error) => Some(error.to_string()),
        }
    }
}
