//! Reaches the human through the broker, for the agent that is driven here.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use adapter_core::acp::{AcpForm, AcpHuman, AcpQuestion, Answering};
use adapter_core::hap::{
    Answer, Confirmable, Confirmation, Human, HumanError, HumanQuestion, Receipt, ReceiptOutcome,
};
use protocol_spec::endpoint::Places;
use protocol_spec::id::{AgentId, CueId};
use protocol_spec::message::{CueView, DeliveredOutcome, History, Receipts, Request};
use protocol_spec::outcome::{Delivery, Kind, Origin, Outcome};
use protocol_spec::time::Timestamp;
use serde_json::value::RawValue;

use crate::client::{
    self, Missed, Question, Signals, Switch, Taken, ask_and_take, ask_or_withdraw, attach_and_take,
};
use crate::client::{call, expect_reply, list, mint};
use crate::display::now;
use crate::error::CliError;
use adapter_core::process::HumanTime;

/// Why a question inside of a turn is closed with the turn.
const TURN_OVER: &str = "the agent's turn is over";
/// The number of the agent's last questions that are checked.
const QUESTIONS_LOOKED_AT: u32 = 50;

/// The human behind the broker.
#[derive(Debug, Clone)]
pub(in crate::command) struct BrokerHuman {
    pub(in crate::command) places: Places,
    pub(in crate::command) agent_id: AgentId,
    /// When the conversation began.
    pub(in crate::command) since: Timestamp,
    /// Set when a signal ended a wait.
    pub(in crate::command) interrupted: Arc<AtomicBool>,
    /// The questions whose answers were given to this conversation. Until its next turn has begun they are undelivered,
    /// and come along with every question asked meanwhile.
    pub(in crate::command) passed_on: Arc<Mutex<BTreeSet<CueId>>>,
    /// Set when an answer ended the run.
    pub(in crate::command) ended: Arc<AtomicBool>,
    /// The nonce of the turn that runs now.
    pub(in crate::command) turn: Arc<Mutex<Option<String>>>,
}

impl Human for BrokerHuman {
    async fn ask(&mut self, question: HumanQuestion) -> Result<Confirmable<Answer>, HumanError> {
        let human = self.clone();
        self.on_thread(move || human.ask_blocking(question)).await
    }

    async fn receipts(&mut self, nonce: &str) -> Result<Vec<Receipt>, HumanError> {
        let (human, nonce) = (self.clone(), nonce.to_owned());
        self.on_thread(move || human.receipts_blocking(&nonce)).await
    }

    fn has_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }
}

impl AcpHuman for BrokerHuman {
    fn ask<'a>(&'a self, question: &'a AcpQuestion) -> Answering<'a> {
        let (human, forms, origin) = (self.clone(), question.forms(), question.origin());
        Box::pin(async move {
            let (signals, switch) = Signals::catch_with_switch().map_err(|error| self.unreachable(&error))?;
            // A turn that is over hears no answer: its question is closed with it.
            let _stop = StopOnDrop(switch);
            self.on_thread(move || human.ask_forms(forms, origin, &signals))
                .await
        })
    }
}

/// Stops a wait whose caller has gone.
struct StopOnDrop(Switch);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl HumanTime for BrokerHuman {
    fn waited(&self, since: SystemTime) -> Pin<Box<dyn Future<Output = Duration> + Send + '_>> {
        let since = since.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let since = Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX));
        let human = self.clone();
        Box::pin(async move {
            // A broker that cannot be asked lets the deadline stand.
            let waited = self.on_thread(move || human.open_time(since)).await;
            waited.unwrap_or_default()
        })
    }
}

impl BrokerHuman {
    /// Describes the human of a conversation that begins now.
    pub(in crate::command) fn new(places: Places, agent_id: AgentId) -> Self {
        Self {
            places,
            agent_id,
            since: now(),
            interrupted: Arc::default(),
            passed_on: Arc::default(),
            ended: Arc::default(),
            turn: Arc::default(),
        }
    }

    /// Asks and waits.
    pub(super) fn consult(
        &self,
        prompt: String,
        payload: Option<String>,
        origin: Origin,
        nonce: Option<String>,
    ) -> Result<Taken, CliError> {
        self.take(self.question(prompt, payload)?, origin, nonce)
    }

