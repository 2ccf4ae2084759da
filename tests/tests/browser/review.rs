//! A diff in a question is reviewed line by line, and the comments come back with the answer.

use serde_json::json;

use crate::driver::{Browser, DESKTOP, PHONE, key, sign_in};
use cueme_tests::Home;

const CONFIRM: &str = r#"{"type":"confirm","confirm_label":"Merge","cancel_label":"Not yet"}"#;
const PROMPT: &str = "Merge it?\n\n```diff\ndiff --git a/src/retry.ts b/src/retry.ts\n--- a/src/retry.ts\n+++ b/src/retry.ts\n@@ -8,4 +8,5 @@ charge\n const MAX = 5;\n-const BACKOFF = 200;\n+const BUDGET = 8_000;\n+const BACKOFF = \"slow\";\n return charge();\ndiff --git a/defaults.ts b/defaults.ts\n--- a/defaults.ts\n+++ b/defaults.ts\n@@ -1,2 +1,2 @@\n {\n-  attempts: 5,\n+  attempts: 3,\n```";

/// Presses the number of the line that holds this text.
fn press_line(browser: &Browser, text: &str, with_shift: bool) {
    browser.until(&format!(
        "const line = [...document.querySelectorAll('.diff-line')].find((line) => line.innerText.includes({})); line?.querySelectorAll('i')[1].dispatchEvent(new MouseEvent('click', {{ bubbles: true, shiftKey: {with_shift} }})); return Boolean(line)",
        json!(text)
    ));
    browser.until("return document.activeElement.matches('.review-editor textarea')");
}

fn control_enter(browser: &Browser) {
    browser.press(&format!("{}{}{}", key::CONTROL, key::ENTER, key::RELEASE));
}

#[test]
fn comments_on_lines_and_ranges_come_back_as_blocks_that_name_them() {
    for size in [DESKTOP, PHONE] {
        let home = Home::new();
        let agent = home.join();
        let (asking, _) = home.ask(&agent, PROMPT, Some(CONFIRM));
        let browser = sign_in(&home, size);
        browser.click_text(".row-name", &agent);
        browser.sees(".answering .patch-bar", "");
        browser.sees(".hl-word", "const");
        if size == PHONE {
            // Edge to edge, with one column of numbers: the old one of what is gone, the new one of all else.
            browser.until("const patch = document.querySelector('.patch').getBoundingClientRect(); return patch.left <= 0 && patch.right >= innerWidth");
            let numbers = "return [...document.querySelectorAll('.diff-line')].slice(4, 7).map((line) => [...line.querySelectorAll('i')].filter((number) => number.checkVisibility()).map((number) => number.dataset.n))";
            assert_eq!(browser.script(numbers), json!([["8"], ["9"], ["9"]]));
        }
        // It is loaded when it is needed, and not before.
        assert_eq!(
            browser.script("return performance.getEntriesByType('resource').filter((entry) => entry.name.includes('review')).length"),
            json!(0)
        );
        press_line(&browser, "const BUDGET", false);
        browser.press(key::ESCAPE);
        browser.misses(".review-editor");
        press_line(&browser, "const BUDGET", false);
        press_line(&browser, "\"slow\"", true);
        browser.sees(".review-editor", "lines 9-10");
        browser.press("Clamp it.");
        // A comment that is not added yet is neither sent nor dropped.
        browser.script("document.querySelector('[data-confirm=true]').click()");
        browser.sees(".composer-error", "You have an unfinished comment");
        browser.click(".review-editor textarea");
        control_enter(&browser);
        browser.sees(".review-note", "Clamp it.");
        press_line(&browser, "attempts: 5", false);
        browser.press("Why?");
        control_enter(&browser);
        browser.sees(".for", "2 comments attached");
        browser.until("return fetch('/api/v1/cues').then((answer) => answer.json()).then(({ cues }) => fetch(`/api/v1/cues/${cues[0].cue_id}`)).then((answer) => answer.json()).then((cue) => cue.draft?.body.comments?.length === 2)");
        browser.reload();
        browser.sees(".review-note", "Clamp it.");
        browser.write(".composer-text", "Nearly.");
        browser.script("document.querySelector('[data-confirm=false]').click()");
        let told = asking.finish().expect(0).stdout;
        assert!(
            told.starts_with(
                "Not yet\n\nNearly.\n\nsrc/retry.ts:9-10: Clamp it.\n\ndefaults.ts:2: (removed line) Why?\n"
            ),
            "{told}"
        );
    }
}

