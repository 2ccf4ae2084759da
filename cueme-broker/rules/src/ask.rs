//! The rule for an agent that asks.

use std::sync::Arc;

use protocol_spec::answer::Answer;
use protocol_spec::id::{AgentId, CueId, RequestId};
use protocol_spec::message::{ErrorCode, EventKind, Failure, Mailbox, Reply};
use protocol_spec::outcome::{Kind, Origin, Outcome};

use super::agent::{Agent, Message};
use super::attach::Again;
use super::cue::{Cue, Decision, Rounds, State};
use super::effect::Change;
use super::input::Ask;
use super::machine::Present;
use super::outbox::Outbox;
use super::{LIVE_CUES_PER_AGENT_MAX, beginning_of, unseen, with_standing};

/// Words that a human wrote before the question was asked, and that decide it.
pub(super) struct EarlierWords {
    /// The key of the decision.
    pub(super) request: RequestId,
    /// The text the agent reads.
    pub(super) text: String,
    /// The text that the human wrote.
    pub(super) written: String,
    /// The author of the text.
    pub(super) by: Option<String>,
    /// Whether a question was asked that the human has not seen.
    pub(super) from_queue: bool,
}

impl Agent {
    /// Finds the question that a call means, and attaches the caller to it.
    ///
    /// A retry of a call means the question of that call, for ever. A new call with the same content means a question
    /// of that content only while its outcome has not been acknowledged. Anything else is a new question, and so is every
    /// new request for approval: what was allowed once is not allowed twice.
    pub(super) fn ask(&mut self, now: Present, ask: Ask, out: &mut Outbox) {
        if let Some(known) = ask.known {
            return if self.cue(known).is_some_and(|cue| cue.content == ask.content) {
                self.attach(now, ask.ticket, known, Again::Yes, out);
            } else {
                out.refuse(ask.ticket, reused_request());
            };
        }
        let joins =
            |cue: &Cue| cue.content == ask.content && ![cue.origin, ask.origin].contains(&Origin::Approval);
        let known = self.live().find(|(_, cue)| joins(cue)).map(|(id, _)| id);
        if let Some(known) = known {
            out.store(Change::BindRequest {
                request: ask.request,
                cue: known,
            });
            return self.attach(now, ask.ticket, known, Again::Yes, out);
        }
        let live = self.live().count();
        if live >= LIVE_CUES_PER_AGENT_MAX {
            return out.refuse(ask.ticket, too_many(live));
        }
        self.ask_anew(now, ask, out);
    }

    /// Opens a new question, and answers it at once where the human queued an answer for it.
    fn ask_anew(&mut self, now: Present, ask: Ask, out: &mut Outbox) {
        let ticket = ask.ticket;
        let id = ask.cue;
        // A queued answer is a guess at a question: never a yes to something, so never an approval.
        let is_plain = ask.kind == Kind::Cue && ask.payload.is_none() && ask.origin != Origin::Approval;
        self.open(now, ask, out);
        if is_plain {
            self.answer_from_queue(now, id, out);
        }
        let mut missed = self.missed();
        missed.retain(|missed| *missed != id);
        if missed.is_empty() {
            return self.attach(now, ticket, id, Again::No, out);
        }
        out.store(Change::SetDetached {
            cue: id,
            at: Some(now.wall),
        });
        let earlier = self.deliver_what_fits(now, &missed, out);
        let reply = Reply::Mailbox(Mailbox { cue_id: id, earlier });
        out.reply(ticket, reply);
    }

