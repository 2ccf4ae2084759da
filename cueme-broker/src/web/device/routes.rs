//! The routes of this resource, with their inputs and outputs.

use axum::routing::{delete, get, patch, post};

use super::{link, list, rename, revoke, token_list, token_mint, token_revoke};
use crate::web::api::{delete_op, get_op, post_op};
use crate::web::openapi::{Operation, Table};

/// Adds the routes.
pub(in crate::web) fn routes(table: Table) -> Table {
    table
        .route(
            get_op("/devices", "Lists the devices that are signed in").gives::<list::Devices>(200),
            get(list::list),
        )
        .route(
            Operation::new("patch", "/devices/{device_id}", "Names a device")
                .takes::<rename::NameBody>()
                .gives::<list::DeviceShown>(200),
            patch(rename::rename),
        )
        .route(
            delete_op("/devices/{device_id}", "Locks a device out").gives_nothing(),
            delete(revoke::revoke),
        )
        .route(
            post_op("/links", "Makes a link that signs one device in")
                .takes::<link::LinkBody>()
                .gives::<link::Link>(200),
            post(link::link),
        )
        .route(
            get_op("/tokens", "Lists the tokens of programs").gives::<token_list::Tokens>(200),
            get(token_list::list_tokens),
        )
        .route(
            post_op("/tokens", "Makes a token for an agent's program")
                .takes::<token_mint::TokenBody>()
                .gives::<token_list::TokenShown>(201),
            post(token_mint::mint),
        )
        .route(
            delete_op("/tokens/{token_id}", "Revokes a token").gives_nothing(),
            delete(token_revoke::revoke_token),
        )
}
