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

/// Opens a question with the patch of these tests, and waits until it can be commented on.
fn reviewed(home: &Home, prompt: &str) -> (Browser, String, cueme_tests::Client, String) {
    reviewed_by(home, home.join(), prompt)
}

fn reviewed_by(home: &Home, agent: String, prompt: &str) -> (Browser, String, cueme_tests::Client, String) {
    let (asking, cue) = home.ask(&agent, prompt, Some(CONFIRM));
    let browser = sign_in(home, DESKTOP);
    browser.click_text(".row-name", &agent);
    browser.sees(".answering .patch-bar", "");
    (browser, agent, asking, cue)
}

/// Waits until the broker has a draft of which this is true.
fn drafted(browser: &Browser, cue: &str, is: &str) {
    browser.until(&format!(
        "return fetch('/api/v1/cues/{cue}').then((answer) => answer.json()).then(({{ draft }}) => {{ const body = draft?.body ?? {{}}; return Boolean({is}); }})"
    ));
}

#[test]
fn a_comment_that_was_added_is_lost_by_no_second_thought() {
    let home = Home::new();
    let (browser, ..) = reviewed(&home, PROMPT);
    press_line(&browser, "const BUDGET", false);
    browser.press("Clamp it.");
    control_enter(&browser);
    browser.sees(".review-note", "Clamp it.");
    // Edited and left as it was.
    for leave in ["Escape", "Discard"] {
        browser.click_text(".review-note button", "Edit");
        browser.until("return document.activeElement.value === 'Clamp it.'");
        browser.misses(".review-note");
        if leave == "Escape" {
            browser.press(key::ESCAPE);
        } else {
            browser.press(" Or not.");
            browser.click_text(".review-editor button", "Discard");
        }
        browser.misses(".review-editor");
        browser.sees(".review-note", "Clamp it.");
    }
    // While another one is written, it waits.
    press_line(&browser, "\"slow\"", false);
    browser.press("Half of");
    browser.click_text(".review-note button", "Edit");
    browser.sees(".review-editor .field-error", "unfinished comment");
    assert_eq!(browser.value(".review-editor textarea"), "Half of");
    // Words go with the second press of Escape, not with the first.
    browser.press(key::ESCAPE);
    browser.sees(".review-editor .field-error", "Press Esc again");
    browser.press(&format!(" it{}", key::ESCAPE));
    assert_eq!(browser.value(".review-editor textarea"), "Half of it");
    browser.press(key::ESCAPE);
    browser.misses(".review-editor");
    browser.click_text(".review-note button", "Edit");
    browser.press(" Please.");
    control_enter(&browser);
    browser.sees(".review-note", "Clamp it. Please.");
    assert_eq!(browser.count(".review-note"), 1);
    browser.sees(".for", "1 comment attached");
    browser.click_text(".review-note button", "Delete");
    browser.misses(".review-note");
    browser.until("return !document.querySelector('.for').innerText.includes('attached')");
}

#[test]
fn a_comment_in_the_making_survives_a_reload_and_another_question() {
    let home = Home::new();
    let (browser, agent, asking, cue) = reviewed(&home, PROMPT);
    let (_other, _) = home.ask(&agent, "Something else?", None);
    browser.sees(".entry:not(.answering)", "Something else?");
    press_line(&browser, "const BUDGET", false);
    press_line(&browser, "\"slow\"", true);
    browser.press("Unfinished");
    drafted(&browser, &cue, "body.writing?.text === 'Unfinished'");
    browser.reload();
    browser.until("return document.querySelector('.review-editor textarea')?.value === 'Unfinished'");
    browser.sees(".review-editor", "lines 9-10");
    // It belongs to its question, and is away with it.
    browser.click_text(".entry:not(.answering) .answer-this", "Answer this");
    browser.sees(".answering .for", "Something else?");
    browser.misses(".review-editor");
    browser.click_text(".entry:not(.answering) .answer-this", "Answer this");
    browser
        .until("return document.querySelector('.answering .review-editor textarea')?.value === 'Unfinished'");
    browser.misses("[data-confirm][aria-disabled]");
    browser.script("document.querySelector('[data-confirm=true]').click()");
    browser.sees(".composer-error", "You have an unfinished comment");
    control_enter(&browser);
    browser.sees(".review-note", "Unfinished");
    browser.script("document.querySelector('[data-confirm=false]').click()");
    let told = asking.finish().expect(0).stdout;
    assert!(told.contains("src/retry.ts:9-10: Unfinished\n"), "{told}");
}

#[test]
fn a_diff_that_is_answered_takes_no_comments() {
    let home = Home::new();
    let (browser, agent, asking, _) = reviewed(&home, PROMPT);
    press_line(&browser, "const BUDGET", false);
    browser.press("Clamp it.");
    control_enter(&browser);
    browser.sees(".review-note", "Clamp it.");
    let (_other, other) = home.ask(&agent, "Something else?", None);
    browser.sees(".entry:not(.answering)", "Something else?");
    browser.script("document.querySelector('[data-confirm=false]').click()");
    asking.finish().expect(0);
    browser.sees(".answering .for", "Something else?");
    browser.misses(".review-note");
    browser.script("document.querySelector('.past .fold-button')?.click(); const line = [...document.querySelectorAll('.past .diff-line')].find((line) => line.innerText.includes('const BUDGET')); line.querySelectorAll('i')[1].click(); document.querySelector('.past .patch').focus()");
    browser.press("c");
    // By now it would be there.
    drafted(&browser, &other, "body.comments === undefined");
    assert_eq!(browser.count(".review-editor"), 0);
}

