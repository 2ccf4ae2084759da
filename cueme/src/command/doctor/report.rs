//! The report of `cueme doctor`.

use protocol_spec::exit::Exit;

use crate::display::{Grade, Paint};
use crate::error::CliError;
use crate::{display, output};

/// The result of one check.
pub(super) struct Finding {
    pub(super) grade: Grade,
    what: &'static str,
    found: String,
    pub(super) remedy: Option<String>,
}

impl Finding {
    pub(super) fn ok(what: &'static str, found: impl Into<String>) -> Self {
        Self {
            grade: Grade::Ok,
            what,
            found: found.into(),
            remedy: None,
        }
    }

    pub(super) fn warn(what: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            grade: Grade::Warn,
            what,
            found: found.into(),
            remedy: Some(remedy.into()),
        }
    }

    pub(super) fn fail(what: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            grade: Grade::Fail,
            what,
            found: found.into(),
            remedy: Some(remedy.into()),
        }
    }
}

/// The findings, printed as they come.
pub(super) struct Report {
    paint: Paint,
    problems: u32,
}

impl Report {
    pub(super) fn new() -> Self {
        Self {
            paint: Paint::for_stdout(),
            problems: 0,
        }
    }

    pub(super) fn add(&mut self, finding: Finding) -> Result<(), CliError> {
        self.problems += u32::from(finding.grade == Grade::Fail);
        let Finding {
            grade,
            what,
            found,
            remedy,
        } = finding;
        output::print(&display::finding(
            grade,
            what,
            &found,
            remedy.as_deref(),
            self.paint,
        ))
    }

    pub(super) fn exit(&self) -> Exit {
        if self.problems == 0 {
            Exit::Done
        } else {
            Exit::NotFound
        }
    }
}
