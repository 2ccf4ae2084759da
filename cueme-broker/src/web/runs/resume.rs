//! Continues the conversation of a run, in the place where it was held.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use protocol_spec::id::RunId;
use protocol_spec::message::{Run, RunKind};
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use super::launch::title;
use super::list::find;
use super::view::RunShown;
use super::watch::conflict;
use crate::runs::{Started, start_run};
use crate::web::error::ApiError;
use crate::web::extract::{At, Input, Sent};
use crate::web::state::Shared;

/// The next message of the conversation.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ResumeBody {
    /// The next task.
    prompt: String,
}

impl Input for ResumeBody {}

/// Continues the conversation of a run as a new run.
pub(super) async fn resume(
    State(web): State<Shared>,
    At(run): At<RunId>,
    Sent(body): Sent<ResumeBody>,
) -> Result<(StatusCode, Json<RunShown>), ApiError> {
    if body.prompt.trim().is_empty() {
        return Err(ApiError::bad_request("the task is empty"));
    }
    let earlier = find(&web, run).await?;
    if earlier.run.end.is_none() && earlier.followed {
        return Err(conflict("the run has not ended").with_hint("answer its agent, or stop it first"));
    }
    let Some(session) = earlier.run.session.clone() else {
        return Err(conflict("the run has no conversation to continue"));
    };
    let arguments = arguments(&earlier.run, session);
    let next = Run {
        run_id: RunId(Uuid::now_v7()),
        title: title(&body.prompt),
        status: "STARTING".to_owned(),
        end: None,
        error: None,
        branch: None,
        pr_url: None,
        ..earlier.run
    };
    let started = Started {
        run: next,
        arguments,
        input: body.prompt,
    };
    let run_id = start_run(&web.broker, started).await?;
    Ok((StatusCode::CREATED, Json(find(&web, run_id).await?.into())))
}

fn arguments(run: &Run, session: String) -> Vec<String> {
    let words = match run.kind {
        RunKind::Local => vec![
            "agent".to_owned(),
            "run".to_owned(),
            "--json".to_owned(),
            format!("--cwd={}", run.project),
            format!("--resume={session}"),
        ],
        RunKind::Cloud => vec![
            "cloud".to_owned(),
            "follow-up".to_owned(),
            "--json".to_owned(),
            format!("--repository={}", run.project),
            session,
        ],
    };
    words.into_iter().chain(["-".to_owned()]).collect()
}
