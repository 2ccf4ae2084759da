//! A question for a human, made of a request that an agent sends to its client, and the reply made of the answer.

use std::path::Path;

use protocol_spec::message::DeliveredOutcome;
use protocol_spec::outcome::{Origin, Outcome};
use serde_json::Value;

use super::calls::ToolCalls;
use super::cursor::{Plan, Questions, cancelled};
use super::elicitation::Elicitation;
use super::permission::Permission;

/// The form that a human reads and answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcpForm {
    /// The question.
    pub prompt: String,
    /// Its payload as JSON text.
    pub payload: Option<String>,
}

/// A request that only a human can answer.
#[derive(Debug, Clone, PartialEq)]
pub struct AcpQuestion(Kind);

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Permission(Permission),
    Questions(Questions),
    Plan(Plan),
    Elicitation(Elicitation),
}

impl AcpQuestion {
    /// Reads a request; `None` when it is none of those, is malformed, or is too large to be shown whole.
    pub fn read(method: &str, params: &Value, calls: &ToolCalls, folder: Option<&Path>) -> Option<Self> {
        let kind = match method {
            "session/request_permission" => Kind::Permission(Permission::read(params, calls, folder)?),
            "cursor/ask_question" => Kind::Questions(Questions::read(params)?),
            "cursor/create_plan" => Kind::Plan(Plan::read(params)?),
            "elicitation/create" => Kind::Elicitation(Elicitation::read(params)?),
            _ => return None,
        };
        Some(Self(kind))
    }

    /// Returns what the human is asked, one after the other.
    pub fn forms(&self) -> Vec<AcpForm> {
        match &self.0 {
            Kind::Permission(permission) => vec![permission.form()],
            Kind::Questions(questions) => questions.forms(),
            Kind::Plan(plan) => vec![plan.form()],
            Kind::Elicitation(elicitation) => vec![elicitation.form()],
        }
    }

    /// Returns where the question comes from.
    pub fn origin(&self) -> Origin {
        match &self.0 {
            Kind::Permission(_) => Origin::Approval,
            Kind::Questions(_) | Kind::Plan(_) | Kind::Elicitation(_) => Origin::Agent,
        }
    }

    /// Returns the command that would run, where this asks whether one may.
    pub fn command(&self) -> Option<&str> {
        match &self.0 {
            Kind::Permission(permission) => permission.command(),
            _ => None,
        }
    }

    /// Returns the result that allows a tool to run once; `None` where this is no permission.
    pub fn allow_once(&self) -> Option<Value> {
        match &self.0 {
            Kind::Permission(permission) => permission.allow_once(),
            _ => None,
        }
    }

    /// Returns the result of the request, from the outcome of each form.
    ///
    /// A permission counts only for the input that was shown: a call that has changed meanwhile is refused.
    pub fn result(&self, told: &[DeliveredOutcome], calls: &ToolCalls) -> Value {
        let Some(last) = told.last() else {
            return self.closed();
        };
        match &self.0 {
            Kind::Permission(permission) if !permission.is_unchanged(calls) => {
                permission.refusal("the call has changed since the human was asked")
            }
            Kind::Permission(permission) => permission.result(last),
            Kind::Questions(questions) => questions.result(told),
            Kind::Plan(_) => Plan::result(last),
            Kind::Elicitation(elicitation) => elicitation.result(last),
        }
    }

    /// Returns the result when no human could be asked.
    pub fn closed(&self) -> Value {
        match &self.0 {
            Kind::Permission(permission) => permission.refusal(""),
            Kind::Questions(_) | Kind::Plan(_) => cancelled(),
            Kind::Elicitation(_) => serde_json::json!({"action": "cancel"}),
        }
    }

    /// Tells whether the next form is still worth asking.
    pub fn goes_on(told: &DeliveredOutcome) -> bool {
        told.outcome == Outcome::Answered
    }
}

#[cfg(test)]
mod tests {
    use protocol_spec::answer::{Answer, FieldAnswer, Reply};
    use protocol_spec::id::CueId;
    use protocol_spec::outcome;
    use protocol_spec::payload::Payload;
    use protocol_spec::time::Timestamp;
    use serde_json::json;

    use super::*;

    fn told(outcome: Outcome, text: &str, answer: Option<Answer>) -> DeliveredOutcome {
        DeliveredOutcome {
            cue_id: CueId::from_random(1),
            kind: outcome::Kind::Cue,
            outcome,
            text: text.into(),
            reminder: None,
            ends_run: false,
            answer,
            decided_at: Timestamp::from_millis(0),
            by: None,
            question: String::new(),
            repeat_of: None,
        }
    }

    fn answered(reply: Reply) -> DeliveredOutcome {
        let answer = Answer {
            reply: Some(reply),
            ..Answer::default()
        };
        told(Outcome::Answered, "x", Some(answer))
    }

