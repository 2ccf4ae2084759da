//! The inbox: who waits, finding things, and what a person does beside answering.

use crate::driver::{ALL_STYLES, Browser, DESKTOP, PHONE, key, link, sign_in};
use cueme_tests::Home;

const TEXT: &str = ".composer-text";

#[test]
fn without_agents_the_page_teaches_how_to_connect_each_runtime() {
    let home = Home::created();
    for size in [DESKTOP, PHONE] {
        let browser = sign_in(&home, size);
        for runtime in [
            "cursor",
            "claude_code",
            "codex",
            "windsurf",
            "vscode",
            "kiro",
            "opencode",
        ] {
            browser.sees(".guide", &format!("cueme init {runtime}"));
        }
    }
}

#[test]
fn agents_are_grouped_by_what_they_need_and_times_run() {
    let home = Home::created();
    let waiting = home.join_as("terminal");
    let detached = home.join_as("terminal");
    let working = home.join_as("terminal");
    let browser = sign_in(&home, DESKTOP);
    browser.sees("[data-state=working] .row-name", &working);
    let (_asking, _) = home.ask(&waiting, "Look **here**", None);
    browser.sees("[data-state=waiting] .row-name", &waiting);
    browser.sees(".inbox-summary", "1 question is waiting for you");
    let (gone, _) = home.ask(&detached, "Gone", None);
    drop(gone);
    browser.sees("[data-state=detached] .row-name", &detached);
    let time = "[data-state=waiting] .row-time";
    let before = browser.text(time);
    browser.until(&format!(
        "return document.querySelector({time:?}).innerText !== {before:?}"
    ));
}

#[test]
fn an_agent_is_pinned_renamed_and_archived_and_a_question_brings_it_back() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    browser.click("[aria-label=Pin]");
    browser.sees(".rail [aria-label=Unpin]", "");
    browser.until("return Boolean(document.querySelector('.row .icon-pin'))");
    browser.click(".title-button");
    browser.write("dialog input", "<i>Checkout</i>");
    browser.click("dialog .primary");
    browser.sees(".row-name", "<i>Checkout</i>");
    browser.click("[aria-label=Archive]");
    browser.misses(".row-name");
    browser.click_text(".chip", "Archived1");
    browser.sees(".row-name", "<i>Checkout</i>");
    browser.click_text(".chip", "All");
    browser.misses(".row-name");
    let (_asking, _) = home.ask(&agent, "Still here", None);
    browser.sees("[data-state=waiting] .row-name", "<i>Checkout</i>");
}

#[test]
fn unread_questions_are_marked_until_they_were_seen() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let browser = sign_in(&home, DESKTOP);
    let (_asking, _) = home.ask(&agent, "New", None);
    browser.until("return Boolean(document.querySelector('.row-item.unread'))");
    browser.click_text(".row-name", &agent);
    browser.until("return !document.querySelector('.row-item.unread')");
    browser.reload();
    browser.until("return document.querySelectorAll('.row-item').length === 1 && !document.querySelector('.row-item.unread')");
}

#[test]
fn questions_and_answers_are_found_by_their_words_also_in_chinese() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (asking, cue) = home.ask(&agent, "The zebra crossed the 数据库迁移", None);
    home.run(&["answer", &cue, "feed the giraffe"]).expect(0);
    asking.finish().expect(0);
    let browser = sign_in(&home, PHONE);
    for (words, found) in [("zebra", "zebra"), ("giraffe", "giraffe"), ("数据库", "数据库")] {
        browser.click("#search");
        browser.write("#search", words);
        browser.sees(".hit mark", found);
        browser.press(key::ESCAPE);
        browser.misses(".hit");
    }
    browser.write("#search", "zebra");
    browser.click(".hit");
    browser.sees(".entry.found .prose", "The zebra crossed");
}

#[test]
fn notes_are_left_reordered_deleted_and_delivered_with_the_next_answer() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    for message in ["one", "two", "three"] {
        browser.write(TEXT, message);
        browser.press(key::ENTER);
        browser.sees(".queue-text", message);
    }
    browser.click(".queue-item:nth-child(3) [aria-label='Move up']");
    browser.until("return [...document.querySelectorAll('.queue-text')].map((el) => el.innerText).join() === 'one,three,two'");
    browser.click(".queue-item:nth-child(1) [aria-label=Delete]");
    browser.until("return [...document.querySelectorAll('.queue-text')].map((el) => el.innerText).join() === 'three,two'");
    let (asking, cue) = home.ask(&agent, "What next?", None);
    home.run(&["answer", &cue, "the parser"]).expect(0);
    let answer = asking.finish().expect(0).stdout;
    let [three, two, parser] = ["three", "two", "the parser"].map(|text| answer.find(text).unwrap());
    assert!(
        three < two && two < parser && !answer.contains("one\n"),
        "{answer}"
    );
    browser.misses(".queue-item");
}

