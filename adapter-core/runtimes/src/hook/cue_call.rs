//! Tells whether a tool call was a cue.
//!
//! The stop hook lets a turn end when its last call asked the human. A wrong yes would let an agent slip away, a wrong
//! no asks the human once more; so a call that hides how cueme ended counts as no.

use serde_json::Value;

use super::mcp_tool;
use crate::shell::cue_line::{Cue, WAITING_VERBS, find_cue, named_agent};

/// The members that hold a shell tool's command.
const COMMAND_MEMBERS: [&str; 3] = ["command", "cmd", "script"];

/// A call of a tool by an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The tool, as the host names it.
    pub name: String,
    /// Its arguments.
    pub input: Value,
}

/// Tells whether a call waited for the human: `cueme cue` or `cueme pause` in a shell, or our MCP tools of that name.
pub fn is_cue_call(call: &ToolCall) -> bool {
    match command_text(&call.input) {
        Some(text) => find_cue(&text) == Cue::Plain && !in_background(&call.input),
        None => mcp_verb(call).is_some_and(|verb| WAITING_VERBS.contains(&verb)),
    }
}

/// Returns the agent that a call waited as, where the call names it; a shell variable is no name.
pub fn cued_agent(call: &ToolCall) -> Option<String> {
    if let Some(text) = command_text(&call.input) {
        return named_agent(&text);
    }
    let given = call.input.get("agent_id").or_else(|| {
        let arguments = call.input.get("arguments").or_else(|| call.input.get("args"))?;
        arguments.get("agent_id")
    });
    given.and_then(Value::as_str).map(str::to_owned)
}

/// Returns the tool of our MCP server that a call names, by its own name or by server and tool apart.
fn mcp_verb(call: &ToolCall) -> Option<&str> {
    let given = |names: &[&str]| names.iter().find_map(|name| call.input.get(name)?.as_str());
    let apart = || {
        given(&["server", "serverName", "providerIdentifier"])
            .is_some_and(mcp_tool::is_our_server)
            .then(|| given(&["toolName", "tool", "name"]))
            .flatten()
    };
    mcp_tool::verb_of_name(&call.name).or_else(apart)
}

/// Finds the shell text in a tool's input; Codex gives some commands as `["bash", "-lc", text]`.
fn command_text(input: &Value) -> Option<String> {
    let command = COMMAND_MEMBERS.iter().find_map(|name| input.get(name))?;
    match command {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            match words.as_slice() {
                [shell, flag, text] if flag.ends_with('c') && shell.ends_with("sh") => {
                    Some((*text).to_owned())
                }
                words => shlex::try_join(words.iter().copied()).ok(),
            }
        }
        _ => None,
    }
}

fn in_background(input: &Value) -> bool {
    ["run_in_background", "is_background", "isBackground", "background"]
        .iter()
        .any(|name| input.get(name).and_then(Value::as_bool).unwrap_or(false))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shell(command: &str) -> ToolCall {
        ToolCall {
            name: "Bash".to_owned(),
            input: json!({ "command": command }),
        }
    }

    #[test]
    fn a_command_that_ends_in_a_cue_counts() {
        for command in [
            "cueme cue tidy_fox - <<'END'\n<cueme_prompt>\nDone; next?\n</cueme_prompt>\nEND",
            "cueme pause tidy_fox",
            "/opt/bin/cueme pause tidy_fox 'look at this'",
            "cd /app && CUEME_WAIT=0 cueme cue tidy_fox - < question.txt",
            "make test; cueme cue tidy_fox - <<E\nx\nE\n",
            "printf '%s' \"$q\" | cueme cue tidy_fox -",
            "env LANG=C cueme cue tidy_fox - 2>&1",
        ] {
            assert!(is_cue_call(&shell(command)), "{command}");
        }
    }

    #[test]
    fn whatever_hides_how_it_ended_does_not_count() {
        for command in [
            "echo cueme cue tidy_fox -",
            "cueme join claude_code",
            "cueme cue tidy_fox - & ",
            "cueme cue tidy_fox - || true",
            "cueme cue tidy_fox - | tee log",
            "cueme cue tidy_fox -; echo done",
            "true || cueme cue tidy_fox -",
            "cat <<E\ncueme cue tidy_fox -\nE",
            "",
        ] {
            assert!(!is_cue_call(&shell(command)), "{command}");
        }
        let mut background = shell("cueme pause tidy_fox");
        background.input["run_in_background"] = json!(true);
        assert!(!is_cue_call(&background));
    }

    #[test]
    fn our_mcp_tools_count_under_every_name_that_hosts_give_them() {
        let call = |name: &str, input: Value| {
            is_cue_call(&ToolCall {
                name: name.to_owned(),
                input,
            })
        };
        for name in [
            "mcp__cueme__cue",
            "mcp_cueme_pause",
            "cueme_cue",
            "cueme-pause",
            "cueme.cue",
        ] {
            assert!(call(name, json!({ "agent_id": "a" })), "{name}");
        }
        assert!(call(
            "CallMcpTool",
            json!({ "server": "cueme", "toolName": "cue" })
        ));
        for name in ["mcp__cueme__join", "mcp__other__cue", "cue", "rescue_cueme"] {
            assert!(!call(name, json!({})), "{name}");
        }
    }

    #[test]
    fn the_agent_is_found_where_the_call_names_it() {
        let named = |command: &str| cued_agent(&shell(command));
        assert_eq!(
            named("cd /app && cueme cue tidy_fox - <<'E'\nx\nE").as_deref(),
            Some("tidy_fox")
        );
        assert_eq!(
            named("cueme pause --json tidy_fox 'look'").as_deref(),
            Some("tidy_fox")
        );
        assert_eq!(named("cueme cue $CUEME_AGENT_ID -"), None);
        let tool = ToolCall {
            name: "mcp__cueme__cue".to_owned(),
            input: json!({ "agent_id": "tidy_fox" }),
        };
        assert_eq!(cued_agent(&tool).as_deref(), Some("tidy_fox"));
    }

    #[test]
    fn a_server_beside_a_command_does_not_make_it_a_call_of_ours() {
        let call = ToolCall {
            name: "Bash".to_owned(),
            input: json!({ "command": "make", "server": "cueme", "tool": "cue", "agent_id": "tidy_fox" }),
        };
        assert!(!is_cue_call(&call));
        assert_eq!(cued_agent(&call), None);
    }

    #[test]
    fn a_command_given_as_words_is_read_too() {
        let call = |words: Value| {
            is_cue_call(&ToolCall {
                name: "shell".to_owned(),
                input: json!({ "command": words }),
            })
        };
        assert!(call(json!(["bash", "-lc", "cueme pause a"])));
        assert!(call(json!(["cueme", "pause", "a"])));
        assert!(!call(json!(["echo", "cueme pause a"])));
    }
}
