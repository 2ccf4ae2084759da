//! The same question of several agents is one card, and one answer goes to all that are left ticked.

use serde_json::json;

use crate::driver::{Browser, DESKTOP, PHONE, sign_in};
use cueme_tests::{Client, Home};

const QUESTION: &str = "Node 20 leaves support in April. Move CI to Node 22 now?";
const CONFIRM: &str = r#"{"type":"confirm","confirm_label":"Yes, move","cancel_label":"Not yet"}"#;

/// Lets agents of several projects ask the same.
fn ask_all(home: &Home, projects: &[&str]) -> Vec<(String, Client)> {
    ask_all_this(home, projects, QUESTION)
}

fn ask_all_this(home: &Home, projects: &[&str], question: &str) -> Vec<(String, Client)> {
    let ask = |project: &&str| {
        let folder = home.scratch().join(project);
        std::fs::create_dir_all(&folder).unwrap();
        let joined = home
            .command(&["join", "patient"])
            .current_dir(&folder)
            .output()
            .unwrap();
        let joined = String::from_utf8(joined.stdout).unwrap();
        let agent = joined.lines().find_map(|line| line.strip_prefix("agent_id="));
        let agent = agent.expect("an agent_id").to_owned();
        let asking = home.start_cue(&agent, question, Some(CONFIRM));
        home.wait_for_one(|cue| cue["agent_id"] == agent.as_str());
        (agent, asking)
    };
    projects.iter().map(ask).collect()
}

fn line_of(agent: &str) -> String {
    format!(
        "[...document.querySelectorAll('.once-line')].find((line) => line.innerText.includes({}))",
        json!(agent)
    )
}

fn waits_for_lines(browser: &Browser, count: u64) {
    browser.until(&format!(
        "return [...document.querySelectorAll('.once-line')].filter((line) => line.checkVisibility()).length === {count}"
    ));
}

#[test]
fn one_answer_goes_to_every_agent_that_is_left_ticked_and_each_can_be_taken_back() {
    for size in [DESKTOP, PHONE] {
        let home = Home::new();
        let mut asking = ask_all(&home, &["payments-api", "storefront-web", "数据平台"]);
        let other = home.join();
        let (_other, _) = home.ask(&other, "Something else?", None);
        let browser = sign_in(&home, size);
        browser.until("return document.querySelectorAll('.row').length === 2");
        browser.sees(".row-name", "3 agents");
        browser.sees(".group-name", "One question, 3 projects");
        browser.sees(".row-place", "payments-api, storefront-web, 数据平台");
        assert_eq!(browser.text("[data-filter=waiting] .chip-count"), "2");
        browser.click_text(".row-text", QUESTION);
        waits_for_lines(&browser, 3);
        browser.sees(".once-count", "Your answer goes to all 3 agents.");
        // The one on screen always gets its answer; the last one is left out.
        let (left_out, waiting) = asking.pop().unwrap();
        let (second, second_asking) = asking.pop().unwrap();
        let (first, first_asking) = asking.pop().unwrap();
        assert_eq!(
            browser.script(&format!(
                "return {}.querySelector('input').disabled",
                line_of(&first)
            )),
            json!(true)
        );
        browser.sees(".once-line", "this question");
        browser.script(&format!("{}.querySelector('input').click()", line_of(&left_out)));
        browser.sees(
            ".once-count",
            "Your answer goes to 2 of 3 agents. The others stay open.",
        );
        browser.write(".composer-text", "one pull request each");
        browser.click("[data-confirm=true]");
        browser.until("return document.querySelectorAll('.toast [type=button]').length >= 2");
        // Each is a decision of its own: the second one is taken back, the first one goes out.
        browser.until(&format!(
            "const toast = [...document.querySelectorAll('.toast')].find((toast) => toast.innerText.includes({})); toast?.querySelector('.strong').click(); return Boolean(toast)",
            json!(second)
        ));
        let told = first_asking.finish().expect(0).stdout;
        assert!(
            told.starts_with("Yes, move\n") && told.contains("one pull request each"),
            "{told}"
        );
        assert!(second_asking.is_running() && waiting.is_running());
        // The two that are left are one card again.
        browser.script("location.hash = '#/'");
        browser.sees(".row-name", "2 agents");
        browser.click_text(".row-text", QUESTION);
        waits_for_lines(&browser, 2);
        browser.script("document.querySelector('.composer-text').value = ''");
        browser.click("[data-confirm=false]");
        for asking in [second_asking, waiting] {
            assert!(asking.finish().expect(0).stdout.starts_with("Not yet\n"));
        }
    }
}

