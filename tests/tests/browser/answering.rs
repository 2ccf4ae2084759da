//! A person answers in the browser while a real `cueme cue` waits and prints it.

use serde_json::json;

use crate::driver::{Browser, DESKTOP, PHONE, key, link, sign_in};
use cueme_tests::{Client, Home, envelope, eventually};

const TEXT: &str = ".composer-text";

/// An agent that waits for an answer, on screen.
fn asked(size: (u32, u32), prompt: &str, payload: Option<&str>) -> (Home, Client, Browser) {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (asking, _cue) = home.ask(&agent, prompt, payload);
    let browser = sign_in(&home, size);
    browser.click_text(".row-name", &agent);
    browser.sees(".entry .prose", prompt);
    browser.sees(".badge", "Waiting");
    (home, asking, browser)
}

#[track_caller]
fn printed(asking: Client, answer: &str) {
    let stdout = asking.finish().expect(0).stdout;
    assert!(
        stdout.starts_with(answer),
        "{stdout:?} does not begin with {answer:?}"
    );
}

#[test]
fn a_text_is_written_with_lines_and_sent_with_enter() {
    let (_home, asking, browser) = asked(DESKTOP, "Which database?", None);
    browser.write(
        TEXT,
        &format!("SQLite{}{}{}for now", key::SHIFT, key::ENTER, key::RELEASE),
    );
    assert_eq!(browser.value(TEXT), "SQLite\nfor now");
    browser.press(key::ENTER);
    browser.sees(".toast", "Undo");
    printed(asking, "SQLite\nfor now\n");
    browser.sees(".reply .delivery", "Received");
}

#[test]
fn enter_that_ends_a_composition_does_not_send() {
    let (_home, asking, browser) = asked(DESKTOP, "用哪个数据库?", None);
    browser.click(TEXT);
    browser.devtools(
        "Input.imeSetComposition",
        json!({"text": "shujuku", "selectionStart": 7, "selectionEnd": 7}),
    );
    let enter = json!({"type": "rawKeyDown", "windowsVirtualKeyCode": 229, "key": "Enter", "code": "Enter"});
    browser.devtools("Input.dispatchKeyEvent", enter);
    browser.devtools("Input.insertText", json!({"text": "数据库"}));
    assert_eq!(browser.value(TEXT), "数据库");
    assert_eq!(browser.count(".toast"), 0);
    browser.press(key::ENTER);
    printed(asking, "数据库\n");
}

#[test]
fn one_option_is_chosen() {
    let payload = r#"{"type":"choice","options":["SQLite","PostgreSQL"]}"#;
    let (_home, asking, browser) = asked(DESKTOP, "Which database?", Some(payload));
    browser.click_text(".option-text", "PostgreSQL");
    browser.click(".send");
    printed(asking, "PostgreSQL\n");
}

#[test]
fn several_options_another_one_and_a_comment_are_chosen_on_a_phone() {
    let payload = r#"{"type":"choice","options":["lint","test","build"],"allow_multiple":true}"#;
    let (_home, asking, browser) = asked(PHONE, "What shall run?", Some(payload));
    browser.click_text(".option-text", "build");
    browser.click_text(".option-text", "lint");
    browser.write(".other-text", "fuzz");
    browser.write(TEXT, "in that order");
    browser.click(".send");
    printed(asking, "lint\nbuild\n\nfuzz\n\nin that order\n");
}

#[test]
fn a_confirm_is_answered_with_the_agents_own_label() {
    let payload =
        r#"{"type":"confirm","text":"Drop it?","confirm_label":"Drop the table","cancel_label":"Keep it"}"#;
    let (_home, asking, browser) = asked(PHONE, "The table is empty.", Some(payload));
    browser.sees(".confirm-text", "Drop it?");
    browser.click_text(".confirm-buttons .button span", "Keep it");
    printed(asking, "Keep it\n");
}

