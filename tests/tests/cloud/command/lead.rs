//! Runs that several processes drive: one of them speaks with the human, and the human's message is sent once,
//! whichever of them is killed.

use std::time::Duration;

use cueme_tests::cloud_fake::{Reply, Script};
use cueme_tests::{Client, eventually, remains};
use rustix::process::Signal;

use super::cloud::Cloud;
use super::unattended::{launched, only_question, reported};

/// The script of a cloud with two turns.
fn two_turns() -> Script {
    Script {
        answers: vec!["I fixed it.".into(), "I wrote the docs.".into()],
        ..Script::default()
    }
}

/// Adds a process that follows the run without leading it.
fn second_driver(cloud: &Cloud) -> Client {
    let watcher = cloud.begin(&["watch", &cloud.launched()]);
    eventually("a watcher that is not asked to ask", || {
        watcher.stdout().contains("led_elsewhere").then_some(())
    });
    watcher
}

#[test]
fn of_two_drivers_one_speaks_with_the_human_and_the_word_is_sent_once() {
    let script = Script {
        answers: vec!["I fixed it.".into(), "I wrote the docs.".into()],
        timeline: vec![(0, "RUNNING".into()), (1_500, "FINISHED".into())],
        ..Script::default()
    };
    let cloud = Cloud::start(script, 1);
    let driver = launched(&cloud, &[]);
    let agent = cloud.launched();
    let watcher = cloud.begin(&["watch", &agent]);
    eventually("a watcher that is not asked to ask", || {
        watcher.stdout().contains("led_elsewhere").then_some(())
    });
    let first = only_question(&cloud, "I fixed it.");
    cloud.home.ok(&["answer", &first, "now the docs"]);
    let second = only_question(&cloud, "I wrote the docs.");
    assert_eq!(cloud.fake.count("POST", "/followup"), 1, "the word is sent once");
    // A watcher that asks nobody does not end the run of the one that asks.
    cloud.run(&["watch", &agent, "--no-hap"]).printed(0);
    assert!(cloud.runs()[0]["end"].is_null());
    cloud.home.ok(&["answer", &second, "--done"]);
    driver.finish().printed(0);
    watcher.finish().printed(0);
    assert!(cloud.home.open_cues().is_empty());
    assert_eq!(cloud.fake.count("POST", "/followup"), 1);
    assert_eq!(cloud.runs()[0]["end"], "succeeded");
}

#[test]
fn the_second_driver_leads_when_the_first_one_dies() {
    let cloud = Cloud::start(Script::default(), 1);
    let driver = launched(&cloud, &[]);
    let agent = cloud.launched();
    let watcher = cloud.begin(&["watch", &agent]);
    eventually("a watcher that is not asked to ask", || {
        watcher.stdout().contains("led_elsewhere").then_some(())
    });
    let cue = only_question(&cloud, "All done.");
    driver.kill();
    eventually("the watcher asks", || {
        watcher.stdout().contains("awaiting_human").then_some(())
    });
    assert_eq!(only_question(&cloud, "All done."), cue);
    cloud.home.ok(&["answer", &cue, "--done"]);
    watcher.finish().printed(0);
    assert_eq!(cloud.runs()[0]["end"], "succeeded");
}

#[test]
fn the_driver_that_led_still_leads_when_the_broker_was_killed_and_the_other_driver_came_back_first() {
    let cloud = Cloud::start(two_turns(), 1);
    let driver = launched(&cloud, &[]);
    let first = only_question(&cloud, "I fixed it.");
    let watcher = second_driver(&cloud);
    driver.signal(Signal::STOP);
    cloud.home.kill_broker();
    cloud.home.ok(&["agents"]);
    reported(&cloud, |run| run["followed"] == true);
    cloud.home.ok(&["answer", &first, "now the docs"]);
    remains("the watcher asks nobody", Duration::from_secs(2), || {
        !watcher.stdout().contains("awaiting_human") && cloud.fake.count("POST", "/followup") == 0
    });
    driver.signal(Signal::CONT);
    let second = cloud.question("I wrote the docs.");
    assert_eq!(cloud.fake.count("POST", "/followup"), 1);
    cloud.home.ok(&["answer", &second, "--done"]);
    driver.finish().printed(0);
    watcher.finish().printed(0);
    assert_eq!(cloud.fake.count("POST", "/followup"), 1, "the word is sent once");
    assert_eq!(cloud.home.delivery(&first), "acknowledged");
    assert_eq!(
        cloud.number("SELECT count(*) FROM run_leads"),
        0,
        "the run is over"
    );
}

/// Kills the leading driver while it waits for the API's word that the human's word arrived, and the broker with it.
fn killed_while_sending(api: &str, path: &str, is_done: bool) -> (Cloud, Client, String) {
    let cloud = Cloud::start(two_turns(), 1);
    let driver = launched(&cloud, &["--api", api]);
    let first = only_question(&cloud, "I fixed it.");
    let watcher = second_driver(&cloud);
    // The turn is over before the other driver looks again.
    let at_once = Script {
        timeline: vec![(0, "FINISHED".into())],
        ..two_turns()
    };
    cloud
        .fake
        .set_script(at_once.fail("POST", path, 1, Reply::Hang { is_done }));
    cloud.home.ok(&["answer", &first, "now the docs"]);
    eventually("the word is being sent", || {
        (cloud.fake.count("POST", path) == 1).then_some(())
    });
    driver.kill();
    cloud.home.kill_broker();
    cloud.home.ok(&["agents"]);
    (cloud, watcher, first)
}

#[test]
fn a_word_that_a_killed_driver_has_sent_is_not_sent_again() {
    for (api, path) in [("v0", "/followup"), ("v1", "/runs")] {
        let (cloud, watcher, first) = killed_while_sending(api, path, true);
        let second = cloud.question("I wrote the docs.");
        assert_eq!(cloud.home.delivery(&first), "acknowledged", "{api}");
        cloud.home.ok(&["answer", &second, "--done"]);
        watcher.finish().printed(0);
        assert_eq!(cloud.fake.count("POST", path), 1, "{api}: the word is sent once");
        assert_eq!(cloud.runs()[0]["end"], "succeeded", "{api}");
    }
}

#[test]
fn a_word_that_a_killed_driver_could_not_send_is_sent_by_the_next_one() {
    for (api, path) in [("v0", "/followup"), ("v1", "/runs")] {
        let (cloud, watcher, first) = killed_while_sending(api, path, false);
        let second = cloud.question("I wrote the docs.");
        assert_eq!(cloud.home.delivery(&first), "acknowledged", "{api}");
        let sent = cloud.fake.bodies("POST", path);
        let words =
            |body: &serde_json::Value| body["prompt"]["text"].as_str().unwrap().contains("now the docs");
        assert!(sent.len() == 2 && sent.iter().all(words), "{api}: {sent:?}");
        cloud.home.ok(&["answer", &second, "--done"]);
        watcher.finish().printed(0);
        assert_eq!(cloud.fake.count("POST", path), 2, "{api}: once in vain, and once");
    }
}
