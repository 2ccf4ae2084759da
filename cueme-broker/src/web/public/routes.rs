//! The routes for agents elsewhere, in one table with their inputs and outputs.

use axum::Router;
use axum::routing::{get, post};
use cloud_settings::{EXCHANGE_PATH, SKILLS_INDEX_PATH, WEBHOOK_PATH};

use super::{exchange, health, skills, webhook};
use crate::callback::{ExchangeReply, ExchangeRequest};
use crate::runs::HEALTH_PATH;
use crate::web::api::method_not_allowed;
use crate::web::error::ApiError;
use crate::web::hap;
use crate::web::openapi::{Operation, Table};
use crate::web::state::Shared;

/// Builds the router of the listener for agents elsewhere.
pub(in crate::web) fn routes(web: Shared) -> Router {
    let (router, _) = hap::routes(Table::new()).finish();
    router
        .route(WEBHOOK_PATH, post(webhook::take))
        .route(EXCHANGE_PATH, post(exchange::exchange))
        .route(SKILLS_INDEX_PATH, get(skills::index))
        .route(skills::PATH, get(skills::skill))
        .route(health::PATH, get(health::health))
        .fallback(nothing)
        .method_not_allowed_fallback(method_not_allowed)
        .with_state(web)
}

/// Describes the routes of this listener alone; the others are described with the page's.
pub(in crate::web) fn describe(table: Table) -> Table {
    table
        .describe_outside(
            Operation::new(
                "post",
                WEBHOOK_PATH,
                "Takes a change of status that Cursor sends, signed",
            )
            .takes_bytes()
            .gives_nothing(),
        )
        .describe_outside(
            Operation::new(
                "post",
                EXCHANGE_PATH,
                "Exchanges a one-time token for the token of its run",
            )
            .takes::<ExchangeRequest>()
            .gives::<ExchangeReply>(200),
        )
        .describe_outside(
            Operation::new("get", SKILLS_INDEX_PATH, "Lists the skills").gives::<skills::Skills>(200),
        )
        .describe_outside(
            Operation::new("get", skills::PATH, "Returns one skill").gives_as::<String>(200, "text/markdown"),
        )
        .describe_outside(
            Operation::new(
                "get",
                health::PATH,
                "Proves to `cueme cloud doctor` that an address leads here",
            )
            .gives::<health::Health>(200),
        )
}

/// Says whether a path needs no token, because its input is authenticated by itself.
pub(super) fn is_for_everybody(path: &str) -> bool {
    path == WEBHOOK_PATH || path == EXCHANGE_PATH || path.starts_with(HEALTH_PATH)
}

async fn nothing() -> ApiError {
    ApiError::not_found("nothing is here")
}