#[test]
fn one_message_reaches_a_saved_group() {
    let home = Home::created();
    let agents = [
        home.join_as("terminal"),
        home.join_as("terminal"),
        home.join_as("terminal"),
    ];
    let browser = sign_in(&home, DESKTOP);
    browser.click("[aria-label='Message several agents']");
    for agent in &agents[..2] {
        browser.click_text(".pick bdi", agent);
    }
    browser.sees("dialog", "2 selected");
    browser.click_text("dialog .text-button", "Save selection as a group");
    browser.write("dialog:last-of-type input[type=text]", "pair");
    browser.press(key::ENTER);
    browser.sees("dialog .chip", "pair");
    browser.reload();
    browser.click("[aria-label='Message several agents']");
    browser.click_text("dialog .chip", "pair2");
    browser.write("dialog textarea", "stop touching main");
    browser.click("dialog .primary");
    browser.sees(".toast", "Queued for 2 agents");
    for (agent, is_told) in agents.iter().zip([true, true, false]) {
        let listed = home.run(&["agents", "--json"]).expect(0).json();
        let entry = listed
            .as_array()
            .unwrap()
            .iter()
            .find(|entry| entry["agent_id"] == agent.as_str())
            .unwrap()
            .clone();
        assert_eq!(entry["queued"].as_u64().unwrap() == 1, is_told, "{entry}");
    }
}

#[test]
fn a_standing_instruction_goes_with_every_answer() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (asking, _) = home.ask(&agent, "Begin?", None);
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    browser.click(".rail [aria-label='Standing instruction']");
    browser.write("dialog textarea", "analysis only, change nothing");
    browser.click("dialog .primary");
    browser.sees(".standing", "analysis only");
    browser.write(TEXT, "yes");
    browser.press(key::ENTER);
    let stdout = asking.finish().expect(0).stdout;
    assert!(
        stdout.starts_with("yes\n") && stdout.contains("analysis only, change nothing"),
        "{stdout}"
    );
}

