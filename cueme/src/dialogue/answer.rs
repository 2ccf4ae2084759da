//! From a question to an answer, by asking for what its payload offers.

use std::io::{BufRead, Write};

use protocol_spec::answer::{Answer, FieldAnswer, Question, Reply};
use protocol_spec::message::CueView;
use protocol_spec::outcome::Kind;
use protocol_spec::payload::{Choice, Confirm, Field, Form, Kind as FieldKind, Payload, Shape};

use super::person::Dialogue;
use crate::display::visible_line;
use crate::error::CliError;

impl<R: BufRead, W: Write> Dialogue<R, W> {
    /// Asks for an answer until there is one that fits the question.
    pub(crate) fn answer(&mut self, cue: &CueView) -> Result<Answer, CliError> {
        let payload = cue
            .payload
            .as_ref()
            .and_then(|raw| Payload::parse(raw.get()).ok());
        let question = match cue.kind {
            Kind::Pause => Question::Pause,
            Kind::Cue => Question::Cue(payload.as_ref()),
        };
        loop {
            let answer = self.try_answer(question)?;
            match answer.clone().check(question) {
                Ok(_) => return Ok(answer),
                Err(error) => self.say(&format!("{error}; {}", error.hint()))?,
            }
        }
    }

    fn try_answer(&mut self, question: Question<'_>) -> Result<Answer, CliError> {
        match question {
            Question::Pause => self.continue_pause(),
            Question::Cue(None) => self.free_text(),
            Question::Cue(Some(payload)) => match payload.shape() {
                Shape::Choice(choice) => self.choose(choice),
                Shape::Confirm(confirm) => self.confirm(confirm),
                Shape::Form(form) => self.fill_in(form),
            },
        }
    }

    fn continue_pause(&mut self) -> Result<Answer, CliError> {
        let text = self.ask_line("press Enter to continue, or write something first: ")?;
        Ok(Answer {
            reply: Some(Reply::Continue),
            ..with_text(text)
        })
    }

    /// Reads one line, and more of them while each ends in a backslash.
    fn free_text(&mut self) -> Result<Answer, CliError> {
        self.say("(a \\ at the end of a line continues it on the next one)")?;
        let mut text = self.ask_line("your answer: ")?;
        while let Some(begun) = text.strip_suffix('\\') {
            let more = self.ask_line("           | ")?;
            text = format!("{begun}\n{more}");
        }
        Ok(with_text(text))
    }

    fn choose(&mut self, choice: &Choice) -> Result<Answer, CliError> {
        self.list(&choice.options)?;
        let line = self.ask_line(&pick_prompt(choice.allow_multiple))?;
        let Picked { selected, other } = parse_pick(&line, &choice.options, choice.allow_multiple);
        Ok(with_reply(Reply::Choice { selected, other }))
    }

    fn confirm(&mut self, confirm: &Confirm) -> Result<Answer, CliError> {
        let labels = [confirm.confirm_label.clone(), confirm.cancel_label.clone()];
        self.list(&labels)?;
        let line = self.ask_line("number, or your own words: ")?;
        match parse_pick(&line, &labels, false) {
            Picked {
                other: Some(text), ..
            } => Ok(with_text(text)),
            Picked { selected, .. } => {
                let confirmed = selected.first() == Some(&confirm.confirm_label);
                Ok(if selected.is_empty() {
                    Answer::default()
                } else {
                    with_reply(Reply::Confirm { confirmed })
                })
            }
        }
    }

    fn fill_in(&mut self, form: &Form) -> Result<Answer, CliError> {
        let mut fields = Vec::new();
        for field in &form.fields {
            if let Some(answer) = self.fill_in_field(field)? {
                fields.push(answer);
            }
        }
        Ok(with_reply(Reply::Form { fields }))
    }

    /// Asks for one field; an empty line leaves it out.
    fn fill_in_field(&mut self, field: &Field) -> Result<Option<FieldAnswer>, CliError> {
        let label = visible_line(&field.label);
        if !field.options.is_empty() {
            self.say(&format!("{label}:"))?;
            self.list(&field.options)?;
            let line = self.ask_line(&pick_prompt(field.allow_multiple))?;
            let Picked {
                selected: values,
                other,
            } = parse_pick(&line, &field.options, field.allow_multiple);
            let is_empty = values.is_empty() && other.is_none();
            return Ok((!is_empty).then(|| FieldAnswer {
                label: field.label.clone(),
                values,
                other,
            }));
        }
        let question = match field.kind {
            FieldKind::Text | FieldKind::Textarea | FieldKind::Password => format!("{label}: "),
            FieldKind::Boolean => format!("{label} (yes/no): "),
            FieldKind::Date => format!("{label} (YYYY-MM-DD): "),
            FieldKind::Number | FieldKind::Other(_) => {
                format!("{label} ({}): ", visible_line(field.kind.name()))
            }
        };
        let value = match field.kind {
            FieldKind::Password => self.ask_secret(&question)?,
            FieldKind::Textarea => self.ask_lines(&label)?,
            _ => self.ask_line(&question)?,
        };
        let answer = FieldAnswer {
            label: field.label.clone(),
            values: vec![value],
            other: None,
        };
        Ok((!answer.values[0].is_empty()).then_some(answer))
    }

    fn list(&mut self, options: &[String]) -> Result<(), CliError> {
        for (index, option) in options.iter().enumerate() {
            self.say(&format!("  {}. {}", index + 1, visible_line(option)))?;
        }
        Ok(())
    }
}

