//! The line that ends a turn: its text where nothing was streamed, its usage, its failure.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::state::State;
use crate::contract::{Done, Event, Item, Note, Sink, Usage};
use crate::cursor::cli::line::{Line, read_object};
use crate::cursor::cli::scalar::Scalar;
use crate::cursor::cli::text::Interval;

/// The one way in which a turn ends well.
const SUCCESS: &str = "success";

impl State {
    pub(super) fn result(&mut self, line: &Line<'_>, sink: &mut dyn Sink) {
        let whole = line.result.as_str();
        self.interval(Interval::End(whole), sink);
        let other_end = line.subtype.non_empty().is_some_and(|subtype| subtype != SUCCESS);
        if line.is_error.is_true() || other_end {
            return self.reported(line, sink);
        }
        if let Some(whole) = whole {
            self.check_text(whole, sink);
        }
        if let Some(usage) = line.usage.and_then(read_usage) {
            self.forwarded += 1;
            sink.item(Item::Event(Event::Usage(usage)));
        }
        self.end_well(Done::default(), sink);
    }

    /// Emits the whole text where nothing was streamed; what was streamed is never sent again.
    fn check_text(&mut self, whole: &str, sink: &mut dyn Sink) {
        if self.text.total_is(whole) {
            return;
        }
        if self.text.is_silent() {
            self.emit_text(Cow::Borrowed(whole), sink);
        } else {
            sink.item(Item::Note(Note::TextMismatch));
        }
    }
}

/// Reads the tokens of a turn, in Cursor's names or the contract's; `None` when it says nothing.
pub(super) fn read_usage(raw: &RawValue) -> Option<Usage> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Raw<'a> {
        #[serde(borrow, alias = "inputTokens", alias = "promptTokens")]
        input_tokens: Scalar<'a>,
        #[serde(borrow, alias = "outputTokens", alias = "completionTokens")]
        output_tokens: Scalar<'a>,
        #[serde(borrow, alias = "cacheReadTokens")]
        cache_read_tokens: Scalar<'a>,
        #[serde(borrow, alias = "cacheWriteTokens")]
        cache_write_tokens: Scalar<'a>,
    }
    let raw: Raw<'_> = read_object(raw)?;
    let (prompt, completion) = (raw.input_tokens.as_u64(), raw.output_tokens.as_u64());
    // Absent usage is no usage; zeros would be a claim.
    prompt.or(completion)?;
    Some(Usage {
        prompt_tokens: prompt.unwrap_or_default(),
        completion_tokens: completion.unwrap_or_default(),
        cache_read_tokens: raw.cache_read_tokens.as_u64(),
        cache_write_tokens: raw.cache_write_tokens.as_u64(),
    })
}
