//! All agents of a broker: finds the agent that an input concerns, and tracks the calls that wait for each question.
//!
//! An input that concerns several agents is split into one for each. Delivering the released outcomes is a separate
//! step, because a broker that did not make the decision has only that step.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use protocol_spec::answer::Question;
use protocol_spec::id::{AgentId, CueId, RuntimeTag};
use protocol_spec::message::{Acked, Failure, Reply, Said};
use protocol_spec::time::Timestamp;

use super::agent::{Agent, Message};
use super::amend::unknown_agent;
use super::attach::{Again, unknown_cue};
use super::cue::{ContentKey, Cue, State};
use super::effect::Effect;
use super::input::{Input, Now, Ticket};
use super::outbox::Outbox;

/// The live state of the broker.
#[derive(Debug, Default)]
pub struct Machine {
    agents: HashMap<AgentId, Slot>,
    /// The questions that are in memory, each with its agent and with the callers that wait for it here.
    cues: HashMap<CueId, CueEntry>,
    /// The question each waiting caller waits for.
    waits: HashMap<Ticket, CueId>,
    /// When a timer of each agent is due, by the steady clock.
    timers: BTreeSet<(u64, AgentId)>,
    /// Agents with settled questions, which are forgotten once the input at hand has been handled.
    visited: Vec<AgentId>,
    /// Grows with each sign of a human.
    human_signs: u64,
}

#[derive(Debug)]
struct Slot {
    agent: Agent,
    /// Its timer.
    due: Option<u64>,
}

#[derive(Debug)]
struct CueEntry {
    agent: AgentId,
    /// The waiting callers, in the order they came.
    tickets: Vec<Ticket>,
}

/// The present as a rule sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Present {
    /// Wall-clock time.
    pub(super) wall: Timestamp,
    /// Milliseconds on a clock that never goes backwards.
    pub(super) steady: u64,
    /// The number of times that a human was seen.
    pub(super) human_signs: u64,
}

/// The presence of clients that wait for an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting {
    /// The number of clients.
    pub clients: u32,
    /// The time since which no client waits; `None` while one waits.
    pub detached_at: Option<Timestamp>,
}

/// Sums over the live state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LiveCounts {
    /// Undecided questions, without the superseded ones.
    pub open: u32,
    /// Outcomes the agent has not acknowledged.
    pub undelivered: u32,
    /// Clients that wait.
    pub waiting: u32,
    /// Agents.
    pub agents: u32,
}

