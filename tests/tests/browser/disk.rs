//! The page's view of the disk: damaged records, and times that outlive the broker.

use serde_json::json;

use crate::driver::{DESKTOP, sign_in};
use crate::resilience::kill_broker;
use cueme_tests::{Home, eventually};

#[test]
fn a_damaged_question_is_out_of_service_and_is_closed_from_the_page() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    home.ask_for("1ms", &agent, "What shall I delete?", None)
        .expect(75);
    let cue = home.open("What shall I delete?").unwrap()["cue_id"].clone();
    let cue = cue.as_str().unwrap();
    home.run(&["answer", cue, "delete nothing"]).expect(0);
    home.run(&["broker", "stop"]).expect(0);
    let database = rusqlite::Connection::open(home.path().join("data/cueme.db")).unwrap();
    let changed = database.execute("UPDATE decisions SET text = 'delete everything'", []);
    assert_eq!(changed.unwrap(), 1);
    drop(database);

    let browser = sign_in(&home, DESKTOP);
    browser.sees(".row .flag", "Damaged");
    browser.click_text(".row-name", &agent);
    browser.sees(".entry .badge", "Damaged");
    browser.sees(".entry", "This question’s record is damaged");
    let page = browser.text("body");
    assert!(
        !page.contains("everything") && !page.contains("delete nothing"),
        "{page}"
    );
    // It cannot be answered: what is typed is a message.
    assert_eq!(browser.count(".composer[data-target=cue]"), 0);
    browser.click(".close-damaged");
    browser.sees(".reply .decision", "Closed without an answer");
    browser.sees(".reply", "its record was damaged");
    browser.misses(".row .flag.damaged");
    let told = home
        .ask_for("5s", &agent, "What shall I delete?", None)
        .expect(4)
        .stdout;
    assert!(
        told.starts_with("cancelled: ") && !told.contains("everything"),
        "{told}"
    );
    home.run(&["doctor", "--quick"]).expect(0);
}

#[test]
fn since_when_nobody_listens_is_the_same_on_the_page_after_a_restart() {
    const SINCE: &str = "return document.querySelector('.entry .badge[data-state=detached] time')?.dateTime";
    let home = Home::created();
    let agent = home.join_as("terminal");
    home.ask_for("1ms", &agent, "Which database?", None).expect(75);
    let asked_at = home.open("Which database?").unwrap()["asked_at"].clone();
    let browser = sign_in(&home, DESKTOP);
    browser.click_text(".row-name", &agent);
    browser.sees(".entry .badge", "Detached");
    let since = browser.script(SINCE);
    assert!(since.as_str() >= asked_at.as_str(), "{since} {asked_at}");
    let row = browser.script("return document.querySelector('.row-time').dateTime");
    assert_eq!(row, since);
    for kills in [true, false] {
        if kills {
            kill_broker(&home);
        } else {
            home.run(&["broker", "stop"]).expect(0);
        }
        eventually("a broker", || {
            (home.run(&["inbox"]).code == Some(0)).then_some(())
        });
        browser.misses(".banner");
        browser.reload();
        browser.sees(".entry .badge", "Detached");
        assert_eq!(browser.script(SINCE), since);
        let row = browser.script("return document.querySelector('.row-time').dateTime");
        assert_eq!(row, since);
    }
    assert_eq!(json!(home.open("Which database?").unwrap()["detached_at"]), since);
}
