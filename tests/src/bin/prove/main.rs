//! Attacks `cueme` as a hostile reviewer would, and says with figures whether it held.
//!
//! One file for each test, R1 to R20; each prints its seed, and one violation makes the program fail. Reading order:
//! what every test has ([`trial`], [`tier`]), the judge ([`ledger`]), how it is told ([`report`]), then the tests in the
//! order of [`proofs`].

mod tier;
mod trial;

mod ledger;

mod program;
mod proofs;
mod report;
mod run;

mod cases;
mod contents;
mod guided;
mod knock;
mod load;
mod mutants;
mod promises;
mod raw;
mod set_clock;
mod town;

mod r01_kill;
mod r02_power;
mod r03_io_error;
mod r04_full_disk;
mod r05_fuzz;
mod r06_malformed;
mod r07_slow;
mod r08_browser;
mod r08_cross_site;
mod r09_other_user;
mod r10_clocks;
mod r11_long_wait;
mod r12_load;
mod r13_descriptors;
mod r14_herd;
mod r15_bit_flips;
mod r16_upgrade;
mod r17_attacks;
mod r17_brokers;
mod r17_move;
mod r18_adapter;
mod r19_teeth;
mod r20_gate;
mod r20_visible;

fn main() -> std::process::ExitCode {
    run::run()
}
