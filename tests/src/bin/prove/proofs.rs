//! The tests there are.

use crate::trial::{NotRun, Trial};

/// One test.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Proof {
    /// Its name on the command line.
    pub(crate) id: &'static str,
    /// The attack on the program.
    pub(crate) title: &'static str,
    /// Does it.
    pub(crate) run: fn(&mut Trial) -> Result<(), NotRun>,
}

/// All tests, in the order they are run.
pub(crate) const PROOFS: &[Proof] = &[
    proof("r1", "kill -9 of everything", crate::r01_kill::run),
    proof("r2", "power loss at any operation", crate::r02_power::run),
    proof("r3", "an I/O error at every operation", crate::r03_io_error::run),
    proof("r4", "the disk is full", crate::r04_full_disk::run),
    proof("r5", "hostile bytes for every reader", crate::r05_fuzz::run),
    proof(
        "r6",
        "malformed connections under load",
        crate::r06_malformed::run,
    ),
    proof("r7", "slow and deaf clients of the page", crate::r07_slow::run),
    proof(
        "r8",
        "rebinding and cross-site requests",
        crate::r08_cross_site::run,
    ),
    proof(
        "r9",
        "another user, hostile directories",
        crate::r09_other_user::run,
    ),
    proof("r10", "clocks that are set", crate::r10_clocks::run),
    proof("r11", "waits of a day and of a month", crate::r11_long_wait::run),
    proof("r12", "load held", crate::r12_load::run),
    proof("r13", "file descriptors run out", crate::r13_descriptors::run),
    proof("r14", "the herd after a restart", crate::r14_herd::run),
    proof("r15", "bits flip on the disk", crate::r15_bit_flips::run),
    proof(
        "r16",
        "upgrades, interrupted anywhere; old and new programs",
        crate::r16_upgrade::run,
    ),
    proof(
        "r17",
        "three brokers on one PostgreSQL database",
        crate::r17_brokers::run,
    ),
    proof(
        "r17m",
        "a store that is moved, interrupted anywhere",
        crate::r17_move::run,
    ),
    proof(
        "r18",
        "an agent's process that writes anything",
        crate::r18_adapter::run,
    ),
    proof("r19", "seeded bugs are caught", crate::r19_teeth::run),
    proof(
        "r20v",
        "every character of a prompt is in the page",
        crate::r20_visible::run,
    ),
    proof("r19m", "changes by chance are noticed", crate::mutants::run),
    proof(
        "r20g",
        "commands around a call of ours, at the gate",
        crate::r20_gate::run,
    ),
];

const fn proof(id: &'static str, title: &'static str, run: fn(&mut Trial) -> Result<(), NotRun>) -> Proof {
    Proof { id, title, run }
}

/// Finds a test by its name.
pub(crate) fn find(id: &str) -> Option<Proof> {
    PROOFS
        .iter()
        .copied()
        .find(|proof| proof.id.eq_ignore_ascii_case(id))
}