    fn question(&self, prompt: String, payload: Option<String>) -> Result<Question, CliError> {
        let payload = payload
            .map(RawValue::from_string)
            .transpose()
            .map_err(|error| CliError::usage(format!("the payload is not JSON: {error}")))?;
        Ok(Question {
            agent_id: self.agent_id.clone(),
            kind: Kind::Cue,
            prompt,
            payload,
        })
    }

    /// Asks one form after the other, until one is not answered. Outcomes that the agent has missed have no place in
    /// its reply and stay undelivered.
    fn ask_forms(
        &self,
        forms: Vec<AcpForm>,
        origin: Origin,
        signals: &Signals,
    ) -> Result<Confirmable<Vec<DeliveredOutcome>>, CliError> {
        let (mut all, mut receipts) = (Vec::new(), Vec::new());
        for AcpForm { prompt, payload } in forms {
            let question = self.question(prompt, payload)?;
            let taken = ask_or_withdraw(&self.places, question, origin, signals, || TURN_OVER)?;
            match self.noting_end(taken) {
                Taken::Outcome { told, receipt, .. } => {
                    receipts.push(receipt);
                    let goes_on = AcpQuestion::goes_on(&told);
                    all.push(*told);
                    if !goes_on {
                        break;
                    }
                }
                Taken::Stopped(_) => return Err(CliError::usage(TURN_OVER)),
            }
        }
        Ok(Confirmable {
            word: all,
            confirmation: self.confirmation(receipts),
        })
    }

    /// Asks what the agent asks by a tool that we run, and returns what it reads.
    pub(super) fn answer_agent(&self, question: Question) -> Result<Confirmable<String>, CliError> {
        match self.take(question, Origin::Agent, self.turn())? {
            Taken::Outcome {
                told,
                receipt,
                missed,
            } => {
                let reminder = told.reminder.clone();
                let Confirmable { word, confirmation } = self.pass_on(*told, receipt, missed);
                let word = reminder.map_or_else(|| word.clone(), |reminder| format!("{word}\n\n{reminder}"));
                Ok(Confirmable { word, confirmation })
            }
            Taken::Stopped(_) => {
                self.interrupted.store(true, Ordering::SeqCst);
                Err(CliError::usage("interrupted; the question stays open"))
            }
        }
    }

    /// Returns the nonce of the turn that runs now.
    pub(super) fn turn(&self) -> Option<String> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn take(&self, question: Question, origin: Origin, nonce: Option<String>) -> Result<Taken, CliError> {
        let taken = ask_and_take(&self.places, question.encode_as(mint(), origin, nonce)?)?;
        Ok(self.noting_end(taken))
    }

    /// Notes that the human ended the run, if they did.
    fn noting_end(&self, taken: Taken) -> Taken {
        if matches!(&taken, Taken::Outcome { told, .. } if told.ends_run()) {
            self.ended.store(true, Ordering::SeqCst);
        }
        taken
    }

    /// Returns what was acknowledged in a turn, and last of all that a question is still unheard, if one is.
    fn receipts_blocking(&self, nonce: &str) -> Result<Vec<Receipt>, CliError> {
        let request = Request::Receipts(Receipts {
            nonce: nonce.to_owned(),
        });
        let list = expect_reply!(call(&self.places, &request)?, Receipts)?;
        let receipt = |outcome, acknowledged, ends_run| Receipt {
            nonce: nonce.to_owned(),
            outcome,
            acknowledged,
            ends_run,
        };
        // The broker lists what was acknowledged and nothing else.
        let heard = list
            .receipts
            .iter()
            .map(|heard| receipt(outcome_of(heard.outcome), true, heard.ends_run));
        let unheard = self
            .unheard()?
            .map(|_| receipt(ReceiptOutcome::Open, false, false));
        Ok(heard.chain(unheard).collect())
    }

    /// Returns how much of the time since then a question of the agent was open, up to now.
    fn open_time(&self, since: Timestamp) -> Result<Duration, CliError> {
        let now = now();
        let mut spans = Vec::new();
        self.newest_questions(|cue| {
            let is_of_turn = cue.asked_at >= since || cue.waiting > 0 || cue.decided_at.is_some();
            let end = cue.released_at.or(cue.decided_at).unwrap_or(now);
            if is_of_turn && end > since {
                spans.push((cue.asked_at.max(since), end.min(now)));
            }
        })?;
        Ok(Duration::from_millis(covered(spans)))
    }

