//! The declarations of our hooks, in each shape.
//!
//! Only events that the host documents are named: Cursor silently drops a whole file over one unknown event.

use serde_json::{Map, Value, json};

use crate::{
    Runtime,
    facts::HookShape,
    install::{
        Request,
        command_line::hook_command,
        json::{Nesting, Part},
        own_file::MARK,
    },
    text::Language,
};

/// The timeout of the hook that waits for a human at the end of a turn: a day.
const WAIT_SECONDS: u64 = 86_400;

/// The timeout of a hook that asks no one.
const QUICK_SECONDS: u64 = 30;

/// The longest timeout that Codex accepts for the hook at the end of a session.
const CODEX_SESSION_END_SECONDS: u64 = 3;

const PLUGIN: &str = include_str!("opencode_plugin.js");

/// One hook: the host's event, ours, how long it may take.
struct Hook {
    host_event: &'static str,
    event: &'static str,
    seconds: u64,
    matcher: Option<&'static str>,
}

/// Returns our hooks as parts of a JSON file of this shape.
pub(super) fn parts(shape: HookShape, request: &Request<'_>) -> Vec<Part> {
    let version = |value: Value| Part::Scaffold {
        key: "version",
        value,
    };
    let hooks = hooks(shape, request);
    let events = |entry: fn(&Hook, &str) -> Value| {
        hooks
            .iter()
            .map(|hook| (hook.host_event, entry(hook, &command(request, hook))))
            .collect::<Vec<_>>()
    };
    match shape {
        HookShape::Cursor => {
            vec![
                Part::Hooks {
                    nesting: Nesting::Flat,
                    events: events(cursor),
                },
                version(json!(1)),
            ]
        }
        HookShape::Claude => vec![Part::Hooks {
            nesting: Nesting::Grouped,
            events: hooks
                .iter()
                .map(|hook| (hook.host_event, claude(hook, request)))
                .collect(),
        }],
        HookShape::Gemini | HookShape::Qwen => vec![Part::Hooks {
            nesting: Nesting::Grouped,
            events: events(gemini),
        }],
        HookShape::Vscode => {
            vec![
                Part::Hooks {
                    nesting: Nesting::Flat,
                    events: events(vscode),
                },
                version(json!(1)),
            ]
        }
        HookShape::CopilotCli => {
            vec![
                Part::Hooks {
                    nesting: Nesting::Flat,
                    events: events(copilot),
                },
                version(json!(1)),
            ]
        }
        HookShape::Windsurf => vec![Part::Hooks {
            nesting: Nesting::Flat,
            events: events(windsurf),
        }],
        HookShape::Kiro => {
            let entries = hooks
                .iter()
                .map(|hook| kiro(hook, &command(request, hook)))
                .collect();
            vec![Part::HookList { entries }, version(json!("v1"))]
        }
        HookShape::OpencodePlugin | HookShape::None => Vec::new(),
    }
}

/// Returns our hooks as Claude Code declares them.
pub(in crate::install) fn hook_parts(request: &Request<'_>) -> Vec<Part> {
    parts(HookShape::Claude, request)
}

/// Returns the plugin by which opencode calls us.
pub(super) fn opencode_plugin(request: &Request<'_>) -> String {
    let binary = Value::from(request.binary).to_string();
    let environment: Value = request
        .environment()
        .iter()
        .map(|(name, value)| (name.clone(), json!(value)))
        .collect::<Map<_, _>>()
        .into();
    let plugin = PLUGIN
        .replace("\"@CUEME@\"", &binary)
        .replace("\"@ENVIRONMENT@\"", &environment.to_string());
    format!("// {MARK}\n{plugin}")
}

fn command(request: &Request<'_>, hook: &Hook) -> String {
    hook_command(request, hook.event)
}

fn hooks(shape: HookShape, request: &Request<'_>) -> Vec<Hook> {
    let usual = |start, prompt, stop, end: Option<&'static str>| {
        let mut usual = vec![
            Hook {
                host_event: start,
                event: "session_start",
                seconds: QUICK_SECONDS,
                matcher: None,
            },
            Hook {
                host_event: prompt,
                event: "prompt_submit",
                seconds: QUICK_SECONDS,
                matcher: None,
            },
            Hook {
                host_event: stop,
                event: "stop",
                seconds: WAIT_SECONDS,
                matcher: None,
            },
        ];
        usual.extend(end.map(|host_event| Hook {
            host_event,
            event: "session_end",
            seconds: session_end_seconds(request.runtime),
            matcher: None,
        }));
        usual
    };
    let mut hooks = match shape {
        HookShape::Cursor => usual("sessionStart", "beforeSubmitPrompt", "stop", Some("sessionEnd")),
        HookShape::Claude | HookShape::Qwen => {
            usual("SessionStart", "UserPromptSubmit", "Stop", Some("SessionEnd"))
        }
        HookShape::Vscode | HookShape::Kiro => usual("SessionStart", "UserPromptSubmit", "Stop", None),
        HookShape::Gemini => usual("SessionStart", "BeforeAgent", "AfterAgent", Some("SessionEnd")),
        HookShape::CopilotCli => usual(
            "sessionStart",
            "userPromptSubmitted",
            "agentStop",
            Some("sessionEnd"),
        ),
        HookShape::Windsurf => vec![
            Hook {
                host_event: "pre_user_prompt",
                event: "prompt_submit",
                seconds: QUICK_SECONDS,
                matcher: None,
            },
            Hook {
                host_event: "post_cascade_response",
                event: "stop",
                seconds: QUICK_SECONDS,
                matcher: None,
            },
        ],
        HookShape::OpencodePlugin | HookShape::None => Vec::new(),
    };
    hooks.extend(own_call(request));
    hooks.extend(gates(request));
    hooks
}

