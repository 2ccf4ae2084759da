//! Tells whether a tool call can do nothing but one of our four agent verbs, so that nobody needs to be asked.
//!
//! Each host's shell tool is known by its exact name and by the members that its input may have; a member that is not
//! listed could change what the call means. Our MCP tools are known by the host's exact spelling.

use serde_json::{Map, Value};

use super::ToolCall;
use crate::Runtime;
use crate::shell::agent_call::{AGENT_VERBS, is_agent_argv, is_agent_call};

/// A host's shell tool.
struct ShellTool {
    /// The names it has.
    names: &'static [&'static str],
    /// The member with the command.
    command: &'static str,
    /// Members that do not change what runs.
    harmless: &'static [&'static str],
}

/// Shells whose `-c` a host may write out.
const SHELLS: [&str; 9] = [
    "sh",
    "bash",
    "zsh",
    "/bin/sh",
    "/bin/bash",
    "/bin/zsh",
    "/usr/bin/sh",
    "/usr/bin/bash",
    "/usr/bin/zsh",
];

/// Tells whether a call in this host does nothing but one of our four agent verbs.
///
/// `programs` are our own absolute paths.
pub fn is_own_call(host: Runtime, call: &ToolCall, programs: &[String]) -> bool {
    if is_own_mcp_tool(host, &call.name, programs) {
        return true;
    }
    let Some(tool) = shell_tool(host).filter(|tool| tool.names.contains(&call.name.as_str())) else {
        return false;
    };
    let Value::Object(members) = &call.input else {
        return false;
    };
    has_only_harmless_members(&tool, members)
        && members
            .get(tool.command)
            .is_some_and(|command| is_own_command(command, programs))
}

fn has_only_harmless_members(tool: &ShellTool, members: &Map<String, Value>) -> bool {
    members.iter().all(|(name, value)| {
        name == tool.command
            || tool.harmless.contains(&name.as_str())
            // A switch that is off changes nothing.
            || *value == Value::Bool(false)
    })
}

/// Codex writes the shell out, or runs the words without one.
fn is_own_command(command: &Value, programs: &[String]) -> bool {
    match command {
        Value::String(text) => is_agent_call(text, programs),
        Value::Array(words) => {
            let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
            match words.as_deref() {
                Some([shell, "-c" | "-lc", text]) if SHELLS.contains(shell) => is_agent_call(text, programs),
                Some(words) => is_agent_argv(words, programs),
                None => false,
            }
        }
        _ => false,
    }
}

fn is_own_mcp_tool(host: Runtime, name: &str, programs: &[String]) -> bool {
    let prefix = match host {
        Runtime::ClaudeCode | Runtime::Codex | Runtime::QwenCode => "mcp__cueme__",
        Runtime::GeminiCli | Runtime::Vscode => "mcp_cueme_",
        Runtime::CopilotCli => "cueme-",
        Runtime::Opencode => "cueme_",
        // Cursor names the tool alone; see `input`, which puts the server's command after it.
        Runtime::Cursor => {
            return programs
                .iter()
                .map(String::as_str)
                .chain(["cueme"])
                .any(|program| {
                    AGENT_VERBS.iter().any(|verb| {
                        name == format!("{verb} ({program} mcp)") || name == format!("{verb} ({program})")
                    })
                });
        }
        _ => return false,
    };
    name.strip_prefix(prefix)
        .is_some_and(|verb| AGENT_VERBS.contains(&verb))
}

