//! Attention: how the page calls a person, when it keeps still, and what it says about answers that no person gave.

use serde_json::json;

use crate::driver::{Browser, DESKTOP, PHONE, key, link, sign_in};
use cueme_tests::Home;

/// Writes down what the page asks of the browser, which without a screen shows nothing.
const SPY: &str = "
    window.calls = []; window.revoked = []; window.notes = 0;
    Object.defineProperty(Notification, 'permission', { get: () => 'granted' });
    Notification.requestPermission = () => Promise.resolve('granted');
    ServiceWorkerRegistration.prototype.showNotification = (title, options) => { calls.push([title, options.body]); return Promise.resolve(); };
    ServiceWorkerRegistration.prototype.getNotifications = ({ tag }) => Promise.resolve([{ close: () => revoked.push(tag) }]);
    const tone = AudioContext.prototype.createOscillator;
    AudioContext.prototype.createOscillator = function () { notes += 1; return tone.call(this); };";

/// Draws an icon, and says how large it is and how it looks at its edge, on the ring, within it, and where its light is.
const DRAWN: &str = "
    const drawn = async (src) => {
        const image = new Image();
        await new Promise((done, failed) => Object.assign(image, { onload: done, onerror: () => failed(new Error(`${src} is no picture`)), src }));
        const canvas = Object.assign(document.createElement('canvas'), { width: 100, height: 100 });
        const context = canvas.getContext('2d');
        context.drawImage(image, 0, 0, 100, 100);
        const look = (x) => {
            const [red, green, blue] = context.getImageData(x, 50, 1, 1).data;
            return red > 230 && blue > 230 ? 'light' : red < 60 ? 'dark' : red > blue ? 'dot' : 'other';
        };
        return { size: `${image.naturalWidth}x${image.naturalHeight}`, looks: [5, 22, 50, 72].map(look) };
    };";

fn watched(home: &Home) -> Browser {
    let browser = sign_in(home, DESKTOP);
    browser.until("return navigator.serviceWorker.ready.then((worker) => worker.active !== null)");
    browser.script(SPY);
    browser
}

/// Switches something in the settings, by its label.
fn switch(browser: &Browser, labels: &[&str]) {
    browser.click("[aria-label=Settings]");
    for label in labels {
        let label = json!(label);
        browser.until(&format!(
            "const line = [...document.querySelectorAll('dialog label.line')].find((line) => line.innerText.trim() === {label}); line?.querySelector('input').click(); return Boolean(line)"
        ));
    }
    browser.press(key::ESCAPE);
    browser.misses("dialog");
}

#[test]
fn a_question_calls_by_title_notification_and_sound_and_lets_go_when_it_is_answered_elsewhere() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let browser = watched(&home);
    browser.until("return document.title === 'cueme'");
    let (asking, cue) = home.ask(&agent, "Shall I deploy?", None);
    browser.until("return document.title === '(1) cueme'");
    browser.until("return calls.length === 1");
    let calls = browser.script("return calls");
    assert_eq!(
        calls,
        json!([[format!("{agent} is waiting for you"), "Shall I deploy?"]])
    );
    browser.until("return notes > 0");
    home.run(&["answer", &cue, "yes"]).expect(0);
    asking.finish().expect(0);
    browser.until("return document.title === 'cueme'");
    browser.until(&format!("return revoked.includes({:?})", cue));
}

#[test]
fn nothing_calls_when_it_is_off_or_in_quiet_hours() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let browser = watched(&home);
    switch(&browser, &["Browser notifications", "Sound"]);
    let (_first, _) = home.ask(&agent, "Nobody wanted to be called", None);
    browser.until("return document.title === '(1) cueme'");
    assert_eq!(browser.script("return [calls, notes]"), json!([[], 0]));
    browser.script("Object.assign(window, { calls: [], notes: 0 })");
    switch(&browser, &["Browser notifications", "Sound", "Quiet hours"]);
    browser.click("[aria-label=Settings]");
    browser.sees("dialog h2", "Settings");
    browser.script(
        "for (const [label, value] of [['Quiet from', '00:00'], ['Quiet to', '23:59']]) {
             const input = document.querySelector(`[aria-label='${label}']`);
             input.value = value; input.dispatchEvent(new Event('change'));
         }",
    );
    browser.press(key::ESCAPE);
    browser.misses("dialog");
    // Switching the sound on lets it be heard once.
    browser.script("notes = 0");
    let other = home.join_as("terminal");
    let (_second, _) = home.ask(&other, "In the quiet hours", None);
    browser.until("return document.title === '(2) cueme'");
    assert_eq!(browser.script("return [calls, notes]"), json!([[], 0]));
}

