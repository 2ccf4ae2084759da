//! Why a file cannot be changed, and why a change could not be written.

use std::{io, path::PathBuf};

use protocol_spec::visible::quoted;

/// Why a file's contents cannot be changed safely; the file is left alone.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Problem {
    /// The file is not text.
    #[error("not valid UTF-8 (byte {offset})")]
    NotUtf8 {
        /// The first byte that is not.
        offset: usize,
    },
    /// The file is not what its name says.
    #[error("line {line}, column {column}: {message}")]
    Syntax {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// The parser's message.
        message: String,
    },
    /// A member has another type than the runtime documents.
    #[error("{member} is not {expected}")]
    WrongType {
        /// The member, in dotted form.
        member: String,
        /// The expected type.
        expected: &'static str,
    },
    /// A member occurs twice, so that it is unclear which one counts.
    #[error("{member} occurs twice")]
    Duplicate {
        /// The member, in dotted form.
        member: String,
    },
    /// A block of ours begins and does not end, or ends twice.
    #[error("line {line}: the marker {} has no partner", quoted(.marker))]
    UnpairedMarker {
        /// Line of the marker, from 1.
        line: usize,
        /// The marker as it stands there.
        marker: String,
    },
    /// A file with the name of one of ours that is not ours.
    #[error("exists and was not written by cueme")]
    NotOurs,
    /// A declaration of ours in a form that we do not write and cannot take apart.
    #[error("{member} is declared in a way that cueme did not write")]
    ForeignForm {
        /// The member, in dotted form.
        member: String,
    },
}

/// Why a plan could not be read for or carried out.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// An operation on a file failed.
    #[error("could not {doing} {path}: {source}", path = path.display())]
    Io {
        /// The attempted action.
        doing: &'static str,
        /// On which path.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file is larger than any settings file we know of.
    #[error("{path} has {bytes} bytes, more than the {max} of any settings file", path = path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// The most we read.
        max: u64,
    },
    /// The file is not as it was when the plan was made.
    #[error("{path} changed since the plan was made; nothing was written to it", path = path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// A project's file is a link out of the project.
    #[error("{path} is a link to {target}, outside the project", path = path.display(), target = target.display())]
    LinkOutside {
        /// The link.
        path: PathBuf,
        /// The target of the link.
        target: PathBuf,
    },
    /// Our own note of what was installed cannot be read.
    #[error("could not understand {path}: {message}", path = path.display())]
    Record {
        /// The note.
        path: PathBuf,
        /// The reason.
        message: String,
    },
}