fn shell_tool(host: Runtime) -> Option<ShellTool> {
    let (names, command, harmless): (&[_], _, &[_]) = match host {
        Runtime::ClaudeCode => (
            &["Bash"],
            "command",
            &["description", "timeout", "run_in_background"],
        ),
        Runtime::Codex => (
            &["Bash", "shell", "shell_command", "local_shell"],
            "command",
            &["description", "workdir", "timeout_ms"],
        ),
        Runtime::Cursor => (
            &["Shell"],
            "command",
            &[
                "cwd",
                "working_directory",
                "description",
                "timeout",
                "block_until_ms",
                "sandbox",
            ],
        ),
        Runtime::Vscode => (
            &["runInTerminal", "run_in_terminal"],
            "command",
            &["explanation", "goal", "isBackground", "mode", "timeout"],
        ),
        Runtime::CopilotCli => (&["bash"], "command", &["description", "initial_wait", "mode"]),
        Runtime::GeminiCli => (
            &["run_shell_command"],
            "command",
            &["description", "dir_path", "directory", "is_background"],
        ),
        Runtime::QwenCode => (
            &["run_shell_command"],
            "command",
            &["description", "directory", "is_background", "timeout"],
        ),
        Runtime::Opencode => (&["bash"], "command", &["description", "timeout", "workdir"]),
        Runtime::Kiro => (&["execute_bash"], "command", &["summary"]),
        _ => return None,
    };
    Some(ShellTool {
        names,
        command,
        harmless,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const OWN_PATH: &str = "/usr/bin/cueme";

    fn is_own(host: Runtime, name: &str, input: Value) -> bool {
        let call = ToolCall {
            name: name.to_owned(),
            input,
        };
        is_own_call(host, &call, &[OWN_PATH.to_owned()])
    }

    fn is_only_cueme(call: &ToolCall) -> bool {
        is_own_call(Runtime::ClaudeCode, call, &[OWN_PATH.to_owned()])
    }

    fn shell(command: &str) -> ToolCall {
        ToolCall {
            name: "Bash".to_owned(),
            input: json!({ "command": command }),
        }
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
    fn each_host_has_its_own_shell_tool() {
        for (host, name) in [
            (Runtime::ClaudeCode, "Bash"),
            (Runtime::Codex, "Bash"),
            (Runtime::Cursor, "Shell"),
            (Runtime::Vscode, "run_in_terminal"),
            (Runtime::CopilotCli, "bash"),
            (Runtime::GeminiCli, "run_shell_command"),
            (Runtime::Opencode, "bash"),
            (Runtime::Kiro, "execute_bash"),
        ] {
            let input = json!({ "command": "cueme pause a" });
            assert!(is_own(host, name, input.clone()), "{host}");
            for other in ["Write", "bash2", "PowerShell", ""] {
                assert!(!is_own(host, other, input.clone()), "{host} {other}");
            }
        }
        assert!(!is_own(
            Runtime::Terminal,
            "Bash",
            json!({ "command": "cueme pause a" })
        ));
    }

    #[test]
    fn a_member_that_could_change_the_call_keeps_it_from_being_ours() {
        let with = |name: &str, value: Value| {
            let mut input = json!({ "command": "cueme pause a", "description": "Ask" });
            input[name] = value;
            is_own(Runtime::ClaudeCode, "Bash", input)
        };
        assert!(with("timeout", json!(600_000)) && with("run_in_background", json!(true)));
        assert!(with("dangerouslyDisableSandbox", json!(false)));
        assert!(!with("dangerouslyDisableSandbox", json!(true)));
        for name in ["server", "tool", "env", "cmd", "shell", "file_text"] {
            assert!(!with(name, json!("cueme")), "{name}");
        }
        let elsewhere = json!({ "cmd": "id", "command": "cueme pause a" });
        assert!(!is_own(Runtime::ClaudeCode, "Bash", elsewhere));
        assert!(!is_own(
            Runtime::ClaudeCode,
            "Bash",
            json!({ "server": "cueme", "tool": "cue" })
        ));
        assert!(!is_own(Runtime::ClaudeCode, "Bash", json!("cueme pause a")));
    }

    #[test]
    fn our_mcp_tools_are_known_by_the_hosts_exact_name() {
        for (host, name) in [
            (Runtime::ClaudeCode, "mcp__cueme__cue"),
            (Runtime::Codex, "mcp__cueme__pause"),
            (Runtime::GeminiCli, "mcp_cueme_join"),
            (Runtime::Vscode, "mcp_cueme_recall"),
            (Runtime::CopilotCli, "cueme-cue"),
            (Runtime::Opencode, "cueme_cue"),
            (Runtime::Cursor, "cue (/usr/bin/cueme mcp)"),
        ] {
            assert!(is_own(host, name, json!({})), "{host} {name}");
        }
        for name in [
            "mcp__not_cueme__cue",
            "mcp__cueme_x__cue",
            "mcp__cueme__answer",
            "mcp__x__cueme__cue",
            "mcp__cueme__cue__x",
            "cueme_cue",
            "CallMcpTool",
        ] {
            let input = json!({ "server": "cueme", "toolName": "cue" });
            assert!(!is_own(Runtime::ClaudeCode, name, input), "{name}");
        }
        assert!(!is_own(Runtime::Cursor, "cue (/tmp/cueme mcp)", json!({})));
        assert!(!is_own(Runtime::Cursor, "cue", json!({})));
    }

    #[test]
    fn a_shell_that_is_written_out_has_one_of_two_shapes() {
        let own = |words: Value| is_own(Runtime::Codex, "shell", json!({ "command": words }));
        assert!(own(json!(["bash", "-lc", "cueme pause a"])));
        assert!(own(json!(["/bin/sh", "-c", "cueme cue a - <<'E'\nx\nE"])));
        assert!(own(json!(["cueme", "pause", "a b; $(c)"])));
        for words in [
            json!(["bash", "-lc", "cueme pause a; id"]),
            json!(["bash", "-ic", "cueme pause a"]),
            json!(["/tmp/bash", "-lc", "cueme pause a"]),
            json!(["bash", "-lc", "cueme pause a", "x"]),
            json!(["env", "cueme", "pause", "a"]),
            json!(["cueme", 1, "pause"]),
            json!([]),
        ] {
            assert!(!own(words.clone()), "{words}");
        }
    }
}
