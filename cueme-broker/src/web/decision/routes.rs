//! The routes of this resource, with their inputs and outputs.

use axum::routing::post;

use super::{answer, close, decide, undo};
use crate::web::api::post_op;
use crate::web::extract::Empty;
use crate::web::openapi::Table;

/// Adds the routes.
pub(in crate::web) fn routes(table: Table) -> Table {
    table
        .route(
            post_op("/cues/{cue_id}/answer", "Answers a question")
                .takes::<answer::AnswerBody>()
                .gives::<decide::Decided>(200)
                .refuses(&[409]),
            post(answer::answer),
        )
        .route(
            post_op("/cues/{cue_id}/decline", "Declines a question")
                .takes::<close::CloseBody>()
                .gives::<decide::Decided>(200)
                .refuses(&[409]),
            post(close::decline),
        )
        .route(
            post_op("/cues/{cue_id}/cancel", "Closes a question without an answer")
                .takes::<close::CloseBody>()
                .gives::<decide::Decided>(200)
                .refuses(&[409]),
            post(close::cancel),
        )
        .route(
            post_op("/cues/{cue_id}/undo", "Takes a decision back")
                .takes::<Empty>()
                .gives::<undo::Undone>(200)
                .refuses(&[409]),
            post(undo::undo),
        )
}
