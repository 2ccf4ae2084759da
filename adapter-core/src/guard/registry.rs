//! The tools an agent may call: known by name, and called only with arguments that fit their schema.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use protocol_spec::visible::quoted;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error as _};
use serde_json::Value;
use thiserror::Error;

use crate::contract::ToolSpec;
use crate::hap::Confirmation;

/// The future of a tool call.
pub type ToolFuture<'a> = Pin<Box<dyn Future<Output = Result<ToolOutput, ToolError>> + Send + 'a>>;

/// The output of a tool for the agent.
#[derive(Debug, Default)]
pub struct ToolOutput {
    /// The text.
    pub text: String,
    /// Given once the agent has it.
    pub confirmation: Confirmation,
}

impl From<String> for ToolOutput {
    fn from(text: String) -> Self {
        Self {
            text,
            confirmation: Confirmation::default(),
        }
    }
}

/// Something an agent can call.
pub trait Tool: Send + Sync {
    /// Returns the name and the aliases it is called by; the first is the name.
    fn names(&self) -> &[&str];

    /// Returns the JSON Schema of its arguments, for the agent.
    fn schema(&self) -> Value;

    /// Says what is wrong with the arguments.
    fn check(&self, args: &Value) -> Result<(), String>;

    /// Runs it; the arguments were checked.
    fn call<'a>(&'a self, args: &'a Value) -> ToolFuture<'a>;
}

/// Reads the arguments of a tool, or says what is wrong with them, and where.
pub fn arguments<T: DeserializeOwned>(args: &Value) -> Result<T, String> {
    serde_path_to_error::deserialize(args).map_err(|error| {
        let path = error.path().to_string().replace('.', "/");
        format!("at /{path}: {}", error.inner())
    })
}

/// A text argument that is neither empty nor longer than a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text<const CHARS_MAX: usize>(pub String);

impl<'de, const CHARS_MAX: usize> Deserialize<'de> for Text<CHARS_MAX> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        match text.chars().count() {
            0 => Err(D::Error::custom("it is empty")),
            count if count > CHARS_MAX => Err(D::Error::custom(format!(
                "it has {count} characters, {CHARS_MAX} are allowed"
            ))),
            _ => Ok(Self(text)),
        }
    }
}

/// Why a tool was not run, or failed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ToolError {
    /// No tool has this name.
    #[error("unknown tool {}; known are {known}", quoted(.name))]
    Unknown {
        /// The name that was called.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// The arguments do not fit.
    #[error("invalid arguments for {name}: {reason}")]
    Arguments {
        /// The tool.
        name: String,
        /// The reason, and the place of the error.
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
    tools: BTreeMap<String, Arc<dyn Tool>>,
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.tools.keys()).finish()
    }
}

impl Registry {
    /// Adds a tool under its name and aliases.
    pub fn register(&mut self, tool: Arc<dyn Tool>) {
        for name in tool.names() {
            self.tools.insert((*name).to_owned(), Arc::clone(&tool));
        }
    }

    /// Returns every name a tool can be called by.
    pub fn names(&self) -> BTreeSet<String> {
        self.tools.keys().cloned().collect()
    }

    /// Returns the list that is sent to a custom CLI.
    pub fn specs(&self) -> Vec<ToolSpec> {
        let spec = |(name, tool): (&String, &Arc<dyn Tool>)| ToolSpec {
            name: name.clone(),
            schema: tool.schema(),
        };
        self.tools.iter().map(spec).collect()
    }

    /// Checks name and arguments without running anything.
    pub fn check(&self, name: &str, args: &Value) -> Result<(), ToolError> {
        self.checked(name, args).map(drop)
    }

    /// Checks name and arguments, then runs the tool.
    pub async fn call(&self, name: &str, args: &Value) -> Result<ToolOutput, ToolError> {
        self.checked(name, args)?.call(args).await
    }

    fn checked(&self, name: &str, args: &Value) -> Result<&dyn Tool, ToolError> {
        let tool = self.tools.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.tools.keys().map(String::as_str).collect();
            ToolError::Unknown {
                name: name.to_owned(),
                known: known.join(", "),
            }
        })?;
        match tool.check(args) {
            Ok(()) => Ok(&**tool),
            Err(reason) => Err(ToolError::Arguments {
                name: name.to_owned(),
                reason,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::num::NonZeroU64;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[derive(Default)]
    struct Counter(AtomicUsize);

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "only its reading counts")]
    struct Count {
        by: NonZeroU64,
    }

    impl Tool for Counter {
        fn names(&self) -> &[&str] {
            &["count", "mcp_count"]
        }

        fn schema(&self) -> Value {
            json!({"type":"object","properties":{"by":{"type":"integer","minimum":1}},"required":["by"],"additionalProperties":false})
        }

        fn check(&self, args: &Value) -> Result<(), String> {
            arguments::<Count>(args).map(drop)
        }

        fn call<'a>(&'a self, _: &'a Value) -> ToolFuture<'a> {
            Box::pin(async { Ok(self.0.fetch_add(1, Ordering::Relaxed).to_string().into()) })
        }
    }

    fn registry() -> (Registry, Arc<Counter>) {
        let (mut registry, tool) = (Registry::default(), Arc::new(Counter::default()));
        registry.register(tool.clone());
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

    #[test]
    fn a_text_is_neither_empty_nor_too_long() {
        assert_eq!(arguments::<Text<3>>(&json!("数据库")), Ok(Text("数据库".into())));
        for wrong in [json!(""), json!("four"), json!(3), json!(["a"])] {
            arguments::<Text<3>>(&wrong).unwrap_err();
        }
    }
}
