//! `cueme broker status`: is one running, and how is it?

use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;
use protocol_spec::message::{Nothing, Request, Status};

use crate::client::{call_running, expect_reply};
use crate::display::{ago, at, counted, now};
use crate::error::CliError;
use crate::output;

pub(super) fn run(places: &Places, is_json: bool) -> Result<Exit, CliError> {
    let status = match call_running(places, &Request::Status(Nothing {}))? {
        Some(reply) => Some(expect_reply!(reply, Status)?),
        None => None,
    };
    let text = match (&status, is_json) {
        (Some(status), true) => output::json_line(status)?,
        (Some(status), false) => described(status),
        (None, true) => r#"{"running":false}"#.to_owned(),
        (None, false) => "no broker is running; any command that needs one starts it".to_owned(),
    };
    output::print_line(&text)?;
    Ok(if status.is_some() {
        Exit::Done
    } else {
        Exit::NotFound
    })
}

fn described(status: &Status) -> String {
    let mut lines = vec![
        format!(
            "running: version {}, pid {}, since {} ({})",
            status.version,
            status.pid,
            at(status.started_at),
            ago(now(), status.started_at)
        ),
        format!("socket: {}", status.socket),
        format!("database: {}", status.database),
        format!("executable: {}", status.executable),
        format!(
            "{} open, {} waiting, {} not delivered, {}",
            status.open_cues,
            status.waiting,
            status.undelivered,
            counted(status.agents, "agent")
        ),
    ];
    lines.extend(
        status
            .storage_error
            .iter()
            .map(|error| format!("storage: {error}")),
    );
    lines.extend(
        status
            .config_error
            .iter()
            .map(|error| format!("configuration: {error}")),
    );
    lines.join("\n")
}
