//! Machine text is told as what it means, and the Chinese page speaks Chinese.

use serde_json::json;

use crate::driver::{Browser, DESKTOP, link, sign_in};
use crate::states::change_agent;
use cueme_tests::Home;

/// A sentence in Latin letters, outside of code.
const LATIN: &str = r"
const told = (el) => { const copy = el.cloneNode(true); copy.querySelectorAll('code').forEach((code) => code.remove()); return copy.textContent; };
return [...document.querySelectorAll(SELECTOR)].map(told).filter((text) => /[A-Za-z]{2,}(?: [a-z]{2,}){2,}/.test(text));";

#[track_caller]
fn speaks_chinese(browser: &Browser, selector: &str) {
    browser.sees(selector, "");
    let latin = browser.script(&LATIN.replace("SELECTOR", &json!(selector).to_string()));
    assert_eq!(latin, json!([]), "{selector}");
}

#[test]
fn labels_around_an_answer_are_shown_neither_in_trials_nor_in_search_nor_to_the_second_who_answers() {
    let home = Home::new();
    let agent = home.join();
    home.run(&["say", &agent, "Mind the kettle."]).expect(0);
    let browser = sign_in(&home, DESKTOP);
    change_agent(&browser, &agent, &json!({ "standing": "analysis only" }));
    home.ask_and_answer(&agent, "Which colour?", None, &["blue as the sky"]);
    for words in ["kettle", "sky", "analysis"] {
        browser.script("document.getElementById('search').value = ''");
        browser.write("#search", words);
        browser.sees(".results .row mark", words);
        let snippet = browser.text(".results .row-text");
        assert!(!snippet.contains('['), "{snippet}");
    }
    let said = browser.script("return fetch('/api/v1/rule-trials', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ name: 'trial', says: 'Which colour?', answer: 'red', until: new Date(Date.now() + 86400000).toISOString() }) }).then((answer) => answer.json()).then(({ fitting }) => fitting.map(({ said }) => said))");
    assert_eq!(said, json!(["blue as the sky"]));
    home.run(&["say", &agent, "And the cups."]).expect(0);
    let (asking, cue) = home.ask(&agent, "Which size?", None);
    home.run(&["answer", &cue, "small"]).expect(0);
    asking.finish().expect(0);
    let lost = browser.script(&format!("return fetch('/api/v1/cues/{cue}/answer', {{ method: 'POST', headers: {{ 'content-type': 'application/json' }}, body: JSON.stringify({{ id: crypto.randomUUID(), answer: {{ text: 'large' }} }}) }}).then((answer) => answer.json()).then(({{ error }}) => error.details.text)"));
    assert_eq!(lost, json!("small"));
}

#[test]
fn a_refusal_and_a_closing_are_told_by_the_page_and_not_by_what_the_agent_read() {
    let home = Home::new();
    let agent = home.join();
    for verb in ["decline", "cancel"] {
        home.run(&["say", &agent, "Mind the kettle."]).expect(0);
        let (asking, cue) = home.ask(&agent, &format!("To {verb}?"), None);
        home.run(&[verb, &cue]).expect(0);
        asking.finish();
    }
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    browser.sees(".reply[data-outcome=declined] .decision", "Declined");
    browser.sees(".reply[data-outcome=declined] .around", "Mind the kettle.");
    browser.sees(
        ".reply[data-outcome=cancelled] .decision",
        "Closed without an answer",
    );
    let replies = browser
        .script("return [...document.querySelectorAll('.reply')].map((reply) => reply.innerText).join()");
    let replies = replies.as_str().unwrap();
    for machine in ["the human does not want", "cancelled:", "declined:", "[note"] {
        assert!(!replies.contains(machine), "{replies}");
    }
}

#[test]
fn values_of_a_form_are_words_in_an_earlier_answer_too() {
    let home = Home::new();
    let agent = home.join();
    let form = r#"{"type":"form","fields":[{"label":"Loud","kind":"boolean"},{"label":"Sizes","options":["s","m"],"allow_multiple":true}]}"#;
    home.ask_and_answer(
        &agent,
        "How?",
        Some(form),
        &["--field", "Loud=true", "--field", "Sizes=s", "--field", "Sizes=m"],
    );
    let (_asking, _) = home.ask(&agent, "How?", Some(form));
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    browser.sees(".precedent-said", "Loud: Yes · Sizes: s, m");
}

