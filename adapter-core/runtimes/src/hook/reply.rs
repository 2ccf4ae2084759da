//! Encodes the replies of hooks in each host's own shape.
//!
//! Hosts differ in what they listen to at which event. A reply that a host cannot take at an event becomes the nearest
//! one that it can, and in the end [`HookReply::Pass`]: a hook must never break its host.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{Event, HookInput};
use crate::Runtime;

/// The exit code by which Windsurf and Kiro know a refusal.
const EXIT_REFUSED: u8 = 2;

/// The reply of a hook.
#[derive(Debug, Clone, PartialEq)]
pub enum HookReply {
    /// Nothing: the host goes on as if there were no hook.
    Pass,
    /// The turn goes on with these words of the human.
    Continue(String),
    /// The agent reads this text in addition.
    Context(String),
    /// The agent's commands run with these variables, and the agent is told the text.
    Environment {
        /// The variables.
        variables: BTreeMap<String, String>,
        /// The text for the agent.
        context: String,
    },
    /// The tool may run.
    Allow,
    /// The tool may not run, for this reason.
    Deny(String),
    /// The human answered the questions that the tool would have asked.
    Answers {
        /// The tool's input with the answers in it.
        input: Value,
        /// The answers as text, for hosts that cannot change a tool's input.
        text: String,
    },
}

/// The output and the exit code of a hook.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HookOutput {
    /// For stdout.
    pub stdout: String,
    /// For stderr.
    pub stderr: String,
    /// The exit code.
    pub exit: u8,
    /// Lines to append to the file that `$CLAUDE_ENV_FILE` names, if it is set.
    pub environment_lines: String,
}

/// Encodes a reply for the host and event that the hook was called with.
pub fn encode(input: &HookInput, reply: &HookReply) -> HookOutput {
    let reply = fitting(input.event, reply);
    if input.event == Event::OwnCall && reply == HookReply::Pass {
        // Hosts that run Claude Code's hooks differ in what they make of an empty object; all take silence for no
        // decision.
        return HookOutput::default();
    }
    match input.host {
        Runtime::Cursor => cursor(input, &reply),
        // Qwen Code calls the hook where it would ask the human, and wants the answer to that.
        Runtime::QwenCode if input.event == Event::OwnCall => claude(Event::Permission, &reply),
        Runtime::ClaudeCode | Runtime::QwenCode | Runtime::Droid => claude(input.event, &reply),
        Runtime::Codex => codex(input.event, &reply),
        Runtime::GeminiCli => gemini(input.event, &reply),
        Runtime::Vscode => vscode(input.event, &reply),
        Runtime::CopilotCli => copilot(input.event, &reply),
        Runtime::Opencode => opencode(&reply),
        Runtime::Windsurf => refusal_only(&reply),
        Runtime::Kiro => kiro(&reply),
        Runtime::AgentsMd | Runtime::Terminal => HookOutput::default(),
    }
}

/// Turns a reply that makes no sense at an event into the nearest one that does.
fn fitting(event: Event, reply: &HookReply) -> HookReply {
    let is_start = matches!(event, Event::SessionStart | Event::PromptSubmit);
    let is_gate = matches!(event, Event::PreTool | Event::Permission);
    match reply {
        HookReply::Continue(text) if is_start => HookReply::Context(text.clone()),
        HookReply::Environment { context, .. } if event == Event::PromptSubmit => {
            HookReply::Context(context.clone())
        }
        HookReply::Continue(_) if event == Event::Stop => reply.clone(),
        HookReply::Context(_) if is_start => reply.clone(),
        HookReply::Environment { .. } if event == Event::SessionStart => reply.clone(),
        HookReply::Allow | HookReply::Deny(_) | HookReply::Answers { .. } if is_gate => reply.clone(),
        HookReply::Allow if event == Event::OwnCall => HookReply::Allow,
        _ => HookReply::Pass,
    }
}

