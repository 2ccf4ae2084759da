//! `cueme agent doctor`: whether a turn could run, and what to do where it could not.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use adapter_core::config::Config;
use adapter_core::cursor::chats::ChatsRoot;
use adapter_core::cursor::cli::{
    CliAgent, Finding, State, examine, examine_args, examine_chats, examine_custom, examine_key,
};
use protocol_spec::exit::Exit;

use super::setup::{choose, directory, load_config, runtime};
use super::transport::{Transport, TransportFacts, choose_transport};
use crate::cli::{AgentDoctorArgs, Via};
use crate::display::{Grade, Paint, finding};
use crate::error::CliError;
use crate::{environment, output};
use adapter_core::contract::{Ending, Item};

/// The prompt of the trial turn.
const TRIAL_PROMPT: &str = "Reply with the single word: ready";

pub(super) fn run(args: &AgentDoctorArgs) -> Result<Exit, CliError> {
    let config = load_config(&environment::places()?)?;
    let spec = config.spec(&choose(&config, None)?.model).unwrap_or_default();
    let runtime = runtime()?;
    let mut findings = if spec.prompt_as_arg {
        runtime.block_on(examine(&spec.command, &cursor_home()))
    } else {
        vec![examine_custom(&spec.command)]
    };
    findings.push(examine_args(&spec));
    findings.push(runtime.block_on(transport(&config))?);
    if spec.prompt_as_arg {
        findings.push(examine_key(std::env::var("CURSOR_API_KEY").ok().as_deref()));
        if let Ok(root) = ChatsRoot::from_env() {
            findings.push(examine_chats(&root, &directory(None)?));
        }
    }
    let can_run = findings.iter().all(|finding| finding.state != State::Bad);
    if args.turn && can_run {
        findings.push(runtime.block_on(trial(config))?);
    } else if spec.prompt_as_arg {
        findings.push(pipe(&findings));
    }
    if args.json {
        output::print_json(&findings)?;
    } else {
        output::print(&report(&findings, Paint::for_stdout()))?;
    }
    let is_well = findings.iter().all(|finding| finding.state != State::Bad);
    Ok(if is_well { Exit::Done } else { Exit::NotFound })
}

/// Says how a run would be driven, and why.
async fn transport(config: &Config) -> Result<Finding, CliError> {
    let model = choose(config, None)?.model;
    let wanted = TransportFacts {
        via: None,
        config,
        model: &model,
        is_stream_only: false,
        path: None,
    };
    let Transport { via, why } = choose_transport(wanted).await;
    let found = match via {
        Via::Acp => format!("over ACP: {why}; its questions reach you within its turn"),
        Via::Stream => format!("by the stream of the CLI: {why}"),
    };
    Ok(Finding {
        what: "via",
        state: State::Good,
        found,
        remedy: None,
    })
}

/// Returns the folder of the CLI's configuration.
fn cursor_home() -> PathBuf {
    let named = environment::variable("CURSOR_CONFIG_DIR").map(PathBuf::from);
    let home = || PathBuf::from(environment::variable("HOME").unwrap_or_default()).join(".cursor");
    named.unwrap_or_else(home)
}

/// The version was asked for through pipes and without a terminal, so its answer says whether that works.
fn pipe(findings: &[Finding]) -> Finding {
    let version = findings.iter().find(|finding| finding.what == "version");
    let (state, found, remedy) = match version.map(|finding| finding.state) {
        Some(State::Good) => (
            State::Good,
            "the CLI answers through pipes; `cueme agent doctor --turn` tries a whole turn",
            None,
        ),
        Some(_) => (
            State::Bad,
            "the CLI does not answer through pipes",
            Some(
                "run it by hand in a terminal: if it answers there but not here, update it with `agent update`",
            ),
        ),
        None => (State::Bad, "not tried, because there is no CLI", None),
    };
    Finding {
        what: "pipe",
        state,
        found: found.to_owned(),
        remedy: remedy.map(str::to_owned),
    }
}

/// Runs one real turn.
async fn trial(config: Config) -> Result<Finding, CliError> {
    let choice = choose(&config, None)?;
    let mut agent = CliAgent::new(Arc::new(config), choice.model);
    agent.force = false;
    let report = agent
        .turn(TRIAL_PROMPT, None, &BTreeMap::new(), &mut |_: Item<'_>| {})
        .await;
    let (state, found, remedy) = match report.ending {
        Ending::Done(_) => (State::Good, report.evidence.final_text, None),
        Ending::Error(error) => (
            State::Bad,
            format!("{}: {}", error.code, error.message),
            error.remedy,
        ),
    };
    Ok(Finding {
        what: "turn",
        state,
        found,
        remedy,
    })
}

fn report(findings: &[Finding], paint: Paint) -> String {
    let lines = findings.iter().map(|found| {
        let grade = match found.state {
            State::Good => Grade::Ok,
            State::Warning => Grade::Warn,
            State::Bad => Grade::Fail,
        };
        finding(grade, found.what, &found.found, found.remedy.as_deref(), paint)
    });
    lines.collect()
}
