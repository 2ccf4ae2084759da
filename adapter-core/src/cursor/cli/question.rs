//! Questions the agent asked with Cursor's own tool.
//!
//! Headless, the CLI answers them itself ("skipped by the user") before any human could see them, so they are
//! kept and asked properly.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::line::read_object;
use super::scalar::Scalar;
use crate::contract::AskQuestion;

/// The most questions one call may carry.
const QUESTIONS_MAX: usize = 32;
/// The most options one question may carry.
const OPTIONS_MAX: usize = 64;

impl AskQuestion {
    /// Reads the arguments of the call; `None` when they are no questions.
    pub(crate) fn from_args(call_id: &str, args: &RawValue) -> Option<Self> {
        let mut ask: Self = read_object(args)?;
        ask.questions.truncate(QUESTIONS_MAX);
        for question in &mut ask.questions {
            question.options.truncate(OPTIONS_MAX);
        }
        call_id.clone_into(&mut ask.call_id);
        (!ask.questions.is_empty()).then_some(ask)
    }

    /// Reads the `query` of an interaction and its number; `None` when it is another kind of query.
    pub(crate) fn from_query(query: &RawValue) -> Option<(Option<i64>, Self)> {
        let query: Query<'_> = read_object(query)?;
        let call = query.ask_question_interaction_query?;
        let ask = Self::from_args(&call.tool_call_id, call.args?)?;
        Some((query.id.as_i64(), ask))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Query<'a> {
    #[serde(borrow, default)]
    id: Scalar<'a>,
    #[serde(borrow, default)]
    ask_question_interaction_query: Option<QueryCall<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct QueryCall<'a> {
    #[serde(borrow, default)]
    args: Option<&'a RawValue>,
    #[serde(default)]
    tool_call_id: Cow<'a, str>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARGS: &str = r#"{"title":"T","questions":[{"id":"q","prompt":"Which?","options":[{"id":"a","label":"A"}],"allowMultiple":true}],"runAsync":false}"#;

    #[test]
    fn the_same_questions_are_read_from_a_call_and_from_a_query() {
        let args = RawValue::from_string(ARGS.into()).unwrap();
        let query =
            format!(r#"{{"id":0,"askQuestionInteractionQuery":{{"args":{ARGS},"toolCallId":"c\nf"}}}}"#);
        let query = RawValue::from_string(query).unwrap();
        let asked = AskQuestion::from_args("c\nf", &args).unwrap();
        assert_eq!(AskQuestion::from_query(&query), Some((Some(0), asked.clone())));
        assert!(asked.questions[0].allow_multiple);
    }

    #[test]
    fn other_queries_and_empty_calls_are_no_questions() {
        let query =
            RawValue::from_string(r#"{"id":0,"webFetchRequestQuery":{"args":{"url":"u"}}}"#.into()).unwrap();
        assert_eq!(AskQuestion::from_query(&query), None);
        let args = RawValue::from_string(r#"{"title":"T"}"#.into()).unwrap();
        assert_eq!(AskQuestion::from_args("c", &args), None);
    }
}
