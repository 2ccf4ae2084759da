//! A press answers the question that the human saw when they pressed, and nothing else.

use serde_json::json;

use crate::driver::{Browser, DESKTOP, key, sign_in};
use cueme_tests::{Client, Home};

const CONFIRM: &str = r#"{"type":"confirm","confirm_label":"Yes","cancel_label":"No"}"#;
const CHOICE: &str = r#"{"type":"choice","options":["SQLite","PostgreSQL"]}"#;

/// Lets an agent of a project join.
pub(crate) fn join_in(home: &Home, project: &str) -> String {
    let folder = home.scratch().join(project);
    std::fs::create_dir_all(&folder).unwrap();
    let mut command = home.command(&["join", "patient"]);
    let joined = command.current_dir(&folder).output().unwrap();
    let joined = String::from_utf8(joined.stdout).unwrap();
    let agent = joined.lines().find_map(|line| line.strip_prefix("agent_id="));
    agent.expect("an agent_id").to_owned()
}

/// Lets an agent ask what others ask too.
fn ask_too(home: &Home, agent: &str, prompt: &str, payload: Option<&str>) -> Client {
    let asking = home.start_cue(agent, prompt, payload);
    home.wait_for_one(|cue| cue["agent_id"] == agent);
    asking
}

/// Sends a key to the page, as often as a keyboard repeats it while it is held down.
fn hold_down(browser: &Browser, letter: &str, times: u32) {
    let code = letter.to_uppercase().bytes().next().unwrap();
    for time in 0..times {
        let pressed = json!({"type": "keyDown", "key": letter, "text": letter, "windowsVirtualKeyCode": code, "autoRepeat": time > 0});
        browser.devtools("Input.dispatchKeyEvent", pressed);
    }
    browser.devtools("Input.dispatchKeyEvent", json!({"type": "keyUp", "key": letter}));
}

/// Presses something in the page the moment another question stands there.
fn when_it_comes(browser: &Browser, question: &str, act: &str) {
    browser.script(&format!(
        "window.early = ''; const seen = new MutationObserver(() => {{ if (!document.querySelector('.answering .for')?.innerText.includes({question})) return; seen.disconnect(); window.early = document.querySelector('[data-confirm=true]')?.ariaDisabled; {act} }}); seen.observe(document.body, {{ childList: true, subtree: true }})",
        question = json!(question)
    ));
}

#[test]
fn a_second_press_never_answers_the_question_that_comes_next() {
    let home = Home::new();
    for (how, act) in [
        (
            "a double click",
            "document.querySelector('[data-confirm=true]').click()",
        ),
        (
            "two quick keys",
            "document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'y', bubbles: true }))",
        ),
    ] {
        let agent = home.join();
        let (first, _) = home.ask(&agent, "Delete the cache?", Some(CONFIRM));
        let (second, _) = home.ask(&agent, "Delete the database?", Some(CONFIRM));
        let browser = sign_in(&home, DESKTOP);
        browser.script(&format!("location.hash = '#/agent/{agent}'"));
        browser.sees(".answering .for", "Delete the cache?");
        when_it_comes(&browser, "Delete the database?", act);
        browser.press("y");
        first.finish().expect(0);
        browser.sees(".answering .for", "Delete the database?");
        browser.until("return window.early === 'true'");
        // Somebody who has read it answers it.
        browser.misses("[data-confirm][aria-disabled]");
        assert!(second.is_running(), "{how}");
        browser.press("n");
        assert!(second.finish().expect(0).stdout.starts_with("No\n"), "{how}");
    }
}

