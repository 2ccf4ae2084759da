//! An earlier answer to a question like this one is offered with one key, and sent only when somebody says so.

use crate::driver::{DESKTOP, sign_in};
use cueme_tests::Home;

const CHOICE: &str = r#"{"type":"choice","options":["SQLite","PostgreSQL"]}"#;

#[test]
fn an_earlier_answer_is_given_again_by_one_key_and_can_be_taken_back() {
    let home = Home::new();
    let (first, second) = (home.join(), home.join());
    home.ask_and_answer(
        &first,
        "Which database do the tests of version 1 use?",
        Some(CHOICE),
        &["--select", "SQLite"],
    );
    let (asking, _) = home.ask(
        &second,
        "Which database do the tests of version 2 use?",
        Some(CHOICE),
    );
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &second);
    browser.sees(".precedent", "You answered a question like this before");
    browser.sees(".precedent-asked", "version 1");
    browser.sees(".precedent-said", "SQLite");
    // Nothing is sent over what somebody writes.
    browser.write(".composer-text", "let me think");
    browser.click(".precedent .button");
    browser.sees(".toast[data-tone=bad]", "written something else");
    assert!(asking.is_running());
    browser.script("const area = document.querySelector('.composer-text'); area.value = ''; area.dispatchEvent(new Event('input', { bubbles: true })); area.blur()");
    browser.press("a");
    browser.sees(".toast", "Undo");
    browser.press("u");
    browser.sees(".precedent-said", "SQLite");
    browser.until("return document.querySelector('.options input:checked') !== null");
    assert!(asking.is_running());
    browser.script("document.querySelector('.options input:checked').click()");
    browser.script("document.querySelector('.options input:checked').checked = false; document.querySelector('.options input').dispatchEvent(new Event('change', { bubbles: true })); const area = document.querySelector('.composer-text'); area.value = ''; area.dispatchEvent(new Event('input', { bubbles: true }))");
    browser.click(".precedent .button");
    assert!(asking.finish().expect(0).stdout.starts_with("SQLite\n"));
}

#[test]
fn a_question_without_precedent_loads_nothing_for_it() {
    let home = Home::new();
    let agent = home.join();
    let (_asking, _) = home.ask(&agent, "Never asked before?", None);
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    browser.sees(".answering .for", "Never asked before?");
    browser.until("return document.querySelector('.precedent') === null && !performance.getEntriesByType('resource').some((entry) => entry.name.includes('/aids'))");
}

#[test]
fn an_earlier_answer_is_given_again_in_the_project_it_comes_from_alone() {
    let home = Home::new();
    let join = |project: &str| {
        let folder = home.scratch().join(project);
        std::fs::create_dir_all(&folder).unwrap();
        let joined = home
            .command(&["join", "patient"])
            .current_dir(&folder)
            .output()
            .unwrap();
        let joined = String::from_utf8(joined.stdout).unwrap();
        let agent = joined.lines().find_map(|line| line.strip_prefix("agent_id="));
        agent.expect("an agent_id").to_owned()
    };
    let agents = [join("shop"), join("shop"), join("elsewhere")];
    home.ask_and_answer(&agents[0], "Merge it?", None, &["yes"]);
    let asking = agents.each_ref().map(|agent| {
        let asking = home.start_cue(agent, "Merge it?", None);
        home.wait_for_one(|cue| cue["agent_id"] == agent.as_str());
        asking
    });
    let browser = sign_in(&home, DESKTOP);
    browser.script(&format!("location.hash = '#/agent/{}'", agents[0]));
    browser.sees(".once-count", "Your answer goes to all 3 agents.");
    browser.sees(".precedent", "You answered this before");
    browser.press("a");
    let [first, second, elsewhere] = asking;
    for asking in [first, second] {
        assert!(asking.finish().expect(0).stdout.starts_with("yes\n"));
    }
    assert!(elsewhere.is_running());
}
