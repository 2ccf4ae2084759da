//! The routes of this resource, with their inputs and outputs.

use axum::routing::{delete, get, patch, post};

use super::{add, amend, list, remove, test};
use crate::web::api::{delete_op, get_op, post_op};
use crate::web::openapi::{Operation, Table};

/// Adds the routes.
pub(in crate::web) fn routes(table: Table) -> Table {
    table
        .route(
            get_op("/channels", "Lists the channels that tell people elsewhere").gives::<list::Channels>(200),
            get(list::list),
        )
        .route(
            post_op("/channels", "Adds a channel")
                .takes::<add::ChannelBody>()
                .gives::<list::ChannelShown>(201),
            post(add::add),
        )
        .route(
            Operation::new("patch", "/channels/{name}", "Changes what a channel is about")
                .takes::<amend::ChannelPatch>()
                .gives::<list::ChannelShown>(200),
            patch(amend::amend),
        )
        .route(
            delete_op("/channels/{name}", "Removes a channel").gives_nothing(),
            delete(remove::remove),
        )
        .route(
            post_op("/channels/{name}/test", "Sends a test to a channel")
                .gives_nothing()
                .refuses(&[502]),
            post(test::test),
        )
}
