//! `cueme cloud follow-up`: further words to an agent in the cloud.

use adapter_core::cursor::cloud::{CloudApi, RunRequest, Session};
use protocol_spec::exit::Exit;

use super::drive::Drive;
use super::launch::task;
use super::session::find;
use super::settings::{configured, connect, reach, settings};
use crate::cli::CloudFollowUpArgs;
use crate::command::agent::runtime;
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
        "leave --repository out to continue with {agent}, or add --new-agent to start another agent"
    ))
}

/// Refuses to go on with an agent that does not exist: a new one would cost money that nobody wanted to spend.
fn check_exists(api: &dyn CloudApi, session: &Session) -> Result<(), CliError> {
    let found = runtime()?.block_on(api.latest_run(&session.agent_id));
    match found {
        Err(error) if error.api().is_some_and(|api| api.is_not_found()) => {
            let message = format!("there is no agent {:?} in the cloud", session.display_id());
            Err(CliError::new(Exit::NotFound, message)
                .with_hint("`cueme cloud status` lists runs; `cueme cloud launch` starts a new agent"))
        }
        // Everything else is told by the run itself.
        Ok(_) | Err(_) => Ok(()),
    }
}
