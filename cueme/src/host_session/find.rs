//! Finds the session of a call with input from the system: our ancestors, the recorded sessions, the environment.

use std::path::{Path, PathBuf};

use protocol_spec::endpoint::Places;
use protocol_spec::id::AgentId;
use runtimes::Runtime;
use runtimes::hook::HookInput;
use serde_json::Value;

use super::choose::{Call, choose};
use super::record::{self, Host, Record, pid_namespace};
use crate::environment;
use crate::process_tree::ancestors;

/// The variable by which a hook tells the agent's commands which session they belong to.
pub(crate) const SESSION_VARIABLE: &str = "CUEME_SESSION";

/// The depth limit of the search in a call's description of itself.
const DEPTH_MAX: usize = 8;

/// The session facts that a call brings along.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Evidence<'a> {
    /// A command in the host's shell: the environment may name the session.
    Shell,
    /// A call of an MCP tool, with what the host says beside it. The server's environment is that of the host, which may
    /// itself run in another host's shell.
    Tool(&'a Value),
}

/// Finds the session of the host that this call belongs to, if that is beyond doubt.
pub(crate) fn find(places: &Places, runtime: &str, evidence: Evidence<'_>) -> Option<String> {
    let records = record::all(places);
    let folder = std::env::current_dir().unwrap_or_default();
    let (inherited, named) = match evidence {
        Evidence::Shell => (environment::variable(SESSION_VARIABLE), of_environment(runtime)),
        Evidence::Tool(said) => {
            let mut named = Vec::new();
            texts(said, DEPTH_MAX, &mut |text| {
                if records.iter().any(|record| record.session == text) {
                    named.push(text.to_owned());
                }
            });
            (None, named)
        }
    };
    if records.is_empty() {
        return inherited;
    }
    let call = Call {
        runtime,
        folder: &folder,
        ancestors: &ancestors(),
        space: &pid_namespace(),
        inherited: inherited.as_deref(),
        named: &named,
    };
    choose(&records, &call).map(str::to_owned)
}

/// Notes the session that a host told a hook, for calls that are told nothing.
pub(crate) fn note(places: &Places, input: &HookInput, folder: &Path, agent: &AgentId) {
    let Some(session) = &input.session else { return };
    let space = pid_namespace();
    let ancestors = ancestors();
    let host = ancestors.iter().find(|process| !process.is_shell());
    let host = host.map(|process| Host::of(process, &space));
    if is_replacing(input) {
        for record in record::all(places) {
            if record.host.is_some() && record.host == host && record.runtime == input.host.tag() {
                record::remove(places, &record.runtime, &record.session);
            }
        }
    }
    let record = Record {
        runtime: input.host.tag().to_owned(),
        session: session.clone(),
        agent: agent.clone(),
        folder: PathBuf::from(folder),
        host,
    };
    // A session that could not be noted merely has a second agent.
    let _ = record::write(places, &record);
}

/// Forgets a session that has ended: a later call of the same process belongs to another.
pub(crate) fn forget(places: &Places, input: &HookInput) {
    if let Some(session) = &input.session {
        record::remove(places, input.host.tag(), session);
    }
}

/// Says whether a host whose hook can hold a turn has recorded this agent.
pub(crate) fn holds_turn(places: &Places, agent: &AgentId) -> bool {
    record::all(places)
        .iter()
        .filter(|record| record.agent == *agent)
        .filter_map(|record| Runtime::from_tag(&record.runtime))
        .any(|runtime| runtime.facts().holds_turn)
}

/// Hosts with a window say so when another session takes the place of the one in it.
fn is_replacing(input: &HookInput) -> bool {
    matches!(input.source.as_deref(), Some("clear" | "resume"))
}

/// Returns the session that the host itself names in the environment of its commands.
fn of_environment(runtime: &str) -> Vec<String> {
    Runtime::from_tag(runtime)
        .and_then(|runtime| runtime.facts().session_variable)
        .and_then(environment::variable)
        .into_iter()
        .collect()
}

/// Visits every text in a value, also those in JSON that is itself written as a text.
fn texts(value: &Value, depth: usize, visit: &mut dyn FnMut(&str)) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match value {
        Value::String(text) => {
            visit(text);
            if text.starts_with('{')
                && let Ok(inner) = serde_json::from_str::<Value>(text)
            {
                texts(&inner, depth, visit);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| texts(value, depth, visit)),
        Value::Object(members) => members.values().for_each(|value| texts(value, depth, visit)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
