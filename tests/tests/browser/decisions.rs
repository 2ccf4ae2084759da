//! One row for each decision, and the answer inside of its question: by mouse and by keys alone.

use serde_json::json;

use crate::driver::{Browser, DESKTOP, PHONE, key, sign_in};
use cueme_tests::Home;

const TEXT: &str = ".composer-text";
const CONFIRM: &str = r#"{"type":"confirm","confirm_label":"Merge","cancel_label":"Not yet"}"#;

/// Joins an agent that works in a project of this name.
fn join_in(home: &Home, project: &str) -> String {
    let directory = home.path().join("code/deep/below").join(project);
    std::fs::create_dir_all(&directory).unwrap();
    let joined = home
        .command(&["join", "claude_code"])
        .current_dir(directory)
        .output()
        .unwrap();
    let told = String::from_utf8(joined.stdout).unwrap();
    told.lines()
        .find_map(|line| line.strip_prefix("agent_id="))
        .unwrap()
        .to_owned()
}

fn control_enter(browser: &Browser) {
    browser.press(&format!("{}{}{}", key::CONTROL, key::ENTER, key::RELEASE));
}

/// Waits until the composer answers the question that begins so.
fn answers(browser: &Browser, beginning: &str) {
    browser.sees(".entry.answering .for", beginning);
    browser.misses(".answering [aria-disabled=true]");
}

#[test]
fn rows_are_decisions_in_groups_by_project_and_the_choice_is_remembered() {
    let home = Home::new();
    let (shop, infra) = (join_in(&home, "shop"), join_in(&home, "infra"));
    let (_first, _) = home.ask(&shop, "## Which **database**?", None);
    let (_second, _) = home.ask(&infra, "Roll the replica?", Some(CONFIRM));
    let (_third, _) = home.ask(&shop, "And the cache?", None);
    let browser = sign_in(&home, DESKTOP);
    browser.until("return document.querySelectorAll('.row').length === 3");
    let groups = "return [...document.querySelectorAll('.groups > .group')].map((group) => [group.querySelector('.group-name').innerText, ...[...group.querySelectorAll('.row-text')].map((text) => text.innerText)])";
    // The longest wait is first, of groups and of rows.
    assert_eq!(
        browser.script(groups),
        json!([
            ["shop", "Which database?", "And the cache?"],
            ["infra", "Roll the replica?"]
        ])
    );
    browser.sees(".group-path", "/…/below");
    browser.sees(".row-sub", "Yes or no");
    browser.sees(".row-sub", "Claude Code");
    // The page shows the number of waiting questions in one place only.
    assert_eq!(browser.text("[data-filter=waiting] .chip-count"), "3");
    assert_eq!(
        browser.script("return document.querySelector('.inbox-summary').getBoundingClientRect().width"),
        json!(1)
    );
    browser.click("[aria-label=View]");
    browser.click_text("dialog .line span", "Group by project");
    browser.press(key::ESCAPE);
    browser.until("return [...document.querySelectorAll('.group-name')].map((name) => name.innerText).join() === 'Waiting for you'");
    browser.reload();
    browser.sees(".group-name", "Waiting for you");
    browser.sees(".row-place", "shop");
}

#[test]
fn the_answer_is_inside_the_question_it_answers_and_another_open_one_is_a_card() {
    let home = Home::new();
    let agent = home.join();
    let (first, _) = home.ask(&agent, "First of two?", None);
    let (second, _) = home.ask(&agent, "Second of two?", None);
    for size in [DESKTOP, PHONE] {
        let browser = sign_in(&home, size);
        browser.click_text(".row-text", "First of two?");
        answers(&browser, "First of two?");
        browser.sees(".for", "2 open here");
        assert_eq!(browser.count(".entry.answering .composer"), 1);
        assert_eq!(browser.count(".composer"), 1);
        assert_eq!(browser.count(".button.primary"), 1);
        browser.sees(".entry:not(.answering)", "Second of two?");
        browser.until("const box = document.querySelector('.answering .composer').getBoundingClientRect(); return box.top > 0 && box.bottom <= innerHeight");
    }
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-text", "Second of two?");
    answers(&browser, "Second of two?");
    browser.sees(".row[data-current] .row-text", "Second of two?");
    browser.press("]");
    answers(&browser, "First of two?");
    browser.sees(".row[data-current] .row-text", "First of two?");
    browser.click_text(".answer-this", "Answer this");
    answers(&browser, "Second of two?");
    browser.write(TEXT, &format!("two{}", key::ENTER));
    assert!(second.finish().expect(0).stdout.starts_with("two\n"));
    answers(&browser, "First of two?");
    browser.write(TEXT, &format!("one{}", key::ENTER));
    assert!(first.finish().expect(0).stdout.starts_with("one\n"));
}

#[test]
fn yes_and_no_are_single_keys_and_pause_goes_on_with_control_enter() {
    let home = Home::new();
    let agent = home.join();
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    for (pressed, answer) in [("y", "Merge\n"), ("n", "Not yet\n")] {
        let (asking, _) = home.ask(&agent, &format!("Merge it? {pressed}"), Some(CONFIRM));
        answers(&browser, &format!("Merge it? {pressed}"));
        browser.sees(".confirm-buttons kbd", &pressed.to_uppercase());
        browser.press(pressed);
        assert!(asking.finish().expect(0).stdout.starts_with(answer), "{pressed}");
        browser.sees(".entry .picked", answer.trim());
        browser.misses(".entry[data-outcome=open]");
    }
    let pausing = home.start_with(&["pause", &agent, "Look at the plan"], "");
    answers(&browser, "Look at the plan");
    control_enter(&browser);
    assert!(pausing.finish().expect(0).stdout.starts_with("Continue\n"));
}

