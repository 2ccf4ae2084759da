//! Presence: which clients wait for outcomes right now, the one thing about questions that is not on disk.

use std::collections::HashMap;

use protocol_spec::id::{AgentId, CueId};
use protocol_spec::message::CueView;

use crate::engine::{EngineError, EngineHandle};
use crate::machine::Waiting;

/// The clients that wait, by question and by agent.
#[derive(Debug, Default)]
pub(crate) struct Presence {
    cues: HashMap<CueId, Waiting>,
    agents: HashMap<AgentId, u32>,
}

impl Presence {
    /// Reads the presence from the engine.
    pub(crate) async fn read(engine: &EngineHandle) -> Result<Self, EngineError> {
        engine
            .run_on_engine(|core| {
                let machine = core.machine();
                let mut presence = Self::default();
                for (id, cue) in machine.live_cues() {
                    if let Some(waiting) = machine.waiting(id) {
                        *presence.agents.entry(cue.agent.clone()).or_default() += waiting.clients;
                        presence.cues.insert(id, waiting);
                    }
                }
                presence
            })
            .await
    }

    /// Returns the number of clients that wait for an agent's outcomes.
    pub(crate) fn agent(&self, agent: &AgentId) -> u32 {
        self.agents.get(agent).copied().unwrap_or(0)
    }

    /// Returns the presence of clients for a question.
    pub(crate) fn cue(&self, cue: CueId) -> Waiting {
        self.cues.get(&cue).copied().unwrap_or(Waiting {
            clients: 0,
            detached_at: None,
        })
    }

    /// Adds presence to a question as it is on disk.
    pub(crate) fn complete(&self, mut cue: CueView) -> CueView {
        let waiting = self.cue(cue.cue_id);
        cue.waiting = waiting.clients;
        cue.detached_at = waiting.detached_at.filter(|_| cue.is_answerable());
        cue
    }
}