#[test]
fn an_answer_of_a_rule_says_so_and_the_rule_is_off_with_one_click() {
    let home = Home::created();
    std::fs::create_dir_all(home.path()).unwrap();
    std::fs::write(
        home.path().join("config.toml"),
        "[[policy]]\nname = \"go on\"\npayload = \"none\"\nanswer = \"Continue.\"\n",
    )
    .unwrap();
    let agent = home.join_as("terminal");
    let browser = sign_in(&home, DESKTOP);
    let asked = home.run_with(&["cue", &agent, "-"], &cueme_tests::envelope("May I?", None));
    assert!(asked.expect(0).stdout.starts_with("Continue.\n"));
    browser.click_text(".row-name", &agent);
    browser.sees(".timeline", "Answered by the rule go on");
    browser.click_text(".timeline button", "Turn this rule off");
    browser.sees(".timeline", "The rule is off");
    let (_asking, _) = home.ask(&agent, "And now?", None);
    browser.sees(".conversation", "And now?");
}

#[test]
fn the_page_can_be_installed_and_its_worker_serves_no_state() {
    let home = Home::created();
    let browser = sign_in(&home, DESKTOP);
    let manifest = browser.script(
        "return fetch(document.querySelector('link[rel=manifest]').href).then((found) => found.json())",
    );
    assert_eq!(manifest["display"], "standalone");
    let icons = manifest["icons"].as_array().unwrap().iter();
    let declared = icons.map(|icon| (icon["src"].as_str().unwrap(), icon["sizes"].as_str().unwrap()));
    let favicon = ("icons/icon-waiting.svg", "any");
    for (src, sizes) in declared.chain([favicon]) {
        let drawn = browser.script(&format!("{DRAWN} return drawn({src:?})"));
        assert_eq!(drawn["looks"], json!(["dark", "light", "dark", "dot"]), "{src}");
        assert!(sizes == "any" || drawn["size"] == json!(sizes), "{src}: {drawn}");
    }
    browser.until("return navigator.serviceWorker.ready.then((worker) => worker.active !== null)");
    let kept = browser.script(
        "return caches.keys().then((names) => Promise.all(names.map((name) => caches.open(name).then((cache) => cache.keys())))).then((all) => all.flat().map((one) => one.url).filter((url) => url.includes('/api/')))",
    );
    assert_eq!(
        kept,
        json!([]),
        "what an agent asked is never served from a cache"
    );
    let document = browser.script("return caches.match('/').then((kept) => kept.text())");
    let document = document.as_str().unwrap();
    assert!(document.contains("id=\"state\"></script>"), "{document}");
}

#[test]
fn tab_title_and_summary_count_the_decisions_that_are_waited_for_and_no_group_repeats_it() {
    let home = Home::new();
    let (agent, other) = (home.join(), home.join_as("terminal"));
    let (_first, _) = home.ask(&agent, "One?", None);
    let (_second, _) = home.ask(&agent, "Two?", None);
    let (detached, _) = home.ask(&other, "Gone?", None);
    detached.kill();
    let browser = sign_in(&home, DESKTOP);
    browser.sees("[data-state=detached] .row-text", "Gone?");
    browser.until("return document.title === '(2) cueme'");
    assert_eq!(browser.text("[data-filter=waiting] .chip-count"), "2");
    browser.sees(".inbox-summary", "2 questions are waiting for you");
    browser.click("[aria-label=View]");
    browser.click_text("dialog label.line", "Group by project");
    browser.press(key::ESCAPE);
    browser.sees(".group-name", "Waiting for you");
    assert_eq!(browser.count(".group[data-state=waiting] .group-count"), 0);
}

