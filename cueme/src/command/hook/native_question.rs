//! The question tools of hosts (Claude Code's AskUserQuestion, Codex's request_user_input), as a payload of ours.

use protocol_spec::answer::{Answer, Reply};
use runtimes::hook::ToolCall;
use serde_json::{Map, Value, json};

/// The tools that ask the human.
const TOOLS: [&str; 2] = ["AskUserQuestion", "request_user_input"];

/// The question of such a tool.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NativeQuestion {
    items: Vec<Item>,
}

#[derive(Debug, PartialEq, Eq)]
struct Item {
    header: Option<String>,
    question: String,
    options: Vec<Choice>,
    is_multiple: bool,
}

#[derive(Debug, PartialEq, Eq)]
struct Choice {
    label: String,
    description: Option<String>,
}

impl Item {
    /// The question with its header.
    fn title(&self) -> String {
        match &self.header {
            Some(header) => format!("{header}: {}", self.question),
            None => self.question.clone(),
        }
    }

    /// A line for each option that is described.
    fn described(&self) -> impl Iterator<Item = String> {
        self.options.iter().filter_map(|option| {
            let description = option.description.as_deref()?;
            Some(format!("- {}: {description}", option.label))
        })
    }

    fn labels(&self) -> Vec<&str> {
        self.options.iter().map(|option| option.label.as_str()).collect()
    }
}

impl NativeQuestion {
    /// Reads a call of such a tool; `None` for any other call.
    pub(super) fn parse(call: &ToolCall) -> Option<Self> {
        if !TOOLS.contains(&call.name.as_str()) {
            return None;
        }
        let items: Vec<Item> = call
            .input
            .get("questions")?
            .as_array()?
            .iter()
            .map(item)
            .collect::<Option<_>>()?;
        (!items.is_empty()).then_some(Self { items })
    }

    /// Returns all that the tool would show: headers, questions, and what the options mean.
    pub(super) fn prompt(&self) -> String {
        match self.items.as_slice() {
            [only] => {
                let lines: Vec<String> = only.described().collect();
                if lines.is_empty() {
                    only.title()
                } else {
                    format!("{}\n\n{}", only.title(), lines.join("\n"))
                }
            }
            items => {
                let lines = items.iter().flat_map(|item| {
                    let described = item.described().map(|line| format!("  {line}"));
                    std::iter::once(format!("- {}", item.title())).chain(described)
                });
                lines.collect::<Vec<_>>().join("\n")
            }
        }
    }

    /// A single question is a choice; several are a form.
    pub(super) fn payload(&self) -> String {
        let payload = match self.items.as_slice() {
            [only] if !only.options.is_empty() => {
                json!({ "type": "choice", "options": only.labels(), "allow_multiple": only.is_multiple })
            }
            items => {
                let fields: Vec<Value> = items.iter().map(field).collect();
                json!({ "type": "form", "fields": fields })
            }
        };
        payload.to_string()
    }

    /// Returns the tool's input with the answers in it, keyed by question.
    pub(super) fn answered(&self, input: &Value, answer: &Answer) -> Value {
        let mut answers = Map::new();
        for item in &self.items {
            let picked = match &answer.reply {
                Some(Reply::Choice { selected, other }) => joined(selected, other.as_deref()),
                Some(Reply::Form { fields }) => fields
                    .iter()
                    .find(|field| field.label == item.question)
                    .map(|field| joined(&field.values, field.other.as_deref()))
                    .unwrap_or_default(),
                _ => String::new(),
            };
            let picked = if picked.is_empty() {
                answer.text.clone().unwrap_or_default()
            } else {
                picked
            };
            answers.insert(item.question.clone(), Value::String(picked));
        }
        let mut input = input.clone();
        if let Some(members) = input.as_object_mut() {
            members.insert("answers".to_owned(), Value::Object(answers));
        }
        input
    }
}

fn item(value: &Value) -> Option<Item> {
    let options = value.get("options").and_then(Value::as_array);
    Some(Item {
        header: text(value, "header"),
        question: value.get("question")?.as_str()?.to_owned(),
        options: options
            .into_iter()
            .flatten()
            .filter_map(|option| {
                Some(Choice {
                    label: option.get("label")?.as_str()?.to_owned(),
                    description: text(option, "description"),
                })
            })
            .collect(),
        is_multiple: value.get("multiSelect").and_then(Value::as_bool).unwrap_or(false),
    })
}

/// Returns a member that is a text with something in it.
fn text(value: &Value, name: &str) -> Option<String> {
    let text = value.get(name)?.as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn field(item: &Item) -> Value {
    if item.options.is_empty() {
        json!({ "label": item.question })
    } else {
        json!({ "label": item.question, "options": item.labels(), "allow_multiple": item.is_multiple })
    }
}

/// Hosts want several labels in one text.
fn joined(picked: &[String], other: Option<&str>) -> String {
    picked
        .iter()
        .map(String::as_str)
        .chain(other)
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol_spec::payload::Payload;

    fn call(questions: &Value) -> ToolCall {
        ToolCall {
            name: "AskUserQuestion".into(),
            input: json!({ "questions": questions }),
        }
    }

    fn framework() -> Value {
        json!({ "question": "Which framework?", "multiSelect": true,
                "options": [{ "label": "Axum" }, { "label": "Actix" }] })
    }

    #[test]
    fn one_question_is_a_choice_and_its_labels_come_back_under_it() {
        let call = call(&json!([framework()]));
        let asked = NativeQuestion::parse(&call).unwrap();
        assert_eq!(asked.prompt(), "Which framework?");
        Payload::parse(&asked.payload()).unwrap();
        let answer = Answer {
            reply: Some(Reply::Choice {
                selected: vec!["Axum".into(), "Actix".into()],
                other: None,
            }),
            ..Answer::default()
        };
        let input = asked.answered(&call.input, &answer);
        assert_eq!(input["answers"]["Which framework?"], "Axum, Actix");
        assert!(input["questions"].is_array());
    }

    #[test]
    fn several_questions_are_a_form_that_is_valid() {
        let asked = NativeQuestion::parse(&call(&json!([framework(), { "question": "Port?" }]))).unwrap();
        Payload::parse(&asked.payload()).unwrap();
    }

    #[test]
    fn headers_and_descriptions_reach_the_human() {
        let described = json!({ "question": "Which framework?", "header": "Framework", "options": [
            { "label": "Axum", "description": "on tower" }, { "label": "Actix", "description": "" }] });
        let asked = NativeQuestion::parse(&call(&json!([described]))).unwrap();
        assert_eq!(asked.prompt(), "Framework: Which framework?\n\n- Axum: on tower");
        let both = NativeQuestion::parse(&call(&json!([described, { "question": "Port?" }]))).unwrap();
        assert_eq!(
            both.prompt(),
            "- Framework: Which framework?\n  - Axum: on tower\n- Port?"
        );
    }

    #[test]
    fn other_tools_are_no_questions() {
        let bash = ToolCall {
            name: "Bash".into(),
            input: json!({ "questions": [framework()] }),
        };
        assert_eq!(NativeQuestion::parse(&bash), None);
    }
}
