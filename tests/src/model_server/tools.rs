//! The tools that a program offers, and calls of them that fit their schemas.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value, json};

use super::dialect::Action;

/// The programs' names for the tool that runs a command.
const SHELLS: [&str; 7] = [
    "Bash",
    "bash",
    "exec_command",
    "shell_command",
    "shell",
    "run_shell_command",
    "local_shell",
];

/// Tools by the name a call uses.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Tools(BTreeMap<String, Value>);

/// Only the names: a schema fills a page.
impl fmt::Debug for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Tools {
    /// Adds a tool with the JSON schema of its arguments.
    pub(super) fn add(&mut self, name: &str, schema: &Value) {
        self.0.insert(name.to_owned(), schema.clone());
    }

    /// Says whether this is an agent's request: one that may run something. Titles and summaries are made without.
    pub(super) fn can_act(&self) -> bool {
        self.shell_name().is_some()
    }

    /// Says whether all of `others` are among them.
    pub(super) fn include(&self, others: &Self) -> bool {
        others.0.keys().all(|name| self.0.contains_key(name))
    }

    /// Calls the shell.
    pub(super) fn shell(&self, command: &str, timeout_ms: Option<u64>) -> Option<Action> {
        let name = self.shell_name()?;
        let schema = &self.0[name];
        let properties = schema["properties"].as_object().cloned().unwrap_or_default();
        let mut arguments = Map::new();
        for required in schema["required"].as_array().into_iter().flatten() {
            let key = required.as_str().unwrap_or_default();
            arguments.insert(key.to_owned(), filler(&properties[key]));
        }
        if properties.contains_key("cmd") {
            arguments.insert("cmd".to_owned(), json!(command));
        } else if properties.get("command").is_some_and(|it| it["type"] == "array") {
            arguments.insert("command".to_owned(), json!(["bash", "-lc", command]));
        } else {
            arguments.insert("command".to_owned(), json!(command));
        }
        for key in ["timeout", "timeout_ms"] {
            if let Some(timeout) = timeout_ms.filter(|_| properties.contains_key(key)) {
                arguments.insert(key.to_owned(), json!(timeout));
            }
        }
        Some(Action::call(name, Value::Object(arguments)))
    }

    /// Calls a tool of cueme's server; programs prefix its name in their own ways, or load it only when it is called.
    pub(super) fn cueme(&self, tool: &str, arguments: Value) -> Option<Action> {
        let ends = |name: &&String| {
            let rest = name.strip_suffix(tool);
            rest.is_some_and(|rest| rest.contains("cueme") && rest.ends_with(['_', '-', ':']))
        };
        let name = self.0.keys().find(ends)?;
        Some(Action::call(name, arguments))
    }

    /// Looks for a tool of cueme's server where the program loads tools only on demand.
    pub(super) fn search(&self, tool: &str) -> Option<Action> {
        let (name, query) = [
            ("ToolSearch", format!("select:mcp__cueme__{tool}")),
            ("tool_search", format!("cueme {tool}")),
        ]
        .into_iter()
        .find(|(name, _)| self.0.contains_key(*name))?;
        Some(Action::call(name, json!({ "query": query, "max_results": 5 })))
    }

    /// Calls a tool by its name.
    pub(super) fn named(&self, tool: &str, arguments: Value) -> Option<Action> {
        self.0.contains_key(tool).then(|| Action::call(tool, arguments))
    }

    fn shell_name(&self) -> Option<&'static str> {
        SHELLS.into_iter().find(|name| self.0.contains_key(*name))
    }
}

/// Something that fits, for arguments that do not matter here.
fn filler(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].as_array().and_then(|values| values.first()) {
        return first.clone();
    }
    match schema["type"].as_str() {
        Some("boolean") => json!(false),
        Some("integer" | "number") => json!(60),
        _ => json!("cueme"),
    }
}
