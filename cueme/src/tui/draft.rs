//! An answer that a person is writing: what the question offers, what is picked and what is typed.

use std::collections::BTreeSet;

use protocol_spec::answer::{Answer, AnswerError, Checked, FieldAnswer, Question, Reply};
use protocol_spec::message::CueView;
use protocol_spec::outcome::Kind;
use protocol_spec::payload::{Confirm, Field, Kind as FieldKind, Payload, Shape};

use super::text_box::TextBox;
use crate::dialogue::{Pressed, parse_button};

/// The input of one part of a question: options, a text, or both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    /// The text above it.
    pub(super) label: Option<String>,
    pub(super) options: Vec<String>,
    pub(super) picked: BTreeSet<usize>,
    pub(super) allow_multiple: bool,
    /// The purpose of the text.
    pub(super) text_label: String,
    /// The typed text; a yes or no needs none.
    pub(super) text: Option<TextBox>,
}

/// A line of the draft that can have the cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Row {
    Option { group: usize, option: usize },
    Text { group: usize },
}

/// A draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Draft {
    kind: Kind,
    payload: Option<Payload>,
    pub(super) groups: Vec<Group>,
    at: usize,
    /// Why it could not be sent.
    pub(super) complaint: Option<String>,
}

impl Draft {
    /// Begins an answer to a question.
    pub(super) fn new(cue: &CueView) -> Self {
        let payload = cue
            .payload
            .as_ref()
            .and_then(|raw| Payload::parse(raw.get()).ok());
        let groups = match (cue.kind, payload.as_ref().map(Payload::shape)) {
            (Kind::Pause, _) => vec![text_group("Enter continues; or write something first")],
            (Kind::Cue, None) => vec![text_group("your answer")],
            (Kind::Cue, Some(Shape::Choice(choice))) => vec![Group {
                options: choice.options.clone(),
                allow_multiple: choice.allow_multiple,
                ..text_group("other")
            }],
            (Kind::Cue, Some(Shape::Confirm(confirm))) => vec![Group {
                label: confirm.text.clone(),
                options: vec![confirm.confirm_label.clone(), confirm.cancel_label.clone()],
                ..text_group("words")
            }],
            (Kind::Cue, Some(Shape::Form(form))) => form.fields.iter().map(field_group).collect(),
        };
        Self {
            kind: cue.kind,
            payload,
            groups,
            at: 0,
            complaint: None,
        }
    }

    /// Says whether anything was picked or typed.
    pub(super) fn is_touched(&self) -> bool {
        self.groups
            .iter()
            .any(|group| !group.picked.is_empty() || group.text.as_ref().is_some_and(|text| !text.is_blank()))
    }

    pub(super) fn is_form(&self) -> bool {
        matches!(self.payload.as_ref().map(Payload::shape), Some(Shape::Form(_)))
    }

