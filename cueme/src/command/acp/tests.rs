//! The rules of the proxy, without a process.

use protocol_spec::answer::{Answer, Reply};
use protocol_spec::id::CueId;
use protocol_spec::message::DeliveredOutcome;
use protocol_spec::outcome::{Kind, Outcome};
use protocol_spec::time::Timestamp;
use serde_json::{Value, json};

use super::proxy::{About, Action, InboxReply, Key, Proxy};

fn line(message: &Value) -> Vec<u8> {
    format!("{message}\n").into_bytes()
}

fn asks(id: &Value, command: &str) -> Vec<u8> {
    let options = json!([{"optionId": "y", "name": "Yes", "kind": "allow_once"}, {"optionId": "n", "name": "No", "kind": "reject_once"}]);
    let call =
        json!({"toolCallId": "c", "title": "Shell", "kind": "execute", "rawInput": {"command": command}});
    let params = json!({"sessionId": "s", "toolCall": call, "options": options});
    line(&json!({"jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": params}))
}

fn prompt(id: u64) -> Vec<u8> {
    line(&json!({"id": id, "method": "session/prompt", "params": {"sessionId": "s", "prompt": []}}))
}

fn ended(id: u64, reason: &str) -> Vec<u8> {
    line(&json!({"id": id, "result": {"stopReason": reason}}))
}

fn said(words: &str) -> Vec<u8> {
    let update = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": words}});
    line(&json!({"method": "session/update", "params": {"sessionId": "s", "update": update}}))
}

fn yes() -> InboxReply {
    InboxReply::Outcomes(vec![DeliveredOutcome {
        cue_id: CueId::from_random(1),
        kind: Kind::Cue,
        outcome: Outcome::Answered,
        text: "Allow".into(),
        reminder: None,
        ends_run: false,
        answer: Some(Answer {
            reply: Some(Reply::Confirm { confirmed: true }),
            ..Answer::default()
        }),
        decided_at: Timestamp::from_millis(0),
        by: None,
        question: String::new(),
        repeat_of: None,
    }])
}

