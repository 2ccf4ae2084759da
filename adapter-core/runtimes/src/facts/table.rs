//! The table of facts: one entry per runtime.

use std::time::Duration;

use super::{
    Base, BasedPath, Fact, Facts, HookShape, McpExtras, McpShape, RuleFile, RuleKind, Runtime, Scoped, Sign,
    Source, UserRoot,
};

/// Returns the entry of a runtime.
pub(super) fn facts(runtime: Runtime) -> &'static Facts {
    match runtime {
        Runtime::Cursor => &CURSOR,
        Runtime::ClaudeCode => &CLAUDE_CODE,
        Runtime::Codex => &CODEX,
        Runtime::Windsurf => &WINDSURF,
        Runtime::Vscode => &VSCODE,
        Runtime::Kiro => &KIRO,
        Runtime::Opencode => &OPENCODE,
        Runtime::GeminiCli => &GEMINI_CLI,
        Runtime::CopilotCli => &COPILOT_CLI,
        Runtime::QwenCode => &QWEN_CODE,
        Runtime::Droid => &DROID,
        Runtime::AgentsMd => &AGENTS_MD,
        Runtime::Terminal => &TERMINAL,
    }
}

const CURSOR_FRONT_MATTER: &str =
    "---\ndescription: Ask the human through cueme (Human Agent Protocol)\nglobs:\nalwaysApply: true\n---\n";
/// Not YAML: the description has a second colon.
const CURSOR_FRONT_MATTER_RETIRED: &[&str] = &[
    "---\ndescription: Human Agent Protocol: ask the human through cueme\nglobs:\nalwaysApply: true\n---\n",
];
const WINDSURF_FRONT_MATTER: &str = "---\ntrigger: always_on\n---\n";
const KIRO_FRONT_MATTER: &str = "---\ninclusion: always\n---\n";
const INSTRUCTIONS_FRONT_MATTER: &str = "---\napplyTo: \"**\"\n---\n";

static CURSOR: Facts = Facts {
    tag: "cursor",
    display_name: "Cursor",
    // 30 s when the model names no `block_until_ms`; then the command is moved to the background, not killed.
    shell_ceiling: seconds(30, Source::Code),
    // Our rule makes the model name a `block_until_ms` of a day. Whether Cursor caps it is not known, so a wait ends once
    // an hour; an agent that forgets finds its command in the background, which the stop hook catches.
    shell_ceiling_raised: seconds(3_600, Source::Inferred),
    mcp_ceiling: UNKNOWN_CEILING,
    hook_ceiling: seconds(60, Source::Code),
    user_root: home(None, ".cursor"),
    rule: rules(
        // Cursor documents project rules only; the user's folder was seen written by an extension.
        cursor_rule(Base::UserRoot, "rules/cueme.mdc"),
        cursor_rule(Base::Project, ".cursor/rules/cueme.mdc"),
        Source::Report,
    ),
    mcp: places(
        Some((Base::UserRoot, "mcp.json")),
        Some((Base::Project, ".cursor/mcp.json")),
        Source::Doc,
    ),
    mcp_shape: McpShape::McpServers(McpExtras::Bare),
    hooks: places(
        Some((Base::UserRoot, "hooks.json")),
        Some((Base::Project, ".cursor/hooks.json")),
        Source::Code,
    ),
    hook_shape: HookShape::Cursor,
    holds_turn: true,
    permission: places(
        Some((Base::UserRoot, "cli-config.json")),
        Some((Base::Project, ".cursor/cli.json")),
        Source::Doc,
    ),
    session_variable: None,
    signs: &[
        Sign::Program("cursor-agent"),
        Sign::Program("cursor"),
        exists(Base::Editors, "Cursor"),
    ],
    checked: None,
};

