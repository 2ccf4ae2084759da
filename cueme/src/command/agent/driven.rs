//! The agent of a conversation: it takes over a changed configuration before each turn, and its chat once it is known.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use adapter_core::cursor::cli::CliAgent;
use adapter_core::hap::Agent;

use super::failed::log_failure;
use super::human::BrokerHuman;
use super::identity::Identity;
use super::reload::Reloads;
use super::setup::choose;
use super::tools::registry;
use super::view::View;
use adapter_core::contract::{Item, Note, Sink, TurnReport};

/// An agent that is driven through the turns of a conversation.
#[derive(Debug)]
pub(super) struct Driven {
    pub(super) agent: CliAgent,
    pub(super) identity: Identity,
    pub(super) reloads: Reloads,
    pub(super) human: BrokerHuman,
    pub(super) cwd: PathBuf,
    /// The model a person named.
    pub(super) model: Option<String>,
    pub(super) view: View,
}

impl Driven {
    fn take_over(&mut self) {
        let Some(config) = self.reloads.take() else { return };
        match choose(&config, self.model.as_deref()) {
            Ok(choice) => {
                self.agent.model = choice.model;
                self.agent.model_flag = choice.flag;
                self.agent.tools = registry(&config, Some(&self.human), self.cwd.clone());
                self.agent.config = Arc::new(config);
            }
            Err(error) => self.view.remark(&format!(
                "warning: the new configuration is not used, the last good one stays: {error}"
            )),
        }
    }
}

impl Agent for Driven {
    async fn turn(
        &mut self,
        prompt: &str,
        resume: Option<&str>,
        nonce: &str,
        sink: &mut (dyn Sink + Send),
    ) -> TurnReport {
        self.take_over();
        *self.human.turn.lock().unwrap_or_else(PoisonError::into_inner) = Some(nonce.to_owned());
        let mut listening = EventSink {
            sink,
            identity: &mut self.identity,
        };
        let report = Agent::turn(&mut self.agent, prompt, resume, nonce, &mut listening).await;
        log_failure(&self.view, &self.agent, &report).await;
        if let Some(why) = self.identity.settle().await {
            self.view.remark(&format!(
                "warning: whoever continues this chat will be another agent: {why}"
            ));
        }
        report
    }
}

/// Passes everything on, and hears which chat this is.
struct EventSink<'a> {
    sink: &'a mut (dyn Sink + Send),
    identity: &'a mut Identity,
}

impl Sink for EventSink<'_> {
    fn item(&mut self, item: Item<'_>) {
        if let Item::Note(Note::Session { id, .. }) = &item {
            self.identity.learn(id);
        }
        self.sink.item(item);
    }
}
