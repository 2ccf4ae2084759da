//! The tools the adapter runs for an agent: web_fetch, web_search and exec.

mod exec;
mod web_fetch;
mod web_search;

pub use exec::{Approval, Approver, Exec};
pub use web_fetch::WebFetch;
pub use web_search::WebSearch;
