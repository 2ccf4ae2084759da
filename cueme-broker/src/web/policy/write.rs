//! Makes a rule, or changes one that was made in the page.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;

use super::list::{PolicyShown, show};
use super::stored::{keep, place_of};
use crate::broker::wall_clock;
use crate::policy::{Policy, StoredRule, WrittenRule, read_rules};
use crate::web::door::Visitor;
use crate::web::error::ApiError;
use crate::web::extract::{At, Input, Sent};
use crate::web::state::Shared;

/// The most rules that humans can make.
const RULES_MAX: usize = 100;
/// The longest lifetime of a rule, in days.
const LIFE_DAYS_MAX: u64 = 366;
/// The longest text of a rule, in bytes.
const TEXT_BYTES_MAX: usize = 16 * 1024;

impl Input for WrittenRule {}

/// Makes a rule.
pub(super) async fn make(
    State(web): State<Shared>,
    visitor: Visitor,
    Sent(rule): Sent<WrittenRule>,
) -> Result<(StatusCode, Json<PolicyShown>), ApiError> {
    let made = change(&web, visitor, None, rule).await?;
    Ok((StatusCode::CREATED, Json(show(&web, &made).await?)))
}

/// Changes a rule that was made in the page.
pub(super) async fn rewrite(
    State(web): State<Shared>,
    visitor: Visitor,
    At(name): At<String>,
    Sent(rule): Sent<WrittenRule>,
) -> Result<Json<PolicyShown>, ApiError> {
    let made = change(&web, visitor, Some(&name), rule).await?;
    Ok(Json(show(&web, &made).await?))
}

/// Adds a rule, or replaces the one that is named.
async fn change(
    web: &Shared,
    visitor: Visitor,
    old: Option<&str>,
    mut rule: WrittenRule,
) -> Result<Policy, ApiError> {
    rule.name = rule.name.trim().to_owned();
    check(&rule)?;
    let policy = rule.policy().map_err(ApiError::bad_request)?;
    let _alone = web.rules.lock().await;
    let mut rules = web.read(|reader| read_rules(reader)).await?;
    let at = old.map(|old| place_of(web, &rules, old)).transpose()?;
    let is_taken = |name: &str| {
        web.broker
            .config()
            .policy
            .iter()
            .any(|policy| policy.name == name)
            || rules
                .iter()
                .enumerate()
                .any(|(place, stored)| Some(place) != at && stored.policy.name == name)
    };
    if is_taken(&policy.name) {
        return Err(ApiError::bad_request("another rule has this name"));
    }
    let stored = StoredRule {
        written: rule,
        policy: policy.clone(),
        by: visitor.name(),
        at: wall_clock(),
    };
    match at {
        Some(at) => rules[at] = stored,
        None if rules.len() >= RULES_MAX => {
            return Err(ApiError::bad_request(format!("more than {RULES_MAX} rules")));
        }
        None => rules.push(stored),
    }
    keep(web, rules).await?;
    Ok(policy)
}

fn check(rule: &WrittenRule) -> Result<(), ApiError> {
    let now = wall_clock();
    let life_ms_max = LIFE_DAYS_MAX * 24 * 60 * 60 * 1000;
    let texts = [rule.says.as_deref(), rule.answer.as_deref(), Some(&rule.name)];
    let problem = if rule.until <= now {
        "the end of the rule is past".to_owned()
    } else if rule.until.millis_since(now) > life_ms_max {
        format!("a rule lasts at most {LIFE_DAYS_MAX} days")
    } else if texts
        .into_iter()
        .flatten()
        .any(|text| text.len() > TEXT_BYTES_MAX)
    {
        format!("a text of the rule has more than {TEXT_BYTES_MAX} bytes")
    } else {
        return Ok(());
    };
    Err(ApiError::bad_request(problem))
}
