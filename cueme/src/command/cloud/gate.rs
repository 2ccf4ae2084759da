//! The human side of a cloud run: its agent's way back to the broker, and the question at its end.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use adapter_core::cursor::cloud::{
    Callback, CallbackIssuer, GateFuture, HumanGate, HumanWord, RunRef, Secret,
};
use adapter_core::hap::{Answer, Confirmable, Human, HumanQuestion, without_tags};
use protocol_spec::endpoint::Places;
use protocol_spec::envelope::PROMPT_BYTES_MAX;
use protocol_spec::id::{AgentId, CueId, DriverId, RunId};
use protocol_spec::message::{CueView, History, MintBootstrap, Request, RunClaim, RunClaimed, Sending};
use protocol_spec::outcome::{Delivery, Origin, Outcome};
use protocol_spec::time::Timestamp;
use protocol_spec::truncate::head;
use serde_json::json;

use super::lead::LeadWatch;
use crate::client::{Receipt, call, expect_reply, list};
use crate::command::agent::BrokerHuman;
use crate::error::CliError;

/// The number of the agent's last questions that are checked.
const QUESTIONS_LOOKED_AT: u32 = 20;
/// The limit on the agent's last message that the human reads.
const LAST_WORD_BYTES_MAX: usize = PROMPT_BYTES_MAX / 4;

/// The answers of a human about a start that was not confirmed.
const START_AGAIN: &str = "Start it again";
const LEAVE: &str = "Do not start it again";

/// When the present turn began.
pub(super) type TurnStart = Arc<Mutex<Timestamp>>;

/// Gives each turn a one-time token of the broker.
#[derive(Debug)]
pub(super) struct BrokerCallbacks {
    pub(super) places: Places,
    pub(super) public_url: String,
    pub(super) agent_id: AgentId,
    pub(super) run_id: RunId,
    /// A token that was made already, for the first turn.
    pub(super) first: Mutex<Option<Secret>>,
}

/// Makes a one-time token.
pub(super) fn mint(places: &Places, agent_id: &AgentId, run_id: RunId) -> Result<Secret, CliError> {
    let request = Request::Bootstrap(MintBootstrap {
        agent_id: agent_id.clone(),
        run_id,
    });
    let made = expect_reply!(call(places, &request)?, Bootstrap)?;
    Ok(Secret::new(made.token))
}

impl CallbackIssuer for BrokerCallbacks {
    fn issue(&self) -> Result<Callback, String> {
        let first = lock(&self.first).take();
        // The broker answers in milliseconds, and this thread has nothing else to do meanwhile.
        let again = || tokio::task::block_in_place(|| mint(&self.places, &self.agent_id, self.run_id));
        let token = first.map_or_else(again, Ok).map_err(|error| error.to_string())?;
        Ok(Callback {
            public_url: self.public_url.clone(),
            bootstrap_token: token,
            agent_id: self.agent_id.to_string(),
            run_id: self.run_id.to_string(),
        })
    }
}

/// Sees to it that a human ends the run.
#[derive(Debug)]
pub(super) struct BrokerGate {
    pub(super) human: BrokerHuman,
    pub(super) run_id: RunId,
    pub(super) turn: TurnStart,
    /// Whether the first answer to the agent's last question ends the run.
    pub(super) once: bool,
    /// Tells which process speaks with the human.
    pub(super) lead: LeadWatch,
    /// The id of this process.
    pub(super) driver: DriverId,
    /// The questions that the word answers that the human said last.
    pub(super) heard: Mutex<Vec<CueId>>,
    /// The questions that the word answers that another process claimed last.
    pub(super) left: Mutex<Vec<CueId>>,
}

