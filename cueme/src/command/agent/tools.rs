//! The tools that are run for a custom CLI: `cue`, `pause` and `join` by us, and commands after the human approved them.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use adapter_core::config::Config;
use adapter_core::guard::{Registry, Text, Tool, ToolError, ToolFuture, ToolOutput, arguments};
use adapter_core::hap::TURN_ENV;
use adapter_core::tools::{Approval, Approver, Exec, WebFetch, WebSearch};
use protocol_spec::answer::Reply;
use protocol_spec::envelope::{self, PROMPT_BYTES_MAX};
use protocol_spec::message::DeliveredOutcome;
use protocol_spec::outcome::{Kind, Origin, Outcome};
use runtimes::shell::agent_call::is_agent_call;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::human::BrokerHuman;
use super::path::{own_programs, search_path};
use crate::client::{Question, Taken};
use crate::command::{cue, pause};
use crate::environment;
use crate::error::CliError;

/// Every name a tool can be called by.
pub(super) const NAMES: [&str; 5] = [
    "web_fetch",
    "mcp_web_fetch",
    "web_search",
    "mcp_web_search",
    "exec",
];
const APPROVAL_PAYLOAD: &str =
    r#"{"type":"confirm","confirm_label":"Run it","cancel_label":"Do not run it"}"#;

/// Builds the tools; without a human nothing can be approved, and `exec` is left out.
pub(super) fn registry(config: &Config, human: Option<&BrokerHuman>, cwd: PathBuf) -> Registry {
    let mut tools = Registry::default();
    let token = config.web_search.token_env.as_deref();
    let search = WebSearch {
        endpoint: config.web_search.endpoint.clone(),
        token: token.and_then(environment::variable),
    };
    let fetch = WebFetch {
        allowed: config.web_fetch_allowed.clone(),
    };
    tools.register(Arc::new(fetch));
    tools.register(Arc::new(search));
    if let Some(human) = human {
        tools.register(Arc::new(Ask::cue(human)));
        tools.register(Arc::new(Ask::pause(human)));
        tools.register(Arc::new(Joined(human.clone())));
        let approver = Arc::new(Asking(human.clone()));
        tools.register(Arc::new(Exec::new(approver, Some(cwd))));
    }
    tools
}

/// Asks the human about each command.
#[derive(Debug)]
struct Asking(BrokerHuman);

impl Approver for Asking {
    fn approve<'a>(&'a self, command: &'a str) -> Pin<Box<dyn Future<Output = Approval> + Send + 'a>> {
        // An agent needs no permission to ask a human.
        if is_agent_call(command, &own_programs()) {
            return Box::pin(std::future::ready(Approval::Asks));
        }
        let human = self.0.clone();
        let prompt = format!("The agent wants to run this command:\n\n{command}");
        Box::pin(async move {
            match tokio::task::spawn_blocking(move || ask(&human, prompt)).await {
                Ok(Ok(approval)) => approval,
                Ok(Err(error)) => Approval::Refused(error.to_string()),
                Err(error) => Approval::Refused(error.to_string()),
            }
        })
    }

    fn env(&self) -> BTreeMap<String, String> {
        let mut env = BTreeMap::from([(
            environment::AGENT_VARIABLE.to_owned(),
            self.0.agent_id.to_string(),
        )]);
        env.extend(self.0.turn().map(|nonce| (TURN_ENV.to_owned(), nonce)));
        env.extend(search_path(&self.0.places).map(|path| ("PATH".to_owned(), path)));
        env
    }
}

/// A tool by which a custom CLI asks the human.
struct Ask {
    human: BrokerHuman,
    kind: Kind,
    names: [&'static str; 1],
}

impl Ask {
    fn cue(human: &BrokerHuman) -> Self {
        Self {
            human: human.clone(),
            kind: Kind::Cue,
            names: ["cue"],
        }
    }

    fn pause(human: &BrokerHuman) -> Self {
        Self {
            human: human.clone(),
            kind: Kind::Pause,
            names: ["pause"],
        }
    }

