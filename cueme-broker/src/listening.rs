//! Who listens for outcomes right now: the one thing about questions that is not on disk.

use std::collections::HashMap;

use protocol_spec::id::{AgentId, CueId};
use protocol_spec::message::CueView;

use crate::engine::{EngineError, EngineHandle};
use crate::machine::Waiting;

/// Who listens, by question and by agent.
#[derive(Debug, Default)]
pub(crate) struct Listening {
    cues: HashMap<CueId, Waiting>,
    agents: HashMap<AgentId, u32>,
}

impl Listening {
    /// Looks at who listens now.
    pub(crate) async fn look(engine: &EngineHandle) -> Result<Self, EngineError> {
        engine
            .look(|core| {
                let machine = core.machine();
                let mut listening = Self::default();
                for (id, cue) in machine.live_cues() {
                    if let Some(waiting) = machine.waiting(*id) {
                        *listening.agents.entry(cue.agent.clone()).or_default() += waiting.clients;
                        listening.cues.insert(*id, waiting);
                    }
                }
                listening
            })
            .await
    }

    /// Returns how many clients wait for an agent's outcomes.
    pub(crate) fn agent(&self, agent: &AgentId) -> u32 {
        self.agents.get(agent).copied().unwrap_or(0)
    }

    /// Returns who listens for a question's outcome.
    pub(crate) fn cue(&self, cue: CueId) -> Waiting {
        self.cues.get(&cue).copied().unwrap_or(Waiting {
            clients: 0,
            detached_at: None,
        })
    }

    /// Adds who listens to what is on disk.
    pub(crate) fn complete(&self, mut cue: CueView) -> CueView {
        let waiting = self.cue(cue.cue_id);
        cue.waiting = waiting.clients;
        cue.detached_at = waiting.detached_at.filter(|_| cue.is_answerable());
        cue
    }
}
