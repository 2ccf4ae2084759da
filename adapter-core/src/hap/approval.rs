//! Words the question whether a tool may run: its whole input, as code.

use std::path::Path;

use serde_json::Value;

/// The largest input that is shown. A larger one is not asked about here: nobody may allow what they were not shown.
const INPUT_BYTES_MAX: usize = 1024 * 1024;

/// The member that is shown as a block of its own, because it is a program.
const COMMAND: &str = "command";

/// Returns the question, or `None` when the input is too large to be shown whole.
///
/// The prompt holds every byte of the input, and so does the digest by which the broker knows the question.
pub fn approval_prompt(tool: &str, input: &Value, folder: Option<&Path>) -> Option<String> {
    let mut blocks = Vec::new();
    let mut rest = input.clone();
    if let Some(members) = rest.as_object_mut()
        && let Some(command) = members.get(COMMAND).and_then(Value::as_str)
    {
        blocks.push(command.to_owned());
        members.remove(COMMAND);
    }
    let is_told = blocks.is_empty() || rest.as_object().is_none_or(|members| !members.is_empty());
    if is_told {
        blocks.push(serde_json::to_string_pretty(&rest).ok()?);
    }
    if blocks.iter().map(String::len).sum::<usize>() > INPUT_BYTES_MAX {
        return None;
    }
    let folder = folder.map_or_else(String::new, |folder| {
        format!(" in {}", inline_code(&folder.to_string_lossy()))
    });
    let mut prompt = format!("May {} run{folder}?", inline_code(tool));
    for block in &blocks {
        let fence = "`".repeat(longest_run(block).max(2) + 1);
        prompt.push_str(&format!("\n\n{fence}\n{block}\n{fence}"));
    }
    Some(prompt)
}

/// Marks a short text as code; a line end would leave the mark.
fn inline_code(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ");
    let mark = "`".repeat(longest_run(&text) + 1);
    // A blank keeps a backtick at either end apart from the mark.
    let pad = if text.starts_with('`') || text.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{mark}{pad}{text}{pad}{mark}")
}

/// Returns the length of the longest run of backticks: a fence has to be longer.
fn longest_run(text: &str) -> usize {
    text.split(|letter| letter != '`')
        .map(str::len)
        .max()
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn prompt(input: &Value) -> Option<String> {
        approval_prompt("Bash", input, Some(Path::new("/app")))
    }

    #[test]
    fn every_member_is_shown_the_command_first() {
        let shown = prompt(&json!({ "command": "rm -rf build", "dangerouslyDisableSandbox": true })).unwrap();
        assert_eq!(
            shown,
            "May `Bash` run in `/app`?\n\n```\nrm -rf build\n```\n\n```\n{\n  \"dangerouslyDisableSandbox\": true\n}\n```"
        );
        let shown = prompt(&json!({ "path": "/etc/passwd", "file_text": "x" })).unwrap();
        assert!(shown.contains("\"path\": \"/etc/passwd\"") && shown.contains("\"file_text\": \"x\""));
        let odd = prompt(&json!({ "command": ["rm", "x"] })).unwrap();
        assert!(odd.contains("\"rm\"") && odd.contains("\"x\""), "{odd}");
        assert!(prompt(&Value::Null).unwrap().contains("null"));
    }

    #[test]
    fn a_fence_in_the_input_does_not_end_ours() {
        let shown = prompt(&json!({ "command": "a\n```\n````\nb" })).unwrap();
        assert!(shown.ends_with("`````\na\n```\n````\nb\n`````"), "{shown}");
    }

    #[test]
    fn inputs_alike_in_their_beginning_differ_and_none_is_cut() {
        let long = "x".repeat(INPUT_BYTES_MAX - 10);
        let first = prompt(&json!({ "command": format!("{long}1") })).unwrap();
        let second = prompt(&json!({ "command": format!("{long}2") })).unwrap();
        assert_ne!(first, second);
        assert_eq!(
            prompt(&json!({ "command": "x".repeat(INPUT_BYTES_MAX + 1) })),
            None
        );
    }
}
