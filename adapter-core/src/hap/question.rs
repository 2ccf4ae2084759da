//! Turns an agent's own question into one for the human.

use serde_json::{Value, json};

use crate::cursor::cli::{AskQuestion, Question};

/// Returns the payload as JSON text: one question is a choice, several are a form.
///
/// The options are the labels, in the agent's order. A form's field is labelled with its question.
pub fn payload_of(ask: &AskQuestion) -> Option<String> {
    match ask.questions.as_slice() {
        [] => None,
        [one] if one.options.is_empty() => None,
        [one] => Some(choice(one).to_string()),
        several => {
            let labels = distinct(several.iter().map(|question| question.prompt.as_str()));
            let fields: Vec<Value> = several
                .iter()
                .zip(labels)
                .map(|(question, label)| field(question, &label))
                .collect();
            Some(json!({"type": "form", "fields": fields}).to_string())
        }
    }
}

/// Returns what the human reads above the payload.
pub fn prompt_of(ask: &AskQuestion) -> String {
    let questions = ask.questions.iter().map(|question| question.prompt.as_str());
    let lines: Vec<&str> = std::iter::once(ask.title.as_str())
        .chain(questions)
        .filter(|line| !line.is_empty())
        .collect();
    if lines.is_empty() {
        "The agent has a question.".to_owned()
    } else {
        lines.join("\n\n")
    }
}

fn choice(question: &Question) -> Value {
    json!({"type": "choice", "options": options(question), "allow_multiple": question.allow_multiple})
}

fn field(question: &Question, label: &str) -> Value {
    if question.options.is_empty() {
        return json!({"label": label, "kind": "text"});
    }
    json!({"label": label, "options": options(question), "allow_multiple": question.allow_multiple})
}

fn options(question: &Question) -> Vec<String> {
    let texts = question.options.iter().map(|option| {
        if option.label.is_empty() {
            &option.id
        } else {
            &option.label
        }
    });
    distinct(texts.map(String::as_str))
}

/// Makes texts non-empty and different from each other, because a payload with equal options is refused.
fn distinct<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    for (index, text) in texts.enumerate() {
        let text = text.trim();
        let text = if text.is_empty() {
            format!("option {}", index + 1)
        } else {
            text.to_owned()
        };
        let text = if seen.contains(&text) {
            format!("{text} ({})", index + 1)
        } else {
            text
        };
        seen.push(text);
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cursor::cli::QuestionOption;

    fn question(prompt: &str, labels: &[&str], allow_multiple: bool) -> Question {
        let options = labels
            .iter()
            .map(|label| QuestionOption {
                id: "x".into(),
                label: (*label).into(),
            })
            .collect();
        Question {
            id: "q".into(),
            prompt: prompt.into(),
            options,
            allow_multiple,
        }
    }

    fn ask(questions: Vec<Question>) -> AskQuestion {
        AskQuestion {
            call_id: "c".into(),
            title: "Payments".into(),
            questions,
        }
    }

    #[test]
    fn one_question_becomes_a_choice_with_the_same_options() {
        let ask = ask(vec![question("Which?", &["A", "B"], true)]);
        assert_eq!(
            payload_of(&ask).unwrap(),
            r#"{"type":"choice","options":["A","B"],"allow_multiple":true}"#
        );
        assert_eq!(prompt_of(&ask), "Payments\n\nWhich?");
    }

    #[test]
    fn several_questions_become_a_form_with_one_field_each() {
        let ask = ask(vec![
            question("Which?", &["A"], false),
            question("Why?", &[], false),
        ]);
        assert_eq!(
            payload_of(&ask).unwrap(),
            r#"{"type":"form","fields":[{"label":"Which?","options":["A"],"allow_multiple":false},{"label":"Why?","kind":"text"}]}"#
        );
    }

    #[test]
    fn equal_and_empty_labels_are_told_apart() {
        let ask = ask(vec![question("Which?", &["A", "A", ""], false)]);
        assert!(payload_of(&ask).unwrap().contains(r#"["A","A (2)","x"]"#));
    }

    #[test]
    fn a_question_without_options_needs_no_payload() {
        assert_eq!(payload_of(&ask(vec![question("Why?", &[], false)])), None);
    }
}
