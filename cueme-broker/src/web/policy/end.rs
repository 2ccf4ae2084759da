//! Ends a rule that was made in the page.

use axum::extract::State;
use axum::http::StatusCode;

use super::stored::{keep, place_of};
use crate::policy::read_rules;
use crate::web::door::Visitor;
use crate::web::error::ApiError;
use crate::web::extract::At;
use crate::web::state::Shared;

/// Deletes a rule that was made in the page.
pub(super) async fn end(
    State(web): State<Shared>,
    visitor: Visitor,
    At(name): At<String>,
) -> Result<StatusCode, ApiError> {
    remove(&web, visitor, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn remove(web: &Shared, visitor: Visitor, name: &str) -> Result<(), ApiError> {
    let _alone = web.rules.lock().await;
    let mut rules = web.read(|reader| read_rules(reader)).await?;
    rules.remove(place_of(web, &rules, name)?);
    tracing::info!(rule = name, by = visitor.name(), "a rule was ended");
    keep(web, rules).await
}
