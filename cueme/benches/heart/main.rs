//! Measures the heart against floors taken in the same run, and prints the ratios as a table.
//!
//! `cargo bench` runs it; `cargo bench -- --quick` takes fewer samples. Machines are noisy: ours and the floor are
//! measured in turn, and only their ratio is compared with the goal. Nothing here fails a build.

mod ack;
mod answer;
mod client;
mod envelope;
mod floor;
mod growth;
mod home;
mod memory;
mod postgres;
mod process;
mod remote;
mod rows;
mod spawn;
mod start;
mod subscribers;
mod table;
mod throughput;
mod visitor;
mod waiters;
mod writes;

use table::Row;

/// Takes samples, more of them at a larger scale.
type Measure = fn(usize) -> Vec<Row>;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    // `cargo test --benches` runs this file too; there is nothing to test here.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    if let Ok(which) = std::env::var(subscribers::FLOOR_ENV) {
        return subscribers::serve_floor(&which);
    }
    if let Ok(said) = std::env::var(throughput::BARE_ENV) {
        return throughput::serve_bare(&said);
    }
    let scale = if arguments.iter().any(|argument| argument == "--quick") {
        1
    } else {
        5
    };
    let measures: [(&str, Measure); 18] = [
        ("spawn", spawn::measure),
        ("start", start::measure),
        ("ack", ack::measure),
        ("answer", answer::measure),
        ("client", client::measure),
        ("throughput", throughput::measure),
        ("synchronous", throughput::measure_synchronous),
        ("slow_disk", throughput::measure_slow_disk),
        ("writes", writes::measure),
        ("waiters", waiters::measure),
        ("subscribers", subscribers::measure),
        ("envelope", envelope::measure),
        ("growth", growth::measure),
        ("memory", memory::measure),
        ("postgres", postgres::measure),
        ("postgres_waiters", postgres::measure_waiters),
        ("postgres_growth", growth::measure_postgres),
        ("remote", remote::measure),
    ];
    let wanted: Vec<&String> = arguments
        .iter()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"))
        .collect();
    let mut rows = Vec::new();
    for (name, measure) in measures {
        if wanted.is_empty() || wanted.iter().any(|wanted| *wanted == name) {
            eprintln!("measuring {name} …");
            rows.extend(measure(scale));
        }
    }
    table::print(&rows);
}
