//! The human's own words: no reload, no slow line, no lost broker and no second tab costs one, and none goes to another agent.

use protocol_spec::answer::{NO, YES, consent};
use protocol_spec::payload::Confirm;
use rustix::process::Signal;
use serde_json::{Value, json};
use thirtyfour::WindowHandle;

use crate::driver::{Browser, DESKTOP, key, sign_in};
use crate::resilience::kill_broker;
use cueme_tests::{Client, Home, envelope};

const TEXT: &str = ".composer-text";
const MESSAGE_TEXT: &str = ".composer[data-target=message] .composer-text";
/// A line to a broker on the other side of the world.
const LATENCY_MS: u32 = 400;

fn slow_down(browser: &Browser) {
    browser.devtools("Network.enable", json!({}));
    let conditions =
        json!({"offline": false, "latency": LATENCY_MS, "downloadThroughput": -1, "uploadThroughput": -1});
    browser.devtools("Network.emulateNetworkConditions", conditions);
}

fn go_offline(browser: &Browser, offline: bool) {
    browser.devtools("Network.enable", json!({}));
    let conditions =
        json!({"offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1});
    browser.devtools("Network.emulateNetworkConditions", conditions);
}

#[track_caller]
fn holds(browser: &Browser, selector: &str, words: &str) {
    browser.until(&format!(
        "return document.querySelector({})?.value === {}",
        json!(selector),
        json!(words)
    ));
}

/// Waits until the page can be opened without a broker.
fn wait_for_worker(browser: &Browser) {
    browser.until("return Boolean(navigator.serviceWorker.controller)");
}

fn change_settings(browser: &Browser, change: &str) {
    let script = format!(
        "return fetch('/api/v1/settings', {{ method: 'PATCH', headers: {{ 'content-type': 'application/json' }}, body: {} }}).then((answer) => answer.status)",
        json!(change)
    );
    assert_eq!(browser.script(&script), json!(200));
}

/// Opens the same page once more.
fn second_tab(browser: &Browser) -> (WindowHandle, WindowHandle) {
    let page = browser.script("return location.href");
    browser.new_tab(page.as_str().unwrap())
}

fn is_typing(browser: &Browser) -> bool {
    browser.script("return document.activeElement.matches('textarea,input[type=text]')") == json!(true)
}

#[test]
fn typing_on_right_after_an_answer_keeps_every_character_as_a_note() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (asking, _) = home.ask(&agent, "Which database?", None);
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    browser.sees(".badge", "Waiting");
    slow_down(&browser);
    browser.write(TEXT, &format!("SQLite{}and then look at the tests", key::ENTER));
    assert!(asking.finish().expect(0).stdout.starts_with("SQLite\n"));
    holds(&browser, MESSAGE_TEXT, "and then look at the tests");
    browser.press(" again");
    holds(&browser, MESSAGE_TEXT, "and then look at the tests again");
}

#[test]
fn typing_on_right_after_a_message_keeps_every_character() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    browser.sees(".composer", "");
    slow_down(&browser);
    browser.write(TEXT, &format!("first{}second", key::ENTER));
    browser.sees(".queue-text", "first");
    holds(&browser, TEXT, "second");
    browser.press(key::ENTER);
    browser.sees(".queue-text", "second");
    holds(&browser, TEXT, "");
    assert_eq!(browser.count(".queue-item"), 2);
}

#[test]
fn words_typed_on_never_answer_a_question_that_nobody_looked_at() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (first, _) = home.ask(&agent, "First?", None);
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    browser.sees(".badge", "Waiting");
    let (second, _) = home.ask(&agent, "Second?", None);
    browser.sees(".entry:not(.answering)", "Second?");
    slow_down(&browser);
    browser.write(TEXT, &format!("one{}two", key::ENTER));
    assert!(first.finish().expect(0).stdout.starts_with("one\n"));
    holds(&browser, MESSAGE_TEXT, "two");
    browser.sees(".notice", "Show it");
    assert!(second.is_running());
}

