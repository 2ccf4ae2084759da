//! The extent of the tests: for a change, for a night, for a release.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// The size of everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Tier {
    /// Three minutes on two cores, also unoptimised.
    Ci,
    /// About an hour on two cores.
    Nightly,
    /// As long as it takes.
    Release,
}

impl Tier {
    /// Picks the size for this tier.
    pub(crate) fn pick<T>(self, ci: T, nightly: T, release: T) -> T {
        match self {
            Self::Ci => ci,
            Self::Nightly => nightly,
            Self::Release => release,
        }
    }

    /// Returns this tier and the smaller ones, largest first.
    pub(crate) fn and_smaller(self) -> &'static [Self] {
        self.pick(
            &[Self::Ci],
            &[Self::Nightly, Self::Ci],
            &[Self::Release, Self::Nightly, Self::Ci],
        )
    }

    /// Returns its name, as it is written on the command line.
    pub(crate) fn name(self) -> &'static str {
        self.pick("ci", "nightly", "release")
    }
}
