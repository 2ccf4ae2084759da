//! Rows as every store reads them: a row in, a view out.
//!
//! Each view lists its columns in the order in which a store selects them; the SQL is the store's own. What a decision
//! must look like to be believed is decided here once, for all stores.

/// Numbers columns by their order in a query.
macro_rules! columns {
    ($($name:ident),* $(,)?) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "they are the names of constants")]
        #[allow(dead_code, reason = "text, reminder and answer follow the seal, and `is_whole` reads them by their place")]
        enum Column { $($name),* }
        $(
            #[allow(dead_code, reason = "as above")]
            const $name: usize = Column::$name as usize;
        )*
    };
}

mod columns;
mod seal;

mod agent;
mod card;
mod door;
mod live;
mod message;
mod question;
mod run;

pub use agent::agent_view;
pub use card::{PayloadType, agent_row, cue_row};
pub use columns::{Columns, RowFault};
pub use door::{device, token};
pub use live::{live_agent, live_question};
pub use message::{message_row, waiting_message};
pub use question::{cue_view, event};
pub use run::{run_event, run_row};
pub use seal::is_whole;
