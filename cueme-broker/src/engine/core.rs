//! Machine and store together, without threads or channels: orders in, what may be said out.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use protocol_spec::id::{AgentId, CueId};
use protocol_spec::message::{ErrorCode, EventKind, EventView, Failure, Joined, Reply, Said};
use protocol_spec::outcome::Kind;

use super::order::{Closing, Order, PastQuestion, Work, content_key};
use super::past;
use crate::machine::{Ask, Collect, Decide, Effect, Import, Input, Join, Machine, Now, Say, Ticket, Verdict};
use crate::store::{Ballast, Store, StoreError, Synchronous};

/// A source of random bits, passed in so that a simulation can be repeated.
pub type Random = Box<dyn FnMut() -> u64 + Send>;

/// What may be said now that it is on disk.
#[derive(Debug, Default)]
pub struct Spoken {
    /// Replies, in order.
    pub replies: Vec<(Ticket, Box<Reply>)>,
    /// Events, in order.
    pub events: Vec<EventView>,
    /// What went wrong with the storage, if anything did.
    pub failed: Option<String>,
}

/// Machine and store together.
pub struct Core {
    machine: Machine,
    store: Option<Store>,
    path: PathBuf,
    synchronous: Synchronous,
    random: Random,
    reminder: Option<Arc<str>>,
    /// Who waited when the storage failed, for as long as it fails.
    stranded: Vec<(Ticket, CueId)>,
    /// Whether something was written that is not indexed yet.
    is_behind: bool,
    /// Whether the store's log may still hold secrets that were erased from the database.
    has_erased: bool,
    /// Whether the last attempt to index failed.
    is_stumbling: bool,
    /// The space that is given up when there is no other.
    ballast: Ballast,
    /// Whether it is given up: what there is left is for answers.
    is_full: bool,
}

impl Core {
    /// Opens the store and loads the machine.
    pub fn open(
        path: PathBuf,
        synchronous: Synchronous,
        was_clean: bool,
        now: Now,
        random: Random,
    ) -> Result<Self, StoreError> {
        let store = Store::open(&path, synchronous, was_clean)?;
        let machine = store.load(now)?;
        let ballast = Ballast::of(&path);
        let is_full = !ballast.lay() && ballast.fits();
        if is_full {
            tracing::warn!("there is too little space to keep some for answers");
        }
        Ok(Self {
            machine,
            store: Some(store),
            ballast,
            is_full,
            is_stumbling: false,
            path,
            synchronous,
            random,
            reminder: None,
            stranded: Vec::new(),
            is_behind: true,
            // The last broker may have died before its log was emptied.
            has_erased: true,
        })
    }

    /// Sets the reminder that goes below each answer from now on.
    pub fn set_reminder(&mut self, reminder: Option<Arc<str>>) {
        self.reminder = reminder;
    }

    /// Returns the machine, to look at.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Returns the store, unless it is failing.
    pub fn store(&self) -> Option<&Store> {
        self.store.as_ref()
    }

    /// Says whether there is something to do when nothing else is.
    pub fn is_behind(&self) -> bool {
        self.is_behind || self.has_erased
    }

    /// Says whether that did not work the last time, so that it is not worth trying at once.
    pub fn is_stumbling(&self) -> bool {
        self.is_stumbling || self.is_full || self.store.is_none()
    }

    /// Carries out orders in one transaction, and returns what may be said.
    ///
    /// When that fails, each order is tried alone, so that one that cannot be written does not take others with it.
    pub fn carry_out(&mut self, now: Now, orders: &[Order]) -> Spoken {
        match self.attempt(now, orders) {
            Ok(spoken) => spoken,
            Err(error) => {
                tracing::error!(%error, orders = orders.len(), "a transaction failed and was undone");
                let has_made_room = error.is_full() && self.make_room();
                self.recover(now, orders);
                if has_made_room {
                    match self.attempt(now, orders) {
                        Ok(spoken) => return spoken,
                        Err(_) => self.recover(now, orders),
                    }
                }
                self.one_by_one(now, orders, &error)
            }
        }
    }

    /// Gives up the ballast, if there is one.
    fn make_room(&mut self) -> bool {
        self.is_full = self.ballast.fits();
        let has_made_room = self.ballast.give_up();
        if has_made_room {
            tracing::error!(
                "the disk is full; the space kept for answers is used, new questions are refused"
            );
        }
        has_made_room
    }

