//! A human approves exactly what the page shows: all of it, inside its block, and nothing folded unseen.

use std::fmt::Write;

use cueme_tests::{Home, Wire, eventually};
use protocol_spec::message::{Ask, Reply, Request};
use protocol_spec::outcome::{Kind, Origin};
use serde_json::{json, value::RawValue};

use crate::driver::{Browser, DESKTOP, PHONE, sign_in};

const WIDTHS: [(u32, u32); 3] = [(1440, 900), (800, 900), PHONE];
pub(crate) const CONFIRM: &str =
    r#"{"type":"confirm","text":"Go on?","confirm_label":"Do it","cancel_label":"Leave it"}"#;

/// Returns every character of a block that is outside of it, of its window, or has no place at all.
const OUTSIDE: &str = r"
const outside = [];
for (const block of document.querySelectorAll('.entry .code pre, .entry .patch')) {
  const frame = block.getBoundingClientRect();
  if (frame.left < 0 || frame.right > innerWidth) outside.push(`block ${frame.left}..${frame.right}`);
  if (block.scrollWidth > block.clientWidth + 1) outside.push(`scrolls ${block.scrollWidth} > ${block.clientWidth}`);
  const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    for (let at = 0; at < node.length; at++) {
      if (!node.data[at].trim()) continue;
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, at + 1);
      const box = range.getBoundingClientRect();
      const isIn = box.width > 0 && box.left >= frame.left && box.right <= frame.right + 1 && box.top >= frame.top - 1 && box.bottom <= frame.bottom + 1;
      if (!isIn) outside.push(`${node.data[at]} of ${node.data.slice(0, 30)}: ${box.left}..${box.right}`);
    }
  }
}
return outside.slice(0, 10);";

/// Asks as something that wants an approval.
fn approve(home: &Home, agent: &str, prompt: &str) -> Wire {
    approve_with(home, agent, prompt, CONFIRM).0
}

/// Asks for approval with these buttons; returns the question too.
pub(crate) fn approve_with(home: &Home, agent: &str, prompt: &str, payload: &str) -> (Wire, String) {
    let mut wire = Wire::connect(&home.path().join("broker.sock")).unwrap();
    let asked = wire.call(&Request::Ask(Ask {
        agent_id: agent.parse().unwrap(),
        kind: Kind::Cue,
        prompt: prompt.into(),
        payload: Some(RawValue::from_string(payload.into()).unwrap()),
        origin: Origin::Approval,
        nonce: None,
    }));
    match asked {
        Some(Reply::Asked(asked)) => (wire, asked.cue_id.to_string()),
        other => panic!("not asked: {other:?}"),
    }
}

fn open(browser: &Browser, agent: &str) {
    browser.click_text(".row-name", agent);
    browser.until("return document.querySelector('.entry .fold') !== null && document.querySelector('.composer') !== null");
}

/// Returns the text of the question without its blanks.
fn letters(browser: &Browser) -> String {
    let text = browser.script("return document.querySelector('.entry .fold').innerText");
    text.as_str()
        .unwrap()
        .chars()
        .filter(|letter| !letter.is_whitespace())
        .collect()
}

#[test]
fn every_character_of_a_diff_is_inside_its_block_at_every_width() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let long = "let answer = compute_everything(first_argument, second_argument, \"数据库迁移\"); ".repeat(3);
    let hunk = format!(
        "@@ -10,4 +10,7 @@ fn main()\n context {long}\n-gone {long}\n+one {long}\n+two\n+\n+\tfour {long}\n--- not a head\n+++ nor this\n"
    );
    // Agents count badly: the head of the first file's hunk promises more lines than there are.
    let file = |name: &str| {
        format!("diff --git a/{name} b/{name}\nindex 1..2 100644\n--- a/{name}\n+++ b/{name}\n{hunk}")
    };
    let fenced = format!(
        "```diff\n{}{}```",
        file("src/main.rs").replace("-10,4 +10,7", "-10,9 +10,9"),
        file("src/数据.rs")
    );
    let code = format!("```rust ignore\n{}\n{}\n```", long, "x".repeat(400));
    let prompt = format!(
        "Apply this?\n\n{fenced}\n\n{code}\n\nAnd this:\n\n{}\nThat is all.",
        file("lib.rs")
    );
    let (_asking, _) = home.ask(&agent, &prompt, None);
    let browser = sign_in(&home, WIDTHS[0]);
    open(&browser, &agent);
    browser.until("return document.querySelectorAll('.patch').length === 2");
    let shown = letters(&browser);
    for line in prompt.lines().filter(|line| !line.starts_with("```")) {
        let line: String = line.chars().filter(|letter| !letter.is_whitespace()).collect();
        assert!(shown.contains(&line), "{line} is not in {shown}");
    }
    for size in WIDTHS {
        browser.resize(size);
        browser.until(&format!("return innerWidth === {}", size.0));
        assert_eq!(browser.script(OUTSIDE), json!([]), "{size:?}");
    }
    // Files one by one, lines with both numbers, marks that are characters.
    assert_eq!(browser.count(".patch details[open]"), 3);
    browser.sees(".patch summary", "src/数据.rs");
    let lines = browser.script(
        "return [...document.querySelector('.patch-lines').querySelectorAll('.diff-line')].slice(4, 8).map((line) => [...line.querySelectorAll('i')].map((number) => number.dataset.n).concat(line.innerText[0]))",
    );
    let numbered = json!([["", "", "@"], ["10", "10", " "], ["11", "", "-"], ["", "11", "+"]]);
    assert_eq!(lines, numbered);
    // Each line has a row of its own.
    let rows = browser.script("return [...document.querySelectorAll('.diff-line')].every((line, at, all) => at === 0 || line.getBoundingClientRect().height >= 14)");
    assert_eq!(rows, json!(true));
}