#[test]
fn the_chinese_page_has_no_english_sentence_in_its_cards_and_its_guide() {
    let home = Home::new();
    home.configure("[[policy]]\nname = \"部署\"\ntext = \"部署\"\npayload = \"confirm\"\norigin = [\"agent\", \"hook\"]\nruntime = [\"cursor\", \"kiro\"]\nhours = \"22:00-06:00\"\nhold = true\n");
    let browser = Browser::start(DESKTOP, "zh-CN");
    browser.goto(&link(&home));
    browser.wait_until_ready();
    browser.sees(".guide", "cueme demo --here");
    browser.sees(".guide-list .guide-name", "Claude Code");
    speaks_chinese(&browser, ".guide");
    browser.script(
        "for (const button of document.querySelectorAll('.guide-list [aria-expanded]')) button.click()",
    );
    browser.sees(".guide-files", "要求智能体提问的指令");
    speaks_chinese(&browser, ".guide");
    browser.click("[aria-label=设置]");
    browser.sees(".card", "部署");
    browser.sees(".card", "留给你");
    speaks_chinese(&browser, ".card");
    let make = |name: &str| {
        browser.click_text("dialog .button", "新建规则");
        browser.sees("dialog h2", "新建规则");
        browser.script(&format!("const [says, answer] = document.querySelectorAll('.rule-form textarea'); says.value = '继续吗？'; answer.value = '继续'; const name = document.querySelector('.rule-form input[type=text]'); name.value = {}; says.dispatchEvent(new Event('input', {{ bubbles: true }}))", json!(name)));
        browser.click_text("dialog .button.primary", "启用规则");
    };
    make("继续");
    browser.misses(".rule-form");
    browser.sees(".card", "内容为“继续吗？”：回答“继续”");
    speaks_chinese(&browser, ".card");
    make("继续");
    browser.sees(".rule-form .field-error", "请求未被接受");
}

#[test]
fn every_part_of_the_chinese_settings_speaks_chinese() {
    let home = Home::new();
    let channel =
        "[[notify]]\nkind = \"ntfy\"\nname = \"team\"\nurl = \"https://ntfy.example/team\"\nafter = \"1h\"\n";
    home.configure(channel);
    let browser = Browser::start(DESKTOP, "zh-CN");
    browser.goto(&link(&home));
    browser.wait_until_ready();
    browser.click("[aria-label=设置]");
    browser.sees("dialog h2", "设置");
    browser.script("for (const part of document.querySelectorAll('dialog details')) part.open = true");
    for (part, words) in [
        ("#settings-reach", "推送到此设备"),
        ("#settings-reach [data-channel=team]", "仅通知"),
        ("#settings-tokens", "令牌"),
        ("dialog .guide-list", "Claude Code"),
    ] {
        browser.sees(part, words);
    }
    browser.click_text("#settings-reach .button", "添加渠道");
    browser.sees("#settings-reach form", "类型");
    speaks_chinese(&browser, ".settings-section");
}

#[test]
fn times_and_lists_are_written_as_the_language_has_them() {
    let home = Home::new();
    let agent = home.join();
    let (_asking, _) = home.ask(&agent, "多久了？", None);
    home.run(&["broker", "stop"]).expect(0);
    let database = rusqlite::Connection::open(home.database()).unwrap();
    let earlier = "UPDATE cues SET asked_at = asked_at - 7510000";
    database.execute(earlier, []).unwrap();
    drop(database);
    home.wait_for("多久了？", 1);
    for (language, words) in [("en-US", "2h 05m"), ("zh-CN", "2小时5分")] {
        let browser = Browser::start(DESKTOP, language);
        browser.goto(&link(&home));
        browser.wait_until_ready();
        browser.sees(".row-time", words);
        browser.click_text(".row-name", &agent);
        browser.sees(".entry .badge", words);
    }
}
