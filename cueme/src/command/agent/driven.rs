//! The agent of a conversation: it takes over a changed configuration before each turn, and its chat once it is known.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use adapter_core::contract::{Ending, ErrorCode, Sink, TurnReport};
use adapter_core::hap::Agent;

use super::failed::log_failure;
use super::human::BrokerHuman;
use super::reload::Reloads;
use super::setup::choose;
use super::tools::registry;
use super::transport::Driver;
use super::view::View;

/// An agent that is driven through the turns of a conversation.
#[derive(Debug)]
pub(super) struct Driven {
    pub(super) driver: Driver,
    pub(super) reloads: Reloads,
    pub(super) human: BrokerHuman,
    pub(super) cwd: PathBuf,
    /// The model a person named.
    pub(super) model: Option<String>,
    pub(super) view: View,
}

impl Driven {
    fn take_over(&mut self) {
        let (Some(config), Some(agent)) = (self.reloads.take(), self.driver.stream()) else {
            return;
        };
        match choose(&config, self.model.as_deref()) {
            Ok(choice) => {
                agent.model = choice.model;
                agent.model_flag = choice.flag;
                agent.tools = registry(&config, Some(&self.human), self.cwd.clone());
                agent.config = Arc::new(config);
            }
            Err(error) => self.view.remark(&format!(
                "warning: the new configuration is invalid; the last valid one stays in use: {error}"
            )),
        }
    }

    /// Goes on with the stream where ACP did not even begin, and was not asked for.
    fn fall_back(&mut self, report: &TurnReport) -> bool {
        let Ending::Error(error) = &report.ending else {
            return false;
        };
        let is_begun = report.evidence.session_id.is_some();
        let is_final = matches!(
            error.code,
            ErrorCode::Cancelled | ErrorCode::ModelAuth | ErrorCode::Timeout
        );
        let Driver::Acp { fallback, .. } = &mut self.driver else {
            return false;
        };
        if is_begun || is_final {
            return false;
        }
        let Some(agent) = fallback.take() else {
            return false;
        };
        self.view.remark(&format!(
            "the agent did not start over ACP ({}: {}); using the stream of the CLI",
            error.code, error.message
        ));
        self.driver = Driver::Stream(agent);
        true
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
        let mut report = self.driver.turn(prompt, resume, nonce, sink).await;
        if self.fall_back(&report) {
            report = self.driver.turn(prompt, resume, nonce, sink).await;
        }
        log_failure(&self.view, &mut self.driver, &report).await;
        if let Some(why) = self.view.settle_identity().await {
            self.view.remark(&format!(
                "warning: whoever continues this chat will be another agent: {why}"
            ));
        }
        report
    }
}