#[test]
fn a_form_takes_each_kind_of_field_and_insists_on_required_ones() {
    let payload = r#"{"type":"form","fields":[
        {"label":"Env","options":["prod","staging"],"required":true},
        {"label":"Regions","options":["eu","us"],"allow_multiple":true},
        {"label":"Replicas","kind":"number","required":true},
        {"label":"Notes","kind":"textarea"},
        {"label":"Migrate","kind":"boolean"},
        {"label":"Token","kind":"password"},
        {"label":"Day","kind":"date"},
        {"label":"Owner"}]}"#;
    let (home, asking, browser) = asked(DESKTOP, "Deploy where?", Some(payload));
    let field = |number: u32, rest: &str| format!(".field:nth-of-type({number}) {rest}");
    browser.click_text(".field .option-text", "us");
    browser.click(".send");
    browser.sees(".field-error", "Required");
    browser.click_text(".field .option-text", "staging");
    browser.write(&field(2, ".other-text"), "asia");
    browser.write(&field(3, "input"), "-1.50");
    browser.write(&field(4, "textarea"), "first\nsecond");
    browser.click_text(".field .option-text", "Yes");
    browser.write(&field(6, "input"), "hunter2");
    browser.script("const day = document.querySelector('input[type=date]'); day.value = '2026-02-28'; day.dispatchEvent(new Event('input', { bubbles: true }))");
    browser.write(&field(8, "input"), "Mia");
    browser.click(".send");
    printed(
        asking,
        "Env: staging\nRegions: us, asia\nReplicas: -1.50\nNotes:\n  first\n  second\nMigrate: true\nToken: hunter2\nDay: 2026-02-28\nOwner: Mia\n",
    );
    browser.sees(".reply", "hidden");
    assert!(!browser.text("body").contains("hunter2"));
    assert!(!home.run(&["history", "--json"]).stdout.contains("hunter2"));
}

#[test]
fn a_pause_is_continued() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let pausing = home.start_with(&["pause", &agent, "Look at the plan first"], "");
    home.wait_for("Look at the plan first", 1);
    let browser = sign_in(&home, PHONE);
    browser.click_text(".row-name", &agent);
    browser.click_text(".confirm .button", "Continue");
    printed(pausing, "Continue\n");
}

#[test]
fn files_are_attached_by_the_button_by_pasting_and_by_dropping() {
    let (home, asking, browser) = asked(DESKTOP, "Show me", None);
    let path = home.path().join("näme & <b>.txt");
    std::fs::write(&path, "chosen").unwrap();
    browser.write("input[type=file]", path.to_str().unwrap());
    browser.sees(".attachment", "näme & <b>.txt");
    let hand_over = |event: &str, what: &str, kind: &str, name: &str| {
        browser.script(&format!(
            "const data = new DataTransfer(); data.items.add(new File(['{name}'], '{name}', {{ type: 'text/plain' }}));
             const init = {{ bubbles: true, cancelable: true, {kind}: data }};
             document.querySelector('.composer-text').dispatchEvent(new {event}('{what}', init)); return null",
        ))
    };
    hand_over("ClipboardEvent", "paste", "clipboardData", "pasted.txt");
    browser.sees(".attachment", "pasted.txt");
    hand_over("DragEvent", "drop", "dataTransfer", "dropped.txt");
    browser.sees(".attachment", "dropped.txt");
    browser.until("return ![...document.querySelectorAll('.attachment')].some((el) => el.innerText.includes('uploading'))");
    browser.write(TEXT, "here");
    browser.press(key::ENTER);
    let stdout = asking.finish().expect(0).stdout;
    let paths: Vec<&str> = stdout.lines().filter(|line| line.starts_with('/')).collect();
    let contents: Vec<String> = paths
        .iter()
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    assert_eq!(contents, ["chosen", "pasted.txt", "dropped.txt"], "{stdout}");
    assert!(stdout.starts_with("here\n\nattachments:\n"), "{stdout}");
}

#[test]
fn a_question_is_declined_with_a_reason() {
    let (_home, asking, browser) = asked(PHONE, "May I delete main?", None);
    browser.click(".decline");
    browser.write("dialog textarea", "never");
    browser.click("dialog .primary");
    printed(asking, "declined: never\n");
    browser.sees(".reply .decision", "Declined");
}

