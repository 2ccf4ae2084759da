//! Renders a checked answer to the plain text an agent reads.
//!
//! The parts come in a fixed order with one blank line between them: the chosen options, the text, the attachments, and
//! the end of the run. `SPEC.md` describes the format for agents.

use super::{Answer, FieldAnswer, Reply};

/// The replacement for a secret.
pub const REDACTED: &str = "[redacted]";

/// The line above attached paths.
const ATTACHMENTS: &str = "attachments:";
/// The line below an answer that ends the run.
const ENDS_WITH: &str =
    "[the human ends the run with this answer: do what it says, then finish without asking again]";
/// The whole text of an answer that only ends the run.
const ENDS: &str = "[the human ends the run: finish now, without asking again]";

/// The text for the agent, and what may be kept of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// The text that the agent reads.
    pub text: String,
    /// The text without its secrets, when it has any.
    pub redacted: Option<Redacted>,
}

/// An answer with every secret replaced by [`REDACTED`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redacted {
    /// The text that may be shown, logged and kept.
    pub text: String,
    /// The answer that may be shown, logged and kept.
    pub answer: Answer,
}

/// The rendered form of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Block {
    /// An empty reply.
    Nothing,
    /// Options or a label, one a line.
    Lines(Vec<String>),
    /// Fields of a form.
    Fields(Vec<Line>),
}

/// One field of a form as it reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) label: String,
    pub(super) values: Vec<String>,
    /// Whether the field could hold several values, so that commas would be ambiguous.
    pub(super) may_be_several: bool,
    pub(super) is_secret: bool,
}

/// Renders `answer`, whose reply reads as `block`.
pub(super) fn render(answer: &Answer, block: &Block) -> Rendered {
    Rendered {
        text: text_of(answer, block),
        redacted: redact(answer, block),
    }
}

/// Returns a rendered text without the line that ends the run, for people.
pub fn without_end(text: &str) -> &str {
    [ENDS_WITH, ENDS]
        .iter()
        .find_map(|line| text.strip_suffix(line))
        .map_or(text, str::trim_end)
}

/// Returns a rendered text without the attached paths at its end, for people.
pub fn without_attachments(text: &str) -> &str {
    let (before, paths) = match text.rfind(ATTACHMENTS) {
        Some(at) if at == 0 || text[..at].ends_with('\n') => text.split_at(at),
        _ => return text,
    };
    let mut paths = paths[ATTACHMENTS.len()..].lines().skip(1).peekable();
    if paths.peek().is_some() && paths.all(|path| path.starts_with('/')) {
        before.trim_end()
    } else {
        text
    }
}

fn text_of(answer: &Answer, block: &Block) -> String {
    let other = match &answer.reply {
        Some(Reply::Choice { other, .. }) => other.clone(),
        _ => None,
    };
    let parts = [
        block_text(block),
        other,
        answer.text.clone(),
        attachments_text(answer),
        end_text(answer),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

fn block_text(block: &Block) -> Option<String> {
    match block {
        Block::Nothing => None,
        Block::Lines(lines) => Some(join(lines.iter().map(|line| indent_rest(line, "  ")))),
        Block::Fields(fields) => Some(join(fields.iter().map(field_text))),
    }
}

fn end_text(answer: &Answer) -> Option<String> {
    let line = if answer.has_words() { ENDS_WITH } else { ENDS };
    answer.ends_run.then(|| line.to_owned())
}

fn attachments_text(answer: &Answer) -> Option<String> {
    if answer.attachments.is_empty() {
        return None;
    }
    let paths = answer
        .attachments
        .iter()
        .map(|attachment| attachment.path.clone());
    Some(join(std::iter::once(ATTACHMENTS.to_owned()).chain(paths)))
}

/// Writes a field on one line where that is unambiguous, else its values below its label.
fn field_text(line: &Line) -> String {
    let Line {
        label,
        values,
        may_be_several,
        ..
    } = line;
    let has_break = values.iter().any(|value| value.contains(['\n', '\r']));
    let has_comma = *may_be_several && values.iter().any(|value| value.contains(','));
    match values.as_slice() {
        [value] if has_break && !may_be_several => format!("{label}:\n  {}", indent_rest(value, "  ")),
        values if has_break || has_comma => {
            let items = values
                .iter()
                .map(|value| format!("  - {}", indent_rest(value, "    ")));
            format!("{label}:\n{}", join(items))
        }
        values => format!("{label}: {}", values.join(", ")),
    }
}

/// Indents every line but the first, so that one value cannot look like several.
fn indent_rest(text: &str, indent: &str) -> String {
    text.replace('\n', &format!("\n{indent}"))
}

fn join(lines: impl Iterator<Item = String>) -> String {
    lines.collect::<Vec<_>>().join("\n")
}

fn redact(answer: &Answer, block: &Block) -> Option<Redacted> {
    let Block::Fields(lines) = block else { return None };
    if !lines.iter().any(|line| line.is_secret) {
        return None;
    }
    let redacted_lines = lines.iter().map(|line| {
        if line.is_secret {
            redacted_line(line)
        } else {
            line.clone()
        }
    });
    let block = Block::Fields(redacted_lines.collect());
    let mut answer = answer.clone();
    if let Some(Reply::Form { fields }) = &mut answer.reply {
        let secrets = fields.iter_mut().zip(lines).filter(|(_, line)| line.is_secret);
        secrets.for_each(|(field, _)| redact_field(field));
    }
    Some(Redacted {
        text: text_of(&answer, &block),
        answer,
    })
}

impl Answer {
    /// Leaves out redacted values, so that the placeholder is not mistaken for a value.
    #[must_use]
    pub fn without_redacted(mut self) -> Self {
        if let Some(Reply::Form { fields }) = &mut self.reply {
            fields.retain(|field| field.values != [REDACTED]);
        }
        self
    }
}

/// Hides the number of values, too.
fn redacted_line(line: &Line) -> Line {
    Line {
        values: vec![REDACTED.to_owned()],
        ..line.clone()
    }
}

fn redact_field(field: &mut FieldAnswer) {
    field.values = vec![REDACTED.to_owned()];
    field.other = None;
}