    /// Keeps space for answers again, once there is enough; returns whether there is.
    fn regain_room(&mut self) -> bool {
        if !self.is_full || !self.ballast.lay() {
            return !self.is_full;
        }
        self.is_full = false;
        if let Some(Err(error)) = self.store.as_ref().map(|store| store.be_frugal(false)) {
            tracing::warn!(%error, "the log of the database stays small");
        }
        tracing::info!("there is space again");
        true
    }

    /// Says whether an order would take space that is kept for answers.
    fn takes_space(&self, order: &Order) -> bool {
        match &order.work {
            Work::Join { .. }
            | Work::Bind { .. }
            | Work::Say { .. }
            | Work::EditQueue { .. }
            | Work::Amend { .. }
            | Work::Import { .. } => true,
            Work::Ask { agent, content, .. } => {
                !self.machine.knows_request(order.request) && !self.machine.has_live(agent, *content)
            }
            Work::Attach(_)
            | Work::Ack { .. }
            | Work::Rest(_)
            | Work::Answer { .. }
            | Work::Decline { .. }
            | Work::Cancel { .. }
            | Work::Close { .. }
            | Work::Undo(_)
            | Work::Collect { .. }
            | Work::Gone
            | Work::HumanSeen
            | Work::Tick => false,
        }
    }

    /// Indexes some of what was written, in a transaction of its own; returns whether there is more to do.
    pub fn index_some(&mut self) -> bool {
        if !self.regain_room() {
            return false;
        }
        self.forget_erased();
        let Some(store) = &self.store else { return false };
        let indexed = store
            .begin()
            .and_then(|()| store.index_some())
            .and_then(|more| store.commit().map(|()| more));
        match indexed {
            Ok(more) => {
                self.is_behind = more;
                self.is_stumbling = false;
            }
            Err(error) => {
                // Nothing depends on the index but search; it catches up when the storage recovers.
                if !std::mem::replace(&mut self.is_stumbling, true) {
                    tracing::warn!(%error, "indexing failed; it is tried again now and then");
                }
                store.roll_back();
                return false;
            }
        }
        self.is_behind
    }

    /// Writes what the rules do not concern, in a transaction of its own; when it fails nothing was changed.
    pub fn write<T>(
        &mut self,
        now: Now,
        write: impl FnOnce(&Store) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.reopen_if_failing(now)?;
        let store = self.opened()?;
        let written = store
            .begin()
            .and_then(|()| write(store))
            .and_then(|done| store.commit().map(|()| done));
        if let Err(error) = &written {
            tracing::error!(%error, "a transaction failed and was undone");
            if error.is_full() {
                self.make_room();
            }
            self.recover(now, &[]);
        }
        written
    }

    fn attempt(&mut self, now: Now, orders: &[Order]) -> Result<Spoken, StoreError> {
        self.reopen_if_failing(now)?;
        let mut spoken = Spoken::default();
        if !self.regain_room() {
            spoken.failed = Some(self.no_space().to_string());
        }
        let mut has_begun = false;
        for order in orders {
            if self.is_full && self.takes_space(order) {
                let failure = storage_failure(&self.no_space());
                spoken
                    .replies
                    .push((order.ticket, Box::new(Reply::Error(failure))));
                continue;
            }
            let Some(input) = self.prepare(now, order, &mut spoken)? else {
                continue;
            };
            for effect in self.machine.handle(now, input) {
                self.has_erased |= effect.erases();
                self.perform(now, effect, &mut spoken, &mut has_begun)?;
            }
        }
        if has_begun {
            self.opened()?.commit()?;
            self.is_behind = true;
            self.forget_erased();
        }
        Ok(spoken)
    }

    /// Empties the store's log when it may hold a secret that was erased; a reader in the way delays it.
    fn forget_erased(&mut self) {
        if !self.has_erased {
            return;
        }
        match self.store.as_ref().map(Store::empty_log) {
            Some(Ok(is_empty)) => self.has_erased = !is_empty,
            // Tried again whenever the engine is idle, so not worth a line each time.
            Some(Err(error)) => tracing::debug!(%error, "the log could not be emptied"),
            None => {}
        }
    }

