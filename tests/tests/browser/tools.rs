//! The tools of the inbox: palette, snooze, unread, several at once, the width of the list.

use serde_json::json;

use crate::driver::{Browser, DESKTOP, key, sign_in};
use cueme_tests::Home;

fn palette(browser: &Browser, words: &str) {
    browser.press(&format!("{}k{}", key::CONTROL, key::RELEASE));
    browser.until("return document.activeElement.matches('.palette-input')");
    browser.press(words);
}

#[test]
fn the_palette_is_loaded_when_it_is_opened_and_runs_commands_and_goes_to_questions() {
    let home = Home::new();
    let (first, second) = (home.join_as("terminal"), home.join_as("terminal"));
    let (_one, _) = home.ask(&first, "The zebra question", None);
    let (_two, _) = home.ask(&second, "The giraffe question", None);
    let browser = sign_in(&home, DESKTOP);
    assert_eq!(
        browser.script("return performance.getEntriesByType('resource').filter((entry) => entry.name.includes('tools')).length"),
        json!(0)
    );
    palette(&browser, "giraffe");
    browser.until("return document.querySelectorAll('.palette-item').length === 1");
    browser.press(key::ENTER);
    browser.sees(".answering .prose", "The giraffe question");
    palette(&browser, &format!("keyb{}", key::ENTER));
    browser.sees("dialog h2", "Keyboard");
    browser.press(key::ESCAPE);
    browser.misses("dialog");
    palette(&browser, "runtime:terminal");
    browser.until("return document.querySelectorAll('.palette-item').length === 2");
    browser.press(&format!("{}{}", key::DOWN, key::ENTER));
    browser.misses("dialog");
    palette(&browser, &format!("decline{}", key::ENTER));
    browser.sees("dialog h2", "Decline the question");
}

#[test]
fn a_snoozed_question_waits_apart_until_its_time_or_until_its_agent_asks_again() {
    let home = Home::new();
    let agent = home.join();
    let (_first, _) = home.ask(&agent, "Not now?", None);
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    browser.sees(".answering .for", "Not now?");
    browser.press("s");
    browser.sees("dialog h2", "Snooze until");
    browser.script("[...document.querySelectorAll('dialog .button')].find((button) => button.innerText.startsWith('Tomorrow')).click()");
    browser.sees("[data-state=snoozed] .row-text", "Not now?");
    browser.sees(".group-name", "Snoozed");
    browser.until("return document.title === 'cueme'");
    browser.reload();
    browser.sees("[data-state=snoozed] .row-text", "Not now?");
    browser.click_text(".row-name", &agent);
    browser.sees(".answering .for", "Not now?");
    browser.click(".snooze-button");
    browser.click_text("dialog .button", "Bring back now");
    browser.sees("[data-state=waiting] .row-text", "Not now?");
    browser.click(".snooze-button");
    browser.click_text("dialog .button", "The agent’s next question");
    browser.sees("[data-state=snoozed] .row-text", "Not now?");
    let (_second, _) = home.ask(&agent, "And now?", None);
    browser.sees("[data-state=waiting] .row-text", "Not now?");
}

#[test]
fn a_question_is_marked_unread_again() {
    let home = Home::new();
    let agent = home.join();
    let (_asking, _) = home.ask(&agent, "Read me", None);
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    browser.misses(".row-item.unread");
    browser.sees(".answering .for", "Read me");
    browser.press(&format!("{}U{}", key::SHIFT, key::RELEASE));
    browser.sees(".row-item.unread", "Read me");
    browser.reload();
    browser.sees(".row-item.unread", "Read me");
}

#[test]
fn several_questions_get_the_same_answer_and_each_failure_is_told() {
    let home = Home::new();
    let agents = [home.join(), home.join(), home.join()];
    let (first, _) = home.ask(&agents[0], "Go on? one", None);
    let (second, cue) = home.ask(&agents[1], "Go on? two", None);
    let (third, _) = home.ask(&agents[2], "Go on? three", None);
    let browser = sign_in(&home, DESKTOP);
    browser.press("x");
    for question in ["Go on? one", "Go on? two"] {
        browser.click_text("dialog .pick .pick-text", question);
    }
    browser.sees("dialog .button", "Send to 2");
    // Somebody answers one of them in a terminal meanwhile.
    home.run(&["answer", &cue, "by hand"]).expect(0);
    assert!(second.finish().expect(0).stdout.starts_with("by hand\n"));
    browser.write("dialog textarea", "yes, all of you");
    browser.click("dialog .primary");
    assert!(first.finish().expect(0).stdout.starts_with("yes, all of you\n"));
    browser.sees("dialog .field-error", &agents[1]);
    assert!(third.is_running());
}

#[test]
fn the_list_is_made_wider_by_keys_and_stays_so() {
    let home = Home::new();
    let _agent = home.join();
    let browser = sign_in(&home, DESKTOP);
    let width = "return document.querySelector('.inbox').offsetWidth";
    let before = browser.script(width).as_u64().unwrap();
    browser.script("document.querySelector('.resize').focus()");
    for _ in 0..3 {
        browser.press("\u{e014}");
    }
    browser.until(&format!(
        "return document.querySelector('.inbox').offsetWidth === {}",
        before + 48
    ));
    browser.reload();
    assert_eq!(browser.script(width), json!(before + 48));
}

#[test]
fn saved_replies_stand_in_the_order_of_their_use() {
    let home = Home::new();
    let agent = home.join();
    let (first, _) = home.ask(&agent, "One?", None);
    let browser = sign_in(&home, DESKTOP);
    let chips = "return [...document.querySelectorAll('.quick .chip')].map((chip) => chip.innerText)";
    browser.click_text(".row-name", &agent);
    browser.sees(".answering .for", "One?");
    let before = browser.script(chips);
    assert_eq!(before[0], "Continue");
    browser.click_text(".quick .chip", "Stop here");
    browser.click(".send");
    assert!(first.finish().expect(0).stdout.starts_with("Stop here\n"));
    let (_second, _) = home.ask(&agent, "Two?", None);
    browser.sees(".answering .for", "Two?");
    assert_eq!(browser.script(chips)[0], "Stop here");
    browser.reload();
    browser.sees(".answering .for", "Two?");
    assert_eq!(
        browser.script(chips),
        json!(["Stop here", "Continue", "Looks good, go on", "Explain first"])
    );
}

#[test]
fn a_switch_replies_to_one_agent_within_limits_that_are_in_sight() {
    let home = Home::new();
    let (agent, other) = (home.join(), home.join());
    let browser = sign_in(&home, (1440, 900));
    browser.click_text(".row-name", &agent);
    browser.sees(
        ".auto-reply",
        "Plain questions only, at most 3 in a row, for 8 hours. Never approvals.",
    );
    browser.click(".auto-reply .switch");
    browser.sees(".auto-reply", "at most 3 in a row, until");
    for number in 0..3 {
        let asking = home.start_cue(&agent, &format!("Step {number}?"), None);
        assert!(asking.finish().expect(0).stdout.starts_with("Continue\n"));
    }
    // The fourth is a human's, and so is every question of another agent, and every choice.
    let (fourth, _) = home.ask(&agent, "Step 4?", None);
    let (others, _) = home.ask(&other, "Mine?", None);
    browser.sees(".answering .delivery", "leaves this to you");
    assert!(fourth.is_running() && others.is_running());
    browser.click(".auto-reply .switch");
    browser.sees(".auto-reply", "for 8 hours");
    browser.until("return fetch('/api/v1/policies').then((answer) => answer.json()).then(({ policies }) => policies.length === 0)");
}
