//! The table of results, in the shape all benches share.

/// One line of the table, in megabytes a second.
pub(crate) struct Row {
    pub(crate) what: String,
    pub(crate) ours: f64,
    pub(crate) floor: f64,
    pub(crate) limit: Limit,
}

/// How much of the floor's speed is to be reached.
#[derive(Clone, Copy)]
pub(crate) enum Limit {
    /// Less is a failure.
    Acceptable(f64),
    /// What we want.
    Goal(f64),
}

impl Row {
    /// Reports whether the row is a failure.
    pub(crate) fn is_unacceptable(&self) -> bool {
        matches!(self.limit, Limit::Acceptable(limit) if self.ratio() < limit)
    }

    fn ratio(&self) -> f64 {
        self.ours / self.floor
    }

    fn told(&self, limit: f64) -> String {
        let verdict = if self.ratio() >= limit { "met" } else { "missed" };
        format!("≥ {limit}, {verdict}")
    }
}

pub(crate) fn print(rows: &[Row]) {
    println!("| | what | ours | floor, same run | ratio | acceptable | goal |");
    println!("|---|---|---|---|---|---|---|");
    for row in rows {
        let (acceptable, goal) = match row.limit {
            Limit::Acceptable(limit) => (row.told(limit), String::new()),
            Limit::Goal(limit) => (String::new(), row.told(limit)),
        };
        println!(
            "| P11 | {} | {:.0} MB/s | {:.0} MB/s | {:.2} | {acceptable} | {goal} |",
            row.what,
            row.ours,
            row.floor,
            row.ratio(),
        );
    }
}
