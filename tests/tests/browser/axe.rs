//! axe-core finds nothing in any view or dialog, light and dark, on a desk and on a phone; and Back closes a dialog on a phone.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::driver::{Browser, PHONE, key, link, sign_in};
use cueme_tests::Home;

pub(crate) const DESK: (u32, u32) = (1440, 900);
const DIFF: &str = "Merge it?\n\n```diff\n--- a/lib.rs\n+++ b/lib.rs\n@@ -1,2 +1,2 @@\n fn main() {\n-    old();\n+    new();\n```";

/// Returns axe-core, in the version that the page's lock file pins.
pub(crate) fn axe_core() -> String {
    let ui = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cueme-broker/ui");
    let copy = tempfile::tempdir().unwrap();
    for name in ["package.json", "package-lock.json"] {
        std::fs::copy(ui.join(name), copy.path().join(name)).unwrap();
    }
    let installed = Command::new("npm")
        .args(["ci", "--ignore-scripts", "--no-progress"])
        .current_dir(copy.path())
        .output()
        .expect("npm is installed (tests/run installs it)");
    assert!(
        installed.status.success(),
        "{}",
        String::from_utf8_lossy(&installed.stderr)
    );
    std::fs::read_to_string(copy.path().join("node_modules/axe-core/axe.min.js")).unwrap()
}

/// Asserts that axe finds nothing.
#[track_caller]
pub(crate) fn check(browser: &Browser, view: &str) {
    // What turns forever is never done, and the bar of an undo moves until its time is over.
    browser.until("return document.getAnimations().every(({ effect }) => effect?.getTiming().iterations === Infinity || effect?.target.matches('.toast-bar'))");
    let found = browser.script("return axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map((node) => node.html.slice(0, 200))]))");
    assert_eq!(found, json!([]), "{view}");
}