/// Returns the question that is asked in the inbox.
fn asked(actions: &[Action]) -> (&Key, &About) {
    let found = actions.iter().find_map(|action| match action {
        Action::Ask(key, asked) => Some((key, &asked.about)),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("nobody is asked: {actions:?}"))
}

fn json_of(action: &Action) -> Value {
    let (Action::ToAgent(line) | Action::ToEditor(line)) = action else {
        panic!("no line: {action:?}")
    };
    serde_json::from_slice(line).unwrap()
}

/// Leads a session to the open question about its first turn, and returns its key.
fn turn_end(proxy: &mut Proxy) -> Key {
    assert_eq!(proxy.editor_line(&prompt(1)), [Action::Pass]);
    proxy.agent_line(&said("All "));
    proxy.agent_line(&said("done."));
    let actions = proxy.agent_line(&ended(1, "end_turn"));
    assert_eq!(actions[0], Action::Pass);
    let (key, about) = asked(&actions);
    assert_eq!(*about, About::TurnEnd("All done.".into()));
    key.clone()
}

#[test]
fn what_nobody_understands_passes() {
    let mut proxy = Proxy::default();
    for odd in [
        &b"not JSON\n"[..],
        b"[]\n",
        b"{}\n",
        b"{\"method\":\"_x/y\",\"id\":\"a\"}\n",
        b"\xff\n",
        b"\n",
    ] {
        assert_eq!(proxy.editor_line(odd), [Action::Pass]);
        assert_eq!(proxy.agent_line(odd), [Action::Pass]);
    }
}

#[test]
fn an_answer_in_the_editor_withdraws_the_question_of_the_inbox() {
    let mut proxy = Proxy::default();
    let actions = proxy.agent_line(&asks(&json!("p-1"), "ls"));
    let key = asked(&actions).0.clone();
    let answered = proxy.editor_line(&line(&json!({"id": "p-1", "result": {}})));
    assert!(matches!(&answered[..], [Action::Withdraw(withdrawn, _), Action::Pass] if *withdrawn == key));
    assert_eq!(proxy.inbox_answer(&key, &yes()), [], "the editor was first");
}

#[test]
fn an_answer_in_the_inbox_replies_to_the_agent_and_takes_the_request_back() {
    let mut proxy = Proxy::default();
    let key = asked(&proxy.agent_line(&asks(&json!(7), "ls"))).0.clone();
    let actions = proxy.inbox_answer(&key, &yes());
    assert_eq!(json_of(&actions[0])["id"], 7);
    assert_eq!(json_of(&actions[0])["result"]["outcome"]["optionId"], "y");
    assert_eq!(json_of(&actions[1])["method"], "$/cancel_request");
    assert_eq!(json_of(&actions[1])["params"]["requestId"], 7);
    let late = proxy.editor_line(&line(
        &json!({"id": 7, "error": {"code": -32800, "message": "cancelled"}}),
    ));
    assert_eq!(late, [], "the agent has its reply already");
    assert_eq!(
        proxy.editor_line(&line(&json!({"id": 7, "result": {}}))),
        [Action::Pass]
    );
}

#[test]
fn nobody_is_asked_whether_an_agent_may_ask() {
    let mut proxy = Proxy::new(Vec::new());
    let actions = proxy.agent_line(&asks(&json!(1), "cueme pause bako-nefi"));
    assert_eq!(json_of(&actions[0])["result"]["outcome"]["optionId"], "y");
    assert_eq!(actions.len(), 1);
}

#[test]
fn the_agent_can_withdraw_its_request() {
    let mut proxy = Proxy::default();
    let key = asked(&proxy.agent_line(&asks(&json!(7), "ls"))).0.clone();
    let taken_back = line(&json!({"method": "$/cancel_request", "params": {"requestId": 7}}));
    let actions = proxy.agent_line(&taken_back);
    assert!(matches!(&actions[..], [Action::Withdraw(withdrawn, _), Action::Pass] if *withdrawn == key));
}

#[test]
fn a_turn_that_ends_becomes_a_question_whose_answer_begins_the_next_turn() {
    let mut proxy = Proxy::default();
    let key = turn_end(&mut proxy);
    let actions = proxy.inbox_answer(&key, &InboxReply::Next("go on".into()));
    assert_eq!(
        json_of(&actions[0])["params"]["update"]["content"]["text"],
        "go on"
    );
    let sent = json_of(&actions[1]);
    assert_eq!(sent["params"]["prompt"][0]["text"], "go on");
    // The editor never asked for this turn, so it does not hear of its reply, but its own prompt waits.
    assert_eq!(proxy.editor_line(&prompt(2)), []);
    let end = line(&json!({"id": sent["id"], "result": {"stopReason": "end_turn"}}));
    assert_eq!(proxy.agent_line(&end), [Action::ToAgent(prompt(2))]);
    let actions = proxy.agent_line(&ended(2, "end_turn"));
    asked(&actions);
}

#[test]
fn typing_in_the_editor_withdraws_the_question_about_the_turn() {
    let mut proxy = Proxy::default();
    let key = turn_end(&mut proxy);
    let actions = proxy.editor_line(&prompt(2));
    assert!(matches!(&actions[..], [Action::Withdraw(withdrawn, _), Action::Pass] if *withdrawn == key));
    assert_eq!(proxy.inbox_answer(&key, &InboxReply::Next("late".into())), []);
}

#[test]
fn a_turn_that_was_stopped_or_cut_off_asks_nobody() {
    for reason in ["cancelled", "refusal", "max_tokens"] {
        let mut proxy = Proxy::default();
        proxy.editor_line(&prompt(1));
        assert_eq!(proxy.agent_line(&ended(1, reason)), [Action::Pass]);
    }
    let mut proxy = Proxy::default();
    proxy.editor_line(&prompt(1));
    assert_eq!(
        proxy.agent_line(&line(&json!({"id": 1, "error": {"code": 1, "message": "x"}}))),
        [Action::Pass]
    );
}

#[test]
fn a_session_is_known_by_the_folder_that_it_was_made_in() {
    let mut proxy = Proxy::default();
    proxy.editor_line(&line(
        &json!({"id": 1, "method": "session/new", "params": {"cwd": "/app"}}),
    ));
    proxy.agent_line(&line(&json!({"id": 1, "result": {"sessionId": "s"}})));
    let actions = proxy.agent_line(&asks(&json!(7), "ls"));
    let Action::Ask(_, asked) = &actions[1] else {
        panic!("{actions:?}")
    };
    assert_eq!(asked.folder.as_deref(), Some(std::path::Path::new("/app")));
    assert_eq!(proxy.close().len(), 1);
}
