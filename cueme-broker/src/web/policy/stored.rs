//! Stores the rules that were made in the page.

use super::list::no_such_rule;
use crate::policy::{RULES_NAME, StoredRule};
use crate::web::error::ApiError;
use crate::web::page_events::Notice;
use crate::web::state::{Shared, Web};

/// Stores the rules, and then applies them.
pub(super) async fn keep(web: &Shared, rules: Vec<StoredRule>) -> Result<(), ApiError> {
    let stored = StoredRule::store(&rules)
        .map_err(|error| ApiError::bad_request(format!("the rules cannot be written: {error}")))?;
    web.write(move |store, _| store.set(RULES_NAME, &stored)).await?;
    web.broker.set_rules(rules);
    web.page_events.notice(Notice::policies());
    Ok(())
}

pub(super) fn place_of(web: &Web, rules: &[StoredRule], name: &str) -> Result<usize, ApiError> {
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
