//! The files of one installation and what goes into each.

use std::path::{Path, PathBuf};

use super::{hooks, mcp, permission, programs};
use crate::{
    Runtime,
    facts::{HookShape, McpShape, RuleKind},
    install::{Request, json::Part, toml::ServerTable},
    text,
};

/// One file of an installation.
#[derive(Debug)]
pub(in crate::install) struct FileRecipe {
    /// Its path.
    pub path: PathBuf,
    /// The purpose, as a phrase for a person.
    pub why: String,
    /// The parts of the installation in it.
    pub roles: Vec<Role>,
    /// The content.
    pub content: Content,
}

/// The content of a file.
#[derive(Debug)]
pub(in crate::install) enum Content {
    /// Our rule in a managed block.
    Rule {
        /// The beginning of a new file.
        front_matter: &'static str,
        /// The beginnings of new files in older versions.
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

/// The purpose of a part of an installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// The text that agents read.
    Rule,
    /// That cueme may be run without asking.
    Permission,
    /// The calls at the start of a session, at a prompt and at the end of a turn.
    Hooks,
    /// The MCP server.
    Mcp,
}

impl Role {
    /// Every role, in the order they are shown.
    pub const ALL: [Role; 4] = [Role::Rule, Role::Permission, Role::Hooks, Role::Mcp];

    /// Returns its name for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Permission => "permission",
            Self::Hooks => "hooks",
            Self::Mcp => "mcp",
        }
    }
}

/// Lists the files of an installation; those that several of our parts go into appear once.
pub(in crate::install) fn recipe(request: &Request<'_>) -> Vec<FileRecipe> {
    merged(
        Role::ALL
            .into_iter()
            .flat_map(|role| recipe_of(role, request))
            .collect(),
    )
}

/// Lists the files of one part of an installation.
pub(in crate::install) fn recipe_of(role: Role, request: &Request<'_>) -> Vec<FileRecipe> {
    match role {
        Role::Rule => rule(request).into_iter().collect(),
        Role::Permission => permission_file(request).into_iter().collect(),
        Role::Hooks => hook_file(request).into_iter().collect(),
        Role::Mcp => mcp_file(request)
            .into_iter()
            .chain(program_files(request))
            .collect(),
    }
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
        why: "instructions that tell the agent to ask".to_owned(),
        roles: vec![Role::Rule],
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

fn permission_file(request: &Request<'_>) -> Option<FileRecipe> {
    let place = request.scope.of(&request.runtime.facts().permission.value)?;
    Some(FileRecipe {
        path: existing_spelling(request, request.paths.resolve(request.runtime, place)),
        why: "permission to run cueme's four agent verbs".to_owned(),
        roles: vec![Role::Permission],
        content: permission::content(request)?,
    })
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
        roles: vec![Role::Hooks],
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
        roles: vec![Role::Mcp],
        content,
    })
}

fn program_files(request: &Request<'_>) -> impl Iterator<Item = FileRecipe> {
    programs::used(request)
        .into_iter()
        .map(|(program, path, parts)| FileRecipe {
            path,
            why: format!("cueme as an MCP server of {}", program.name),
            roles: vec![Role::Mcp],
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
                    roles,
                    ..
                }),
                Content::Json(more),
            ) => {
                known.extend(more);
                why.push_str("; ");
                why.push_str(&file.why);
                roles.extend(file.roles);
            }
            (_, content) => out.push(FileRecipe { content, ..file }),
        }
    }
    out
}
