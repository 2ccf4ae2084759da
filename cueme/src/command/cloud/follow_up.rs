//! `cueme cloud follow-up`: further words to an agent in the cloud.

use adapter_core::cursor::cloud::RunRequest;
use protocol_spec::exit::Exit;

use super::drive::Drive;
use super::launch::task;
use super::session::find;
use super::settings::{configured, settings};
use crate::cli::CloudFollowUpArgs;
use crate::error::CliError;
use crate::{output, surroundings};

pub(super) fn run(args: &CloudFollowUpArgs) -> Result<Exit, CliError> {
    let places = surroundings::places()?;
    let mut config = configured(&places, &args.fields)?;
    let known = find(&places, &config, &args.id)?;
    if config.repository.trim().is_empty() {
        config.repository.clone_from(&known.session.repository);
    }
    if args.fields.api.is_none() {
        config.api = Some(known.session.api);
    }
    let settings = settings(&config)?;
    let prompt = task(&args.prompt)?;
    let fits = known.session.matches(&settings.repository, settings.generation);
    if !fits {
        output::tell(&format!(
            "warning: {} works on another repository than {}; a new agent is started",
            known.session.display_id(),
            settings.repository
        ));
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
    };
    drive.complete(&args.driving)
}
