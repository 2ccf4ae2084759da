//! The files of one installation and what goes into each.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::{hooks, mcp, programs};
use crate::runtime::{
    Runtime,
    facts::{HookShape, McpShape, RuleKind},
    install::{Request, Scope, json::Part, own_file::MARK, toml::ServerTable},
    text,
};

/// One file of an installation.
#[derive(Debug)]
pub(in crate::runtime::install) struct FileRecipe {
    /// Where it is.
    pub path: PathBuf,
    /// What for, as a phrase for a person.
    pub why: String,
    /// What goes into it.
    pub content: Content,
}

/// What goes into a file.
#[derive(Debug)]
pub(in crate::runtime::install) enum Content {
    /// Our rule in a managed block.
    Rule {
        /// What a fresh file starts with.
        front_matter: &'static str,
        /// What fresh files of older versions started with.
        retired: &'static [&'static str],
        /// The rule.
        body: String,
    },
    /// Members of a JSON file.
    Json(Vec<Part>),
    /// A table of a TOML file.
    Toml(ServerTable),
    /// The whole file.
    Own(String),
}

/// Lists the files of an installation; those that several of our parts go into appear once.
pub(in crate::runtime::install) fn recipe(request: &Request<'_>) -> Vec<FileRecipe> {
    let mut files = Vec::new();
    files.extend(rule(request));
    files.extend(permission(request));
    files.extend(hook_file(request));
    files.extend(mcp_file(request));
    files.extend(program_files(request));
    merged(files)
}

fn rule(request: &Request<'_>) -> Option<FileRecipe> {
    let rule = request.scope.of(&request.runtime.facts().rule.value)?;
    let (front_matter, retired) = match rule.kind {
        RuleKind::Block => ("", &[][..]),
        RuleKind::Own {
            front_matter,
            retired,
        } => (front_matter, retired),
    };
    let path = request.paths.resolve(request.runtime, rule.place);
    let body = rule_text(request, &path);
    Some(FileRecipe {
        path,
        why: "the HAP rule".to_owned(),
        content: Content::Rule {
            front_matter,
            retired,
            body,
        },
    })
}

/// The rule has the guidance of every runtime that reads the same file, so that connecting a second one does not take
/// away the words of the first.
fn rule_text(request: &Request<'_>, path: &Path) -> String {
    let reads_it = |runtime: &Runtime| {
        let rule = request.scope.of(&runtime.facts().rule.value);
        rule.is_some_and(|rule| request.paths.resolve(*runtime, rule.place) == path)
    };
    text::rule(Runtime::ALL.into_iter().filter(reads_it), request.language)
}

fn permission(request: &Request<'_>) -> Option<FileRecipe> {
    let place = request.scope.of(&request.runtime.facts().permission.value)?;
    let content = match request.runtime {
        Runtime::Cursor => Content::Json(cursor_permission(request.scope)),
        Runtime::ClaudeCode => Content::Json(claude_permission()),
        Runtime::Codex => Content::Own(codex_rules()),
        Runtime::Windsurf => Content::Json(vec![item(&["windsurf.cascadeCommandsAllowList"], "cueme")]),
        Runtime::Vscode => Content::Json(vec![Part::Setting {
            path: vec!["chat.tools.terminal.autoApprove"],
            key: "cueme",
            value: json!(true),
        }]),
        Runtime::Kiro => Content::Json(vec![item(&["kiroAgent.trustedCommands"], "cueme *")]),
        // opencode allows every command unless told otherwise, and takes the last rule that matches.
        Runtime::Opencode => Content::Json(vec![Part::MemberOfExisting {
            path: vec!["permission", "bash"],
            key: "cueme *",
            value: json!("allow"),
        }]),
        Runtime::GeminiCli => Content::Own(gemini_policy()),
        Runtime::QwenCode => Content::Json(vec![item(&["permissions", "allow"], "Bash(cueme *)")]),
        Runtime::CopilotCli | Runtime::Droid | Runtime::AgentsMd | Runtime::Terminal => return None,
    };
    Some(FileRecipe {
        path: existing_spelling(request, request.paths.resolve(request.runtime, place)),
        why: "permission to run cueme".to_owned(),
        content,
    })
}

