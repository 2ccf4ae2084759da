//! The two transports to Cursor's agent: ACP, in which it can ask inside of its turn, and the stream of its CLI.

use std::ffi::OsString;

use adapter_core::acp::AcpAgent;
use adapter_core::config::Config;
use adapter_core::contract::{Sink, TurnReport};
use adapter_core::cursor::cli::{CliAgent, offers_acp};
use adapter_core::hap::Agent;
use adapter_core::process::locate;

use crate::cli::Via;

/// An agent behind one of the two transports.
#[derive(Debug)]
pub(super) enum Driver {
    Stream(Box<CliAgent>),
    Acp {
        agent: Box<AcpAgent>,
        /// Takes over when ACP was not asked for and does not work.
        fallback: Option<Box<CliAgent>>,
    },
}

impl Agent for Driver {
    async fn turn(
        &mut self,
        prompt: &str,
        resume: Option<&str>,
        nonce: &str,
        sink: &mut (dyn Sink + Send),
    ) -> TurnReport {
        match self {
            Self::Stream(agent) => Agent::turn(agent.as_mut(), prompt, resume, nonce, sink).await,
            Self::Acp { agent, .. } => agent.turn(prompt, resume, nonce, sink).await,
        }
    }
}

impl Driver {
    /// Returns the agent of the stream, now or as the fallback.
    pub(super) fn stream(&mut self) -> Option<&mut CliAgent> {
        match self {
            Self::Stream(agent) => Some(agent),
            Self::Acp { fallback, .. } => fallback.as_deref_mut(),
        }
    }
}

/// The chosen transport, and the reason.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Transport {
    pub(super) via: Via,
    pub(super) why: &'static str,
}

/// The facts on which the choice depends.
#[derive(Debug, Clone, Copy)]
pub(super) struct TransportFacts<'a> {
    pub(super) via: Option<Via>,
    pub(super) config: &'a Config,
    pub(super) model: &'a str,
    /// Whether the run needs what only the stream has: a chat of the CLI, or no human.
    pub(super) is_stream_only: bool,
    /// The search path that the agent will have.
    pub(super) path: Option<&'a str>,
}

/// Chooses the transport; asks the CLI what it offers where that matters.
pub(super) async fn choose_transport(wanted: TransportFacts<'_>) -> Transport {
    let transport = |via, why| Transport { via, why };
    if let Some(via) = wanted.via {
        return transport(via, "as --via says");
    }
    let Some(spec) = wanted.config.spec(wanted.model).filter(|spec| spec.prompt_as_arg) else {
        return transport(Via::Stream, "a custom CLI reads its turn from stdin");
    };
    let model = wanted.config.models.get(wanted.model);
    if model.is_some_and(|model| !model.auth_profiles.is_empty() || !model.fallback_models.is_empty()) {
        return transport(Via::Stream, "profiles and fallback models need the stream");
    }
    if wanted.is_stream_only {
        return transport(
            Via::Stream,
            "a chat of the CLI, or a run without a human, needs the stream",
        );
    }
    let path = wanted
        .path
        .map(OsString::from)
        .or_else(|| std::env::var_os("PATH"));
    match locate(&spec.command, path.as_deref()) {
        Some(program) if offers_acp(&program).await => transport(Via::Acp, "the CLI offers `acp`"),
        Some(_) => transport(
            Via::Stream,
            "this version of the CLI has no `acp`; `agent update` may bring it",
        ),
        None => transport(Via::Stream, "there is no CLI to ask"),
    }
}
