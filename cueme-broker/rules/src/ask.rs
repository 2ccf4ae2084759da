//! An agent asks.

use std::sync::Arc;

use protocol_spec::answer::Answer;
use protocol_spec::id::{AgentId, CueId, RequestId};
use protocol_spec::message::{ErrorCode, EventKind, Failure, Mailbox, Reply};
use protocol_spec::outcome::{Kind, Origin, Outcome};

use super::attach::Again;
use super::effect::{Change, Effect};
use super::input::{Ask, Now, Ticket};
use super::state::{Cue, Decision, Machine, Message, Rounds, State};
use super::{LIVE_CUES_PER_AGENT_MAX, beginning_of, unseen, with_standing};

/// Words of a human that decide a question they were not written for.
pub(super) struct Unasked {
    /// The key of the decision.
    pub(super) request: RequestId,
    /// The text the agent reads.
    pub(super) text: String,
    /// What the human wrote.
    pub(super) written: String,
    /// Who wrote it.
    pub(super) by: Option<String>,
    /// Whether a question was asked that the human has not seen.
    pub(super) from_queue: bool,
}

impl Machine {
    /// Finds out which question a call means, and waits for that one.
    ///
    /// A retry of a call means the question of that call, for ever. A new call with the same content means a question
    /// of that content only while its outcome has not been acknowledged. Anything else is a new question, and so is every
    /// new request for approval: what was allowed once is not allowed twice.
    pub(super) fn ask(&mut self, now: Now, ask: Ask, effects: &mut Vec<Effect>) {
        let Some(agent) = self.agents.get(&ask.agent) else {
            return effects.push(refuse(ask.ticket, unknown_agent(&ask)));
        };
        if let Some(known) = ask.known {
            let is_same = self
                .cues
                .get(&known)
                .is_some_and(|cue| cue.agent == ask.agent && cue.content == ask.content);
            return if is_same {
                self.attach(now, ask.ticket, known, Again::Yes, effects);
            } else {
                effects.push(refuse(ask.ticket, reused_request()));
            };
        }
        let joins =
            |cue: &Cue| cue.content == ask.content && ![cue.origin, ask.origin].contains(&Origin::Approval);
        let same = |id: &&CueId| self.cues.get(id).is_some_and(joins);
        if let Some(&known) = agent.cues.iter().find(same) {
            bind(&ask, known, effects);
            return self.attach(now, ask.ticket, known, Again::Yes, effects);
        }
        if agent.cues.len() >= LIVE_CUES_PER_AGENT_MAX {
            return effects.push(refuse(ask.ticket, too_many(agent.cues.len())));
        }
        self.ask_anew(now, ask, effects);
    }

    /// Opens a new question, and answers it at once where the human queued an answer for it.
    fn ask_anew(&mut self, now: Now, ask: Ask, effects: &mut Vec<Effect>) {
        let ticket = ask.ticket;
        let id = ask.cue;
        // A queued answer is a guess at a question: never a yes to something, so never an approval.
        let is_plain = ask.kind == Kind::Cue && ask.payload.is_none() && ask.origin != Origin::Approval;
        self.open(now, ask, effects);
        if is_plain {
            self.answer_from_queue(now, id, effects);
        }
        let missed: Vec<CueId> = self.missed_outcomes(id);
        if missed.is_empty() {
            return self.attach(now, ticket, id, Again::No, effects);
        }
        effects.push(Effect::Store(Change::SetDetached {
            cue: id,
            at: Some(now.wall),
        }));
        let earlier = self.hand_over_what_fits(now, &missed, effects);
        let reply = Reply::Mailbox(Mailbox { cue_id: id, earlier });
        effects.push(Effect::Reply {
            to: ticket,
            reply: Box::new(reply),
        });
    }