    /// Shows the newest questions of the agent, newest first.
    fn newest_questions(&self, mut each: impl FnMut(&CueView)) -> Result<(), CliError> {
        let query = Request::History(History {
            agent: Some(self.agent_id.to_string()),
            limit: Some(QUESTIONS_LOOKED_AT),
            ..History::default()
        });
        list(&self.places, &query, |reply| {
            each(&*expect_reply!(reply, Cue)?);
            Ok(())
        })?;
        Ok(())
    }

    /// Returns the newest question that the agent asked in this conversation and whose outcome it has not heard: nobody
    /// has decided it, or the answer came when the agent listened no more.
    fn unheard(&self) -> Result<Option<CueId>, CliError> {
        let passed_on = self.passed_on.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = None;
        self.newest_questions(|cue| {
            let is_ours = cue.origin == Origin::Agent && cue.asked_at >= self.since;
            let is_unheard = cue.delivery != Delivery::Acknowledged
                && matches!(cue.outcome, Outcome::Open | Outcome::Answered | Outcome::Declined);
            if found.is_none() && is_ours && is_unheard && !passed_on.contains(&cue.cue_id) {
                found = Some(cue.cue_id);
            }
        })?;
        Ok(found)
    }

    fn ask_blocking(&self, question: HumanQuestion) -> Result<Confirmable<Answer>, CliError> {
        let HumanQuestion {
            prompt,
            payload,
            nonce,
        } = question;
        // An agent that asked and did not wait has its question before the human already; they are not asked twice.
        let (taken, is_agents) = match self.unheard()? {
            Some(cue) if payload.is_none() => (attach_and_take(&self.places, cue, Some(nonce))?, true),
            _ => (
                self.consult(prompt, payload, Origin::Adapter, Some(nonce))?,
                false,
            ),
        };
        let Taken::Outcome {
            told,
            receipt,
            missed,
        } = taken
        else {
            self.interrupted.store(true, Ordering::SeqCst);
            return Err(CliError::usage("interrupted; the question stays open"));
        };
        let ends_run = told.ends_run();
        let has_words = told
            .answer
            .as_ref()
            .is_none_or(protocol_spec::answer::Answer::has_words);
        if told.outcome == Outcome::Answered && has_words {
            let Confirmable { word, confirmation } = self.pass_on(*told, receipt, missed);
            let word = if ends_run {
                Answer::Done(Some(word))
            } else {
                Answer::Text(word)
            };
            return Ok(Confirmable { word, confirmation });
        }
        // The conversation ends here, and what the agent has missed stays undelivered. So does a refusal of a question of
        // its own, which the agent has not heard. The bare end of a run is a word to us.
        let receipt = (!is_agents || ends_run).then_some(receipt);
        Ok(Confirmable {
            word: last_word(*told),
            confirmation: self.confirmation(receipt.into_iter().collect()),
        })
    }

    /// Returns the answer for the agent's next turn, with what it has not heard of earlier questions above it.
    fn pass_on(
        &self,
        told: DeliveredOutcome,
        receipt: client::Receipt,
        missed: Missed,
    ) -> Confirmable<String> {
        let Missed {
            mut earlier,
            mut receipts,
        } = missed;
        let mut passed_on = self.passed_on.lock().unwrap_or_else(PoisonError::into_inner);
        earlier.retain(|told| !passed_on.contains(&told.cue_id));
        passed_on.extend(earlier.iter().map(|told| told.cue_id));
        passed_on.insert(told.cue_id);
        receipts.push(receipt);
        Confirmable {
            word: with_earlier(&earlier, &told.text),
            confirmation: self.confirmation(receipts),
        }
    }

    fn confirmation(&self, receipts: Vec<client::Receipt>) -> Confirmation {
        let places = self.places.clone();
        // The broker is told before the agent can ask again; it answers in milliseconds.
        Confirmation::by(move || {
            tokio::task::block_in_place(|| {
                receipts.into_iter().for_each(|receipt| receipt.give(&places));
            });
        })
    }

    /// Runs a blocking call on a thread where it blocks nothing else.
    async fn on_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, CliError> + Send + 'static,
    ) -> Result<T, HumanError> {
        let done = tokio::task::spawn_blocking(work).await;
        let reason = match done {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        };
        Err(self.unreachable(&reason))
    }

    fn unreachable(&self, reason: &dyn std::fmt::Display) -> HumanError {
        HumanError {
            reason: reason.to_string(),
            command: format!("cueme cue {} -", self.agent_id),
        }
    }
}

