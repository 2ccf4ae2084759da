//! Rules are made, tried, changed and ended in the page.

use serde_json::json;

use crate::driver::{Browser, DESKTOP, PHONE, key, sign_in};
use cueme_tests::Home;

fn set(browser: &Browser, label: &str, value: &str) {
    browser.until(&format!(
        "const label = [...document.querySelectorAll('.rule-form .field-label')].find((one) => one.innerText === {}); if (!label) return false; const input = document.getElementById(label.htmlFor); input.value = {}; input.dispatchEvent(new Event('input', {{ bubbles: true }})); return true",
        json!(label),
        json!(value)
    ));
}

#[test]
fn a_rule_is_tried_on_the_past_made_changed_and_ended() {
    for size in [DESKTOP, PHONE] {
        let home = Home::new();
        let agent = home.join();
        home.ask_and_answer(&agent, "Step 1 done. Next?", None, &["Continue."]);
        home.ask_and_answer(&agent, "Step 2 done. Next?", None, &["stop here"]);
        home.ask_and_answer(&agent, "Which colour?", None, &["blue"]);
        let browser = sign_in(&home, size);
        browser.click("[aria-label=Settings]");
        browser.click_text("dialog .button", "New rule");
        browser.sees("dialog h2", "New rule");
        set(&browser, "and says", "Step * done. Next?");
        set(&browser, "Answer", "Continue.");
        browser.sees(".trial-head", "Would have answered 2 of the last 3");
        browser.sees(".trial-head", "1 as you did, 1 differently");
        browser.sees(".trial-list [data-agrees=false]", "you said “stop here”");
        browser.click_text("dialog .button.primary", "Turn the rule on");
        browser.misses(".rule-form");
        browser.sees(".card", "says “Step * done. Next?”");
        browser.press(key::ESCAPE);
        browser.misses("dialog");
        let answered = home.start_cue(&agent, "Step 3 done. Next?", None).finish();
        assert!(answered.expect(0).stdout.starts_with("Continue.\n"));
        browser.click("[aria-label=Settings]");
        browser.sees(".card", "1 answer so far, at most 3 in a row");
        browser.click_text(".card .text-button", "Change rule");
        set(&browser, "Answer", "Go on.");
        browser.click_text("dialog .button.primary", "Save");
        browser.sees(".card", "Go on.");
        browser.click_text(".card .text-button", "End now");
        browser.sees(".settings-section", "No rules. A rule answers questions for you");
        browser.press(key::ESCAPE);
        let (open, _) = home.ask(&agent, "Step 4 done. Next?", None);
        assert!(open.is_running());
    }
}

#[test]
fn an_earlier_answer_becomes_a_rule_only_when_somebody_turns_it_on() {
    let home = Home::new();
    let agent = home.join();
    let confirm = r#"{"type":"confirm","confirm_label":"Merge","cancel_label":"Not yet"}"#;
    home.ask_and_answer(
        &agent,
        "Tests pass. Merge **all** of it?",
        Some(confirm),
        &["--confirm"],
    );
    let (asking, _) = home.ask(&agent, "Tests pass. Merge **all** of it?", Some(confirm));
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    browser.sees(".precedent", "You answered this before");
    browser.click_text(".precedent .text-button", "Make a rule…");
    browser.sees(".trial-head", "Would have answered 2 of the last 2");
    browser.press(key::ESCAPE);
    browser.misses("dialog");
    assert_eq!(
        browser.script("return fetch('/api/v1/policies').then((answer) => answer.json()).then(({ policies }) => policies.length)"),
        json!(0)
    );
    browser.click_text(".precedent .text-button", "Make a rule…");
    browser.sees(".trial-head", "Would have answered 2 of the last 2");
    browser.click_text("dialog .button.primary", "Turn the rule on");
    browser.misses("dialog");
    // It is for questions that come; this one is on screen.
    assert!(asking.is_running());
    browser.click("[data-confirm=false]");
    assert!(asking.finish().expect(0).stdout.starts_with("Not yet\n"));
    let next = home
        .start_cue(&agent, "Tests pass. Merge **all** of it?", Some(confirm))
        .finish();
    assert!(next.expect(0).stdout.starts_with("Merge\n"));
    let (other, _) = home.ask(&agent, "Tests pass. Merge nearly all of it?", Some(confirm));
    assert!(other.is_running());
}

#[test]
fn a_trial_that_comes_late_does_not_replace_a_newer_one() {
    let home = Home::new();
    let agent = home.join();
    home.ask_and_answer(&agent, "Alpha?", None, &["yes"]);
    let browser = sign_in(&home, DESKTOP);
    browser.script("const send = window.fetch; window.fetch = async (url, how) => { const answer = await send(url, how); if (!String(url).endsWith('/rule-trials') || !how.body.includes('Alpha')) return answer; return new Promise((done) => (window.free = () => done(answer))); }");
    browser.press(",");
    browser.click_text("dialog .button", "New rule");
    browser.sees(".rule-form", "");
    let says = |words: &str| {
        browser.script(&format!("const [says, answer] = document.querySelectorAll('.rule-form textarea'); answer.value = 'yes'; says.value = '{words}'; says.dispatchEvent(new Event('input', {{ bubbles: true }}))"));
    };
    says("Alpha?");
    browser.until("return Boolean(window.free)");
    says("Beta?");
    browser.sees(".trial", "Would have answered 0 of the last 1");
    browser.script("window.free(); return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))");
    browser.sees(".trial", "Would have answered 0 of the last 1");
}