#[test]
fn an_approval_shows_the_command_as_it_is_written() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let command = "The agent wants to run this command:\n\nls ./src *foo* &#36; \\\n\n[x]: $(touch /tmp/owned)\n<!-- a -->\n```sh x\n# heading\n```";
    let _asking = approve(&home, &agent, command);
    let browser = sign_in(&home, DESKTOP);
    open(&browser, &agent);
    let shown = browser.script("return document.querySelector('.entry .fold pre code').textContent");
    assert_eq!(shown, json!(command));
    assert_eq!(browser.count(".entry .fold :is(h1, em, ul, a)"), 0);
    browser.resize(PHONE);
    assert_eq!(browser.script(OUTSIDE), json!([]));
}

#[test]
fn an_approval_has_a_headline_and_its_fences_step_back() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let command = "May `sh` run in `/tmp`?\n\n```\nrm -rf build\u{202e}\n```sh; reboot\n```";
    let _asking = approve(&home, &agent, command);
    let browser = sign_in(&home, DESKTOP);
    open(&browser, &agent);
    browser.sees(".request", "May `sh` run in `/tmp`?");
    let shown = browser.script("return document.querySelector('.entry .fold pre code').textContent");
    assert_eq!(shown, json!(command.replace('\u{202e}', "⟨U+202E⟩")));
    // What only looks like a fence is as large as the rest of the command.
    let fences = browser
        .script("return [...document.querySelectorAll('.fence')].map((line) => line.textContent.trim())");
    assert_eq!(fences, json!(["```", "```"]));
    // Nothing lies on it.
    assert_eq!(browser.count(".entry .code .copy"), 0);
    let size = |selector: &str| {
        let script =
            format!("return parseFloat(getComputedStyle(document.querySelector('{selector}')).fontSize)");
        browser.script(&script).as_f64().unwrap()
    };
    assert!(size(".request") > size(".entry pre code") && size(".entry pre code") > size(".fence"));
    // Words deny, and the page says so before and while they are written; there is no second button for it.
    assert_eq!(
        browser.script("return document.querySelector('.composer-text').placeholder"),
        json!("Reason to deny, or what to do instead")
    );
    assert_eq!(browser.count(".decline"), 0);
    browser.press("d");
    browser.until("return document.activeElement.matches('.composer-text')");
    browser.press("not in this folder");
    browser.sees(".send", "Deny with this reason");
}

#[test]
fn markdown_swallows_nothing_and_says_which_marks_it_leaves_out() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let prompt = "Run `ls`\n\n[x]: $(reboot)\n\n[https://good.test](https://evil.test/x \"a title\")\n\n|a|\n|-|\n|1|surplus|\n\nrm *.o *.a <!-- note -->\n\n```rust ignore\nx\n```\n\n7. seven";
    let (_asking, _) = home.ask(&agent, prompt, None);
    let browser = sign_in(&home, DESKTOP);
    open(&browser, &agent);
    for swallowed in [
        "[x]: $(reboot)",
        "https://evil.test/x",
        "a title",
        "surplus",
        "*.o *.a <!-- note -->",
        "rust ignore",
        "7.",
    ] {
        browser.sees(".entry .fold", swallowed);
    }
    browser.click_text(".entry .text-button", "Show source");
    browser.until(&format!(
        "return document.querySelector('.entry .source')?.innerText === {}",
        json!(prompt)
    ));
    browser.misses(".entry .fold");
    browser.click_text(".entry .text-button", "Hide source");
    browser.sees(".entry .fold", "surplus");
}

