//! The script of the model, step by step, and the record of its input.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use super::dialect::{Action, Asked};

/// Stands for the agent's id in a step: the model writes the id it read last.
pub const AGENT: &str = "{agent}";
/// The model's text after the end of its script.
const NOTHING_LEFT: &str = "The script is over.";

/// The model's next action.
#[derive(Debug, Clone)]
pub enum Step {
    /// Says something and ends its turn.
    Say(String),
    /// Runs a command in the program's shell tool.
    Shell {
        /// The command; [`AGENT`] in it becomes the agent's id.
        command: String,
        /// The timeout it asks for, where the tool lets it.
        timeout_ms: Option<u64>,
    },
    /// Calls a tool of cueme's MCP server.
    Mcp {
        /// The tool's own name, such as `cue`.
        tool: &'static str,
        /// Its arguments; [`AGENT`] in them becomes the agent's id.
        arguments: Value,
    },
    /// Calls any other tool by its name.
    Call {
        /// The name, as the program calls it.
        tool: &'static str,
        /// Its arguments.
        arguments: Value,
    },
    /// Does nothing, but what the model was told since its last step must contain this.
    Expect(String),
}

impl Step {
    /// Says something and ends the turn.
    pub fn say(text: &str) -> Self {
        Self::Say(text.to_owned())
    }

    /// Runs a command in the shell.
    pub fn shell(command: impl Into<String>) -> Self {
        Self::Shell {
            command: command.into(),
            timeout_ms: None,
        }
    }

    /// Calls a tool of cueme's MCP server.
    pub fn mcp(tool: &'static str, arguments: Value) -> Self {
        Self::Mcp { tool, arguments }
    }

    /// Demands that the model was told this.
    pub fn expect(text: &str) -> Self {
        Self::Expect(text.to_owned())
    }
}

/// A script under way. Copies share it.
#[derive(Debug, Clone)]
pub struct Play {
    marker: String,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    steps: VecDeque<Step>,
    told: Vec<String>,
    said: Vec<Action>,
    failures: Vec<String>,
    agent: Option<String>,
    /// The tool of the next step was looked for.
    has_searched: bool,
    /// The request that was answered last, so that a program that sends it again gets the same answer.
    last: Option<(Asked, Action)>,
}

impl Play {
    pub(super) fn new(marker: &str, steps: Vec<Step>) -> Self {
        let state = State {
            steps: steps.into(),
            ..State::default()
        };
        Self {
            marker: marker.to_owned(),
            state: Arc::new(Mutex::new(state)),
        }
    }

    /// Says whether a request belongs to this script.
    pub(super) fn is_of(&self, asked: &Asked) -> bool {
        let state = self.state();
        // An agent of the program's own that reads the conversation has other tools.
        let is_same_agent = state
            .last
            .as_ref()
            .is_none_or(|(last, _)| asked.tools.include(&last.tools));
        is_same_agent && asked.conversation.contains(&self.marker)
    }

    /// Returns what the model was told before each of its actions: tool results and what people and hooks wrote.
    pub fn told(&self) -> Vec<String> {
        self.state().told.clone()
    }

    /// Returns the agent's id that the model has read.
    pub fn agent(&self) -> Option<String> {
        self.state().agent.clone()
    }

    /// Says whether every step was taken.
    pub fn is_over(&self) -> bool {
        self.state().steps.is_empty()
    }

    /// Returns which expectations were not met, and requests past the end of the script.
    pub fn failures(&self) -> Vec<String> {
        self.state().failures.clone()
    }

    /// Takes the next step in answer to a request.
    pub(super) fn act(&self, asked: &Asked) -> Action {
        let mut state = self.state();
        if let Some((known, action)) = &state.last
            && known.is_same_turn(asked)
        {
            return action.clone();
        }
        if !state.has_searched {
            state.told.push(asked.latest.clone());
        }
        if let Some(id) = agent_in(&asked.latest).or_else(|| agent_in(&asked.conversation)) {
            // The first one stays unless a later result names another.
            let in_latest = agent_in(&asked.latest).is_some();
            if in_latest || state.agent.is_none() {
                state.agent = Some(id);
            }
        }
        let action = state.next(asked);
        state.said.push(action.clone());
        state.last = Some((asked.clone(), action.clone()));
        action
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn next(&mut self, asked: &Asked) -> Action {
        loop {
            let Some(step) = self.steps.pop_front() else {
                self.failures
                    .push(format!("a request past the end of the script: {}", asked.latest));
                return Action::Say(NOTHING_LEFT.to_owned());
            };
            return match step {
                Step::Expect(text) => {
                    if !asked.latest.contains(&text) {
                        self.failures
                            .push(format!("expected {text:?}, was told:\n{}", asked.latest));
                    }
                    continue;
                }
                Step::Say(text) => Action::Say(self.filled(&text)),
                Step::Shell { command, timeout_ms } => self.call(
                    asked.tools.shell(&self.filled(&command), timeout_ms),
                    "a shell tool",
                ),
                Step::Mcp { tool, arguments } => {
                    let filled = self.filled_in(&arguments);
                    let call = asked.tools.cueme(tool, filled);
                    if call.is_none()
                        && let Some(search) = asked.tools.search(tool)
                        && !std::mem::replace(&mut self.has_searched, true)
                    {
                        self.steps.push_front(Step::Mcp { tool, arguments });
                        return search;
                    }
                    self.has_searched = false;
                    self.call(call, &format!("{tool}: {:?}", asked.tools))
                }
                Step::Call { tool, arguments } => {
                    let arguments = self.filled_in(&arguments);
                    self.call(asked.tools.named(tool, arguments), tool)
                }
            };
        }
    }

    fn call(&mut self, call: Option<Action>, wanted: &str) -> Action {
        call.unwrap_or_else(|| {
            self.failures.push(format!("the program offers no {wanted}"));
            self.steps.clear();
            Action::Say(NOTHING_LEFT.to_owned())
        })
    }

    fn filled(&self, text: &str) -> String {
        text.replace(AGENT, self.agent.as_deref().unwrap_or("no-agent-id-was-read"))
    }

    fn filled_in(&self, arguments: &Value) -> Value {
        match arguments {
            Value::String(text) => json!(self.filled(text)),
            Value::Object(members) => members
                .iter()
                .map(|(key, value)| (key.clone(), self.filled_in(value)))
                .collect(),
            other => other.clone(),
        }
    }
}

/// Finds the agent's id that a text names last, as our plain text or our JSON writes it.
fn agent_in(text: &str) -> Option<String> {
    let named = |key: &str| {
        let ids = text.match_indices(key).map(|(at, _)| {
            let rest = &text[at + key.len()..];
            let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
            (at, &rest[..end.unwrap_or(rest.len())])
        });
        ids.filter(|(_, id)| !id.is_empty()).last()
    };
    let last = [named("agent_id="), named("\"agent_id\":\"")]
        .into_iter()
        .flatten()
        .max();
    last.map(|(_, id)| id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_id_that_a_text_names_last_is_read() {
        assert_eq!(agent_in("agent_id=<id>"), None);
        assert_eq!(
            agent_in("agent_id=a-b\nx agent_id=bako-nefi\\nproject_dir="),
            Some("bako-nefi".to_owned())
        );
        let json = r#"agent_id=a-b then {"agent_id":"bako-nefi","agent_runtime":"x"}"#;
        assert_eq!(agent_in(json), Some("bako-nefi".to_owned()));
    }
}