    /// Puts a new question before the human.
    pub(super) fn open(&mut self, now: Now, ask: Ask, effects: &mut Vec<Effect>) {
        let Some(agent) = self.agents.get_mut(&ask.agent) else {
            return;
        };
        agent.newest += 1;
        agent.cues.push(ask.cue);
        let cue = Cue {
            agent: ask.agent.clone(),
            kind: ask.kind,
            origin: ask.origin,
            has_payload: ask.payload.is_some(),
            content: ask.content,
            question: beginning_of(&ask.prompt).into(),
            ordinal: agent.newest,
            asked_at: now.wall,
            state: State::Open,
            waiters: Vec::new(),
            elsewhere: 0,
            detached: Some((now.steady, now.wall)),
            rounds: Rounds {
                ended: 0,
                signs: self.human_signs,
                since: Some(now.steady),
            },
        };
        self.cues.insert(ask.cue, cue);
        effects.push(Effect::Store(Change::AddCue {
            cue: ask.cue,
            agent: ask.agent.clone(),
            kind: ask.kind,
            origin: ask.origin,
            prompt: ask.prompt,
            payload: ask.payload,
            content: ask.content,
        }));
        effects.push(Effect::Store(Change::BindRequest {
            request: ask.request,
            cue: ask.cue,
        }));
        effects.push(Effect::Log {
            what: EventKind::Asked,
            agent: ask.agent.clone(),
            cue: Some(ask.cue),
        });
        self.surface(&ask.agent, effects);
        // Detached older questions of this agent may be superseded from now on.
        let older: Vec<CueId> = self
            .agents
            .get(&ask.agent)
            .map(|agent| agent.cues.clone())
            .unwrap_or_default();
        for cue in older {
            self.watch_over(now, cue);
        }
    }

    /// Lets the oldest queued answer, if there is one, answer a question that its author has not seen.
    fn answer_from_queue(&mut self, now: Now, id: CueId, effects: &mut Vec<Effect>) {
        let Some(cue) = self.cues.get(&id) else { return };
        let asked_at = cue.asked_at;
        let Some(agent) = self.agents.get_mut(&cue.agent) else {
            return;
        };
        let Some(answer) = agent.take_queued_answer() else {
            return;
        };
        let mut messages = agent.take_notes();
        let text = unseen(&messages, &answer, asked_at);
        let said = Unasked {
            request: answer.request,
            written: answer.text.to_string(),
            by: answer.by.clone(),
            from_queue: true,
            text,
        };
        messages.push(answer);
        self.answer_unasked(now, id, said, &messages, effects);
    }

    /// Decides a question with words that were written before it was asked.
    pub(super) fn answer_unasked(
        &mut self,
        now: Now,
        id: CueId,
        said: Unasked,
        messages: &[Message],
        effects: &mut Vec<Effect>,
    ) {
        let Some(cue) = self.cues.get_mut(&id) else { return };
        let Some(agent) = self.agents.get(&cue.agent) else {
            return;
        };
        let request = said.request;
        let text: Arc<str> = with_standing(said.text, agent.standing.as_deref()).into();
        let answer = Arc::new(Answer {
            text: Some(said.written),
            ..Answer::default()
        });
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
        effects.push(Effect::Store(Change::Decide {
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
        }));
        let messages = messages.iter().map(|message| message.request).collect();
        effects.push(Effect::Store(Change::TakeMessages { messages, cue: id }));
        effects.push(Effect::Log {
            what: EventKind::Answered,
            agent: cue.agent.clone(),
            cue: Some(id),
        });
    }

    /// Returns the agent's earlier questions whose outcome reached nobody and for which nobody waits.
    fn missed_outcomes(&self, asked: CueId) -> Vec<CueId> {
        let missed = self.cues.get(&asked).map(|cue| self.missed_by(&cue.agent));
        missed
            .unwrap_or_default()
            .into_iter()
            .filter(|id| *id != asked)
            .collect()
    }

    /// Returns the questions of an agent whose outcome reached nobody and for which nobody waits, oldest first.
    pub(super) fn missed_by(&self, agent: &AgentId) -> Vec<CueId> {
        let is_missed = |id: &CueId| {
            self.cues
                .get(id)
                .is_some_and(|cue| cue.waiting() == 0 && matches!(cue.state, State::Decided { .. }))
        };
        let cues = self.agents.get(agent).map(|agent| agent.cues.as_slice());
        cues.unwrap_or_default()
            .iter()
            .copied()
            .filter(is_missed)
            .collect()
    }
}

fn bind(ask: &Ask, known: CueId, effects: &mut Vec<Effect>) {
    effects.push(Effect::Store(Change::BindRequest {
        request: ask.request,
        cue: known,
    }));
}

pub(super) fn refuse(to: Ticket, failure: Failure) -> Effect {
    Effect::Reply {
        to,
        reply: Box::new(Reply::Error(failure)),
    }
}

fn unknown_agent(ask: &Ask) -> Failure {
    Failure::new(ErrorCode::UnknownAgent, format!("no agent {} has joined here", ask.agent)).with_hint(
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