#[test]
fn an_answer_that_is_taken_back_reopens_the_question_with_its_words() {
    let (_home, asking, browser) = asked(DESKTOP, "Ship it?", None);
    browser.write(TEXT, "yes, ship");
    browser.press(key::ENTER);
    browser.click_text(".toast .text-button", "Undo");
    browser.until("return document.querySelector('.composer-text')?.value === 'yes, ship'");
    browser.sees(".badge", "Waiting");
    assert!(asking.is_running());
    browser.write(TEXT, " tomorrow");
    browser.press(key::ENTER);
    printed(asking, "yes, ship tomorrow\n");
}

#[test]
fn a_draft_survives_a_reload_and_follows_to_another_device() {
    let payload = r#"{"type":"choice","options":["A","B"]}"#;
    let (home, asking, browser) = asked(DESKTOP, "A or B?", Some(payload));
    browser.click_text(".option-text", "B");
    browser.write(TEXT, "half a thought");
    eventually("the draft is stored", || {
        let database = rusqlite::Connection::open(home.database()).ok()?;
        let is_stored = "SELECT 1 FROM drafts WHERE body LIKE '%half a thought%' AND body LIKE '%\"B\"%'";
        database.query_row(is_stored, [], |_| Ok(())).ok()
    });
    browser.reload();
    browser.until("return document.querySelector('.composer-text')?.value === 'half a thought'");
    let phone = Browser::open(&link(&home), PHONE);
    phone.click(".row");
    phone.until("return document.querySelector('.composer-text')?.value === 'half a thought'");
    phone.until("return document.querySelectorAll('.option-input')[1].checked");
    phone.click(".send");
    printed(asking, "B\n\nhalf a thought\n");
}

#[test]
fn a_quick_reply_is_one_press_and_can_be_edited() {
    let (_home, asking, browser) = asked(DESKTOP, "Go on?", None);
    browser.click(".quick .icon-button");
    browser.sees("dialog h2", "Settings");
    browser.script("const area = document.querySelector('dialog textarea'); area.value = 'Do it\\nStop'; area.dispatchEvent(new Event('change'))");
    browser.press(key::ESCAPE);
    browser.click_text(".quick .chip", "Do it");
    browser.press(key::ENTER);
    printed(asking, "Do it\n");
}

#[test]
fn markdown_is_previewed_before_it_is_sent() {
    let (_home, _asking, browser) = asked(DESKTOP, "Explain", None);
    browser.write(TEXT, "**bold** `code`");
    browser.click("[aria-label='Preview Markdown']");
    browser.sees(".preview strong", "bold");
    browser.sees(".preview code", "code");
}

#[test]
fn the_page_says_truthfully_that_nobody_listens_any_more() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (asking, _cue) = home.ask(&agent, "Still there?", None);
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    browser.sees(".badge", "Waiting");
    drop(asking);
    browser.sees(
        ".entry .delivery",
        "stopped listening; it gets your answer when it asks again",
    );
    browser.sees(
        "[data-state=detached] .row-place",
        "Gets your answer when it asks again",
    );
    browser.write(TEXT, "yes");
    browser.press(key::ENTER);
    browser.sees(".reply .delivery", "it gets this when it asks again");
    let again = home
        .run_with(&["cue", &agent, "-"], &envelope("Still there?", None))
        .expect(0);
    assert!(again.stdout.contains("yes"), "{}", again.stdout);
    browser.sees(".reply .delivery", "Received");
}

#[test]
fn a_key_for_the_next_question_leaves_the_only_one_as_it_is() {
    let home = Home::new();
    let agent = home.join();
    let form = r#"{"type":"form","fields":[{"label":"Token","kind":"password"}]}"#;
    let (_asking, _) = home.ask(&agent, "Which token?", Some(form));
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    browser.write("[type=password]", "hunter2");
    browser.press(key::ESCAPE);
    browser.press("]");
    browser.press("[");
    browser.press("?");
    browser.sees("dialog h2", "Keyboard");
    assert_eq!(browser.value("[type=password]"), "hunter2");
}