    /// Returns every line that can have the cursor.
    pub(super) fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for (group, part) in self.groups.iter().enumerate() {
            rows.extend((0..part.options.len()).map(|option| Row::Option { group, option }));
            rows.extend(part.text.is_some().then_some(Row::Text { group }));
        }
        rows
    }

    /// Returns the line with the cursor.
    pub(super) fn row(&self) -> Row {
        let rows = self.rows();
        // A question always has a line: a group has options or a text.
        rows.get(self.at).copied().unwrap_or(Row::Text { group: 0 })
    }

    pub(super) fn text(&self) -> Option<&TextBox> {
        match self.row() {
            Row::Text { group } => self.groups.get(group)?.text.as_ref(),
            Row::Option { .. } => None,
        }
    }

    pub(super) fn text_mut(&mut self) -> Option<&mut TextBox> {
        match self.row() {
            Row::Text { group } => self.groups.get_mut(group)?.text.as_mut(),
            Row::Option { .. } => None,
        }
    }

    /// Moves the cursor a line up or down; says whether it could.
    pub(super) fn step(&mut self, is_down: bool) -> bool {
        let next = if is_down {
            Some(self.at + 1)
        } else {
            self.at.checked_sub(1)
        };
        let next = next.filter(|next| *next < self.rows().len());
        self.at = next.unwrap_or(self.at);
        next.is_some()
    }

    /// Moves the cursor to the next or the previous part, around the ends.
    pub(super) fn step_group(&mut self, is_forward: bool) {
        let count = self.groups.len().max(1);
        let step = if is_forward { 1 } else { count - 1 };
        let group = (self.group() + step) % count;
        // A single part has no other: Tab goes between its options and its text.
        if count == 1 {
            let last = self.rows().len().saturating_sub(1);
            self.at = if matches!(self.row(), Row::Text { .. }) {
                0
            } else {
                last
            };
            return;
        }
        self.go_to(group);
    }

    /// Moves the cursor to the part below; says whether there is one.
    pub(super) fn next_group(&mut self) -> bool {
        let next = self.group() + 1;
        let has_next = next < self.groups.len();
        if has_next {
            self.go_to(next);
        }
        has_next
    }

    /// Picks an option, or takes it back where several may be picked.
    pub(super) fn pick(&mut self, group: usize, option: usize) {
        let Some(part) = self.groups.get_mut(group) else {
            return;
        };
        if option >= part.options.len() {
            return;
        }
        if part.allow_multiple {
            if !part.picked.remove(&option) {
                part.picked.insert(option);
            }
        } else {
            part.picked = BTreeSet::from([option]);
        }
        let row = Row::Option { group, option };
        self.at = self
            .rows()
            .iter()
            .position(|found| *found == row)
            .unwrap_or(self.at);
    }

    /// Moves the cursor to the text of the part it is in; says whether it has one.
    pub(super) fn go_to_text(&mut self) -> bool {
        let row = Row::Text { group: self.group() };
        let found = self.rows().iter().position(|found| *found == row);
        self.at = found.unwrap_or(self.at);
        found.is_some()
    }

    /// Returns the answer as it is now.
    pub(super) fn answer(&self) -> Result<Answer, String> {
        let typed = || self.groups.first().and_then(typed_in);
        let reply = match (self.kind, self.payload.as_ref().map(Payload::shape)) {
            (Kind::Pause, _) => Some(Reply::Continue),
            (Kind::Cue, None) => None,
            (Kind::Cue, Some(Shape::Choice(_))) => {
                let group = self.groups.first();
                return Ok(Answer {
                    reply: group.map(|group| Reply::Choice {
                        selected: picked_in(group),
                        other: typed_in(group),
                    }),
                    ..Answer::default()
                });
            }
            (Kind::Cue, Some(Shape::Confirm(confirm))) => return self.pressed(confirm),
            (Kind::Cue, Some(Shape::Form(form))) => {
                let fields = form.fields.iter().zip(&self.groups).map(field_answer);
                return Ok(Answer {
                    reply: Some(Reply::Form {
                        fields: fields.collect(),
                    }),
                    ..Answer::default()
                });
            }
        };
        Ok(Answer {
            text: typed(),
            reply,
            ..Answer::default()
        })
    }

    /// Returns the answer if it fits its question, and how the agent will read it.
    pub(super) fn checked(&self) -> Result<(Answer, Checked), String> {
        let answer = self.answer()?;
        let question = Question::new(self.kind, self.payload.as_ref());
        let checked = answer
            .clone()
            .check(question)
            .map_err(|error| complaint(&error))?;
        Ok((answer, checked))
    }

    /// A button with or without words, or words alone; a plain yes or no is a button.
    fn pressed(&self, confirm: &Confirm) -> Result<Answer, String> {
        let Some(group) = self.groups.first() else {
            return Ok(Answer::default());
        };
        let text = typed_in(group);
        if let Some(button) = group.picked.first() {
            return Ok(Answer {
                text,
                reply: Some(Reply::Confirm {
                    confirmed: *button == 0,
                }),
                ..Answer::default()
            });
        }
        let pressed = parse_button(&text.unwrap_or_default(), confirm)?;
        Ok(match pressed {
            Pressed::Words(words) => Answer {
                text: Some(words),
                ..Answer::default()
            },
            button => Answer {
                reply: Some(Reply::Confirm {
                    confirmed: button == Pressed::Confirm,
                }),
                ..Answer::default()
            },
        })
    }

    fn group(&self) -> usize {
        match self.row() {
            Row::Option { group, .. } | Row::Text { group } => group,
        }
    }

    fn go_to(&mut self, group: usize) {
        let is_in = |row: &Row| match row {
            Row::Option { group: found, .. } | Row::Text { group: found } => *found == group,
        };
        self.at = self.rows().iter().position(is_in).unwrap_or(self.at);
    }
}

fn complaint(error: &AnswerError) -> String {
    format!("{error}; {}", error.hint())
}

fn text_group(text_label: &str) -> Group {
    Group {
        label: None,
        options: Vec::new(),
        picked: BTreeSet::new(),
        allow_multiple: false,
        text_label: text_label.to_owned(),
        text: Some(TextBox::long()),
    }
}

fn field_group(field: &Field) -> Group {
    let required = if field.required { " (required)" } else { "" };
    let is_switch = field.kind == FieldKind::Boolean && field.options.is_empty();
    let options = if is_switch {
        ["yes", "no"].map(str::to_owned).to_vec()
    } else {
        field.options.clone()
    };
    let text_label = match &field.kind {
        _ if !options.is_empty() => "other".to_owned(),
        FieldKind::Date => "YYYY-MM-DD".to_owned(),
        FieldKind::Text | FieldKind::Textarea => String::new(),
        kind => kind.name().to_owned(),
    };
    let mut text = TextBox::default();
    text.is_secret = field.is_secret();
    text.is_long = !matches!(
        field.kind,
        FieldKind::Number | FieldKind::Boolean | FieldKind::Date | FieldKind::Password
    );
    Group {
        label: Some(format!("{}{required}", field.label)),
        options,
        picked: BTreeSet::new(),
        allow_multiple: field.allow_multiple,
        text_label,
        text: (!is_switch).then_some(text),
    }
}

