//! Files that go with questions: stored ones that answers carry, and those of a project that a question names.
//!
//! The page's handlers are in `web`.

mod incoming;
mod named;
mod sniff;
mod store;
mod tidy;

pub(crate) use incoming::{AttachmentError, IncomingFile, UPLOAD_BYTES_MAX, prepare};
pub(crate) use named::{FILES_MAX, FileKind, NamedFile, files_of, named_file, names_files};
pub(crate) use sniff::{is_shown, sniff};
pub(crate) use store::{bytes_of, keep_file};
pub(crate) use tidy::{remove_ours, sweep, tidy};

use std::path::Path;

use crate::store::StoreError;

fn failed<'a>(doing: &'static str, path: &'a Path) -> impl Fn(std::io::Error) -> StoreError + use<'a> {
    move |source| StoreError::Io {
        doing,
        path: path.to_owned(),
        source,
    }
}