#[test]
fn a_key_that_is_held_down_answers_once() {
    let home = Home::new();
    let agent = home.join();
    let (first, _) = home.ask(&agent, "Delete the cache?", Some(CONFIRM));
    let (second, _) = home.ask(&agent, "Delete the database?", Some(CONFIRM));
    let browser = sign_in(&home, DESKTOP);
    browser.script(&format!("location.hash = '#/agent/{agent}'"));
    browser.sees(".answering .for", "Delete the cache?");
    hold_down(&browser, "y", 3);
    first.finish().expect(0);
    browser.sees(".answering .for", "Delete the database?");
    browser.misses("[data-confirm][aria-disabled]");
    // It is still the same press.
    browser.devtools(
        "Input.dispatchKeyEvent",
        json!({"type": "keyDown", "key": "y", "text": "y", "windowsVirtualKeyCode": 89, "autoRepeat": true}),
    );
    browser.press("?");
    browser.sees("dialog h2", "Keyboard");
    browser.press(key::ESCAPE);
    assert!(second.is_running());
    assert_eq!(browser.count("[data-confirm=true]"), 1);
}

#[test]
fn a_key_answers_no_question_that_is_scrolled_away_but_brings_it_back() {
    let home = Home::new();
    let agent = home.join();
    for number in 0..40 {
        let prompt = format!("Question {number}\n\n{}", "A line of the past.\n\n".repeat(8));
        home.ask_and_answer(&agent, &prompt, None, &["yes"]);
    }
    let (asking, _) = home.ask(&agent, "Delete the cache?", Some(CONFIRM));
    let browser = sign_in(&home, DESKTOP);
    browser.script(&format!("location.hash = '#/agent/{agent}'"));
    browser.sees(".answering .for", "Delete the cache?");
    let is_away = "const view = document.querySelector('.timeline').getBoundingClientRect(), box = document.querySelector('.composer').getBoundingClientRect(); return box.top >= view.bottom || box.bottom <= view.top";
    browser.until("return !document.querySelector('.jump')?.checkVisibility()");
    browser.script("const log = document.querySelector('.timeline'); log.dispatchEvent(new Event('wheel')); log.scrollTop = 0");
    browser.until(is_away);
    browser.press("y");
    browser.until(&format!(
        "const isAway = (() => {{ {is_away} }})(); return !isAway"
    ));
    assert!(asking.is_running());
    assert_eq!(browser.count(".toast"), 0);
    browser.press("y");
    asking.finish().expect(0);
}

#[test]
fn an_earlier_answer_is_never_given_to_another_question() {
    let home = Home::new();
    let agent = home.join();
    home.ask_and_answer(&agent, "Which database?", Some(CHOICE), &["--select", "SQLite"]);
    let (first, _) = home.ask(&agent, "Which database?", Some(CHOICE));
    let (second, _) = home.ask(&agent, "Whose customers are deleted?", Some(CHOICE));
    let browser = sign_in(&home, DESKTOP);
    browser.script(&format!("location.hash = '#/agent/{agent}'"));
    browser.sees(".answering .for", "Which database?");
    browser.sees(".precedent-said", "SQLite");
    browser.press("]");
    browser.sees(".answering .for", "Whose customers are deleted?");
    browser.misses(".precedent");
    // Nothing is offered with it, so that the key does nothing.
    browser.press("a");
    browser.press("?");
    browser.sees("dialog h2", "Keyboard");
    browser.press(key::ESCAPE);
    browser.misses("dialog");
    assert_eq!(browser.count(".toast"), 0);
    assert_eq!(browser.count(".options input:checked"), 0);
    browser.press("[");
    browser.sees(".precedent-said", "SQLite");
    browser.sees(".answering .for", "Which database?");
    browser.until(
        "document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true })); return document.querySelector('.toast') !== null",
    );
    assert!(first.finish().expect(0).stdout.starts_with("SQLite\n"));
    assert!(second.is_running());
}

#[test]
fn one_answer_goes_to_nobody_who_came_after_the_human_began_to_read() {
    let home = Home::new();
    let agents = [
        join_in(&home, "shop"),
        join_in(&home, "shop"),
        join_in(&home, "docs"),
    ];
    let early =
        [&agents[0], &agents[1]].map(|agent| ask_too(&home, agent, "Delete the cache?", Some(CONFIRM)));
    let browser = sign_in(&home, DESKTOP);
    browser.script(&format!("location.hash = '#/agent/{}'", agents[0]));
    browser.sees(".once-count", "Your answer goes to both agents.");
    let late = ask_too(&home, &agents[2], "Delete the cache?", Some(CONFIRM));
    browser.sees(
        ".once-count",
        "Your answer goes to 2 of 3 agents. The others stay open.",
    );
    browser.press("y");
    for asking in early {
        assert!(asking.finish().expect(0).stdout.starts_with("Yes\n"));
    }
    assert!(late.is_running());
}

