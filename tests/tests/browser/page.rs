//! The page itself: its weight, its types, its looks on each screen, and that it breaks none of its own rules.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::driver::{Browser, DESKTOP, PHONE, link, sign_in};
use cueme_tests::{Client, Home};

/// What a visit may load, with the inbox, a conversation and every dialog opened; uncompressed.
const PAGE_BYTES_MAX: u64 = 150_000;

fn ui() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../cueme-broker/ui")
}

/// A busy morning: six agents in every state.
struct Morning {
    /// Run before the home is: whoever still waits would start its broker again.
    _asking: Vec<Client>,
    home: Home,
}

impl Morning {
    fn new() -> Self {
        let home = Home::created();
        let join = |runtime: &str, project: &str| {
            let directory = home.path().join(project);
            std::fs::create_dir_all(&directory).unwrap();
            let mut command = home.command(&["join", runtime]);
            let output = command.current_dir(directory).output().unwrap();
            let stdout = String::from_utf8(output.stdout).unwrap();
            stdout
                .lines()
                .find_map(|line| line.strip_prefix("agent_id="))
                .unwrap()
                .to_owned()
        };
        let first = join("claude_code", "shop-api");
        let confirm = join("cursor", "web-app");
        let form = join("codex", "infra");
        let detached = join("opencode", "runner");
        let pause = join("windsurf", "handbook");
        let working = join("kiro", "mobile");
        let mut asking = Vec::new();
        let (earlier, cue) = home.ask(&first, EARLIER, None);
        home.run(&[
            "answer",
            &cue,
            "Keep it for one release, but log every call.\n\nThen delete it.",
        ])
        .expect(0);
        earlier.finish().expect(0);
        asking.push(home.ask(&first, DATABASE, Some(r#"{"type":"choice","options":["SQLite","PostgreSQL","Both: SQLite on push, PostgreSQL nightly"]}"#)).0);
        asking.push(home.ask(&confirm, "I am about to drop the table `sessions_old` on staging.", Some(r#"{"type":"confirm","text":"Drop sessions_old now?","confirm_label":"Drop it","cancel_label":"Leave it alone"}"#)).0);
        asking.push(home.ask(&form, "Where should I deploy this?", Some(DEPLOY)).0);
        drop(
            home.ask(
                &detached,
                "The third run failed with a timeout. Retry, or look into it first?",
                None,
            )
            .0,
        );
        asking.push(home.start_with(&["pause", &pause, "Paused before publishing the handbook."], ""));
        home.wait_for("Paused before publishing the handbook.", 1);
        let names = [
            (&first, "Checkout rewrite", 252),
            (&confirm, "Design tokens", 95),
            (&form, "Deploy", 41),
            (&detached, "Flaky tests", 5_400),
            (&pause, "Handbook", 12),
            (&working, "Offline mode", 720),
        ];
        backdate(&home, &names);
        for prompt in [DATABASE, "Paused before publishing the handbook."] {
            home.wait_for(prompt, 1);
        }
        Self {
            home,
            _asking: asking,
        }
    }
}

const EARLIER: &str = "I mapped the checkout flow. The tax step calls the old service **twice**:\n\n```rust\n// Totals are computed before discounts.\nfn total(cart: &Cart) -> Result<Money> {\n    let net: Money = cart.lines.iter().map(Line::net).sum();\n    Ok(net + tax_service::rate(cart.region, \"v1\")? * net)\n}\n```\n\nShall I keep the old endpoint until the clients have moved?";
const DATABASE: &str = "## Database for the integration tests\n\nThe suite needs a real database. Three options, by what they cost:\n\n- **SQLite** starts in `3 ms`, but has no row locks\n- **PostgreSQL** is what production runs; adds 9 s a run\n- **Both**: SQLite on each push, PostgreSQL nightly\n\nWhich one should I set up?";
const DEPLOY: &str = r#"{"type":"form","fields":[{"label":"Environment","options":["production","staging"],"required":true},{"label":"Replicas","kind":"number","required":true},{"label":"Date","kind":"date"},{"label":"API key","kind":"password"},{"label":"Run migrations","kind":"boolean"}]}"#;

/// Gives agents names, and lets what they asked have been asked some seconds earlier. Clients that wait stay with their questions.
fn backdate(home: &Home, agents: &[(&String, &str, i64)]) {
    home.run(&["broker", "stop"]).expect(0);
    let database = rusqlite::Connection::open(home.path().join("data/cueme.db")).unwrap();
    for (agent, name, seconds) in agents {
        let earlier = "UPDATE cues SET asked_at = asked_at - ?2 * 1000 WHERE agent_id = ?1";
        database
            .execute(earlier, rusqlite::params![agent, seconds])
            .unwrap();
        let named = "UPDATE agents SET name = ?2, seen_at = seen_at - ?3 * 1000 WHERE agent_id = ?1";
        database
            .execute(named, rusqlite::params![agent, name, seconds])
            .unwrap();
    }
}

fn open(browser: &Browser, agent: &str) {
    browser.click_text(".row-name", agent);
    browser.until("return document.querySelector('.entry[data-outcome=open]') !== null && document.querySelector('.composer') !== null");
    // The whole question is in view, or its beginning where it is longer than the view.
    browser.until("const box = document.querySelector('.entry[data-outcome=open]').getBoundingClientRect(), view = document.querySelector('.timeline').getBoundingClientRect(); return box.bottom <= view.bottom + 1 || Math.abs(box.top - view.top) < 24");
}

#[test]
fn the_screenshots_of_the_readme_are_taken() {
    let morning = Morning::new();
    let shots = ui().join("screenshots");
    let desktop = sign_in(&morning.home, DESKTOP);
    desktop.prefer("light");
    desktop.script("document.querySelectorAll('.nudge .text-button')[1]?.click()");
    open(&desktop, "Checkout rewrite");
    desktop.misses(".unread [data-current]");
    desktop.screenshot(&shots.join("desktop-light.png"));
    desktop.prefer("dark");
    desktop.until(
        "return matchMedia('(prefers-color-scheme: dark)').matches && document.getAnimations().length === 0",
    );
    desktop.screenshot(&shots.join("desktop-dark.png"));
    let phone = sign_in(&morning.home, PHONE);
    phone.prefer("light");
    phone.script("document.querySelectorAll('.nudge .text-button')[1]?.click()");
    phone.sees(".row-name", "Checkout rewrite");
    phone.screenshot(&shots.join("phone-inbox.png"));
    open(&phone, "Checkout rewrite");
    phone.screenshot(&shots.join("phone-question.png"));
}

#[test]
fn a_visit_loads_at_most_its_weight_and_breaks_no_rule_of_its_own() {
    let morning = Morning::new();
    let browser = sign_in(&morning.home, DESKTOP);
    browser.script("window.violations = []; addEventListener('securitypolicyviolation', (event) => violations.push(event.violatedDirective + ' ' + event.blockedURI)); addEventListener('error', (event) => violations.push(event.message)); addEventListener('unhandledrejection', (event) => violations.push(String(event.reason)))");
    open(&browser, "Checkout rewrite");
    for dialog in ["Settings", "Message several agents", "Keyboard"] {
        browser.click(&format!("[aria-label='{dialog}']"));
        browser.sees("dialog h2", dialog);
        browser.press(crate::driver::key::ESCAPE);
        browser.misses("dialog");
    }
    // The document without the state in it, which is no part of the page.
    let loaded = browser.script(
        "const files = performance.getEntriesByType('resource').filter((entry) => !entry.name.includes('/api/'));
         return fetch('/').then((answer) => answer.arrayBuffer()).then((document) => [['/', document.byteLength], ...files.map((entry) => [entry.name.replace(location.origin, ''), entry.decodedBodySize])])",
    );
    let bytes: u64 = loaded
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file[1].as_u64().unwrap())
        .sum();
    eprintln!(
        "a visit loads {bytes} bytes in {} files",
        loaded.as_array().unwrap().len()
    );
    assert!(bytes > 50_000, "the browser did not say what it loaded: {loaded}");
    assert!(bytes <= PAGE_BYTES_MAX, "{bytes} bytes: {loaded}");
    assert_eq!(browser.script("return violations"), json!([]));
}

#[test]
fn the_first_look_takes_nothing_but_the_document() {
    let morning = Morning::new();
    let browser = Browser::start(DESKTOP, "en-US");
    browser.devtools("Network.enable", json!({}));
    let all_else = json!({"urls": ["*/js/*", "*/css/*", "*/api/*"]});
    browser.devtools("Network.setBlockedURLs", all_else);
    browser.goto(&link(&morning.home));
    browser.sees(".row-name", "Checkout rewrite");
    assert_eq!(browser.count(".row"), 6);
    // A conversation needs more; who opens one is told so, and has it as soon as it can be had.
    browser.click_text(".row-name", "Checkout rewrite");
    browser.sees(".pane", "could not be loaded");
    browser.devtools("Network.setBlockedURLs", json!({"urls": []}));
    // The stream of events may be back before anybody presses anything, and is as good.
    browser.script("document.querySelector('.pane .text-button')?.click()");
    browser.sees(".entry .prose", "Which one should I set up?");
}

#[test]
fn nothing_is_cut_off_or_too_small_to_touch_on_a_phone() {
    let morning = Morning::new();
    let phone = sign_in(&morning.home, PHONE);
    for agent in ["Checkout rewrite", "Deploy"] {
        open(&phone, agent);
        assert_eq!(
            phone.script("return document.documentElement.scrollWidth"),
            json!(PHONE.0)
        );
        let small = phone.script("return [...document.querySelectorAll('.composer button:not(.text-button), .conversation-head .icon-button, .option')].filter((el) => el.checkVisibility()).filter((el) => el.getBoundingClientRect().height < 32).map((el) => el.outerHTML.slice(0, 80))");
        assert_eq!(small, json!([]));
        let outside = phone.script("return [...document.querySelectorAll('.send, .composer-text, .back')].filter((el) => { const box = el.getBoundingClientRect(); return box.bottom > innerHeight || box.right > innerWidth || box.left < 0 }).length");
        assert_eq!(outside, json!(0));
        phone.click(".back");
        phone.sees(".row-name", agent);
    }
}

#[test]
fn every_control_has_a_name_and_texts_have_contrast() {
    let morning = Morning::new();
    let browser = sign_in(&morning.home, DESKTOP);
    open(&browser, "Deploy");
    for scheme in ["light", "dark"] {
        browser.prefer(scheme);
        browser.until(&format!(
            "return matchMedia('(prefers-color-scheme: {scheme})').matches \
             && !document.getAnimations().some((animation) => animation instanceof CSSTransition)"
        ));
        assert_eq!(browser.script(include_str!("audit.js")), json!([]), "{scheme}");
    }
}

#[test]
fn the_types_of_the_page_hold_and_its_bundle_is_built_from_its_sources() {
    let copy = tempfile::tempdir().unwrap();
    for path in sources(&ui()) {
        let place = copy.path().join(path.strip_prefix(ui()).unwrap());
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::copy(&path, place).unwrap();
    }
    let npm = |words: &[&str]| {
        let run = Command::new("npm")
            .args(words)
            .current_dir(copy.path())
            .output()
            .expect("npm is installed (tests/run installs it)");
        let (said, failed) = (
            String::from_utf8_lossy(&run.stdout),
            String::from_utf8_lossy(&run.stderr),
        );
        assert!(run.status.success(), "npm {words:?}: {said}{failed}");
    };
    npm(&["ci", "--ignore-scripts", "--no-progress"]);
    npm(&["run", "check"]);
    let dist = |ui: &Path| {
        let files = sources(&ui.join("dist")).into_iter();
        files
            .map(|path| {
                let name = path.file_name().unwrap().to_owned();
                (name, std::fs::read(path).unwrap())
            })
            .collect::<BTreeMap<_, _>>()
    };
    let committed = dist(copy.path());
    npm(&["run", "build"]);
    let built = dist(copy.path());
    assert!(built.len() > 3, "{:?}", built.keys());
    let differs = built
        .keys()
        .filter(|name| built.get(*name) != committed.get(*name));
    assert_eq!(
        (differs.collect::<Vec<_>>(), committed.len()),
        (vec![], built.len()),
        "run `npm ci && npm run build` in cueme-broker/ui and commit dist"
    );
}

#[test]
fn markup_enters_the_page_by_one_door() {
    let mut doors = Vec::new();
    for path in sources(&ui().join("js")) {
        let name = path.strip_prefix(ui()).unwrap().to_str().unwrap().to_owned();
        let Ok(source) = std::fs::read_to_string(&path) else {
            continue;
        };
        if source.contains("innerHTML =")
            || source.contains("insertAdjacentHTML")
            || source.contains("outerHTML =")
            || source.contains("document.write")
        {
            doors.push(name);
        }
    }
    assert_eq!(doors, ["js/lib/rendered.js"]);
}

/// The files of the page and of its build.
fn sources(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && !["screenshots", "node_modules"].contains(&name) {
            found.extend(sources(&path));
        } else if path.is_file() {
            found.push(path);
        }
    }
    found.sort();
    found
}
