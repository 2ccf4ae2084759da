//! Decides which assistant text of the stream is new.
//!
//! With partial output the CLI sends each segment twice: as deltas, then whole. Three of the whole re-sends can be
//! told from a delta by their shape; the one before a query or a retry cannot, and is recognised by its text being
//! exactly the segment so far. A delta can equal the segment so far too ("ha" + "ha"), so such a line is held
//! until the next event tells which it was; the result, which holds the whole text, knows best.
//!
//! The segment is remembered as a length and a hash, not as text, so memory does not grow with the stream.

use std::borrow::Cow;

/// The fields of an assistant line beside its text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) timestamp: bool,
    pub(crate) model_call: bool,
}

/// The event between two pieces of text.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Interval<'a> {
    /// A query, a lost connection or a retry: the CLI re-sends before it, in the shape of a delta.
    Interruption,
    /// A tool call: the CLI re-sends before it, in a shape of its own.
    Call,
    /// The end of the turn, with its whole text where that is known.
    End(Option<&'a str>),
}

/// A line that is a re-send or a repeated delta.
#[derive(Debug)]
struct Held {
    text: String,
    /// Whether it also equals what was said since the last event, not only what was said before.
    is_since_event: bool,
}

/// The state of the text of one turn.
#[derive(Debug, Default)]
pub(crate) struct TextRule {
    partial: bool,
    /// Everything emitted since the last re-send.
    segment: Digest,
    /// Everything emitted since the last re-send, tool call or query.
    ///
    /// A tool call that was not preceded by a re-send begins a segment of its own.
    since_event: Digest,
    total: Digest,
    held: Option<Held>,
}

impl TextRule {
    /// Builds the rule; `partial` says whether the CLI was asked for partial output.
    pub(crate) fn new(partial: bool) -> Self {
        Self {
            partial,
            ..Self::default()
        }
    }

    /// Takes one assistant line and gives the new part of its text to `emit`.
    pub(crate) fn assistant(&mut self, text: Cow<'_, str>, shape: Shape, emit: &mut dyn FnMut(Cow<'_, str>)) {
        if text.is_empty() {
            return;
        }
        if !self.partial {
            return self.emit(text, emit);
        }
        if shape.model_call || !shape.timestamp {
            return self.resend(&text, emit);
        }
        if let Some(held) = self.held.take() {
            self.emit(Cow::Owned(held.text), emit);
        }
        let is_since_event = self.since_event.is(&text);
        if is_since_event || self.segment.is(&text) {
            self.held = Some(Held {
                text: text.into_owned(),
                is_since_event,
            });
        } else {
            self.emit(text, emit);
        }
    }

    /// Takes what only follows a finished segment, and decides about a line that was held.
    pub(crate) fn interval(&mut self, interval: Interval<'_>, emit: &mut dyn FnMut(Cow<'_, str>)) {
        if let Some(held) = self.held.take() {
            if self.is_new(&held, interval) {
                self.emit(Cow::Owned(held.text), emit);
            } else {
                self.segment = Digest::default();
            }
        }
        self.since_event = Digest::default();
    }

    fn is_new(&self, held: &Held, interval: Interval<'_>) -> bool {
        match interval {
            Interval::Interruption => false,
            // A line that equals only an older segment is new: a tool call stands between the two.
            Interval::Call | Interval::End(None) => !held.is_since_event,
            Interval::End(Some(whole)) if self.total.is(whole) => false,
            Interval::End(Some(whole)) => {
                let with_held = self.total.followed_by(Digest::of(&held.text));
                with_held.is(whole) || !held.is_since_event
            }
        }
    }

    /// Reports whether any text was emitted.
    pub(crate) fn is_silent(&self) -> bool {
        self.total.length == 0
    }

    /// Reports whether the emitted text is exactly this.
    pub(crate) fn total_is(&self, text: &str) -> bool {
        self.total.is(text) || (text.is_empty() && self.is_silent())
    }

    /// Emits text that came from outside the assistant lines.
    pub(crate) fn emit(&mut self, text: Cow<'_, str>, emit: &mut dyn FnMut(Cow<'_, str>)) {
        let piece = Digest::of(&text);
        self.total = self.total.followed_by(piece);
        if self.partial {
            self.segment = self.segment.followed_by(piece);
            self.since_event = self.since_event.followed_by(piece);
        }
        emit(text);
    }

    /// Takes a whole segment: only what was not streamed of it is new.
    fn resend(&mut self, text: &str, emit: &mut dyn FnMut(Cow<'_, str>)) {
        if let Some(held) = self.held.take() {
            let again = Digest::of(&held.text);
            let was_said = [self.segment, self.since_event]
                .into_iter()
                .any(|said| said.followed_by(again).prefix_of(text).is_some());
            if was_said {
                self.emit(Cow::Owned(held.text), emit);
            }
        }
        let streamed = self
            .segment
            .prefix_of(text)
            .or_else(|| self.since_event.prefix_of(text))
            .unwrap_or(0);
        let rest = &text[streamed..];
        if !rest.is_empty() {
            self.emit(Cow::Borrowed(rest), emit);
        }
        self.segment = Digest::default();
        self.since_event = Digest::default();
    }
}