#[test]
fn an_answer_that_could_not_be_sent_comes_back_above_what_was_typed_since() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (_asking, _) = home.ask(&agent, "Which database?", None);
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    browser.sees(".badge", "Waiting");
    browser.script("const real = window.fetch; window.fetch = (at, how) => (how?.method === 'POST' ? new Promise((_, refuse) => setTimeout(() => refuse(new TypeError('lost')), 600)) : real(at, how))");
    browser.write(TEXT, &format!("SQLite{}please", key::ENTER));
    browser.sees(".composer-error", "Nothing was sent");
    holds(&browser, TEXT, "SQLite\nplease");
}

#[test]
fn a_draft_typed_just_before_a_reload_survives() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (asking, _) = home.ask(&agent, "Long?", None);
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    browser.sees(".badge", "Waiting");
    let mut words = String::new();
    for round in 0..4 {
        let more = format!("round {round} of words, ");
        // A slow save of what came before is still under way.
        browser.write(TEXT, &more);
        words.push_str(&more);
        browser.reload();
        holds(&browser, TEXT, &words);
    }
    browser.write(TEXT, key::ENTER);
    assert!(asking.finish().expect(0).stdout.starts_with(words.trim_end()));
}

#[test]
fn a_reload_while_the_broker_is_away_shows_the_page_with_the_draft() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (asking, _) = home.ask(&agent, "Still there?", None);
    drop(asking);
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    browser.sees(".badge", "Detached");
    wait_for_worker(&browser);
    browser.write(TEXT, "saved, ");
    browser.until("return fetch('/api/v1/state').then((answer) => answer.ok)");
    kill_broker(&home);
    browser.sees(".banner", "No connection to the broker");
    browser.write(TEXT, "typed while it was away, ");
    browser.reload();
    browser.sees(".banner", "No connection to the broker");
    holds(&browser, TEXT, "saved, typed while it was away, ");
    browser.write(TEXT, "and after the reload");
    browser.press(key::ENTER);
    browser.sees(".composer-error", "Nothing was sent");
    browser.reload();
    holds(
        &browser,
        TEXT,
        "saved, typed while it was away, and after the reload",
    );
    home.run(&["inbox"]).expect(0);
    browser.misses(".banner");
    browser.sees(".entry .prose", "Still there?");
    holds(
        &browser,
        TEXT,
        "saved, typed while it was away, and after the reload",
    );
    browser.write(TEXT, key::ENTER);
    browser.sees(".reply", "and after the reload");
    let again = home
        .run_with(&["cue", &agent, "-"], &envelope("Still there?", None))
        .expect(0);
    assert!(
        again
            .stdout
            .contains("saved, typed while it was away, and after the reload"),
        "{}",
        again.stdout
    );
    // It was sent: it is no draft any more, here or elsewhere.
    browser.reload();
    browser.sees(".reply .delivery", "Received");
    holds(&browser, MESSAGE_TEXT, "");
}

#[test]
fn a_message_whose_receipt_was_lost_is_not_sent_twice() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    browser.sees(".composer", "");
    browser.script("const real = window.fetch; window.fetch = (at, how) => real(at, how).then((answer) => { if (how?.method === 'POST') throw new TypeError('lost'); return answer; })");
    browser.write(TEXT, &format!("only once{}", key::ENTER));
    browser.sees(".composer-error", "try again");
    browser.sees(".queue-text", "only once");
    holds(&browser, TEXT, "only once");
    browser.press(key::ENTER);
    browser.sees(".composer-error", "try again");
    assert_eq!(browser.count(".queue-item"), 1);
    // The page knows it again by its id, so it is no draft after a reload either.
    for _ in 0..2 {
        browser.reload();
        browser.sees(".queue-text", "only once");
        holds(&browser, TEXT, "");
        assert_eq!(browser.count(".queue-item"), 1);
    }
}

