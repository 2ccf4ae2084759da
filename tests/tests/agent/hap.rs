//! `cueme agent` with the double of Cursor's CLI, the real `cueme` and the real broker.

use std::fs;

use serde_json::Value;

use crate::stage::{QUESTION, Stage, kinds, prompt_of};
use cueme_tests::{Signal, envelope, eventually};

#[test]
fn an_agent_that_obeys_asks_once_and_is_done_where_once_is_enough() {
    let stage = Stage::new("hap_ok");
    let running = stage.start(&["agent", "run", "--once", "do it"]);
    let cue = stage.answer(&["answer", "yes"]);
    assert_eq!(
        (&cue["prompt"], &cue["origin"]),
        (&QUESTION.into(), &"agent".into())
    );
    let ended = running.finish().expect(0);
    assert_eq!(
        kinds(&ended).last().map(String::as_str),
        Some("done"),
        "{}",
        ended.stderr
    );
    assert_eq!((stage.questions().len(), stage.turns().len()), (1, 1));
    stage.nothing_is_left();
}

#[test]
fn an_agent_that_forgets_or_lies_is_asked_for_once_and_the_answer_comes_back() {
    for scenario in ["hap_missing", "hap_fake_claim"] {
        let stage = Stage::new(scenario);
        let running = stage.start(&["agent", "run", "do it"]);
        let cue = stage.answer(&["answer", "also update the docs"]);
        assert_eq!(cue["origin"], "adapter", "{scenario}");
        assert!(
            cue["prompt"].as_str().unwrap().contains("All done."),
            "{scenario}"
        );
        stage.answer(&["decline", "enough"]);
        let ended = running.finish().expect(0);
        let terminals = kinds(&ended).iter().filter(|kind| *kind == "done").count();
        assert_eq!(terminals, 1, "{scenario}: {}", ended.stdout);
        let turns = stage.turns();
        let told: Vec<usize> = (0..turns.len())
            .filter(|number| prompt_of(&turns[*number]).contains("also update the docs"))
            .collect();
        assert_eq!(told, [4], "{scenario}: after three reminders, once");
        assert!(turns[4]["resume"].is_string(), "{scenario}: in the same chat");
        assert_eq!(
            stage.questions().len(),
            2,
            "{scenario}: one for each thing it was told to do"
        );
        stage.nothing_is_left();
    }
}

#[test]
fn an_agent_that_asks_in_the_background_is_waited_for_and_the_human_is_asked_once() {
    let stage = Stage::new("hap_background");
    let running = stage.start(&["agent", "run", "do it"]);
    // Its own waits end with its turns; after the last of them the adapter takes the wait over.
    stage.wait_for_turns(4);
    stage.nothing_is_left();
    let cue = stage.answer(&["answer", "also update the docs"]);
    assert_eq!(cue["prompt"], QUESTION, "the question is the agent's own");
    assert_eq!(stage.questions().len(), 1);
    stage.wait_for_turns(8);
    stage.nothing_is_left();
    stage.answer(&["decline", "enough"]);
    running.finish().expect(0);
    let turns = stage.turns();
    assert!(
        prompt_of(&turns[4]).contains("also update the docs"),
        "{}",
        turns[4]
    );
    assert_eq!(stage.questions().len(), 2, "one for each thing it was told to do");
    stage.nothing_is_left();
}

#[test]
fn a_question_the_cli_skipped_reaches_the_human_with_its_options() {
    let stage = Stage::new("hap_ask");
    let running = stage.start(&["agent", "run", "do it"]);
    let cue = stage.answer(&["answer", "--select", "B"]);
    assert_eq!(cue["payload"]["options"], serde_json::json!(["A", "B"]));
    stage.answer(&["decline"]);
    running.finish().expect(0);
    let turns = stage.turns();
    assert!(
        prompt_of(&turns[1]).contains("The human answered:"),
        "{}",
        turns[1]
    );
    assert!(prompt_of(&turns[1]).contains('B'));
}

#[test]
fn questions_of_several_skipped_calls_are_one_form_and_what_was_repeated_is_asked_once() {
    let stage = Stage::new("hap_ask_twice");
    let running = stage.start(&["agent", "run", "do it"]);
    let words = [
        "answer",
        "--field",
        "Which database?=Postgres",
        "--field",
        "Which port?=8080",
    ];
    let cue = stage.answer(&words);
    let labels: Vec<_> = cue["payload"]["fields"]
        .as_array()
        .unwrap()
        .iter()
        .map(|field| &field["label"])
        .collect();
    assert_eq!(labels, ["Which database?", "Which port?"]);
    stage.answer(&["decline"]);
    running.finish().expect(0);
    let turns = stage.turns();
    for words in [
        "The human answered:",
        "Which database?: Postgres",
        "Which port?: 8080",
    ] {
        assert!(prompt_of(&turns[1]).contains(words), "{words}: {}", turns[1]);
    }
    assert_eq!(stage.questions().len(), 2, "one for each turn");
    stage.nothing_is_left();
}

