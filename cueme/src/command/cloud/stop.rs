//! `cueme cloud stop`: ends what an agent does.

use adapter_core::cursor::cloud::StopOutcome;
use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;
use protocol_spec::message::{Request, Run, RunEnd, RunReport};
use serde_json::json;

use super::session::{Known, find, run_of};
use super::settings::{configured, connect, failed};
use crate::cli::{CloudFields, CloudStopArgs};
use crate::client::call;
use crate::command::agent::runtime;
use crate::error::CliError;
use crate::{environment, output};

pub(super) fn run(args: &CloudStopArgs) -> Result<Exit, CliError> {
    let places = environment::places()?;
    let config = configured(&places, &CloudFields::default())?;
    let Known { session, left, .. } = find(&places, &config, &args.id)?;
    let api = connect(&config, session.api)?;
    let stopped = runtime()?.block_on(async {
        let run = run_of(&*api, &session).await?;
        api.stop(&run).await
    });
    // The driver of a run reports its end. A run without a driver is reported here.
    if let Some(run) = left {
        match &stopped {
            Ok(_) => end(&places, run, RunEnd::Cancelled, "STOPPED")?,
            Err(error) if error.api().is_some_and(|api| api.is_not_found()) => {
                end(&places, run, RunEnd::Failed, "GONE")?;
            }
            Err(_) => {}
        }
    }
    let outcome = stopped.map_err(|error| failed(&error))?;
    let (word, sentence) = match outcome {
        StopOutcome::Stopped => ("stopped", "was asked to stop"),
        StopOutcome::AlreadyOver => ("already_over", "had already ended"),
    };
    let is_json = args.json || !output::is_terminal();
    output::print_line(&if is_json {
        json!({ "type": "stop", "agentId": session.agent_id, "outcome": word }).to_string()
    } else {
        format!("{} {sentence}", session.display_id())
    })?;
    Ok(Exit::Done)
}

/// Reports the end of a run without a driver.
fn end(places: &Places, run: Run, end: RunEnd, status: &str) -> Result<(), CliError> {
    let ended = Run {
        status: status.to_owned(),
        end: Some(end),
        error: None,
        ..run
    };
    let report = Request::RunReport(Box::new(RunReport {
        run: ended,
        events: Vec::new(),
    }));
    call(places, &report).map(|_| ())
}
