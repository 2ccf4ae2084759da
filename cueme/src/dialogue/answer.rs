//! Builds an answer to a question by asking for each part that its payload offers.

use std::io::Write;

use protocol_spec::answer::{Answer, FieldAnswer, Picked, Question, Reply, check_one_field};
use protocol_spec::message::CueView;
use protocol_spec::outcome::{Kind, Origin};
use protocol_spec::payload::{Choice, Confirm, Field, Form, Kind as FieldKind, Payload, Shape};

use super::lines::Lines;
use super::person::Dialogue;
use super::pick::{Pressed, parse_button, parse_pick};
use super::review::Review;
use crate::display::visible_line;
use crate::error::CliError;

const HOW_TO_WRITE: &str = "(Alt-Enter starts a new line, Ctrl-X Ctrl-E opens your editor, Ctrl-C leaves)";

impl<L: Lines, W: Write> Dialogue<L, W> {
    /// Asks for an answer that fits the question, until the person has seen it and wants it sent.
    pub(crate) fn answer(&mut self, cue: &CueView) -> Result<Answer, CliError> {
        let payload = cue
            .payload
            .as_ref()
            .and_then(|raw| Payload::parse(raw.get()).ok());
        let question = Question::new(cue.kind, payload.as_ref());
        let mut draft = Answer::default();
        loop {
            let answer = self.collect(question, &draft)?;
            match answer.clone().check(question) {
                // There is nothing to look at twice.
                Ok(_) if cue.kind == Kind::Pause && answer.text.is_none() => return Ok(answer),
                Ok(checked) => match self.review(cue, &checked, remark(cue, &answer))? {
                    Review::Send => return Ok(answer),
                    Review::SendAndEnd => {
                        return Ok(Answer {
                            ends_run: true,
                            ..answer
                        });
                    }
                    Review::Change => {}
                },
                Err(error) => self.say(&format!("{error}; {}", error.hint()))?,
            }
            draft = answer;
        }
    }

    fn collect(&mut self, question: Question<'_>, draft: &Answer) -> Result<Answer, CliError> {
        match question {
            Question::Pause => self.continue_pause(draft),
            Question::Cue(None) => self.free_text(draft),
            Question::Cue(Some(payload)) => match payload.shape() {
                Shape::Choice(choice) => self.choose(choice, draft),
                Shape::Confirm(confirm) => self.confirm(confirm, draft),
                Shape::Form(form) => self.fill_in(form, draft),
            },
        }
    }

    fn continue_pause(&mut self, draft: &Answer) -> Result<Answer, CliError> {
        let text = self.ask(
            "press Enter to continue, or write something first: ",
            text_in(draft),
        )?;
        Ok(Answer {
            reply: Some(Reply::Continue),
            ..with_text(text)
        })
    }

    fn free_text(&mut self, draft: &Answer) -> Result<Answer, CliError> {
        self.say(HOW_TO_WRITE)?;
        self.ask_text("your answer: ", text_in(draft)).map(with_text)
    }

    fn choose(&mut self, choice: &Choice, draft: &Answer) -> Result<Answer, CliError> {
        self.list(&choice.options)?;
        let mut line = match &draft.reply {
            Some(Reply::Choice { selected, other }) => picked_line(selected, other.as_ref(), &choice.options),
            _ => String::new(),
        };
        loop {
            line = self.ask_text(pick_prompt(choice.allow_multiple), &line)?;
            let complaint = match parse_pick(&line, &choice.options, choice.allow_multiple) {
                Ok(picked) if picked.is_empty() => {
                    format!(
                        "write a number from 1 to {}, or your own words",
                        choice.options.len()
                    )
                }
                Ok(Picked { selected, other }) => return Ok(with_reply(Reply::Choice { selected, other })),
                Err(complaint) => complaint,
            };
            self.say(&complaint)?;
        }
    }

