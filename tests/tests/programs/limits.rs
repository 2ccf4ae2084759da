//! What a host makes impossible, each with its reason. A limit that is no longer true fails the suite.

/// One case that one host cannot pass.
#[derive(Debug)]
pub(crate) struct Limit {
    pub(crate) host: &'static str,
    pub(crate) case: &'static str,
    pub(crate) reason: &'static str,
}

const ALL: &[Limit] = &[];

/// Returns why a host cannot pass a case.
pub(crate) fn of(host: &str, case: &str) -> Option<&'static Limit> {
    ALL.iter().find(|limit| limit.host == host && limit.case == case)
}
