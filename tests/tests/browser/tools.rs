//! The tools of the inbox: palette, snooze, unread, several at once, the width of the list.

use serde_json::json;

use crate::driver::{Browser, DESKTOP, PHONE, key, sign_in};
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
    // A moment that is over is refused with words.
    browser.script("document.querySelector('dialog [type=datetime-local]').value = '2001-01-01T10:00'");
    browser.click_text("dialog .button", "Set");
    browser.sees("dialog .field-error", "Choose a time in the future.");
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
fn a_finger_opens_the_palette_and_archives_several_quiet_agents() {
    let home = Home::new();
    let quiet = [home.join(), home.join(), home.join()];
    let asking = home.join();
    let (_asking, _) = home.ask(&asking, "Go on?", None);
    let browser = sign_in(&home, PHONE);
    browser.click("[aria-label='Search or run a command']");
    browser.sees(".palette-item", "Newest first");
    browser.sees(".palette-item", "Rules");
    browser.click_text(".palette-item bdi", "Select multiple");
    browser.sees("dialog .pick", "Open");
    browser.sees("dialog .pick-text", "Go on?");
    browser.click_text("dialog .pick", "Idle");
    browser.sees("dialog .button:not(:disabled)", "Archive 3");
    assert_eq!(browser.count("dialog .button:disabled"), 2);
    browser.click_text("dialog .button", "Archive 3");
    browser.sees(".toast", "3 done");
    browser.misses("dialog");
    browser.until("return document.querySelectorAll('.row').length === 1");
    let listed = home.run(&["agents", "--json"]).expect(0).json();
    let is_listed = |agent: &String| {
        listed
            .as_array()
            .unwrap()
            .iter()
            .any(|entry| entry["agent_id"] == agent.as_str())
    };
    assert!(is_listed(&asking) && !quiet.iter().any(is_listed), "{listed}");
}

#[test]
fn the_palette_names_a_few_questions_before_the_commands_of_the_inbox() {
    let home = Home::new();
    let agents = (0..12).map(|_| home.join()).collect::<Vec<_>>();
    let browser = sign_in(&home, PHONE);
    browser.until("return document.querySelectorAll('.row').length === 12");
    browser.click("[aria-label='Search or run a command']");
    browser.sees(".palette-item", "Select multiple");
    browser.until("return document.querySelectorAll('.palette-item').length < 18");
    browser.press("runtime:");
    browser.until("return document.querySelectorAll('.palette-item').length === 12");
    drop(agents);
}

#[test]
fn a_pointer_marks_a_question_unread() {
    for size in [DESKTOP, PHONE] {
        let home = Home::new();
        let agent = home.join();
        let (_asking, _) = home.ask(&agent, "Read me", None);
        let browser = sign_in(&home, size);
        browser.click_text(".row-name", &agent);
        browser.sees(".answering .for", "Read me");
        browser.misses(".row-item.unread");
        if browser.script("return document.querySelector('.more-button').checkVisibility()") == json!(true) {
            browser.click(".more-button");
        }
        browser.click_text(".rail .text-button", "Mark unread");
        browser.sees(".row-item.unread", "Read me");
    }
}

#[test]
fn several_questions_are_declined_with_one_reason() {
    let home = Home::new();
    let agents = [home.join(), home.join(), home.join()];
    let (first, _) = home.ask(&agents[0], "May I? one", None);
    let (second, _) = home.ask(&agents[1], "May I? two", None);
    let browser = sign_in(&home, DESKTOP);
    browser.press("x");
    browser.click_text("dialog .pick", "Open");
    browser.click_text("dialog .pick", "Idle");
    // The agent that asks nothing can be archived, and gets no answer.
    browser.sees("dialog .button", "Archive 3");
    browser.sees("dialog .button", "Decline 2");
    browser.write("dialog textarea", "not on a Friday");
    browser.click_text("dialog .button", "Decline 2");
    for asking in [first, second] {
        let told = asking.finish().expect(0).stdout;
        assert!(told.starts_with("declined: not on a Friday\n"), "{told}");
    }
    browser.misses("dialog");
}

fn send_by_key(browser: &Browser) {
    browser.press(&format!("{}{}{}", key::CONTROL, key::ENTER, key::RELEASE));
}