/// Lets what was asked so far have been asked long ago.
fn backdate(home: &Home) {
    home.run(&["broker", "stop"]).expect(0);
    let database = rusqlite::Connection::open(home.database()).unwrap();
    database
        .execute("UPDATE cues SET asked_at = asked_at - 7510000", [])
        .unwrap();
}

#[test]
fn a_question_that_was_put_off_calls_when_it_is_back_however_old_it_is() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (_asking, cue) = home.ask(&agent, "Not now?", None);
    backdate(&home);
    home.wait_for("Not now?", 1);
    let browser = watched(&home);
    let put_off = |snoozed: &serde_json::Value| {
        let change = json!({ "page": { "snoozed": snoozed } }).to_string();
        browser.script(&format!("return fetch('/api/v1/settings', {{ method: 'PATCH', headers: {{ 'content-type': 'application/json' }}, body: {} }}).then((answer) => answer.status)", json!(change)));
    };
    browser.until("return document.title === '(1) cueme'");
    put_off(&json!({ &cue: 0 }));
    browser.until("return document.title === 'cueme'");
    assert_eq!(browser.script("return [calls, notes]"), json!([[], 0]));
    // Also for a page that was opened meanwhile.
    browser.reload();
    browser.script(SPY);
    browser.until("return document.title === 'cueme'");
    put_off(&json!({}));
    browser.until("return document.title === '(1) cueme'");
    browser.until("return calls.length === 1 && notes > 0");
}

#[test]
fn a_link_that_names_a_question_alone_opens_it() {
    let home = Home::new();
    let (first, second) = (home.join(), home.join());
    let (answered, past) = home.ask(&first, "The one before?", None);
    home.run(&["answer", &past, "yes"]).expect(0);
    answered.finish().expect(0);
    let (_one, one) = home.ask(&first, "The first one?", None);
    let (_two, two) = home.ask(&second, "The second one?", None);
    // What follows the hash stays when the link signs in.
    let browser = Browser::open(&format!("{}#/cue/{two}", link(&home)), PHONE);
    browser.sees(".answering .prose", "The second one?");
    browser.until(&format!("return location.hash === '#/agent/{second}/{two}'"));
    // The page is open already.
    for (cue, question) in [(&one, "The first one?"), (&past, "The one before?")] {
        browser.script(&format!("location.hash = '#/cue/{cue}'"));
        browser.until(&format!("return location.hash === '#/agent/{first}/{cue}'"));
        browser.sees(".entry", question);
    }
    browser.script(&format!(
        "location.hash = '#/cue/{}'",
        one.replace(&one[one.len() - 4..], "0000")
    ));
    browser.sees(".toast[data-tone=bad]", "Question not found.");
    browser.until("return location.hash === '#/'");
}

#[test]
fn a_new_question_is_told_and_a_clock_that_ticks_is_not() {
    let home = Home::new();
    let agent = home.join();
    let (_first, _) = home.ask(&agent, "One?", None);
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    browser.sees(".answering .for", "One?");
    assert_eq!(
        browser.script("return document.querySelector('[role=log]').ariaLive"),
        json!("off")
    );
    let (_second, _) = home.ask(&agent, "And `two`?", None);
    browser.until("return [...document.querySelectorAll('.reading > [role=status]')].some((line) => line.textContent === 'New question: And two?')");
}

#[test]
fn the_clock_is_the_one_of_the_browser_whatever_the_language_of_the_page() {
    let home = Home::new();
    let agent = home.join();
    let (_asking, _) = home.ask(&agent, "When?", None);
    for (language, is_twelve) in [("de-DE", false), ("en-US", true)] {
        let browser = Browser::start(DESKTOP, language);
        browser.goto(&link(&home));
        browser.wait_until_ready();
        browser.click_text(".row-name", &agent);
        browser.sees(".entry-time", ":");
        let time = browser.text(".entry-time");
        assert_eq!(time.ends_with('M'), is_twelve, "{language}: {time}");
    }
}