#[test]
fn an_agent_without_tools_surfaces_its_exact_command_to_the_human() {
    let stage = Stage::new("hap_unavailable");
    let running = stage.start(&["agent", "run", "do it"]);
    let cue = stage.answer(&["answer", "--done"]);
    assert!(
        cue["prompt"].as_str().unwrap().contains("cueme cue tidy-otter -"),
        "{cue}"
    );
    let ended = running.finish().expect(0);
    assert_eq!(kinds(&ended).last().map(String::as_str), Some("done"));
    assert_eq!(stage.turns().len(), 1, "the human ended the run");
}

#[test]
fn any_answer_but_done_keeps_the_run_going_and_a_turn_that_ends_after_it_is_a_question_again() {
    let stage = Stage::new("hap_ok");
    let running = stage.start(&["agent", "run", "do it"]);
    stage.answer_of("agent", &["answer", "done"]);
    let next = stage.answer_of("adapter", &["answer", "also update the docs"]);
    let prompt = next["prompt"].as_str().unwrap();
    assert!(
        prompt.contains("All done.") && prompt.contains("after your answer"),
        "{prompt}"
    );
    let last = stage.answer_of("agent", &["answer", "--done"]);
    assert_eq!(
        (&last["prompt"], &last["in_run"]),
        (&QUESTION.into(), &true.into())
    );
    let ended = running.finish().expect(0);
    assert_eq!(kinds(&ended).last().map(String::as_str), Some("done"));
    assert_eq!((stage.questions().len(), stage.turns().len()), (3, 2));
    assert!(prompt_of(&stage.turns()[1]).contains("also update the docs"));
    stage.nothing_is_left();
}

#[test]
fn an_agent_that_waits_reads_the_last_words_and_that_the_run_ends() {
    let stage = Stage::new("hap_not_last");
    let file = stage.home.path().join("cue.sh");
    let asks = fs::read_to_string(&file).unwrap();
    let heard = stage.home.path().join("heard");
    fs::write(&file, format!("exec > '{}'\n{asks}", heard.display())).unwrap();
    let running = stage.start(&["agent", "run", "do it"]);
    stage.answer(&["answer", "--done", "push it"]);
    running.finish().expect(0);
    assert_eq!(
        fs::read_to_string(heard).unwrap(),
        "push it\n\n[the human ends the run with this answer: do what it says, then finish without asking again]\n"
    );
    assert_eq!((stage.questions().len(), stage.turns().len()), (1, 1));
    stage.nothing_is_left();
}

#[test]
fn the_last_words_of_a_human_who_ends_the_run_are_the_agent_s_last_turn() {
    let stage = Stage::new("hap_unavailable");
    let running = stage.start(&["agent", "run", "do it"]);
    let cue = stage.answer(&["answer", "--done", "push it"]);
    running.finish().expect(0);
    let turns = stage.turns();
    assert_eq!((stage.questions().len(), turns.len()), (1, 2));
    assert!(prompt_of(&turns[1]).contains("push it"), "{}", turns[1]);
    assert_eq!(stage.delivery(cue["cue_id"].as_str().unwrap()), "acknowledged");
    stage.nothing_is_left();
}

#[test]
fn a_declined_question_ends_the_run() {
    let stage = Stage::new("hap_ok");
    let running = stage.start(&["agent", "run", "do it"]);
    stage.answer_of("agent", &["decline", "enough"]);
    running.finish().expect(0);
    assert_eq!((stage.questions().len(), stage.turns().len()), (1, 1));
}

#[test]
fn a_question_outside_of_a_run_has_no_run_to_end() {
    let stage = Stage::new("hap_ok");
    let agent = stage.home.join_as("terminal");
    stage.home.ask_for("100ms", &agent, "Which one?", None).expect(75);
    let cue = stage.home.open("Which one?").unwrap();
    assert!(cue["in_run"].is_null(), "{cue}");
    let id = cue["cue_id"].as_str().unwrap();
    let refused = stage.home.run(&["answer", id, "--done"]).expect(2);
    assert!(
        refused.stderr.contains("no run that could be ended"),
        "{}",
        refused.stderr
    );
    stage.home.run(&["answer", id, "SQLite"]).expect(0);
}

