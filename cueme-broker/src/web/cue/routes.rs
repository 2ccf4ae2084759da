//! The routes of this resource, with their inputs and outputs.

use axum::routing::get;
use serde_json::Value;

use super::{files, list, part, search, show, source, timeline};
use crate::web::api::get_op;
use crate::web::openapi::Table;
use crate::web::view::{Cue, Markup};

/// Adds the routes.
pub(in crate::web) fn routes(table: Table) -> Table {
    table
        .route(
            get_op(
                "/agents/{agent_id}/timeline",
                "Returns an agent's questions, newest first",
            )
            .query::<timeline::TimelineQuery>()
            .gives::<timeline::Timeline>(200),
            get(timeline::timeline),
        )
        .route(
            get_op("/cues", "Lists the questions that can be answered").gives::<list::OpenCues>(200),
            get(list::open_cues),
        )
        .route(
            get_op("/cues/{cue_id}", "Returns one question").gives::<Cue>(200),
            get(show::cue),
        )
        .route(
            get_op("/cues/{cue_id}/prompt", "Returns a part of a question as HTML")
                .query::<part::PartQuery>()
                .gives::<Markup>(200),
            get(part::prompt_part),
        )
        .route(
            get_op(
                "/cues/{cue_id}/text",
                "Returns a part of what the agent reads as HTML",
            )
            .query::<part::PartQuery>()
            .gives::<Markup>(200),
            get(part::text_part),
        )
        .route(
            get_op(
                "/cues/{cue_id}/prompt.txt",
                "Returns a question as it was written",
            )
            .gives_as::<String>(200, "text/plain"),
            get(source::prompt_source),
        )
        .route(
            get_op("/cues/{cue_id}/text.txt", "Returns what the agent reads")
                .gives_as::<String>(200, "text/plain"),
            get(source::text_source),
        )
        .route(
            get_op(
                "/cues/{cue_id}/files/{number}",
                "Gives an image that a question names, or a patch as a review",
            )
            .gives_as::<Value>(200, "application/octet-stream"),
            get(files::give),
        )
        .route(
            get_op("/search", "Finds agents and questions by their words")
                .query::<search::SearchQuery>()
                .gives::<search::Found>(200),
            get(search::search),
        )
}