impl Machine {
    /// Handles an input.
    pub fn handle(&mut self, now: Now, input: Input) -> Vec<Effect> {
        if input.is_of_human() {
            self.human_signs += 1;
        }
        let mut out = Outbox::new();
        match input {
            Input::Join(join) => {
                self.remember_agent(join.agent.clone(), join.runtime.clone(), 0);
                super::join::join(join, &mut out);
            }
            Input::Bind {
                ticket,
                agent,
                session,
            } => self.for_agent(now, ticket, &agent, &mut out, |agent, _, out| {
                agent.bind_session(ticket, session, out);
            }),
            Input::Ask(ask) => match self.agents.contains_key(&ask.agent) {
                true => {
                    let agent = ask.agent.clone();
                    self.run(now, &agent, &mut out, |agent, now, out| agent.ask(now, ask, out));
                }
                false => out.refuse(ask.ticket, super::ask::unknown_agent(&ask.agent)),
            },
            Input::Attach { ticket, cue } => self.for_cue(now, ticket, cue, &mut out, |agent, now, out| {
                agent.attach(now, ticket, cue, Again::Yes, out);
            }),
            Input::Ack { ticket, cues, nonce } => self.ack(now, ticket, &cues, nonce.as_deref(), &mut out),
            Input::Rest { ticket, cue } => self.for_cue(now, ticket, cue, &mut out, |agent, now, out| {
                agent.rest(now, ticket, cue, out);
            }),
            Input::Gone { ticket } => self.leave(now, ticket, &mut out),
            Input::Decide(decide) => {
                let (ticket, cue) = (decide.ticket, decide.cue);
                self.for_cue(now, ticket, cue, &mut out, |agent, now, out| {
                    agent.decide(now, decide, out);
                });
            }
            Input::Undo { ticket, cue } => self.for_cue(now, ticket, cue, &mut out, |agent, now, out| {
                agent.undo(now, ticket, cue, out);
            }),
            Input::Say(say) => {
                let (ticket, agent) = (say.ticket, say.agent.clone());
                self.for_agent(now, ticket, &agent, &mut out, |agent, now, out| {
                    agent.say(now, say, out)
                });
            }
            Input::Collect(collect) => {
                let (ticket, agent) = (collect.ticket, collect.agent.clone());
                self.for_agent(now, ticket, &agent, &mut out, |agent, now, out| {
                    agent.collect(now, collect, out);
                });
            }
            Input::Import(import) => self.import(import, &mut out),
            Input::EditQueue { ticket, agent, edit } => {
                self.for_agent(now, ticket, &agent, &mut out, |agent, _, out| {
                    agent.edit_queue(ticket, edit, out);
                });
            }
            Input::Amend {
                ticket,
                agent,
                amendment,
            } => self.for_agent(now, ticket, &agent, &mut out, |agent, _, out| {
                agent.amend(ticket, amendment, out);
            }),
            Input::HumanSeen => {}
            Input::Tick => self.tick(now, &mut out),
        }
        self.forget_settled();
        out.effects
    }

    /// Returns when [`Input::Tick`] is due next, by the steady clock.
    pub fn next_due(&self) -> Option<u64> {
        self.timers.first().map(|(due, _)| *due)
    }

    /// Adds an agent that the store knows.
    ///
    /// `newest` is the ordinal of its newest question, zero if it has asked none.
    pub fn remember_agent(&mut self, id: AgentId, runtime: RuntimeTag, newest: u64) {
        self.agents.entry(id).or_insert_with_key(|id| Slot {
            agent: Agent::new(id.clone(), runtime, newest),
            due: None,
        });
    }

    /// Adds the settings that a human made for an agent, as the store knows them.
    pub fn remember_wishes(&mut self, agent: &AgentId, is_archived: bool, standing: Option<Arc<str>>) {
        if let Some(slot) = self.agents.get_mut(agent) {
            slot.agent.is_archived = is_archived;
            slot.agent.standing = standing;
        }
    }

    /// Adds a message that the store knows. Messages come in the order they were left.
    pub fn remember_message(&mut self, agent: &AgentId, message: Message) {
        if let Some(slot) = self.agents.get_mut(agent) {
            slot.agent.messages.push(message);
        }
    }

    /// Adds a question that the store knows. Questions come in the order they were asked.
    ///
    /// A settled question stays only until the next input has been handled.
    pub fn remember(&mut self, id: CueId, cue: Cue) {
        let agent = cue.agent.clone();
        let Some(slot) = self.agents.get_mut(&agent) else {
            return;
        };
        if cue.state.is_settled() {
            self.visited.push(agent.clone());
        }
        slot.agent.add_cue(id, cue);
        self.place(id, &agent);
        self.arm(&agent);
    }

    /// Puts a caller back that waited for a question before the machine was loaded anew; says whether there is such a question.
    pub fn restore_waiter(&mut self, ticket: Ticket, id: CueId) -> bool {
        let Some(place) = self.cues.get(&id) else {
            return false;
        };
        let agent = place.agent.clone();
        let slot = self.agents.get_mut(&agent);
        let Some(cue) = slot.and_then(|slot| slot.agent.cue_mut(id)) else {
            return false;
        };
        cue.here += 1;
        cue.detached = None;
        self.wait(ticket, id);
        self.arm(&agent);
        true
    }