#[test]
fn control_and_enter_send_from_a_dialog_when_there_is_something_to_send() {
    let home = Home::new();
    let agents = [home.join(), home.join()];
    let (asking, _) = home.ask(&agents[0], "Go on?", None);
    let browser = sign_in(&home, DESKTOP);
    let sends = |is_ready: bool| {
        browser.until(&format!(
            "const buttons = [...document.querySelectorAll('dialog:last-of-type .dialog-actions .primary')]; return buttons.length === 1 && buttons[0].disabled === {}",
            !is_ready
        ));
    };
    browser.press("m");
    browser.sees("dialog h2", "Message several agents");
    sends(false);
    browser.write("dialog textarea", "stop touching main");
    sends(false);
    send_by_key(&browser);
    browser.click_text("dialog .chip", "Everyone");
    sends(true);
    browser.script("document.querySelector('dialog textarea').focus()");
    // An input method that composes has the key for itself.
    browser.script("document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', ctrlKey: true, bubbles: true, keyCode: 229 }))");
    browser.sees("dialog h2", "Message several agents");
    send_by_key(&browser);
    browser.sees(".toast", "Queued for 2 agents");
    browser.misses("dialog");
    browser.press("x");
    sends(false);
    browser.click_text("dialog .pick-text", "Go on?");
    sends(false);
    browser.write("dialog textarea", "yes");
    sends(true);
    send_by_key(&browser);
    assert!(asking.finish().expect(0).stdout.contains("yes"));
    browser.misses("dialog");
    browser.press(",");
    browser.click_text("dialog .button", "New rule");
    sends(false);
    browser.sees("dialog .trial", "Enter an answer.");
    browser.script("for (const [at, text] of ['Step * done.', 'Go on.'].entries()) { const area = document.querySelectorAll('.rule-form textarea')[at]; area.value = text; area.dispatchEvent(new Event('input', { bubbles: true })); area.focus(); }");
    sends(true);
    send_by_key(&browser);
    browser.misses(".rule-form");
    browser.sees(".card", "Go on.");
    browser.click("dialog [aria-label=Rename]");
    browser.write("dialog:last-of-type input", " two");
    send_by_key(&browser);
    browser.sees("dialog .card", "two");
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

#[test]
fn a_switch_that_failed_shows_what_is_true() {
    let home = Home::new();
    let agent = home.join();
    let browser = sign_in(&home, (1440, 900));
    browser.click_text(".row-name", &agent);
    browser.click(".auto-reply .switch");
    browser.sees(".auto-reply", "at most 3 in a row, until");
    browser.script("const send = window.fetch; window.fetch = (url, how) => (how?.method === 'DELETE' ? Promise.reject(new TypeError('lost')) : send(url, how))");
    browser.click(".auto-reply .switch");
    browser.sees(".toast[data-tone=bad]", "Something went wrong");
    browser.until("return document.querySelector('.auto-reply .switch').checked");
}

#[test]
fn a_wide_list_leaves_room_for_the_question_in_a_narrow_window() {
    let home = Home::new();
    let _agent = home.join();
    let browser = sign_in(&home, (800, 900));
    browser.script("localStorage.setItem('cueme.list-width', '640')");
    browser.reload();
    browser.until("return document.querySelector('.inbox').offsetWidth <= 360");
}

#[test]
fn back_closes_a_dialog_that_the_palette_opened_and_nothing_else() {
    let home = Home::new();
    let agent = home.join();
    let (_asking, _) = home.ask(&agent, "Still here?", None);
    let browser = sign_in(&home, PHONE);
    browser.click("[aria-label='Search or run a command']");
    browser.until("return document.activeElement.matches('.palette-input')");
    // A question that the palette goes to stays, too.
    browser.press(&format!("still{}", key::ENTER));
    browser.sees(".answering .prose", "Still here?");
    browser.until(
        "return new Promise((done) => setTimeout(() => done(location.hash.startsWith('#/agent/')), 300))",
    );
    palette(&browser, &format!("settings{}", key::ENTER));
    browser.sees("dialog h2", "Settings");
    browser.until("return new Promise((done) => setTimeout(() => done(document.querySelector('dialog[open] h2')?.innerText === 'Settings'), 300))");
    browser.script("history.back()");
    browser.misses("dialog");
    browser.sees(".answering .prose", "Still here?");
}

#[test]
fn an_input_method_has_its_keys_for_itself_in_palette_and_search() {
    let home = Home::new();
    let agent = home.join();
    let (_asking, _) = home.ask(&agent, "Still here?", None);
    let browser = sign_in(&home, DESKTOP);
    let compose = |key: &str| {
        browser.script(&format!("document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {{ key: '{key}', keyCode: 229, bubbles: true, cancelable: true }}))"));
    };
    palette(&browser, "settings");
    compose("Enter");
    assert_eq!(browser.count("dialog.palette[open]"), 1);
    browser.press(key::ESCAPE);
    browser.misses("dialog");
    browser.write("#search", "still");
    compose("Escape");
    assert_eq!(browser.value("#search"), "still");
}

#[test]
fn the_palette_copies_without_https_and_tells_the_truth_about_it() {
    let home = Home::new();
    let agent = home.join();
    let (_asking, _) = home.ask(&agent, "Copy **me**", None);
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    browser.sees(".answering .for", "Copy me");
    browser.script("Object.defineProperty(navigator, 'clipboard', { value: undefined }); document.execCommand = () => { window.copied = document.activeElement.value; return true; }");
    palette(&browser, &format!("copy the{}", key::ENTER));
    browser.sees(".toast", "Copied");
    assert_eq!(browser.script("return window.copied"), json!("Copy **me**"));
    browser.script("document.execCommand = () => false");
    palette(&browser, &format!("copy the{}", key::ENTER));
    browser.sees(".toast[data-tone=bad]", "Could not copy");
}

#[test]
fn several_answers_are_taken_back_together_and_their_words_survive_a_second_thought() {
    let home = Home::new();
    let agents = [home.join(), home.join()];
    let (first, _) = home.ask(&agents[0], "Go on? one", None);
    let (second, _) = home.ask(&agents[1], "Go on? two", None);
    let browser = sign_in(&home, DESKTOP);
    browser.press("x");
    browser.write("dialog textarea", "yes, both of you");
    browser.press(key::ESCAPE);
    browser.misses("dialog");
    browser.press("x");
    browser.sees("dialog .pick", "Open");
    assert_eq!(browser.value("dialog textarea"), "yes, both of you");
    browser.click_text("dialog .pick", "Open");
    browser.click("dialog .primary");
    browser.sees(".toast", "Sending to 2 agents");
    browser.misses("dialog");
    browser.press("u");
    browser.misses(".toast [type=button]");
    browser.until("return document.querySelectorAll('[data-state=waiting] > .row').length === 2");
    assert!(first.is_running() && second.is_running());
    browser.press("x");
    browser.sees("dialog .pick", "Open");
    assert_eq!(browser.value("dialog textarea"), "");
    browser.click_text("dialog .pick", "Open");
    browser.click_text("dialog .button", "Decline 2");
    browser.sees(".toast", "Declined 2 questions");
    for asking in [first, second] {
        assert!(asking.finish().expect(0).stdout.starts_with("declined"));
    }
}

#[test]
fn the_palette_puts_what_is_called_so_first_and_says_how_much_is_left_out() {
    let home = Home::new();
    let agents = (0..45).map(|_| home.join()).collect::<Vec<_>>();
    let (_asking, _) = home.ask(&agents[0], "Which?", None);
    let browser = sign_in(&home, DESKTOP);
    browser.until("return document.querySelectorAll('.row').length === 45");
    // Every agent lives in a folder with this letter.
    palette(&browser, "t");
    browser.sees(".palette-item", "Settings");
    browser.sees(".palette-list", "more");
    browser.press("\u{e003}longest");
    browser.sees(".palette-item", "Longest wait");
    browser.press(key::ENTER);
    browser.sees(".answering .prose", "Which?");
}

#[test]
fn the_focus_stays_with_a_message_that_is_moved() {
    let home = Home::new();
    let agent = home.join();
    for note in ["one", "two", "three"] {
        home.run(&["say", &agent, note]).expect(0);
    }
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    browser.until("return document.querySelectorAll('.queue-item').length === 3");
    browser.script("document.querySelector('.queue-item [aria-label=\"Move down\"]').focus()");
    browser.press(key::ENTER);
    browser.until("return [...document.querySelectorAll('.queue-text')].map((text) => text.innerText).join() === 'two,one,three'");
    browser.until("return document.activeElement.ariaLabel === 'Move down' && document.activeElement.closest('.queue-item').innerText.includes('one')");
    // It is the last one now: the way up is left.
    browser.press(key::ENTER);
    browser.until("return document.activeElement.ariaLabel === 'Move up' && document.activeElement.closest('.queue-item').innerText.includes('one')");
}