/// The length and the hash of a text.
///
/// The hash is a polynomial, so that two texts can be put together without reading either again.
#[derive(Debug, Clone, Copy)]
struct Digest {
    length: usize,
    hash: u64,
    /// The base to the power of the length.
    power: u64,
}

/// An odd number without a pattern.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

impl Default for Digest {
    fn default() -> Self {
        Self {
            length: 0,
            hash: 0,
            power: 1,
        }
    }
}

impl Digest {
    fn of(text: &str) -> Self {
        let step = |digest: Self, byte: &u8| Self {
            length: text.len(),
            hash: digest.hash.wrapping_mul(BASE).wrapping_add(u64::from(*byte) + 1),
            power: digest.power.wrapping_mul(BASE),
        };
        text.as_bytes().iter().fold(Self::default(), step)
    }

    /// Returns the digest of this text with `next` after it.
    fn followed_by(self, next: Self) -> Self {
        Self {
            length: self.length + next.length,
            hash: self.hash.wrapping_mul(next.power).wrapping_add(next.hash),
            power: self.power.wrapping_mul(next.power),
        }
    }

    /// Reports whether the text is this one, which is not empty.
    fn is(self, text: &str) -> bool {
        self.length != 0 && self.length == text.len() && Self::of(text).hash == self.hash
    }

