//! Cursor's own questions: `cursor/ask_question` and `cursor/create_plan`.

use protocol_spec::answer::{Answer, Reply};
use protocol_spec::message::DeliveredOutcome;
use protocol_spec::outcome::Outcome;
use serde_json::{Map, Value, json};

use super::calls::CALL_ID;
use super::question::AcpForm;
use crate::contract::AskQuestion;
use crate::hap::{forms_of, selections};

const PLAN: &str = r#"{"type":"confirm","confirm_label":"Accept the plan","cancel_label":"Reject it"}"#;
/// The members of a plan that are shown as text.
const PLAN_TEXTS: [&str; 3] = ["name", "overview", "plan"];

/// Questions with options.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Questions(AskQuestion);

impl Questions {
    /// Reads the request; `None` when it asks nothing.
    pub(super) fn read(params: &Value) -> Option<Self> {
        let asked: AskQuestion = serde_json::from_value(params.clone()).ok()?;
        (!asked.questions.is_empty()).then_some(Self(asked))
    }

    pub(super) fn forms(&self) -> Vec<AcpForm> {
        let forms = forms_of(std::slice::from_ref(&self.0)).into_iter();
        forms
            .map(|(prompt, payload)| AcpForm { prompt, payload })
            .collect()
    }

    pub(super) fn result(&self, told: &[DeliveredOutcome]) -> Value {
        let answers: Option<Vec<&Answer>> = told.iter().map(answer_of).collect();
        let Some(answers) = answers else {
            let refused = told.iter().find(|told| answer_of(told).is_none());
            return refused.map_or_else(cancelled, refusal);
        };
        let found = selections(std::slice::from_ref(&self.0), &answers);
        // The reply has no place for words, and options beside them would say something else than the human did.
        if found
            .iter()
            .any(|one| one.words.is_some() || one.options.is_empty())
        {
            let said: Vec<&str> = told.iter().map(|told| told.text.as_str()).collect();
            return skipped(&format!("the human answered in words: {}", said.join("\n")));
        }
        let answers: Vec<Value> = found
            .iter()
            .map(|one| json!({"questionId": one.question, "selectedOptionIds": one.options}))
            .collect();
        json!({"outcome": {"outcome": "answered", "answers": answers}})
    }
}

/// A plan that wants to be accepted.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan(Map<String, Value>);

impl Plan {
    pub(super) fn read(params: &Value) -> Option<Self> {
        let members = params.as_object()?;
        members.get("plan")?.as_str()?;
        Some(Self(members.clone()))
    }

    pub(super) fn form(&self) -> AcpForm {
        let text = |name: &&str| self.0.get(*name).and_then(Value::as_str);
        let texts: Vec<&str> = PLAN_TEXTS
            .iter()
            .filter_map(text)
            .filter(|text| !text.trim().is_empty())
            .collect();
        let mut prompt = format!("Accept this plan?\n\n{}", texts.join("\n\n"));
        let is_rest = |name: &str| name != CALL_ID && !PLAN_TEXTS.contains(&name);
        let rest: Map<String, Value> = self
            .0
            .iter()
            .filter(|(name, value)| is_rest(name) && !value.is_null())
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        if !rest.is_empty() {
            let shown = serde_json::to_string_pretty(&rest).unwrap_or_default();
            prompt.push_str(&format!("\n\n~~~~~~\n{shown}\n~~~~~~"));
        }
        AcpForm {
            prompt,
            payload: Some(PLAN.to_owned()),
        }
    }

    pub(super) fn result(told: &DeliveredOutcome) -> Value {
        match (
            told.outcome,
            answer_of(told).and_then(|answer| answer.reply.as_ref()),
        ) {
            (Outcome::Answered, Some(Reply::Confirm { confirmed: true })) => {
                json!({"outcome": {"outcome": "accepted"}})
            }
            (Outcome::Answered | Outcome::Declined, _) => {
                json!({"outcome": {"outcome": "rejected", "reason": told.text}})
            }
            _ => cancelled(),
        }
    }
}

fn answer_of(told: &DeliveredOutcome) -> Option<&Answer> {
    told.answer.as_ref().filter(|_| told.outcome == Outcome::Answered)
}

/// A decline is a refusal that the agent hears; a question that was closed is only over.
fn refusal(told: &DeliveredOutcome) -> Value {
    match told.outcome {
        Outcome::Declined => skipped(&format!("the human declined: {}", told.text)),
        _ => cancelled(),
    }
}

fn skipped(reason: &str) -> Value {
    json!({"outcome": {"outcome": "skipped", "reason": reason}})
}

pub(super) fn cancelled() -> Value {
    json!({"outcome": {"outcome": "cancelled"}})
}
