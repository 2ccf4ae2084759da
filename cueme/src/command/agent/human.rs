//! Reaches the human through the broker, for the agent that is driven here.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use adapter_core::hap::{
    Answer, Confirmation, Heard, Human, HumanError, HumanQuestion, Receipt, ReceiptOutcome, ends_conversation,
};
use protocol_spec::endpoint::Places;
use protocol_spec::id::{AgentId, CueId};
use protocol_spec::message::{Nothing, Receipts, Request, Told};
use protocol_spec::outcome::{Kind, Origin, Outcome};
use protocol_spec::time::Timestamp;
use serde_json::value::RawValue;

use crate::client::{self, Missed, Question, Taken, ask_and_take, attach_and_take};
use crate::client::{call, expect_reply, list, mint};
use crate::error::CliError;

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
    /// and come along with whatever is asked meanwhile.
    pub(in crate::command) passed_on: Arc<Mutex<BTreeSet<CueId>>>,
}

impl Human for BrokerHuman {
    async fn ask(&mut self, question: HumanQuestion) -> Result<Heard<Answer>, HumanError> {
        let human = self.clone();
        self.on_thread(move || human.ask_blocking(question)).await
    }

    async fn receipts(&mut self, nonce: &str) -> Result<Vec<Receipt>, HumanError> {
        let (places, nonce) = (self.places.clone(), nonce.to_owned());
        self.on_thread(move || receipts(&places, &nonce)).await
    }
}

impl BrokerHuman {
    /// Asks and waits.
    pub(super) fn consult(
        &self,
        prompt: String,
        payload: Option<String>,
        origin: Origin,
        nonce: Option<String>,
    ) -> Result<Taken, CliError> {
        let payload = payload
            .map(RawValue::from_string)
            .transpose()
            .map_err(|error| CliError::usage(format!("the payload is not JSON: {error}")))?;
        let question = Question {
            agent_id: self.agent_id.clone(),
            kind: Kind::Cue,
            prompt,
            payload,
        };
        ask_and_take(&self.places, question.encode_as(mint(), origin, nonce)?)
    }

    /// Returns the question that the agent opened in this conversation and nobody has decided.
    fn left_open(&self) -> Result<Option<CueId>, CliError> {
        let mut found = None;
        list(&self.places, &Request::Inbox(Nothing {}), |reply| {
            let cue = expect_reply!(reply, Cue)?;
            let is_ours = cue.agent_id == self.agent_id && cue.origin == Origin::Agent;
            if is_ours && cue.outcome == Outcome::Open && cue.asked_at >= self.since {
                found = Some(cue.cue_id);
            }
            Ok(())
        })?;
        Ok(found)
    }