    /// Says whether the machine knows this question.
    pub fn knows(&self, cue: CueId) -> bool {
        self.cues.contains_key(&cue)
    }

    /// Returns how an answer has to be checked, if the question came without a payload.
    pub fn plain_question(&self, cue: CueId) -> Option<Question<'static>> {
        let cue = self.cue(cue).filter(|cue| !cue.has_payload)?;
        Some(Question::new(cue.kind, None))
    }

    /// Says whether an agent has a question of this content whose outcome was not acknowledged.
    pub fn has_live(&self, agent: &AgentId, content: ContentKey) -> bool {
        self.agent(agent).is_some_and(|agent| agent.has_live(content))
    }

    /// Says whether a caller waits for an outcome.
    pub fn is_waiting(&self, ticket: Ticket) -> bool {
        self.waits.contains_key(&ticket)
    }

    /// Says whether there is such an agent.
    pub fn has_agent(&self, agent: &AgentId) -> bool {
        self.agents.contains_key(agent)
    }

    /// Returns the presence of clients for a live question.
    pub fn waiting(&self, cue: CueId) -> Option<Waiting> {
        let cue = self.cue(cue)?;
        Some(Waiting {
            clients: cue.waiting(),
            detached_at: cue.detached.map(|(_, at)| at),
        })
    }

    /// Returns the waiting callers with their questions; for each question in the order they came.
    pub fn waiters(&self) -> impl Iterator<Item = (Ticket, CueId)> + '_ {
        let cues = self.cues.iter();
        cues.flat_map(|(id, place)| place.tickets.iter().map(|ticket| (*ticket, *id)))
    }

    /// Returns the questions that are live.
    pub fn live_cues(&self) -> impl Iterator<Item = (CueId, &Cue)> {
        self.agents.values().flat_map(|slot| slot.agent.cues())
    }

    /// Returns an agent.
    pub fn agent(&self, id: &AgentId) -> Option<&Agent> {
        self.agents.get(id).map(|slot| &slot.agent)
    }

    /// Returns a question.
    pub fn cue(&self, id: CueId) -> Option<&Cue> {
        self.agent(&self.cues.get(&id)?.agent)?.cue(id)
    }

    /// Describes the messages that wait for an agent, and the question that could be answered instead.
    pub fn said(&self, agent: AgentId) -> Said {
        match self.agent(&agent) {
            Some(agent) => agent.said(),
            None => Said {
                queued: 0,
                open_cue: None,
                waiting: 0,
                agent_id: agent,
            },
        }
    }

    /// Sums over the live state.
    pub fn counts(&self) -> LiveCounts {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let cues = || self.live_cues().map(|(_, cue)| &cue.state);
        LiveCounts {
            open: count(cues().filter(|state| matches!(state, State::Open)).count()),
            undelivered: count(cues().filter(|state| state.decision().is_some()).count()),
            waiting: count(self.waits.len()),
            agents: count(self.agents.len()),
        }
    }

    /// Delivers outcomes to all callers that wait for them, also outcomes that were delivered before.
    pub fn deliver_to_all(&mut self, now: Now) -> Vec<Effect> {
        let mut decided: Vec<CueId> = self.waits.values().copied().collect();
        decided.sort_unstable();
        decided.dedup();
        let mut out = Outbox::new();
        for id in decided {
            self.deliver(now, id, &mut out);
        }
        out.effects
    }

    /// Runs a rule of an agent, or refuses because there is no such agent.
    fn for_agent(
        &mut self,
        now: Now,
        ticket: Ticket,
        agent: &AgentId,
        out: &mut Outbox,
        rule: impl FnOnce(&mut Agent, Present, &mut Outbox),
    ) {
        if self.agents.contains_key(agent) {
            self.run(now, agent, out, rule);
        } else {
            out.refuse(ticket, unknown_agent(agent));
        }
    }

    /// Runs a rule of the agent that asked a question, or refuses because there is no such question.
    fn for_cue(
        &mut self,
        now: Now,
        ticket: Ticket,
        cue: CueId,
        out: &mut Outbox,
        rule: impl FnOnce(&mut Agent, Present, &mut Outbox),
    ) {
        match self.cues.get(&cue).map(|place| place.agent.clone()) {
            Some(agent) => self.run(now, &agent, out, rule),
            None => out.refuse(ticket, unknown_cue(cue)),
        }
    }

    /// Runs a rule of an agent, and delivers the outcomes that it released to the callers that wait at this broker.
    fn run(
        &mut self,
        now: Now,
        id: &AgentId,
        out: &mut Outbox,
        rule: impl FnOnce(&mut Agent, Present, &mut Outbox),
    ) {
        let present = self.present(now);
        let Some(slot) = self.agents.get_mut(id) else {
            return;
        };
        rule(&mut slot.agent, present, out);
        for cue in std::mem::take(&mut out.opened) {
            self.place(cue, id);
        }
        for (ticket, cue) in std::mem::take(&mut out.attached) {
            self.wait(ticket, cue);
        }
        for cue in std::mem::take(&mut out.released) {
            self.deliver(now, cue, out);
        }
        self.visit(id);
        self.arm(id);
    }

    /// Delivers an outcome to all callers of this broker that wait for it.
    fn deliver(&mut self, now: Now, id: CueId, out: &mut Outbox) {
        let present = self.present(now);
        let Some(place) = self.cues.get(&id).filter(|place| !place.tickets.is_empty()) else {
            return;
        };
        let Some(slot) = self.agents.get_mut(&place.agent) else {
            return;
        };
        let Some(told) = slot.agent.deliver(present, id, out) else {
            return;
        };
        for to in &place.tickets {
            out.reply(*to, Reply::Outcome(told.clone()));
        }
    }

    /// Settles each question: the first acknowledgement counts, later ones change nothing.
    fn ack(&mut self, now: Now, ticket: Ticket, cues: &[CueId], nonce: Option<&str>, out: &mut Outbox) {
        if let Some(failure) = cues.iter().find_map(|id| self.cannot_ack(*id)) {
            return out.refuse(ticket, failure);
        }
        let mut first = Vec::new();
        for &cue in cues {
            self.for_cue(now, ticket, cue, out, |agent, now, out| {
                if agent.settle(now, cue, nonce, out) {
                    first.push(cue);
                }
            });
        }
        out.reply(ticket, Reply::Acked(Acked { cue_ids: first }));
    }

    fn cannot_ack(&self, id: CueId) -> Option<Failure> {
        match self.cue(id) {
            Some(cue) => cue.cannot_ack(id),
            None => Some(unknown_cue(id)),
        }
    }

    /// Forgets a caller whose connection is gone. The question it waited for stays.
    fn leave(&mut self, now: Now, ticket: Ticket, out: &mut Outbox) {
        let Some(id) = self.waits.remove(&ticket) else {
            return;
        };
        let Some(place) = self.cues.get_mut(&id) else {
            return;
        };
        place.tickets.retain(|waiter| *waiter != ticket);
        let agent = place.agent.clone();
        self.run(now, &agent, out, |agent, now, out| agent.leave(now, id, out));
    }

    /// Handles all due timers, the earliest first.
    fn tick(&mut self, now: Now, out: &mut Outbox) {
        while self.timers.first().is_some_and(|(due, _)| *due <= now.steady) {
            let Some((_, id)) = self.timers.pop_first() else {
                return;
            };
            let Some(slot) = self.agents.get_mut(&id) else {
                continue;
            };
            slot.due = None;
            self.run(now, &id, out, |agent, now, out| agent.pass_time(now, out));
        }
    }

    pub(super) fn present(&self, now: Now) -> Present {
        Present {
            wall: now.wall,
            steady: now.steady,
            human_signs: self.human_signs,
        }
    }
}

