//! Cases that a host cannot pass. A limit that is no longer true fails the suite.

use runtimes::Runtime;

/// Returns why a host cannot pass a case.
pub(crate) fn reason(host: &str, case: &str) -> Option<&'static str> {
    let limits = Runtime::from_tag(host)?.limits();
    let limit = limits.iter().find(|limit| limit.cases.contains(&case))?;
    Some(limit.reason)
}
