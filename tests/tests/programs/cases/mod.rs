//! The scenarios, one per file, and the lines of the table that each fills.

mod arguments;
mod broker_killed;
mod driven;
mod editor;
mod host_killed;
mod long_wait;
mod mcp;
mod proxy;
mod remove;
mod serve;
mod shell;
mod turn_end;
mod two_sessions;
mod window;

use crate::hosts::Host;
use crate::programs::Programs;
use crate::verdict::Row;

/// Something that hosts go through.
#[derive(Debug)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) runs_on: fn(&Host) -> bool,
    pub(crate) play: fn(&'static Programs, &'static Host) -> Vec<Row>,
}

/// Every scenario.
pub(crate) const ALL: &[Scenario] = &[
    of("mcp_limit", long_wait::mcp),
    of("shell", shell::play),
    of("arguments", arguments::play),
    of("shell_limit", long_wait::shell),
    of("mcp", mcp::play),
    of("silent_end", turn_end::silent),
    of("failed_cue", turn_end::after_a_failure),
    of("more_work", turn_end::after_more_work),
    of("two_sessions", two_sessions::play),
    of("broker_killed", broker_killed::play),
    of("host_killed", host_killed::play),
    Scenario {
        name: "serve",
        runs_on: |host| host.tag == "opencode",
        play: serve::play,
    },
    Scenario {
        name: "editor",
        runs_on: |host| host.tag == "claude_code",
        play: editor::play,
    },
    Scenario {
        name: "proxy",
        runs_on: |host| matches!(host.tag, "claude_code" | "gemini_cli"),
        play: proxy::play,
    },
    Scenario {
        name: "driven",
        runs_on: |host| matches!(host.tag, "claude_code" | "gemini_cli"),
        play: driven::play,
    },
    Scenario {
        name: "window",
        runs_on: takes_approvals,
        play: window::typed,
    },
    Scenario {
        name: "window_cue",
        runs_on: |host| host.ready.is_some() && host.tag != "codex",
        play: window::here_document_asked,
    },
    Scenario {
        name: "approvals",
        runs_on: takes_approvals,
        play: window::approved,
    },
    Scenario {
        name: "window_approval",
        // Codex shows its dialog only when the hook has ended.
        runs_on: |host| host.tag == "claude_code",
        play: window::approved_there,
    },
    of("remove", remove::play),
];

/// The hosts with a hook for approvals that the suite can start; both have windows.
fn takes_approvals(host: &Host) -> bool {
    matches!(host.tag, "claude_code" | "codex")
}

const fn of(name: &'static str, play: fn(&'static Programs, &'static Host) -> Vec<Row>) -> Scenario {
    Scenario {
        name,
        runs_on: |_| true,
        play,
    }
}
