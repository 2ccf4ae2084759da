//! Turns a rule on or off.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Deserialize;

use super::list::{PolicyShown, no_such_rule, show};
use crate::web::error::ApiError;
use crate::web::extract::{At, Input, Sent};
use crate::web::page_events::Notice;
use crate::web::settings::change_with;
use crate::web::state::Shared;

/// The switch.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PolicySwitch {
    enabled: bool,
}

impl Input for PolicySwitch {}

/// Turns a rule on or off.
pub(super) async fn switch(
    State(web): State<Shared>,
    At(name): At<String>,
    Sent(body): Sent<PolicySwitch>,
) -> Result<Json<PolicyShown>, ApiError> {
    let policies = web.broker.policies();
    let policy = policies.iter().find(|policy| policy.name == name);
    let policy = policy.ok_or_else(no_such_rule)?;
    change_with(&web, |settings| {
        settings.policies_off.retain(|off| *off != name);
        if !body.enabled {
            settings.policies_off.push(name);
        }
    })
    .await?;
    web.page_events.notice(Notice::policies());
    show(&web, policy).await.map(Json)
}
