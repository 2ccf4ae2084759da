//! The page under an unsteady broker, in two tabs, and under someone who is typing.

use rustix::process::{Pid, Signal, kill_process};

use crate::driver::{ALL_STYLES, Browser, DESKTOP, key, sign_in};
use cueme_tests::Home;

const TEXT: &str = ".composer-text";

pub(crate) fn kill_broker(home: &Home) {
    let status = home.run(&["broker", "status", "--json"]).expect(0).json();
    let pid = i32::try_from(status["pid"].as_i64().unwrap()).unwrap();
    kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
}

#[test]
fn a_broker_that_is_killed_and_restarted_under_the_page_costs_nothing() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (asking, _cue) = home.ask(&agent, "Before", None);
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    browser.sees(".entry .prose", "Before");
    browser.write(TEXT, "typed while it ");
    kill_broker(&home);
    // The waiting client brings the broker back by itself, so the gap may be too short for the banner.
    browser.write(TEXT, "was gone");
    let other = home.join_as("terminal");
    let (_other_asking, _other_cue) = home.ask(&other, "Asked after the restart", None);
    browser.sees(".row-text", "Asked after the restart");
    browser.misses(".banner");
    assert_eq!(browser.value(TEXT), "typed while it was gone");
    home.wait_for("Before", 1);
    browser.press(key::ENTER);
    let stdout = asking.finish().expect(0).stdout;
    assert!(stdout.contains("typed while it was gone"), "{stdout}");
    browser.sees(".reply .delivery", "Received");
}

#[test]
fn a_broker_that_stays_away_is_announced_and_nothing_typed_is_lost() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    browser.write(TEXT, "a message");
    kill_broker(&home);
    browser.sees(".banner", "No connection to the broker");
    browser.press(key::ENTER);
    browser.sees(".composer-error", "Nothing was sent");
    assert_eq!(browser.value(TEXT), "a message");
    home.run(&["inbox"]).expect(0);
    browser.misses(".banner");
    browser.press(key::ENTER);
    browser.sees(".queue-text", "a message");
    assert_eq!(browser.count(".queue-item"), 1);
}

#[test]
fn the_page_opens_while_the_broker_is_away_and_is_drawn_when_it_is_back() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let browser = sign_in(&home, DESKTOP);
    browser.sees(".row-name", &agent);
    let page = browser
        .script("return location.origin")
        .as_str()
        .unwrap()
        .to_owned();
    browser
        .until("return navigator.serviceWorker.ready.then((worker) => worker.active.state === 'activated')");
    kill_broker(&home);
    browser.goto("about:blank");
    browser.goto(&page);
    // No broker served the page: it comes from the service worker.
    browser.until("return document.styleSheets[0]?.cssRules.length > 0");
    assert_eq!(browser.count(".row"), 0);
    home.run(&["inbox"]).expect(0);
    browser.wait_until_ready();
    browser.sees(".row-name", &agent);
    assert_eq!(browser.script(ALL_STYLES), serde_json::json!(true));
}

#[test]
fn two_tabs_show_the_same_and_the_second_answer_is_told_of_the_first() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (asking, _cue) = home.ask(&agent, "Who is first?", None);
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    browser.sees(".entry .prose", "Who is first?");
    let page = browser
        .script("return location.href")
        .as_str()
        .unwrap()
        .to_owned();
    let (first, second) = browser.new_tab(&page);
    browser.sees(".entry .prose", "Who is first?");
    browser.write(TEXT, "from the second tab");
    browser.switch_to(&first);
    browser.until("return document.querySelector('.composer-text').value === 'from the second tab'");
    browser.script("const area = document.querySelector('.composer-text'); area.value = ''; area.dispatchEvent(new Event('input', { bubbles: true }))");
    browser.write(TEXT, "from the first tab");
    browser.press(key::ENTER);
    browser.sees(".toast", "Undo");
    browser.switch_to(&second);
    browser.sees(".notice", "answered this question while you were writing");
    assert_eq!(browser.value(TEXT), "from the second tab");
    assert!(
        asking
            .finish()
            .expect(0)
            .stdout
            .starts_with("from the first tab\n")
    );
    browser.sees(".reply", "from the first tab");
    browser.click_text(".notice .text-button", "Keep my text as a note");
    browser.until("return document.querySelector('.composer[data-target=message] .composer-text')?.value === 'from the second tab'");
}

