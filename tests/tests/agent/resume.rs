//! Chats that are continued: who continues them, and whether they really were.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::Value;

use crate::stage::{Stage, events, prompt_of};
use cueme_tests::next_file_time;

const UNKNOWN: &str = "0bae1f09-3bb0-49b8-9b9d-96a70ede533f";

fn agents(stage: &Stage) -> Vec<Value> {
    let agents = stage.home.run(&["agents", "--json"]).expect(0).json();
    agents.as_array().unwrap().clone()
}

/// Holds a conversation of one turn, and returns the id of its chat.
fn first_conversation(stage: &Stage) -> String {
    let running = stage.start(&["agent", "run", "do it"]);
    stage.answer(&["answer", "--done", "yes"]);
    running.finish().expect(0);
    let chats = stage.run(&["chats", "ls", "--json"]).expect(0).json();
    let chat = &chats["projects"][0]["chats"][0]["chat_id"];
    chat.as_str().unwrap_or_else(|| panic!("{chats}")).to_owned()
}

#[test]
fn whoever_continues_a_chat_that_began_here_is_the_agent_that_began_it() {
    let stage = Stage::new("hap_ok");
    let chat = first_conversation(&stage);
    for resume in [chat.as_str(), "latest"] {
        let running = stage.start(&["agent", "run", "--resume", resume, "go on"]);
        stage.answer(&["answer", "--done", "yes"]);
        let ended = running.finish().expect(0);
        assert!(!ended.stderr.contains("warning"), "{}", ended.stderr);
        assert_eq!(agents(&stage).len(), 1, "resumed by {resume}");
    }
    let turns = stage.turns();
    assert_eq!(turns.len(), 3);
    assert!(turns[0]["resume"].is_null());
    assert_eq!(
        (&turns[1]["resume"], &turns[2]["resume"]),
        (&chat.as_str().into(), &chat.as_str().into())
    );
}

#[test]
fn another_conversation_in_the_same_directory_is_another_agent() {
    let stage = Stage::new("quota");
    for _ in 0..2 {
        stage.run(&["agent", "run", "do it"]).expect(1);
    }
    assert_eq!(agents(&stage).len(), 2);
}

#[test]
fn an_agent_that_joins_within_its_turn_stays_the_agent_it_is() {
    let stage = Stage::new("hap_ok");
    let script = "id=$(cueme join cursor | sed -n 's/^agent_id=//p'); printf '<cueme_prompt>\nDone?\n</cueme_prompt>\n' | cueme cue \"$id\" -";
    let stage = stage.with("FAKE_CURSOR_CUE", script);
    let running = stage.start(&["agent", "run", "do it"]);
    stage.answer(&["answer", "--done", "yes"]);
    running.finish().expect(0);
    assert_eq!((agents(&stage).len(), stage.turns().len()), (1, 1));
}

#[test]
fn the_latest_chat_is_the_newest_of_the_directory_also_through_a_link() {
    let stage = Stage::new("simple");
    for _ in 0..2 {
        stage.run(&["agent", "run", "--no-hap", "do it"]).expect(0);
        // The order of chats is that of their last writes.
        next_file_time();
    }
    let newest = &stage.run(&["chats", "ls", "--json"]).expect(0).json()["projects"][0]["chats"][0];
    let link = stage.home.path().join("link");
    symlink(stage.project(), &link).unwrap();
    let link = link.to_str().unwrap();
    stage
        .run(&[
            "agent", "run", "--no-hap", "--cwd", link, "--resume", "latest", "go on",
        ])
        .expect(0);
    assert_eq!(stage.turns()[2]["resume"], newest["chat_id"]);
    let listed = stage.run(&["chats", "ls", "--json"]).expect(0).json();
    assert_eq!(
        listed["projects"].as_array().unwrap().len(),
        1,
        "one directory: {listed}"
    );
}

