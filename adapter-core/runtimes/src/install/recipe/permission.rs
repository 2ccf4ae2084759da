//! Permission to run our four agent verbs without being asked, in each host's own terms.
//!
//! A host whose rule is only a prefix still reads the rest of the line itself: Codex and opencode judge each command of
//! a line, VS Code each part of it, Cursor the words of each command. Claude Code refuses our payloads in
//! spite of its rules, so there a hook decides by our own reading and no rule is written.

use serde_json::json;

use crate::shell::agent_call::AGENT_VERBS;
use crate::{
    Runtime,
    install::{
        Request, Scope,
        json::{MemberKind, Part},
        own_file::MARK,
    },
};

use super::files::Content;

/// Returns what goes into the host's permission file; `None` for a host without one.
pub(super) fn content(request: &Request<'_>) -> Option<Content> {
    Some(match request.runtime {
        Runtime::Cursor => Content::Json(cursor(request.scope)),
        Runtime::ClaudeCode => Content::Json(claude()),
        Runtime::Codex => Content::Own(codex_rules(request.binary)),
        Runtime::Windsurf => Content::Json(items(
            &["windsurf.cascadeCommandsAllowList"],
            |verb| format!("cueme {verb}"),
            "cueme",
        )),
        Runtime::Vscode => Content::Json(vscode()),
        Runtime::Kiro => Content::Json(items(
            &["kiroAgent.trustedCommands"],
            |verb| format!("cueme {verb} *"),
            "cueme *",
        )),
        Runtime::Opencode => Content::Json(opencode()),
        Runtime::GeminiCli => Content::Own(gemini_policy(request.binary)),
        // Without a terminal Qwen Code offers its shell only where a rule names the tool as it is called there.
        Runtime::QwenCode => Content::Json(items(
            &["permissions", "allow"],
            |verb| format!("run_shell_command(cueme {verb} *)"),
            "Bash(cueme *)",
        )),
        Runtime::CopilotCli | Runtime::Droid | Runtime::AgentsMd | Runtime::Terminal => return None,
    })
}