#[test]
fn an_answer_from_the_terminal_closes_the_question_on_the_page() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (asking, cue) = home.ask(&agent, "Anyone?", None);
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    browser.sees(".badge", "Waiting");
    browser.until("return document.title.startsWith('(1)')");
    home.run(&["answer", &cue, "me"]).expect(0);
    asking.finish().expect(0);
    browser.sees(".reply", "me");
    browser.until("return document.title === 'cueme'");
    browser.until("return document.querySelector('.composer').dataset.target === 'message'");
}

#[test]
fn a_new_question_never_replaces_what_someone_is_writing() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    browser.write(TEXT, "a message in the mak");
    let (asking, _cue) = home.ask(&agent, "A question meanwhile", None);
    browser.sees(".notice", "A new question arrived");
    browser.press("ing");
    assert_eq!(browser.value(TEXT), "a message in the making");
    browser.click_text(".notice .text-button", "Show it");
    browser.until("return document.querySelector('.composer').dataset.target === 'cue'");
    browser.write(TEXT, "answer");
    browser.press(key::ENTER);
    assert!(asking.finish().expect(0).stdout.contains("answer"));
    browser.until("return document.querySelector('.composer[data-target=message] .composer-text')?.value === 'a message in the making'");
}

#[test]
fn a_second_question_of_the_same_agent_stands_beside_the_first() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (first, _) = home.ask(&agent, "First?", None);
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    browser.write(TEXT, "to the fir");
    let (second, _) = home.ask(&agent, "Second?", None);
    browser.sees(".entry:not(.answering)", "Second?");
    browser.press("st");
    browser.press(key::ENTER);
    assert!(first.finish().expect(0).stdout.starts_with("to the first\n"));
    browser.until("return document.querySelector('.composer-text').value === ''");
    browser.write(TEXT, "to the second");
    browser.press(key::ENTER);
    assert!(second.finish().expect(0).stdout.contains("to the second"));
}

#[test]
fn what_the_page_needs_to_open_is_kept_at_once_and_every_other_part_when_it_is_used() {
    let home = Home::created();
    let browser = sign_in(&home, DESKTOP);
    let keeps = |part: &str, is_kept: bool| {
        browser.until(&format!(
            "return caches.keys().then((names) => Promise.all(names.map((name) => caches.open(name).then((cache) => cache.keys())))).then((all) => all.flat().some(({{ url }}) => new URL(url).pathname.startsWith({part:?})) === {is_kept})"
        ));
    };
    browser
        .until("return navigator.serviceWorker.ready.then((worker) => worker.active.state === 'activated')");
    browser.until("return Boolean(navigator.serviceWorker.controller)");
    keeps("/zh-", true);
    keeps("/tools-", false);
    let opens = |browser: &Browser| {
        browser.press(&format!("{}k{}", key::CONTROL, key::RELEASE));
        browser.sees(".palette-item", "Newest first");
    };
    opens(&browser);
    keeps("/tools-", true);
    keeps("/review-", false);
    kill_broker(&home);
    let page = browser.script("return location.origin");
    browser.goto("about:blank");
    browser.goto(page.as_str().unwrap());
    browser.sees(".inbox-head", "cueme");
    opens(&browser);
}

#[test]
fn who_reads_far_back_stays_there_when_the_broker_comes_back() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (first, oldest) = home.ask(&agent, "The very first?", None);
    home.run(&["answer", &oldest, "yes"]).expect(0);
    first.finish().expect(0);
    for number in 0..60 {
        home.ask_and_answer(&agent, &format!("Question {number}?"), None, &["yes"]);
    }
    let browser = sign_in(&home, DESKTOP);
    browser.script(&format!("location.hash = '#/agent/{agent}/{oldest}'"));
    browser.sees(".entry.found", "The very first?");
    browser.sees(".older", "Back to the latest");
    kill_broker(&home);
    browser.sees(".banner", "No connection to the broker");
    home.run(&["inbox"]).expect(0);
    browser.misses(".banner");
    // What the page asks for now comes after all that it asked for itself.
    browser.script(&format!(
        "return fetch('/api/v1/agents/{agent}/timeline').then((answer) => answer.json()).then(() => new Promise((done) => requestAnimationFrame(() => done(true))))"
    ));
    browser.sees(".entry.found", "The very first?");
    browser.sees(".older", "Back to the latest");
}