#[test]
fn axe_finds_nothing_in_any_view_or_dialog() {
    let axe = axe_core();
    let home = Home::new();
    let (first, second, third, idle) = (home.join(), home.join(), home.join(), home.join());
    let (earlier, cue) = home.ask(
        &first,
        "Earlier?",
        Some(r#"{"type":"choice","options":["A","B"]}"#),
    );
    home.run(&["answer", &cue, "A"]).expect(0);
    earlier.finish().expect(0);
    let (_a, _) = home.ask(
        &first,
        "## Which?\n\n| a | b |\n|---|---|\n| `1` | [2](https://example.org) |",
        Some(r#"{"type":"choice","options":["SQLite","PostgreSQL"]}"#),
    );
    let (_b, _) = home.ask(&first, "And this?", None);
    let form = r#"{"type":"form","fields":[{"label":"Where","options":["here"],"required":true},{"label":"N","kind":"number"},{"label":"D","kind":"date"},{"label":"S","kind":"password"},{"label":"B","kind":"boolean"},{"label":"T","kind":"textarea"}]}"#;
    let (_c, _) = home.ask(&second, "Fill this in", Some(form));
    let confirm = r#"{"type":"confirm","confirm_label":"Merge","cancel_label":"Not yet"}"#;
    let (_d, _) = home.ask(&third, DIFF, Some(confirm));
    let (fourth, fifth) = (home.join(), home.join());
    let twins = [&fourth, &fifth].map(|agent| {
        let asking = home.start_cue(
            agent,
            "Earlier?",
            Some(r#"{"type":"choice","options":["A","B"]}"#),
        );
        home.wait_for_one(|cue| cue["agent_id"] == agent.as_str());
        asking
    });
    let rule = "[[policy]]\nname = \"deploys are mine\"\ntext = \"deploy\"\nhold = true\n";
    home.configure(rule);
    for size in [DESK, PHONE] {
        for scheme in ["light", "dark"] {
            let browser = sign_in(&home, size);
            browser.prefer(scheme);
            browser.script(&format!("{axe}; return null"));
            let view = |name: &str| format!("{name}, {scheme}, {}", size.0);
            check(&browser, &view("inbox"));
            for agent in [&first, &second, &third, &idle] {
                browser.script(&format!("location.hash = '#/agent/{agent}'"));
                browser.until(&format!("return document.querySelector('.head-place')?.title.includes('{agent}') && document.querySelector('.composer') !== null"));
                check(&browser, &view("question"));
            }
            browser.script(&format!("location.hash = '#/agent/{third}'"));
            browser.sees(".answering .for", "Merge it?");
            browser.sees(".answering .patch-bar", "");
            browser.script("document.querySelector('.diff-line.add i:nth-child(2)').click()");
            browser.sees(".review-editor", "New comment");
            check(&browser, &view("review"));
            browser.press(key::ESCAPE);
            if size.0 < 1200 {
                browser.click("[aria-label=More]");
                browser.sees(".rail", "Runtime");
                check(&browser, &view("facts"));
                browser.click("[aria-label=More]");
            }
            for pressed in ["?", ",", "m", "s", "x", "d", "r"] {
                browser.script("document.activeElement.blur()");
                browser.press(pressed);
                browser.sees("dialog h2", "");
                check(&browser, &view(&format!("dialog {pressed}")));
                browser.press(key::ESCAPE);
                browser.misses("dialog");
            }
            browser.press(&format!("{}k{}", key::CONTROL, key::RELEASE));
            browser.sees(".palette", "");
            check(&browser, &view("palette"));
            browser.press(key::ESCAPE);
            browser.misses("dialog");
            browser.script("location.hash = '#/'");
            for (button, part) in [
                ("View", "dialog .line"),
                ("Runs", "dialog .launch-button"),
                ("Settings", "dialog .card"),
            ] {
                browser.click(&format!(".inbox-head [aria-label={button}]"));
                browser.sees(part, "");
                check(&browser, &view(button));
                if button != "Settings" {
                    browser.press(key::ESCAPE);
                    browser.misses("dialog");
                }
            }
            browser.click_text("dialog .button", "New rule");
            browser.script("const says = document.querySelector('.rule-form textarea'); says.value = '*'; const answer = document.querySelectorAll('.rule-form textarea')[1]; answer.value = 'A'; says.dispatchEvent(new Event('input', { bubbles: true }))");
            browser.sees(".trial-list", "Earlier?");
            check(&browser, &view("rule"));
            browser.press(key::ESCAPE);
            browser.press(key::ESCAPE);
            browser.misses("dialog");
            browser.script(&format!("location.hash = '#/agent/{fourth}'"));
            browser.sees(".once", "agents");
            browser.sees(".precedent", "You answered this before");
            check(&browser, &view("the same question and an earlier answer"));
        }
    }
    assert!(twins.iter().all(cueme_tests::Client::is_running));
}

/// A picture, a patch and notes, which the question of an agent of Cursor names.
fn project_with_files(home: &Home) -> (cueme_tests::Client, String) {
    let project = home.scratch().join("shop");
    std::fs::create_dir_all(&project).unwrap();
    std::fs::write(project.join("after.png"), crate::files::PNG).unwrap();
    std::fs::write(project.join("change.patch"), crate::files::PATCH).unwrap();
    let mut command = home.command(&["join", "cursor"]);
    let joined = command.current_dir(&project).output().unwrap();
    let joined = String::from_utf8(joined.stdout).unwrap();
    let agent = joined.lines().find_map(|line| line.strip_prefix("agent_id="));
    let agent = agent.expect("an agent_id").to_owned();
    home.run(&["say", &agent, "Mind the tests."]).expect(0);
    let confirm = r#"{"type":"confirm","confirm_label":"Merge","cancel_label":"Not yet"}"#;
    let prompt = "It looks like ![after](after.png), the change is `change.patch`. Merge it?";
    (home.ask(&agent, prompt, Some(confirm)).0, agent)
}

/// Clicks the first visible match that holds this text, wherever it is scrolled.
pub(crate) fn open_part(browser: &Browser, selector: &str, text: &str) {
    browser.until(&format!(
        "const part = [...document.querySelectorAll({})].find((el) => el.checkVisibility() && el.innerText.includes({})); part?.click(); return Boolean(part)",
        json!(selector),
        json!(text)
    ));
}

#[test]
fn axe_finds_nothing_in_files_settings_runs_and_what_opens_in_them() {
    let axe = axe_core();
    let home = Home::new();
    let (_asking, agent) = project_with_files(&home);
    for size in [DESK, PHONE] {
        for scheme in ["light", "dark"] {
            let browser = sign_in(&home, size);
            browser.prefer(scheme);
            browser.script(&format!("{axe}; return null"));
            let view = |name: &str| format!("{name}, {scheme}, {}", size.0);
            let closes = |dialogs: usize| {
                for _ in 0..dialogs {
                    browser.press(key::ESCAPE);
                }
                browser.misses("dialog");
            };
            browser.script(&format!("location.hash = '#/agent/{agent}'"));
            browser.sees(".patch-files", "defaults.ts");
            browser.sees(".queue", "Mind the tests.");
            browser.until("const image = document.querySelector('.question img'); image.scrollIntoView(); return image.complete && image.naturalWidth === 1");
            check(&browser, &view("files"));
            open_part(&browser, ".diff-line.add i:nth-child(2)", "");
            browser.until("return document.activeElement.matches('.review-editor textarea')");
            browser.press(&format!("Why?{}{}{}", key::CONTROL, key::ENTER, key::RELEASE));
            browser.sees(".review-note", "Why?");
            check(&browser, &view("comment"));
            if size == DESK {
                open_part(&browser, ".split-button", "Split");
                check(&browser, &view("both sides"));
            }
            // Both sides beside each other have the room of the facts.
            browser.click("[aria-label=More]");
            for (button, title) in [
                ("Standing instruction", "Standing instruction"),
                ("Chat in Cursor", "Chat in Cursor"),
            ] {
                open_part(&browser, ".rail button", button);
                browser.sees("dialog h2", title);
                check(&browser, &view(title));
                closes(1);
            }
            open_part(&browser, ".queue-item [aria-label='Change the text']", "");
            browser.sees("dialog textarea", "");
            check(&browser, &view("change a note"));
            closes(1);
            browser.script("location.hash = '#/'");
            browser.click(".inbox-head [aria-label=Settings]");
            for (part, shown) in [
                ("Phone and chat apps", "Add a channel"),
                ("API tokens", "Create a token"),
                ("Connect your agents", "cueme init codex"),
            ] {
                open_part(&browser, "dialog summary", part);
                browser.sees("dialog", shown);
                check(&browser, &view(part));
            }
            open_part(&browser, "dialog .button", "Add a phone");
            browser.until("return document.querySelector('.qr')?.naturalWidth > 0");
            check(&browser, &view("a code for a phone"));
            open_part(&browser, "dialog button", "Add a channel");
            browser.sees("dialog form", "");
            check(&browser, &view("a channel"));
            closes(1);
            browser.click(".inbox-head [aria-label=Runs]");
            browser.click(".launch-button");
            browser.sees("dialog h2", "Start an agent in the cloud");
            open_part(&browser, ".launch summary", "");
            check(&browser, &view("start a run"));
            closes(2);
            browser.write("#search", "merge");
            browser.sees(".results .row", "Merge it?");
            check(&browser, &view("what was found"));
        }
    }
}

#[test]
fn axe_finds_nothing_on_a_link_that_was_used() {
    let axe = axe_core();
    let home = Home::new();
    let used = link(&home);
    drop(Browser::open(&used, DESK));
    for size in [DESK, PHONE] {
        for scheme in ["light", "dark"] {
            let browser = Browser::start(size, "en-US");
            browser.prefer(scheme);
            browser.goto(&used);
            browser.sees("h1", "This browser is not signed in");
            browser.script(&format!("{axe}; return null"));
            check(&browser, &format!("a used link, {scheme}, {}", size.0));
        }
    }
}

#[test]
fn axe_finds_nothing_before_the_first_agent() {
    let axe = axe_core();
    let home = Home::new();
    for size in [DESK, PHONE] {
        for scheme in ["light", "dark"] {
            let browser = Browser::open(&link(&home), size);
            browser.prefer(scheme);
            browser.script(&format!("{axe}; return null"));
            browser.sees(".guide", "cueme demo --here");
            check(&browser, &format!("first visit, {scheme}, {}", size.0));
        }
    }
}

#[test]
fn back_closes_a_dialog_on_a_phone_and_leaves_the_question_where_it_was() {
    let home = Home::new();
    let agent = home.join();
    let (_asking, _) = home.ask(&agent, "Still here?", None);
    let browser = sign_in(&home, PHONE);
    browser.click_text(".row-name", &agent);
    browser.sees(".answering .for", "Still here?");
    browser.click(".decline");
    browser.sees("dialog h2", "Decline the question");
    browser.script("history.back()");
    browser.misses("dialog");
    browser.sees(".answering .for", "Still here?");
    // A dialog that was closed otherwise leaves nothing behind in the history.
    browser.click(".decline");
    browser.click("dialog [aria-label=Close]");
    browser.misses("dialog");
    browser.until("return history.state?.dialog === undefined");
    browser.script("history.back()");
    browser.sees(".row-name", &agent);
}

#[test]
fn back_closes_every_dialog_on_a_phone() {
    let home = Home::new();
    let agent = home.join();
    let (_asking, _) = home.ask(&agent, "Still here?", None);
    let browser = sign_in(&home, PHONE);
    let closes = |name: &str| {
        browser.sees("dialog", "");
        browser.until("return history.state?.dialog !== undefined");
        browser.script("history.back()");
        browser.misses("dialog");
        eprintln!("{name} is closed");
    };
    for button in [
        "View",
        "Runs",
        "Message several agents",
        "Keyboard shortcuts",
        "Settings",
    ] {
        browser.click(&format!(".inbox-head [aria-label='{button}']"));
        closes(button);
    }
    browser.click(".inbox-head [aria-label=Settings]");
    browser.click_text("dialog .button", "New rule");
    browser.sees("dialog h2", "New rule");
    browser.script("history.back()");
    browser.until("return document.querySelectorAll('dialog').length === 1");
    closes("settings below a rule");
    browser.click_text(".row-name", &agent);
    browser.sees(".answering .for", "Still here?");
    for (pressed, name) in [
        ("s", "snooze"),
        ("x", "several"),
        ("d", "decline"),
        ("r", "rename"),
    ] {
        browser.script("document.activeElement.blur()");
        browser.press(pressed);
        closes(name);
        browser.sees(".answering .for", "Still here?");
    }
    browser.press(&format!("{}k{}", key::CONTROL, key::RELEASE));
    closes("palette");
    browser.sees(".answering .for", "Still here?");
}
