//! Imports records of another program. Its questions are settled from the start, delivered to no agent, and announced
//! once.

use std::collections::BTreeSet;

use protocol_spec::message::{EventKind, Imported, RefusedCue, Reply};

use super::effect::Change;
use super::input::{Import, Known, PastCue, PastEnd};
use super::machine::Machine;
use super::outbox::Outbox;
use super::text::cancelled;

/// The reason for closing a question that was open elsewhere: its callers wait there, not here.
const OPEN_ELSEWHERE: &str = "it was still open when it was imported";

impl Machine {
    /// Adds unknown records. The machine keeps only the agents in memory, because the questions are not live.
    pub(super) fn import(&mut self, import: Import, out: &mut Outbox) {
        let mut imported = Imported {
            refused: import.refused,
            ..Imported::default()
        };
        for agent in import.agents {
            if self.has_agent(&agent.agent_id) {
                continue;
            }
            self.remember_agent(agent.agent_id.clone(), agent.runtime.clone(), 0);
            imported.agents += 1;
            let id = agent.agent_id.clone();
            out.store(Change::ImportAgent(Box::new(agent)));
            out.log(EventKind::Joined, &id, None);
        }
        let mut changed = BTreeSet::new();
        for (past, known) in import.cues {
            if !self.has_agent(&past.agent) {
                let why = format!("no agent {} has joined here", past.agent);
                imported.refused.push(RefusedCue {
                    key: past.request,
                    why,
                });
                continue;
            }
            let agent = past.agent.clone();
            if let Some(change) = keep(past, known, &mut imported) {
                out.store(change);
                changed.insert(agent);
            }
        }
        for agent in &changed {
            out.log(EventKind::Changed, agent, None);
        }
        out.reply(import.ticket, Reply::Imported(imported));
    }
}

/// Returns the text of a past outcome.
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
