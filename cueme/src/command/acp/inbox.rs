//! Asks the agent's questions in the inbox as well as in the editor; without a broker, only the editor asks.

use std::collections::HashMap;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;
use protocol_spec::id::{AgentId, RuntimeTag};
use protocol_spec::message::{DeliveredOutcome, Join, Receipts, Request};
use protocol_spec::outcome::{Kind, Origin, Outcome};
use serde_json::value::RawValue;

use super::proxy::{About, InboxQuestion, InboxReply, Key};
use crate::client::{Missed, Question, Receipt, Signals, Switch, Taken, ask_or_withdraw, call, expect_reply};
use crate::command::agent::with_earlier;
use crate::command::terminal;
use crate::error::CliError;
use crate::output;

/// The runtime that an agent behind the proxy joins as.
const RUNTIME: &str = "acp";
/// The time for which only the editor has a question. An editor that answers by its own rules does so at once, and
/// disturbs no human.
const EDITOR_FIRST: Duration = Duration::from_millis(150);
/// The default reason for closing a question.
const EDITOR_GONE: &str = "the editor is gone";
/// The most agents whose ids are remembered.
const AGENTS_MAX: usize = 64;

/// The inbox of one connection.
#[derive(Debug)]
pub(super) struct Inbox {
    places: Places,
    /// Marks the questions that the agent asks by itself, with `cueme cue`.
    nonce: String,
    waits: Mutex<HashMap<Key, Wait>>,
    agents: Mutex<HashMap<String, AgentId>>,
    /// The number of questions that the agent has asked by itself.
    asked: Mutex<usize>,
}

/// Stops a wait.
#[derive(Debug)]
struct Wait {
    switch: Switch,
    stop: mpsc::Sender<()>,
    reason: Option<&'static str>,
}

/// The words of the human, and the acknowledgement that the agent has them.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) reply: InboxReply,
    receipts: Vec<Receipt>,
}

impl Inbox {
    pub(super) fn new(places: Places, nonce: String) -> Self {
        Self {
            places,
            nonce,
            waits: Mutex::default(),
            agents: Mutex::default(),
            asked: Mutex::default(),
        }
    }

    /// Prepares to ask, so that a withdrawal from now on is noticed; returns what does the asking.
    pub(super) fn prepare(&self, key: &Key) -> Option<Asking> {
        let (signals, switch) = Signals::by_switch()
            .inspect_err(|error| warn(&format!("could not prepare a question: {error}")))
            .ok()?;
        let (stop, stopped) = mpsc::channel();
        let wait = Wait {
            switch,
            stop,
            reason: None,
        };
        lock(&self.waits).insert(key.clone(), wait);
        Some(Asking { signals, stopped })
    }

    /// Asks and waits; `None` when the question was withdrawn, or no human could be asked.
    pub(super) fn ask(&self, key: &Key, asked: &InboxQuestion, asking: &Asking) -> Option<Answered> {
        let answered = self.try_ask(key, asked, asking);
        lock(&self.waits).remove(key);
        match answered {
            Ok(answered) => answered,
            Err(error) => {
                warn(&format!("{error}; the question is in the editor alone"));
                None
            }
        }
    }

    /// Withdraws a question that was decided elsewhere.
    pub(super) fn withdraw(&self, key: &Key, reason: &'static str) {
        if let Some(wait) = lock(&self.waits).get_mut(key) {
            wait.reason = Some(reason);
            // The wait may have ended already.
            let _ = wait.stop.send(());
            wait.switch.stop();
        }
    }