    fn confirm(&mut self, confirm: &Confirm, draft: &Answer) -> Result<Answer, CliError> {
        self.list(&[confirm.confirm_label.clone(), confirm.cancel_label.clone()])?;
        let mut line = text_in(draft).to_owned();
        loop {
            line = self.ask_text("number, or your own words: ", &line)?;
            match parse_button(&line, confirm) {
                Ok(Pressed::Words(text)) => return Ok(with_text(text)),
                Ok(pressed) => {
                    let confirmed = pressed == Pressed::Confirm;
                    return Ok(with_reply(Reply::Confirm { confirmed }));
                }
                Err(complaint) => self.say(&complaint)?,
            }
        }
    }

    fn fill_in(&mut self, form: &Form, draft: &Answer) -> Result<Answer, CliError> {
        let earlier: &[FieldAnswer] = match &draft.reply {
            Some(Reply::Form { fields }) => fields,
            _ => &[],
        };
        let mut fields = Vec::new();
        for field in &form.fields {
            let earlier = earlier.iter().find(|answer| answer.label == field.label);
            fields.extend(self.fill_in_field(field, earlier)?);
        }
        Ok(with_reply(Reply::Form { fields }))
    }

    /// Asks for one field until its value fits; an empty line leaves it out.
    fn fill_in_field(
        &mut self,
        field: &Field,
        earlier: Option<&FieldAnswer>,
    ) -> Result<Option<FieldAnswer>, CliError> {
        let has_options = !field.options.is_empty();
        if has_options {
            self.say(&format!("{}:", visible_line(&field.label)))?;
            self.list(&field.options)?;
        }
        let prompt = field_prompt(field, earlier.is_some());
        let mut line = earlier
            .filter(|_| !field.is_secret())
            .map(|answer| picked_line(&answer.values, answer.other.as_ref(), &field.options))
            .unwrap_or_default();
        loop {
            line = if field.is_secret() {
                self.ask_secret(&prompt)?
            } else {
                self.ask_text(&prompt, &line)?
            };
            if let (true, true, Some(earlier)) = (field.is_secret(), line.is_empty(), earlier) {
                return Ok(Some(earlier.clone()));
            }
            match field_answer(field, &line) {
                Ok(answer) => return Ok(answer),
                Err(complaint) => self.say(&complaint)?,
            }
        }
    }

    fn list(&mut self, options: &[String]) -> Result<(), CliError> {
        for (index, option) in options.iter().enumerate() {
            self.say(&format!("  {}. {}", index + 1, visible_line(option)))?;
        }
        Ok(())
    }
}

/// Says what an answer means where its text alone does not show it.
pub(crate) fn remark(cue: &CueView, answer: &Answer) -> Option<&'static str> {
    (cue.origin == Origin::Approval && answer.reply.is_none())
        .then_some("This presses no button: it denies the request, and your text is the reason.")
}

fn field_answer(field: &Field, line: &str) -> Result<Option<FieldAnswer>, String> {
    let picked = if field.options.is_empty() {
        Picked {
            selected: Vec::from_iter((!line.is_empty()).then(|| line.to_owned())),
            other: None,
        }
    } else {
        parse_pick(line, &field.options, field.allow_multiple)?
    };
    let is_empty = picked.is_empty();
    let answer = FieldAnswer {
        label: field.label.clone(),
        values: picked.selected,
        other: picked.other,
    };
    match check_one_field(answer.clone(), field) {
        Ok(()) => Ok((!is_empty).then_some(answer)),
        Err(error) => Err(format!("{error}; {}", error.hint())),
    }
}

fn field_prompt(field: &Field, has_earlier: bool) -> String {
    let label = visible_line(&field.label);
    if !field.options.is_empty() {
        return pick_prompt(field.allow_multiple).to_owned();
    }
    match field.kind {
        FieldKind::Password if has_earlier => format!("{label} (Enter keeps it): "),
        FieldKind::Text | FieldKind::Textarea | FieldKind::Password => format!("{label}: "),
        FieldKind::Boolean => format!("{label} (yes/no): "),
        FieldKind::Date => format!("{label} (YYYY-MM-DD): "),
        FieldKind::Number | FieldKind::Other(_) => {
            format!("{label} ({}): ", visible_line(field.kind.name()))
        }
    }
}