#[test]
fn a_cue_that_is_not_the_last_act_or_is_still_open_or_hides_its_exit_never_passes() {
    for scenario in ["hap_not_last", "hap_failed", "hap_masked"] {
        let stage = Stage::new(scenario);
        let running = stage.start(&["agent", "run", "do it"]);
        // An agent that asks too early is answered in each of its turns; the last word is the adapter's.
        eventually("a question of the adapter", || {
            let inbox = stage.home.inbox();
            let early = |cue: &&Value| cue["origin"] == "agent" && cue["waiting"].as_u64() > Some(0);
            if let Some(cue) = inbox.iter().find(early) {
                stage
                    .home
                    .run(&["answer", cue["cue_id"].as_str().unwrap(), "yes"]);
            }
            inbox.iter().any(|cue| cue["origin"] == "adapter").then_some(())
        });
        stage.answer_of("adapter", &["decline", "enough"]);
        running.finish().expect(0);
        assert_eq!(stage.turns().len(), 4, "{scenario}: one turn and three reminders");
        stage.nothing_is_left();
    }
}

#[test]
fn a_cue_that_was_answered_counts_whatever_was_wrapped_around_it() {
    let cue = "cueme cue \"$CUEME_AGENT_ID\" --prompt 'Done?'";
    for command in [
        format!("timeout 60 {cue}"),
        format!("OUT=$({cue})"),
        format!("{cue}; echo $?"),
        format!("{cue} | cat"),
        format!("if {cue}; then exit 3; fi"),
        format!("{cue} && false"),
        format!("env X=1 {cue}"),
        format!("{cue} 2>&1 | tee log"),
        "bash -c 'set -o pipefail; cueme cue \"$CUEME_AGENT_ID\" --prompt Done? | tee log'".to_owned(),
        format!("sh -c \"{cue}\""),
        format!("eval \"{cue}\""),
        format!("{cue} & wait $!"),
        format!("printf '%s' \"$({cue})\""),
        format!("OUT=`{cue}`"),
        format!("! {cue}"),
        "cueme cue \"$CUEME_AGENT_ID\" - <<EOF | tee log\n<cueme_prompt>\nDone?\n</cueme_prompt>\nEOF"
            .to_owned(),
        "cat <<-'E' | cueme cue $CUEME_AGENT_ID - || true\n\t<cueme_prompt>\n\tDone?\n\t</cueme_prompt>\n\tE"
            .to_owned(),
    ] {
        let stage = Stage::new("hap_shell").with("FAKE_CURSOR_CUE", &command);
        let running = stage.start(&["agent", "run", "--once", "do it"]);
        stage.answer_of("agent", &["answer", "yes"]);
        let ended = running.finish().expect(0);
        assert_eq!(
            (stage.questions().len(), stage.turns().len()),
            (1, 1),
            "{command}: {}",
            ended.stderr
        );
    }
}

#[test]
fn an_agent_whose_question_is_still_open_is_told_to_run_the_same_command_again() {
    let command = "CUEME_WAIT=300ms cueme cue \"$CUEME_AGENT_ID\" --prompt 'Done?'";
    let stage = Stage::new("hap_shell").with("FAKE_CURSOR_CUE", command);
    let running = stage.start(&["agent", "run", "--once", "do it"]);
    stage.wait_for_turns(2);
    let turns = stage.turns();
    assert!(
        prompt_of(&turns[1]).contains("Run the same `cueme` command again"),
        "{}",
        turns[1]
    );
    stage.answer(&["answer", "yes"]);
    running.finish();
    assert_eq!(stage.questions()[0]["prompt"], QUESTION);
}

#[test]
fn the_human_reads_what_the_agent_said_before_and_after_its_reminders_and_no_tags() {
    let stage = Stage::new("hap_written");
    let running = stage.start(&["agent", "run", "do it"]);
    let cue = stage.answer_of("adapter", &["answer", "--done"]);
    running.finish().expect(0);
    let prompt = cue["prompt"].as_str().unwrap();
    for words in ["I changed three files.", "As I said.", "Ship it?"] {
        assert!(prompt.contains(words), "{words}: {prompt}");
    }
    assert!(!prompt.contains("cueme_prompt"), "{prompt}");
}

#[test]
fn an_agent_finds_cueme_although_its_human_has_it_on_no_path() {
    let stage = Stage::new("hap_ok");
    fs::remove_file(stage.bin().join("cueme")).unwrap();
    let running = stage.start(&["agent", "run", "--once", "do it"]);
    stage.answer_of("agent", &["answer", "yes"]);
    running.finish().expect(0);
    assert_eq!((stage.questions().len(), stage.turns().len()), (1, 1));
}

