//! The rules: what they are, how often they answered, the switch that turns one off, and those that humans make in the page.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use protocol_spec::id::CueId;
use protocol_spec::payload::Payload;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bell::Notice;
use super::door::Visitor;
use super::error::ApiError;
use super::extract::{At, Input, Sent};
use super::settings::change_with;
use super::state::{Shared, Web};
use super::view::{CueCard, When};
use crate::broker::wall_clock;
use crate::hours::minute_now;
use crate::policy::{
    Action, Agrees, Policy, RULES_NAME, StoredRule, Trial, WrittenRule, case, read_rules, try_rule,
};
use crate::presence::Presence;

/// How many rules humans can make.
const RULES_MAX: usize = 100;
/// How long a rule lasts at most.
const LIFE_DAYS_MAX: u64 = 366;
/// The longest text of a rule, in bytes.
const TEXT_BYTES_MAX: usize = 16 * 1024;

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
    /// When it ends, if it does.
    until: Option<When>,
    /// Whether its end is past: it answers nothing then.
    ended: bool,
    /// How it was written, where it was made in the page; the configuration's rules are changed there.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<WrittenRule>,
    /// Who made or changed it.
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

/// The switch.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PolicySwitch {
    enabled: bool,
}

impl Input for PolicySwitch {}
impl Input for WrittenRule {}

/// What a rule would have done with the newest questions.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TrialShown {
    /// On how many questions it was tried.
    tried: u32,
    fitting: Vec<Fitting>,
}

/// A question that a rule fits.
#[derive(Debug, Serialize, JsonSchema)]
struct Fitting {
    cue: CueCard,
    /// Whether it is what was answered; absent where nothing was, or where the rule answers nothing.
    agrees: Option<bool>,
    /// What was answered, shortened.
    said: Option<String>,
}

/// What a rule has to say to fit exactly one question.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Exact {
    project: String,
    /// `none`, `choice`, `confirm`, `form` or `pause`.
    payload: &'static str,
    says: String,
}

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
    web.bell.notice(Notice::policies());
    show(&web, policy).await.map(Json)
}

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

/// Ends a rule that was made in the page.
pub(super) async fn end(
    State(web): State<Shared>,
    visitor: Visitor,
    At(name): At<String>,
) -> Result<StatusCode, ApiError> {
    remove(&web, visitor, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Tries a rule on the newest questions, without making it.
pub(super) async fn attempt(
    State(web): State<Shared>,
    Sent(rule): Sent<WrittenRule>,
) -> Result<Json<TrialShown>, ApiError> {
    let policy = rule.policy().map_err(ApiError::bad_request)?;
    let presence = Presence::read(web.broker.engine()).await?;
    let trial: Trial = web.read(move |reader| try_rule(reader, &policy)).await?;
    let mut fitting = Vec::with_capacity(trial.fitting.len());
    for (cue, agrees) in trial.fitting {
        let said = cue.text.as_deref().map(crate::machine::beginning_of);
        let id = cue.cue_id;
        let row = web.read(move |reader| reader.cue_row(id)).await?;
        fitting.extend(row.map(|row| Fitting {
            cue: CueCard::new(row, &presence),
            agrees: match agrees {
                Agrees::Yes => Some(true),
                Agrees::No => Some(false),
                Agrees::Open => None,
            },
            said: said.map(|said| super::markdown::visible(&said).into_owned()),
        }));
    }
    Ok(Json(TrialShown {
        tried: trial.tried,
        fitting,
    }))
}

/// Returns what a rule has to say to fit exactly one question.
pub(super) async fn exact(State(web): State<Shared>, At(id): At<CueId>) -> Result<Json<Exact>, ApiError> {
    let read = web.read(move |reader| {
        let Some(cue) = reader.cue(id)? else {
            return Ok(None);
        };
        let agent = reader.agent_rows(Some(&cue.agent_id))?.pop();
        Ok(agent.map(|agent| (cue, agent)))
    });
    let (cue, agent) = read.await?.ok_or_else(ApiError::unknown_cue)?;
    let payload = cue
        .payload
        .as_deref()
        .and_then(|payload| Payload::parse(payload.get()).ok());
    let case = case(&cue, payload.as_ref().map(Payload::shape), &agent, minute_now());
    Ok(Json(Exact {
        project: agent.project_dir.clone(),
        payload: case.asks.name(),
        says: case.says(),
    }))
}

/// Adds a rule, or puts it in the place of the one that is named.
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

async fn remove(web: &Shared, visitor: Visitor, name: &str) -> Result<(), ApiError> {
    let _alone = web.rules.lock().await;
    let mut rules = web.read(|reader| read_rules(reader)).await?;
    rules.remove(place_of(web, &rules, name)?);
    tracing::info!(rule = name, by = visitor.name(), "a rule was ended");
    keep(web, rules).await
}

/// Stores the rules, and then lets them count.
async fn keep(web: &Shared, rules: Vec<StoredRule>) -> Result<(), ApiError> {
    let stored = StoredRule::store(&rules)
        .map_err(|error| ApiError::bad_request(format!("the rules cannot be written: {error}")))?;
    web.write(move |store, _| store.set(RULES_NAME, &stored)).await?;
    web.broker.set_rules(rules);
    web.bell.notice(Notice::policies());
    Ok(())
}

fn place_of(web: &Web, rules: &[StoredRule], name: &str) -> Result<usize, ApiError> {
    let found = rules.iter().position(|rule| rule.policy.name == name);
    found.ok_or_else(|| {
        if web
            .broker
            .config()
            .policy
            .iter()
            .any(|policy| policy.name == name)
        {
            ApiError::bad_request("this rule is in the configuration; it is changed there")
        } else {
            no_such_rule()
        }
    })
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

fn no_such_rule() -> ApiError {
    ApiError::not_found("there is no such rule")
}

/// Puts together all rules.
pub(super) async fn policies(web: &Web) -> Result<Vec<PolicyShown>, ApiError> {
    let mut shown = Vec::new();
    for policy in &web.broker.policies() {
        shown.push(show(web, policy).await?);
    }
    Ok(shown)
}

async fn show(web: &Web, policy: &Policy) -> Result<PolicyShown, ApiError> {
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
