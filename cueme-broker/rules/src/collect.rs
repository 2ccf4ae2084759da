//! Delivers everything that humans left for an agent at once, without a question of the agent's own.
//!
//! A runtime's hook sends this when the human types into the runtime, so that earlier decisions and messages reach the
//! agent with it. Notes are delivered as the answer to a question that the broker opens for them, so that they are
//! delivered, repeated and acknowledged by the same rules as every answer.

use std::sync::Arc;

use protocol_spec::id::{CueId, RequestId};
use protocol_spec::message::{Collected, Reply};
use protocol_spec::outcome::{Kind, Origin, Outcome};

use super::agent::Agent;
use super::ask::EarlierWords;
use super::cue::State;
use super::input::{Ask, Collect, Decide, Ticket, Verdict};
use super::machine::Present;
use super::outbox::Outbox;
use super::render_notes;

/// The prompt of the question that carries the notes, shown in lists and in the agent's timeline.
const HANDED_OVER: &str =
    "(The human typed in the agent's own window; their messages were handed over with it.)";

impl Agent {
    /// Delivers messages and outcomes, and closes the questions that the agent left behind if the caller says so.
    pub(super) fn collect(&mut self, now: Present, collect: Collect, out: &mut Outbox) {
        let (ticket, request) = (collect.ticket, collect.request);
        if let Some(reason) = &collect.close {
            self.close_left_behind(now, ticket, request, reason, out);
        }
        let with_messages = self.deliver_notes(now, collect, out);
        let mut collected = Collected {
            messages: None,
            earlier: Vec::new(),
            closed: Vec::new(),
        };
        let missed = self.missed();
        for told in self.deliver_what_fits(now, &missed, out) {
            let id = told.cue_id;
            let origin = self.cue(id).map(|cue| cue.origin);
            if Some(id) == with_messages {
                collected.messages = Some(told);
            } else if origin == Some(Origin::Hook) && told.outcome == Outcome::Cancelled {
                collected.closed.push(id);
            } else {
                collected.earlier.push(told);
            }
        }
        out.reply(ticket, Reply::Collected(collected));
    }

    /// Turns the waiting notes into an answer, unless this call did so before; returns the question that carries them.
    ///
    /// Queued answers stay: they wait for a question of the agent.
    fn deliver_notes(&mut self, now: Present, collect: Collect, out: &mut Outbox) -> Option<CueId> {
        if collect.known.is_some() || !self.has_note() {
            return collect.known;
        }
        let id = collect.cue;
        let ask = Ask {
            ticket: collect.ticket,
            request: collect.request,
            known: None,
            cue: id,
            agent: collect.agent,
            kind: Kind::Cue,
            prompt: Arc::from(HANDED_OVER),
            payload: None,
            content: collect.content,
            origin: Origin::Hook,
        };
        self.open(now, ask, out);
        let notes = self.take_notes();
        let first = notes.first()?;
        let written: Vec<&str> = notes.iter().map(|note| &*note.text).collect();
        let said = EarlierWords {
            request: first.request,
            text: render_notes(&notes),
            written: written.join("\n\n"),
            by: first.by.clone(),
            from_queue: false,
        };
        self.answer_unasked(now, id, said, &notes, out);
        Some(id)
    }

    /// Closes the open questions of an agent that no client waits for.
    ///
    /// A question of a waiting hook is closed, too: the human's words replace it.
    fn close_left_behind(
        &mut self,
        now: Present,
        ticket: Ticket,
        request: RequestId,
        reason: &str,
        out: &mut Outbox,
    ) {
        let is_open = |state: &State| matches!(state, State::Open | State::Superseded);
        let left = self
            .live()
            .filter(|(_, cue)| is_open(&cue.state) && (cue.waiting() == 0 || cue.origin == Origin::Hook));
        let left: Vec<CueId> = left.map(|(id, _)| id).collect();
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
            self.decide_now(now, decide, out);
        }
    }
}
