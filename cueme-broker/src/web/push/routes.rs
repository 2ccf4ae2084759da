//! The routes of this resource, with their inputs and outputs.

use axum::routing::{delete, get, post, put};

use super::{press, state, subscribe, test, unsubscribe};
use crate::web::api::{delete_op, get_op, post_op, put_op};
use crate::web::openapi::Table;

/// Adds the routes.
pub(in crate::web) fn routes(table: Table) -> Table {
    table
        .route(
            get_op("/push", "Returns what this device needs to get pushes").gives::<state::PushState>(200),
            get(state::state),
        )
        .route(
            put_op("/push", "Subscribes this device to pushes")
                .takes::<subscribe::PushBody>()
                .gives::<state::PushState>(200),
            put(subscribe::subscribe),
        )
        .route(
            delete_op("/push", "Ends the pushes to this device").gives_nothing(),
            delete(unsubscribe::unsubscribe),
        )
        .route(
            post_op("/push/test", "Pushes something to this device")
                .gives_nothing()
                .refuses(&[502]),
            post(test::test),
        )
        .route(
            post_op(
                "/push/press",
                "Decides a question as a button of its notification says",
            )
            .takes::<press::PressBody>()
            .gives_nothing()
            .refuses(&[409]),
            post(press::pressed),
        )
}