#[test]
fn one_turn_without_the_rule_asks_nobody_and_needs_no_broker() {
    let stage = Stage::new("simple");
    let ended = stage
        .run(&["agent", "run", "--no-hap", "--model", "gpt-5", "do it"])
        .expect(0);
    assert_eq!(kinds(&ended).last().map(String::as_str), Some("done"));
    let turns = stage.turns();
    assert_eq!((turns.len(), prompt_of(&turns[0])), (1, "do it"));
    assert_eq!(turns[0]["model"], "gpt-5");
    stage.home.run(&["broker", "status"]).expect(1);
}

#[test]
fn a_failed_turn_is_an_error_event_and_exit_1() {
    let stage = Stage::new("quota");
    let ended = stage.run(&["agent", "run", "do it"]).expect(1);
    let last: Value = serde_json::from_str(ended.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(last["data"]["code"], "QUOTA_EXCEEDED");
}

#[test]
fn an_interrupt_ends_the_turn_and_leaves_no_process() {
    let stage = Stage::new("hang_mid");
    let running = stage.start(&["agent", "run", "--no-hap", "do it"]);
    stage.wait_for_turns(1);
    running.signal(Signal::INT);
    let ended = running.finish().expect(130);
    assert_eq!(kinds(&ended).last().map(String::as_str), Some("error"));
    stage.nothing_is_left();
}

#[test]
fn an_interrupt_while_the_human_is_asked_ends_the_wait() {
    let stage = Stage::new("hap_unavailable");
    let running = stage.start(&["agent", "run", "do it"]);
    stage.home.wait_for_one(|_| true);
    running.signal(Signal::INT);
    running.finish().expect(130);
    stage.nothing_is_left();
}

#[test]
fn a_chat_that_is_continued_is_the_same_agent() {
    let stage = Stage::new("quota");
    for _ in 0..2 {
        stage
            .run(&["agent", "run", "--resume", "chat-1", "do it"])
            .expect(1);
    }
    let agents = stage.home.run(&["agents", "--json"]).expect(0).json();
    let agents = agents.as_array().unwrap();
    assert_eq!((agents.len(), &agents[0]["agent_runtime"]), (1, &"cursor".into()));
    assert_eq!(stage.turns()[0]["resume"], "chat-1");
}

#[test]
fn a_latest_chat_that_does_not_exist_is_not_found() {
    let stage = Stage::new("simple");
    let ended = stage
        .run(&["agent", "run", "--no-hap", "--resume", "latest", "do it"])
        .expect(1);
    assert!(ended.stderr.contains("hint: "), "{}", ended.stderr);
}

#[test]
fn models_and_new_chats_are_the_cli_s_own() {
    let stage = Stage::new("simple");
    let models = stage.run(&["agent", "models", "--json"]).expect(0).json();
    assert!(models[1].as_str().unwrap().starts_with("gpt-5"), "{models}");
    let chat = stage.run(&["agent", "new-chat"]).expect(0).stdout;
    assert!(uuid::Uuid::parse_str(chat.trim()).is_ok(), "{chat}");
}

#[test]
fn the_doctor_finds_a_cli_that_works_and_says_what_is_wrong_with_one_that_does_not() {
    let stage = Stage::new("simple");
    let well = stage.run(&["agent", "doctor", "--turn"]).expect(0).stdout;
    for words in [
        "user@example.com",
        "Hello there.",
        "stream-json",
        "CURSOR_API_KEY is not set",
        "0 of ",
    ] {
        assert!(well.contains(words), "{words}: {well}");
    }
    let stage = Stage::new("no_login");
    let ill = stage.run(&["agent", "doctor"]).expect(1).stdout;
    assert!(ill.contains("agent login"), "{ill}");
    fs::remove_file(stage.bin().join("agent")).unwrap();
    let mut command = stage.command(&["agent", "doctor"]);
    let gone = command.env("PATH", stage.bin()).output().unwrap();
    assert_eq!(gone.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&gone.stdout).contains("install the Cursor CLI"));
}

/// A stage whose first turn asks and is killed while it waits; later turns ask nothing.
fn killed_while_it_waits() -> Stage {
    let stage = Stage::new("hap_ok");
    let home = stage.home.path();
    fs::write(home.join("question"), envelope(QUESTION, None)).unwrap();
    let script = r#"cd "$CUEME_HOME"
        [ -e killed ] && exit 1
        cueme cue "$CUEME_AGENT_ID" - < question &
        until [ -e killed ]; do sleep 0.05; done
        kill -9 $!
        until [ -e answered ]; do sleep 0.05; done
        exit 137"#;
    fs::write(home.join("cue.sh"), script).unwrap();
    stage
}

