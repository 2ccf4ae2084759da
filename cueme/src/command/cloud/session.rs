//! Finds the conversation that is meant by an id.

use adapter_core::cursor::cloud::{
    ApiGeneration, CloudApi, CloudConfig, CloudError, RunRef, Session, decode_session,
};
use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;
use protocol_spec::id::{AgentId, RunId};
use protocol_spec::message::{Request, Run, RunKind, RunQuery, RunView};
use protocol_spec::visible::quoted;

use super::settings::failed;
use crate::client::{expect_reply, list};
use crate::command::agent::runtime;
use crate::error::CliError;

/// A conversation, and what the broker knows of it.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) session: Session,
    /// The agent that asks in it.
    pub(super) agent_id: Option<AgentId>,
    /// Its run that has not ended, if there is one.
    pub(super) open_run: Option<RunId>,
    pub(super) title: Option<String>,
    /// Its run that has not ended and that nobody drives.
    pub(super) left: Option<Run>,
}

/// Returns the runs in the cloud that fit a name, newest first.
pub(super) fn runs(places: &Places, name: Option<&str>) -> Result<Vec<RunView>, CliError> {
    let query = Request::Runs(RunQuery {
        kind: Some(RunKind::Cloud),
        name: name.map(str::to_owned),
        limit: None,
    });
    let mut runs = Vec::new();
    list(places, &query, |reply| {
        runs.push(*expect_reply!(reply, Run)?);
        Ok(())
    })?;
    Ok(runs)
}

/// Finds a conversation by the id of its agent in the cloud or of one of its runs, or by a beginning of either.
///
/// One that the broker does not know is taken at its word: it may have been started elsewhere.
pub(super) fn find(places: &Places, config: &CloudConfig, name: &str) -> Result<Known, CliError> {
    let runs = runs(places, Some(name))?;
    let known = runs.iter().filter_map(|run| {
        let session = decode_session(run.run.session_params.as_ref()?)?;
        Some((run, session))
    });
    let mut found: Option<(&RunView, Session)> = None;
    for (run, session) in known {
        match &found {
            None => found = Some((run, session)),
            Some((_, first)) if first.agent_id != session.agent_id => {
                return Err(CliError::usage(format!(
                    "{} is the beginning of more than one id",
                    quoted(name)
                ))
                .with_hint("type more of the id; `cueme cloud status` lists them"));
            }
            Some(_) => {}
        }
    }
    Ok(match found {
        Some((run, session)) => Known {
            agent_id: run.run.agent_id.clone(),
            open_run: run.run.end.is_none().then_some(run.run.run_id),
            title: Some(run.run.title.clone()),
            left: (run.run.end.is_none() && !run.followed).then(|| run.run.clone()),
            session,
        },
        None => Known {
            session: Session {
                agent_id: name.to_owned(),
                repository: config.repository.clone(),
                run_id: None,
                api: config.api.unwrap_or_default(),
            },
            agent_id: None,
            open_run: None,
            title: None,
            left: None,
        },
    })
}

/// Returns the run of a conversation that calls are about.
pub(super) async fn run_of(api: &dyn CloudApi, session: &Session) -> Result<RunRef, CloudError> {
    match (api.generation(), &session.run_id) {
        (ApiGeneration::V1, None) => api.latest_run(&session.agent_id).await,
        _ => Ok(session.run()),
    }
}

/// Refuses to go on with an agent that does not exist: words to it would start a new one, and a watch of it
/// would never end.
pub(super) fn check_exists(api: &dyn CloudApi, session: &Session) -> Result<(), CliError> {
    let found = runtime()?.block_on(api.latest_run(&session.agent_id));
    match found {
        Err(error) if error.api().is_some_and(|api| api.is_not_found()) => {
            let message = format!("there is no agent {} in the cloud", quoted(session.display_id()));
            Err(CliError::new(Exit::NotFound, message)
                .with_hint("`cueme cloud status` lists runs; `cueme cloud launch` starts a new agent"))
        }
        // It is unknown whether the agent exists, and nothing was sent yet.
        Err(error) => Err(failed(&error)),
        Ok(_) => Ok(()),
    }
}
