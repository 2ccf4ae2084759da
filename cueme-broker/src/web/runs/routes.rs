//! The routes of runs, with their inputs and outputs.

use axum::routing::{get, post};

use super::{chat, launch, list, resume, stop, view, watch};
use crate::web::api::{get_op, post_op};
use crate::web::extract::Empty;
use crate::web::openapi::Table;

/// Adds the routes of runs.
pub(in crate::web) fn routes(table: Table) -> Table {
    table
        .route(
            get_op("/runs", "Lists the runs, newest first").gives::<view::Runs>(200),
            get(list::list),
        )
        .route(
            post_op("/runs", "Starts a run in the cloud")
                .takes::<launch::LaunchBody>()
                .gives::<view::RunShown>(201),
            post(launch::launch),
        )
        .route(
            get_op("/runs/{run_id}", "Returns one run with what happened in it").gives::<view::RunWhole>(200),
            get(list::one),
        )
        .route(
            post_op("/runs/{run_id}/resume", "Continues the conversation of a run")
                .takes::<resume::ResumeBody>()
                .gives::<view::RunShown>(201)
                .refuses(&[409]),
            post(resume::resume),
        )
        .route(
            post_op("/runs/{run_id}/stop", "Stops a run")
                .takes::<Empty>()
                .gives_nothing()
                .refuses(&[409]),
            post(stop::stop),
        )
        .route(
            post_op("/runs/{run_id}/watch", "Takes over a run that nobody drives")
                .takes::<Empty>()
                .gives_nothing()
                .refuses(&[409]),
            post(watch::watch),
        )
        .route(
            get_op("/cloud", "Returns what a new run in the cloud begins with")
                .gives::<launch::CloudForm>(200),
            get(launch::form),
        )
        .route(
            get_op(
                "/agents/{agent_id}/chat",
                "Returns the chat of an agent as Cursor keeps it",
            )
            .query::<chat::ChatQuery>()
            .gives::<crate::chats::ChatPart>(200),
            get(chat::chat),
        )
}
