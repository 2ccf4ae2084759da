//! Chooses the session of a call from what is noted: pure, so that every doubt can be tried.

use std::path::Path;

use super::record::Record;
use crate::process_tree::Process;

/// The known facts about a call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'a> {
    /// The tag it joins with.
    pub(super) runtime: &'a str,
    /// The folder it is made in.
    pub(super) folder: &'a Path,
    /// The processes it descends from, nearest first.
    pub(super) ancestors: &'a [Process],
    /// The process table that their pids are of.
    pub(super) space: &'a str,
    /// A session that our own hook put into its environment; nested programs inherit it.
    pub(super) inherited: Option<&'a str>,
    /// Sessions that the host itself names in this call.
    pub(super) named: &'a [String],
}

/// Returns the session that a call belongs to, if that is beyond doubt.
pub(super) fn choose<'a>(records: &'a [Record], call: &Call<'a>) -> Option<&'a str> {
    let Some(host) = nearest_host(records, call) else {
        return inherited(records, call);
    };
    let candidates: Vec<&Record> = records
        .iter()
        .filter(|record| {
            record
                .host
                .as_ref()
                .is_some_and(|known| known.is(host, call.space))
        })
        .filter(|record| record.runtime == call.runtime)
        .collect();
    let among = |session: &str| {
        candidates
            .iter()
            .find(|record| record.session == session)
            .copied()
    };
    if let Some(record) = call.named.iter().find_map(|session| among(session)) {
        return Some(&record.session);
    }
    if !call.named.is_empty() {
        // The host names a session that its hooks did not: a sub-agent, or hooks that did not run.
        return None;
    }
    if let Some(record) = call.inherited.and_then(among) {
        return Some(&record.session);
    }
    match candidates.as_slice() {
        [only] if is_related(&only.folder, call.folder) => Some(&only.session),
        _ => None,
    }
}

/// Finds the nearest ancestor that a hook spoke of.
///
/// Another process of the same program in between is a host of its own that has told us nothing.
fn nearest_host<'a>(records: &[Record], call: &Call<'a>) -> Option<&'a Process> {
    let is_host = |process: &Process| {
        records
            .iter()
            .filter_map(|record| record.host.as_ref())
            .any(|host| host.is(process, call.space))
    };
    let at = call.ancestors.iter().position(is_host)?;
    let host = &call.ancestors[at];
    let is_nested = call.ancestors[..at]
        .iter()
        .any(|process| !process.is_shell() && process.name == host.name);
    (!is_nested).then_some(host)
}

/// Without a host to look at, what our hook put into the environment counts, unless it was another runtime's.
fn inherited<'a>(records: &[Record], call: &Call<'a>) -> Option<&'a str> {
    let session = call.inherited?;
    let known = records.iter().find(|record| record.session == session);
    known
        .is_none_or(|record| record.runtime == call.runtime)
        .then_some(session)
}

/// An agent may have changed into a folder below, or the host may have been started in one.
fn is_related(one: &Path, other: &Path) -> bool {
    one.starts_with(other) || other.starts_with(one)
}