/// Kills the cue of such a stage, and answers it when nobody listens any more.
fn answer_too_late(stage: &Stage) -> String {
    let id = stage.home.wait_for(QUESTION, 1);
    fs::write(stage.home.path().join("killed"), "").unwrap();
    stage.home.wait_until_unattended(QUESTION);
    stage.home.run(&["answer", &id, "SQLite"]).expect(0);
    fs::write(stage.home.path().join("answered"), "").unwrap();
    id
}

/// Asks something else as the agent of this stage; returns what it is told instead.
fn told_by_mailbox(stage: &Stage) -> String {
    let agents = stage.home.run(&["agents", "--json"]).expect(0).json();
    let agent = agents[0]["agent_id"].as_str().unwrap();
    stage.home.ask_for("20s", agent, "Next?", None).expect(75).stdout
}

#[test]
fn an_answer_that_the_agent_missed_in_its_turn_is_its_next_one_and_the_human_is_not_asked_twice() {
    let stage = killed_while_it_waits();
    let running = stage.start(&["agent", "run", "do it"]);
    let missed = answer_too_late(&stage);
    stage.answer_of("adapter", &["decline", "enough"]);
    running.finish().expect(0);
    let turns = stage.turns();
    assert!(
        prompt_of(&turns[4]).ends_with("The human answered:\nSQLite"),
        "{}",
        turns[4]
    );
    assert_eq!(
        turns.len(),
        8,
        "three reminders each before the answer and after it"
    );
    assert_eq!(stage.delivery(&missed), "acknowledged");
}

/// Lets an agent miss an answer; returns the question. A run that continues its chat is the same agent.
fn missed_before(stage: &Stage) -> String {
    let mut join = stage.command(&["join", "cursor"]);
    join.env("CUEME_SESSION", "chat-1").output().unwrap();
    let agents = stage.home.run(&["agents", "--json"]).expect(0).json();
    let agent = agents[0]["agent_id"].as_str().unwrap();
    stage.home.ask_for("100ms", agent, QUESTION, None).expect(75);
    let missed = stage.home.open(QUESTION).unwrap()["cue_id"]
        .as_str()
        .unwrap()
        .to_owned();
    stage.home.run(&["answer", &missed, "SQLite"]).expect(0);
    missed
}

#[test]
fn an_answer_that_the_agent_missed_is_kept_when_the_human_declines_to_go_on() {
    let stage = Stage::new("hap_missing");
    let missed = missed_before(&stage);
    let running = stage.start(&["agent", "run", "--resume", "chat-1", "do it"]);
    stage.answer_of("adapter", &["decline", "enough"]);
    running.finish().expect(0);
    assert_eq!(stage.delivery(&missed), "handed");
    assert!(told_by_mailbox(&stage).contains("SQLite"));
}

#[test]
fn an_answer_that_the_agent_missed_comes_with_the_next_one_and_counts_then() {
    let stage = Stage::new("hap_missing");
    let missed = missed_before(&stage);
    let running = stage.start(&["agent", "run", "--resume", "chat-1", "do it"]);
    let next = stage.answer_of("adapter", &["answer", "go on"]);
    stage.answer_of("adapter", &["decline", "enough"]);
    running.finish().expect(0);
    let turns = stage.turns();
    let told: Vec<&str> = turns
        .iter()
        .map(prompt_of)
        .filter(|prompt| prompt.contains("SQLite"))
        .collect();
    assert!(told.len() == 1 && told[0].ends_with("go on"), "{told:?}");
    assert_eq!(stage.delivery(&missed), "acknowledged");
    assert_eq!(stage.delivery(next["cue_id"].as_str().unwrap()), "acknowledged");
}

#[test]
fn an_answer_whose_turn_did_not_begin_is_told_with_the_agents_next_question() {
    let stage = Stage::new("hap_refused");
    let running = stage.start(&["agent", "run", "do it"]);
    let cue = stage.answer(&["answer", "also update the docs"]);
    running.finish().expect(1);
    assert_eq!(stage.turns().len(), 2, "the answer was given to a second turn");
    assert_eq!(stage.delivery(cue["cue_id"].as_str().unwrap()), "handed");
    assert!(told_by_mailbox(&stage).contains("also update the docs"));
}
