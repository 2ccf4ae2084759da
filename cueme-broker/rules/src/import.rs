//! Records of another program arrive. They are past: settled from the start, told to nobody, announced once.

use std::collections::BTreeSet;

use protocol_spec::id::AgentId;
use protocol_spec::message::{EventKind, Imported, RefusedCue, Reply};

use super::decide::cancelled;
use super::effect::{Change, Effect};
use super::input::{Import, Known, PastCue, PastEnd};
use super::state::Machine;

/// Why a question that was open elsewhere is closed here: whoever waited for it waits there.
const OPEN_ELSEWHERE: &str = "it was still open when it was imported";

impl Machine {
    /// Adds what is not known yet. The machine itself remembers only the agents: the rest is not live.
    pub(super) fn import(&mut self, import: Import, effects: &mut Vec<Effect>) {
        let mut imported = Imported {
            refused: import.refused,
            ..Imported::default()
        };
        for agent in import.agents {
            if self.agents.contains_key(&agent.agent_id) {
                continue;
            }
            self.remember_agent(agent.agent_id.clone(), agent.runtime.clone(), 0);
            imported.agents += 1;
            let joined = log(EventKind::Joined, agent.agent_id.clone());
            effects.push(Effect::Store(Change::ImportAgent(Box::new(agent))));
            effects.push(joined);
        }
        let mut changed = BTreeSet::new();
        for (past, known) in import.cues {
            if !self.agents.contains_key(&past.agent) {
                let why = format!("no agent {} has joined here", past.agent);
                imported.refused.push(RefusedCue {
                    key: past.request,
                    why,
                });
                continue;
            }
            let agent = past.agent.clone();
            if let Some(change) = keep(past, known, &mut imported) {
                effects.push(Effect::Store(change));
                changed.insert(agent);
            }
        }
        effects.extend(changed.into_iter().map(|agent| log(EventKind::Changed, agent)));
        effects.push(Effect::Reply {
            to: import.ticket,
            reply: Box::new(Reply::Imported(imported)),
        });
    }
}

/// Returns what stands as the text of a past end.
pub fn past_text(end: &PastEnd) -> String {
    match end {
        PastEnd::Answered { text, .. } => text.clone(),
        PastEnd::Closed { reason } => cancelled(reason.as_deref()),
        PastEnd::LeftOpen => cancelled(Some(OPEN_ELSEWHERE)),
    }
}

fn keep(past: PastCue, known: Known, imported: &mut Imported) -> Option<Change> {
    let past = Box::new(past);
    match (known, &past.end) {
        (Known::No, _) => {
            imported.cues += 1;
            Some(Change::ImportCue(past))
        }
        (Known::LeftOpen(cue), PastEnd::Answered { .. } | PastEnd::Closed { .. }) => {
            imported.ended += 1;
            Some(Change::EndPast { cue, past })
        }
        (Known::LeftOpen(_), PastEnd::LeftOpen) | (Known::Whole, _) => {
            imported.known += 1;
            None
        }
    }
}

fn log(what: EventKind, agent: AgentId) -> Effect {
    Effect::Log {
        what,
        agent,
        cue: None,
    }
}
