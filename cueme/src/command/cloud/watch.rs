//! `cueme cloud watch`: finds a run again that an earlier call started. Leaving it does not end it.

use adapter_core::cursor::cloud::{ConfigError, Reach, RunRequest};
use protocol_spec::exit::Exit;

use super::drive::Drive;
use super::session::{check_exists, find};
use super::settings::{configured, connect, settings};
use crate::cli::CloudWatchArgs;
use crate::environment;
use crate::error::CliError;

pub(super) fn run(args: &CloudWatchArgs) -> Result<Exit, CliError> {
    let places = environment::places()?;
    let mut config = configured(&places, &args.fields)?;
    let known = find(&places, &config, &args.id)?;
    if known.title.is_none() {
        // The broker has never heard of it, so it may be a slip of the pen.
        check_exists(&*connect(&config, known.session.api)?, &known.session)?;
    }
    config.repository.clone_from(&known.session.repository);
    config.api = Some(known.session.api);
    let secret = config.webhook_secret(known.session.api, &environment::variable);
    if matches!(secret, Err(ConfigError::WebhookSecretMissing)) {
        // The broker keeps the secret that the run was started with.
        config.enable_webhooks = Some(false);
    }
    let drive = Drive {
        places,
        settings: settings(&config, Reach::Optional)?,
        task: known.title.unwrap_or_else(|| known.session.agent_id.clone()),
        request: RunRequest::Attach {
            session: known.session,
        },
        agent_id: known.agent_id,
        run_id: known.open_run,
        is_ours: false,
        while_stdin_open: args.while_stdin_open,
    };
    drive.complete(&args.driving)
}
