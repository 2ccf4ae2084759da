//! The routes of this resource, with their inputs and outputs.

use axum::routing::{delete, put};

use super::{drop, keep};
use crate::web::api::{delete_op, put_op};
use crate::web::openapi::Table;
use crate::web::view::DraftShown;

/// Adds the routes.
pub(in crate::web) fn routes(table: Table) -> Table {
    table
        .route(
            put_op("/cues/{cue_id}/draft", "Keeps the draft of an answer")
                .takes::<keep::DraftBody>()
                .gives::<DraftShown>(200)
                .refuses(&[409]),
            put(keep::keep_for_cue),
        )
        .route(
            delete_op("/cues/{cue_id}/draft", "Throws the draft of an answer away").gives_nothing(),
            delete(drop::drop_for_cue),
        )
        .route(
            put_op("/agents/{agent_id}/draft", "Keeps the draft of a message")
                .takes::<keep::DraftBody>()
                .gives::<DraftShown>(200)
                .refuses(&[409]),
            put(keep::keep_for_agent),
        )
        .route(
            delete_op("/agents/{agent_id}/draft", "Throws the draft of a message away").gives_nothing(),
            delete(drop::drop_for_agent),
        )
}
