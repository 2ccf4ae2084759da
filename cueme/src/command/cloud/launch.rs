//! `cueme cloud launch`: a new agent in the cloud.

use adapter_core::cursor::cloud::{CloudConfig, RunRequest};
use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;
use serde::Deserialize;

use super::drive::Drive;
use super::settings::{configured, reach, settings};
use crate::cli::CloudLaunchArgs;
use crate::environment;
use crate::error::CliError;
use crate::input::{read_text, text_of};

/// The request of the page.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    prompt: String,
    config: CloudConfig,
}

pub(super) fn run(args: &CloudLaunchArgs) -> Result<Exit, CliError> {
    let places = environment::places()?;
    let Form { prompt, config } = form(args, &places)?;
    let drive = Drive {
        places,
        settings: settings(&config, reach(args.driving.no_hap))?,
        request: RunRequest::Say {
            words: prompt.clone(),
            session: None,
        },
        task: prompt,
        agent_id: None,
        run_id: None,
        is_ours: true,
        while_stdin_open: false,
    };
    drive.complete(&args.driving)
}

fn form(args: &CloudLaunchArgs, places: &Places) -> Result<Form, CliError> {
    if args.form {
        let text = read_text("the form")?;
        // The wrong value may be beside a secret, so the message names only its place.
        return serde_json::from_str(&text)
            .map_err(|error| CliError::usage(format!("the form is wrong at column {}", error.column())));
    }
    Ok(Form {
        prompt: task(&args.prompt)?,
        config: configured(places, &args.fields)?,
    })
}

/// Returns the task, which is not empty.
pub(super) fn task(words: &[String]) -> Result<String, CliError> {
    let prompt = text_of(words, "the task")?.filter(|prompt| !prompt.trim().is_empty());
    prompt.ok_or_else(|| {
        CliError::usage("the task is empty").with_hint("run `cueme cloud launch \"what to do\"`")
    })
}
