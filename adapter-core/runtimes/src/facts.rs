//! The facts about each runtime, as data with their sources.
//!
//! This is the one place in the project that knows vendors' file names, limits and defaults: when a vendor changes
//! one, the repair is a line here. It holds no behaviour beyond looking things up. `CHECKED.md` of this crate says
//! which facts were tried on the real programs.

use std::{fmt, time::Duration};

mod limits;
mod table;
mod turn_end;

pub use limits::Limit;

/// A program that runs an agent and that cueme knows by name.
///
/// The tag an agent joins with is free text (HAP allows any `lower_case` word); this enum lists the runtimes we
/// hold facts about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Runtime {
    /// Cursor: the IDE and `cursor-agent`.
    Cursor,
    /// Claude Code in a terminal or an IDE.
    ClaudeCode,
    /// OpenAI Codex CLI.
    Codex,
    /// Windsurf (Cascade).
    Windsurf,
    /// Copilot's agent inside VS Code.
    Vscode,
    /// Kiro: the IDE and its CLI.
    Kiro,
    /// opencode.
    Opencode,
    /// Gemini CLI.
    GeminiCli,
    /// GitHub Copilot CLI.
    CopilotCli,
    /// Qwen Code.
    QwenCode,
    /// Factory's Droid.
    Droid,
    /// Any other program that reads `AGENTS.md`: Amp, Goose, Zed, Warp, Crush, Kimi, Roo, Cline, Continue, Junie …
    AgentsMd,
    /// A plain terminal: any agent that can run a command.
    Terminal,
}

impl Runtime {
    /// Every runtime, in the order they are offered to a person.
    pub const ALL: [Runtime; 13] = [
        Runtime::Cursor,
        Runtime::ClaudeCode,
        Runtime::Codex,
        Runtime::Windsurf,
        Runtime::Vscode,
        Runtime::Kiro,
        Runtime::Opencode,
        Runtime::GeminiCli,
        Runtime::CopilotCli,
        Runtime::QwenCode,
        Runtime::Droid,
        Runtime::AgentsMd,
        Runtime::Terminal,
    ];

    /// Returns the tag that an agent of this runtime joins with.
    pub fn tag(self) -> &'static str {
        self.facts().tag
    }

    /// Finds the runtime with this tag.
    ///
    /// Tags are compared exactly: HAP tags are lowercase with `_`, and correcting them is the caller's task.
    pub fn from_tag(tag: &str) -> Option<Runtime> {
        Runtime::ALL.into_iter().find(|runtime| runtime.tag() == tag)
    }

    /// Returns the name a person knows the runtime by.
    pub fn display_name(self) -> &'static str {
        self.facts().display_name
    }

    /// Returns everything known about this runtime.
    pub fn facts(self) -> &'static Facts {
        table::facts(self)
    }
}

impl fmt::Display for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.tag())
    }
}

/// Returns how long the shell tool of the runtime with this tag lets a command run, as it comes from the vendor.
///
/// `None` means that no ceiling is known, so a wait needs no budget. A waiting client ends a little before the
/// ceiling, because what happens at it (killed, moved to the background) loses the agent's attention.
pub fn wait_ceiling(tag: &str) -> Option<Duration> {
    Runtime::from_tag(tag).and_then(|runtime| runtime.facts().shell_ceiling.value)
}

/// The source of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Read in the runtime's published code or package.
    Code,
    /// Stated by the vendor's documentation.
    Doc,
    /// Reported by people who measured it.
    Report,
    /// Concluded from the above, not seen.
    Inferred,
    /// Looked for and not found: the value says "not known", not "none".
    Unknown,
}

/// A value and where it was learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fact<T> {
    /// The fact.
    pub value: T,
    /// Its source.
    pub source: Source,
}

