//! Turns an agent's own question into one for the human.

use crate::contract::{AskQuestion, Question};
use protocol_spec::answer::{Answer, Reply};
use protocol_spec::payload::{FIELDS_MAX, LABEL_BYTES_MAX, OPTION_BYTES_MAX, PAYLOAD_BYTES_MAX};
use protocol_spec::truncate::with_ellipsis;
use serde_json::{Value, json};

/// The most bytes of texts in one form; escapes and keys may double them.
const FORM_BYTES_MAX: usize = PAYLOAD_BYTES_MAX / 4;
/// The space that a label reserves for the number that distinguishes it from an equal one.
const NUMBER_BYTES_MAX: usize = 16;

/// Returns the forms for the human: each has a text and a payload as JSON text.
///
/// One question is a choice; several, of one call or of many, are one form, or more forms where one would be too large.
/// Repeated questions are asked once. The options are the labels, in the agent's order.
pub fn forms_of(asked: &[AskQuestion]) -> Vec<(String, Option<String>)> {
    let questions = asked_once(asked);
    let titles = asked.iter().map(|ask| ask.title.as_str());
    let heading = distinct_lines(titles).join("\n\n");
    parts(&questions)
        .into_iter()
        .map(|part| (prompt_of(&heading, part), payload_of(part)))
        .collect()
}

/// The human's choice for one question of the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// The agent's name for the question.
    pub question: String,
    /// The agent's names for the options that were chosen.
    pub options: Vec<String>,
    /// The human's free text.
    pub words: Option<String>,
}

/// Returns what was chosen for every question, from the answers to its forms.
pub fn selections(asked: &[AskQuestion], answers: &[&Answer]) -> Vec<Selection> {
    let questions = asked_once(asked);
    let chosen: Vec<(&Question, Selection)> = parts(&questions)
        .into_iter()
        .zip(answers)
        .flat_map(|(part, answer)| {
            let labels = labels_of(part);
            let found = part.iter().zip(labels).map(|(question, label)| {
                let (labels, other) = chosen_labels(answer, &label, part.len());
                (
                    *question,
                    selection(question, labels, other.or(answer.text.as_deref())),
                )
            });
            found.collect::<Vec<_>>()
        })
        .collect();
    // The same question may be asked under several names, and is answered under each.
    let every = asked.iter().flat_map(|ask| &ask.questions);
    every
        .filter_map(|question| {
            let (_, selection) = chosen.iter().find(|(known, _)| is_same(known, question))?;
            Some(Selection {
                question: question.id.clone(),
                ..selection.clone()
            })
        })
        .collect()
}

fn selection(question: &Question, labels: &[String], words: Option<&str>) -> Selection {
    let ids = question.options.iter().map(|option| &option.id);
    let offered: Vec<(String, &String)> = options(question).into_iter().zip(ids).collect();
    let is_chosen = |(label, _): &&(String, &String)| labels.contains(label);
    let chosen = offered.iter().filter(is_chosen).map(|(_, id)| (*id).clone());
    // A question without options is answered in words.
    let typed = labels.first().filter(|_| question.options.is_empty());
    Selection {
        question: question.id.clone(),
        options: chosen.collect(),
        words: typed.map(String::as_str).or(words).map(str::to_owned),
    }
}

fn chosen_labels<'a>(answer: &'a Answer, label: &str, of: usize) -> (&'a [String], Option<&'a str>) {
    match &answer.reply {
        Some(Reply::Choice { selected, other }) if of == 1 => (selected, other.as_deref()),
        Some(Reply::Form { fields }) => {
            let field = fields.iter().find(|field| field.label == label);
            field.map_or((&[], None), |field| (&field.values, field.other.as_deref()))
        }
        _ => (&[], None),
    }
}

fn asked_once(asked: &[AskQuestion]) -> Vec<&Question> {
    let mut questions: Vec<&Question> = Vec::new();
    for question in asked.iter().flat_map(|ask| &ask.questions) {
        if !questions.iter().any(|known| is_same(known, question)) {
            questions.push(question);
        }
    }
    questions
}

fn is_same(one: &Question, other: &Question) -> bool {
    (&one.prompt, &one.options) == (&other.prompt, &other.options)
}

/// Returns the labels of the fields that a part becomes.
fn labels_of(questions: &[&Question]) -> Vec<String> {
    distinct(
        questions.iter().map(|question| question.prompt.as_str()),
        LABEL_BYTES_MAX,
    )
}

/// Cuts the questions into parts that fit one payload each.
fn parts<'a, 'q>(questions: &'a [&'q Question]) -> Vec<&'a [&'q Question]> {
    let mut parts = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (index, question) in questions.iter().enumerate() {
        let size = size_of(question);
        if index > start && (index - start == FIELDS_MAX || bytes + size > FORM_BYTES_MAX) {
            parts.push(&questions[start..index]);
            (start, bytes) = (index, 0);
        }
        bytes += size;
    }
    parts.push(&questions[start..]);
    parts
}

/// Returns about how many bytes of JSON a question takes.
fn size_of(question: &Question) -> usize {
    let labels = question
        .options
        .iter()
        .map(|option| option.label.len().min(OPTION_BYTES_MAX));
    question.prompt.len().min(LABEL_BYTES_MAX) + labels.sum::<usize>()
}

fn payload_of(questions: &[&Question]) -> Option<String> {
    match questions {
        [] => None,
        [one] if one.options.is_empty() => None,
        [one] => Some(choice(one).to_string()),
        several => {
            let fields: Vec<Value> = several
                .iter()
                .zip(labels_of(several))
                .map(|(question, label)| field(question, &label))
                .collect();
            Some(json!({"type": "form", "fields": fields}).to_string())
        }
    }
}