static CLAUDE_CODE: Facts = Facts {
    tag: "claude_code",
    display_name: "Claude Code",
    // At the ceiling the command is moved to the background.
    shell_ceiling: seconds(120, Source::Code),
    // `BASH_DEFAULT_TIMEOUT_MS`. Ten minutes is what the model may ask for anyway. A day would also be accepted, but
    // then every other command that hangs would hang for a day; the stop hook covers the long waits.
    shell_ceiling_raised: seconds(600, Source::Doc),
    // Past this a call of the main thread becomes a background task.
    mcp_ceiling: seconds(120, Source::Doc),
    hook_ceiling: seconds(600, Source::Doc),
    user_root: home(Some("CLAUDE_CONFIG_DIR"), ".claude"),
    rule: rules(
        block(Base::UserRoot, "CLAUDE.md"),
        block(Base::Project, "CLAUDE.md"),
        Source::Doc,
    ),
    // With CLAUDE_CONFIG_DIR set the user's file moves into that folder; the place resolver knows.
    mcp: places(
        Some((Base::Home, ".claude.json")),
        Some((Base::Project, ".mcp.json")),
        Source::Doc,
    ),
    mcp_shape: McpShape::McpServers(McpExtras::TimeoutMs),
    hooks: places(
        Some((Base::UserRoot, "settings.json")),
        Some((Base::Project, ".claude/settings.json")),
        Source::Doc,
    ),
    hook_shape: HookShape::Claude,
    holds_turn: true,
    permission: places(
        Some((Base::UserRoot, "settings.json")),
        Some((Base::Project, ".claude/settings.json")),
        Source::Doc,
    ),
    session_variable: Some("CLAUDE_CODE_SESSION_ID"),
    signs: &[
        Sign::Program("claude"),
        exists(Base::UserRoot, ""),
        exists(Base::Home, ".claude.json"),
    ],
    checked: Some("2.1.326"),
};

static CODEX: Facts = Facts {
    tag: "codex",
    display_name: "Codex",
    // Unified exec yields after this and must be polled; the plain shell tool kills.
    shell_ceiling: seconds(10, Source::Code),
    shell_ceiling_raised: NOT_RAISED,
    mcp_ceiling: seconds(300, Source::Code),
    hook_ceiling: seconds(600, Source::Code),
    user_root: home(Some("CODEX_HOME"), ".codex"),
    rule: rules(
        block(Base::UserRoot, "AGENTS.md"),
        block(Base::Project, "AGENTS.md"),
        Source::Code,
    ),
    mcp: places(
        Some((Base::UserRoot, "config.toml")),
        Some((Base::Project, ".codex/config.toml")),
        Source::Code,
    ),
    mcp_shape: McpShape::CodexToml,
    hooks: places(
        Some((Base::UserRoot, "hooks.json")),
        Some((Base::Project, ".codex/hooks.json")),
        Source::Code,
    ),
    hook_shape: HookShape::Claude,
    holds_turn: true,
    permission: places(
        Some((Base::UserRoot, "rules/cueme.rules")),
        Some((Base::Project, ".codex/rules/cueme.rules")),
        Source::Doc,
    ),
    session_variable: Some("CODEX_THREAD_ID"),
    signs: &[Sign::Program("codex"), exists(Base::UserRoot, "")],
    checked: Some("0.169.0"),
};

static WINDSURF: Facts = Facts {
    tag: "windsurf",
    display_name: "Windsurf",
    shell_ceiling: UNKNOWN_CEILING,
    shell_ceiling_raised: NOT_RAISED,
    mcp_ceiling: UNKNOWN_CEILING,
    hook_ceiling: UNKNOWN_CEILING,
    user_root: home(None, ".codeium/windsurf"),
    rule: rules(
        block(Base::UserRoot, "memories/global_rules.md"),
        own(Base::Project, ".windsurf/rules/cueme.md", WINDSURF_FRONT_MATTER),
        Source::Doc,
    ),
    mcp: places(Some((Base::UserRoot, "mcp_config.json")), None, Source::Doc),
    mcp_shape: McpShape::McpServers(McpExtras::Bare),
    hooks: places(
        Some((Base::UserRoot, "hooks.json")),
        Some((Base::Project, ".windsurf/hooks.json")),
        Source::Doc,
    ),
    hook_shape: HookShape::Windsurf,
    holds_turn: false,
    permission: places(
        Some((Base::Editors, "Windsurf/User/settings.json")),
        None,
        Source::Doc,
    ),
    session_variable: None,
    signs: &[
        Sign::Program("windsurf"),
        exists(Base::UserRoot, ""),
        exists(Base::Editors, "Windsurf"),
    ],
    checked: None,
};