#[test]
fn words_for_a_question_that_was_answered_meanwhile_are_kept_as_a_note() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (asking, cue) = home.ask(&agent, "Anyone?", None);
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    browser.sees(".badge", "Waiting");
    go_offline(&browser, true);
    browser.write(TEXT, "words that never left");
    browser.script("location.hash = '#/'; return null");
    home.run(&["answer", &cue, "from the terminal"]).expect(0);
    asking.finish().expect(0);
    go_offline(&browser, false);
    browser.click_text(".row-name", &agent);
    browser.sees(".reply", "from the terminal");
    holds(&browser, MESSAGE_TEXT, "words that never left");
}

#[test]
fn a_second_tab_follows_an_undo() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (asking, _) = home.ask(&agent, "Ship it?", None);
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    browser.sees(".badge", "Waiting");
    let (first, second) = second_tab(&browser);
    browser.sees(".badge", "Waiting");
    change_settings(&browser, r#"{"undo_ms":20000}"#);
    browser.switch_to(&first);
    browser.write(TEXT, &format!("yes, ship{}", key::ENTER));
    browser.sees(".toast", "Undo");
    browser.switch_to(&second);
    browser.sees(".reply", "yes, ship");
    browser.misses(".notice");
    browser.until("return document.querySelector('.composer').dataset.target === 'message'");
    // It can be taken back here as well, and there the offer to do so is gone.
    browser.click_text(".reply .text-button", "Undo");
    holds(&browser, ".composer[data-target=cue] .composer-text", "yes, ship");
    browser.sees(".badge", "Waiting");
    browser.switch_to(&first);
    browser.misses(".toast .text-button");
    holds(&browser, ".composer[data-target=cue] .composer-text", "yes, ship");
    assert!(asking.is_running());
    browser.write(TEXT, &format!(" tomorrow{}", key::ENTER));
    browser.sees(".toast", "Undo");
    browser.click_text(".toast .text-button", "Undo");
    browser.switch_to(&second);
    holds(
        &browser,
        ".composer[data-target=cue] .composer-text",
        "yes, ship tomorrow",
    );
}

#[test]
fn words_in_a_second_tab_go_on_when_the_answer_is_taken_back() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (_asking, _) = home.ask(&agent, "Ship it?", None);
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    browser.sees(".badge", "Waiting");
    change_settings(&browser, r#"{"undo_ms":20000}"#);
    browser.write(TEXT, "from the first");
    let (first, second) = second_tab(&browser);
    holds(&browser, TEXT, "from the first");
    browser.write(TEXT, " and the second");
    browser.switch_to(&first);
    browser.press(key::ENTER);
    browser.sees(".toast", "Undo");
    browser.switch_to(&second);
    browser.sees(".notice", "answered this question while you were writing");
    browser.switch_to(&first);
    browser.click_text(".toast .text-button", "Undo");
    browser.switch_to(&second);
    browser.misses(".notice");
    browser.until("return !document.querySelector('.send').disabled && document.querySelector('.composer-text').value.includes('and the second')");
}

