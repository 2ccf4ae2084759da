//! The tools an agent may call: known by name, and called only with arguments that fit their schema.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;
use thiserror::Error;

use crate::contract::ToolSpec;

/// The most schema violations named in one error.
const VIOLATIONS_MAX: usize = 5;

/// What a call of a tool becomes.
pub type ToolFuture<'a> = Pin<Box<dyn Future<Output = Result<String, ToolError>> + Send + 'a>>;

/// Something an agent can call.
pub trait Tool: Send + Sync {
    /// Returns the name and the aliases it is called by; the first is the name.
    fn names(&self) -> &[&str];

    /// Returns the JSON Schema of its arguments.
    fn schema(&self) -> Value;

    /// Runs it; the arguments fit the schema.
    fn call<'a>(&'a self, args: &'a Value) -> ToolFuture<'a>;
}

/// Why a tool was not run, or failed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ToolError {
    /// No tool has this name.
    #[error("unknown tool {name:?}; known are {known}")]
    Unknown {
        /// The name that was called.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// The arguments do not fit.
    #[error("invalid arguments for {name}: {violations}")]
    Arguments {
        /// The tool.
        name: String,
        /// What is wrong, with the path of each.
        violations: String,
    },
    /// The schema of a tool is itself wrong.
    #[error("the schema of {name} is invalid: {reason}")]
    Schema {
        /// The tool.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// A guard refused the call.
    #[error("refused: {0}")]
    Refused(String),
    /// It ran and failed.
    #[error("{0}")]
    Failed(String),
}

/// The known tools.
#[derive(Clone, Default)]
pub struct Registry {
    tools: BTreeMap<String, Entry>,
}

#[derive(Clone)]
struct Entry {
    tool: Arc<dyn Tool>,
    schema: Value,
    validator: Arc<jsonschema::Validator>,
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.tools.keys()).finish()
    }
}

impl Registry {
    /// Adds a tool under its name and aliases.
    pub fn register(&mut self, tool: Arc<dyn Tool>) -> Result<(), ToolError> {
        let schema = tool.schema();
        let name = tool.names().first().copied().unwrap_or_default().to_owned();
        let validator = jsonschema::validator_for(&schema).map_err(|error| ToolError::Schema {
            name,
            reason: error.to_string(),
        })?;
        let validator = Arc::new(validator);
        for name in tool.names() {
            let entry = Entry {
                tool: Arc::clone(&tool),
                schema: schema.clone(),
                validator: Arc::clone(&validator),
            };
            self.tools.insert((*name).to_owned(), entry);
        }
        Ok(())
    }

    /// Returns every name a tool can be called by.
    pub fn names(&self) -> BTreeSet<String> {
        self.tools.keys().cloned().collect()
    }

    /// Returns the list that is sent to a custom CLI.
    pub fn specs(&self) -> Vec<ToolSpec> {
        let spec = |(name, entry): (&String, &Entry)| ToolSpec {
            name: name.clone(),
            schema: entry.schema.clone(),
        };
        self.tools.iter().map(spec).collect()
    }

    /// Checks name and arguments without running anything.
    pub fn check(&self, name: &str, args: &Value) -> Result<(), ToolError> {
        self.checked(name, args).map(drop)
    }

    /// Checks name and arguments, then runs the tool.
    pub async fn call(&self, name: &str, args: &Value) -> Result<String, ToolError> {
        self.checked(name, args)?.tool.call(args).await
    }

    fn checked(&self, name: &str, args: &Value) -> Result<&Entry, ToolError> {
        let entry = self.tools.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.tools.keys().map(String::as_str).collect();
            ToolError::Unknown {
                name: name.to_owned(),
                known: known.join(", "),
            }
        })?;
        let violations: Vec<String> = entry
            .validator
            .iter_errors(args)
            .take(VIOLATIONS_MAX)
            .map(|error| format!("at {:?}: {error}", error.instance_path().to_string()))
            .collect();
        if violations.is_empty() {
            return Ok(entry);
        }
        Err(ToolError::Arguments {
            name: name.to_owned(),
            violations: violations.join("; "),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[derive(Default)]
    struct Counter(AtomicUsize);

    impl Tool for Counter {
        fn names(&self) -> &[&str] {
            &["count", "mcp_count"]
        }

        fn schema(&self) -> Value {
            json!({"type":"object","properties":{"by":{"type":"integer","minimum":1}},"required":["by"],"additionalProperties":false})
        }

        fn call<'a>(&'a self, _: &'a Value) -> ToolFuture<'a> {
            Box::pin(async { Ok(self.0.fetch_add(1, Ordering::Relaxed).to_string()) })
        }
    }

    fn registry() -> (Registry, Arc<Counter>) {
        let (mut registry, tool) = (Registry::default(), Arc::new(Counter::default()));
        registry.register(tool.clone()).unwrap();
        (registry, tool)
    }

    #[tokio::test]
    async fn a_tool_runs_by_its_name_and_by_its_alias() {
        let (registry, tool) = registry();
        registry.call("count", &json!({"by": 1})).await.unwrap();
        registry.call("mcp_count", &json!({"by": 2})).await.unwrap();
        assert_eq!(tool.0.load(Ordering::Relaxed), 2);
    }

    #[tokio::test]
    async fn an_unknown_name_and_unfit_arguments_are_refused_before_anything_runs() {
        let (registry, tool) = registry();
        let unknown = registry.call("rm", &json!({})).await.unwrap_err();
        assert!(unknown.to_string().contains("count"), "{unknown}");
        for args in [
            json!({}),
            json!({"by": 0}),
            json!({"by": "1"}),
            json!({"by": 1, "x": 1}),
            json!([]),
        ] {
            let error = registry.call("count", &args).await.unwrap_err();
            assert!(matches!(error, ToolError::Arguments { .. }), "{args}");
        }
        assert!(
            registry
                .check("count", &json!({"by": 0}))
                .unwrap_err()
                .to_string()
                .contains("/by")
        );
        assert_eq!(tool.0.load(Ordering::Relaxed), 0);
    }
}
