//! The programs behind `agents_md`: where those that are found here declare MCP servers.
//!
//! Each has a folder or file of its own that shows it is used. The others (Goose, Warp, Continue) keep their servers in
//! YAML or behind a dialog; a person adds the entry that `cueme init` prints.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::mcp;
use crate::{
    Runtime,
    facts::{Base, BasedPath, McpExtras, Scoped},
    install::{
        Paths, Request,
        json::{MemberKind, Part},
    },
};

/// A program that reads `AGENTS.md` and declares MCP servers in a JSON file.
#[derive(Debug)]
pub(super) struct Program {
    /// Its name for a person.
    pub name: &'static str,
    /// The sign that it is used: a folder or file of its own.
    sign: Scoped<BasedPath>,
    /// The file of its MCP servers.
    file: Scoped<BasedPath>,
    /// The member of that file that holds the servers.
    group: &'static str,
    entry: Entry,
}

/// The spelling of a server in a program's file.
#[derive(Debug, Clone, Copy)]
enum Entry {
    /// `{"command", "args"}`.
    Bare,
    /// With `"type": "stdio"`.
    Stdio,
    /// With `"source": "custom"`, as Zed tells its own servers from a person's.
    Custom,
}

const PROGRAMS: [Program; 7] = [
    Program {
        name: "Amp",
        sign: both((Base::Config, "amp"), (Base::Project, ".amp")),
        file: both(
            (Base::Config, "amp/settings.json"),
            (Base::Project, ".amp/settings.json"),
        ),
        group: "amp.mcpServers",
        entry: Entry::Bare,
    },
    Program {
        name: "Zed",
        sign: user(Base::Config, "zed"),
        file: user(Base::Config, "zed/settings.json"),
        group: "context_servers",
        entry: Entry::Custom,
    },
    Program {
        name: "Crush",
        sign: user(Base::Config, "crush"),
        file: user(Base::Config, "crush/crush.json"),
        group: "mcp",
        entry: Entry::Stdio,
    },
    Program {
        name: "Kimi",
        sign: both((Base::Home, ".kimi-code"), (Base::Project, ".kimi-code")),
        file: both(
            (Base::Home, ".kimi-code/mcp.json"),
            (Base::Project, ".kimi-code/mcp.json"),
        ),
        group: SERVERS,
        entry: Entry::Bare,
    },
    Program {
        name: "Junie",
        sign: both((Base::Home, ".junie"), (Base::Project, ".junie")),
        file: both(
            (Base::Home, ".junie/mcp/mcp.json"),
            (Base::Project, ".junie/mcp/mcp.json"),
        ),
        group: SERVERS,
        entry: Entry::Bare,
    },
    Program {
        name: "Roo",
        sign: both(
            (
                Base::Editors,
                "Code/User/globalStorage/rooveterinaryinc.roo-cline",
            ),
            (Base::Project, ".roo"),
        ),
        file: both(
            (
                Base::Editors,
                "Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
            ),
            (Base::Project, ".roo/mcp.json"),
        ),
        group: SERVERS,
        entry: Entry::Bare,
    },
    Program {
        name: "Cline",
        sign: user(Base::Editors, "Code/User/globalStorage/saoudrizwan.claude-dev"),
        file: user(
            Base::Editors,
            "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        ),
        group: SERVERS,
        entry: Entry::Bare,
    },
];

const SERVERS: &str = "mcpServers";

/// Returns the folders and files that show which programs are used here, so that somebody can look for them.
pub(in crate::install) fn signs(paths: &Paths) -> Vec<PathBuf> {
    PROGRAMS
        .iter()
        .flat_map(|program| [program.sign.user, program.sign.project])
        .flatten()
        .map(|place| paths.resolve(Runtime::AgentsMd, place))
        .collect()
}

/// Returns the programs that are used here, with the file of each and our server in it.
pub(super) fn used(request: &Request<'_>) -> Vec<(&'static Program, PathBuf, Vec<Part>)> {
    if request.runtime != Runtime::AgentsMd {
        return Vec::new();
    }
    let resolve = |place| request.paths.resolve(Runtime::AgentsMd, place);
    PROGRAMS
        .iter()
        .filter_map(|program| {
            let sign = resolve(request.scope.of(&program.sign)?);
            let file = resolve(request.scope.of(&program.file)?);
            request
                .paths
                .is_used(&sign)
                .then(|| (program, file, vec![program.part(request)]))
        })
        .collect()
}

/// Returns the entry to add by hand where a program is not known here.
pub(super) fn printed(request: &Request<'_>) -> String {
    json!({ mcp::SERVER: mcp::server(request, McpExtras::Bare) }).to_string()
}

impl Program {
    fn part(&self, request: &Request<'_>) -> Part {
        let value = match self.entry {
            Entry::Bare => mcp::server(request, McpExtras::Bare),
            Entry::Stdio => mcp::server(request, McpExtras::Stdio),
            Entry::Custom => {
                let mut value = mcp::server(request, McpExtras::Bare);
                value["source"] = Value::from("custom");
                value
            }
        };
        Part::Member {
            kind: MemberKind::Ours,
            path: vec![self.group],
            key: mcp::SERVER,
            value,
        }
    }
}

const fn user(base: Base, path: &'static str) -> Scoped<BasedPath> {
    Scoped {
        user: Some(BasedPath { base, path }),
        project: None,
    }
}

const fn both(user: (Base, &'static str), project: (Base, &'static str)) -> Scoped<BasedPath> {
    Scoped {
        user: Some(BasedPath {
            base: user.0,
            path: user.1,
        }),
        project: Some(BasedPath {
            base: project.0,
            path: project.1,
        }),
    }
}