fn cursor(input: &HookInput, reply: &HookReply) -> HookOutput {
    let is_gate = matches!(input.event, Event::PreTool | Event::Permission);
    out(&match reply {
        HookReply::Pass if input.event == Event::PromptSubmit => json!({ "continue": true }),
        // Cursor reads a gate's answer without a decision as a refusal, so its own dialog is asked for.
        HookReply::Pass if is_gate => json!({ "permission": "ask" }),
        HookReply::Pass => json!({}),
        // Hooks taken from Claude Code's settings are answered in Claude Code's words; Cursor translates.
        HookReply::Continue(text) if input.installed_for == Runtime::ClaudeCode => block(text),
        HookReply::Continue(text) => json!({ "followup_message": text }),
        HookReply::Context(text) if input.event == Event::PromptSubmit => {
            json!({ "continue": true, "additional_context": text })
        }
        HookReply::Context(text) => json!({ "additional_context": text }),
        HookReply::Environment { variables, context } => {
            json!({ "env": variables, "additional_context": context })
        }
        // The hook is installed in Claude Code's settings, so the reply has the members of both hosts.
        HookReply::Allow if input.event == Event::OwnCall => {
            let mut answer = claude_like(input.event, reply);
            answer["permission"] = json!("allow");
            answer
        }
        HookReply::Allow => json!({ "permission": "allow" }),
        HookReply::Deny(text) | HookReply::Answers { text, .. } => {
            json!({ "permission": "deny", "user_message": text, "agent_message": text })
        }
    })
}

fn claude(event: Event, reply: &HookReply) -> HookOutput {
    if let HookReply::Environment { variables, context } = reply {
        let output = out(&specific(event, [("additionalContext", json!(context))]));
        return HookOutput {
            environment_lines: export_lines(variables),
            ..output
        };
    }
    out(&match reply {
        HookReply::Answers { input, .. } if event == Event::Permission => specific(
            event,
            [("decision", json!({ "behavior": "allow", "updatedInput": input }))],
        ),
        HookReply::Answers { input, .. } => specific(
            event,
            [
                ("permissionDecision", json!("allow")),
                ("updatedInput", input.clone()),
            ],
        ),
        other => claude_like(event, other),
    })
}

/// Codex refuses an answer with members that it does not know, and cannot change a tool's input on a permission.
fn codex(event: Event, reply: &HookReply) -> HookOutput {
    out(&claude_like(event, reply))
}

fn vscode(event: Event, reply: &HookReply) -> HookOutput {
    out(&match reply {
        // VS Code reads the inner members, Copilot CLI (which runs the same files) the outer ones.
        HookReply::Continue(text) => {
            let mut answer = block(text);
            answer["hookSpecificOutput"] =
                json!({ "hookEventName": host_event(event), "decision": "block", "reason": text });
            answer
        }
        other => claude_like(event, other),
    })
}

fn claude_like(event: Event, reply: &HookReply) -> Value {
    match reply {
        HookReply::Pass => json!({}),
        HookReply::Continue(text) => block(text),
        HookReply::Context(text) | HookReply::Environment { context: text, .. } => {
            specific(event, [("additionalContext", json!(text))])
        }
        HookReply::Allow if event == Event::Permission => {
            specific(event, [("decision", json!({ "behavior": "allow" }))])
        }
        HookReply::Allow => specific(event, [("permissionDecision", json!("allow"))]),
        HookReply::Deny(text) | HookReply::Answers { text, .. } if event == Event::Permission => specific(
            event,
            [("decision", json!({ "behavior": "deny", "message": text }))],
        ),
        HookReply::Deny(text) | HookReply::Answers { text, .. } => specific(
            event,
            [
                ("permissionDecision", json!("deny")),
                ("permissionDecisionReason", json!(text)),
            ],
        ),
    }
}

