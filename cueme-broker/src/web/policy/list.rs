//! Lists the rules with their use.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;

use crate::broker::wall_clock;
use crate::policy::{Action, Conditions, Gives, Policy, WrittenRule};
use crate::web::error::ApiError;
use crate::web::state::{Shared, Web};
use crate::web::view::When;

/// A rule.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Policy")]
pub(in crate::web) struct PolicyShown {
    name: String,
    action: &'static str,
    enabled: bool,
    /// The rule in English words.
    describes: String,
    /// Its conditions.
    conditions: Conditions,
    /// Its answer.
    gives: Gives,
    answered: u64,
    last_at: Option<When>,
    in_a_row_max: u32,
    /// When it expires, if it does.
    until: Option<When>,
    /// Whether it has expired: it answers nothing then.
    ended: bool,
    /// The rule as it was written, if it was made in the page; the configuration's rules are changed there.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<WrittenRule>,
    /// The human who made or changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    /// When it was made or changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<When>,
}

/// All rules.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Policies {
    policies: Vec<PolicyShown>,
}

/// Lists the rules in the order they are tried.
pub(super) async fn list(State(web): State<Shared>) -> Result<Json<Policies>, ApiError> {
    let policies = policies(&web).await?;
    Ok(Json(Policies { policies }))
}

pub(super) fn no_such_rule() -> ApiError {
    ApiError::not_found("there is no such rule")
}

/// Collects all rules.
pub(in crate::web) async fn policies(web: &Web) -> Result<Vec<PolicyShown>, ApiError> {
    let mut shown = Vec::new();
    for policy in &web.broker.policies() {
        shown.push(show(web, policy).await?);
    }
    Ok(shown)
}

pub(super) async fn show(web: &Web, policy: &Policy) -> Result<PolicyShown, ApiError> {
    let name = policy.name.clone();
    let (answered, last) = web.read(move |reader| reader.policy_use(&name)).await?;
    let settings = web.settings.current();
    let rules = web.broker.rules();
    let made = rules.iter().find(|rule| rule.policy == *policy);
    Ok(PolicyShown {
        action: match policy.action() {
            Action::Answer(_) => "answer",
            Action::Hold => "hold",
        },
        enabled: settings.policies && !settings.policies_off.contains(&policy.name),
        describes: policy.describe(),
        conditions: policy.conditions(),
        gives: policy.gives(),
        answered,
        last_at: last.map(When::from),
        in_a_row_max: policy.in_a_row_max,
        until: policy.until().map(When::from),
        ended: policy.has_ended(wall_clock()),
        rule: made.map(|rule| rule.written.clone()),
        by: made.and_then(|rule| rule.by.clone()),
        at: made.map(|rule| rule.at.into()),
        name: policy.name.clone(),
    })
}
