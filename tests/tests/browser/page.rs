//! The page itself: its weight, its types, its looks on each screen, and that it breaks none of its own rules.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::driver::{Browser, DESKTOP, PHONE, link, sign_in};
use crate::screenshots::{Morning, open};

/// The limit on the uncompressed size of a visit, with the inbox, a conversation and every dialog opened.
const PAGE_BYTES_MAX: u64 = 150_000;

pub(crate) fn ui() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../cueme-broker/ui")
}

#[test]
fn a_visit_loads_at_most_its_weight_and_breaks_no_rule_of_its_own() {
    let morning = Morning::new();
    let browser = sign_in(&morning.home, DESKTOP);
    browser.script("window.violations = []; addEventListener('securitypolicyviolation', (event) => violations.push(event.violatedDirective + ' ' + event.blockedURI)); addEventListener('error', (event) => violations.push(event.message)); addEventListener('unhandledrejection', (event) => violations.push(String(event.reason)))");
    open(&browser, "Checkout rewrite");
    for dialog in ["Settings", "Message several agents", "Keyboard shortcuts"] {
        browser.click(&format!("[aria-label='{dialog}']"));
        browser.sees("dialog h2", dialog);
        browser.press(crate::driver::key::ESCAPE);
        browser.misses("dialog");
    }
    assert_weight(&browser);
    assert_eq!(browser.script("return violations"), json!([]));
}

#[test]
fn a_first_visit_in_chinese_loads_at_most_as_much() {
    let morning = Morning::new();
    let browser = Browser::start(DESKTOP, "zh-CN");
    browser.goto(&link(&morning.home));
    browser.wait_until_ready();
    open(&browser, "Checkout rewrite");
    browser.sees(".for", "正在回答");
    assert_weight(&browser);
}

/// Asserts that all that was loaded so far is light enough: the document without the state in it, which is no part of the page, and every file.
#[track_caller]
fn assert_weight(browser: &Browser) {
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