#[test]
fn the_keyboard_alone_is_enough() {
    let home = Home::created();
    let (first, second) = (home.join_as("terminal"), home.join_as("terminal"));
    let (asking, _) = home.ask(&first, "Pick", Some(r#"{"type":"choice","options":["A","B"]}"#));
    let (_other, _) = home.ask(&second, "Wait", None);
    let browser = sign_in(&home, DESKTOP);
    browser.press("?");
    browser.sees("dialog .keys", "Longest wait");
    browser.press(key::ESCAPE);
    browser.misses("dialog");
    browser.press("w");
    browser.sees(".title-button", &first);
    browser.until("return document.querySelectorAll('.option-input').length === 3");
    browser.press("2");
    browser.until("return document.querySelectorAll('.option-input')[1].checked");
    browser.press(&format!("{}{}{}", key::CONTROL, key::ENTER, key::RELEASE));
    browser.sees(".toast", "Undo");
    browser.until("document.activeElement.blur(); return true");
    browser.press("u");
    // The composer that has sent stays until the question is open again.
    browser.until("const composer = document.querySelector('.entry[data-outcome=open] .composer'); return composer?.querySelectorAll('.option-input')[1]?.checked === true && composer.querySelector('.send').disabled === false");
    // The cursor stays out of the text, so that the next command is not written into it.
    browser.until("return document.activeElement.tagName !== 'TEXTAREA'");
    browser.press(&format!("{}{}{}", key::CONTROL, key::ENTER, key::RELEASE));
    assert!(asking.finish().expect(0).stdout.starts_with("B\n"));
    browser.until("document.activeElement.blur(); return true");
    browser.press("w");
    browser.sees(".title-button", &second);
    browser.sees(".answering .for", "Wait");
    browser.press("d");
    browser.sees("dialog", "Decline the question");
    browser.press(key::ESCAPE);
    browser.misses("dialog");
    browser.press("/");
    browser.until("return document.activeElement.id === 'search'");
}

#[test]
fn the_page_speaks_chinese_when_the_browser_does_and_can_be_switched() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (_asking, _) = home.ask(&agent, "可以吗?", None);
    let browser = Browser::start(DESKTOP, "zh-CN");
    browser.goto(&link(&home));
    browser.sees(".inbox-summary", "有 1 个问题在等你");
    browser.until("return document.documentElement.lang === 'zh-CN'");
    browser.click("[aria-label=设置]");
    browser.sees("dialog h2", "设置");
    assert_eq!(browser.script(ALL_STYLES), serde_json::json!(true));
    browser.script("const list = document.querySelectorAll('dialog select')[1]; list.value = 'en'; list.dispatchEvent(new Event('change'))");
    browser.sees(".inbox-summary", "1 question is waiting for you");
    browser.until("return document.documentElement.lang === 'en'");
}

#[test]
fn times_and_saved_replies_are_those_of_the_readers_place() {
    let home = Home::created();
    let agent = home.join_as("patient");
    let (_asking, _) = home.ask(&agent, "When?", None);
    for (language, clock, reply) in [
        ("en-US", "^(1[0-2]|[1-9]):[0-5][0-9]\\s(AM|PM)$", "Continue"),
        ("en-GB", "^([01][0-9]|2[0-3]):[0-5][0-9]$", "Continue"),
        ("zh-CN", "^([01][0-9]|2[0-3]):[0-5][0-9]$", "继续"),
    ] {
        let browser = Browser::start(DESKTOP, language);
        browser.goto(&link(&home));
        browser.wait_until_ready();
        browser.click_text(".row-name", &agent);
        browser.until(&format!(
            "return /{clock}/.test(document.querySelector('.entry-time')?.innerText ?? '')"
        ));
        browser.sees(".quick .chip", reply);
    }
}

#[test]
fn devices_are_listed_a_link_is_shown_as_a_code_and_a_revoked_device_is_out() {
    let home = Home::created();
    let laptop = sign_in(&home, DESKTOP);
    let phone = sign_in(&home, PHONE);
    laptop.click("[aria-label=Settings]");
    laptop.until("return document.querySelectorAll('dialog .card bdi').length === 2");
    laptop.click_text("dialog .button", "Add a phone or another browser");
    laptop.until("return document.querySelector('.qr')?.naturalWidth > 0");
    laptop.click_text("dialog .card .text-button", "Sign out");
    phone.sees("body", "signed out");
    laptop.until("return document.querySelectorAll('dialog .card bdi').length === 1");
}

#[test]
fn a_link_that_was_used_shows_a_page_that_looks_like_ours_and_says_what_to_do() {
    let home = Home::new();
    let link = link(&home);
    drop(Browser::open(&link, DESKTOP));
    let browser = Browser::start(PHONE, "en-US");
    browser.goto(&link);
    browser.sees("h1", "This browser is not signed in");
    browser.sees("pre", "cueme ui");
    // Its own style counts: the policy of the page lets it through, and nothing else.
    browser.until("return getComputedStyle(document.querySelector('main')).borderRadius === '10px' && document.documentElement.scrollWidth <= innerWidth");
    browser.sees("section[lang='zh-CN'] h1", "此浏览器尚未登录");
}

#[test]
fn the_first_visit_tells_what_init_writes_for_every_runtime() {
    let home = Home::new();
    let browser = sign_in(&home, DESKTOP);
    browser.sees(".blank-guide .guide", "cueme demo --here");
    browser.sees(".blank-guide .guide-name", "Claude Code");
    let names = browser.script("return [...document.querySelectorAll('.blank-guide .guide-list .command code')].map((code) => code.textContent)");
    let offered: Vec<String> = runtimes::Runtime::ALL
        .into_iter()
        .filter(|runtime| *runtime != runtimes::Runtime::Terminal)
        .map(|runtime| format!("cueme init {runtime}"))
        .collect();
    assert_eq!(names, serde_json::json!(offered));
    browser.until("return !document.querySelector('.blank-guide .guide-files').checkVisibility()");
    browser.click(".blank-guide [aria-label^='Claude Code']");
    browser.sees(".blank-guide .guide-files", "~/.claude/CLAUDE.md");
    browser.sees(
        ".blank-guide .guide-files",
        "instructions that tell the agent to ask",
    );
}

#[test]
fn filters_keep_their_counts_with_a_hundred_agents_and_the_chosen_one_is_remembered() {
    let home = Home::new();
    let agents = (0..100).map(|_| home.join()).collect::<Vec<_>>();
    let asking = [0, 1, 2].map(|at| home.ask(&agents[at], &format!("Question {at}?"), None));
    let browser = sign_in(&home, DESKTOP);
    browser.until("return document.querySelectorAll('.row').length === 100");
    let counts = |expected: serde_json::Value| {
        browser.until(&format!(
            "return JSON.stringify([...document.querySelectorAll('.inbox > .chips .chip')].map((chip) => [chip.dataset.filter, chip.querySelector('.chip-count')?.innerText ?? ''])) === JSON.stringify({expected})"
        ));
    };
    counts(serde_json::json!([
        ["all", ""],
        ["waiting", "3"],
        ["unread", "3"]
    ]));
    browser.press("x");
    browser.click_text("dialog .pick", "Idle");
    browser.click_text("dialog .button", "Archive 97");
    browser.misses("dialog");
    counts(serde_json::json!([
        ["all", ""],
        ["waiting", "3"],
        ["unread", "3"],
        ["archived", "97"]
    ]));
    browser.click("[data-filter=waiting]");
    browser.until("return document.querySelectorAll('.row').length === 3");
    counts(serde_json::json!([
        ["all", ""],
        ["waiting", "3"],
        ["unread", "3"],
        ["archived", "97"]
    ]));
    browser.reload();
    browser.until("return document.querySelector('[data-filter=waiting]').ariaPressed === 'true'");
    drop(asking);
}

#[test]
fn the_list_is_made_wider_with_a_mouse() {
    let home = Home::new();
    let browser = sign_in(&home, DESKTOP);
    let width = "return document.querySelector('.inbox').offsetWidth";
    let before = browser.script(width).as_u64().unwrap();
    let mouse = |kind: &str, x: u64| {
        browser.devtools("Input.dispatchMouseEvent", serde_json::json!({"type": kind, "x": x, "y": 400, "button": "left", "buttons": 1, "clickCount": 1}));
    };
    mouse("mousePressed", before);
    mouse("mouseMoved", before + 40);
    mouse("mouseMoved", before + 90);
    mouse("mouseReleased", before + 90);
    browser.until(&format!("{width} === {}", before + 90));
    browser.reload();
    assert_eq!(browser.script(width), serde_json::json!(before + 90));
}

#[test]
fn a_date_of_another_year_names_it() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    home.ask_and_answer(&agent, "Long ago?", None, &["yes"]);
    home.run(&["broker", "stop"]).expect(0);
    let database = rusqlite::Connection::open(home.path().join("data/cueme.db")).unwrap();
    let days = "UPDATE cues SET asked_at = asked_at - 400 * 86400000";
    database.execute(days, []).unwrap();
    drop(database);
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    browser.until("const year = String(new Date(Date.now() - 400 * 864e5).getFullYear()); return ['.day', '.entry-time'].every((place) => document.querySelector(place)?.innerText.includes(year))");
}

