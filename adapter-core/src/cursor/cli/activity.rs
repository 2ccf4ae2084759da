//! What the CLI's own tools do, for people who watch.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::scalar::Scalar;

/// The most characters of an argument shown as a hint.
const HINT_CHARS_MAX: usize = 512;

/// One step of a tool that the CLI ran by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "activity")]
pub struct Activity<'a> {
    /// The step.
    pub data: ActivityData<'a>,
}

/// The step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActivityData<'a> {
    /// Whether the call starts or ends; a call whose start was not seen only ends.
    pub phase: Phase,
    /// Names the call; both its steps carry the same.
    pub call_id: Cow<'a, str>,
    /// The normalised name: Read, Edit, Write, Bash, Ls, Grep, ….
    pub name: Cow<'a, str>,
    /// The CLI's own key, for example `shellToolCall`.
    pub key: Cow<'a, str>,
    /// The argument that says most: the command, the path, the pattern.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<Cow<'a, str>>,
    /// How it ended: `success`, `failure`, `rejected`, `error`, `timeout`, ….
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Cow<'a, str>>,
    /// The exit code of a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// Whether a command was moved to the background.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_background: Option<bool>,
    /// Why it was rejected or failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Cow<'a, str>>,
}

/// Which step of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// The call begins.
    Started,
    /// The call ended.
    Completed,
}

/// The arguments that can serve as a hint, the most telling first.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Hints<'a> {
    #[serde(borrow)]
    command: Scalar<'a>,
    #[serde(borrow)]
    path: Scalar<'a>,
    #[serde(borrow)]
    glob_pattern: Scalar<'a>,
    #[serde(borrow)]
    pattern: Scalar<'a>,
    #[serde(borrow)]
    url: Scalar<'a>,
    #[serde(borrow)]
    search_term: Scalar<'a>,
    #[serde(borrow)]
    query: Scalar<'a>,
    #[serde(borrow)]
    title: Scalar<'a>,
    #[serde(borrow)]
    tool_name: Scalar<'a>,
    #[serde(borrow)]
    name: Scalar<'a>,
    #[serde(borrow)]
    description: Scalar<'a>,
    #[serde(borrow)]
    prompt: Scalar<'a>,
    #[serde(borrow)]
    plan: Scalar<'a>,
}

/// Returns the argument that says most about a call.
pub(crate) fn hint(args: &RawValue) -> Option<String> {
    let hints: Hints<'_> = serde_json::from_str(args.get()).ok()?;
    let order = [
        &hints.command,
        &hints.path,
        &hints.glob_pattern,
        &hints.pattern,
        &hints.url,
        &hints.search_term,
        &hints.query,
        &hints.title,
        &hints.tool_name,
        &hints.name,
        &hints.description,
        &hints.prompt,
        &hints.plan,
    ];
    let text = order.into_iter().find_map(Scalar::non_empty)?;
    Some(text.chars().take(HINT_CHARS_MAX).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hint_is_the_most_telling_argument() {
        let cases = [
            (r#"{"description":"List","command":"ls"}"#, Some("ls")),
            (r#"{"path":"/a","streamContent":"x"}"#, Some("/a")),
            (r#"{"searchTerm":"rust"}"#, Some("rust")),
            (r#"{"toolName":"cue","name":"cueme-cue","args":{}}"#, Some("cue")),
            (r#"{"todos":[]}"#, None),
            (r#"[1]"#, None),
        ];
        for (args, expected) in cases {
            let args = RawValue::from_string(args.into()).unwrap();
            assert_eq!(hint(&args).as_deref(), expected);
        }
    }
}