/// Everything known about one runtime.
#[derive(Debug)]
pub struct Facts {
    /// The tag agents join with.
    pub tag: &'static str,
    /// The name a person knows it by.
    pub display_name: &'static str,
    /// The timeout of a command in its shell tool, after which the runtime kills the command or moves it to the
    /// background.
    pub shell_ceiling: Fact<Option<Duration>>,
    /// The timeout of a command once our settings and our rule are installed, where they can raise it.
    pub shell_ceiling_raised: Fact<Option<Duration>>,
    /// The timeout of an MCP tool call.
    pub mcp_ceiling: Fact<Option<Duration>>,
    /// The timeout of a hook whose entry names none.
    pub hook_ceiling: Fact<Option<Duration>>,
    /// The folder of its user settings.
    pub user_root: UserRoot,
    /// The files it reads instructions from.
    pub rule: Fact<Scoped<RuleFile>>,
    /// The file its MCP servers are declared in.
    pub mcp: Fact<Scoped<BasedPath>>,
    /// The declaration of an MCP server in that file.
    pub mcp_shape: McpShape,
    /// The file its hooks are declared in.
    pub hooks: Fact<Scoped<BasedPath>>,
    /// The declaration of a hook in that file.
    pub hook_shape: HookShape,
    /// Whether its stop hook can hold the turn and continue it with the human's words.
    pub holds_turn: bool,
    /// The file that permits running a command without asking.
    pub permission: Fact<Scoped<BasedPath>>,
    /// The variable by which it tells its commands which session they run in, in the words of its hooks.
    pub session_variable: Option<&'static str>,
    /// The signs of an installation here; one is enough.
    pub signs: &'static [Sign],
    /// The version of the published program that our files and hooks were tried with; `None` when none was.
    pub checked: Option<&'static str>,
}

/// A place for the whole user and one for a single project; either may be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scoped<T> {
    /// For everything this user does.
    pub user: Option<T>,
    /// For one project folder.
    pub project: Option<T>,
}

/// The folder of a runtime's user settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserRoot {
    /// The environment variable that moves it.
    pub variable: Option<&'static str>,
    /// The path without that variable.
    pub default: BasedPath,
}

/// A file or folder, relative to something that differs per machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BasedPath {
    /// The folder that the path is relative to.
    pub base: Base,
    /// The path below it, with `/`.
    pub path: &'static str,
}

/// The folder that a [`BasedPath`] is relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// The user's home folder.
    Home,
    /// The folder of per-user configuration (`$XDG_CONFIG_HOME`, `~/.config`).
    Config,
    /// The folder that desktop editors keep their profiles in (`~/.config`, `~/Library/Application Support`,
    /// `%APPDATA%`).
    Editors,
    /// The runtime's own [`UserRoot`].
    UserRoot,
    /// The project folder.
    Project,
}

/// A file of instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleFile {
    /// Its place.
    pub place: BasedPath,
    /// The form of our text in it.
    pub kind: RuleKind,
}

/// The form of our text in a file of instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleKind {
    /// A block between markers in a file that belongs to the user.
    Block,
    /// A file of our own that starts with this front matter (the runtime applies it only with that).
    Own {
        /// The front matter, with its `---` lines.
        front_matter: &'static str,
        /// Front matters that older versions wrote in its place.
        retired: &'static [&'static str],
    },
}

/// The declaration of an MCP server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum McpShape {
    /// `{"mcpServers": {name: {"command", "args"}}}`, with these extra members.
    McpServers(McpExtras),
    /// `{"servers": {name: {"type": "stdio", "command", "args"}}}`.
    Servers,
    /// `{"mcp": {name: {"type": "local", "command": [..], "enabled": true}}}`.
    Opencode,
    /// `[mcp_servers.name]` in TOML.
    CodexToml,
    /// The runtime has no MCP.
    None,
}

