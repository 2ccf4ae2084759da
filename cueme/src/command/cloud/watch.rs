//! `cueme cloud watch`: finds a run again that an earlier call started. Leaving it does not end it.

use adapter_core::cursor::cloud::RunRequest;
use protocol_spec::exit::Exit;

use super::drive::Drive;
use super::session::find;
use super::settings::{configured, settings};
use crate::cli::CloudWatchArgs;
use crate::environment;
use crate::error::CliError;

pub(super) fn run(args: &CloudWatchArgs) -> Result<Exit, CliError> {
    let places = environment::places()?;
    let mut config = configured(&places, &args.fields)?;
    let known = find(&places, &config, &args.id)?;
    config.repository.clone_from(&known.session.repository);
    config.api = Some(known.session.api);
    let drive = Drive {
        places,
        settings: settings(&config)?,
        task: known.title.unwrap_or_else(|| known.session.agent_id.clone()),
        request: RunRequest::Attach {
            session: known.session,
        },
        agent_id: known.agent_id,
        run_id: known.open_run,
        is_ours: false,
    };
    drive.complete(&args.driving)
}
