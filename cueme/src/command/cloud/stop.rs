//! `cueme cloud stop`: ends what an agent does.

use adapter_core::cursor::cloud::StopOutcome;
use protocol_spec::exit::Exit;
use serde_json::json;

use super::session::{find, run_of};
use super::settings::{configured, connect, failed};
use crate::cli::{CloudFields, CloudStopArgs};
use crate::command::agent::runtime;
use crate::error::CliError;
use crate::{environment, output};

pub(super) fn run(args: &CloudStopArgs) -> Result<Exit, CliError> {
    let places = environment::places()?;
    let config = configured(&places, &CloudFields::default())?;
    let session = find(&places, &config, &args.id)?.session;
    let api = connect(&config, session.api)?;
    let outcome = runtime()?.block_on(async {
        let run = run_of(&*api, &session).await?;
        api.stop(&run).await.map_err(|error| failed(&error))
    })?;
    let (word, sentence) = match outcome {
        StopOutcome::Stopped => ("stopped", "was told to stop"),
        StopOutcome::AlreadyOver => ("already_over", "had nothing left to stop"),
    };
    let is_json = args.json || !output::is_terminal();
    output::print_line(&if is_json {
        json!({ "type": "stop", "agentId": session.agent_id, "outcome": word }).to_string()
    } else {
        format!("{} {sentence}", session.display_id())
    })?;
    Ok(Exit::Done)
}
