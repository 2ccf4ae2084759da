//! Notes for a person, beside the files that change.

use super::programs;
use crate::{
    Runtime,
    install::{Request, Scope},
};

/// The advice for scripts, which cannot use hooks that wait for a person.
const WITHOUT_HOOKS: &str =
    "in unattended scripts (`claude -p`, `codex exec`), set CUEME_HOOKS=off so that no hook waits";

/// Returns what the person has to do, or cannot expect, after an installation.
pub(in crate::install) fn notes(request: &Request<'_>) -> Vec<String> {
    let mut notes: Vec<&str> = Vec::new();
    let mut printed = Vec::new();
    if request.scope == Scope::Project && request.runtime != Runtime::Terminal {
        notes.push("these files name the program as `cueme`: it must be on the search path of everyone who uses them");
    }
    match (request.runtime, request.scope) {
        (Runtime::Cursor, scope) => {
            notes.push(match scope {
                Scope::User => {
                    "Cursor documents rule files for projects only: if an agent does not know HAP, run \
                     `cueme init cursor --project` there or paste `cueme protocol cursor` into Cursor's user rules"
                }
                Scope::Project => "Cursor runs a project's hooks only in a workspace that you trust",
            });
            notes.push(
                "`cursor-agent -p` and cloud agents run no stop hook: there only the rule reminds the agent",
            );
        }
        (Runtime::ClaudeCode, Scope::User) => {
            notes.push("Cursor and VS Code run these hooks too; a question is asked only once");
            notes.push("close Claude Code first: while it runs it may write over ~/.claude.json");
            notes.push(WITHOUT_HOOKS);
        }
        (Runtime::ClaudeCode, Scope::Project) => {
            notes.push("Claude Code asks once whether to use the servers in .mcp.json");
        }
        (Runtime::Codex, _) => {
            notes.push(
                "open `/hooks` in Codex and trust the cueme hooks; after each update of cueme do it again",
            );
            notes.push(WITHOUT_HOOKS);
        }
        (Runtime::Windsurf, _) => {
            notes.push(
                "Windsurf's hooks cannot hold a turn: when an agent ends without asking, the inbox says so",
            );
        }
        (Runtime::Vscode, _) => {
            notes.push("hooks of VS Code are a preview: they need `chat.useHooks` to be on");
        }
        (Runtime::Kiro, _) => {
            notes.push(
                "Kiro's stop hook cannot hold a turn: the human's words reach the agent with its next prompt",
            );
        }
        (Runtime::Opencode, _) => notes.push("restart opencode to load the plugin"),
        (Runtime::GeminiCli, scope) => {
            notes.push("restart Gemini CLI to load the settings");
            if scope == Scope::Project {
                notes.push(
                    "permissions are read for the user only: run `cueme init gemini_cli --user` for that",
                );
            }
        }
        (Runtime::CopilotCli, _) => {
            notes
                .push("Copilot CLI has no file for permissions: start it with --allow-tool 'shell(cueme:*)'");
        }
        (Runtime::QwenCode, _) => notes.push("restart Qwen Code to load the settings"),
        (Runtime::Droid, _) => {
            notes.push(
                "how Droid matches its list of permitted commands is not documented: allow cueme when it first asks",
            );
        }
        (Runtime::AgentsMd, _) => {
            printed.push(declared(request));
            notes.push(
                "such a program has no hook that we know: only the rule reminds the agent to ask before it ends",
            );
        }
        (Runtime::Terminal, _) => {
            notes.push("nothing to install: give the output of `cueme protocol terminal` to your agent");
        }
    }
    if has_extras(request) && !takes_extras(request.runtime) {
        notes.push("this runtime has no hook that could route approvals or questions");
    }
    printed.extend(notes.into_iter().map(str::to_owned));
    printed
}

/// Says where the MCP server was declared, and how to declare it elsewhere.
fn declared(request: &Request<'_>) -> String {
    let names: Vec<&str> = programs::used(request)
        .iter()
        .map(|(program, ..)| program.name)
        .collect();
    let server = programs::printed(request);
    if names.is_empty() {
        return format!(
            "no known MCP client was found: add this server by hand (Goose, Warp, Continue …): {server}"
        );
    }
    format!(
        "MCP is declared for {}; elsewhere (Goose, Warp, Continue …) add this server by hand: {server}",
        names.join(", ")
    )
}

fn has_extras(request: &Request<'_>) -> bool {
    request.extras.approvals || request.extras.questions
}

fn takes_extras(runtime: Runtime) -> bool {
    matches!(runtime, Runtime::Cursor | Runtime::ClaudeCode | Runtime::Codex)
}