#[test]
fn a_form_is_filled_by_keys_and_the_past_shows_what_was_chosen_and_not_how_it_was_sent() {
    let home = Home::new();
    let agent = home.join();
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    let form =
        r#"{"type":"form","fields":[{"label":"Name","required":true},{"label":"Loud","kind":"boolean"}]}"#;
    let (asking, _) = home.ask(&agent, "Which release?", Some(form));
    answers(&browser, "Which release?");
    browser.sees(".for", "1 required field left");
    assert_eq!(
        browser.script("return document.querySelector('.send').disabled"),
        json!(true)
    );
    browser.press(key::ENTER);
    browser.until("return document.activeElement === document.querySelector('.field .input')");
    browser.press("Autumn");
    browser.until("return !document.querySelector('.for').innerText.includes('required field')");
    browser.press(&format!("{}{}", key::TAB, " "));
    browser.press(key::TAB);
    browser.until("return document.activeElement.classList.contains('send')");
    browser.press(key::ENTER);
    let told = asking.finish().expect(0).stdout;
    assert!(told.starts_with("Name: Autumn\nLoud: true\n"), "{told}");
    browser.until(
        "return document.querySelector('.given')?.innerText.replaceAll('\\n', ' ').includes('Loud Yes')",
    );
    // A note, a choice, and files are told as what they are.
    browser.until("return document.querySelector('.composer').dataset.target === 'message'");
    browser.write(TEXT, &format!("mind the tests{}", key::ENTER));
    browser.sees(".queue-item", "mind the tests");
    let choice = r#"{"type":"choice","options":["SQLite","PostgreSQL"]}"#;
    let (asking, _) = home.ask(&agent, "Which database?", Some(choice));
    answers(&browser, "Which database?");
    browser.press(key::ESCAPE);
    browser.press("2");
    control_enter(&browser);
    assert!(
        asking
            .finish()
            .expect(0)
            .stdout
            .contains("[answer]\nPostgreSQL\n")
    );
    browser.sees(".picked", "PostgreSQL");
    browser.sees(".around", "Note mind the tests");
    let (asking, cue) = home.ask(&agent, "Delete main?", None);
    home.run(&["decline", &cue, "never"]).expect(0);
    asking.finish().expect(0);
    browser.sees(".reply .decision", "Declined");
    browser.sees(".reply", "never");
    let shown = browser.text(".entries");
    for machine in ["[note, written", "[answer]", "declined:", "true"] {
        assert!(!shown.contains(machine), "{machine} is in {shown}");
    }
}

#[test]
fn arrow_keys_reach_what_was_found_and_projects_and_runtimes_narrow_a_search() {
    let home = Home::new();
    let (shop, infra) = (join_in(&home, "shop"), join_in(&home, "infra"));
    let (_first, _) = home.ask(&shop, "The zebra question", None);
    let (_second, _) = home.ask(&infra, "The other question", None);
    let browser = sign_in(&home, DESKTOP);
    browser.click("#search");
    browser.write("#search", "project:infra runtime:claude");
    browser.until("return [...document.querySelectorAll('.row-text')].map((text) => text.innerText).join() === 'The other question'");
    // There are no words to look for in questions and answers.
    browser.misses(".results");
    browser.write("#search", " zebra");
    browser.sees(".results", "No question or answer contains “zebra”.");
    browser.press(key::ESCAPE);
    browser.write("#search", "zebra Project:shop");
    browser.sees(".hit mark", "zebra");
    browser.until("return document.querySelectorAll('.hit').length === 1");
    browser.press(key::ESCAPE);
    browser.write("#search", "zebra");
    browser.sees(".hit mark", "zebra");
    browser.press(key::DOWN);
    browser.until("return document.activeElement.matches('.row.hit')");
    browser.press(key::ENTER);
    browser.sees(".entry .prose", "The zebra question");
}

#[test]
fn a_past_question_is_its_headline_and_opens_where_somebody_looks_for_it() {
    for size in [DESKTOP, PHONE] {
        let home = Home::new();
        let agent = home.join();
        let long = format!(
            "Which plan?\n\n{}The last zebra.",
            "One more paragraph.\n\n".repeat(20)
        );
        let choice = r#"{"type":"choice","options":["Slow","Fast"]}"#;
        let height = "document.querySelector('.past .fold-body').getBoundingClientRect().height";
        let is_folded = format!("return document.querySelector('.past .fold') !== null && {height} < 40");
        let is_open = format!("return {height} > 200");
        let (asking, _) = home.ask(&agent, &long, Some(choice));
        let browser = sign_in(&home, size);
        browser.click_text(".row-name", &agent);
        answers(&browser, "Which plan?");
        browser.script("document.querySelectorAll('.option-input')[1].click()");
        browser.click(".send");
        // It folds in front of the human, and unfolds when the answer is taken back.
        browser.until(&is_folded);
        browser.click(".toast .strong");
        answers(&browser, "Which plan?");
        browser.misses(".fold-button");
        assert_eq!(browser.count("[data-folded]"), 0);
        browser.click(".send");
        assert!(asking.finish().expect(0).stdout.contains("Fast"));
        browser.until(&is_folded);
        browser.sees(".past .picked", "Fast");
        browser.until(
            "const past = document.querySelector('.past').getBoundingClientRect(); return past.height < 120",
        );
        browser.click(".fold-button");
        browser.until(&is_open);
        browser.reload();
        browser.until(&is_folded);
        browser.script("location.hash = '#/'");
        browser.write("#search", "zebra");
        browser.sees(".hit mark", "zebra");
        browser.click(".hit");
        browser.until(&is_open);
    }
}
