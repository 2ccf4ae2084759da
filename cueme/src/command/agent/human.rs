//! Reaches the human through the broker, for the agent that is driven here.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use adapter_core::hap::{Answer, Human, HumanError, HumanQuestion, Receipt, ReceiptOutcome};
use protocol_spec::endpoint::Places;
use protocol_spec::id::{AgentId, CueId};
use protocol_spec::message::{Nothing, Receipts, Request, Told};
use protocol_spec::outcome::{Kind, Origin, Outcome};
use protocol_spec::time::Timestamp;
use serde_json::value::RawValue;

use crate::client::{Question, Taken, ask_and_take, attach_and_take, call, expect_reply, list, mint};
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
}

impl Human for BrokerHuman {
    async fn ask(&mut self, question: HumanQuestion) -> Result<Answer, HumanError> {
        let human = self.clone();
        self.on_thread(move || human.ask_blocking(question)).await
    }

    async fn receipts(&mut self, nonce: &str) -> Result<Vec<Receipt>, HumanError> {
        let (places, nonce) = (self.places.clone(), nonce.to_owned());
        self.on_thread(move || receipts(&places, &nonce)).await
    }
}

impl BrokerHuman {
    /// Asks and waits; returns `None` when the wait was interrupted.
    pub(super) fn consult(
        &self,
        prompt: String,
        payload: Option<String>,
        origin: Origin,
        nonce: Option<String>,
    ) -> Result<Option<(Vec<Told>, Told)>, CliError> {
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
        let taken = ask_and_take(&self.places, question.encode_as(mint(), origin, nonce)?)?;
        Ok(decided(taken))
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

    fn ask_blocking(&self, question: HumanQuestion) -> Result<Answer, CliError> {
        let HumanQuestion {
            prompt,
            payload,
            nonce,
        } = question;
        // An agent that asked and did not wait has its question before the human already; they are not asked twice.
        let taken = match self.left_open()? {
            Some(cue) if payload.is_none() => decided(attach_and_take(&self.places, cue, Some(nonce))?),
            _ => self.consult(prompt, payload, Origin::Adapter, Some(nonce))?,
        };
        match taken {
            Some((earlier, told)) => Ok(answer_of(&earlier, told)),
            None => {
                self.interrupted.store(true, Ordering::SeqCst);
                Err(CliError::usage("interrupted; the question stays open"))
            }
        }
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

fn decided(taken: Taken) -> Option<(Vec<Told>, Told)> {
    match taken {
        Taken::Outcome { earlier, told } => Some((earlier, *told)),
        Taken::Stopped => None,
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

/// Puts what the human said into words for the agent, with what it has not heard of earlier questions above it.
fn answer_of(earlier: &[Told], told: Told) -> Answer {
    match told.outcome {
        Outcome::Declined => Answer::Declined(told.text),
        Outcome::Answered if earlier.is_empty() => Answer::Text(told.text),
        Outcome::Answered => {
            let mut text = String::new();
            for told in earlier {
                text.push_str(&format!(
                    "[outcome of your earlier question \"{}\"]\n{}\n\n",
                    told.question, told.text
                ));
            }
            text.push_str(&told.text);
            Answer::Text(text)
        }
        Outcome::Cancelled | Outcome::Open | Outcome::Superseded => Answer::Cancelled,
    }
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
    fn an_answer_is_taken_over_as_it_was_written() {
        let answer = answer_of(&[], told(Outcome::Answered, "stop"));
        assert_eq!(answer, Answer::Text("stop".into()));
        let declined = answer_of(&[], told(Outcome::Declined, "not now"));
        assert_eq!(declined, Answer::Declined("not now".into()));
        assert_eq!(answer_of(&[], told(Outcome::Cancelled, "")), Answer::Cancelled);
    }

    #[test]
    fn what_was_decided_earlier_stands_above_the_answer() {
        let earlier = [told(Outcome::Answered, "SQLite")];
        let Answer::Text(text) = answer_of(&earlier, told(Outcome::Answered, "go on")) else {
            panic!("not a text")
        };
        assert_eq!(
            text,
            "[outcome of your earlier question \"Which database?\"]\nSQLite\n\ngo on"
        );
    }
}
