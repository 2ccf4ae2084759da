//! Records of Gemini CLI.

use serde_json::Value;

use super::CallResult;
use super::claude::leading_number;
use super::entry::{Said, call, list, result, text};

/// The prefix of the line that reports a failed command's exit code.
const EXIT_CODE: &str = "Exit Code: ";

/// Reads a message of the model. It is written again, with its calls, once those have ended.
pub(super) fn message(line: &Value) -> Vec<Said> {
    let calls = list(line, "toolCalls").flat_map(|made| {
        let id = text(made, "id");
        let made_call = text(made, "name").map(|name| call(id, name, made.get("args")));
        let ended = ended(made).map(|ended| result(id, ended));
        made_call.into_iter().chain(ended)
    });
    let words = text(line, "content").map(|text| Said::Text(text.to_owned()));
    calls.chain(words).collect()
}

/// A command that ran counts as a success here, with any exit code.
fn ended(made: &Value) -> Option<CallResult> {
    match text(made, "status")? {
        "success" => Some(match exit_code(made) {
            Some(code) => CallResult::of_exit(code),
            None => CallResult::Succeeded,
        }),
        "error" | "cancelled" => Some(CallResult::Failed { exit: None }),
        _ => None,
    }
}

fn exit_code(made: &Value) -> Option<i64> {
    let response = list(made, "result").find_map(|part| part.get("functionResponse")?.get("response"))?;
    // The remark stands below the output, so a line of the output is not taken for it.
    let remark = text(response, "output")?
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix(EXIT_CODE))?;
    leading_number(remark)
}