static VSCODE: Facts = Facts {
    tag: "vscode",
    display_name: "VS Code (Copilot)",
    shell_ceiling: UNKNOWN_CEILING,
    shell_ceiling_raised: NOT_RAISED,
    mcp_ceiling: UNKNOWN_CEILING,
    hook_ceiling: seconds(30, Source::Doc),
    user_root: root(Base::Editors, "Code/User"),
    rule: rules(
        own(
            Base::UserRoot,
            "prompts/cueme.instructions.md",
            INSTRUCTIONS_FRONT_MATTER,
        ),
        block(Base::Project, ".github/copilot-instructions.md"),
        Source::Doc,
    ),
    mcp: places(
        Some((Base::UserRoot, "mcp.json")),
        Some((Base::Project, ".vscode/mcp.json")),
        Source::Doc,
    ),
    mcp_shape: McpShape::Servers,
    hooks: places(
        Some((Base::Home, ".copilot/hooks/cueme-vscode.json")),
        Some((Base::Project, ".github/hooks/cueme-vscode.json")),
        Source::Doc,
    ),
    hook_shape: HookShape::Vscode,
    holds_turn: true,
    permission: places(
        Some((Base::UserRoot, "settings.json")),
        Some((Base::Project, ".vscode/settings.json")),
        Source::Doc,
    ),
    session_variable: None,
    signs: &[Sign::Program("code"), exists(Base::UserRoot, "")],
    checked: None,
};

static KIRO: Facts = Facts {
    tag: "kiro",
    display_name: "Kiro",
    shell_ceiling: UNKNOWN_CEILING,
    shell_ceiling_raised: NOT_RAISED,
    mcp_ceiling: UNKNOWN_CEILING,
    hook_ceiling: seconds(60, Source::Report),
    user_root: home(Some("KIRO_HOME"), ".kiro"),
    rule: rules(
        own(Base::UserRoot, "steering/cueme.md", KIRO_FRONT_MATTER),
        own(Base::Project, ".kiro/steering/cueme.md", KIRO_FRONT_MATTER),
        Source::Doc,
    ),
    mcp: places(
        Some((Base::UserRoot, "settings/mcp.json")),
        Some((Base::Project, ".kiro/settings/mcp.json")),
        Source::Doc,
    ),
    mcp_shape: McpShape::McpServers(McpExtras::AutoApprove),
    hooks: places(
        Some((Base::UserRoot, "hooks/cueme.json")),
        Some((Base::Project, ".kiro/hooks/cueme.json")),
        Source::Doc,
    ),
    hook_shape: HookShape::Kiro,
    holds_turn: false,
    permission: places(
        Some((Base::Editors, "Kiro/User/settings.json")),
        None,
        Source::Doc,
    ),
    session_variable: None,
    signs: &[
        Sign::Program("kiro"),
        Sign::Program("kiro-cli"),
        exists(Base::UserRoot, ""),
    ],
    checked: None,
};

static OPENCODE: Facts = Facts {
    tag: "opencode",
    display_name: "opencode",
    // At the ceiling the command is killed; only an environment variable of opencode itself raises it.
    shell_ceiling: seconds(120, Source::Code),
    shell_ceiling_raised: NOT_RAISED,
    mcp_ceiling: seconds(30, Source::Code),
    hook_ceiling: Fact {
        value: None,
        source: Source::Code,
    },
    user_root: root(Base::Config, "opencode"),
    rule: rules(
        block(Base::UserRoot, "AGENTS.md"),
        block(Base::Project, "AGENTS.md"),
        Source::Doc,
    ),
    mcp: places(
        Some((Base::UserRoot, "opencode.json")),
        Some((Base::Project, "opencode.json")),
        Source::Doc,
    ),
    mcp_shape: McpShape::Opencode,
    hooks: places(
        Some((Base::UserRoot, "plugins/cueme.js")),
        Some((Base::Project, ".opencode/plugins/cueme.js")),
        Source::Doc,
    ),
    hook_shape: HookShape::OpencodePlugin,
    holds_turn: true,
    permission: places(
        Some((Base::UserRoot, "opencode.json")),
        Some((Base::Project, "opencode.json")),
        Source::Doc,
    ),
    session_variable: None,
    signs: &[Sign::Program("opencode"), exists(Base::UserRoot, "")],
    checked: Some("1.18.33"),
};

