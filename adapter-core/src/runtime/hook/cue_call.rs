//! Tells whether a tool call was a cue.
//!
//! The stop hook lets a turn end when its last call asked the human. A wrong yes would let an agent slip away, a wrong
//! no asks the human once more; so whatever hides how cueme ended counts as no.

use serde_json::Value;

use super::shell::{self, Separator, Simple};

/// The verbs that wait for the human.
const VERBS: [&str; 2] = ["cue", "pause"];

/// The tools of our MCP server.
const TOOLS: [&str; 4] = ["join", "recall", "cue", "pause"];

/// Programs that run the command that follows them.
const WRAPPERS: [&str; 4] = ["env", "command", "exec", "time"];

/// A call of a tool by an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The tool, as the host names it.
    pub name: String,
    /// What it was given.
    pub input: Value,
}

/// Tells whether a call waited for the human: `cueme cue` or `cueme pause` in a shell, or our MCP tools of that name.
pub fn is_cue_call(call: &ToolCall) -> bool {
    if is_mcp_cue(call) {
        return true;
    }
    command_text(&call.input).is_some_and(|text| ends_with_cue(&text)) && !in_background(&call.input)
}

/// Returns the agent that a call waited as, where the call names it; a shell variable is no name.
pub fn cued_agent(call: &ToolCall) -> Option<String> {
    let given = call.input.get("agent_id").or_else(|| {
        let arguments = call.input.get("arguments").or_else(|| call.input.get("args"))?;
        arguments.get("agent_id")
    });
    if let Some(agent) = given.and_then(Value::as_str) {
        return Some(agent.to_owned());
    }
    let commands = shell::commands(&command_text(&call.input)?);
    let words = &commands.last()?.words;
    let verb = words.iter().position(|word| VERBS.contains(&word.as_str()))?;
    words[verb + 1..]
        .iter()
        .find(|word| !word.starts_with('-'))
        .filter(|word| !word.contains('$'))
        .cloned()
}

/// Tells whether a call runs cueme and nothing else, so that nobody needs to be asked whether it may.
///
/// What the shell would expand could run anything, so a command that expands anything does not count. The text of a
/// quoted here-document is not expanded.
pub fn is_only_cueme(call: &ToolCall) -> bool {
    if is_mcp_of_ours(call) {
        return true;
    }
    let Some(text) = command_text(&call.input) else {
        return false;
    };
    let commands = shell::commands(&text);
    let expanded = match text.split_once('\n') {
        Some((first, _)) if first.contains("<<'") && commands.len() == 1 => first,
        _ => &text,
    };
    let is_plain = !expanded.contains(['$', '`', '>', '(']) && !expanded.contains("<<<");
    is_plain
        && !commands.is_empty()
        && commands
            .iter()
            .all(|command| command.words.first().is_some_and(|word| is_cueme(word)))
}

/// Hosts join server and tool in many ways (`mcp__cueme__cue`, `cueme_cue`, `cueme-cue`), or give them apart.
fn is_mcp_cue(call: &ToolCall) -> bool {
    mcp_tool(call).is_some_and(|tool| VERBS.contains(&tool))
}

fn is_mcp_of_ours(call: &ToolCall) -> bool {
    mcp_tool(call).is_some_and(|tool| TOOLS.contains(&tool))
}

/// Returns the tool of our MCP server that a call names.
fn mcp_tool(call: &ToolCall) -> Option<&str> {
    let parts: Vec<&str> = call
        .name
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|p| !p.is_empty())
        .collect();
    let named = parts
        .contains(&"cueme")
        .then(|| parts.last().copied())
        .flatten()
        .filter(|last| *last != "cueme");
    let given = |names: &[&str]| names.iter().find_map(|name| call.input.get(name)?.as_str());
    let apart = || {
        (given(&["server", "serverName", "providerIdentifier"]) == Some("cueme"))
            .then(|| given(&["toolName", "tool", "name"]))
            .flatten()
    };
    named.or_else(apart)
}

/// Finds the shell text in a tool's input; Codex gives some commands as `["bash", "-lc", text]`.
fn command_text(input: &Value) -> Option<String> {
    let command = ["command", "cmd", "script"]
        .iter()
        .find_map(|name| input.get(name))?;
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

fn ends_with_cue(text: &str) -> bool {
    let commands = shell::commands(text);
    let Some((last, earlier)) = commands.split_last() else {
        return false;
    };
    // After `||` cueme may never have run.
    let certain = earlier.iter().all(|command| command.then != Some(Separator::Or));
    certain && matches!(last.then, None | Some(Separator::Sequence)) && is_cue(last)
}

fn is_cue(command: &Simple) -> bool {
    let mut words = command
        .words
        .iter()
        .map(String::as_str)
        .skip_while(|word| is_prefix(word));
    let Some(program) = words.next() else {
        return false;
    };
    is_cueme(program) && words.next().is_some_and(|verb| VERBS.contains(&verb))
}

fn is_cueme(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    name == "cueme" || name == "cueme.exe"
}

/// A variable's assignment or a program that only runs another.
fn is_prefix(word: &str) -> bool {
    let is_assignment = word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    });
    is_assignment || WRAPPERS.contains(&word)
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
    fn only_a_command_that_can_run_nothing_else_is_ours_alone() {
        for command in [
            "cueme join claude_code",
            "cueme cue tidy_fox - <<'E'\nuse `a` or $(b)?\nE",
            "/usr/bin/cueme pause tidy_fox",
        ] {
            assert!(is_only_cueme(&shell(command)), "{command}");
        }
        for command in [
            "rm -rf / && cueme cue tidy_fox -",
            "cueme cue tidy_fox - && rm -rf /",
            "cueme cue $(rm -rf /) -",
            "cueme pause tidy_fox `id`",
            "cueme pause tidy_fox > /etc/passwd",
            "cueme cue tidy_fox - <<'E'\nx\nE\nrm -rf /",
            "cueme cue tidy_fox - <<E\n$(id)\nE",
            "LD_PRELOAD=x cueme pause tidy_fox",
            "",
        ] {
            assert!(!is_only_cueme(&shell(command)), "{command}");
        }
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