    /// Performs one effect: writes now, and keeps what is to be said for after the commit.
    fn perform(
        &self,
        now: Now,
        effect: Effect,
        spoken: &mut Spoken,
        has_begun: &mut bool,
    ) -> Result<(), StoreError> {
        let store = self.opened()?;
        let mut begin = || -> Result<(), StoreError> {
            if !*has_begun {
                store.begin()?;
                *has_begun = true;
            }
            Ok(())
        };
        match effect {
            Effect::Store(change) => {
                begin()?;
                store.apply(now.wall, &change)?;
            }
            Effect::Log { what, agent, cue } => {
                begin()?;
                let id = store.log(now.wall, what, &agent, cue)?;
                spoken.events.push(EventView {
                    id: Some(id),
                    at: now.wall,
                    what,
                    agent_id: agent,
                    cue_id: cue,
                });
            }
            Effect::Presence { agent, cue, waiting } => {
                let what = if waiting > 0 {
                    EventKind::Waiting
                } else {
                    EventKind::Detached
                };
                let event = EventView {
                    id: None,
                    at: now.wall,
                    what,
                    agent_id: agent,
                    cue_id: Some(cue),
                };
                spoken.events.push(event);
            }
            Effect::Reply { to, reply } => spoken.replies.push((to, reply)),
        }
        Ok(())
    }