/// The hook that lets our own calls through, where no rule of the host can say which those are.
///
/// Qwen Code reads each line of a here-document as a command of its own, and calls its hook before a tool only once the
/// tool is permitted.
fn own_call(request: &Request<'_>) -> Option<Hook> {
    let (host_event, tool) = match request.runtime {
        Runtime::ClaudeCode => ("PreToolUse", "Bash"),
        Runtime::QwenCode => ("PermissionRequest", "run_shell_command"),
        _ => return None,
    };
    Some(Hook {
        host_event,
        event: "own_call",
        seconds: QUICK_SECONDS,
        matcher: Some(tool),
    })
}

fn session_end_seconds(runtime: Runtime) -> u64 {
    match runtime {
        Runtime::Codex => CODEX_SESSION_END_SECONDS,
        _ => QUICK_SECONDS,
    }
}

/// The text that the host shows while a hook waits, if it shows any: what the hook waits for, and where to answer.
fn status_message(hook: &Hook, request: &Request<'_>) -> Option<&'static str> {
    if hook.seconds < WAIT_SECONDS || !matches!(request.runtime, Runtime::ClaudeCode | Runtime::Codex) {
        return None;
    }
    // Codex queues what is typed while a hook waits, until Esc interrupts it.
    Some(match (request.language, request.runtime) {
        (Language::English, Runtime::Codex) => {
            "waiting for your answer in the cueme inbox (cueme ui), or type here and press Esc"
        }
        (Language::English, _) => "waiting for your answer in the cueme inbox (cueme ui), or type here",
        (Language::Chinese, Runtime::Codex) => {
            "正在等你在 cueme 收件箱里回答（cueme ui），也可以在这里输入后按 Esc"
        }
        (Language::Chinese, _) => "正在等你在 cueme 收件箱里回答（cueme ui），也可以直接在这里输入",
    })
}

/// The hooks that hold a tool until a human has spoken, where the host has such a hook.
fn gates(request: &Request<'_>) -> Vec<Hook> {
    let gate = |host_event, event, matcher| Hook {
        host_event,
        event,
        seconds: WAIT_SECONDS,
        matcher,
    };
    let extras = request.extras;
    match request.runtime {
        Runtime::Cursor if extras.approvals => {
            vec![
                gate("beforeShellExecution", "pre_tool", None),
                gate("beforeMCPExecution", "pre_tool", None),
            ]
        }
        Runtime::ClaudeCode if extras.approvals => vec![gate("PermissionRequest", "permission", None)],
        Runtime::ClaudeCode if extras.questions => {
            vec![gate("PermissionRequest", "permission", Some("AskUserQuestion"))]
        }
        Runtime::Codex => {
            let mut gates = Vec::new();
            if extras.approvals {
                gates.push(gate("PermissionRequest", "permission", None));
            }
            if extras.questions {
                gates.push(gate("PreToolUse", "pre_tool", Some("request_user_input")));
            }
            gates
        }
        _ => Vec::new(),
    }
}

fn cursor(hook: &Hook, command: &str) -> Value {
    let mut entry = json!({ "command": command, "timeout": hook.seconds });
    if hook.host_event == "stop" {
        // Without it Cursor stops following up after five times; we follow up only with a human's words.
        entry["loop_limit"] = Value::Null;
    }
    entry
}

fn claude(hook: &Hook, request: &Request<'_>) -> Value {
    let mut entry = json!({ "type": "command", "command": command(request, hook), "timeout": hook.seconds });
    if let Some(message) = status_message(hook, request) {
        entry["statusMessage"] = json!(message);
    }
    group(hook, &entry)
}

fn gemini(hook: &Hook, command: &str) -> Value {
    let name = format!("cueme-{}", hook.event);
    group(
        hook,
        &json!({ "name": name, "type": "command", "command": command, "timeout": hook.seconds * 1_000 }),
    )
}

fn group(hook: &Hook, entry: &Value) -> Value {
    match hook.matcher {
        Some(matcher) => json!({ "matcher": matcher, "hooks": [entry] }),
        None => json!({ "hooks": [entry] }),
    }
}

fn vscode(hook: &Hook, command: &str) -> Value {
    json!({ "type": "command", "command": command, "timeout": hook.seconds })
}

fn copilot(hook: &Hook, command: &str) -> Value {
    json!({ "type": "command", "bash": command, "powershell": command, "timeoutSec": hook.seconds })
}

fn windsurf(_: &Hook, command: &str) -> Value {
    json!({ "command": command, "show_output": false })
}

fn kiro(hook: &Hook, command: &str) -> Value {
    json!({
        "name": format!("cueme-{}", hook.event),
        "trigger": hook.host_event,
        "action": { "type": "command", "command": command },
        "timeout": hook.seconds,
        "enabled": true,
    })
}
