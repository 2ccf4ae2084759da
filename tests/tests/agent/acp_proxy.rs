//! `cueme acp`: the proxy between an editor and an agent, with the real broker and a double of the agent.

use std::process::Stdio;

use cueme_tests::{Editor, Manners, Signal, is_alive, send_signal};
use serde_json::{Value, json};

use crate::stage::Stage;
use cueme_tests::eventually;

/// An editor whose agent is behind the proxy, in a home of its own.
struct Desk {
    stage: Stage,
    editor: Editor,
    session: String,
}

impl Desk {
    fn new(scenario: &'static str) -> Self {
        Self::on(Stage::new("hap_ok"), scenario)
    }

    fn on(stage: Stage, scenario: &'static str) -> Self {
        let mut command = stage.command(&["acp", "--", env!("CARGO_BIN_EXE_fake-acp-agent")]);
        let log = std::fs::File::create(stage.home.path().join("stderr")).unwrap();
        command
            .env("FAKE_ACP_SCENARIO", scenario)
            .env("FAKE_ACP_LOG", stage.home.path().join("acp.log"))
            .stderr(Stdio::from(log));
        let mut editor = Editor::start(&mut command, Manners::Waits);
        let session = editor.begin(stage.project().to_str().unwrap());
        Self {
            stage,
            editor,
            session,
        }
    }

    fn prompt(&mut self, text: &str) -> u64 {
        self.editor.prompt(&self.session, text)
    }

    /// Returns what the agent read, line by line.
    fn agent_read(&self) -> Vec<String> {
        let log = std::fs::read_to_string(self.stage.home.path().join("acp.log")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    fn stderr(&self) -> String {
        std::fs::read_to_string(self.stage.home.path().join("stderr")).unwrap_or_default()
    }

    /// Waits for a question in the inbox.
    fn asked(&self) -> Value {
        eventually("what the inbox and the editor show", || {
            let inbox = self.stage.home.run(&["inbox", "--json"]).expect(0).json();
            let waited = |cue: &&Value| cue["waiting"].as_u64() > Some(0);
            inbox.as_array().unwrap().iter().find(waited).cloned()
        })
    }

    /// Waits until a question is decided, and returns how.
    fn decided(&self, cue: &Value) -> Value {
        let id = cue["cue_id"].as_str().unwrap();
        eventually("what the inbox and the editor show", || {
            let shown = self.stage.home.run(&["show", id, "--json"]).expect(0).json();
            (shown["outcome"] != "open").then_some(shown)
        })
    }

    /// Returns what the agent said in the editor.
    fn said(&self) -> String {
        let chunks = self.editor.messages().into_iter().filter_map(|message| {
            let update = &message["params"]["update"];
            let is_said = update["sessionUpdate"] == "agent_message_chunk";
            update["content"]["text"]
                .as_str()
                .filter(|_| is_said)
                .map(str::to_owned)
        });
        chunks.collect()
    }
}

#[test]
fn every_line_passes_as_it_was_written_also_one_that_nobody_understands() {
    let mut desk = Desk::new("malformed");
    let odd = r#"{ "jsonrpc":"2.0", "method" : "_vendor/unknown","id":"odd-1","params":{"b":1,"a":[1e3, "é\u0000"]} }"#;
    desk.editor.write(odd);
    desk.editor.write("not JSON at all \u{1b}[31m");
    desk.prompt("go");
    desk.editor.told("session/update");
    let echo = eventually("the echo", || {
        let is_echo = |message: &Value| message["id"] == "odd-1";
        desk.editor.messages().into_iter().find(is_echo)
    });
    assert_eq!(echo["result"]["echo"], "_vendor/unknown");
    let read = desk.agent_read();
    assert!(read.iter().any(|line| line == odd), "{read:#?}");
    assert!(
        read.iter().any(|line| line == "not JSON at all \u{1b}[31m"),
        "{read:#?}"
    );
    let lines = desk.editor.lines();
    for noise in ["Update available!", "{\"jsonrpc\": torn"] {
        assert!(lines.iter().any(|line| line == noise), "{lines:#?}");
    }
}

#[test]
fn an_answer_of_the_inbox_reaches_the_agent_and_the_editors_dialog_is_taken_back() {
    let mut desk = Desk::new("permission");
    let turn = desk.prompt("go");
    let cue = desk.stage.answer(&["answer", "--confirm"]);
    assert_eq!(cue["origin"], "approval");
    let prompt = cue["prompt"].as_str().unwrap();
    assert!(
        prompt.contains("rm -rf build") && prompt.contains("\"timeout\": 7"),
        "{prompt}"
    );
    let asked = desk.editor.told("session/request_permission");
    let withdrawn = desk.editor.told("$/cancel_request");
    assert_eq!(withdrawn["params"]["requestId"], asked["id"]);
    eventually("the end of the turn", || desk.editor.reply(turn));
    assert!(desk.said().contains("\"optionId\":\"yes\""), "{}", desk.said());
    // The editor replies to what was taken back, as the protocol wants; the agent has its answer already.
    desk.editor.write(
        &json!({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32800, "message": "x"}}).to_string(),
    );
    desk.editor
        .write(r#"{"jsonrpc":"2.0","id":"mark","method":"_mark"}"#);
    eventually("what the inbox and the editor show", || {
        desk.agent_read()
            .iter()
            .any(|line| line.contains("_mark"))
            .then_some(())
    });
    assert!(!desk.agent_read().iter().any(|line| line.contains("-32800")));
    let id = cue["cue_id"].as_str().unwrap();
    eventually("the acknowledgement", || {
        (desk.stage.delivery(id) == "acknowledged").then_some(())
    });
}

#[test]
fn an_answer_of_the_editor_withdraws_the_question_of_the_inbox() {
    let mut desk = Desk::new("permission");
    desk.prompt("go");
    let cue = desk.asked();
    let asked = desk.editor.told("session/request_permission");
    let reply = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"outcome": {"outcome": "selected", "optionId": "no"}}});
    desk.editor.write(&reply.to_string());
    assert_eq!(desk.decided(&cue)["outcome"], "cancelled");
    eventually("words of the agent", || {
        desk.said().contains("\"optionId\":\"no\"").then_some(())
    });
    assert!(
        desk.agent_read().contains(&reply.to_string()),
        "the reply passes unchanged"
    );
}

