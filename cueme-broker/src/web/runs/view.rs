//! Runs as the page shows them.

use protocol_spec::message::{RunEnd, RunEvent, RunKind, RunView};
use schemars::JsonSchema;
use serde::Serialize;

use crate::web::view::When;

/// A run.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Run")]
pub(super) struct RunShown {
    run_id: String,
    kind: Place,
    agent_id: Option<String>,
    /// The repository, or the directory on this machine.
    project: String,
    title: String,
    /// Its status, in the runtime's own words.
    status: String,
    end: Option<Ending>,
    error: Option<String>,
    /// The chat, or the agent in the cloud.
    session: Option<String>,
    model: Option<String>,
    branch: Option<String>,
    pr_url: Option<String>,
    url: Option<String>,
    started_at: When,
    changed_at: When,
    ended_at: Option<When>,
    /// Whether it has a driver now.
    followed: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Place {
    Local,
    Cloud,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Ending {
    Succeeded,
    Failed,
    Cancelled,
}

/// All runs that are listed.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Runs {
    pub(super) runs: Vec<RunShown>,
}

/// A run with its events.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RunWhole {
    #[serde(flatten)]
    pub(super) run: RunShown,
    /// Oldest first.
    pub(super) events: Vec<EventShown>,
}

/// Something that happened in a run.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct EventShown {
    at: When,
    /// `status`, `tool`, `webhook`, `exchange` ….
    what: String,
    text: String,
}

impl From<RunView> for RunShown {
    fn from(view: RunView) -> Self {
        let run = view.run;
        Self {
            run_id: run.run_id.to_string(),
            kind: match run.kind {
                RunKind::Local => Place::Local,
                RunKind::Cloud => Place::Cloud,
            },
            agent_id: run.agent_id.map(String::from),
            project: run.project,
            title: run.title,
            status: run.status,
            end: run.end.map(|end| match end {
                RunEnd::Succeeded => Ending::Succeeded,
                RunEnd::Failed => Ending::Failed,
                RunEnd::Cancelled => Ending::Cancelled,
            }),
            error: run.error,
            session: run.session,
            model: run.model,
            branch: run.branch,
            // Only web addresses become links.
            pr_url: run.pr_url.filter(|url| is_web(url)),
            url: run.url.filter(|url| is_web(url)),
            started_at: view.started_at.into(),
            changed_at: view.changed_at.into(),
            ended_at: view.ended_at.map(When::from),
            followed: view.followed,
        }
    }
}

impl From<RunEvent> for EventShown {
    fn from(event: RunEvent) -> Self {
        Self {
            at: event.at.into(),
            what: event.what,
            text: event.text,
        }
    }
}

fn is_web(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}