/// Changes by other brokers.
impl Machine {
    /// Returns the questions of some agents that callers of this broker wait for.
    pub fn waited_for(&self, agents: &[AgentId]) -> Vec<CueId> {
        let cues = agents
            .iter()
            .filter_map(|agent| self.agent(agent))
            .flat_map(Agent::cues);
        cues.filter(|(_, cue)| cue.here > 0).map(|(id, _)| id).collect()
    }

    /// Replaces some agents by their loaded state; an agent that was not loaded is removed.
    ///
    /// Callers of this broker keep waiting; they get the outcomes decided meanwhile, or an error if their question is gone.
    pub fn replace(&mut self, now: Now, agents: &[AgentId], mut loaded: Self) -> Vec<Effect> {
        let mut out = Outbox::new();
        let mut gone = Vec::new();
        for id in agents {
            let old = self.agents.remove(id);
            if let Some(due) = old.as_ref().and_then(|slot| slot.due) {
                self.timers.remove(&(due, id.clone()));
            }
            let old = old.map(|slot| slot.agent);
            let fresh = loaded.agents.remove(id).map(|slot| slot.agent);
            let known = old.iter().flat_map(Agent::cues).map(|(cue, _)| cue);
            gone.extend(known.filter(|cue| fresh.as_ref().is_none_or(|fresh| fresh.cue(*cue).is_none())));
            let Some(mut agent) = fresh else { continue };
            for (cue, _) in agent.cues() {
                self.place(cue, id);
            }
            agent.take_over(old.as_ref(), &mut out);
            self.agents.insert(id.clone(), Slot { agent, due: None });
            self.visit(id);
            self.arm(id);
        }
        let mut released = std::mem::take(&mut out.released);
        self.human_signs += released.len() as u64;
        // The same changes always have the same effects.
        released.sort_unstable_by_key(|cue| self.cue(*cue).map(|cue| cue.ordinal));
        for cue in released {
            self.deliver(now, cue, &mut out);
        }
        gone.sort_unstable();
        for cue in gone {
            for ticket in self.cues.remove(&cue).into_iter().flat_map(|place| place.tickets) {
                self.waits.remove(&ticket);
                out.refuse(ticket, unknown_cue(cue));
            }
        }
        self.forget_settled();
        out.effects
    }
}

