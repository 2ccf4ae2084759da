//! Precedents: a human's answer to a similar question in the same project. Pure.
//!
//! A precedent is only ever offered. It counts if a human answered in sight of the question; automatic and queued
//! answers do not count, nor do answers with a secret.

use std::collections::HashSet;

use protocol_spec::answer::Answer;
use protocol_spec::message::CueView;
use protocol_spec::outcome::{Origin, Outcome};
use protocol_spec::payload::{Payload, Shape};
use protocol_spec::truncate;

use crate::store::POLICY_PREFIX;

/// The most past questions of a project that are compared.
pub(crate) const COMPARED_MAX: u32 = 100;
/// The part of a question that is compared, in bytes.
const COMPARED_BYTES_MAX: usize = 16 * 1024;
/// The least share of common words of two similar questions.
const SHARED_MIN: f64 = 0.6;

/// A question to compare others with.
#[derive(Debug)]
pub(crate) struct Sought {
    origin: Origin,
    kind: protocol_spec::outcome::Kind,
    shape: Option<Shape>,
    words: HashSet<String>,
}

impl Sought {
    /// Prepares a question for comparison; `None` when no earlier answer may be offered.
    pub(crate) fn new(cue: &CueView) -> Option<Self> {
        if cue.origin == Origin::Approval || cue.damaged {
            return None;
        }
        let shape = shape_of(cue).ok()?;
        if shape.as_ref().is_some_and(has_secret) {
            return None;
        }
        let words = words(&text_of(cue, shape.as_ref()));
        (!words.is_empty()).then_some(Self {
            origin: cue.origin,
            kind: cue.kind,
            shape,
            words,
        })
    }

    /// Returns the similarity of a past question, from 0.6 to 1; `None` when it is no precedent.
    pub(crate) fn resemblance(&self, past: &CueView) -> Option<f64> {
        if past.origin != self.origin || past.kind != self.kind || usable(past).is_none() {
            return None;
        }
        let shape = shape_of(past).ok()?;
        if !is_same_shape(self.shape.as_ref(), shape.as_ref()) {
            return None;
        }
        let others = words(&text_of(past, shape.as_ref()));
        let shared = self.words.intersection(&others).count();
        let all = self.words.len() + others.len() - shared;
        #[allow(clippy::cast_precision_loss, reason = "these are counts of words")]
        let part = shared as f64 / all.max(1) as f64;
        (part >= SHARED_MIN).then_some(part)
    }
}

/// Returns the answer of a past question, if a human gave it in sight of the question, and it can be given again.
pub(crate) fn usable(past: &CueView) -> Option<Answer> {
    let is_automatic = past.from_queue || past.by.as_deref().is_some_and(|by| by.starts_with(POLICY_PREFIX));
    // An answer that can still be taken back is not settled.
    if past.outcome != Outcome::Answered || is_automatic || past.damaged || past.released_at.is_some() {
        return None;
    }
    let answer = past.answer.clone()?;
    if !answer.attachments.is_empty() || (answer.text.is_none() && answer.reply.is_none()) {
        return None;
    }
    Some(Answer {
        ends_run: false,
        ..answer
    })
}

fn shape_of(cue: &CueView) -> Result<Option<Shape>, ()> {
    match cue.payload.as_deref() {
        None => Ok(None),
        Some(payload) => Payload::parse(payload.get())
            .map(|payload| Some(payload.shape().clone()))
            .map_err(|_| ()),
    }
}

fn has_secret(shape: &Shape) -> bool {
    match shape {
        Shape::Form(form) => form.fields.iter().any(|field| field.kind.name() == "password"),
        Shape::Choice(_) | Shape::Confirm(_) => false,
    }
}

/// Says whether an answer to one fits the other: the same options, buttons or fields.
fn is_same_shape(one: Option<&Shape>, other: Option<&Shape>) -> bool {
    match (one, other) {
        (None, None) => true,
        (Some(Shape::Choice(one)), Some(Shape::Choice(other))) => {
            let set = |options: &'_ [String]| options.iter().cloned().collect::<HashSet<String>>();
            one.allow_multiple == other.allow_multiple && set(&one.options) == set(&other.options)
        }
        (Some(Shape::Confirm(one)), Some(Shape::Confirm(other))) => {
            (&one.confirm_label, &one.cancel_label) == (&other.confirm_label, &other.cancel_label)
        }
        (Some(Shape::Form(one)), Some(Shape::Form(other))) => one == other,
        _ => false,
    }
}

fn text_of(cue: &CueView, shape: Option<&Shape>) -> String {
    let mut text = truncate::head(&cue.prompt, COMPARED_BYTES_MAX).to_owned();
    if let Some(Shape::Confirm(confirm)) = shape {
        text.push(' ');
        text.push_str(confirm.text.as_deref().unwrap_or_default());
    }
    text
}

