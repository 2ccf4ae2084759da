//! Files that humans add.

mod routes;

mod discard;
mod give;
mod take;

pub(super) use give::{inert, upload_url};
pub(super) use routes::routes;
pub(super) use take::UploadQuery;