/// The indexes: the place of each question, its waiting callers, and the timers.
impl Machine {
    fn place(&mut self, cue: CueId, agent: &AgentId) {
        self.cues.entry(cue).or_insert_with(|| CueEntry {
            agent: agent.clone(),
            tickets: Vec::new(),
        });
    }

    fn wait(&mut self, ticket: Ticket, cue: CueId) {
        if let Some(place) = self.cues.get_mut(&cue) {
            place.tickets.push(ticket);
            self.waits.insert(ticket, cue);
        }
    }

    /// Notes that an agent has settled questions to forget, if it has.
    fn visit(&mut self, id: &AgentId) {
        let has_settled = |agent: &Agent| agent.cues().any(|(_, cue)| cue.state.is_settled());
        if self.agent(id).is_some_and(has_settled) {
            self.visited.push(id.clone());
        }
    }

    fn forget_settled(&mut self) {
        for agent in std::mem::take(&mut self.visited) {
            let Some(slot) = self.agents.get_mut(&agent) else {
                continue;
            };
            for cue in slot.agent.forget_settled() {
                self.cues.remove(&cue);
            }
        }
    }

    /// Sets the timer of an agent to its next due change.
    fn arm(&mut self, id: &AgentId) {
        let Some(slot) = self.agents.get_mut(id) else {
            return;
        };
        let due = slot.agent.next_due().map(|(due, _)| due);
        if due == slot.due {
            return;
        }
        if let Some(due) = std::mem::replace(&mut slot.due, due) {
            self.timers.remove(&(due, id.clone()));
        }
        if let Some(due) = due {
            self.timers.insert((due, id.clone()));
        }
    }
}