/// `Shell(cueme)` permits cueme and nothing else. The user's file is rejected by Cursor when `version`, `editor` or
/// one of the two lists is missing, so a fresh one gets them all.
fn cursor_permission(scope: Scope) -> Vec<Part> {
    let mut parts = vec![
        item(&["permissions", "allow"], "Shell(cueme)"),
        Part::Filler {
            path: vec!["permissions"],
            key: "deny",
            value: json!([]),
        },
    ];
    if scope == Scope::User {
        parts.push(Part::Scaffold {
            key: "editor",
            value: json!({ "vimMode": false }),
        });
        parts.push(Part::Scaffold {
            key: "version",
            value: json!(1),
        });
    }
    parts
}

fn claude_permission() -> Vec<Part> {
    let raised = Runtime::ClaudeCode
        .facts()
        .shell_ceiling_raised
        .value
        .unwrap_or_default();
    let setting = |key, value: String| Part::Setting {
        path: vec!["env"],
        key,
        value: json!(value),
    };
    vec![
        item(&["permissions", "allow"], "Bash(cueme *)"),
        item(&["permissions", "allow"], "mcp__cueme"),
        setting("BASH_DEFAULT_TIMEOUT_MS", raised.as_millis().to_string()),
        // Claude Code stops listening to a stop hook that held the turn eight times in a row. Ours holds it only for
        // a human's words, however many there are.
        setting("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "0".to_owned()),
    ]
}

fn codex_rules() -> String {
    format!("# {MARK}\nprefix_rule(pattern = [\"cueme\"], decision = \"allow\")\n")
}

/// Above the default rules, below those of an administrator.
///
/// Redirection stays forbidden, and with it here-documents: `cueme recall x > ~/.profile` must not go unasked. The MCP
/// tools need neither.
fn gemini_policy() -> String {
    format!(
        "# {MARK}\n[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"cueme\"\n\
         decision = \"allow\"\npriority = 100\n"
    )
}

fn hook_file(request: &Request<'_>) -> Option<FileRecipe> {
    let facts = request.runtime.facts();
    let place = request.scope.of(&facts.hooks.value)?;
    let content = match facts.hook_shape {
        HookShape::None => return None,
        HookShape::OpencodePlugin => Content::Own(hooks::opencode_plugin(request)),
        shape => Content::Json(hooks::parts(shape, request)),
    };
    Some(FileRecipe {
        path: request.paths.resolve(request.runtime, place),
        why: "hooks for the start of a session, a prompt and the end of a turn".to_owned(),
        content,
    })
}

fn mcp_file(request: &Request<'_>) -> Option<FileRecipe> {
    let facts = request.runtime.facts();
    let place = request.scope.of(&facts.mcp.value)?;
    let content = match facts.mcp_shape {
        McpShape::None => return None,
        McpShape::CodexToml => Content::Toml(mcp::codex_table(request)),
        shape => Content::Json(mcp::parts(shape, request)),
    };
    Some(FileRecipe {
        path: existing_spelling(request, request.paths.resolve(request.runtime, place)),
        why: "cueme as an MCP server".to_owned(),
        content,
    })
}

fn program_files(request: &Request<'_>) -> impl Iterator<Item = FileRecipe> {
    programs::used(request)
        .into_iter()
        .map(|(program, path, parts)| FileRecipe {
            path,
            why: format!("cueme as an MCP server of {}", program.name),
            content: Content::Json(parts),
        })
}

/// opencode reads `opencode.jsonc` as well; the caller says which of the two the user has.
fn existing_spelling(request: &Request<'_>, path: PathBuf) -> PathBuf {
    let with_comments = path.with_extension("jsonc");
    if request.runtime == Runtime::Opencode && request.paths.is_used(&with_comments) {
        with_comments
    } else {
        path
    }
}

fn item(path: &[&'static str], text: &str) -> Part {
    Part::Item {
        path: path.to_vec(),
        text: text.to_owned(),
    }
}

/// Joins recipes for the same JSON file.
fn merged(files: Vec<FileRecipe>) -> Vec<FileRecipe> {
    let mut out: Vec<FileRecipe> = Vec::new();
    for file in files {
        let same = out.iter_mut().find(|known| known.path == file.path);
        match (same, file.content) {
            (
                Some(FileRecipe {
                    content: Content::Json(known),
                    why,
                    ..
                }),
                Content::Json(more),
            ) => {
                known.extend(more);
                why.push_str("; ");
                why.push_str(&file.why);
            }
            (_, content) => out.push(FileRecipe { content, ..file }),
        }
    }
    out
}