/// The members that one runtime needs beside `command` and `args`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum McpExtras {
    /// Nothing.
    Bare,
    /// `"timeout"` in milliseconds.
    TimeoutMs,
    /// `"timeout"` in milliseconds and `"trust": true`.
    TimeoutMsTrust,
    /// `"type": "stdio"`.
    Stdio,
    /// `"timeout"` in milliseconds, `"trust": true`, and `"alwaysLoadTools": true`: else the model must search for them.
    TimeoutMsTrustLoaded,
    /// `"disabled": false` and the names of tools that need no approval.
    AutoApprove,
    /// `"type": "local"` and `"tools": ["*"]`.
    LocalTools,
}

/// The declaration of hooks, which is also the dialect of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookShape {
    /// `{"version": 1, "hooks": {event: [{"command", "timeout"}]}}`, timeouts in seconds.
    Cursor,
    /// `{"hooks": {Event: [{"hooks": [{"type": "command", "command", "timeout"}]}]}}`, timeouts in seconds.
    Claude,
    /// As Claude's, with event names of its own, timeouts in milliseconds.
    Gemini,
    /// As Claude's, with its event names, timeouts in milliseconds.
    Qwen,
    /// `{"hooks": {Event: [{"type": "command", "command", "timeout"}]}}`, timeouts in seconds.
    Vscode,
    /// `{"version": 1, "hooks": {event: [{"type": "command", "bash", "powershell", "timeoutSec"}]}}`.
    CopilotCli,
    /// `{"hooks": {event: [{"command", "show_output"}]}}`.
    Windsurf,
    /// `{"version": "v1", "hooks": [{"name", "trigger", "action", "timeout"}]}`.
    Kiro,
    /// A plugin module of our own that calls `cueme hook`.
    OpencodePlugin,
    /// The runtime has no hooks.
    None,
}

/// A sign that a runtime is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// A program of this name on the search path.
    Program(&'static str),
    /// A file or folder that the runtime makes for itself.
    Exists(BasedPath),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tag_finds_its_runtime_and_follows_the_hap_format() {
        for runtime in Runtime::ALL {
            assert_eq!(Runtime::from_tag(runtime.tag()), Some(runtime));
            assert!(
                runtime.tag().chars().all(|c| c.is_ascii_lowercase() || c == '_'),
                "{runtime}"
            );
            assert!(!runtime.display_name().is_empty());
        }
        assert_eq!(Runtime::from_tag("Cursor"), None);
        assert_eq!(Runtime::from_tag(""), None);
    }

    #[test]
    fn the_ceilings_that_vendors_ship_are_known_by_tag() {
        assert_eq!(wait_ceiling("claude_code"), Some(Duration::from_secs(120)));
        assert_eq!(wait_ceiling("codex"), Some(Duration::from_secs(10)));
        assert_eq!(wait_ceiling("cursor"), Some(Duration::from_secs(30)));
        assert_eq!(wait_ceiling("opencode"), Some(Duration::from_secs(120)));
        for unlimited in [
            "terminal",
            "windsurf",
            "vscode",
            "kiro",
            "copilot_cli",
            "an_unheard_of_runtime",
        ] {
            assert_eq!(wait_ceiling(unlimited), None, "{unlimited}");
        }
    }

    #[test]
    fn a_ceiling_that_nobody_knows_is_not_labelled_as_known() {
        for runtime in Runtime::ALL {
            let facts = runtime.facts();
            for ceiling in [facts.shell_ceiling, facts.mcp_ceiling, facts.hook_ceiling] {
                assert!(
                    ceiling.value.is_none() || ceiling.source != Source::Unknown,
                    "{runtime}: {ceiling:?}"
                );
            }
        }
    }

    #[test]
    fn a_declared_hook_or_mcp_place_always_has_a_shape() {
        for runtime in Runtime::ALL {
            let facts = runtime.facts();
            let has_hooks = facts.hooks.value.user.is_some() || facts.hooks.value.project.is_some();
            assert_eq!(has_hooks, facts.hook_shape != HookShape::None, "{runtime}");
            let has_mcp = facts.mcp.value.user.is_some() || facts.mcp.value.project.is_some();
            assert_eq!(has_mcp, facts.mcp_shape != McpShape::None, "{runtime}");
        }
    }
}