#[test]
fn a_comment_being_written_is_in_sight_above_the_answer() {
    let lines = "+let x = 1;\n".repeat(60);
    let prompt =
        format!("Merge it?\n\n```diff\n--- /dev/null\n+++ b/x.rs\n@@ -0,0 +1,61 @@\n{lines}+the last\n```");
    for size in [DESKTOP, PHONE] {
        let home = Home::new();
        let agent = home.join();
        let (_asking, _) = home.ask(&agent, &prompt, Some(CONFIRM));
        let browser = sign_in(&home, size);
        browser.click_text(".row-name", &agent);
        browser.sees(".answering .patch-bar", "");
        press_line(&browser, "the last", false);
        browser.until("return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => { const box = document.querySelector('.review-editor').getBoundingClientRect(), view = document.querySelector('.timeline').getBoundingClientRect(), answer = document.querySelector('.answer-place').getBoundingClientRect(); done(box.top >= view.top && box.bottom <= answer.top + 1); })))");
    }
}

#[test]
fn a_diff_is_walked_and_commented_by_keys_and_shown_side_by_side() {
    let home = Home::new();
    let agent = home.join();
    let (_asking, _) = home.ask(&agent, PROMPT, Some(CONFIRM));
    let browser = sign_in(&home, (1440, 900));
    browser.click_text(".row-name", &agent);
    browser.sees(".answering .patch-bar", "");
    browser.script("document.querySelector('.patch').focus()");
    browser.press("jjj");
    browser.sees(".diff-line.cursor", "const BUDGET");
    browser.press("c");
    browser.sees(".review-editor", "line 9");
    browser.press("By key");
    control_enter(&browser);
    browser.sees(".review-note", "By key");
    // With Shift, the lines on the way are a range.
    browser.press("J");
    browser.until("return document.querySelectorAll('.diff-line.cursor').length === 2");
    browser.press("c");
    browser.sees(".review-editor", "lines 9-10");
    browser.press(key::ESCAPE);
    browser.misses(".review-editor");
    let width = "document.querySelector('.answering').getBoundingClientRect().width";
    assert_eq!(browser.script(&format!("return {width} <= 760")), json!(true));
    browser.click_text(".split-button", "Split");
    browser.until(&format!("return {width} > 900"));
    browser.click(".more-button");
    browser.sees(".rail.open", "Runtime");
    browser.click(".more-button");
    browser.misses(".rail");
    browser.until("const box = (kind) => document.querySelector(`.diff-line.${kind}`).getBoundingClientRect(); return box('del').top === box('add').top && box('del').right <= box('add').left + 1");
    // The comment stays below its line, and nothing leaves the block.
    browser.until("const note = document.querySelector('.review-note').getBoundingClientRect(), line = document.querySelector('.diff-line.add').getBoundingClientRect(); return note.top >= line.bottom - 1");
    browser.click_text(".split-button", "Unified");
    browser.until("const box = (kind) => document.querySelector(`.diff-line.${kind}`).getBoundingClientRect(); return box('del').bottom <= box('add').top + 1");
}

#[test]
fn the_name_of_a_file_stays_in_sight_while_its_lines_are_read() {
    let lines = "+let x = 1;\n".repeat(120);
    let prompt = format!("Merge it?\n\n```diff\n--- /dev/null\n+++ b/x.rs\n@@ -0,0 +1,120 @@\n{lines}```");
    for size in [DESKTOP, PHONE] {
        let home = Home::new();
        let agent = home.join();
        let (_asking, _) = home.ask(&agent, &prompt, Some(CONFIRM));
        let browser = sign_in(&home, size);
        browser.click_text(".row-name", &agent);
        browser.sees(".answering .patch-bar", "");
        browser.until("const timeline = document.querySelector('.timeline'), line = document.querySelectorAll('.diff-line')[60]; timeline.dispatchEvent(new Event('wheel')); line.scrollIntoView({ block: 'center' }); const head = document.querySelector('.patch summary').getBoundingClientRect(), view = timeline.getBoundingClientRect(); return Math.abs(head.top - view.top) < 2 && line.getBoundingClientRect().top > head.bottom");
    }
}
