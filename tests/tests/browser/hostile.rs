//! Agents that write anything, and a lot of it.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::driver::{Browser, DESKTOP, PHONE, key, sign_in};
use cueme_tests::Home;

/// Each tries to run `window.owned`.
const ATTACKS: &[&str] = &[
    "<script>window.owned = 1</script>",
    "<img src=x onerror='window.owned = 1'>",
    "<svg onload='window.owned = 1'></svg>",
    "<a href=\"javascript:window.owned = 1\">press me</a>",
    "[press me](javascript:window.owned=1)",
    "<iframe srcdoc='<script>parent.owned = 1</script>'></iframe>",
    "<style>body { display: none }</style>",
    "<form action='/api/v1/settings'><button>press me</button></form>",
    "![x](x\" onerror=\"window.owned=1)",
    "<details open ontoggle='window.owned = 1'>x</details>",
    "</textarea></title></script><script>window.owned = 1</script>",
    "```html\n</code></pre><script>window.owned = 1</script>\n```",
];

#[track_caller]
fn unharmed(browser: &Browser) {
    assert_eq!(browser.script("return window.owned === undefined"), json!(true));
    // The page's own scripts stand in its head, or are gone once they have run.
    let forbidden = "body script, iframe, .prose img, .prose form, .prose style, [onerror], [onload], [ontoggle], a[href^='javascript:' i]";
    assert_eq!(
        browser.count(forbidden),
        0,
        "{}",
        browser.script("return document.querySelector('.entries').innerHTML.slice(0, 4000)")
    );
    assert!(
        browser
            .script("return document.body.checkVisibility()")
            .as_bool()
            .unwrap()
    );
}

#[test]
fn nothing_an_agent_writes_runs_wherever_it_is_shown() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let options: Vec<String> = ATTACKS.iter().map(|attack| attack.replace('\n', " ")).collect();
    let fields: Vec<_> = options
        .iter()
        .map(|attack| json!({"label": attack, "options": [attack, "b"]}))
        .collect();
    let confirm = json!({"type": "confirm", "text": options.join(" "), "confirm_label": options[0], "cancel_label": options[1]});
    let payloads = [
        json!({"type": "choice", "options": options}),
        confirm,
        json!({"type": "form", "fields": fields}),
    ];
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    for payload in payloads {
        let prompt = format!("{}\n\nasks with a {}", ATTACKS.join("\n\n"), payload["type"]);
        let (_asking, cue) = home.ask(&agent, &prompt, Some(&payload.to_string()));
        browser.sees(".entry .prose", payload["type"].as_str().unwrap());
        browser.until("return document.querySelector('.composer').dataset.target === 'cue' && document.querySelector('.control') !== null");
        unharmed(&browser);
        // The document brings the text along then.
        browser.reload();
        browser.sees(".entry .prose", payload["type"].as_str().unwrap());
        unharmed(&browser);
        home.run(&["decline", &cue, ATTACKS[1]]).expect(0);
        browser.sees(".reply", "onerror");
        unharmed(&browser);
    }
    browser.write("#search", "onerror");
    browser.sees(".hit", "onerror");
    unharmed(&browser);
}

/// Serves an empty page of another program on this machine, for as long as the test runs; returns where.
fn another_page() -> String {
    const PAGE: &[u8] =
        b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n<!doctype html><body><button>press me</button>";
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut peer in listener.incoming().flatten() {
            // A browser that gives up is no business of this test.
            let _ = peer.read(&mut [0; 4096]).and_then(|_| peer.write_all(PAGE));
        }
    });
    format!("http://{address}/")
}

#[test]
fn a_page_that_opens_ours_loses_hold_of_it() {
    let home = Home::created();
    let browser = sign_in(&home, DESKTOP);
    let ours = browser.script("return location.origin");
    browser.goto(&another_page());
    browser.script(&format!(
        "document.querySelector('button').onclick = () => {{ window.opened = [open('/'), open({ours})] }}; return true"
    ));
    browser.click("button");
    // A script that has lost its reference to a window sees it as closed; its own page keeps the reference.
    browser.until("return window.opened[1].closed");
    assert_eq!(browser.script("return window.opened[0].closed"), json!(false));
}

#[test]
fn names_of_agents_and_files_are_text() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (asking, _) = home.ask(&agent, "Files?", None);
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    let path = home.path().join("<img src=x onerror=window.owned=1>.png");
    std::fs::write(&path, "not a picture").unwrap();
    browser.write("input[type=file]", path.to_str().unwrap());
    browser.sees(".attachment", "<img src=x onerror=window.owned=1>.png");
    browser.until("return !document.querySelector('.attachment')?.innerText.includes('uploading')");
    browser.click(".title-button");
    browser.write("dialog input", "<img src=x onerror=window.owned=1>");
    browser.click("dialog .primary");
    browser.sees(".row-name", "<img src=x onerror=window.owned=1>");
    browser.write(".composer-text", "<img src=x onerror=window.owned=1>");
    browser.press(key::ENTER);
    asking.finish().expect(0);
    browser.sees(".reply .delivery", "Received");
    unharmed(&browser);
}

#[test]
fn characters_nobody_sees_are_made_visible() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (_asking, _) = home.ask(&agent, "run rm\u{202e}gnp.exe\u{200b} now", None);
    let browser = sign_in(&home, DESKTOP);
    browser.sees(".row-text", "U+202E");
    browser.click_text(".row-name", &agent);
    browser.sees(".prose .invisible", "U+202E");
}

#[test]
fn a_prompt_of_five_megabytes_opens_at_once_and_is_read_part_by_part() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let line = "All work and no play makes a long prompt. 只工作不玩耍。\n\n";
    let prompt = format!("{}THE END", line.repeat(5 * 1024 * 1024 / line.len()));
    let (asking, _) = home.ask(&agent, &prompt, None);
    let browser = sign_in(&home, PHONE);
    let start = Instant::now();
    browser.click_text(".row-name", &agent);
    browser.sees(".entry .prose", "All work");
    browser.until("return Boolean(document.querySelector('.composer-text'))");
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    browser.sees(".rest", "5.0 MB");
    let length = |browser: &Browser| {
        browser
            .script("return document.querySelector('.entry .fold-body').textContent.length")
            .as_u64()
            .unwrap()
    };
    let before = length(&browser);
    browser.click_text(".rest .text-button", "Show more");
    browser.until(&format!(
        "return document.querySelector('.entry .fold-body').textContent.length > {before}"
    ));
    let whole = browser.script("return fetch(document.querySelector('.rest a').href).then((response) => response.text()).then((text) => text.endsWith('THE END'))");
    assert_eq!(whole, json!(true));
    browser.write(".composer-text", "read it");
    browser.click(".send");
    assert!(asking.finish().expect(0).stdout.starts_with("read it\n"));
}