    /// Waits until no question is left, but not for long.
    pub(super) fn settle(&self, wait_max: Duration) {
        let end = Instant::now() + wait_max;
        while !lock(&self.waits).is_empty() && Instant::now() < end {
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Tells the broker that the agent has the answer.
    pub(super) fn confirm(&self, answered: Answered) {
        for receipt in answered.receipts {
            receipt.give(&self.places);
        }
    }

    fn try_ask(
        &self,
        key: &Key,
        asked: &InboxQuestion,
        asking: &Asking,
    ) -> Result<Option<Answered>, CliError> {
        match asking.stopped.recv_timeout(EDITOR_FIRST) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return Ok(None),
        }
        match &asked.about {
            About::Question(question) => {
                let (mut outcomes, mut receipts) = (Vec::new(), Vec::new());
                for form in question.forms() {
                    let call = self.question(asked, form.prompt, form.payload)?;
                    let Some((one, receipt, _)) = self.take(key, call, question.origin(), asking)? else {
                        return Ok(None);
                    };
                    receipts.push(receipt);
                    let is_last = one.outcome != Outcome::Answered;
                    outcomes.push(one);
                    if is_last {
                        break;
                    }
                }
                Ok(Some(Answered {
                    reply: InboxReply::Outcomes(outcomes),
                    receipts,
                }))
            }
            About::TurnEnd(words) => {
                if self.has_asked()? {
                    return Ok(Some(Answered {
                        reply: InboxReply::Nothing,
                        receipts: Vec::new(),
                    }));
                }
                let question = self.question(asked, turn_end_prompt(words), None)?;
                let Some((outcome, receipt, missed)) = self.take(key, question, Origin::Hook, asking)? else {
                    return Ok(None);
                };
                let mut receipts = vec![receipt];
                let reply = if outcome.outcome == Outcome::Answered {
                    receipts.extend(missed.receipts);
                    InboxReply::Next(with_earlier(&missed.earlier, &outcome.text))
                } else {
                    InboxReply::Nothing
                };
                Ok(Some(Answered { reply, receipts }))
            }
        }
    }

    /// Asks one question; `None` when it was withdrawn.
    fn take(
        &self,
        key: &Key,
        question: Question,
        origin: Origin,
        asking: &Asking,
    ) -> Result<Option<(DeliveredOutcome, Receipt, Missed)>, CliError> {
        let reason = || {
            lock(&self.waits)
                .get(key)
                .and_then(|wait| wait.reason)
                .unwrap_or(EDITOR_GONE)
        };
        match ask_or_withdraw(&self.places, question, origin, &asking.signals, reason)? {
            Taken::Outcome {
                told,
                receipt,
                missed,
            } => Ok(Some((*told, receipt, missed))),
            Taken::Stopped(_) => Ok(None),
        }
    }

    fn question(
        &self,
        asked: &InboxQuestion,
        prompt: String,
        payload: Option<String>,
    ) -> Result<Question, CliError> {
        let payload = payload
            .map(RawValue::from_string)
            .transpose()
            .map_err(|error| CliError::usage(format!("the payload is not JSON: {error}")))?;
        Ok(Question {
            agent_id: self.agent(asked)?,
            kind: Kind::Cue,
            prompt,
            payload,
        })
    }

    /// Returns the agent of a session; each session is one.
    fn agent(&self, asked: &InboxQuestion) -> Result<AgentId, CliError> {
        let mut agents = lock(&self.agents);
        if let Some(agent) = agents.get(&asked.session) {
            return Ok(agent.clone());
        }
        let folder = match &asked.folder {
            Some(folder) => folder.clone(),
            None => std::env::current_dir().map_err(|error| {
                CliError::new(Exit::Io, format!("there is no working directory: {error}"))
            })?,
        };
        let runtime: RuntimeTag = RUNTIME.parse()?;
        let join = Join {
            runtime,
            project_dir: folder.to_string_lossy().into_owned(),
            terminal: terminal::family().to_owned(),
            session: (!asked.session.is_empty()).then(|| asked.session.clone()),
        };
        let agent = expect_reply!(call(&self.places, &Request::Join(join))?, Joined)?.agent_id;
        if agents.len() < AGENTS_MAX {
            agents.insert(asked.session.clone(), agent.clone());
        }
        Ok(agent)
    }

    /// Tells whether the agent asked the human by itself since the last turn ended.
    fn has_asked(&self) -> Result<bool, CliError> {
        let request = Request::Receipts(Receipts {
            nonce: self.nonce.clone(),
        });
        let count = expect_reply!(call(&self.places, &request)?, Receipts)?
            .receipts
            .len();
        let mut asked = lock(&self.asked);
        let has_more = count > *asked;
        *asked = count;
        Ok(has_more)
    }
}

/// A wait that can be stopped.
#[derive(Debug)]
pub(super) struct Asking {
    signals: Signals,
    stopped: mpsc::Receiver<()>,
}

fn turn_end_prompt(words: &str) -> String {
    let words = words.trim();
    let words = if words.is_empty() {
        "(the agent said nothing)"
    } else {
        words
    };
    format!("{words}\n\n[the agent ended its turn in the editor: say what it should do next]")
}

pub(super) fn warn(words: &str) {
    output::tell(&format!("cueme acp: {words}"));
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
