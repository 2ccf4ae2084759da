//! Measures the time until a person sees the inbox on the page and until they can use it, beside a blank page and a
//! single-page application in the same browser, one after the other in each round.
//!
//! `cargo bench -p cueme-tests --bench page`. Needs Chromium and chromedriver, which `tests/run` installs.
//!
//! - *First render* is the browser's own first contentful paint, counted from the navigation, provided that every row was in
//!   the document by then; if the first paint showed less, it is the frame after the last row came. The blank page's is that
//!   of its one word.
//! - *Ready* is the page's own mark: it has its state, has drawn it and takes keys and clicks. Events are asked for once it is
//!   seen.
//! - On a *first visit* the browser has kept nothing: neither files nor compiled code nor our service worker. On a *later*
//!   one it has whatever earlier rounds let it keep, of ours and of the application alike, and our worker sleeps.

#![allow(clippy::unwrap_used, reason = "a measurement that cannot go on ends")]

#[path = "../tests/browser/driver.rs"]
mod driver;
#[path = "page/peers.rs"]
mod peers;
#[path = "../../cueme/benches/heart/table.rs"]
mod table;

use std::time::Duration;

use cueme_tests::Home;
use driver::{Browser, DESKTOP, sign_in};
use peers::Peers;
use serde_json::{Value, json};
use table::{Goal, Row, median, ratio, show};

const AGENTS: usize = 8;
/// The idle time of the browser before each navigation, so that it has cleaned up the last page and is ready as it is
/// for a person; and after it, because each query would take time from the measurement.
const QUIET: Duration = Duration::from_millis(600);
/// The limit on the uncompressed size of a visit, in bytes.
const VISIT_BYTES_MAX: f64 = 150_000.0;

/// Runs before anything of a page: notes when all rows are there, and when a frame with them has been made.
const WATCH: &str = "
    new MutationObserver((_, observer) => {
        if (document.querySelectorAll('.row').length < ROWS) return;
        observer.disconnect();
        performance.mark('rows');
        requestAnimationFrame(() => { const frame = new MessageChannel(); frame.port1.onmessage = () => performance.mark('frame'); frame.port2.postMessage(0); });
    }).observe(document, { childList: true, subtree: true });";
/// Returns the first render and the ready mark, and on the way there when the document had come and when all rows were in it;
/// or nothing while any of it is to come.
const TIMES: &str = "
    const at = (name) => performance.getEntriesByName(name)[0]?.startTime;
    const [painted, rows, frame, ready] = ['first-contentful-paint', 'rows', 'frame', 'ready'].map(at);
    if (painted === undefined || ready === undefined || frame === undefined) return null;
    const document = performance.getEntriesByType('navigation')[0].responseEnd;
    return [rows <= painted ? painted : frame, ready, document, rows];";
const PAINTED: &str = "const painted = performance.getEntriesByName('first-contentful-paint')[0]?.startTime; return painted === undefined ? null : [painted, painted, 0, 0];";

/// Whether the browser keeps what earlier visits brought.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Visit {
    First,
    Later,
}

/// When a page was there.
#[derive(Debug, Default)]
struct Times {
    render: Vec<Duration>,
    ready: Vec<Duration>,
    document: Vec<Duration>,
    rows: Vec<Duration>,
}

/// When a page usually was there.
#[derive(Debug, Clone, Copy)]
struct Medians {
    render: Duration,
    ready: Duration,
    document: Duration,
    rows: Duration,
}

impl Times {
    fn medians(mut self) -> Medians {
        Medians {
            render: median(&mut self.render),
            ready: median(&mut self.ready),
            document: median(&mut self.document),
            rows: median(&mut self.rows),
        }
    }
}

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
    browser.devtools("ServiceWorker.enable", json!({}));
    let watch = WATCH.replace("ROWS", &AGENTS.to_string());
    browser.devtools(
        "Page.addScriptToEvaluateOnNewDocument",
        json!({ "source": watch }),
    );
    let bench = Bench {
        browser,
        origin,
        peers: Peers::start(AGENTS),
    };
    let mut rows = bench.measure(Visit::First, rounds);
    rows.extend(bench.measure(Visit::Later, rounds));
    rows.push(bench.weight());
    drop(asking);
    table::print(&rows);
}

/// The browser and what it visits.
#[derive(Debug)]
struct Bench {
    browser: Browser,
    origin: String,
    peers: Peers,
}

