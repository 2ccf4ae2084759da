//! The table of results.

use std::time::Duration;

/// One line of the table.
pub(crate) struct Row {
    pub(crate) what: &'static str,
    pub(crate) ours: String,
    pub(crate) floor: String,
    pub(crate) ratio: f64,
    pub(crate) goal: Goal,
}

/// What the ratio should be.
#[derive(Clone, Copy)]
pub(crate) enum Goal {
    AtMost(f64),
    AtLeast(f64),
    /// Only told, because it leaves something out that the other side has to do.
    Told,
}

impl Goal {
    fn verdict(self, ratio: f64) -> &'static str {
        let is_met = match self {
            Self::AtMost(limit) => ratio <= limit,
            Self::AtLeast(limit) => ratio >= limit,
            Self::Told => return "",
        };
        if is_met { "met" } else { "missed" }
    }
}

pub(crate) fn print(rows: &[Row]) {
    println!("| what | ours | floor, same run | ratio | goal | |");
    println!("|---|---|---|---|---|---|");
    for row in rows {
        let goal = match row.goal {
            Goal::AtMost(limit) => format!("≤ {limit}"),
            Goal::AtLeast(limit) => format!("≥ {limit}"),
            Goal::Told => String::new(),
        };
        let verdict = row.goal.verdict(row.ratio);
        println!(
            "| {} | {} | {} | {:.2} | {goal} | {verdict} |",
            row.what, row.ours, row.floor, row.ratio
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