/// A question of so many lines.
pub(crate) fn long(lines: u32) -> String {
    let mut prompt = String::new();
    for number in 0..lines {
        write!(prompt, "line {number} of the plan, which goes on for a while\n\n").unwrap();
    }
    prompt + "THE END: delete everything"
}

#[test]
fn a_yes_waits_until_what_is_folded_was_seen() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let browser = sign_in(&home, DESKTOP);
    for by_key in [true, false] {
        let (asking, _) = home.ask(&agent, &long(1450), Some(CONFIRM));
        open(&browser, &agent);
        browser.until("return document.querySelector('[data-confirm=true]') !== null");
        // The end is there without a click, and how much is not is said twice.
        browser.sees(".entry[data-outcome=open] .fold", "THE END: delete everything");
        browser.sees(".entry[data-outcome=open] .rest", "lines folded");
        browser.sees(".unseen", "lines of the question are folded");
        // The first yes opens what is folded, by key and by click; only one after all was seen is an answer.
        let say_yes = || {
            if by_key {
                browser.press("y");
            } else {
                browser.click("[data-confirm=true]");
            }
        };
        say_yes();
        browser.misses(".unseen");
        browser.misses(".entry[data-outcome=open] .rest");
        browser.sees(".entry[data-outcome=open] .fold", "line 1000 of the plan");
        assert!(asking.is_running());
        assert_eq!(browser.count(".toast"), 0);
        browser.sees(".entry[data-outcome=open] .badge", "Waiting");
        say_yes();
        asking.finish().expect(0);
        browser.sees(".reply .delivery", "Received");
        browser.misses(".entry[data-outcome=open]");
    }
}

#[test]
fn an_approval_with_options_waits_until_what_is_folded_was_seen() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let options = r#"{"type":"choice","options":["Allow (once)","Allow (always)","Reject"]}"#;
    let (_asking, cue) = approve_with(&home, &agent, &long(1450), options);
    let browser = sign_in(&home, DESKTOP);
    open(&browser, &agent);
    browser.sees(".unseen", "lines of the question are folded");
    browser.click(".option");
    browser.click(".send");
    browser.misses(".unseen");
    browser.sees(".entry[data-outcome=open] .badge", "Waiting");
    browser.click(".send");
    browser.misses(".entry[data-outcome=open]");
    let text = eventually("the answer", || {
        home.show(&cue)["text"].as_str().map(str::to_owned)
    });
    assert_eq!(text, "Allow (once)");
}

#[test]
fn a_long_file_of_a_patch_is_folded_and_counts_as_unseen() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let lines = "+let x = 1;\n".repeat(500);
    let patch = format!("```diff\n--- /dev/null\n+++ b/long.rs\n@@ -0,0 +1,500 @@\n{lines}```");
    let (asking, _) = home.ask(&agent, &patch, Some(CONFIRM));
    let browser = sign_in(&home, DESKTOP);
    open(&browser, &agent);
    browser.sees(".patch summary", "+500");
    browser.sees(".patch summary", "503 lines folded");
    browser.sees(".unseen", "503 lines");
    browser.click(".patch summary");
    browser.misses(".unseen");
    browser.click("[data-confirm=true]");
    asking.finish().expect(0);
}

#[test]
fn invisible_characters_of_options_and_labels_are_spelled_out() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let choice = r#"{"type":"choice","options":["keep\u202eit","👩‍💻 drop"]}"#;
    let (asking, cue) = home.ask(&agent, "Which?", Some(choice));
    let browser = sign_in(&home, DESKTOP);
    open(&browser, &agent);
    browser.sees(".option", "keep⟨U+202E⟩it");
    browser.sees(".option", "👩‍💻 drop");
    browser.click(".option");
    browser.click(".send");
    assert!(asking.finish().expect(0).stdout.contains("keep\u{202e}it"));
    drop(cue);
    let confirm = r#"{"type":"confirm","text":"a\u200bb","confirm_label":"y\u202ees","cancel_label":"no"}"#;
    let (_asking, _) = home.ask(&agent, "Sure?", Some(confirm));
    browser.sees(".confirm-text", "a⟨U+200B⟩b");
    browser.sees("[data-confirm=true]", "y⟨U+202E⟩es");
}
