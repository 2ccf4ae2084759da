//! The meaning of a run's status for a waiting caller.

/// The three things a status can mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The run goes on.
    Active,
    /// The run did what it could.
    Succeeded,
    /// The run is over and did not succeed.
    Failed,
}

/// Returns what a status means.
///
/// An unknown status is a failure: a waiter that took it for activity might wait for ever.
pub fn phase(status: &str) -> Phase {
    match status {
        "CREATING" | "RUNNING" => Phase::Active,
        "FINISHED" => Phase::Succeeded,
        _ => Phase::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_status_mapping() {
        for status in ["CREATING", "RUNNING"] {
            assert_eq!(phase(status), Phase::Active);
        }
        assert_eq!(phase("FINISHED"), Phase::Succeeded);
        for status in [
            "ERROR",
            "EXPIRED",
            "STOPPED",
            "CANCELLED",
            "HIBERNATED",
            "",
            "finished",
        ] {
            assert_eq!(phase(status), Phase::Failed, "{status}");
        }
    }
}