fn outcome_of(outcome: Outcome) -> ReceiptOutcome {
    match outcome {
        Outcome::Open | Outcome::Superseded => ReceiptOutcome::Open,
        Outcome::Answered => ReceiptOutcome::Answered,
        Outcome::Declined => ReceiptOutcome::Declined,
        Outcome::Cancelled => ReceiptOutcome::Cancelled,
    }
}

/// Returns how many milliseconds lie in at least one of the spans.
fn covered(mut spans: Vec<(Timestamp, Timestamp)>) -> u64 {
    spans.sort();
    let mut sum = 0;
    let mut until = Timestamp::from_millis(0);
    for (from, to) in spans {
        sum += to.millis_since(from.max(until));
        until = until.max(to);
    }
    sum
}

/// Returns the word that ends a conversation.
fn last_word(told: DeliveredOutcome) -> Answer {
    match told.outcome {
        Outcome::Answered => Answer::Done(None),
        Outcome::Declined => Answer::Declined(told.text),
        Outcome::Cancelled | Outcome::Open | Outcome::Superseded => Answer::Cancelled,
    }
}

/// Writes the outcomes of earlier questions above an answer.
pub(in crate::command) fn with_earlier(earlier: &[DeliveredOutcome], answer: &str) -> String {
    let mut text = String::new();
    for told in earlier {
        text.push_str(&format!(
            "[outcome of your earlier question \"{}\"]\n{}\n\n",
            told.question, told.text
        ));
    }
    text.push_str(answer);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(outcome: Outcome, text: &str) -> DeliveredOutcome {
        DeliveredOutcome {
            cue_id: CueId::from_random(1),
            kind: Kind::Cue,
            outcome,
            text: text.into(),
            reminder: None,
            answer: None,
            ends_run: false,
            decided_at: Timestamp::from_millis(0),
            by: None,
            question: "Which database?".into(),
            repeat_of: None,
        }
    }

    #[test]
    fn the_last_word_is_taken_over_as_it_was_written() {
        let stopped = last_word(told(Outcome::Answered, "[the human ends the run]"));
        assert_eq!(stopped, Answer::Done(None));
        let declined = last_word(told(Outcome::Declined, "not now"));
        assert_eq!(declined, Answer::Declined("not now".into()));
        assert_eq!(last_word(told(Outcome::Cancelled, "")), Answer::Cancelled);
    }

    #[test]
    fn an_answer_that_was_passed_on_is_not_said_again_while_it_waits_for_its_turn() {
        let places = Places::below(std::path::Path::new("/nowhere"));
        let human = BrokerHuman::new(places, "bako-nefi".parse().unwrap());
        let answered = |number, text: &str| DeliveredOutcome {
            cue_id: CueId::from_random(number),
            ..told(Outcome::Answered, text)
        };
        let receipt = || client::Receipt::of(Vec::new());
        let first = human.pass_on(answered(1, "A"), receipt(), Missed::default());
        assert_eq!(first.word, "A");
        let missed = Missed {
            earlier: vec![answered(1, "A"), answered(2, "SQLite")],
            receipts: vec![receipt()],
        };
        let second = human.pass_on(answered(3, "B"), receipt(), missed).word;
        assert!(second.contains("SQLite") && second.ends_with("\n\nB"), "{second}");
        assert!(!second.contains("\nA\n"), "{second}");
    }

    #[test]
    fn time_in_which_several_questions_are_open_counts_once() {
        let span = |from, to| (Timestamp::from_millis(from), Timestamp::from_millis(to));
        assert_eq!(
            covered(vec![span(50, 60), span(10, 30), span(20, 40), span(25, 28)]),
            40
        );
        assert_eq!(covered(Vec::new()), 0);
    }

    #[test]
    fn what_was_decided_earlier_stands_above_the_answer() {
        assert_eq!(with_earlier(&[], "go on"), "go on");
        let earlier = [told(Outcome::Answered, "SQLite")];
        assert_eq!(
            with_earlier(&earlier, "go on"),
            "[outcome of your earlier question \"Which database?\"]\nSQLite\n\ngo on"
        );
    }
}