/// Writes what was picked as a person would type it.
fn picked_line(selected: &[String], other: Option<&String>, options: &[String]) -> String {
    let number = |value: &String| options.iter().position(|option| option == value);
    let parts = selected.iter().map(|value| match number(value) {
        Some(index) => (index + 1).to_string(),
        None => value.clone(),
    });
    parts.chain(other.cloned()).collect::<Vec<_>>().join(", ")
}

fn text_in(answer: &Answer) -> &str {
    answer.text.as_deref().unwrap_or_default()
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

fn pick_prompt(allow_multiple: bool) -> &'static str {
    if allow_multiple {
        "numbers, or your own words: "
    } else {
        "number, or your own words: "
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::io;

    use super::*;
    use crate::dialogue::lines::Typed;
    use crate::display::question;

    /// A person who types these lines; what was offered as a draft is noted.
    struct Script {
        lines: VecDeque<String>,
        drafts: Vec<String>,
    }

    impl Lines for Script {
        fn read(&mut self, _prompt: &str, draft: &str) -> io::Result<Typed> {
            self.drafts.push(draft.to_owned());
            Ok(self.lines.pop_front().map_or(Typed::End, Typed::Text))
        }

        fn read_secret(&mut self, prompt: &str) -> io::Result<Typed> {
            self.read(prompt, "")
        }
    }

    struct Talk {
        answer: Option<Answer>,
        shown: String,
        drafts: Vec<String>,
    }

    fn talk(cue: &CueView, typed: &[&str]) -> Talk {
        let mut dialogue = Dialogue {
            lines: Script {
                lines: typed.iter().map(ToString::to_string).collect(),
                drafts: Vec::new(),
            },
            output: Vec::new(),
        };
        let answer = dialogue.answer(cue).ok();
        Talk {
            answer,
            shown: String::from_utf8(dialogue.output).unwrap(),
            drafts: dialogue.lines.drafts,
        }
    }

    fn answered(payload: Option<&str>, typed: &[&str]) -> (Answer, String) {
        let talk = talk(&question("A?", payload), typed);
        (
            talk.answer.unwrap_or_else(|| panic!("{}", talk.shown)),
            talk.shown,
        )
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
        assert_eq!(
            answered(payload, &["2", "y"]).0.reply,
            choice(&["PostgreSQL"], None)
        );
        assert_eq!(
            answered(payload, &["SQLite", "y"]).0.reply,
            choice(&["SQLite"], None)
        );
        assert_eq!(
            answered(payload, &["neither, use files", "y"]).0.reply,
            choice(&[], Some("neither, use files"))
        );
    }

    #[test]
    fn several_numbers_pick_several_options_where_that_is_allowed() {
        let payload = Some(r#"{"type":"choice","options":["a","b","c"],"allow_multiple":true}"#);
        let (answer, shown) = answered(payload, &["1, 3", "y"]);
        let Some(Reply::Choice { selected, .. }) = answer.reply else {
            panic!("{answer:?}")
        };
        assert_eq!(selected, ["a", "c"]);
        assert!(shown.contains("  3. c"), "{shown}");
    }

    #[test]
    fn a_number_outside_the_options_is_asked_again_with_the_typed_text() {
        let payload = Some(r#"{"type":"choice","options":["a","b"]}"#);
        let talk = talk(&question("A?", payload), &["7", "2", "y"]);
        assert!(talk.shown.contains("there is no option 7"), "{}", talk.shown);
        assert_eq!(talk.drafts[..2], ["", "7"]);
        let reply = talk.answer.and_then(|answer| answer.reply);
        assert!(matches!(reply, Some(Reply::Choice { selected, .. }) if selected == ["b"]));
    }

    #[test]
    fn silence_is_not_an_answer_and_the_person_is_asked_again() {
        let (answer, shown) = answered(Some(r#"{"type":"confirm","text":"Go?"}"#), &["", "y", "y"]);
        assert_eq!(answer.reply, Some(Reply::Confirm { confirmed: true }));
        assert!(shown.contains("press a button by its number"), "{shown}");
        assert!(shown.contains("will read:\n  Confirm\n"), "{shown}");
    }

    #[test]
    fn a_form_is_asked_field_by_field_and_a_wrong_value_is_asked_again_in_place() {
        let payload = r#"{"type":"form","fields":[{"label":"Env","options":["prod","staging"]},
            {"label":"Replicas","kind":"number","required":true},{"label":"Token","kind":"password"},{"label":"Note","kind":"textarea"}]}"#;
        let typed = ["2", "many", "", "3", "hush", "a\\", "b", "y"];
        let talk = talk(&question("A?", Some(payload)), &typed);
        let Some(Reply::Form { fields }) = talk.answer.and_then(|answer| answer.reply) else {
            panic!("{}", talk.shown)
        };
        let values: Vec<&str> = fields.iter().map(|field| field.values[0].as_str()).collect();
        assert_eq!(values, ["staging", "3", "hush", "a\nb"]);
        assert_eq!(talk.drafts[..4], ["", "", "many", ""]);
        assert!(talk.shown.contains("is not a number"), "{}", talk.shown);
        assert!(talk.shown.contains("is required"), "{}", talk.shown);
        assert!(!talk.shown.contains("hush"), "{}", talk.shown);
    }

    #[test]
    fn a_person_who_looks_again_changes_what_they_wrote_and_types_no_secret_twice() {
        let payload = r#"{"type":"form","fields":[{"label":"Env","options":["prod","staging"]},
            {"label":"Token","kind":"password"}]}"#;
        let talk = talk(
            &question("A?", Some(payload)),
            &["2", "hush", "what", "e", "1", "", "y"],
        );
        let Some(Reply::Form { fields }) = talk.answer.and_then(|answer| answer.reply) else {
            panic!("{}", talk.shown)
        };
        let values: Vec<&str> = fields.iter().map(|field| field.values[0].as_str()).collect();
        assert_eq!(values, ["prod", "hush"]);
        assert_eq!(talk.drafts[4], "2", "the first choice is the draft of the second");
    }

    #[test]
    fn words_at_an_approval_deny_it_and_the_person_is_told_before() {
        let payload = r#"{"type":"confirm","confirm_label":"Allow","cancel_label":"Deny"}"#;
        let approval = CueView {
            origin: Origin::Approval,
            ..question("May Bash run?", Some(payload))
        };
        let told = talk(&approval, &["not on a Friday", "y"]);
        assert_eq!(told.answer.unwrap().text.as_deref(), Some("not on a Friday"));
        assert!(told.shown.contains("it denies the request"), "{}", told.shown);
        let allowed = talk(&approval, &["y", "y"]);
        assert_eq!(
            allowed.answer.unwrap().reply,
            Some(Reply::Confirm { confirmed: true })
        );
        assert!(!allowed.shown.contains("denies"), "{}", allowed.shown);
    }

    #[test]
    fn plain_text_may_go_on_over_several_lines() {
        let (answer, _) = answered(None, &["one\\", "two", "y"]);
        assert_eq!(answer.text.as_deref(), Some("one\ntwo"));
        let (pasted, _) = answered(None, &["cargo \\\n  build", "y"]);
        assert_eq!(pasted.text.as_deref(), Some("cargo \\\n  build"));
    }

    #[test]
    fn a_question_of_a_run_offers_to_end_the_run_and_others_do_not() {
        let of_run = CueView {
            in_run: true,
            ..question("A?", None)
        };
        let sent = |cue: &CueView, lines: &[&str]| talk(cue, lines).answer.map(|answer| answer.ends_run);
        assert_eq!(sent(&of_run, &["push it", "d"]), Some(true));
        assert_eq!(sent(&of_run, &["push it", "y"]), Some(false));
        assert_eq!(sent(&question("A?", None), &["push it", "d", "y"]), Some(false));
    }

    #[test]
    fn a_pause_is_continued_by_pressing_enter() {
        let pause = CueView {
            kind: Kind::Pause,
            ..question("", None)
        };
        let answer = talk(&pause, &[""]).answer.unwrap();
        assert_eq!((answer.reply, answer.text), (Some(Reply::Continue), None));
    }

    #[test]
    fn a_person_who_leaves_sends_nothing() {
        assert!(talk(&question("A?", None), &[]).answer.is_none());
        assert!(talk(&question("A?", None), &["text", "q"]).answer.is_none());
        assert!(talk(&question("A?", None), &["text"]).answer.is_none());
    }
}