fn with_text(text: String) -> Answer {
    Answer {
        text: (!text.trim().is_empty()).then_some(text),
        ..Answer::default()
    }
}

fn with_reply(reply: Reply) -> Answer {
    Answer {
        reply: Some(reply),
        ..Answer::default()
    }
}

fn pick_prompt(allow_multiple: bool) -> String {
    if allow_multiple {
        "numbers, or your own words: "
    } else {
        "number, or your own words: "
    }
    .to_owned()
}

#[derive(Debug, PartialEq, Eq)]
struct Picked {
    selected: Vec<String>,
    other: Option<String>,
}

/// Reads numbers of options, the words of one option, or anything else as the person's own words.
fn parse_pick(line: &str, options: &[String], allow_multiple: bool) -> Picked {
    let line = line.trim();
    let own_words = || Picked {
        selected: Vec::new(),
        other: (!line.is_empty()).then(|| line.to_owned()),
    };
    if let Some(option) = options.iter().find(|option| option.as_str() == line) {
        return Picked {
            selected: vec![option.clone()],
            other: None,
        };
    }
    let words: Vec<&str> = line
        .split([',', ' ', '，', '、'])
        .filter(|word| !word.is_empty())
        .collect();
    if words.is_empty() || (words.len() > 1 && !allow_multiple) {
        return own_words();
    }
    let numbered = |word: &&str| -> Option<String> {
        let number: usize = word.parse().ok()?;
        options.get(number.checked_sub(1)?).cloned()
    };
    match words.iter().map(numbered).collect::<Option<Vec<String>>>() {
        Some(selected) => Picked {
            selected,
            other: None,
        },
        None => own_words(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::display::question;

    fn answered(payload: Option<&str>, typed: &str) -> (Answer, String) {
        let mut shown = Vec::new();
        let answer = Dialogue::over(typed.as_bytes(), &mut shown)
            .answer(&question("A?", payload))
            .unwrap();
        (answer, String::from_utf8(shown).unwrap())
    }

    #[test]
    fn a_choice_is_made_by_number_by_name_or_in_own_words() {
        let payload = Some(r#"{"type":"choice","options":["SQLite","PostgreSQL"]}"#);
        let choice = |selected: &[&str], other: Option<&str>| {
            Some(Reply::Choice {
                selected: selected.iter().map(ToString::to_string).collect(),
                other: other.map(str::to_owned),
            })
        };
        assert_eq!(answered(payload, "2\n").0.reply, choice(&["PostgreSQL"], None));
        assert_eq!(answered(payload, "SQLite\n").0.reply, choice(&["SQLite"], None));
        assert_eq!(
            answered(payload, "neither, use files\n").0.reply,
            choice(&[], Some("neither, use files"))
        );
    }

    #[test]
    fn several_numbers_pick_several_options_where_that_is_allowed() {
        let payload = Some(r#"{"type":"choice","options":["a","b","c"],"allow_multiple":true}"#);
        let (answer, shown) = answered(payload, "1, 3\n");
        let Some(Reply::Choice { selected, .. }) = answer.reply else {
            panic!("{answer:?}")
        };
        assert_eq!(selected, ["a", "c"]);
        assert!(shown.contains("  3. c"), "{shown}");
    }

    #[test]
    fn silence_is_not_an_answer_and_the_person_is_asked_again() {
        let (answer, shown) = answered(Some(r#"{"type":"confirm","text":"Go?"}"#), "\n1\n");
        assert_eq!(answer.reply, Some(Reply::Confirm { confirmed: true }));
        assert_eq!(shown.matches("1. Confirm").count(), 2, "{shown}");
    }

    #[test]
    fn a_form_is_asked_field_by_field_and_wrong_values_are_asked_again() {
        let payload = r#"{"type":"form","fields":[{"label":"Env","options":["prod","staging"]},
            {"label":"Replicas","kind":"number"},{"label":"Token","kind":"password"},{"label":"Note","kind":"textarea"}]}"#;
        let typed = "2\nmany\nhush\nx\n.\n2\n3\nhush\na\nb\n.\n";
        let (answer, shown) = answered(Some(payload), typed);
        let Some(Reply::Form { fields }) = answer.reply else {
            panic!("{answer:?}")
        };
        let values: Vec<&str> = fields.iter().map(|field| field.values[0].as_str()).collect();
        assert_eq!(values, ["staging", "3", "hush", "a\nb"]);
        assert!(!shown.contains("hush"), "{shown}");
    }

    #[test]
    fn plain_text_may_go_on_over_several_lines() {
        assert_eq!(answered(None, "one\\\ntwo\n").0.text.as_deref(), Some("one\ntwo"));
    }

    #[test]
    fn a_pause_is_continued_by_pressing_enter() {
        let pause = CueView {
            kind: Kind::Pause,
            ..question("", None)
        };
        let mut shown = Vec::new();
        let answer = Dialogue::over(&b"\n"[..], &mut shown).answer(&pause).unwrap();
        assert_eq!((answer.reply, answer.text), (Some(Reply::Continue), None));
    }

    #[test]
    fn a_person_who_leaves_sends_nothing() {
        let mut shown = Vec::new();
        assert!(
            Dialogue::over(&b""[..], &mut shown)
                .answer(&question("A?", None))
                .is_err()
        );
    }
}
