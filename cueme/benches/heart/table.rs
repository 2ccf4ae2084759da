//! The table of results.

use std::borrow::Cow;
use std::time::Duration;

/// One line of the table.
pub(crate) struct Row {
    /// The name of the figure.
    pub(crate) id: &'static str,
    pub(crate) what: Cow<'static, str>,
    pub(crate) ours: String,
    pub(crate) floor: String,
    pub(crate) ratio: f64,
    /// The acceptable ratio.
    pub(crate) goal: Goal,
    /// The wanted ratio.
    pub(crate) aim: Goal,
}

/// A limit of the ratio.
#[derive(Clone, Copy)]
pub(crate) enum Goal {
    AtMost(f64),
    AtLeast(f64),
    /// None: it is only told.
    Told,
}

impl Goal {
    fn told(self, ratio: f64) -> String {
        let (limit, is_met) = match self {
            Self::AtMost(limit) => (format!("≤ {limit}"), ratio <= limit),
            Self::AtLeast(limit) => (format!("≥ {limit}"), ratio >= limit),
            Self::Told => return String::new(),
        };
        let verdict = if is_met { "met" } else { "missed" };
        format!("{limit}, {verdict}")
    }
}

pub(crate) fn print(rows: &[Row]) {
    println!("| | what | ours | floor, same run | ratio | acceptable | goal |");
    println!("|---|---|---|---|---|---|---|");
    for row in rows {
        println!(
            "| {} | {} | {} | {} | {:.2} | {} | {} |",
            row.id,
            row.what,
            row.ours,
            row.floor,
            row.ratio,
            row.goal.told(row.ratio),
            row.aim.told(row.ratio)
        );
    }
}

/// Returns the middle one.
pub(crate) fn median(samples: &mut [Duration]) -> Duration {
    samples.sort();
    samples[samples.len() / 2]
}

pub(crate) fn show(duration: Duration) -> String {
    let micros = duration.as_secs_f64() * 1e6;
    if micros >= 1000.0 {
        format!("{:.2} ms", micros / 1000.0)
    } else {
        format!("{micros:.0} µs")
    }
}

pub(crate) fn ratio(ours: Duration, floor: Duration) -> f64 {
    ours.as_secs_f64() / floor.as_secs_f64()
}