impl BrokerGate {
    /// Asks the broker for the right to send, or only what another process left.
    async fn ask_claim(&self, sending: Option<Sending>) -> Result<RunClaimed, String> {
        let places = self.human.places.clone();
        let request = Request::RunClaim(RunClaim {
            run_id: self.run_id,
            driver: self.driver,
            sending,
        });
        let claimed =
            tokio::task::spawn_blocking(move || expect_reply!(call(&places, &request)?, RunClaimed));
        match claimed.await {
            Ok(claimed) => claimed.map_err(|error: CliError| error.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }
}

impl HumanGate for BrokerGate {
    fn is_led_elsewhere(&self) -> bool {
        self.lead.is_anothers()
    }

    fn start_again<'a>(&'a self, problem: &'a str) -> GateFuture<'a, Result<bool, String>> {
        let mut human = self.human.clone();
        let question = HumanQuestion {
            prompt: format!(
                "Cursor did not confirm that your agent was started: {problem}\n\nStart it again?"
            ),
            payload: Some(json!({"type": "choice", "options": [START_AGAIN, LEAVE]}).to_string()),
            nonce: self.run_id.to_string(),
        };
        Box::pin(async move {
            let Confirmable { word, confirmation } =
                human.ask(question).await.map_err(|error| error.to_string())?;
            confirmation.give();
            Ok(matches!(word, Answer::Text(text) if text.trim() == START_AGAIN))
        })
    }

    fn claim<'a>(&'a self, position: &'a str) -> GateFuture<'a, Result<bool, String>> {
        let sending = Sending {
            cue_ids: lock(&self.heard).clone(),
            position: position.to_owned(),
        };
        Box::pin(async move { Ok(self.ask_claim(Some(sending)).await?.leads) })
    }

    fn left_by_another(&self) -> GateFuture<'_, Result<Option<String>, String>> {
        Box::pin(async move {
            let Some(left) = self.ask_claim(None).await?.left else {
                return Ok(None);
            };
            *lock(&self.left) = left.cue_ids;
            Ok(Some(left.position))
        })
    }

    fn confirm_left(&self) -> GateFuture<'_, Result<(), String>> {
        let (places, cue_ids) = (self.human.places.clone(), lock(&self.left).clone());
        Box::pin(async move {
            let confirmed = tokio::task::spawn_blocking(move || Receipt::of(cue_ids).give(&places));
            confirmed.await.map_err(|error| error.to_string())
        })
    }

    fn is_over<'a>(&'a self, _: &'a RunRef) -> GateFuture<'a, bool> {
        if self.lead.has_ended() {
            return Box::pin(std::future::ready(true));
        }
        let (human, since, once) = (self.human.clone(), start_of(&self.turn), self.once);
        Box::pin(async move {
            let looked = tokio::task::spawn_blocking(move || has_ended(&human, since, once)).await;
            // Without evidence of a cue the human is asked: once too often is better than never.
            matches!(looked, Ok(Ok(true)))
        })
    }

    fn cue<'a>(&'a self, last_word: &'a str) -> GateFuture<'a, Result<Confirmable<HumanWord>, String>> {
        let mut human = self.human.clone();
        let question = HumanQuestion {
            prompt: question(&without_tags(last_word)),
            payload: None,
            nonce: self.run_id.to_string(),
        };
        Box::pin(async move {
            let before = lock(&human.passed_on).clone();
            let heard = human.ask(question).await;
            let Confirmable { word, confirmation } =
                heard.map_err(|error| format!("{error}; by hand: `{}`", error.command))?;
            let now = lock(&human.passed_on).clone();
            *lock(&self.heard) = now.difference(&before).copied().collect();
            let word = match word {
                Answer::Text(text) => HumanWord::Continue(text),
                Answer::Done(words) => HumanWord::Done(words),
                Answer::Declined(_) | Answer::Cancelled => HumanWord::Done(None),
            };
            Ok(Confirmable { word, confirmation })
        })
    }
}

/// Returns when a turn began.
fn start_of(turn: &TurnStart) -> Timestamp {
    *lock(turn)
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says whether the human ended the run in this turn: by any answer that says so, by declining the newest question or,
/// where once is enough, by answering it.
fn has_ended(human: &BrokerHuman, since: Timestamp, once: bool) -> Result<bool, CliError> {
    let query = Request::History(History {
        agent: Some(human.agent_id.to_string()),
        limit: Some(QUESTIONS_LOOKED_AT),
        ..History::default()
    });
    let mut of_turn: Vec<CueView> = Vec::new();
    list(&human.places, &query, |reply| {
        let cue = expect_reply!(reply, Cue)?;
        if cue.origin == Origin::Agent && cue.asked_at >= since {
            of_turn.push(*cue);
        }
        Ok(())
    })?;
    let is_last_word = of_turn.first().is_some_and(|newest| match newest.outcome {
        Outcome::Declined => newest.delivery != Delivery::None,
        Outcome::Answered => once && newest.delivery != Delivery::None,
        Outcome::Open | Outcome::Cancelled | Outcome::Superseded => false,
    });
    Ok(is_last_word || of_turn.iter().any(CueView::ends_run))
}

fn question(last_word: &str) -> String {
    format!(
        "{}\n\n---\nThe agent in the cloud ended its turn. Say what it should do next, or end the run.",
        head(last_word, LAST_WORD_BYTES_MAX)
    )
}