fn gemini(event: Event, reply: &HookReply) -> HookOutput {
    out(&match reply {
        HookReply::Pass => json!({}),
        HookReply::Continue(text) | HookReply::Deny(text) | HookReply::Answers { text, .. } => {
            json!({ "decision": "deny", "reason": text })
        }
        HookReply::Context(text) | HookReply::Environment { context: text, .. } => {
            let name = if event == Event::SessionStart {
                "SessionStart"
            } else {
                "BeforeAgent"
            };
            json!({ "hookSpecificOutput": { "hookEventName": name, "additionalContext": text } })
        }
        HookReply::Allow => json!({ "decision": "allow" }),
    })
}

fn copilot(event: Event, reply: &HookReply) -> HookOutput {
    out(&match reply {
        HookReply::Pass => json!({}),
        HookReply::Continue(text) => block(text),
        HookReply::Context(text) | HookReply::Environment { context: text, .. } => {
            json!({ "additionalContext": text })
        }
        HookReply::Allow if event == Event::Permission => json!({ "behavior": "allow" }),
        HookReply::Allow => json!({ "permissionDecision": "allow" }),
        HookReply::Deny(text) | HookReply::Answers { text, .. } if event == Event::Permission => {
            json!({ "behavior": "deny", "message": text })
        }
        HookReply::Deny(text) | HookReply::Answers { text, .. } => {
            json!({ "permissionDecision": "deny", "permissionDecisionReason": text })
        }
    })
}

/// The shape that our own plugin for opencode reads.
fn opencode(reply: &HookReply) -> HookOutput {
    out(&match reply {
        HookReply::Pass => json!({}),
        HookReply::Continue(text) => json!({ "prompt": text }),
        HookReply::Context(text) => json!({ "context": text }),
        HookReply::Environment { variables, context } => json!({ "env": variables, "context": context }),
        HookReply::Allow => json!({ "status": "allow" }),
        HookReply::Deny(text) | HookReply::Answers { text, .. } => {
            json!({ "status": "deny", "message": text })
        }
    })
}

/// Windsurf listens to an exit code only.
fn refusal_only(reply: &HookReply) -> HookOutput {
    match reply {
        HookReply::Deny(text) | HookReply::Answers { text, .. } => refused(text),
        _ => HookOutput::default(),
    }
}

/// Kiro adds what a hook prints to the agent's context.
fn kiro(reply: &HookReply) -> HookOutput {
    match reply {
        HookReply::Continue(text)
        | HookReply::Context(text)
        | HookReply::Environment { context: text, .. } => HookOutput {
            stdout: format!("{text}\n"),
            ..HookOutput::default()
        },
        other => refusal_only(other),
    }
}

fn refused(text: &str) -> HookOutput {
    HookOutput {
        stderr: format!("{text}\n"),
        exit: EXIT_REFUSED,
        ..HookOutput::default()
    }
}

fn block(text: &str) -> Value {
    json!({ "decision": "block", "reason": text })
}

fn specific<const N: usize>(event: Event, members: [(&str, Value); N]) -> Value {
    let mut inner = Map::new();
    inner.insert("hookEventName".to_owned(), json!(host_event(event)));
    inner.extend(members.into_iter().map(|(name, value)| (name.to_owned(), value)));
    json!({ "hookSpecificOutput": inner })
}

/// The event's name among the hosts that follow Claude Code.
fn host_event(event: Event) -> &'static str {
    match event {
        Event::SessionStart => "SessionStart",
        Event::PromptSubmit => "UserPromptSubmit",
        Event::Stop => "Stop",
        Event::PreTool | Event::OwnCall => "PreToolUse",
        Event::Permission => "PermissionRequest",
        Event::SessionEnd => "SessionEnd",
    }
}

fn export_lines(variables: &BTreeMap<String, String>) -> String {
    variables
        .iter()
        .filter_map(|(name, value)| Some(format!("export {name}={}\n", shlex::try_quote(value).ok()?)))
        .collect()
}

fn out(value: &Value) -> HookOutput {
    HookOutput {
        stdout: format!("{value}\n"),
        ..HookOutput::default()
    }
}