fn field_answer((field, group): (&Field, &Group)) -> FieldAnswer {
    let typed = typed_in(group);
    let (values, other) = if group.options.is_empty() {
        (typed.into_iter().collect(), None)
    } else {
        (picked_in(group), typed)
    };
    FieldAnswer {
        label: field.label.clone(),
        values,
        other,
    }
}

fn picked_in(group: &Group) -> Vec<String> {
    let picked = group
        .picked
        .iter()
        .filter_map(|option| group.options.get(*option));
    picked.cloned().collect()
}

fn typed_in(group: &Group) -> Option<String> {
    let text = group.text.as_ref()?;
    (!text.is_blank()).then(|| text.text().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::display::question;

    fn draft(payload: &str) -> Draft {
        Draft::new(&question("A?", Some(payload)))
    }

    #[test]
    fn one_option_replaces_another_and_several_stand_together() {
        let mut single = draft(r#"{"type":"choice","options":["a","b"]}"#);
        single.pick(0, 0);
        single.pick(0, 1);
        assert!(
            matches!(single.answer().unwrap().reply, Some(Reply::Choice { selected, .. }) if selected == ["b"])
        );
        let mut several = draft(r#"{"type":"choice","options":["a","b","c"],"allow_multiple":true}"#);
        for option in [0, 2, 1, 1] {
            several.pick(0, option);
        }
        assert!(
            matches!(several.answer().unwrap().reply, Some(Reply::Choice { selected, .. }) if selected == ["a", "c"])
        );
    }

    #[test]
    fn an_untouched_draft_is_no_answer_except_to_a_pause() {
        for payload in [
            r#"{"type":"choice","options":["a","b"]}"#,
            r#"{"type":"confirm","text":"Go?"}"#,
            r#"{"type":"form","fields":[{"label":"A"},{"label":"B","kind":"boolean"}]}"#,
        ] {
            assert!(draft(payload).checked().is_err(), "{payload}");
        }
        assert!(Draft::new(&question("A?", None)).checked().is_err());
        let pause = CueView {
            kind: Kind::Pause,
            ..question("Look", None)
        };
        assert_eq!(
            Draft::new(&pause).checked().unwrap().0.reply,
            Some(Reply::Continue)
        );
    }

    #[test]
    fn a_button_goes_with_words_and_a_plain_yes_is_a_button() {
        let mut confirm =
            draft(r#"{"type":"confirm","text":"Go?","confirm_label":"Go","cancel_label":"Stop"}"#);
        assert!(confirm.go_to_text());
        confirm.text_mut().unwrap().insert("yes");
        let answer = confirm.answer().unwrap();
        assert_eq!(
            (answer.reply, answer.text),
            (Some(Reply::Confirm { confirmed: true }), None)
        );
        confirm.text_mut().unwrap().set("not on a Friday");
        assert_eq!(confirm.answer().unwrap().reply, None);
        confirm.pick(0, 1);
        let answer = confirm.answer().unwrap();
        assert_eq!(answer.reply, Some(Reply::Confirm { confirmed: false }));
        assert_eq!(answer.text.as_deref(), Some("not on a Friday"));
    }

    #[test]
    fn a_form_has_a_part_for_each_field_and_says_which_one_is_wrong() {
        let payload = r#"{"type":"form","fields":[{"label":"Env","options":["prod","staging"]},
            {"label":"Replicas","kind":"number","required":true},{"label":"Key","kind":"password"},{"label":"Dry","kind":"boolean"}]}"#;
        let mut form = draft(payload);
        form.pick(0, 1);
        assert!(form.checked().unwrap_err().contains("Replicas"));
        assert!(form.next_group());
        form.text_mut().unwrap().insert("many");
        assert!(form.checked().unwrap_err().contains("is not a number"));
        form.text_mut().unwrap().set("3");
        assert!(form.next_group() && form.text().unwrap().is_secret);
        form.text_mut().unwrap().insert("hush");
        assert!(form.next_group() && form.text().is_none());
        form.pick(3, 0);
        let (answer, checked) = form.checked().unwrap();
        assert_eq!(answer.reply.as_ref().map(Reply::name), Some("form"));
        let rendered = checked.render();
        assert!(rendered.text.contains("Key: hush"), "{}", rendered.text);
        let redacted = rendered
            .redacted
            .map(|redacted| redacted.text)
            .unwrap_or_default();
        assert!(
            redacted.contains("Env: staging") && !redacted.contains("hush"),
            "{redacted}"
        );
    }
}
