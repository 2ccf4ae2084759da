//! Questions that the CLI asks and answers itself, because no human is there.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::call::OPEN_CALLS_MAX;
use super::state::State;
use crate::contract::{AskQuestion, Item, Note, Sink};
use crate::cursor::cli::line::{Line, read_object};
use crate::cursor::cli::scalar::Scalar;
use crate::cursor::cli::text::Interval;
use crate::cursor::cli::tool::OUTCOME_SUCCESS;

/// A question whose answer has not been seen.
#[derive(Debug)]
pub(super) struct PendingAsk {
    /// The CLI's number for it.
    query: Option<i64>,
    pub(super) ask: AskQuestion,
}

impl State {
    pub(super) fn interaction(&mut self, line: &Line<'_>, sink: &mut dyn Sink) {
        self.interval(Interval::Interruption, sink);
        if let Some((query, ask)) = line.query.and_then(AskQuestion::from_query) {
            if self.pending_asks.len() < OPEN_CALLS_MAX {
                self.pending_asks.push(PendingAsk { query, ask });
            }
            return;
        }
        let Some(response) = line.response.and_then(read_ask_response) else {
            return;
        };
        let numbered = |pending: &PendingAsk| pending.query == response.query;
        let place = self.pending_asks.iter().position(numbered).unwrap_or(0);
        if place < self.pending_asks.len() {
            let PendingAsk { ask, .. } = self.pending_asks.remove(place);
            if !response.answered {
                self.skip(ask, sink);
            }
        }
    }

    /// Notes a question that no human saw.
    pub(super) fn skip(&mut self, ask: AskQuestion, sink: &mut dyn Sink) {
        if self.evidence.skipped(ask) {
            sink.item(Item::Note(Note::QuestionSkipped));
        }
    }

    /// Notes the questions that were open when the turn ended.
    pub(super) fn skip_unanswered(&mut self, sink: &mut dyn Sink) {
        for PendingAsk { ask, .. } in std::mem::take(&mut self.pending_asks) {
            self.skip(ask, sink);
        }
        let open: Vec<AskQuestion> = self
            .open
            .values_mut()
            .filter_map(|call| call.ask.take())
            .collect();
        for ask in open {
            self.skip(ask, sink);
        }
    }
}

/// The CLI's answer to a question.
struct AskResponse {
    query: Option<i64>,
    answered: bool,
}

/// Reads the CLI's answer to a question; `None` when it answers another kind of query.
fn read_ask_response(response: &RawValue) -> Option<AskResponse> {
    #[derive(Deserialize)]
    struct Response<'a> {
        #[serde(borrow, default)]
        id: Scalar<'a>,
        #[serde(borrow, rename = "askQuestionInteractionResponse")]
        ask: Option<Answer<'a>>,
    }
    #[derive(Deserialize)]
    struct Answer<'a> {
        #[serde(borrow, default)]
        result: HashMap<Cow<'a, str>, &'a RawValue>,
    }
    let response: Response<'_> = read_object(response)?;
    Some(AskResponse {
        query: response.id.as_i64(),
        answered: response.ask?.result.contains_key(OUTCOME_SUCCESS),
    })
}