static GEMINI_CLI: Facts = Facts {
    tag: "gemini_cli",
    display_name: "Gemini CLI",
    // A command without output for this long is ended (`tools.shell.inactivityTimeout`).
    shell_ceiling: seconds(300, Source::Doc),
    shell_ceiling_raised: NOT_RAISED,
    mcp_ceiling: seconds(600, Source::Doc),
    hook_ceiling: seconds(60, Source::Doc),
    user_root: home(None, ".gemini"),
    rule: rules(
        block(Base::UserRoot, "GEMINI.md"),
        block(Base::Project, "GEMINI.md"),
        Source::Doc,
    ),
    mcp: places(
        Some((Base::UserRoot, "settings.json")),
        Some((Base::Project, ".gemini/settings.json")),
        Source::Doc,
    ),
    mcp_shape: McpShape::McpServers(McpExtras::TimeoutMsTrust),
    hooks: places(
        Some((Base::UserRoot, "settings.json")),
        Some((Base::Project, ".gemini/settings.json")),
        Source::Doc,
    ),
    hook_shape: HookShape::Gemini,
    holds_turn: true,
    // `tools.allowed` in the settings is deprecated in favour of policies; those of a workspace are not read.
    permission: places(Some((Base::UserRoot, "policies/cueme.toml")), None, Source::Code),
    session_variable: None,
    signs: &[Sign::Program("gemini"), exists(Base::UserRoot, "")],
    checked: Some("0.61.0"),
};

static COPILOT_CLI: Facts = Facts {
    tag: "copilot_cli",
    display_name: "Copilot CLI",
    shell_ceiling: UNKNOWN_CEILING,
    shell_ceiling_raised: NOT_RAISED,
    mcp_ceiling: UNKNOWN_CEILING,
    hook_ceiling: seconds(30, Source::Doc),
    user_root: home(Some("COPILOT_HOME"), ".copilot"),
    rule: rules(
        block(Base::UserRoot, "copilot-instructions.md"),
        block(Base::Project, ".github/copilot-instructions.md"),
        Source::Doc,
    ),
    mcp: places(Some((Base::UserRoot, "mcp-config.json")), None, Source::Doc),
    mcp_shape: McpShape::McpServers(McpExtras::LocalTools),
    hooks: places(
        Some((Base::UserRoot, "hooks/cueme-copilot.json")),
        Some((Base::Project, ".github/hooks/cueme-copilot.json")),
        Source::Doc,
    ),
    hook_shape: HookShape::CopilotCli,
    holds_turn: true,
    permission: NOWHERE,
    session_variable: None,
    signs: &[Sign::Program("copilot"), exists(Base::UserRoot, "")],
    checked: Some("1.0.102"),
};

static QWEN_CODE: Facts = Facts {
    tag: "qwen_code",
    display_name: "Qwen Code",
    // The default for a command without a `timeout` of its own; the model may ask for ten minutes.
    shell_ceiling: seconds(120, Source::Code),
    shell_ceiling_raised: NOT_RAISED,
    mcp_ceiling: seconds(600, Source::Doc),
    hook_ceiling: seconds(60, Source::Code),
    user_root: home(None, ".qwen"),
    rule: rules(
        block(Base::UserRoot, "QWEN.md"),
        block(Base::Project, "QWEN.md"),
        Source::Doc,
    ),
    mcp: places(
        Some((Base::UserRoot, "settings.json")),
        Some((Base::Project, ".qwen/settings.json")),
        Source::Doc,
    ),
    mcp_shape: McpShape::McpServers(McpExtras::TimeoutMsTrustLoaded),
    hooks: places(
        Some((Base::UserRoot, "settings.json")),
        Some((Base::Project, ".qwen/settings.json")),
        Source::Code,
    ),
    hook_shape: HookShape::Qwen,
    holds_turn: true,
    permission: places(
        Some((Base::UserRoot, "settings.json")),
        Some((Base::Project, ".qwen/settings.json")),
        Source::Doc,
    ),
    session_variable: None,
    signs: &[Sign::Program("qwen"), exists(Base::UserRoot, "")],
    checked: Some("0.24.4"),
};

static DROID: Facts = Facts {
    tag: "droid",
    display_name: "Droid",
    shell_ceiling: UNKNOWN_CEILING,
    shell_ceiling_raised: NOT_RAISED,
    mcp_ceiling: UNKNOWN_CEILING,
    hook_ceiling: seconds(60, Source::Doc),
    user_root: home(None, ".factory"),
    rule: rules(
        block(Base::UserRoot, "AGENTS.md"),
        block(Base::Project, "AGENTS.md"),
        Source::Doc,
    ),
    mcp: places(
        Some((Base::UserRoot, "mcp.json")),
        Some((Base::Project, ".factory/mcp.json")),
        Source::Doc,
    ),
    mcp_shape: McpShape::McpServers(McpExtras::Stdio),
    hooks: places(
        Some((Base::UserRoot, "settings.json")),
        Some((Base::Project, ".factory/settings.json")),
        Source::Doc,
    ),
    hook_shape: HookShape::Claude,
    holds_turn: true,
    // `commandAllowlist` exists, but how it matches a command is not documented.
    permission: NOWHERE,
    session_variable: None,
    signs: &[Sign::Program("droid"), exists(Base::UserRoot, "")],
    checked: None,
};

