//! The rules of the configuration: what they are, how often they answered, and the switch that turns one off.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bell::Notice;
use super::error::ApiError;
use super::extract::{At, Input, Sent};
use super::settings::change_with;
use super::state::{Shared, Web};
use super::view::When;
use crate::policy::{Action, Policy};

/// A rule.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Policy")]
pub(super) struct PolicyShown {
    name: String,
    action: &'static str,
    enabled: bool,
    describes: String,
    answered: u64,
    last_at: Option<When>,
    in_a_row_max: u32,
}

/// All rules.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Policies {
    policies: Vec<PolicyShown>,
}

/// The switch.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PolicySwitch {
    enabled: bool,
}

impl Input for PolicySwitch {}

/// Lists the rules in the order they are tried.
pub(super) async fn list(State(web): State<Shared>) -> Result<Json<Policies>, ApiError> {
    let policies = policies(&web).await?;
    Ok(Json(Policies { policies }))
}

/// Turns a rule on or off.
pub(super) async fn switch(
    State(web): State<Shared>,
    At(name): At<String>,
    Sent(body): Sent<PolicySwitch>,
) -> Result<Json<PolicyShown>, ApiError> {
    let config = web.broker.config();
    let known = config.policy.iter().find(|policy| policy.name == name);
    let policy = known.ok_or_else(|| ApiError::not_found("there is no such rule"))?;
    change_with(&web, |settings| {
        settings.policies_off.retain(|off| *off != name);
        if !body.enabled {
            settings.policies_off.push(name);
        }
    })
    .await?;
    web.bell.notice(Notice::policies());
    show(&web, policy).await.map(Json)
}

/// Puts together all rules.
pub(super) async fn policies(web: &Web) -> Result<Vec<PolicyShown>, ApiError> {
    let mut shown = Vec::new();
    for policy in &web.broker.config().policy {
        shown.push(show(web, policy).await?);
    }
    Ok(shown)
}

async fn show(web: &Web, policy: &Policy) -> Result<PolicyShown, ApiError> {
    let name = policy.name.clone();
    let (answered, last) = web.read(move |reader| reader.policy_use(&name)).await?;
    let settings = web.settings.current();
    Ok(PolicyShown {
        action: match policy.action() {
            Action::Answer(_) => "answer",
            Action::Hold => "hold",
        },
        enabled: settings.policies && !settings.policies_off.contains(&policy.name),
        describes: policy.describe(),
        answered,
        last_at: last.map(When::from),
        in_a_row_max: policy.in_a_row_max,
        name: policy.name.clone(),
    })
}