#[test]
fn comments_follow_to_another_tab_and_into_files_that_are_folded() {
    let home = Home::new();
    let lines = "+let x = 1;\n".repeat(450);
    let prompt = format!(
        "Merge it?\n\n```diff\n--- a/first.rs\n+++ b/first.rs\n@@ -1 +1 @@\n-old\n+the new one\n--- /dev/null\n+++ b/long.rs\n@@ -0,0 +1,451 @@\n{lines}+the last\n```"
    );
    let (browser, agent, _asking, cue) = reviewed(&home, &prompt);
    let page = browser.script("return location.href");
    let (first, second) = browser.new_tab(page.as_str().unwrap());
    browser.sees(".answering .patch-bar", "");
    browser.switch_to(&first);
    browser.script("document.querySelectorAll('.patch details')[1].open = true");
    press_line(&browser, "the last", false);
    browser.press("Why so many?");
    control_enter(&browser);
    press_line(&browser, "the new one", false);
    browser.press("Fine.");
    control_enter(&browser);
    drafted(
        &browser,
        &cue,
        "body.comments?.map(({ text }) => text).join() === 'Fine.,Why so many?'",
    );
    browser.switch_to(&second);
    browser.sees(".review-note", "Fine.");
    browser.script("document.querySelectorAll('.patch details')[1].open = true");
    browser.sees(".patch details:nth-child(2) .review-note", "Why so many?");
    // The keys of a diff work on the name of a file too, and go to no other agent.
    let (_other, _) = home.ask(&home.join(), "Elsewhere?", None);
    browser.sees(".row-text", "Elsewhere?");
    browser.script("document.querySelector('.patch summary').focus()");
    browser.press("j");
    browser.sees(".diff-line.cursor", "old");
    browser.until(&format!("return location.hash.startsWith('#/agent/{agent}')"));
}

#[test]
fn files_have_the_names_and_lines_the_numbers_that_git_means() {
    let home = Home::new();
    let patch = [
        "From 0123456 Mon Sep 17 00:00:00 2001\nSubject: [PATCH] names\n\n---\n x | 2 +-\n\n",
        "diff --git \"a/src/\\346\\225\\260.rs\" \"b/src/\\346\\225\\260.rs\"\n--- \"a/src/\\346\\225\\260.rs\"\n+++ \"b/src/\\346\\225\\260.rs\"\n@@ -1 +1 @@\n-quoted old\n+quoted new\n",
        "diff --git i/conf/a.toml w/conf/a.toml\n--- i/conf/a.toml\n+++ w/conf/a.toml\n@@ -1 +1 @@\n-mnemonic old\n\\ No newline at end of file\n+mnemonic new\n\\ No newline at end of file\n",
        "diff --git a/before.rs b/after.rs\nsimilarity index 90%\nrename from before.rs\nrename to after.rs\n--- a/before.rs\n+++ b/after.rs\n@@ -7,2 +7,2 @@\n kept\n-renamed old\n+renamed new\n",
        "diff --git a/my pic.png b/my pic.png\nnew file mode 100644\nBinary files /dev/null and b/my pic.png differ\n",
        "diff --git a/dos.txt b/dos.txt\r\n--- a/dos.txt\r\n+++ b/dos.txt\r\n@@ -1 +1 @@\r\n-dos old\r\n+dos new\r\n",
        "-- \n2.43.0\n",
    ]
    .concat();
    // In a file: in an envelope, lines end in one way.
    std::fs::create_dir_all(home.scratch().join("shop")).unwrap();
    std::fs::write(home.scratch().join("shop/change.patch"), patch).unwrap();
    let agent = crate::consent::join_in(&home, "shop");
    let (browser, _agent, asking, _) = reviewed_by(&home, agent, "Merge `change.patch`?");
    let names = browser
        .script("return [...document.querySelectorAll('.patch summary bdi')].map((name) => name.innerText)");
    assert_eq!(
        names,
        json!([
            "src/数.rs",
            "conf/a.toml",
            "before.rs → after.rs",
            "my pic.png",
            "dos.txt"
        ])
    );
    let unnumbered = browser.script("return [...document.querySelectorAll('.diff-line:not(.numbered)')].map((line) => line.innerText.trim()).filter((line) => /^(From|Subject|x \\||---$|--$|2\\.43|\\\\)/.test(line)).length");
    assert_eq!(unnumbered, json!(8));
    for (line, words) in [
        ("quoted new", "one"),
        ("mnemonic new", "two"),
        ("renamed old", "three"),
        ("renamed new", "four"),
        ("dos old", "five"),
    ] {
        press_line(&browser, line, false);
        browser.press(words);
        control_enter(&browser);
        browser.sees(".review-note", words);
    }
    // What has no number is no line of a file.
    browser.script("[...document.querySelectorAll('.diff-line')].find((line) => line.innerText.includes('2.43')).querySelectorAll('i')[1].click()");
    assert_eq!(browser.count(".review-editor"), 0);
    browser.script("document.querySelector('[data-confirm=false]').click()");
    let told = asking.finish().expect(0).stdout;
    let blocks = "src/数.rs:1: one\n\nconf/a.toml:1: two\n\nbefore.rs:8: (removed line) three\n\nafter.rs:8: four\n\ndos.txt:1: (removed line) five\n";
    assert!(told.contains(blocks), "{told}");
}