#[test]
fn the_bars_of_the_browser_have_the_colour_of_the_page() {
    let home = Home::new();
    let browser = sign_in(&home, PHONE);
    let same = "const shown = [...document.querySelectorAll('meta[name=theme-color]')].filter((meta) => matchMedia(meta.media).matches).map((meta) => meta.content); const probe = document.createElement('p'); probe.style.color = shown[0]; document.body.append(probe); const is = shown.length === 1 && getComputedStyle(probe).color === getComputedStyle(document.body).backgroundColor; probe.remove(); return is";
    for scheme in ["light", "dark"] {
        browser.prefer(scheme);
        browser.until(same);
    }
    browser.click("[aria-label=Settings]");
    for theme in ["light", "dark"] {
        browser.until(&format!("const list = document.querySelector('dialog select'); if (!list) return false; list.value = '{theme}'; list.dispatchEvent(new Event('change')); return true"));
        browser.until(same);
    }
    browser.until("return fetch('/manifest.webmanifest', { credentials: 'include' }).then((answer) => answer.json()).then((manifest) => manifest.theme_color === document.querySelector('meta[data-scheme=light]').content)");
}

#[test]
fn what_was_archived_waits_for_nobody_and_a_new_question_brings_it_back() {
    let home = Home::new();
    let (put_away, other) = (home.join(), home.join());
    let (_old, _) = home.ask(&put_away, "Put away?", None);
    let (_young, _) = home.ask(&other, "Mine?", None);
    let browser = sign_in(&home, DESKTOP);
    browser.until("return document.querySelectorAll('.row').length === 2");
    crate::states::change_agent(&browser, &put_away, &serde_json::json!({ "archived": true }));
    browser.until("return document.querySelectorAll('.row').length === 1");
    browser.press("w");
    browser.sees(".answering .prose", "Mine?");
    browser.press("w");
    browser.press("?");
    browser.sees("dialog h2", "Keyboard");
    browser.press(key::ESCAPE);
    browser.misses("dialog");
    browser.sees(".answering .prose", "Mine?");
    let (_new, _) = home.ask(&put_away, "And now?", None);
    browser.sees(".row-text", "And now?");
    browser.press("w");
    browser.sees(".answering .prose", "Put away?");
}

#[test]
fn escape_closes_the_facts_before_it_leaves_the_question() {
    let home = Home::new();
    let agent = home.join();
    let (_asking, _) = home.ask(&agent, "Still here?", None);
    let browser = sign_in(&home, (800, 900));
    browser.click_text(".row-name", &agent);
    browser.sees(".answering .for", "Still here?");
    browser.click(".more-button");
    browser.sees(".rail.open", "Listening");
    browser.sees(".rail.open", "since");
    browser.press(key::ESCAPE);
    browser.misses(".rail.open");
    browser.sees(".answering .for", "Still here?");
    browser.press(key::ESCAPE);
    browser.until("return location.hash === '#/'");
}
