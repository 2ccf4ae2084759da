//! Lets a configured CLI take part in a conversation.

use std::collections::BTreeMap;

use super::converse::Agent;
use super::preamble::TURN_ENV;
use crate::contract::{Sink, TurnReport};
use crate::cursor::cli::CliAgent;

impl Agent for CliAgent {
    async fn turn(
        &mut self,
        prompt: &str,
        resume: Option<&str>,
        nonce: &str,
        sink: &mut (dyn Sink + Send),
    ) -> TurnReport {
        let env = BTreeMap::from([(TURN_ENV.to_owned(), nonce.to_owned())]);
        CliAgent::turn(self, prompt, resume, &env, sink).await
    }
}
