//! The scenarios, one per file, and the lines of the table that each fills.

mod broker_killed;
mod host_killed;
mod mcp;
mod shell;
mod turn_end;
mod two_sessions;

use crate::hosts::Host;
use crate::programs::Programs;
use crate::verdict::Row;

/// Something that hosts go through.
#[derive(Debug)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) runs_on: fn(&Host) -> bool,
    pub(crate) play: fn(&'static Programs, &'static Host) -> Vec<Row>,
}

/// Every scenario.
pub(crate) const ALL: &[Scenario] = &[
    of("shell", shell::play),
    of("mcp", mcp::play),
    of("silent_end", turn_end::silent),
    of("failed_cue", turn_end::after_a_failure),
    of("more_work", turn_end::after_more_work),
    of("two_sessions", two_sessions::play),
    of("broker_killed", broker_killed::play),
    of("host_killed", host_killed::play),
];

const fn of(name: &'static str, play: fn(&'static Programs, &'static Host) -> Vec<Row>) -> Scenario {
    Scenario {
        name,
        runs_on: |_| true,
        play,
    }
}
