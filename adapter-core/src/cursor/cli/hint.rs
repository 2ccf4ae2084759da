//! The argument that says most about a call of one of the CLI's own tools.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::scalar::Scalar;

/// The most characters of an argument shown as a hint.
const HINT_CHARS_MAX: usize = 512;

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
