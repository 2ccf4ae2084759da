//! `cueme cloud follow-up`: further words to an agent in the cloud.

use adapter_core::cursor::cloud::{RunRequest, Session};
use protocol_spec::exit::Exit;

use super::drive::Drive;
use super::launch::task;
use super::session::{check_exists, find};
use super::settings::{configured, connect, reach, settings};
use crate::cli::CloudFollowUpArgs;
use crate::environment;
use crate::error::CliError;

pub(super) fn run(args: &CloudFollowUpArgs) -> Result<Exit, CliError> {
    let places = environment::places()?;
    let mut config = configured(&places, &args.fields)?;
    let known = find(&places, &config, &args.id)?;
    if config.repository.trim().is_empty() {
        config.repository.clone_from(&known.session.repository);
    }
    if args.fields.api.is_none() {
        config.api = Some(known.session.api);
    }
    let settings = settings(&config, reach(args.driving.no_hap))?;
    let prompt = task(&args.prompt)?;
    check_exists(&*connect(&config, known.session.api)?, &known.session)?;
    let fits = known.session.matches(&settings.repository, settings.generation);
    if !fits && !args.new_agent {
        return Err(elsewhere(&known.session, &settings.repository));
    }
    let drive = Drive {
        places,
        settings,
        request: RunRequest::Say {
            words: prompt.clone(),
            session: fits.then_some(known.session),
        },
        task: prompt,
        agent_id: known.agent_id.filter(|_| fits),
        run_id: None,
        is_ours: true,
        while_stdin_open: false,
    };
    drive.complete(&args.driving)
}

/// Refuses to continue on another repository: the agent cannot, and another one costs money.
fn elsewhere(session: &Session, repository: &str) -> CliError {
    let agent = session.display_id();
    let message = format!("{agent} works on {}, not on {repository}", session.repository);
    CliError::usage(message).with_hint(format!(
        "omit --repository to continue with {agent}, or add --new-agent to start another agent"
    ))
}
