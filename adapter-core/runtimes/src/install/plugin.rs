//! A plugin folder for Claude Code, made from the same sources as an installation.
//!
//! It has the hooks and, as a skill, the rule. Our MCP server is left out: Claude Code gives the tools of a plugin's
//! server names of their own, which neither our hooks nor a permission for `mcp__cueme` would know.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{Problem, Request, json, recipe::hook_parts};
use crate::{Runtime, text};

/// The name of the plugin and of its skill.
pub const PLUGIN_NAME: &str = "cueme";

/// The manifest of a plugin.
pub const PLUGIN_MANIFEST: &str = ".claude-plugin/plugin.json";

const SKILL_FRONT_MATTER: &str = "---\nname: cueme\ndescription: Ask the human and wait for the answer. Use it before \
                                  every phase summary, before every final reply, and whenever a decision is the \
                                  human's.\n---\n";

/// A file of a plugin: its path below the plugin's folder, and its text.
pub type PluginFile = (PathBuf, String);

/// Returns the files of the plugin.
pub fn plugin(request: &Request<'_>, version: &str) -> Result<Vec<PluginFile>, Problem> {
    let manifest = json!({
        "name": PLUGIN_NAME,
        "version": version,
        "description": "Ask a human from Claude Code, and wait for the answer",
    });
    let hooks = json::install(None, &hook_parts(request), None)?.text;
    Ok(vec![
        (PLUGIN_MANIFEST.into(), pretty(&manifest)),
        ("hooks/hooks.json".into(), hooks),
        (format!("skills/{PLUGIN_NAME}/SKILL.md").into(), skill(request)),
    ])
}

/// Tells whether a manifest is that of our plugin.
pub fn is_our_plugin(manifest: &str) -> bool {
    serde_json::from_str::<Value>(manifest).is_ok_and(|manifest| manifest["name"] == PLUGIN_NAME)
}

fn skill(request: &Request<'_>) -> String {
    format!(
        "{SKILL_FRONT_MATTER}\n{}",
        text::rule([Runtime::ClaudeCode], request.language)
    )
}

fn pretty(value: &Value) -> String {
    // A value that was just built has nothing that JSON cannot say.
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}
