//! An earlier answer to a question like this one is offered with one key, and sent only when somebody says so.

use crate::driver::{DESKTOP, sign_in};
use cueme_tests::Home;

const CHOICE: &str = r#"{"type":"choice","options":["SQLite","PostgreSQL"]}"#;

#[test]
fn an_earlier_answer_is_given_again_by_one_key_and_can_be_taken_back() {
    let home = Home::new();
    let (first, second) = (home.join(), home.join());
    home.ask_and_answer(
        &first,
        "Which database do the tests of version 1 use?",
        Some(CHOICE),
        &["--select", "SQLite"],
    );
    let (asking, _) = home.ask(
        &second,
        "Which database do the tests of version 2 use?",
        Some(CHOICE),
    );
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &second);
    browser.sees(".precedent", "You answered a question like this before");
    browser.sees(".precedent-asked", "version 1");
    browser.sees(".precedent-said", "SQLite");
    // Nothing is sent over what somebody writes.
    browser.write(".composer-text", "let me think");
    browser.click(".precedent .button");
    browser.sees(".toast[data-tone=bad]", "written something else");
    assert!(asking.is_running());
    browser.script("const area = document.querySelector('.composer-text'); area.value = ''; area.dispatchEvent(new Event('input', { bubbles: true })); area.blur()");
    browser.press("a");
    browser.sees(".toast", "Undo");
    browser.press("u");
    browser.sees(".precedent-said", "SQLite");
    browser.until("return document.querySelector('.options input:checked') !== null");
    assert!(asking.is_running());
    browser.script("document.querySelector('.options input:checked').click()");
    browser.script("document.querySelector('.options input:checked').checked = false; document.querySelector('.options input').dispatchEvent(new Event('change', { bubbles: true })); const area = document.querySelector('.composer-text'); area.value = ''; area.dispatchEvent(new Event('input', { bubbles: true }))");
    browser.click(".precedent .button");
    assert!(asking.finish().expect(0).stdout.starts_with("SQLite\n"));
}

#[test]
fn a_question_without_precedent_loads_nothing_for_it() {
    let home = Home::new();
    let agent = home.join();
    let (_asking, _) = home.ask(&agent, "Never asked before?", None);
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    browser.sees(".answering .for", "Never asked before?");
    browser.until("return document.querySelector('.precedent') === null && !performance.getEntriesByType('resource').some((entry) => entry.name.includes('/aids'))");
}