impl Bench {
    fn measure(&self, visit: Visit, rounds: usize) -> Vec<Row> {
        let (mut blank, mut ours, mut application) = (Times::default(), Times::default(), Times::default());
        for _ in 0..rounds {
            self.visit(visit, &self.peers.blank(), PAINTED, &mut blank);
            self.visit(visit, &self.origin, TIMES, &mut ours);
            self.visit(visit, &self.peers.application(), TIMES, &mut application);
        }
        let (ours, blank, application) = (
            ours.medians(),
            blank.medians().render,
            application.medians().render,
        );
        // A later visit of an application costs what its first one compiled; it is told, but says nothing about weight.
        let lighter = match visit {
            Visit::First => Goal::AtLeast(4.0),
            Visit::Later => Goal::Told,
        };
        let [page, peer, usable] = match visit {
            Visit::First => [
                "first visit: the inbox of eight agents is seen ÷ a blank page is",
                "first visit: a single-page application of 1.45 MB is seen ÷ ours is",
                "first visit: ready to use ÷ a blank page is seen",
            ],
            Visit::Later => [
                "later visit: the inbox of eight agents is seen ÷ a blank page is",
                "later visit: a single-page application of 1.45 MB is seen ÷ ours is",
                "later visit: ready to use ÷ a blank page is seen",
            ],
        };
        let row = |what: &'static str, ours, floor, ratio, aim| Row {
            id: "P13",
            what: what.into(),
            ours: show(ours),
            floor: show(floor),
            ratio,
            goal: Goal::Told,
            aim,
        };
        let render = ours.render;
        let mut rows = vec![
            row(page, render, blank, ratio(render, blank), Goal::AtMost(2.5)),
            row(peer, render, application, ratio(application, render), lighter),
            row(usable, ours.ready, blank, ratio(ours.ready, blank), Goal::Told),
        ];
        if visit == Visit::First {
            rows.extend(
                [
                    (
                        "on the way there: the document has come ÷ a blank page is seen",
                        ours.document,
                    ),
                    (
                        "… all rows are in the document; its first frame follows",
                        ours.rows,
                    ),
                ]
                .map(|(what, at)| row(what, at, blank, ratio(at, blank), Goal::Told)),
            );
        }
        rows
    }

    /// Opens a page and notes its times.
    fn visit(&self, visit: Visit, url: &str, script: &str, times: &mut Times) {
        match visit {
            Visit::First => self.forget(),
            Visit::Later => self.rest(),
        }
        std::thread::sleep(QUIET);
        self.browser.goto(url);
        std::thread::sleep(QUIET);
        let found = loop {
            if let Value::Array(found) = self.browser.script(script) {
                break found;
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let at = |index: usize| Duration::from_secs_f64(found[index].as_f64().unwrap() / 1e3);
        for (index, times) in [
            &mut times.render,
            &mut times.ready,
            &mut times.document,
            &mut times.rows,
        ]
        .into_iter()
        .enumerate()
        {
            times.push(at(index));
        }
    }

    /// Lets the browser forget all but who is signed in. It forgets from a page that holds nothing.
    fn forget(&self) {
        self.browser.goto("about:blank");
        for origin in [&self.origin, self.peers.origin()] {
            let kept = json!({ "origin": origin, "storageTypes": "service_workers,cache_storage" });
            self.browser.devtools("Storage.clearDataForOrigin", kept);
        }
        self.browser.devtools("Network.clearBrowserCache", json!({}));
    }

    /// Lets the browser stop our service worker, as it does with one that had nothing to do for half a minute.
    fn rest(&self) {
        self.browser.devtools("ServiceWorker.stopAllWorkers", json!({}));
    }

    fn weight(&self) -> Row {
        self.forget();
        self.browser.goto(&self.origin);
        self.browser.wait_until_ready();
        let bytes = self.browser.script(
            "const files = performance.getEntriesByType('resource').filter((entry) => !entry.name.includes('/api/'));
             return fetch('/').then((answer) => answer.arrayBuffer()).then((document) => files.reduce((sum, entry) => sum + entry.decodedBodySize, document.byteLength))",
        );
        let bytes = bytes.as_f64().unwrap();
        Row {
            id: "",
            what: "weight of a visit, uncompressed".into(),
            ours: format!("{:.0} KB", bytes / 1e3),
            floor: format!("{:.0} KB", VISIT_BYTES_MAX / 1e3),
            ratio: bytes / VISIT_BYTES_MAX,
            goal: Goal::Told,
            aim: Goal::AtMost(1.0),
        }
    }
}