#[test]
fn a_refusal_goes_to_all_of_them_and_a_failure_is_told_by_name() {
    let home = Home::new();
    let mut asking = ask_all(&home, &["payments-api", "storefront-web", "数据平台"]);
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-text", QUESTION);
    waits_for_lines(&browser, 3);
    let (last, last_asking) = asking.pop().unwrap();
    // Requests about this one fail, as they do when somebody was faster.
    browser.script("const send = window.fetch; window.fetch = (url, how) => (how?.method === 'POST' && window.refused?.some((id) => String(url).includes(id)) ? Promise.resolve(new Response(JSON.stringify({ error: { code: 'already_decided', message: 'somebody was faster' } }), { status: 409, headers: { 'content-type': 'application/json' } })) : send(url, how))");
    browser.until(&format!(
        "return fetch('/api/v1/agents/{last}').then((answer) => answer.json()).then((agent) => {{ window.refused = agent.open.map((cue) => cue.cue_id); return window.refused.length === 1; }})"
    ));
    browser.click(".decline");
    browser.write("dialog textarea", "not this quarter");
    browser.click("dialog .primary");
    browser.sees(
        ".toast[data-tone=bad]",
        &format!("Not sent to {last}: Somebody was faster."),
    );
    for (_, asking) in asking {
        assert!(
            asking
                .finish()
                .expect(0)
                .stdout
                .starts_with("declined: not this quarter\n")
        );
    }
    assert!(last_asking.is_running());
}

#[test]
fn how_many_get_the_answer_is_in_sight_with_the_buttons_that_send_it() {
    let question = format!("{QUESTION}\n\n{}", "One more step.\n\n".repeat(80));
    for size in [DESKTOP, PHONE] {
        let home = Home::new();
        let asking = ask_all_this(&home, &["payments-api", "storefront-web", "数据平台"], &question);
        let browser = sign_in(&home, size);
        browser.click_text(".row-name", "3 agents");
        browser.sees(".recipients", "3 of 3 agents");
        browser.script(&format!(
            "{}.querySelector('input').click()",
            line_of(&asking[2].0)
        ));
        browser.until("const timeline = document.querySelector('.timeline'); timeline.dispatchEvent(new Event('wheel')); timeline.scrollTop = 0; return !document.querySelector('.once-count').checkVisibility() || document.querySelector('.once-count').getBoundingClientRect().top > innerHeight");
        for seen in [".recipients", "[data-confirm=true]"] {
            browser.until(&format!("const box = document.querySelector('{seen}').getBoundingClientRect(); return box.width > 0 && box.top > 0 && box.bottom <= innerHeight && box.right <= innerWidth"));
        }
        assert_eq!(browser.text(".recipients"), "2 of 3 agents");
    }
}

#[test]
fn a_row_of_several_agents_shows_each_of_their_runtimes_once() {
    let home = Home::new();
    let agents = ["claude_code", "cursor", "cursor"].map(|runtime| home.join_as(runtime));
    let _asking = agents
        .each_ref()
        .map(|agent| home.start_cue(agent, QUESTION, Some(CONFIRM)));
    let browser = sign_in(&home, DESKTOP);
    browser.sees(".row-name", "3 agents");
    browser.until("return document.querySelectorAll('.row').length === 1 && document.querySelectorAll('.row-glyphs .icon').length === 2");
}
