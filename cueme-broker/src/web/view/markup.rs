//! Long texts, rendered part by part.

use std::ops::Range;

use protocol_spec::outcome::Origin;
use schemars::JsonSchema;
use serde::Serialize;

use crate::web::markdown::{Part, Rendered, end, part, render, verbatim};

/// The bytes of a part of a text in a single question.
pub(in crate::web) const PART_BYTES: usize = 64 * 1024;

/// The bytes of a part of a text in a list of questions.
pub(in crate::web) const FOLDED_BYTES: usize = 16 * 1024;

/// A part of a text as HTML.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::web) struct Markup {
    /// Sanitised.
    html: String,
    /// Of the whole source.
    bytes: usize,
    /// Of the whole source.
    lines: usize,
    /// The offset of the rest, if there is one.
    next: Option<usize>,
    /// The number of lines of the rest, up to the end that is shown.
    folded: usize,
    /// The end of a long text, which is shown with its beginning.
    end: Option<End>,
    /// Whether marks of the source, such as `**`, are left out.
    hides_marks: bool,
}

/// The end of a text as HTML.
#[derive(Debug, Serialize, JsonSchema)]
struct End {
    /// Sanitised.
    html: String,
    /// Its offset.
    from: usize,
}

/// The interpretation of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::web) enum Reading {
    Markdown,
    /// Every character as it is, for approvals.
    Verbatim,
}

impl From<Origin> for Reading {
    fn from(origin: Origin) -> Self {
        if origin == Origin::Approval {
            Self::Verbatim
        } else {
            Self::Markdown
        }
    }
}

impl Reading {
    /// Returns the source to render of a part: a code block that goes on is opened again only in Markdown.
    fn source<'a>(self, part: &'a Part<'_>) -> &'a str {
        match self {
            Self::Markdown => &part.source,
            Self::Verbatim => part.written,
        }
    }

    fn render(self, source: &str) -> Rendered {
        match self {
            Self::Markdown => render(source),
            Self::Verbatim => verbatim(source),
        }
    }
}

impl Markup {
    /// Renders the beginning and the end of a text.
    pub(in crate::web) fn folded(text: &str, reading: Reading, bytes_max: usize) -> Self {
        if text.len() <= bytes_max {
            return Self::part(text, reading, 0..text.len(), bytes_max);
        }
        let from = end(text, bytes_max / 4);
        let mut markup = Self::part(text, reading, 0..from, bytes_max - bytes_max / 4);
        if markup.next.is_none() {
            return Self::part(text, reading, 0..text.len(), text.len());
        }
        let rendered = reading.render(reading.source(&part(text, from, text.len())));
        markup.hides_marks |= rendered.hides_marks;
        markup.end = Some(End {
            html: rendered.html,
            from,
        });
        markup
    }

    /// Renders the part of a text that begins where a range does, and ends with it at the latest.
    pub(in crate::web) fn part(text: &str, reading: Reading, range: Range<usize>, bytes_max: usize) -> Self {
        let within = text.get(..range.end).unwrap_or(text);
        let part = part(within, range.start, bytes_max);
        let rendered = reading.render(reading.source(&part));
        Self {
            html: rendered.html,
            bytes: text.len(),
            lines: text.lines().count(),
            next: part.next,
            folded: part.next.map_or(0, |next| within[next..].lines().count()),
            end: None,
            hides_marks: rendered.hides_marks,
        }
    }
}
