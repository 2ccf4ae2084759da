//! The routes of this resource, with their inputs and outputs.

use axum::routing::{delete, get, post};
use serde_json::Value;

use super::{discard, give, take};
use crate::web::api::{delete_op, get_op, post_op};
use crate::web::openapi::Table;

/// Adds the routes.
pub(in crate::web) fn routes(table: Table) -> Table {
    table
        .route(
            post_op("/uploads", "Takes a file in")
                .query::<take::UploadQuery>()
                .takes_bytes()
                .gives::<take::UploadShown>(201)
                .refuses(&[507]),
            post(take::take),
        )
        .route(
            get_op("/uploads/{upload_id}", "Gives a file back")
                .gives_as::<Value>(200, "application/octet-stream"),
            get(give::give),
        )
        .route(
            delete_op(
                "/uploads/{upload_id}",
                "Throws a file away that no answer carries",
            )
            .gives_nothing()
            .refuses(&[409]),
            delete(discard::discard),
        )
}
