//! The routes of this resource, with their inputs and outputs.

use axum::routing::{get, post};

use super::{ack, ask, join, recall, wait};
use crate::web::api::{get_op, post_op};
use crate::web::connect;
use crate::web::openapi::Table;

/// Adds the routes.
pub(in crate::web) fn routes(table: Table) -> Table {
    table
        .route(
            post_op("/hap/join", "Registers an agent")
                .takes::<join::JoinBody>()
                .gives::<join::JoinedShown>(201),
            post(join::join),
        )
        .route(
            post_op("/hap/recall", "Finds an agent by what it asked and was told")
                .takes::<recall::RecallBody>()
                .gives::<recall::RecalledShown>(200),
            post(recall::recall),
        )
        .route(
            post_op("/hap/cue", "Asks and waits")
                .takes::<ask::CueBody>()
                .gives::<wait::Heard>(200)
                .gives::<wait::Heard>(202),
            post(ask::cue),
        )
        .route(
            post_op("/hap/pause", "Pauses and waits")
                .takes::<ask::PauseBody>()
                .gives::<wait::Heard>(200)
                .gives::<wait::Heard>(202),
            post(ask::pause),
        )
        .route(
            get_op("/hap/cues/{cue_id}", "Waits again")
                .query::<wait::WaitQuery>()
                .gives::<wait::Heard>(200)
                .gives::<wait::Heard>(202),
            get(wait::wait_again),
        )
        .route(
            post_op("/hap/ack", "Settles outcomes that were passed on to the agent")
                .takes::<ack::AckBody>()
                .gives::<ack::AckBody>(200),
            post(ack::ack),
        )
        .route(
            get_op("/hap/connect", "Upgrades to the protocol of the local socket").gives_nothing(),
            get(connect::connect),
        )
}