    fn question(&self, args: &Value) -> Result<Question, CliError> {
        let agent = self.human.agent_id.to_string();
        if self.kind == Kind::Pause {
            let PauseArguments { prompt } = arguments(args).map_err(CliError::usage)?;
            return pause::question(&agent, &prompt);
        }
        let CueArguments { prompt, payload } = arguments(args).map_err(CliError::usage)?;
        let payload = payload.map(|payload| Value::Object(payload).to_string());
        let text = cue::enveloped(&prompt.0, payload.as_deref())?;
        cue::question(&agent, envelope::parse_cue(&text)?)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CueArguments {
    prompt: Text<PROMPT_BYTES_MAX>,
    payload: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PauseArguments {
    #[serde(default)]
    prompt: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JoinArguments {
    /// The runtime is known here; agents name it as they do in the shell.
    #[serde(default, rename = "agent_runtime")]
    _agent_runtime: String,
}

impl Tool for Ask {
    fn names(&self) -> &[&str] {
        &self.names
    }

    fn schema(&self) -> Value {
        match self.kind {
            Kind::Cue => json!({
                "type": "object",
                "description": "Asks the human and waits for the answer. Call it before every summary and before you finish.",
                "properties": {"prompt": {"type": "string", "minLength": 1}, "payload": {"type": "object"}},
                "required": ["prompt"],
                "additionalProperties": false
            }),
            Kind::Pause => json!({
                "type": "object",
                "description": "Stops until the human lets you continue.",
                "properties": {"prompt": {"type": "string"}},
                "additionalProperties": false
            }),
        }
    }

    fn check(&self, args: &Value) -> Result<(), String> {
        match self.kind {
            Kind::Cue => arguments::<CueArguments>(args).map(drop),
            Kind::Pause => arguments::<PauseArguments>(args).map(drop),
        }
    }

    fn call<'a>(&'a self, args: &'a Value) -> ToolFuture<'a> {
        Box::pin(async move {
            let failed = |error: &dyn std::fmt::Display| ToolError::Failed(error.to_string());
            let question = self.question(args).map_err(|error| failed(&error))?;
            let human = self.human.clone();
            let asked = tokio::task::spawn_blocking(move || human.answer_agent(question)).await;
            let heard = asked
                .map_err(|error| failed(&error))?
                .map_err(|error| failed(&error))?;
            Ok(ToolOutput {
                text: heard.word,
                confirmation: heard.confirmation,
            })
        })
    }
}

/// The tool that tells a custom CLI its agent id.
struct Joined(BrokerHuman);

impl Tool for Joined {
    fn names(&self) -> &[&str] {
        &["join"]
    }

    fn schema(&self) -> Value {
        json!({"type": "object", "properties": {"agent_runtime": {"type": "string"}}, "additionalProperties": false})
    }

    fn check(&self, args: &Value) -> Result<(), String> {
        arguments::<JoinArguments>(args).map(drop)
    }

    fn call<'a>(&'a self, _: &'a Value) -> ToolFuture<'a> {
        let text = format!("agent_id={}\nAsk the human with the tool `cue`.", self.0.agent_id);
        Box::pin(std::future::ready(Ok(text.into())))
    }
}

/// Asks and waits. Other outcomes that the agent has missed have no place beside a yes or no, and stay undelivered.
fn ask(human: &BrokerHuman, prompt: String) -> Result<Approval, CliError> {
    let payload = Some(APPROVAL_PAYLOAD.to_owned());
    Ok(match human.consult(prompt, payload, Origin::Approval, None)? {
        Taken::Outcome { told, receipt, .. } => {
            receipt.give(&human.places);
            approval_of(&told)
        }
        Taken::Stopped(_) => Approval::Refused("the wait for an approval was interrupted".to_owned()),
    })
}

/// Only a plain yes approves.
fn approval_of(told: &DeliveredOutcome) -> Approval {
    let reply = told.answer.as_ref().and_then(|answer| answer.reply.as_ref());
    let is_yes =
        told.outcome == Outcome::Answered && matches!(reply, Some(Reply::Confirm { confirmed: true }));
    if is_yes {
        Approval::Approved
    } else {
        Approval::Refused(told.text.clone())
    }
}
