//! Turns an order into an input of the machine: generates ids, checks answers, and reloads forgotten questions.

use std::collections::HashSet;
use std::sync::Arc;

use cueme_rules::{Ask, Collect, Decide, Import, Input, Join, Known, Now, Say, Ticket, Verdict, unknown_cue};
use cueme_store::{LookUps, Pass, StoreError};
use protocol_spec::id::{AgentId, CueId, RequestId};
use protocol_spec::message::{ErrorCode, Failure, Joined, Reply};
use protocol_spec::outcome::Kind;

use super::{CommitOutput, Core};
use crate::engine::order::{Closing, Order, PastQuestion, Work, content_key};
use crate::engine::past;

impl Core {
    /// Announces the look-ups of orders that are about to be carried out, so that a shared store makes them together.
    pub fn expect<'a>(&self, orders: impl Iterator<Item = (&'a Order, Option<&'a Pass>)>) {
        let (true, Some(store)) = (self.storage.is_shared(), &self.store) else {
            return;
        };
        let mut look_ups = LookUps::default();
        for (order, pass) in orders {
            if let Work::Ask { .. } | Work::Collect { .. } = order.work {
                look_ups.requests.push(order.request);
            }
            look_ups.passes.extend(pass.cloned());
        }
        store.expect(look_ups);
    }

    /// Turns an order into an input: generates ids, checks answers, and reloads questions that the machine forgot.
    pub(super) fn prepare(
        &mut self,
        now: Now,
        order: &Order,
        output: &mut CommitOutput,
    ) -> Result<Option<Input>, StoreError> {
        let (ticket, request) = (order.ticket, order.request);
        if let Some(cue) = order.work.cue() {
            self.remind_of(now, cue)?;
        }
        Ok(Some(match &order.work {
            Work::Join {
                runtime,
                project_dir,
                terminal,
                session,
            } => {
                if let Some(session) = session
                    && let Some(agent_id) = self.opened()?.agent_of_session(runtime, session)?
                {
                    let reply = Reply::Joined(Joined {
                        agent_id,
                        again: true,
                    });
                    output.replies.push((ticket, Box::new(reply)));
                    return Ok(None);
                }
                Input::Join(Join {
                    ticket,
                    agent: self.fresh_agent_id(),
                    runtime: runtime.clone(),
                    project_dir: project_dir.clone(),
                    terminal: terminal.clone(),
                    session: session.clone(),
                })
            }
            Work::Bind { agent, session } => Input::Bind {
                ticket,
                agent: agent.clone(),
                session: session.clone(),
            },
            Work::Ask {
                agent,
                kind,
                prompt,
                payload,
                content,
                origin,
            } => Input::Ask(Ask {
                ticket,
                request,
                known: self.remind_of_request(now, request)?,
                cue: self.fresh_cue_id(),
                agent: agent.clone(),
                kind: *kind,
                prompt: Arc::clone(prompt),
                payload: payload.clone(),
                content: *content,
                origin: *origin,
            }),
            Work::Attach(cue) => Input::Attach { ticket, cue: *cue },
            Work::Ack { cues, nonce } => {
                for cue in cues {
                    self.remind_of(now, *cue)?;
                }
                Input::Ack {
                    ticket,
                    cues: cues.clone(),
                    nonce: nonce.clone(),
                }
            }
            Work::Rest(cue) => Input::Rest { ticket, cue: *cue },
            Work::Answer {
                cue,
                answer,
                by,
                hold_ms,
            } => {
                if answer.ends_run && !self.opened()?.is_of_open_run(*cue)? {
                    return Ok(refuse(output, ticket, no_run_to_end(*cue)));
                }
                let checked = match self.machine.plain_question(*cue) {
                    Some(question) => Some(answer.clone().check(question)),
                    None => {
                        let asked = self.opened()?.plain_question(*cue)?;
                        asked.map(|asked| answer.clone().check(asked.as_question()))
                    }
                };
                let verdict = match checked {
                    None => return Ok(refuse(output, ticket, unknown_cue(*cue))),
                    Some(Err(error)) => {
                        let failure =
                            Failure::new(ErrorCode::InvalidAnswer, error.to_string()).with_hint(error.hint());
                        return Ok(refuse(output, ticket, failure));
                    }
                    Some(Ok(checked)) => {
                        let rendered = checked.render();
                        Verdict::Answer {
                            text: rendered.text,
                            answer: checked.answer().clone(),
                            redacted: rendered.redacted.map(|redacted| (redacted.text, redacted.answer)),
                        }
                    }
                };
                self.decide(order, *cue, verdict, by.as_ref(), *hold_ms)
            }
            Work::Close {
                cue,
                verdict,
                by,
                hold_ms,
            } => {
                let verdict = match verdict.clone() {
                    Closing::Decline(reason) => Verdict::Decline { reason },
                    Closing::Cancel(reason) => Verdict::Cancel { reason },
                };
                self.decide(order, *cue, verdict, by.as_ref(), *hold_ms)
            }
            Work::EditQueue { agent, edit } => Input::EditQueue {
                ticket,
                agent: agent.clone(),
                edit: edit.clone(),
            },
            Work::Amend { agent, amendment } => Input::Amend {
                ticket,
                agent: agent.clone(),
                amendment: amendment.clone(),
            },
            Work::Undo(cue) => Input::Undo { ticket, cue: *cue },
            Work::Say {
                agent,
                text,
                purpose,
                by,
            } => {
                if let Some(of) = self.opened()?.agent_of_message(request)? {
                    return Ok(self.said_before(agent, of == *agent, ticket, output));
                }
                Input::Say(Say {
                    ticket,
                    request,
                    agent: agent.clone(),
                    text: text.clone(),
                    purpose: *purpose,
                    by: by.clone(),
                })
            }
            Work::Collect { agent, close } => Input::Collect(Collect {
                ticket,
                request,
                known: self.remind_of_request(now, request)?,
                cue: self.fresh_cue_id(),
                content: content_key(Kind::Cue, &request.to_string(), None),
                agent: agent.clone(),
                close: close.clone(),
            }),
            Work::Import {
                agents,
                cues,
                refused,
            } => {
                let import = Import {
                    ticket,
                    agents: agents.clone(),
                    cues: Vec::with_capacity(cues.len()),
                    refused: refused.clone(),
                };
                Input::Import(self.settle_past(import, cues)?)
            }
            Work::Gone => Input::Gone { ticket },
            Work::HumanSeen => Input::HumanSeen,
            Work::Tick => Input::Tick,
        }))
    }

    /// Adds questions of another program to an import, each with its state in the store.
    fn settle_past(&mut self, mut import: Import, cues: &[PastQuestion]) -> Result<Import, StoreError> {
        let mut seen = HashSet::new();
        for question in cues {
            let fresh = self.fresh_cue_id();
            match past::settle(question, fresh) {
                Ok(past) => {
                    let known = match seen.insert(past.request) {
                        true => self.opened()?.past_cue(past.request)?,
                        false => Known::Whole,
                    };
                    import.cues.push((past, known));
                }
                Err(refused) => import.refused.push(refused),
            }
        }
        Ok(import)
    }

    fn decide(
        &self,
        order: &Order,
        cue: CueId,
        verdict: Verdict,
        by: Option<&String>,
        hold_ms: u64,
    ) -> Input {
        Input::Decide(Decide {
            ticket: order.ticket,
            request: order.request,
            cue,
            verdict,
            by: by.cloned(),
            hold_ms,
            reminder: self.reminder.clone(),
        })
    }

    /// Confirms a message that was left before, whether the agent has it by now or not.
    fn said_before(
        &self,
        agent: &AgentId,
        is_same: bool,
        ticket: Ticket,
        output: &mut CommitOutput,
    ) -> Option<Input> {
        if !is_same {
            let failure = Failure::new(
                ErrorCode::BadRequest,
                "this request id belongs to another message",
            )
            .with_hint("mint a new request id (UUIDv7) for each message");
            return refuse(output, ticket, failure);
        }
        let said = self.machine.said(agent.clone());
        output.replies.push((ticket, Box::new(Reply::Said(said))));
        None
    }

    pub(super) fn remind_of(&mut self, now: Now, cue: CueId) -> Result<(), StoreError> {
        if !self.machine.knows(cue)
            && let Some(known) = self.opened()?.cue(now, cue)?
        {
            self.machine.remember(known.id, known.cue);
        }
        Ok(())
    }

    /// Finds the question that a call meant before, if it was made before.
    fn remind_of_request(&mut self, now: Now, request: RequestId) -> Result<Option<CueId>, StoreError> {
        let known = self.opened()?.cue_of_request(request)?;
        if let Some(cue) = known {
            self.remind_of(now, cue)?;
        }
        Ok(known)
    }

    fn fresh_agent_id(&mut self) -> AgentId {
        loop {
            let bits = (self.random)();
            let id = AgentId::from_random((bits >> 20) as u32);
            if !self.machine.has_agent(&id) {
                return id;
            }
        }
    }

    fn fresh_cue_id(&mut self) -> CueId {
        // Sixty random bits: in the improbable case of a collision, the store's unique index turns it into an error.
        CueId::from_random((self.random)())
    }
}

impl Work {
    /// Returns the one question this work is about, if it is about one.
    fn cue(&self) -> Option<CueId> {
        match self {
            Self::Attach(cue) | Self::Rest(cue) | Self::Undo(cue) => Some(*cue),
            Self::Answer { cue, .. } | Self::Close { cue, .. } => Some(*cue),
            Self::Join { .. }
            | Self::Bind { .. }
            | Self::Ask { .. }
            | Self::Ack { .. }
            | Self::Say { .. }
            | Self::Collect { .. }
            | Self::Import { .. }
            | Self::EditQueue { .. }
            | Self::Amend { .. }
            | Self::Gone
            | Self::HumanSeen
            | Self::Tick => None,
        }
    }
}

fn no_run_to_end(cue: CueId) -> Failure {
    let message = format!("question {cue} belongs to no run that could be ended");
    Failure::new(ErrorCode::InvalidAnswer, message).with_hint(
        "answer it without ending the run: only the runs of `cueme agent run` and `cueme cloud` can be ended",
    )
}

fn refuse(output: &mut CommitOutput, ticket: Ticket, failure: Failure) -> Option<Input> {
    output.replies.push((ticket, Box::new(Reply::Error(failure))));
    None
}