/// Splits a text into words; of scripts without spaces, into pairs of characters.
fn words(text: &str) -> HashSet<String> {
    let mut words = HashSet::new();
    for run in text.split(|letter: char| !letter.is_alphanumeric()) {
        let mut spaced = String::new();
        let mut unspaced: Vec<char> = Vec::new();
        for letter in run.chars().chain([' ']) {
            if is_unspaced(letter) {
                unspaced.push(letter);
                continue;
            }
            if unspaced.len() == 1 {
                words.extend(unspaced.iter().map(char::to_string));
            }
            words.extend(unspaced.windows(2).map(|pair| pair.iter().collect()));
            if !unspaced.is_empty() || letter == ' ' {
                words.extend((!spaced.is_empty()).then(|| std::mem::take(&mut spaced)));
            }
            unspaced.clear();
            spaced.extend(letter.to_lowercase().filter(|letter| *letter != ' '));
        }
    }
    words
}

/// Says whether a script writes its words without spaces: everything from the East Asian blocks on.
fn is_unspaced(letter: char) -> bool {
    letter >= '\u{2e80}'
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn cue(prompt: &str, payload: Option<Value>, more: Value) -> CueView {
        let mut value = json!({
            "cue_id": "0123456789ab", "seq": 1, "agent_id": "bako-nefi", "agent_runtime": "cursor",
            "project_dir": "/p", "kind": "cue", "origin": "agent", "prompt": prompt, "payload": payload, "outcome": "answered",
            "delivery": "acknowledged", "asked_at": "2026-11-18T10:00:00Z", "waiting": 0, "by": "me", "text": "A",
            "answer": { "text": "A" },
        });
        for (key, one) in more.as_object().unwrap() {
            value[key] = one.clone();
        }
        serde_json::from_value(value).unwrap()
    }

    fn resembles(asked: &CueView, past: &CueView) -> bool {
        Sought::new(asked).is_some_and(|sought| sought.resemblance(past).is_some())
    }

    #[test]
    fn a_question_resembles_one_that_shares_most_of_its_words() {
        let asked = cue(
            "Node 20 leaves support in April. Move CI to Node 22 now?",
            None,
            json!({}),
        );
        let like = cue(
            "Node 18 leaves support in April. Move CI to Node 20 now?",
            None,
            json!({}),
        );
        assert!(resembles(&asked, &like));
        for other in [
            "Move it?",
            "Which database?",
            "Delete the CI of Node 20 in April?",
        ] {
            assert!(!resembles(&asked, &cue(other, None, json!({}))), "{other}");
        }
        let chinese = cue("用户画像模块已重构完，先合并还是先补测试？", None, json!({}));
        assert!(resembles(
            &chinese,
            &cue("用户画像模块已重构，先合并还是先补测试？", None, json!({}))
        ));
        assert!(!resembles(
            &chinese,
            &cue("数据库迁移要不要先备份？", None, json!({}))
        ));
    }

    #[test]
    fn only_what_a_human_answered_with_the_same_options_counts() {
        let options = |options: &[&str]| Some(json!({ "type": "choice", "options": options }));
        let asked = cue("Which one?", options(&["A", "B"]), json!({}));
        assert!(resembles(
            &asked,
            &cue("Which one?", options(&["B", "A"]), json!({}))
        ));
        assert!(!resembles(
            &asked,
            &cue("Which one?", options(&["A", "C"]), json!({}))
        ));
        assert!(!resembles(&asked, &cue("Which one?", None, json!({}))));
        for more in [
            json!({ "by": "policy: pick" }),
            json!({ "from_queue": true }),
            json!({ "outcome": "declined" }),
            json!({ "released_at": "2026-11-18T10:00:05Z" }),
            json!({ "origin": "hook" }),
            json!({ "answer": { "text": "A", "attachments": [{ "path": "/a" }] } }),
            json!({ "answer": null }),
        ] {
            assert!(
                !resembles(&asked, &cue("Which one?", options(&["A", "B"]), more.clone())),
                "{more}"
            );
        }
    }

    #[test]
    fn approvals_and_secrets_have_no_precedent() {
        let approval = cue("Run make?", None, json!({ "origin": "approval" }));
        assert!(!resembles(&approval, &approval));
        let form = Some(json!({ "type": "form", "fields": [{ "label": "Key", "kind": "password" }] }));
        let secret = cue("Which key?", form, json!({}));
        assert!(!resembles(&secret, &secret));
    }

    #[test]
    fn an_answer_that_ended_a_run_ends_no_other() {
        let past = cue(
            "Done?",
            None,
            json!({ "answer": { "text": "yes", "ends_run": true } }),
        );
        assert!(!usable(&past).unwrap().ends_run);
    }
}