    fn confirm(confirmed: bool) -> DeliveredOutcome {
        answered(Reply::Confirm { confirmed })
    }

    fn said(text: &str) -> DeliveredOutcome {
        let answer = Answer {
            text: Some(text.into()),
            ..Answer::default()
        };
        told(Outcome::Answered, text, Some(answer))
    }

    fn choice(label: &str) -> DeliveredOutcome {
        answered(Reply::Choice {
            selected: vec![label.into()],
            other: None,
        })
    }

    fn read(method: &str, params: &Value) -> AcpQuestion {
        let question = AcpQuestion::read(method, params, &ToolCalls::default(), None).unwrap();
        for form in question.forms() {
            if let Some(payload) = form.payload {
                Payload::parse(&payload).unwrap();
            }
        }
        question
    }

    fn result(question: &AcpQuestion, told: DeliveredOutcome) -> Value {
        question.result(&[told], &ToolCalls::default())
    }

    fn permission(kinds: &[&str]) -> Value {
        let options: Vec<Value> = kinds
            .iter()
            .map(|kind| json!({"optionId": format!("o-{kind}"), "name": "Yes", "kind": kind}))
            .collect();
        json!({"sessionId": "s", "options": options, "toolCall": {
            "toolCallId": "c", "title": "Run a command", "kind": "execute",
            "rawInput": {"command": "rm -rf build", "timeout": 7},
            "_meta": {"secret_flag": true}, "future": ["member"]}})
    }

    fn picked(result: &Value) -> &str {
        result["outcome"]["optionId"].as_str().unwrap_or("cancelled")
    }

    #[test]
    fn a_call_counts_as_a_command_only_where_it_does_nothing_else() {
        let command = |call: Value| {
            let params = json!({"toolCall": call, "options": [{"optionId": "y", "name": "Allow", "kind": "allow_once"}]});
            let question =
                AcpQuestion::read("session/request_permission", &params, &ToolCalls::default(), None);
            question.unwrap().command().map(str::to_owned)
        };
        let input = json!({"command": "cueme join cursor", "description": "joins", "timeout": 7});
        let call = json!({"toolCallId": "c", "kind": "execute", "rawInput": input});
        assert_eq!(command(call.clone()).as_deref(), Some("cueme join cursor"));
        for (place, value) in [
            ("/kind", json!("edit")),
            ("/kind", json!(null)),
            ("/rawInput/env", json!({"PATH": "/tmp"})),
            ("/rawInput/args", json!(["--now"])),
            ("/rawInput/content", json!("written to a file")),
            ("/rawInput/cwd", json!({"then": "rm"})),
            ("/content", json!([{"type": "diff", "path": "a", "newText": "b"}])),
        ] {
            let mut call = call.clone();
            let (parent, name) = place.rsplit_once('/').unwrap();
            let parent = call.pointer_mut(parent).unwrap().as_object_mut().unwrap();
            parent.insert(name.to_owned(), value);
            assert_eq!(command(call), None, "{place}");
        }
    }

    #[test]
    fn a_permission_shows_everything_that_the_agent_said_of_the_call() {
        let question = read(
            "session/request_permission",
            &permission(&["allow_once", "reject_once"]),
        );
        let prompt = &question.forms()[0].prompt;
        for part in [
            "Run a command",
            "rm -rf build",
            "timeout",
            "7",
            "secret_flag",
            "future",
            "member",
            "execute",
        ] {
            assert!(prompt.contains(part), "{part}: {prompt}");
        }
        assert_eq!(question.command(), Some("rm -rf build"));
    }

    #[test]
    fn only_a_plain_yes_allows_and_it_allows_once() {
        let question = read(
            "session/request_permission",
            &permission(&["allow_once", "reject_once"]),
        );
        assert_eq!(picked(&result(&question, confirm(true))), "o-allow_once");
        assert_eq!(picked(&result(&question, said("Allow"))), "o-allow_once");
        for refused in [
            confirm(false),
            said("use trash instead"),
            told(Outcome::Declined, "no", None),
        ] {
            assert_eq!(picked(&result(&question, refused)), "o-reject_once");
        }
        let without_no = read(
            "session/request_permission",
            &permission(&["allow_once", "allow_always"]),
        );
        assert_eq!(picked(&result(&without_no, said("Yes"))), "cancelled");
    }

    #[test]
    fn an_option_is_told_by_its_kind_and_not_only_by_the_agents_words() {
        let question = read(
            "session/request_permission",
            &permission(&["allow_once", "allow_always", "reject_once"]),
        );
        assert_eq!(
            picked(&result(&question, choice("Yes (allow always)"))),
            "o-allow_always"
        );
        assert_eq!(
            picked(&result(&question, choice("Yes (reject once)"))),
            "o-reject_once"
        );
        assert_eq!(picked(&result(&question, choice("Yes"))), "o-reject_once");
    }