    fn ask_blocking(&self, question: HumanQuestion) -> Result<Heard<Answer>, CliError> {
        let HumanQuestion {
            prompt,
            payload,
            nonce,
        } = question;
        // An agent that asked and did not wait has its question before the human already; they are not asked twice.
        let (taken, is_agents) = match self.left_open()? {
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
        if told.outcome == Outcome::Answered && !ends_conversation(&told.text) {
            return Ok(self.pass_on(*told, receipt, missed));
        }
        // The conversation ends here, and what the agent has missed stays undelivered. So does a word about a question
        // of its own, which the agent has not heard.
        let receipt = (!is_agents).then_some(receipt);
        Ok(Heard {
            word: last_word(*told),
            confirmation: self.confirmation(receipt.into_iter().collect()),
        })
    }

    /// Returns the answer for the agent's next turn, with what it has not heard of earlier questions above it.
    fn pass_on(&self, told: Told, receipt: client::Receipt, missed: Missed) -> Heard<Answer> {
        let Missed {
            mut earlier,
            mut receipts,
        } = missed;
        let mut passed_on = self.passed_on.lock().unwrap_or_else(PoisonError::into_inner);
        earlier.retain(|told| !passed_on.contains(&told.cue_id));
        passed_on.extend(earlier.iter().map(|told| told.cue_id));
        passed_on.insert(told.cue_id);
        receipts.push(receipt);
        Heard {
            word: Answer::Text(with_earlier(&earlier, &told.text)),
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

    /// Runs a call that blocks where it holds nobody up.
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
        Err(HumanError {
            reason,
            command: format!("cueme cue {} -", self.agent_id),
        })
    }
}

fn receipts(places: &Places, nonce: &str) -> Result<Vec<Receipt>, CliError> {
    let request = Request::Receipts(Receipts {
        nonce: nonce.to_owned(),
    });
    let list = expect_reply!(call(places, &request)?, Receipts)?;
    let receipt = |receipt: protocol_spec::message::Receipt| Receipt {
        nonce: nonce.to_owned(),
        outcome: outcome_of(receipt.outcome),
        // The broker lists what was acknowledged and nothing else.
        acknowledged: true,
    };
    Ok(list.receipts.into_iter().map(receipt).collect())
}

fn outcome_of(outcome: Outcome) -> ReceiptOutcome {
    match outcome {
        Outcome::Open | Outcome::Superseded => ReceiptOutcome::Open,
        Outcome::Answered => ReceiptOutcome::Answered,
        Outcome::Declined => ReceiptOutcome::Declined,
        Outcome::Cancelled => ReceiptOutcome::Cancelled,
    }
}

/// Returns the word that ends a conversation.
fn last_word(told: Told) -> Answer {
    match told.outcome {
        Outcome::Answered => Answer::Text(told.text),
        Outcome::Declined => Answer::Declined(told.text),
        Outcome::Cancelled | Outcome::Open | Outcome::Superseded => Answer::Cancelled,
    }
}

/// Writes what became of earlier questions above an answer.
fn with_earlier(earlier: &[Told], answer: &str) -> String {
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

    fn told(outcome: Outcome, text: &str) -> Told {
        Told {
            cue_id: CueId::from_random(1),
            kind: Kind::Cue,
            outcome,
            text: text.into(),
            reminder: None,
            answer: None,
            decided_at: Timestamp::from_millis(0),
            by: None,
            question: "Which database?".into(),
            repeat_of: None,
        }
    }

    #[test]
    fn the_last_word_is_taken_over_as_it_was_written() {
        let stopped = last_word(told(Outcome::Answered, "stop"));
        assert_eq!(stopped, Answer::Text("stop".into()));
        let declined = last_word(told(Outcome::Declined, "not now"));
        assert_eq!(declined, Answer::Declined("not now".into()));
        assert_eq!(last_word(told(Outcome::Cancelled, "")), Answer::Cancelled);
    }

    #[test]
    fn an_answer_that_was_passed_on_is_not_said_again_while_it_waits_for_its_turn() {
        let root = std::path::PathBuf::from("/nowhere");
        let human = BrokerHuman {
            places: Places {
                data_dir: root.clone(),
                socket_dir: root.clone(),
                config: root.clone(),
                log_dir: root,
            },
            agent_id: "bako-nefi".parse().unwrap(),
            since: Timestamp::from_millis(0),
            interrupted: Arc::default(),
            passed_on: Arc::default(),
        };
        let answered = |number, text: &str| Told {
            cue_id: CueId::from_random(number),
            ..told(Outcome::Answered, text)
        };
        let receipt = || client::Receipt::of(Vec::new());
        let first = human.pass_on(answered(1, "A"), receipt(), Missed::default());
        assert_eq!(first.word, Answer::Text("A".into()));
        let missed = Missed {
            earlier: vec![answered(1, "A"), answered(2, "SQLite")],
            receipts: vec![receipt()],
        };
        let Answer::Text(second) = human.pass_on(answered(3, "B"), receipt(), missed).word else {
            panic!("not a text")
        };
        assert!(second.contains("SQLite") && second.ends_with("\n\nB"), "{second}");
        assert!(!second.contains("\nA\n"), "{second}");
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
