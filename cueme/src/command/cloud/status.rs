//! `cueme cloud status`: how an agent stands, or which runs there are.

use adapter_core::cursor::cloud::{Redactor, RunState};
use protocol_spec::exit::Exit;
use protocol_spec::message::{RunEnd, RunView};
use serde_json::json;

use super::session::{find, run_of, runs};
use super::settings::{configured, connect, failed};
use crate::cli::{CloudFields, CloudStatusArgs};
use crate::command::agent::runtime;
use crate::display::{ago, now, pad, visible_line};
use crate::error::CliError;
use crate::{environment, output};

const STATUS_COLUMNS: usize = 12;

pub(super) fn run(args: &CloudStatusArgs) -> Result<Exit, CliError> {
    let is_json = args.json || !output::is_terminal();
    match &args.id {
        Some(id) => one(id, is_json),
        None => all(is_json),
    }
}

fn one(id: &str, is_json: bool) -> Result<Exit, CliError> {
    let places = environment::places()?;
    let config = configured(&places, &CloudFields::default())?;
    let session = find(&places, &config, id)?.session;
    let api = connect(&config, session.api)?;
    let read = runtime()?.block_on(async {
        let run = run_of(&*api, &session).await?;
        api.state(&run).await
    });
    let mut state = read.map_err(|error| failed(&error))?;
    let redactor = Redactor::default();
    redactor.json(&mut state.raw);
    state.summary = state.summary.map(|summary| redactor.text(&summary));
    state.name = state.name.map(|name| redactor.text(&name));
    output::print_line(&if is_json {
        line(&session.agent_id, &state)
    } else {
        words(&session.agent_id, &state)
    })?;
    Ok(Exit::Done)
}

fn line(agent_id: &str, state: &RunState) -> String {
    json!({
        "type": "status", "agentId": agent_id, "status": state.status, "name": state.name,
        "repository": state.repository, "branchName": state.branch_name, "prUrl": state.pr_url,
        "url": state.url, "summary": state.summary, "raw": state.raw,
    })
    .to_string()
}

fn words(agent_id: &str, state: &RunState) -> String {
    let mut lines = vec![format!("{}  {}", state.status, visible_line(agent_id))];
    let more = [
        ("name", &state.name),
        ("repository", &state.repository),
        ("branch", &state.branch_name),
        ("pull request", &state.pr_url),
        ("page", &state.url),
        ("summary", &state.summary),
    ];
    for (what, text) in more {
        lines.extend(
            text.as_ref()
                .map(|text| format!("{what}: {}", visible_line(text))),
        );
    }
    lines.join("\n")
}

fn all(is_json: bool) -> Result<Exit, CliError> {
    let runs = runs(&environment::places()?, None)?;
    if runs.is_empty() {
        output::tell("no run in the cloud is known here; start one with `cueme cloud launch`");
    }
    for run in runs {
        output::print_line(&if is_json {
            output::json_line(&run)?
        } else {
            row(&run)
        })?;
    }
    Ok(Exit::Done)
}

fn row(view: &RunView) -> String {
    let mark = match (view.run.end, view.followed) {
        (Some(RunEnd::Succeeded), _) => "done",
        (Some(RunEnd::Failed), _) => "failed",
        (Some(RunEnd::Cancelled), _) => "cancelled",
        (None, true) => "running",
        (None, false) => "unattended",
    };
    let session = view.run.session.as_deref().unwrap_or("-");
    let link = view.run.pr_url.as_ref().or(view.run.branch.as_ref());
    let mut row = format!(
        "{}  {}  {}  {}  ({} ago)",
        pad(mark, STATUS_COLUMNS),
        visible_line(session),
        visible_line(&view.run.status),
        visible_line(&view.run.title),
        ago(now(), view.changed_at),
    );
    if let Some(link) = link {
        row.push_str(&format!("\n{}  {}", pad("", STATUS_COLUMNS), visible_line(link)));
    }
    row
}
