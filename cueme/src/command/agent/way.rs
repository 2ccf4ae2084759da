//! The two ways to drive Cursor's agent: ACP, in which it can ask inside of its turn, and the stream of its CLI.

use std::ffi::OsString;

use adapter_core::acp::AcpAgent;
use adapter_core::config::Config;
use adapter_core::contract::{Sink, TurnReport};
use adapter_core::cursor::cli::{CliAgent, offers_acp};
use adapter_core::hap::Agent;
use adapter_core::process::locate;

use crate::cli::Via;

/// An agent, driven in one of the two ways.
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

/// Which way is taken, and why.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Way {
    pub(super) via: Via,
    pub(super) why: &'static str,
}

/// The facts on which the choice depends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub(super) via: Option<Via>,
    pub(super) config: &'a Config,
    pub(super) model: &'a str,
    /// Whether the run needs what only the stream has: a chat of the CLI, or no human.
    pub(super) is_stream_only: bool,
    /// The search path that the agent will have.
    pub(super) path: Option<&'a str>,
}

/// Chooses the way; the CLI is asked what it offers where that matters.
pub(super) async fn choose_way(wanted: Wanted<'_>) -> Way {
    let way = |via, why| Way { via, why };
    if let Some(via) = wanted.via {
        return way(via, "as --via says");
    }
    let Some(spec) = wanted.config.spec(wanted.model).filter(|spec| spec.prompt_as_arg) else {
        return way(Via::Stream, "a custom CLI reads its turn from stdin");
    };
    let model = wanted.config.models.get(wanted.model);
    if model.is_some_and(|model| !model.auth_profiles.is_empty() || !model.fallback_models.is_empty()) {
        return way(Via::Stream, "profiles and fallback models need the stream");
    }
    if wanted.is_stream_only {
        return way(
            Via::Stream,
            "a chat of the CLI, or a run without a human, needs the stream",
        );
    }
    let path = wanted
        .path
        .map(OsString::from)
        .or_else(|| std::env::var_os("PATH"));
    match locate(&spec.command, path.as_deref()) {
        Some(program) if offers_acp(&program).await => way(Via::Acp, "the CLI offers `acp`"),
        Some(_) => way(
            Via::Stream,
            "this version of the CLI has no `acp`; `agent update` may bring it",
        ),
        None => way(Via::Stream, "there is no CLI to ask"),
    }
}