/// MCP entries go into the files of the programs that are found here; see `install::recipe::programs`.
static AGENTS_MD: Facts = Facts {
    tag: "agents_md",
    display_name: "programs that read AGENTS.md",
    shell_ceiling: UNKNOWN_CEILING,
    shell_ceiling_raised: NOT_RAISED,
    mcp_ceiling: UNKNOWN_CEILING,
    hook_ceiling: UNKNOWN_CEILING,
    user_root: root(Base::Config, ""),
    rule: rules(
        // Amp documents this place; most others read the project's file only.
        block(Base::UserRoot, "AGENTS.md"),
        block(Base::Project, "AGENTS.md"),
        Source::Doc,
    ),
    mcp: NOWHERE,
    mcp_shape: McpShape::None,
    hooks: NOWHERE,
    hook_shape: HookShape::None,
    holds_turn: false,
    permission: NOWHERE,
    session_variable: None,
    signs: &[],
    checked: None,
};

static TERMINAL: Facts = Facts {
    tag: "terminal",
    display_name: "a plain terminal",
    shell_ceiling: Fact {
        value: None,
        source: Source::Inferred,
    },
    shell_ceiling_raised: NOT_RAISED,
    mcp_ceiling: UNKNOWN_CEILING,
    hook_ceiling: UNKNOWN_CEILING,
    user_root: home(None, ""),
    rule: rules(None, None, Source::Inferred),
    mcp: NOWHERE,
    mcp_shape: McpShape::None,
    hooks: NOWHERE,
    hook_shape: HookShape::None,
    holds_turn: false,
    permission: NOWHERE,
    session_variable: None,
    signs: &[],
    checked: None,
};

const UNKNOWN_CEILING: Fact<Option<Duration>> = Fact {
    value: None,
    source: Source::Unknown,
};
const NOT_RAISED: Fact<Option<Duration>> = Fact {
    value: None,
    source: Source::Unknown,
};
const NOWHERE: Fact<Scoped<BasedPath>> = Fact {
    value: Scoped {
        user: None,
        project: None,
    },
    source: Source::Unknown,
};

const fn seconds(value: u64, source: Source) -> Fact<Option<Duration>> {
    Fact {
        value: Some(Duration::from_secs(value)),
        source,
    }
}

const fn home(variable: Option<&'static str>, path: &'static str) -> UserRoot {
    UserRoot {
        variable,
        default: BasedPath {
            base: Base::Home,
            path,
        },
    }
}

const fn root(base: Base, path: &'static str) -> UserRoot {
    UserRoot {
        variable: None,
        default: BasedPath { base, path },
    }
}

const fn exists(base: Base, path: &'static str) -> Sign {
    Sign::Exists(BasedPath { base, path })
}

const fn rules(user: Option<RuleFile>, project: Option<RuleFile>, source: Source) -> Fact<Scoped<RuleFile>> {
    Fact {
        value: Scoped { user, project },
        source,
    }
}

const fn block(base: Base, path: &'static str) -> Option<RuleFile> {
    Some(RuleFile {
        place: BasedPath { base, path },
        kind: RuleKind::Block,
    })
}

const fn own(base: Base, path: &'static str, front_matter: &'static str) -> Option<RuleFile> {
    Some(RuleFile {
        place: BasedPath { base, path },
        kind: RuleKind::Own {
            front_matter,
            retired: &[],
        },
    })
}

const fn cursor_rule(base: Base, path: &'static str) -> Option<RuleFile> {
    Some(RuleFile {
        place: BasedPath { base, path },
        kind: RuleKind::Own {
            front_matter: CURSOR_FRONT_MATTER,
            retired: CURSOR_FRONT_MATTER_RETIRED,
        },
    })
}

const fn places(
    user: Option<(Base, &'static str)>,
    project: Option<(Base, &'static str)>,
    source: Source,
) -> Fact<Scoped<BasedPath>> {
    Fact {
        value: Scoped {
            user: place(user),
            project: place(project),
        },
        source,
    }
}

const fn place(parts: Option<(Base, &'static str)>) -> Option<BasedPath> {
    match parts {
        Some((base, path)) => Some(BasedPath { base, path }),
        None => None,
    }
}