#[test]
fn a_chat_that_does_not_exist_is_refused_before_anything_runs() {
    let stage = Stage::new("hap_ok");
    stage.run(&["agent", "new-chat"]).expect(0);
    let ended = stage
        .run(&["agent", "run", "--resume", UNKNOWN, "go on"])
        .expect(1);
    let errors = events(&ended, "error");
    assert_eq!(errors[0]["data"]["code"], "SESSION_NOT_FOUND", "{}", ended.stdout);
    assert!(errors[0]["data"]["remedy"].as_str().unwrap().contains("new-chat"));
    assert!(stage.turns().is_empty());
}

#[test]
fn a_chat_of_another_directory_is_refused_and_says_where_it_belongs() {
    let stage = Stage::new("simple");
    stage.run(&["agent", "run", "--no-hap", "do it"]).expect(0);
    let listed = stage.run(&["chats", "ls", "--json"]).expect(0).json();
    let chat = listed["projects"][0]["chats"][0]["chat_id"].as_str().unwrap();
    let other = stage.home.path().join("other");
    fs::create_dir(&other).unwrap();
    let words = [
        "agent",
        "run",
        "--no-hap",
        "--cwd",
        other.to_str().unwrap(),
        "--resume",
        chat,
        "go on",
    ];
    let ended = stage.run(&words).expect(1);
    let message = events(&ended, "error")[0]["data"]["message"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(message.contains("project"), "{message}");
    assert_eq!(stage.turns().len(), 1);
}

#[test]
fn an_empty_chat_that_was_made_first_is_continued() {
    let stage = Stage::new("hap_ok");
    let chat = stage.run(&["agent", "new-chat"]).expect(0).stdout;
    let running = stage.start(&["agent", "run", "--resume", chat.trim(), "do it"]);
    stage.answer(&["answer", "--done", "yes"]);
    let ended = running.finish().expect(0);
    assert!(
        !ended.stderr.contains("warning") && !ended.stderr.contains("note"),
        "{}",
        ended.stderr
    );
}

#[test]
fn an_agent_whose_chat_was_not_continued_is_told_the_task_again_with_the_answer() {
    let stage = Stage::new("hap_forgets");
    let running = stage.start(&["agent", "run", "rename the crate"]);
    // The first turn begins the chat; the reminder is not heard in it, and the human is asked at once.
    let cue = stage.answer(&["answer", "also update the docs"]);
    assert!(
        cue["prompt"]
            .as_str()
            .unwrap()
            .contains("did not continue the chat"),
        "{cue}"
    );
    stage.wait_for_turns(3);
    stage.answer(&["decline", "enough"]);
    let ended = running.finish().expect(0);
    assert!(
        ended.stderr.contains("did not continue the chat"),
        "{}",
        ended.stderr
    );
    assert!(
        stage.log().contains("did not continue the chat"),
        "{}",
        stage.log()
    );
    let turns = stage.turns();
    assert!(prompt_of(&turns[1]).contains("not complete"), "{}", turns[1]);
    for words in ["rename the crate", "was lost", "also update the docs"] {
        assert!(prompt_of(&turns[2]).contains(words), "{words}: {}", turns[2]);
    }
    stage.nothing_is_left();
}

#[test]
fn two_turns_at_once_on_one_chat_both_end_and_both_are_asked_about() {
    let stage = Stage::new("hap_ok");
    let chat = first_conversation(&stage);
    let words = ["agent", "run", "--resume", chat.as_str(), "go on"];
    let (one, two) = (stage.start(&words), stage.start(&words));
    // Both ask the same words as the same agent: that is one question, and both get its answer.
    stage.wait_for_turns(3);
    stage.home.wait_for_one(|cue| cue["waiting"].as_u64() == Some(2));
    stage.answer(&["answer", "--done", "yes"]);
    for running in [one, two] {
        let ended = running.finish().expect(0);
        assert_eq!(events(&ended, "done").len(), 1, "{}", ended.stderr);
    }
    assert_eq!(agents(&stage).len(), 1);
    stage.nothing_is_left();
}
