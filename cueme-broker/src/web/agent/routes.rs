//! The routes of this resource, with their inputs and outputs.

use axum::routing::{get, patch, put};

use super::{amend, list, mark_read, show};
use crate::web::api::{get_op, put_op};
use crate::web::openapi::{Operation, Table};
use crate::web::view::AgentCard;

/// Adds the routes.
pub(in crate::web) fn routes(table: Table) -> Table {
    table
        .route(
            get_op("/agents", "Lists the agents").gives::<list::Agents>(200),
            get(list::agents),
        )
        .route(
            get_op("/agents/{agent_id}", "Returns one agent").gives::<show::AgentWhole>(200),
            get(show::agent),
        )
        .route(
            Operation::new(
                "patch",
                "/agents/{agent_id}",
                "Names, pins, archives or instructs an agent",
            )
            .takes::<amend::AgentPatch>()
            .gives::<AgentCard>(200),
            patch(amend::amend),
        )
        .route(
            put_op("/agents/{agent_id}/read", "Notes how far a human has read")
                .takes::<mark_read::ReadMark>()
                .gives_nothing(),
            put(mark_read::mark_read),
        )
}