    /// Turns an order into an input: draws ids, checks answers, and reminds the machine of what it forgot.
    fn prepare(&mut self, now: Now, order: &Order, spoken: &mut Spoken) -> Result<Option<Input>, StoreError> {
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
                    spoken.replies.push((ticket, Box::new(reply)));
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
            } => {
                if !self.machine.knows_request(request)
                    && let Some(known) = self.opened()?.cue_of_request(now, request)?
                {
                    self.machine.remember(now, known.id, known.cue);
                }
                Input::Ask(Ask {
                    ticket,
                    request,
                    cue: self.fresh_cue_id(),
                    agent: agent.clone(),
                    kind: *kind,
                    prompt: Arc::clone(prompt),
                    payload: payload.clone(),
                    content: *content,
                    origin: *origin,
                })
            }
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
                let checked = self
                    .opened()?
                    .with_question(*cue, |question| answer.clone().check(question))?;
                let verdict = match checked {
                    None => return Ok(refuse(spoken, ticket, unknown(*cue))),
                    Some(Err(error)) => {
                        let failure =
                            Failure::new(ErrorCode::InvalidAnswer, error.to_string()).with_hint(error.hint());
                        return Ok(refuse(spoken, ticket, failure));
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
            Work::Decline { cue, reason, by } => self.decide(
                order,
                *cue,
                Verdict::Decline {
                    reason: reason.clone(),
                },
                by.as_ref(),
                0,
            ),
            Work::Cancel { cue, reason, by } => self.decide(
                order,
                *cue,
                Verdict::Cancel {
                    reason: reason.clone(),
                },
                by.as_ref(),
                0,
            ),
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
            Work::Say { agent, .. } if self.opened()?.agent_of_message(request)?.is_some() => {
                let of = self.opened()?.agent_of_message(request)?;
                return Ok(self.said_before(agent, of.as_ref() == Some(agent), ticket, spoken));
            }
            Work::Say { agent, text, by } => Input::Say(Say {
                ticket,
                request,
                agent: agent.clone(),
                text: text.clone(),
                by: by.clone(),
            }),
            Work::Collect { agent, close } => {
                if !self.machine.knows_request(request)
                    && let Some(known) = self.opened()?.cue_of_request(now, request)?
                {
                    self.machine.remember(now, known.id, known.cue);
                }
                Input::Collect(Collect {
                    ticket,
                    request,
                    cue: self.fresh_cue_id(),
                    content: content_key(Kind::Cue, &request.to_string(), None),
                    agent: agent.clone(),
                    close: close.clone(),
                })
            }
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

    /// Adds questions of another program to an import, with what the store knows of each.
    fn settle_past(&mut self, mut import: Import, cues: &[PastQuestion]) -> Result<Import, StoreError> {
        for question in cues {
            let fresh = self.fresh_cue_id();
            match past::settle(question, fresh) {
                Ok(past) => {
                    let known = self.opened()?.past_cue(past.request)?;
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
        spoken: &mut Spoken,
    ) -> Option<Input> {
        if !is_same {
            let failure = Failure::new(
                ErrorCode::BadRequest,
                "this request id belongs to another message",
            )
            .with_hint("mint a new request id (UUIDv7) for each message");
            return refuse(spoken, ticket, failure);
        }
        let queued = self.machine.agent(agent).map_or(0, |agent| agent.messages.len());
        let said = Said {
            agent_id: agent.clone(),
            queued: u32::try_from(queued).unwrap_or(u32::MAX),
            open_cue: None,
        };
        spoken.replies.push((ticket, Box::new(Reply::Said(said))));
        None
    }

    fn remind_of(&mut self, now: Now, cue: CueId) -> Result<(), StoreError> {
        if !self.machine.knows(cue)
            && let Some(known) = self.opened()?.cue(now, cue)?
        {
            self.machine.remember(now, known.id, known.cue);
        }
        Ok(())
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
        // Sixty random bits: the store's unique index makes the one accident in an eternity an error, not a mix-up.
        CueId::from_random((self.random)())
    }

    fn no_space(&self) -> StoreError {
        StoreError::NoSpace {
            path: self.path.clone(),
        }
    }

    fn opened(&self) -> Result<&Store, StoreError> {
        self.store.as_ref().ok_or_else(|| StoreError::Damaged {
            path: self.path.clone(),
            what: "it could not be opened again after a failure".into(),
        })
    }

    fn reopen_if_failing(&mut self, now: Now) -> Result<(), StoreError> {
        if self.store.is_some() {
            return Ok(());
        }
        let store = Store::open(&self.path, self.synchronous, false)?;
        if self.is_full {
            store.be_frugal(true)?;
        }
        self.machine = store.load(now)?;
        self.store = Some(store);
        for (ticket, cue) in std::mem::take(&mut self.stranded) {
            self.machine.restore_waiter(ticket, cue);
        }
        tracing::info!("the storage works again");
        Ok(())
    }

    /// Goes back to what is on disk, with everyone who waited before still waiting.
    fn recover(&mut self, now: Now, orders: &[Order]) {
        let newcomers: HashSet<Ticket> = orders.iter().map(|order| order.ticket).collect();
        if self.store.is_some() {
            self.stranded = self
                .machine
                .waiters()
                .filter(|(ticket, _)| !newcomers.contains(ticket))
                .collect();
        }
        // After a failed write or sync nothing about the old connection can be trusted.
        self.store = None;
        if let Err(error) = self.reopen_if_failing(now) {
            tracing::error!(%error, "the storage cannot be opened again; trying with each request");
        }
    }

    fn one_by_one(&mut self, now: Now, orders: &[Order], error: &StoreError) -> Spoken {
        let mut spoken = Spoken {
            failed: Some(error.to_string()),
            ..Spoken::default()
        };
        if let [order] = orders {
            spoken
                .replies
                .push((order.ticket, Box::new(Reply::Error(storage_failure(error)))));
            return spoken;
        }
        for order in orders {
            let one = std::slice::from_ref(order);
            let mut done = match self.attempt(now, one) {
                Ok(done) => done,
                Err(error) => {
                    self.recover(now, one);
                    self.one_by_one(now, one, &error)
                }
            };
            spoken.replies.append(&mut done.replies);
            spoken.events.append(&mut done.events);
        }
        spoken
    }
}

impl Work {
    /// Returns the one question this work is about, if it is about one.
    fn cue(&self) -> Option<CueId> {
        match self {
            Self::Attach(cue) | Self::Rest(cue) | Self::Undo(cue) => Some(*cue),
            Self::Answer { cue, .. }
            | Self::Decline { cue, .. }
            | Self::Cancel { cue, .. }
            | Self::Close { cue, .. } => Some(*cue),
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

fn refuse(spoken: &mut Spoken, ticket: Ticket, failure: Failure) -> Option<Input> {
    spoken.replies.push((ticket, Box::new(Reply::Error(failure))));
    None
}

fn unknown(cue: CueId) -> Failure {
    Failure::new(ErrorCode::UnknownCue, format!("there is no question {cue}"))
        .with_hint("`cueme inbox` lists the open questions, `cueme history` the others")
}

/// Tells a caller that nothing was changed.
pub(crate) fn storage_failure(error: &StoreError) -> Failure {
    let failure = Failure::new(ErrorCode::Storage, error.to_string());
    match error.hint() {
        Some(hint) => failure.with_hint(hint),
        None => failure,
    }
}

impl std::fmt::Debug for Core {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Core")
            .field("path", &self.path)
            .field("machine", &self.machine)
            .finish_non_exhaustive()
    }
}