    /// Returns where the rest begins, when this text is a non-empty prefix.
    fn prefix_of(self, text: &str) -> Option<usize> {
        let head = text.get(..self.length)?;
        self.is(head).then_some(self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DELTA: Shape = Shape {
        timestamp: true,
        model_call: false,
    };
    const BEFORE_TOOL: Shape = Shape {
        timestamp: true,
        model_call: true,
    };
    const AT_END: Shape = Shape {
        timestamp: false,
        model_call: false,
    };

    enum Step {
        Line(&'static str, Shape),
        Between(Interval<'static>),
    }
    use Step::{Between, Line};

    const QUERY: Step = Between(Interval::Interruption);
    const CALL: Step = Between(Interval::Call);
    const END: Step = Between(Interval::End(None));

    fn run(partial: bool, steps: &[Step]) -> String {
        let mut rule = TextRule::new(partial);
        let mut out = String::new();
        for step in steps {
            match step {
                Line(text, shape) => {
                    rule.assistant(Cow::Borrowed(text), *shape, &mut |text| out.push_str(&text));
                }
                Between(interval) => rule.interval(*interval, &mut |text| out.push_str(&text)),
            }
        }
        assert!(rule.total_is(&out), "the digest follows what was emitted");
        out
    }

    #[test]
    fn without_partial_output_every_line_is_new_whatever_its_shape() {
        let steps = [
            Line("a", BEFORE_TOOL),
            CALL,
            Line("a", DELTA),
            Line("a", AT_END),
            Line("a", AT_END),
        ];
        assert_eq!(run(false, &steps), "aaaa");
    }

    #[test]
    fn a_whole_segment_after_its_deltas_adds_nothing() {
        let steps = [
            Line("a", DELTA),
            Line("b", DELTA),
            Line("ab", BEFORE_TOOL),
            CALL,
            Line("c", DELTA),
            Line("c", AT_END),
            END,
        ];
        assert_eq!(run(true, &steps), "abc");
    }

    #[test]
    fn a_re_send_adds_only_what_was_not_streamed() {
        assert_eq!(run(true, &[Line("a", DELTA), Line("abc", AT_END)]), "abc");
        assert_eq!(run(true, &[Line("é", DELTA), Line("éß", BEFORE_TOOL)]), "éß");
    }

    #[test]
    fn a_re_send_that_does_not_continue_the_segment_is_new_text() {
        assert_eq!(run(true, &[Line("a", DELTA), Line("xyz", AT_END)]), "axyz");
        assert_eq!(
            run(true, &[Line("OK", BEFORE_TOOL), CALL, Line("OK", AT_END)]),
            "OKOK"
        );
    }

    #[test]
    fn a_repeated_delta_is_real_when_another_delta_follows() {
        let steps = [
            Line("ha", DELTA),
            Line("ha", DELTA),
            Line("!", DELTA),
            Line("haha!", AT_END),
            END,
        ];
        assert_eq!(run(true, &steps), "haha!");
    }

    #[test]
    fn a_repeated_delta_is_real_when_the_whole_segment_contains_it() {
        assert_eq!(
            run(
                true,
                &[Line("ha", DELTA), Line("ha", DELTA), Line("haha", AT_END)]
            ),
            "haha"
        );
        assert_eq!(
            run(true, &[Line("ha", DELTA), Line("ha", DELTA), Line("ha", AT_END)]),
            "ha"
        );
    }

    #[test]
    fn a_re_send_shaped_like_a_delta_is_dropped_before_a_query() {
        let steps = [
            Line("Sear", DELTA),
            Line("ching.", DELTA),
            Line("Searching.", DELTA),
            QUERY,
            QUERY,
            Line("Done.", DELTA),
            Line("Done.", AT_END),
            END,
        ];
        assert_eq!(run(true, &steps), "Searching.Done.");
    }

    #[test]
    fn a_segment_cut_by_a_tool_without_a_re_send_is_not_doubled() {
        let steps = [Line("a", DELTA), CALL, Line("b", DELTA), Line("b", AT_END)];
        assert_eq!(run(true, &steps), "ab");
        let steps = [Line("a", DELTA), CALL, Line("b", DELTA), Line("ab", AT_END)];
        assert_eq!(run(true, &steps), "ab");
    }

    #[test]
    fn three_equal_deltas_are_three() {
        let steps = [
            Line("x", DELTA),
            Line("x", DELTA),
            Line("x", DELTA),
            Line("xxx", AT_END),
            END,
        ];
        assert_eq!(run(true, &steps), "xxx");
    }

    #[test]
    fn the_same_words_after_a_tool_call_are_said_again() {
        let checking = [
            Line("Checking.", DELTA),
            CALL,
            Line("Checking.", DELTA),
            CALL,
            Line("OK.", DELTA),
            Line("OK.", AT_END),
            END,
        ];
        assert_eq!(run(true, &checking), "Checking.Checking.OK.");
        let re_sent = [
            Line("OK", DELTA),
            Line("OK", BEFORE_TOOL),
            CALL,
            Line("OK", DELTA),
            Line("OK", BEFORE_TOOL),
            CALL,
            Line("OK", DELTA),
            Line("OK", AT_END),
        ];
        assert_eq!(run(true, &re_sent), "OKOKOK");
    }

    #[test]
    fn a_re_send_after_a_lost_connection_is_dropped_before_the_retry() {
        let steps = [
            Line("Half", DELTA),
            Line(" way.", DELTA),
            QUERY,
            Line("Half way.", DELTA),
            QUERY,
            Line(" On.", DELTA),
            Line(" On.", AT_END),
        ];
        assert_eq!(run(true, &steps), "Half way. On.");
    }

    #[test]
    fn the_result_knows_whether_a_held_line_was_new() {
        let end = |whole| Between(Interval::End(Some(whole)));
        let held = || [Line("ha", DELTA), Line("ha", DELTA)];
        let [first, second] = held();
        assert_eq!(run(true, &[first, second, end("haha")]), "haha");
        let [first, second] = held();
        assert_eq!(run(true, &[first, second, end("ha")]), "ha");
        let [first, second] = held();
        assert_eq!(run(true, &[first, second, end("something else")]), "ha");
    }

    #[test]
    fn a_repeated_delta_in_a_segment_of_its_own_is_real_when_the_re_send_contains_it() {
        let steps = [
            Line("a", DELTA),
            CALL,
            Line("ha", DELTA),
            Line("ha", DELTA),
            Line("haha", AT_END),
        ];
        assert_eq!(run(true, &steps), "ahaha");
    }
}
