//! Everything a human left for an agent is fetched at once, without a question of the agent's own.
//!
//! A runtime's hook does this when the human types into the runtime: what they decided or wrote elsewhere comes along.
//! Notes are handed over as the answer to a question that nobody asked aloud, so that they are delivered, repeated
//! and acknowledged by the same rules as every answer.

use std::sync::Arc;

use protocol_spec::id::{AgentId, CueId, RequestId};
use protocol_spec::message::{Collected, Reply};
use protocol_spec::outcome::{Kind, Origin, Outcome};

use super::amend::unknown_agent;
use super::ask::{Unasked, refuse};
use super::effect::Effect;
use super::input::{Ask, Collect, Decide, Now, Ticket, Verdict};
use super::left;
use super::state::{Agent, Machine, State};

/// Stands where the question would, in lists and in the agent's timeline.
const HANDED_OVER: &str =
    "(The human typed in the agent's own window; their messages were handed over with it.)";

impl Machine {
    /// Hands over messages and outcomes, and closes what the agent left behind if the caller says so.
    pub(super) fn collect(&mut self, now: Now, collect: Collect, effects: &mut Vec<Effect>) {
        let (ticket, request, agent) = (collect.ticket, collect.request, collect.agent.clone());
        if !self.agents.contains_key(&agent) {
            return effects.push(refuse(ticket, unknown_agent(&agent)));
        }
        if let Some(reason) = &collect.close {
            self.close_left_behind(now, ticket, request, &agent, reason, effects);
        }
        let with_messages = self.answer_nobody(now, collect, effects);
        let mut collected = Collected {
            messages: None,
            earlier: Vec::new(),
            closed: Vec::new(),
        };
        let missed = self.missed_by(&agent);
        for told in self.hand_over_what_fits(now, &missed, effects) {
            let id = told.cue_id;
            let origin = self.cues.get(&id).map(|cue| cue.origin);
            if Some(id) == with_messages {
                collected.messages = Some(told);
            } else if origin == Some(Origin::Hook) && told.outcome == Outcome::Cancelled {
                collected.closed.push(id);
            } else {
                collected.earlier.push(told);
            }
        }
        effects.push(Effect::Reply {
            to: ticket,
            reply: Box::new(Reply::Collected(collected)),
        });
    }

    /// Turns the notes that wait into an answer, unless this very call has done so before; returns what carries them.
    ///
    /// Queued answers stay: they wait for a question, and this is none.
    fn answer_nobody(&mut self, now: Now, collect: Collect, effects: &mut Vec<Effect>) -> Option<CueId> {
        let agent = collect.agent;
        if collect.known.is_some() || !self.agents.get(&agent).is_some_and(Agent::has_note) {
            return collect.known;
        }
        let id = collect.cue;
        let ask = Ask {
            ticket: collect.ticket,
            request: collect.request,
            known: None,
            cue: id,
            agent: agent.clone(),
            kind: Kind::Cue,
            prompt: Arc::from(HANDED_OVER),
            payload: None,
            content: collect.content,
            origin: Origin::Hook,
        };
        self.open(now, ask, effects);
        let notes = self.agents.get_mut(&agent).map(Agent::take_notes);
        let notes = notes.unwrap_or_default();
        let first = notes.first()?;
        let written: Vec<&str> = notes.iter().map(|note| &*note.text).collect();
        let said = Unasked {
            request: first.request,
            text: left(&notes),
            written: written.join("\n\n"),
            by: first.by.clone(),
            from_queue: false,
        };
        self.answer_unasked(now, id, said, &notes, effects);
        Some(id)
    }

    /// Closes the open questions of an agent for which nobody waits any more.
    ///
    /// A hook that waits in the agent's place gives way too: the human's words are there now.
    fn close_left_behind(
        &mut self,
        now: Now,
        ticket: Ticket,
        request: RequestId,
        agent: &AgentId,
        reason: &str,
        effects: &mut Vec<Effect>,
    ) {
        let is_left = |id: &CueId| {
            self.cues.get(id).is_some_and(|cue| {
                let is_open = matches!(cue.state, State::Open | State::Superseded);
                is_open && (cue.waiting() == 0 || cue.origin == Origin::Hook)
            })
        };
        let cues = self.agents.get(agent).map(|agent| agent.cues.as_slice());
        let left: Vec<CueId> = cues.unwrap_or_default().iter().copied().filter(is_left).collect();
        for cue in left {
            let decide = Decide {
                ticket,
                request,
                cue,
                verdict: Verdict::Cancel {
                    reason: Some(reason.to_owned()),
                },
                by: None,
                hold_ms: 0,
                reminder: None,
            };
            self.decide_now(now, decide, effects);
        }
    }
}