#[test]
fn when_both_answer_at_once_the_agent_hears_exactly_one_of_them() {
    let mut desk = Desk::new("permission");
    desk.prompt("go");
    let cue = desk.asked();
    let asked = desk.editor.told("session/request_permission");
    let reply = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"outcome": {"outcome": "selected", "optionId": "no"}}});
    std::thread::scope(|scope| {
        let id = cue["cue_id"].as_str().unwrap();
        let home = &desk.stage.home;
        scope.spawn(move || home.run(&["answer", id, "--confirm"]));
        desk.editor.write(&reply.to_string());
    });
    eventually("words of the agent", || {
        desk.said().contains("optionId").then_some(())
    });
    desk.editor
        .write(r#"{"jsonrpc":"2.0","id":"mark","method":"_mark"}"#);
    eventually("what the inbox and the editor show", || {
        desk.agent_read()
            .iter()
            .any(|line| line.contains("_mark"))
            .then_some(())
    });
    let replies = desk
        .agent_read()
        .into_iter()
        .filter(|line| line.contains("optionId"))
        .count();
    assert_eq!(replies, 1);
}

#[test]
fn a_turn_that_ends_silently_is_a_question_whose_answer_begins_the_next_one() {
    let mut desk = Desk::new("silent");
    let turn = desk.prompt("write the parser");
    let cue = desk.stage.answer(&["answer", "and now the lexer"]);
    assert!(
        cue["prompt"]
            .as_str()
            .unwrap()
            .contains("done with: write the parser"),
        "{cue}"
    );
    assert_eq!(
        desk.editor.reply(turn).unwrap()["result"]["stopReason"],
        "end_turn",
        "the editor is not held up"
    );
    eventually("words of the agent", || {
        desk.said().contains("done with: and now the lexer").then_some(())
    });
    let shown = desk.editor.messages().into_iter().any(|message| {
        let update = &message["params"]["update"];
        update["sessionUpdate"] == "user_message_chunk" && update["content"]["text"] == "and now the lexer"
    });
    assert!(shown, "the editor shows who said it");
    // The end of that turn is a question too; a prompt of the editor takes its place.
    let next = desk.asked();
    desk.prompt("stop here");
    let closed = desk.decided(&next);
    assert_eq!(closed["outcome"], "cancelled");
    eventually("words of the agent", || {
        desk.said().contains("done with: stop here").then_some(())
    });
}

