//! A call that asks a question or attaches to one: ready to be sent, and to be sent again.

use std::time::{Duration, Instant};

use adapter_core::hap::TURN_ENV;
use protocol_spec::id::{AgentId, CueId, RequestId};
use protocol_spec::message::{Ask, Request};
use protocol_spec::outcome::{Kind, Origin};
use runtimes::Language;
use serde_json::value::RawValue;

use super::budget;
use super::session::{encode_call, mint};
use crate::environment;
use crate::error::CliError;

/// The timeout for the arrival of an outcome that exists already.
const FETCH_WAIT_MAX: Duration = Duration::from_secs(2);

/// A question of an agent.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    /// The asking agent.
    pub(crate) agent_id: AgentId,
    /// The verb.
    pub(crate) kind: Kind,
    /// The question.
    pub(crate) prompt: String,
    /// The payload as written.
    pub(crate) payload: Option<Box<RawValue>>,
}

/// A question that is ready to be sent, and to be sent again.
#[derive(Debug)]
pub(crate) struct Call {
    pub(super) progress: Progress,
    pub(super) nonce: Option<String>,
    pub(super) asker: Asker,
}

/// The asking agent, as far as it is known.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asker {
    pub(super) agent: Option<AgentId>,
    /// The language it reads.
    pub(super) language: Language,
}

impl Asker {
    /// An agent whose language is not known yet.
    pub(crate) fn of(agent: &AgentId) -> Self {
        Self {
            agent: Some(agent.clone()),
            language: Language::default(),
        }
    }

    /// Sets the language that the agent reads.
    pub(crate) fn reading(self, language: Language) -> Self {
        Self { language, ..self }
    }
}

impl Question {
    /// Encodes the agent's own question under a key of its own, marked with the turn it runs in.
    pub(crate) fn encode(self) -> Result<Call, CliError> {
        self.encode_as(mint(), Origin::Agent, environment::variable(TURN_ENV))
    }

    /// Encodes the question under this key; a repeat under the same key means the same question.
    ///
    /// `nonce` marks the turn it belongs to.
    pub(crate) fn encode_as(
        self,
        id: RequestId,
        origin: Origin,
        nonce: Option<String>,
    ) -> Result<Call, CliError> {
        let asker = Asker::of(&self.agent_id);
        let ask = Ask {
            agent_id: self.agent_id,
            kind: self.kind,
            prompt: self.prompt,
            payload: self.payload,
            origin,
            nonce: nonce.clone(),
        };
        let call = encode_call(id, &Request::Ask(ask))?;
        Ok(Call {
            progress: Progress::Asking { call },
            nonce,
            asker,
        })
    }
}

impl Call {
    /// Returns the mark of the turn it belongs to.
    pub(crate) fn nonce(&self) -> Option<&str> {
        self.nonce.as_deref()
    }

    /// Waits for a question that is known by its id, without a limit of its own.
    pub(crate) fn attach(cue: CueId, nonce: Option<String>) -> Self {
        Self {
            progress: Progress::Waiting { cue, deadline: None },
            nonce,
            asker: Asker::default(),
        }
    }

    /// Waits for a question that was just asked, for as long as the environment says.
    pub(crate) fn attach_as_asked(cue: CueId, asker: Asker, started: Instant) -> Result<Self, CliError> {
        let budget = budget::from_environment()?.flatten();
        Ok(Self {
            progress: Progress::Waiting {
                cue,
                deadline: budget.and_then(|budget| started.checked_add(budget)),
            },
            nonce: environment::variable(TURN_ENV),
            asker,
        })
    }

    /// Fetches the outcome of a question that is known by its id, and hardly waits where there is none yet.
    pub(crate) fn attach_briefly(cue: CueId) -> Self {
        Self {
            progress: Progress::Waiting {
                cue,
                deadline: Instant::now().checked_add(FETCH_WAIT_MAX),
            },
            nonce: None,
            asker: Asker::default(),
        }
    }
}

/// The progress of the question.
#[derive(Debug)]
pub(super) enum Progress {
    /// Not known to be on disk: the whole call is sent again.
    Asking { call: Vec<u8> },
    /// On disk, so its name is enough and its text is no longer kept in memory.
    Waiting { cue: CueId, deadline: Option<Instant> },
}

impl Progress {
    pub(super) fn cue(&self) -> Option<CueId> {
        match self {
            Self::Asking { .. } => None,
            Self::Waiting { cue, .. } => Some(*cue),
        }
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        match self {
            Self::Asking { .. } => None,
            Self::Waiting { deadline, .. } => *deadline,
        }
    }
}