fn prompt_of(heading: &str, questions: &[&Question]) -> String {
    let prompts = questions.iter().map(|question| question.prompt.as_str());
    let lines = distinct_lines(std::iter::once(heading).chain(prompts));
    if lines.is_empty() {
        "The agent has a question.".to_owned()
    } else {
        lines.join("\n\n")
    }
}

fn distinct_lines<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut kept: Vec<&str> = Vec::new();
    for line in lines.map(str::trim).filter(|line| !line.is_empty()) {
        if !kept.contains(&line) {
            kept.push(line);
        }
    }
    kept
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
    distinct(texts.map(String::as_str), OPTION_BYTES_MAX)
}

/// Makes texts non-empty, short enough and different from each other, because a payload with others is refused.
pub(crate) fn distinct<'a>(texts: impl Iterator<Item = &'a str>, bytes_max: usize) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    for (index, text) in texts.enumerate() {
        let number = index + 1;
        let text = match text.trim() {
            "" => format!("option {number}"),
            text => with_ellipsis(text, bytes_max - NUMBER_BYTES_MAX),
        };
        let text = if seen.contains(&text) {
            format!("{text} ({number})")
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
    use crate::contract::QuestionOption;

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

    fn only(asked: &[AskQuestion]) -> (String, Option<String>) {
        let mut forms = forms_of(asked);
        assert_eq!(forms.len(), 1);
        forms.remove(0)
    }

    #[test]
    fn one_question_becomes_a_choice_with_the_same_options() {
        let (prompt, payload) = only(&[ask(vec![question("Which?", &["A", "B"], true)])]);
        assert_eq!(
            payload.unwrap(),
            r#"{"type":"choice","options":["A","B"],"allow_multiple":true}"#
        );
        assert_eq!(prompt, "Payments\n\nWhich?");
    }

    const FORM: &str = r#"{"type":"form","fields":[{"label":"Which?","options":["A"],"allow_multiple":false},{"label":"Why?","kind":"text"}]}"#;

    #[test]
    fn several_questions_become_a_form_with_one_field_each() {
        let asked = ask(vec![
            question("Which?", &["A"], false),
            question("Why?", &[], false),
        ]);
        assert_eq!(only(&[asked]).1.unwrap(), FORM);
    }

    #[test]
    fn the_questions_of_several_calls_become_one_form_and_what_was_repeated_is_asked_once() {
        let first = ask(vec![question("Which?", &["A"], false)]);
        let second = ask(vec![
            question("Why?", &[], false),
            question("Which?", &["A"], false),
        ]);
        let (prompt, payload) = only(&[first, second]);
        assert_eq!(payload.unwrap(), FORM);
        assert_eq!(prompt, "Payments\n\nWhich?\n\nWhy?");
    }

    #[test]
    fn more_questions_than_a_form_holds_become_several_forms_that_are_all_accepted() {
        let many = (0..FIELDS_MAX + 1).map(|number| question(&format!("Q{number}?"), &["A", "B"], false));
        let mut asked = ask(many.collect());
        let long = "é".repeat(OPTION_BYTES_MAX);
        asked.questions.push(question(&long, &[&long, &long], false));
        let forms = forms_of(&[asked]);
        assert_eq!(forms.len(), 2);
        for (_, payload) in forms {
            protocol_spec::payload::Payload::parse(&payload.unwrap()).unwrap();
        }
    }

    fn chose(labels: &[&str]) -> Answer {
        let selected = labels.iter().map(|label| (*label).into()).collect();
        Answer {
            reply: Some(Reply::Choice {
                selected,
                other: None,
            }),
            ..Answer::default()
        }
    }

    #[test]
    fn what_was_chosen_comes_back_under_the_agents_own_names() {
        let mut two = ask(vec![question("Which?", &["A", "A"], true)]);
        two.questions[0].options[1].id = "second".into();
        let mut again = two.clone();
        again.questions[0].id = "again".into();
        let found = selections(&[two, again], &[&chose(&["A (2)"])]);
        let names: Vec<(&str, &[String])> = found
            .iter()
            .map(|one| (one.question.as_str(), one.options.as_slice()))
            .collect();
        assert_eq!(
            names,
            [
                ("q", &["second".to_owned()][..]),
                ("again", &["second".to_owned()][..])
            ]
        );
    }

    #[test]
    fn words_that_are_no_option_are_kept_apart_from_the_options() {
        let asked = [ask(vec![
            question("Which?", &["A"], false),
            question("Why?", &[], false),
        ])];
        let field = |label: &str, value: &str| protocol_spec::answer::FieldAnswer {
            label: label.into(),
            values: vec![value.into()],
            other: None,
        };
        let answer = Answer {
            reply: Some(Reply::Form {
                fields: vec![field("Which?", "A"), field("Why?", "fast")],
            }),
            ..Answer::default()
        };
        let found = selections(&asked, &[&answer]);
        assert_eq!((found[0].options.len(), found[0].words.as_deref()), (1, None));
        assert_eq!(
            (found[1].options.len(), found[1].words.as_deref()),
            (0, Some("fast"))
        );
    }

    #[test]
    fn equal_and_empty_labels_are_told_apart() {
        let (_, payload) = only(&[ask(vec![question("Which?", &["A", "A", ""], false)])]);
        assert!(payload.unwrap().contains(r#"["A","A (2)","x"]"#));
    }

    #[test]
    fn a_question_without_options_needs_no_payload() {
        assert_eq!(only(&[ask(vec![question("Why?", &[], false)])]).1, None);
    }
}
