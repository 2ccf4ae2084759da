//! How long the page takes until a person can use it, and what it weighs, beside an empty page in the same browser.
//!
//! `cargo bench -p cueme-tests --bench page`. Needs Chromium and chromedriver, which `tests/run` installs.

#![allow(clippy::unwrap_used, reason = "a measurement that cannot go on ends")]

#[path = "../tests/browser_support/mod.rs"]
mod browser_support;
#[path = "../tests/support/mod.rs"]
mod support;

use browser_support::{Browser, DESKTOP, sign_in};
use support::Home;

const AGENTS: usize = 8;
/// An empty page is fetched from the broker too, so that both pay for the connection.
const BLANK: &str = "/icons/icon.svg";
/// The page says that it is ready when it has its state, has drawn it and listens.
const READY_MS: &str = "return performance.getEntriesByName('ready')[0]?.startTime ?? null";
const LOADED_MS: &str = "const it = performance.getEntriesByType('navigation')[0]; return it.loadEventEnd > 0 ? it.loadEventEnd : null";

fn main() {
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let is_quick = std::env::args().any(|argument| argument == "--quick");
    let rounds = if is_quick { 5 } else { 25 };
    let home = Home::new();
    let asking: Vec<_> = (0..AGENTS)
        .map(|number| home.ask(&home.join(), &format!("Question **{number}** of eight"), None))
        .collect();
    let browser = sign_in(&home, DESKTOP);
    let origin = browser
        .script("return location.origin")
        .as_str()
        .unwrap()
        .to_owned();
    let (mut ours, mut blank) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        blank.push(time(&browser, &format!("{origin}{BLANK}"), LOADED_MS));
        ours.push(time(&browser, &origin, READY_MS));
    }
    let bytes = browser
        .script(
            "const files = performance.getEntriesByType('resource').filter((entry) => !entry.name.includes('/api/'));
             return [performance.getEntriesByType('navigation')[0], ...files].reduce((sum, entry) => sum + entry.decodedBodySize, 0)",
        )
        .as_u64()
        .unwrap();
    drop(asking);
    let (ours, blank) = (median(&mut ours), median(&mut blank));
    println!("| what | ours | floor, same run | ratio | goal |");
    println!("|---|---|---|---|---|");
    println!(
        "| page with eight agents, ready to use ÷ an empty document loaded | {ours:.0} ms | {blank:.0} ms | {:.2} | |",
        ours / blank
    );
    println!(
        "| weight of a visit, uncompressed | {} KB | 150 KB | {:.2} | ≤ 1 |",
        bytes / 1000,
        bytes as f64 / 150_000.0
    );
}

fn time(browser: &Browser, url: &str, script: &str) -> f64 {
    browser.goto(url);
    loop {
        if let Some(millis) = browser.script(script).as_f64() {
            return millis;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
