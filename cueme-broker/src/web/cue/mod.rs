//! Questions: single ones, lists of them, their texts and files.

mod routes;

mod files;
mod list;
mod part;
mod search;
mod show;
mod source;
mod timeline;

pub(super) use files::FileShown;
pub(super) use part::{PartQuery, markup};
pub(super) use routes::routes;
pub(super) use search::SearchQuery;
pub(super) use timeline::TimelineQuery;
