//! The routes of this resource, with their inputs and outputs.

use axum::routing::{delete, get, patch, post, put};

use super::{delete, list, reorder, reword, send};
use crate::web::api::{delete_op, get_op, post_op, put_op};
use crate::web::openapi::{Operation, Table};

/// Adds the routes.
pub(in crate::web) fn routes(table: Table) -> Table {
    table
        .route(
            post_op("/messages", "Leaves a message for one or several agents")
                .takes::<send::MessageBody>()
                .gives::<send::MessageResults>(200),
            post(send::send),
        )
        .route(
            get_op(
                "/agents/{agent_id}/messages",
                "Lists the messages that wait for an agent",
            )
            .gives::<list::Messages>(200),
            get(list::list),
        )
        .route(
            put_op(
                "/agents/{agent_id}/messages/order",
                "Puts messages in another order",
            )
            .takes::<reorder::OrderBody>()
            .gives::<list::Messages>(200)
            .refuses(&[409]),
            put(reorder::reorder),
        )
        .route(
            Operation::new(
                "patch",
                "/agents/{agent_id}/messages/{message_id}",
                "Writes a message anew",
            )
            .takes::<reword::RewordBody>()
            .gives::<list::Messages>(200),
            patch(reword::reword),
        )
        .route(
            delete_op("/agents/{agent_id}/messages/{message_id}", "Takes a message back").gives_nothing(),
            delete(delete::delete),
        )
}