    #[test]
    fn a_call_that_changed_after_it_was_shown_is_refused() {
        let mut calls = ToolCalls::default();
        calls.learn(&json!({"toolCallId": "c", "rawInput": {"command": "ls"}}));
        let mut params = permission(&["allow_once", "reject_once"]);
        params["toolCall"].as_object_mut().unwrap().remove("rawInput");
        let question = AcpQuestion::read("session/request_permission", &params, &calls, None).unwrap();
        assert!(question.forms()[0].prompt.contains("ls"));
        assert_eq!(picked(&question.result(&[confirm(true)], &calls)), "o-allow_once");
        calls.learn(&json!({"toolCallId": "c", "rawInput": {"command": "rm -rf /"}}));
        assert_eq!(
            picked(&question.result(&[confirm(true)], &calls)),
            "o-reject_once"
        );
    }

    #[test]
    fn an_input_too_large_to_be_shown_is_no_question() {
        let mut params = permission(&["allow_once", "reject_once"]);
        params["toolCall"]["rawInput"]["command"] = json!("x".repeat(2 * 1024 * 1024));
        assert_eq!(
            AcpQuestion::read("session/request_permission", &params, &ToolCalls::default(), None),
            None
        );
    }

    #[test]
    fn cursors_questions_come_back_by_their_ids_and_words_as_the_reason() {
        let params = json!({"toolCallId": "t", "title": "Payments", "questions": [{"id": "q1", "prompt": "Which?",
            "options": [{"id": "a", "label": "Stripe"}, {"id": "b", "label": "Adyen"}]}]});
        let question = read("cursor/ask_question", &params);
        assert_eq!(
            result(&question, choice("Adyen")),
            json!({"outcome": {"outcome": "answered", "answers": [{"questionId": "q1", "selectedOptionIds": ["b"]}]}})
        );
        let words = result(&question, said("neither"));
        assert_eq!(words["outcome"]["outcome"], "skipped");
        assert!(words["outcome"]["reason"].as_str().unwrap().contains("neither"));
        let declined = result(&question, told(Outcome::Declined, "not now", None));
        assert!(
            declined["outcome"]["reason"]
                .as_str()
                .unwrap()
                .contains("not now")
        );
        assert_eq!(result(&question, told(Outcome::Cancelled, "", None)), cancelled());
    }

    #[test]
    fn a_plan_is_accepted_by_a_button_and_rejected_with_words() {
        let params =
            json!({"toolCallId": "t", "name": "Auth", "plan": "1. do it", "todos": [{"content": "write"}]});
        let question = read("cursor/create_plan", &params);
        let prompt = &question.forms()[0].prompt;
        assert!(prompt.contains("Auth") && prompt.contains("1. do it") && prompt.contains("write"));
        assert_eq!(result(&question, confirm(true))["outcome"]["outcome"], "accepted");
        assert_eq!(
            result(&question, said("use sessions")),
            json!({"outcome": {"outcome": "rejected", "reason": "use sessions"}})
        );
    }

    #[test]
    fn an_elicitation_is_a_form_whose_values_have_the_types_of_the_schema() {
        let params = json!({"mode": "form", "sessionId": "s", "message": "Set it up", "requestedSchema": {
            "type": "object", "required": ["port"], "properties": {
                "port": {"type": "integer", "title": "Port"}, "tls": {"type": "boolean"},
                "env": {"type": "string", "oneOf": [{"const": "p", "title": "Production"}]},
                "tags": {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}}, "note": {"type": "string"}}}});
        let question = read("elicitation/create", &params);
        let field = |label: &str, values: &[&str]| FieldAnswer {
            label: label.into(),
            values: values.iter().map(|value| (*value).into()).collect(),
            other: None,
        };
        let filled = |fields| result(&question, answered(Reply::Form { fields }));
        let fields = vec![
            field("Port", &["8080"]),
            field("tls", &["true"]),
            field("env", &["Production"]),
            field("tags", &["x", "y"]),
        ];
        assert_eq!(
            filled(fields),
            json!({"action": "accept", "content": {"port": 8080, "tls": true, "env": "p", "tags": ["x", "y"]}})
        );
        assert_eq!(filled(vec![field("tls", &["true"])])["action"], "decline");
        assert_eq!(
            result(&question, told(Outcome::Declined, "no", None))["action"],
            "decline"
        );
        assert_eq!(
            result(&question, told(Outcome::Cancelled, "", None)),
            json!({"action": "cancel"})
        );
    }

    #[test]
    fn other_requests_are_left_to_the_client() {
        for (method, params) in [
            ("fs/read_text_file", json!({})),
            ("session/request_permission", json!({"options": 1})),
        ] {
            assert_eq!(
                AcpQuestion::read(method, &params, &ToolCalls::default(), None),
                None
            );
        }
    }
}