#[test]
fn a_command_after_a_pressed_button_is_no_message() {
    let home = Home::created();
    let (asker, other) = (home.join_as("terminal"), home.join_as("terminal"));
    let payload = r#"{"type":"confirm","confirm_label":"Drop it","cancel_label":"Keep it"}"#;
    let (_asking, _) = home.ask(&asker, "Drop the table?", Some(payload));
    let (_other_asking, _) = home.ask(&other, "Another one?", None);
    let browser = sign_in(&home, DESKTOP);
    change_settings(&browser, r#"{"undo_ms":20000}"#);
    browser.click_text(".row-name", &asker);
    browser.script("document.querySelector('[data-confirm=true]')?.focus(); return null");
    browser.until("document.querySelector('[data-confirm=true]')?.focus(); return document.activeElement.dataset.confirm === 'true'");
    browser.press(key::ENTER);
    browser.sees(".toast", "Undo");
    browser.until("return document.querySelector('.composer').dataset.target === 'message'");
    assert!(!is_typing(&browser));
    browser.press("w");
    browser.until(&format!("return location.hash.includes({})", json!(other)));
    browser.sees(".entry .prose", "Another one?");
    // Taking it back shows what is open again, and still no command is a word.
    browser.press("u");
    browser.until(&format!("return location.hash.includes({})", json!(asker)));
    browser.sees(".entry[data-outcome=open] .prose", "Drop the table?");
    assert!(!is_typing(&browser));
    browser.press("w");
    browser.until(&format!("return location.hash.includes({})", json!(other)));
    holds(&browser, TEXT, "");
}

#[test]
fn words_typed_across_a_send_stay_with_the_agent_when_the_page_goes_on_to_the_next() {
    let home = Home::created();
    let (asker, other) = (home.join_as("terminal"), home.join_as("terminal"));
    let (asking, _) = home.ask(&asker, "First agent?", None);
    let (other_asking, _) = home.ask(&other, "Second agent?", None);
    let browser = sign_in(&home, DESKTOP);
    change_settings(&browser, r#"{"page":{"advance":true}}"#);
    browser.click_text(".row-name", &asker);
    browser.sees(".entry .prose", "First agent?");
    // Every letter of it is a command somewhere.
    browser.write(TEXT, &format!("yes{}endeared jumpy gnu", key::ENTER));
    assert!(asking.finish().expect(0).stdout.starts_with("yes\n"));
    holds(&browser, MESSAGE_TEXT, "endeared jumpy gnu");
    browser.sees(".reply .delivery", "Received");
    browser.press("!");
    holds(&browser, MESSAGE_TEXT, "endeared jumpy gnu!");
    assert!(
        browser
            .script("return location.hash")
            .as_str()
            .unwrap()
            .contains(&asker)
    );
    assert!(other_asking.is_running());
}

#[test]
fn the_page_goes_on_to_the_next_agent_when_nothing_is_typed_on() {
    let home = Home::created();
    let (asker, other) = (home.join_as("terminal"), home.join_as("terminal"));
    let (_asking, _) = home.ask(&asker, "First agent?", None);
    let (_other_asking, _) = home.ask(&other, "Second agent?", None);
    let browser = sign_in(&home, DESKTOP);
    change_settings(&browser, r#"{"page":{"advance":true}}"#);
    browser.click_text(".row-name", &asker);
    browser.sees(".entry .prose", "First agent?");
    browser.write(TEXT, &format!("yes{}", key::ENTER));
    browser.until(&format!("return location.hash.includes({})", json!(other)));
    browser.sees(".entry .prose", "Second agent?");
    assert!(!is_typing(&browser));
}

#[test]
fn what_another_device_saves_never_overwrites_what_is_typed_here() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (_asking, cue) = home.ask(&agent, "Which?", None);
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    browser.sees(".badge", "Waiting");
    // The draft of another device is fetched while somebody types here.
    slow_down(&browser);
    let save = format!(
        "return fetch('/api/v1/cues/{cue}/draft', {{ method: 'PUT', headers: {{ 'content-type': 'application/json' }}, body: JSON.stringify({{ rev: 0, body: {{ text: 'from the phone' }} }}) }}).then((answer) => answer.status)"
    );
    assert_eq!(browser.script(&save), json!(200));
    browser.write(TEXT, "typed here");
    browser.script("document.activeElement.blur(); return null");
    browser.until(&format!(
        "return fetch('/api/v1/cues/{cue}').then((answer) => answer.json()).then((cue) => cue.draft.body.text.includes('typed here'))"
    ));
    let held = browser.value(TEXT);
    assert!(held.contains("typed here"), "{held}");
}

#[test]
fn a_reason_an_instruction_and_a_broadcast_outlive_a_failure() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (_asking, _) = home.ask(&agent, "May I?", None);
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    browser.sees(".badge", "Waiting");
    // The parts of the page that are loaded when they are opened are there.
    browser.click("[aria-label='Message several agents']");
    browser.write("dialog textarea", "to everyone");
    browser.press(key::ESCAPE);
    browser.misses("dialog");
    browser.click("[aria-label='Message several agents']");
    holds(&browser, "dialog textarea", "to everyone");
    browser.press(key::ESCAPE);
    browser.misses("dialog");
    go_offline(&browser, true);
    browser.click(".decline");
    browser.write("dialog textarea", "not on a Friday");
    browser.click("dialog .primary");
    browser.sees("dialog .field-error", "Nothing was sent");
    holds(&browser, "dialog textarea", "not on a Friday");
    browser.press(key::ESCAPE);
    browser.misses("dialog");
    holds(&browser, TEXT, "not on a Friday");
    browser.click("[aria-label='Standing instruction']");
    browser.write("dialog textarea", "analysis only");
    browser.click("dialog .primary");
    browser.until("return document.querySelector('dialog .field-error')?.textContent !== ''");
    holds(&browser, "dialog textarea", "analysis only");
}

#[test]
fn quick_replies_that_were_typed_are_saved_when_the_dialog_is_closed() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (_asking, _) = home.ask(&agent, "Go on?", None);
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    browser.click(".quick .icon-button");
    browser.sees("dialog h2", "Settings");
    browser.write("dialog textarea", "\nTyped and left");
    browser.press(key::ESCAPE);
    browser.misses("dialog");
    browser.sees(".quick .chip", "Typed and left");
    browser.reload();
    browser.sees(".quick .chip", "Typed and left");
}