    /// Puts a new question before the human.
    pub(super) fn open(&mut self, now: Present, ask: Ask, out: &mut Outbox) {
        self.newest += 1;
        let cue = Cue {
            agent: self.id.clone(),
            kind: ask.kind,
            origin: ask.origin,
            has_payload: ask.payload.is_some(),
            content: ask.content,
            question: beginning_of(&ask.prompt).into(),
            ordinal: self.newest,
            asked_at: now.wall,
            state: State::Open,
            here: 0,
            elsewhere: 0,
            detached: Some((now.steady, now.wall)),
            rounds: Rounds {
                ended: 0,
                signs: now.human_signs,
                since: Some(now.steady),
            },
        };
        self.add_cue(ask.cue, cue);
        out.opened.push(ask.cue);
        out.store(Change::AddCue {
            cue: ask.cue,
            agent: self.id.clone(),
            kind: ask.kind,
            origin: ask.origin,
            prompt: ask.prompt,
            payload: ask.payload,
            content: ask.content,
        });
        out.store(Change::BindRequest {
            request: ask.request,
            cue: ask.cue,
        });
        out.log(EventKind::Asked, &self.id, Some(ask.cue));
        self.surface(out);
    }

    /// Lets the oldest queued answer, if there is one, answer a question that its author has not seen.
    fn answer_from_queue(&mut self, now: Present, id: CueId, out: &mut Outbox) {
        let Some(answer) = self.take_queued_answer() else {
            return;
        };
        let mut messages = self.take_notes();
        // The question was asked just now.
        let text = unseen(&messages, &answer, now.wall);
        let said = EarlierWords {
            request: answer.request,
            written: answer.text.to_string(),
            by: answer.by.clone(),
            from_queue: true,
            text,
        };
        messages.push(answer);
        self.answer_unasked(now, id, said, &messages, out);
    }

    /// Decides a question with words that were written before it was asked.
    pub(super) fn answer_unasked(
        &mut self,
        now: Present,
        id: CueId,
        said: EarlierWords,
        messages: &[Message],
        out: &mut Outbox,
    ) {
        let request = said.request;
        let text: Arc<str> = with_standing(said.text, self.standing.as_deref()).into();
        let answer = Arc::new(Answer {
            text: Some(said.written),
            ..Answer::default()
        });
        let Some(cue) = self.cue_mut(id) else { return };
        cue.state = State::Decided {
            decision: Decision {
                request,
                outcome: Outcome::Answered,
                text: Arc::clone(&text),
                reminder: None,
                answer: Some(Arc::clone(&answer)),
                redacted: None,
                by: said.by.clone(),
                decided_at: now.wall,
            },
            handed_at: None,
        };
        cue.detached = None;
        out.store(Change::Decide {
            cue: id,
            outcome: Outcome::Answered,
            request,
            text,
            reminder: None,
            answer: Some(answer),
            redacted: None,
            by: said.by,
            released_at: None,
            from_queue: said.from_queue,
        });
        let messages = messages.iter().map(|message| message.request).collect();
        out.store(Change::TakeMessages { messages, cue: id });
        out.log(EventKind::Answered, &self.id, Some(id));
    }

    /// Returns the questions with an unacknowledged outcome that no client waits for, oldest first.
    pub(super) fn missed(&self) -> Vec<CueId> {
        let is_missed = |cue: &Cue| cue.waiting() == 0 && matches!(cue.state, State::Decided { .. });
        let missed = self.cues().filter(|(_, cue)| is_missed(cue));
        missed.map(|(id, _)| id).collect()
    }
}

pub(super) fn unknown_agent(agent: &AgentId) -> Failure {
    Failure::new(ErrorCode::UnknownAgent, format!("no agent {agent} has joined here")).with_hint(
        "run `cueme recall <words you remember>` to find your agent_id, or `cueme join <agent_runtime>` for a new one",
    )
}

fn reused_request() -> Failure {
    Failure::new(
        ErrorCode::BadRequest,
        "this request id belongs to another question",
    )
    .with_hint("mint a new request id (UUIDv7) for each call")
}

fn too_many(live: usize) -> Failure {
    Failure::new(
        ErrorCode::Busy,
        format!("{live} questions of this agent are open or not delivered yet"),
    )
    .with_hint("wait for answers to the earlier questions, or close them with `cueme cancel <cue_id>`")
}
