//! The routes of this resource, with their inputs and outputs.

use axum::routing::{delete, get, patch, post, put};

use super::{attempt, end, exact, list, switch, write};
use crate::policy::WrittenRule;
use crate::web::api::{delete_op, get_op, post_op, put_op};
use crate::web::openapi::{Operation, Table};

/// Adds the routes.
pub(in crate::web) fn routes(table: Table) -> Table {
    table
        .route(
            get_op("/policies", "Lists the rules").gives::<list::Policies>(200),
            get(list::list),
        )
        .route(
            Operation::new("patch", "/policies/{name}", "Turns a rule on or off")
                .takes::<switch::PolicySwitch>()
                .gives::<list::PolicyShown>(200),
            patch(switch::switch),
        )
        .route(
            post_op("/policies", "Makes a rule")
                .takes::<WrittenRule>()
                .gives::<list::PolicyShown>(201),
            post(write::make),
        )
        .route(
            put_op("/policies/{name}", "Changes a rule that was made in the page")
                .takes::<WrittenRule>()
                .gives::<list::PolicyShown>(200),
            put(write::rewrite),
        )
        .route(
            delete_op("/policies/{name}", "Ends a rule that was made in the page").gives_nothing(),
            delete(end::end),
        )
        .route(
            post_op(
                "/rule-trials",
                "Tries a rule on the newest questions, without making it",
            )
            .takes::<WrittenRule>()
            .gives::<attempt::TrialShown>(200),
            post(attempt::attempt),
        )
        .route(
            get_op(
                "/cues/{cue_id}/rule",
                "Returns what a rule has to say to fit exactly this question",
            )
            .gives::<exact::Exact>(200),
            get(exact::exact),
        )
}