#[test]
fn an_agent_that_asked_by_itself_is_not_asked_about_again() {
    let mut desk = Desk::new("cue");
    desk.stage.home.run(&["join", "acp"]).expect(0);
    let turn = desk.prompt("go");
    desk.stage.answer_of("agent", &["answer", "ship it"]);
    eventually("the end of the turn", || desk.editor.reply(turn));
    // The next turn is silent, so whatever is asked about it comes after what would be asked about the first.
    desk.editor.close();
    eventually("the end of the proxy", || desk.editor.ended());
    assert_eq!(desk.stage.questions().len(), 1, "{:#?}", desk.stage.questions());
}

#[test]
fn an_agent_that_dies_in_its_request_ends_the_proxy_and_its_question_is_closed() {
    let mut desk = Desk::new("die");
    desk.prompt("go");
    let status = eventually("the end of the proxy", || desk.editor.ended());
    assert_eq!(status.code(), Some(1), "{}", desk.stderr());
    assert!(desk.stderr().contains("exit status: 3"), "{}", desk.stderr());
    let is_closed = |cue: &Value| cue["outcome"] == "cancelled";
    assert!(
        desk.stage.questions().iter().all(is_closed),
        "{:#?}",
        desk.stage.questions()
    );
}

#[test]
fn an_editor_that_closes_ends_everything_and_open_questions_are_closed() {
    let mut desk = Desk::new("hang");
    desk.prompt("go");
    let cue = desk.asked();
    desk.editor.close();
    let status = eventually("the end of the proxy", || desk.editor.ended());
    assert_eq!(status.code(), Some(0), "{}", desk.stderr());
    assert_eq!(desk.decided(&cue)["outcome"], "cancelled");
}

#[test]
fn a_line_over_the_limit_passes_whole_and_the_proxy_says_so() {
    let mut desk = Desk::new("huge");
    desk.prompt("go");
    let cue = desk.asked();
    assert!(cue["prompt"].as_str().unwrap().contains("after the huge line"));
    let longest = desk.editor.lines().iter().map(String::len).max();
    assert!(longest > Some(17 * 1024 * 1024), "{longest:?}");
    assert!(desk.stderr().contains("16777216 bytes"), "{}", desk.stderr());
}

#[test]
fn without_a_broker_everything_passes_and_a_warning_is_written() {
    let stage = Stage::new("hap_ok");
    // Where the data should be is a file, so no broker can start.
    let home = stage.home.path().join("no-home");
    std::fs::write(&home, "").unwrap();
    let stage = stage.with("CUEME_HOME", home.to_str().unwrap());
    let mut desk = Desk::on(stage, "permission");
    let turn = desk.prompt("go");
    let asked = desk.editor.told("session/request_permission");
    eventually("a warning", || {
        desk.stderr().contains("in the editor alone").then_some(())
    });
    desk.editor.write(
        &json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"outcome": {"outcome": "selected", "optionId": "yes"}}}).to_string(),
    );
    eventually("the end of the turn", || desk.editor.reply(turn));
    assert!(desk.said().contains("\"optionId\":\"yes\""));
}

#[test]
fn a_proxy_that_is_stopped_leaves_no_agent_and_no_question() {
    let mut desk = Desk::new("hang");
    desk.prompt("go");
    let cue = desk.asked();
    send_signal(desk.editor.id(), Signal::TERM);
    eventually("the end of the proxy", || desk.editor.ended());
    assert_eq!(desk.decided(&cue)["outcome"], "cancelled");
    assert!(!is_alive(desk.editor.id()));
}