/// One text for each verb in an array, and the text for all of cueme that stood there before.
fn items(path: &[&'static str], text: impl Fn(&str) -> String, retired: &'static str) -> Vec<Part> {
    let item = |verb: &&str| Part::Item {
        path: path.to_vec(),
        text: text(verb),
    };
    let retired = Part::RetiredItem {
        path: path.to_vec(),
        text: retired,
    };
    AGENT_VERBS.iter().map(item).chain([retired]).collect()
}

/// The words after `:` are matched against the arguments. The user's file is rejected by Cursor when `version`, `editor`
/// or one of the two lists is missing, so a fresh one gets them all.
fn cursor(scope: Scope) -> Vec<Part> {
    let mut parts = items(
        &["permissions", "allow"],
        |verb| format!("Shell(cueme:{verb}*)"),
        "Shell(cueme)",
    );
    parts.push(Part::Member {
        kind: MemberKind::Filler,
        path: vec!["permissions"],
        key: "deny",
        value: json!([]),
    });
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

fn claude() -> Vec<Part> {
    let raised = Runtime::ClaudeCode
        .facts()
        .shell_ceiling_raised
        .value
        .unwrap_or_default();
    let setting = |key, value: String| Part::Member {
        kind: MemberKind::Setting,
        path: vec!["env"],
        key,
        value: json!(value),
    };
    vec![
        Part::Item {
            path: vec!["permissions", "allow"],
            text: "mcp__cueme".to_owned(),
        },
        // It also let `cueme cue x - > file` through; the hook for `PreToolUse` is exact.
        Part::RetiredItem {
            path: vec!["permissions", "allow"],
            text: "Bash(cueme *)",
        },
        setting("BASH_DEFAULT_TIMEOUT_MS", raised.as_millis().to_string()),
        // Claude Code stops listening to a stop hook that held the turn eight times in a row. Ours holds it only for
        // a human's words, however many there are.
        setting("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "0".to_owned()),
    ]
}

/// Codex applies a prefix rule only to a command of plain words: one with a redirection or an expansion stays in the
/// sandbox.
fn codex_rules(binary: &str) -> String {
    let verbs = AGENT_VERBS.map(|verb| format!("\"{verb}\"")).join(", ");
    let programs = [Some("cueme"), (binary != "cueme").then_some(binary)];
    let rules: String = programs
        .into_iter()
        .flatten()
        .map(|program| {
            let program = json!(program);
            format!("prefix_rule(pattern = [{program}, [{verbs}]], decision = \"allow\")\n")
        })
        .collect();
    format!("# {MARK}\n{rules}")
}

/// VS Code judges each part of a line, and asks about redirections that write and about substitutions itself.
fn vscode() -> Vec<Part> {
    let path = vec!["chat.tools.terminal.autoApprove"];
    vec![
        Part::Member {
            kind: MemberKind::Setting,
            path: path.clone(),
            key: "/^cueme (join|recall|cue|pause)( |$)/",
            value: json!(true),
        },
        Part::Member {
            kind: MemberKind::Retired,
            path,
            key: "cueme",
            value: json!(true),
        },
    ]
}

/// opencode allows every command unless told otherwise, and takes the last rule that matches.
fn opencode() -> Vec<Part> {
    let path = vec!["permission", "bash"];
    let keys = ["cueme join *", "cueme recall *", "cueme cue *", "cueme pause *"];
    let allow = |key| Part::Member {
        kind: MemberKind::OfExisting,
        path: path.clone(),
        key,
        value: json!("allow"),
    };
    let retired = Part::Member {
        kind: MemberKind::Retired,
        path: path.clone(),
        key: "cueme *",
        value: json!("allow"),
    };
    keys.into_iter().map(allow).chain([retired]).collect()
}

/// Two rules, above the default ones and below those of an administrator: a command of one line, and a quoted
/// here-document, which alone needs redirection.
///
/// Gemini CLI tests a pattern against the call's arguments as JSON, each top member between two zero characters. Both
/// patterns are anchored at the first member and at the end of `command`. The first takes at most two quoted words, which
/// is what `cue --prompt … --payload …` needs. In the second the words are bare, the delimiter is quoted, and nothing
/// follows the line that repeats it. Gemini CLI refuses a quantified group that holds a quantifier.
fn gemini_policy(binary: &str) -> String {
    let escaped: String = binary
        .chars()
        .map(|letter| match letter {
            letter if letter.is_ascii_alphanumeric() || "/_-".contains(letter) => letter.to_string(),
            letter => format!("\\u{:04x}", u32::from(letter)),
        })
        .collect();
    let program = if binary == "cueme" || !binary.is_ascii() {
        "cueme".to_owned()
    } else {
        format!("(cueme|{escaped})")
    };
    let plain = "[A-Za-z0-9_./:,@+%= -]*";
    let quoted = r#"(\\"[^"\\$`!\x00]*\\"|'[^'\x00]*'|)"#;
    let one_line = format!(
        r#"^\{{\x00"command":"{program} (join|recall|cue|pause)( {plain}{quoted}{plain}{quoted}{plain}|)(\\n|)"\x00"#
    );
    let delimiter = if program.starts_with('(') { r"\3" } else { r"\2" };
    let document = format!(
        r#"^\{{\x00"command":"{program} (cue|pause) {plain}<<[ ]?'([A-Za-z0-9_]+)'(?![^\x00]*\\n{delimiter}\\n[^"])\\n[^\x00]*\\n{delimiter}(\\n|)"\x00"#
    );
    let rule = |pattern: &str, extra: &str| {
        format!(
            "[[rule]]\ntoolName = \"run_shell_command\"\nargsPattern = '''{pattern}'''\n{extra}\
             decision = \"allow\"\npriority = 100\n"
        )
    };
    format!(
        "# {MARK}\n{}\n{}",
        rule(&one_line, ""),
        rule(&document, "allowRedirection = true\n")
    )
}