#[test]
fn an_answer_under_way_goes_to_nobody_who_asks_something_else() {
    let home = Home::new();
    let (agent, other) = (join_in(&home, "shop"), join_in(&home, "docs"));
    let (first, _) = home.ask(&agent, "Delete the cache?", Some(CONFIRM));
    let (second, _) = home.ask(&agent, "Delete the database?", Some(CONFIRM));
    let twin = ask_too(&home, &other, "Delete the database?", Some(CONFIRM));
    let browser = sign_in(&home, DESKTOP);
    browser.script(&format!("location.hash = '#/agent/{agent}'"));
    browser.sees(".answering .for", "Delete the cache?");
    // The answer is on its way for as long as it takes the human to open the other question.
    browser.script("const send = window.fetch; window.fetch = (url, how) => (String(url).endsWith('/answer') && !window.isFree ? new Promise((done) => (window.free = () => ((window.isFree = true), done(send(url, how))))) : send(url, how))");
    browser.press("y");
    browser.until("return Boolean(window.free)");
    browser.press("]");
    browser.sees(".answering .for", "Delete the database?");
    browser.sees(".once-count", "Your answer goes to both agents.");
    browser.script("window.free()");
    first.finish().expect(0);
    browser.sees(".reply .delivery", "Received");
    assert!(second.is_running() && twin.is_running());
    browser.until(&format!(
        "return fetch('/api/v1/agents/{other}').then((answer) => answer.json()).then((agent) => agent.open[0].decided_at === null)"
    ));
}

#[test]
fn a_question_that_names_files_is_another_one_in_another_project() {
    let home = Home::new();
    let agents = [
        join_in(&home, "shop"),
        join_in(&home, "shop"),
        join_in(&home, "docs"),
    ];
    let question = "The change is in `change.patch`. Merge it?";
    // Each project has a patch of its own, or none.
    let patch = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n";
    std::fs::write(home.scratch().join("docs/change.patch"), patch).unwrap();
    let [first, second, elsewhere] = agents
        .each_ref()
        .map(|agent| ask_too(&home, agent, question, Some(CONFIRM)));
    let browser = sign_in(&home, DESKTOP);
    browser.script(&format!("location.hash = '#/agent/{}'", agents[0]));
    browser.sees(".once-count", "Your answer goes to both agents.");
    browser.press("y");
    for asking in [first, second] {
        assert!(asking.finish().expect(0).stdout.starts_with("Yes\n"));
    }
    assert!(elsewhere.is_running());
}

#[test]
fn a_yes_waits_until_the_files_of_the_question_were_seen() {
    let home = Home::new();
    let agent = join_in(&home, "shop");
    let patch = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n";
    std::fs::write(home.scratch().join("shop/change.patch"), patch).unwrap();
    let (asking, _) = home.ask(&agent, "Merge `change.patch`?", Some(CONFIRM));
    let browser = sign_in(&home, DESKTOP);
    browser.script("const send = window.fetch; window.fetch = (url, how) => (/\\/files\\/\\d+$/.test(url) ? new Promise((done) => (window.free = () => done(send(url, how)))) : send(url, how))");
    browser.script(&format!("location.hash = '#/agent/{agent}'"));
    browser.sees(".unseen", "A file in the question is not shown yet.");
    browser.press("y");
    browser.click("[data-confirm=true]");
    browser.until("return Boolean(window.free)");
    assert!(asking.is_running());
    assert_eq!(browser.count(".toast"), 0);
    browser.script("window.free()");
    browser.sees(".diff-line.add", "new");
    browser.misses(".unseen");
    browser.press("y");
    assert!(asking.finish().expect(0).stdout.starts_with("Yes\n"));
}
