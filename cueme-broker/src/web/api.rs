//! The routes, in one table with their inputs and outputs.

use std::sync::Arc;

use axum::Json;
use axum::Router;
use axum::http::StatusCode;
use axum::routing::{get, patch, post};
use serde_json::Value;

use super::error::ApiError;
use super::openapi::{Description, Operation, Table};
use super::state::Shared;
use super::view::Markup;
use super::{
    agent, assets, channel, connect, cue, decision, device, document, draft, events, guide, hap, message,
    policy, preview, public, push, runs, settings, snapshot, upload,
};

/// Builds the router of everything behind the door.
pub(super) fn router(web: Shared) -> Router {
    let resources: [fn(Table) -> Table; 13] = [
        single,
        agent::routes,
        cue::routes,
        decision::routes,
        draft::routes,
        message::routes,
        upload::routes,
        policy::routes,
        device::routes,
        channel::routes,
        push::routes,
        runs::routes,
        hap::routes,
    ];
    let table = resources.iter().fold(Table::new(), |table, routes| routes(table));
    let (routes, description) = public::describe(table).finish();
    let description = Arc::new(description);
    routes
        .route(
            "/api/v1/openapi.json",
            get(move || describe(Arc::clone(&description))),
        )
        .route("/", get(document::document))
        .fallback(assets::asset)
        .method_not_allowed_fallback(method_not_allowed)
        .with_state(web)
}

async fn describe(description: Arc<Description>) -> Json<Value> {
    Json(description.document())
}

pub(super) async fn method_not_allowed() -> ApiError {
    ApiError::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        "this cannot be done here",
    )
}

/// The routes that are alone with their resource.
fn single(table: Table) -> Table {
    table
        .route(
            get_op("/connect", "Upgrades to the protocol of the local socket").gives_nothing(),
            get(connect::connect),
        )
        .route(
            get_op("/state", "Returns everything the page begins with").gives::<snapshot::Snapshot>(200),
            get(snapshot::state),
        )
        .route(
            get_op("/status", "Describes the broker").gives::<Value>(200),
            get(snapshot::status),
        )
        .route(
            get_op("/events", "Follows what happens")
                .query::<events::EventsQuery>()
                .gives_as::<String>(200, "text/event-stream"),
            get(events::events),
        )
        .route(
            post_op("/preview", "Renders Markdown")
                .takes::<preview::PreviewBody>()
                .gives::<Markup>(200),
            post(preview::preview),
        )
        .route(
            get_op("/settings", "Returns the settings").gives::<crate::settings::Settings>(200),
            get(settings::settings),
        )
        .route(
            Operation::new("patch", "/settings", "Changes some of the settings")
                .takes::<settings::SettingsPatch>()
                .gives::<crate::settings::Settings>(200),
            patch(settings::change),
        )
        .route(
            get_op("/guide", "Tells what connects each runtime, and what that writes")
                .gives::<guide::GuideShown>(200),
            get(guide::guide),
        )
}

pub(super) fn get_op(path: &'static str, summary: &'static str) -> Operation {
    Operation::new("get", path, summary)
}

pub(super) fn post_op(path: &'static str, summary: &'static str) -> Operation {
    Operation::new("post", path, summary)
}

pub(super) fn put_op(path: &'static str, summary: &'static str) -> Operation {
    Operation::new("put", path, summary)
}

pub(super) fn delete_op(path: &'static str, summary: &'static str) -> Operation {
    Operation::new("delete", path, summary)
}