#[test]
fn an_answer_of_a_rule_is_taken_back_where_the_page_says_so() {
    let home = Home::created();
    let rule = "[[policy]]\nname = \"go on\"\npayload = [\"none\"]\nanswer = \"Continue.\"\n";
    std::fs::write(home.path().join("config.toml"), rule).unwrap();
    let agent = home.join_as("terminal");
    let browser = sign_in(&home, DESKTOP);
    change_settings(&browser, r#"{"undo_ms":20000}"#);
    let asking = home.start_with(&["cue", &agent, "-"], &envelope("Shall I?", None));
    browser.click_text(".row-name", &agent);
    browser.sees(".reply", "Answered by the rule go on");
    browser.sees(".reply .delivery", "you can still undo");
    browser.click_text(".reply .text-button", "Undo");
    browser.sees(".entry[data-outcome=open] .badge", "Waiting");
    assert!(asking.is_running());
    change_settings(&browser, r#"{"undo_ms":0}"#);
    // Until the question is open again here, the composer leaves notes.
    let answers = ".composer[data-target=cue]:not(.frozen) .composer-text";
    browser.until(&format!("return document.querySelector('{answers}') !== null"));
    browser.write(answers, &format!("No, wait{}", key::ENTER));
    assert!(asking.finish().expect(0).stdout.starts_with("No, wait\n"));
}

#[test]
fn the_page_says_why_a_rule_leaves_a_question_to_the_human() {
    let home = Home::created();
    let rule =
        "[[policy]]\nname = \"go on\"\npayload = [\"none\"]\nanswer = \"Continue.\"\nin_a_row_max = 1\n";
    std::fs::write(home.path().join("config.toml"), rule).unwrap();
    let agent = home.join_as("terminal");
    let browser = sign_in(&home, DESKTOP);
    change_settings(&browser, r#"{"undo_ms":0}"#);
    home.run_with(&["cue", &agent, "-"], &envelope("Shall I?", None))
        .expect(0);
    let (_asking, _) = home.ask(&agent, "And now?", None);
    browser.click_text(".row-name", &agent);
    browser.sees(
        ".entry[data-outcome=open]",
        "The rule go on leaves this to you: it answers at most 1 in a row.",
    );
}

#[test]
fn a_note_and_a_queued_answer_are_named_for_what_they_do() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    browser.sees(".composer", "Added above your next answer");
    browser.sees(".composer .send span", "Leave note");
    browser.write(TEXT, &format!("mind the tests{}", key::ENTER));
    browser.sees(".toast", "added above your next answer");
    browser.click("[data-purpose=queued_answer]");
    browser.sees(".composer", "Answers its next plain question before you see it");
    browser.sees(".composer .send span", "Queue answer");
    browser.write(TEXT, &format!("take SQLite{}", key::ENTER));
    browser.sees(".toast", "answers its next question");
    browser.sees(".queue-item", "Note");
    browser.sees(".queue-item", "Queued answer");
    let asked = home
        .run_with(&["cue", &agent, "-"], &envelope("Which database?", None))
        .expect(0);
    assert!(asked.stdout.contains("take SQLite"), "{}", asked.stdout);
    browser.sees(".reply", "Answered with your queued reply before you saw it");
    browser.misses(".queue-item");
    // The choice is the human's for each message: a broadcast has it too.
    browser.click("[aria-label='Message several agents']");
    browser.sees("dialog .purpose", "Added above your next answer");
    browser.sees("dialog .primary", "Leave note");
    browser.click("dialog [data-purpose=queued_answer]");
    browser.sees("dialog .purpose", "Never used for approvals");
    browser.sees("dialog .primary", "Queue answer");
}

/// An input of Claude Code for its hooks, as it was recorded.
fn recorded(home: &Home, event: &str) -> Value {
    let path = format!(
        "{}/../adapter-core/runtimes/tests/hooks/claude_code.{event}.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let mut input: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    input["transcript_path"] = json!(home.path().join("transcript.jsonl"));
    input
}

/// Starts a request to approve a command, once the session has begun.
fn asks_for_approval(home: &Home) -> Client {
    let start = recorded(home, "session_start");
    home.start_hook("claude_code", "session_start", &start)
        .finish()
        .expect(0);
    let mut tool = recorded(home, "pre_tool");
    tool["session_id"] = start["session_id"].clone();
    tool["tool_name"] = json!("Bash");
    tool["tool_input"] = json!({ "command": "rm -rf build" });
    home.start_hook("claude_code", "pre_tool", &tool)
}

#[test]
fn the_page_and_the_broker_take_the_same_words_for_a_button() {
    let home = Home::created();
    let _hook = asks_for_approval(&home);
    let browser = sign_in(&home, DESKTOP);
    browser.click(".row");
    browser.sees(".entry[data-outcome=open] .badge", "asks for approval");
    browser.until("return document.querySelector('.composer').dataset.target === 'cue'");
    let confirm = Confirm {
        text: None,
        confirm_label: "Allow".to_owned(),
        cancel_label: "Deny".to_owned(),
    };
    let plain = YES.iter().chain(&NO).copied().chain(["Allow", "Deny"]);
    let mut words: Vec<String> = plain
        .flat_map(|word| {
            let shouted = word.to_uppercase();
            [
                word.to_owned(),
                format!("  {shouted} !。 "),
                format!("{word}, but"),
                format!("not {word}"),
            ]
        })
        .collect();
    words.extend(["y/n", "好像不行", "?", "allow it later", "yes! ."].map(str::to_owned));
    let script = format!(
        "const text = document.querySelector('{TEXT}');
         return {}.map((words) => {{
             text.value = words;
             text.dispatchEvent(new Event('input', {{ bubbles: true }}));
             return text.closest('form').querySelector('p.muted[role=status]').textContent;
         }})",
        json!(words)
    );
    let hints = browser.script(&script);
    for (words, hint) in words.iter().zip(hints.as_array().unwrap()) {
        let expected = match consent(words, &confirm) {
            Some(true) => "This means “Allow”.",
            Some(false) => "This means “Deny”.",
            None => "This denies the request (“Deny”). The agent gets your text as the reason.",
        };
        assert_eq!(hint, expected, "{words:?}");
    }
}

#[test]
fn a_question_that_its_hook_took_back_is_withdrawn_and_not_received() {
    let home = Home::created();
    let hook = asks_for_approval(&home);
    let browser = sign_in(&home, DESKTOP);
    browser.click(".row");
    browser.sees(".entry[data-outcome=open] .badge", "asks for approval");
    hook.signal(Signal::TERM);
    hook.finish().expect(0);
    browser.sees(".reply .decision", "Withdrawn by the program that asked");
    browser.sees(
        ".reply .delivery",
        "No answer was given; nothing was sent to the agent",
    );
    browser.sees(".reply", "stopped waiting");
    // Received is only what an agent read.
    browser.until("return !document.querySelector('.reply').textContent.includes('Received')");
}

#[test]
fn words_beside_options_stay_in_the_draft_while_another_option_is_picked() {
    const OTHER: &str = ".other-text";
    let home = Home::created();
    let agent = home.join_as("terminal");
    let choice = r#"{"type":"choice","options":["SQLite","PostgreSQL"]}"#;
    let (asking, _) = home.ask(&agent, "Which database?", Some(choice));
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    browser.write(OTHER, "DuckDB, for the reports");
    browser.click_text(".option-text", "SQLite");
    browser.until(
        "return fetch('/api/v1/cues').then((answer) => answer.json())
             .then(({ cues }) => fetch(`/api/v1/cues/${cues[0].cue_id}`)).then((answer) => answer.json())
             .then((cue) => cue.draft?.body.reply?.selected?.[0] === 'SQLite')",
    );
    browser.reload();
    holds(&browser, OTHER, "DuckDB, for the reports");
    let picked = "return [...document.querySelectorAll('.option-input')].map((input) => input.checked)";
    assert_eq!(browser.script(picked), json!([true, false, false]));
    // It is no part of the answer, and is there again when that is taken back.
    browser.click(".send");
    browser.click_text(".toast button", "Undo");
    holds(&browser, OTHER, "DuckDB, for the reports");
    assert_eq!(browser.script(picked), json!([true, false, false]));
    change_settings(&browser, r#"{"undo_ms":0}"#);
    browser.click(".send");
    let told = asking.finish().expect(0).stdout;
    assert!(told.starts_with("SQLite\n") && !told.contains("DuckDB"), "{told}");
}

#[test]
fn words_beside_options_of_a_form_stay_in_the_draft_too() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let form = r#"{"type":"form","fields":[{"label":"Region","options":["eu","us"],"allow_multiple":true},{"label":"Name"}]}"#;
    let (_asking, _) = home.ask(&agent, "Where?", Some(form));
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    browser.click_text(".option-text", "eu");
    browser.write(".other-text", "asia");
    browser.click(".option-other .option-input");
    browser.write(".field:last-child .input", "shop");
    browser.reload();
    holds(&browser, ".field:last-child .input", "shop");
    holds(&browser, ".other-text", "asia");
    let picked = "return [...document.querySelectorAll('.option-input')].map((input) => input.checked)";
    assert_eq!(browser.script(picked), json!([true, false, false]));
}

#[test]
fn text_for_an_approval_says_what_it_does_before_it_is_sent() {
    let home = Home::created();
    let start = recorded(&home, "session_start");
    home.start_hook("claude_code", "session_start", &start)
        .finish()
        .expect(0);
    let mut tool = recorded(&home, "pre_tool");
    tool["session_id"] = start["session_id"].clone();
    tool["tool_name"] = json!("Bash");
    tool["tool_input"] = json!({ "command": "rm -rf build" });
    let browser = sign_in(&home, DESKTOP);
    let verdict = |words: &str, hint: &str| {
        let hook = home.start_hook("claude_code", "pre_tool", &tool);
        browser.click(".row");
        browser.sees(".entry[data-outcome=open] .badge", "asks for approval");
        browser.until("return document.querySelector('.composer').dataset.target === 'cue'");
        browser.write(TEXT, words);
        browser.sees(".composer", hint);
        browser.press(key::ENTER);
        let reply = hook.finish().expect(0).json();
        browser.until("return document.querySelector('.composer').dataset.target === 'message'");
        reply["hookSpecificOutput"].clone()
    };
    let denied = verdict("only in a copy", "This denies the request (“Deny”)");
    assert_eq!(denied["permissionDecision"], "deny", "{denied}");
    assert!(denied.to_string().contains("only in a copy"), "{denied}");
    let allowed = verdict("Yes.", "This means “Allow”.");
    assert_eq!(allowed["permissionDecision"], "allow", "{allowed}");
}
