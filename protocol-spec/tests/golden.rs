//! Every message there is, as it stands on the wire. A change of the format by accident fails here.
//!
//! `UPDATE_GOLDEN=1 cargo test -p cueme-protocol --test golden` writes the files anew, on purpose.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::path::PathBuf;

use protocol_spec::answer::{Answer, FieldAnswer, Reply as Replied};
use protocol_spec::id::{AgentId, CueId, DriverId, RequestId, RunId, RuntimeTag};
use protocol_spec::message::*;
use protocol_spec::outcome::{Delivery, Kind, Origin, Outcome};
use protocol_spec::time::Timestamp;
use serde_json::value::RawValue;
use uuid::Uuid;

fn id() -> RequestId {
    RequestId(Uuid::from_u128(0x0198_0000_0000_7000_8000_0000_0000_0001))
}

fn cue() -> CueId {
    "0123456789ab".parse().unwrap()
}

fn agent() -> AgentId {
    "bako-nefi".parse().unwrap()
}

fn runtime() -> RuntimeTag {
    "claude_code".parse().unwrap()
}

fn time(seconds: i64) -> Timestamp {
    Timestamp::from_millis(1_790_000_000_000 + seconds * 1000)
}

fn payload() -> Box<RawValue> {
    RawValue::from_string(r#"{"type":"choice","options":["SQLite","Postgres"],"weight":1.50}"#.into())
        .unwrap()
}

fn answer() -> Answer {
    let fields = vec![FieldAnswer {
        label: "Env".into(),
        values: vec!["prod".into()],
        other: None,
    }];
    Answer {
        text: Some("carefully".into()),
        reply: Some(Replied::Form { fields }),
        attachments: Vec::new(),
        ends_run: false,
    }
}

fn run_id() -> RunId {
    RunId(Uuid::from_u128(0x0198_0000_0000_7000_8000_0000_0000_0002))
}

fn run() -> Run {
    Run {
        run_id: run_id(),
        kind: RunKind::Cloud,
        agent_id: Some(agent()),
        project: "https://github.com/ada/engine".into(),
        title: "Fix the carry".into(),
        status: "FINISHED".into(),
        end: Some(RunEnd::Succeeded),
        error: None,
        session: Some("bc-1".into()),
        session_params: Some(serde_json::json!({"agentId": "bc-1"})),
        model: None,
        branch: Some("cursor/carry".into()),
        pr_url: Some("https://github.com/ada/engine/pull/7".into()),
        url: None,
    }
}

fn requests() -> Vec<Request> {
    vec![
        Request::Hello(Hello {
            version: "0.1.0".into(),
        }),
        Request::Join(Join {
            runtime: runtime(),
            project_dir: "/home/ada/engine".into(),
            terminal: "zsh".into(),
            session: Some("s-1".into()),
        }),
        Request::Bind(Bind {
            agent_id: agent(),
            session: "s-1".into(),
        }),
        Request::Recall(Recall {
            hints: "the migration".into(),
            project_dir: Some("/home/ada/engine".into()),
        }),
        Request::Ask(Ask {
            agent_id: agent(),
            kind: Kind::Cue,
            prompt: "用哪个数据库？\nWhich database?".into(),
            payload: Some(payload()),
            origin: Origin::Agent,
            nonce: Some("turn-1".into()),
        }),
        Request::Attach(Attach {
            cue_id: cue(),
            nonce: None,
        }),
        Request::Ack(Ack {
            cue_ids: vec![cue()],
            nonce: Some("turn-1".into()),
        }),
        Request::Rest(Rest { cue_id: cue() }),
        Request::Receipts(Receipts {
            nonce: "turn-1".into(),
        }),
        Request::Collect(Collect {
            agent_id: agent(),
            close: Some("the human typed in the agent's own window".into()),
        }),
        Request::File(FileWanted {
            cue_id: cue(),
            path: "/data/attachments/shot.png".into(),
            offset: 524_288,
        }),
        Request::Inbox(Nothing {}),
        Request::Unseen(Nothing {}),
        Request::Show(Show { cue: "0123".into() }),
        Request::Seen(Show { cue: "0123".into() }),
        Request::Answer(GiveAnswer {
            cue: "0123".into(),
            answer: answer(),
            by: Some("ada".into()),
            hold_ms: 5000,
        }),
        Request::Decline(Decline {
            cue: "0123".into(),
            reason: Some("not now".into()),
            by: None,
        }),
        Request::Cancel(Cancel {
            cue: "0123".into(),
            reason: None,
            by: None,
        }),
        Request::Undo(Undo { cue: "0123".into() }),
        Request::Say(Say {
            agent: "bako".into(),
            text: "use the staging key".into(),
            purpose: Purpose::Note,
            by: None,
        }),
        Request::Amend(Amend {
            agent: "bako".into(),
            name: Some("engine".into()),
            archived: None,
        }),
        Request::Agents(Nothing {}),
        Request::Last(Last { agent: "bako".into() }),
        Request::History(History {
            agent: Some("bako".into()),
            search: Some("数据".into()),
            limit: Some(20),
            before: Some(42),
        }),
        Request::Watch(Watch { after: Some(7) }),
        Request::Status(Nothing {}),
        Request::Stop(Nothing {}),
        Request::Retire(Retire {
            version: "0.2.0".into(),
            executable: "/usr/local/bin/cueme".into(),
        }),
        Request::Check(Nothing {}),
        Request::Backup(Backup {
            path: "/tmp/copy.db".into(),
        }),
        Request::Purge(Purge {
            older_than_ms: 86_400_000,
            dry_run: true,
        }),
        Request::Import(Import {
            agents: vec![PastAgent {
                agent_id: agent(),
                runtime: runtime(),
                project_dir: "/home/ada/shop".into(),
                terminal: "zsh".into(),
                name: Some("Shop".into()),
                joined_at: time(0),
                seen_at: time(60),
            }],
            cues: vec![PastCue {
                key: id(),
                agent_id: agent(),
                kind: Kind::Cue,
                prompt: "Which database?".into(),
                payload: Some(payload()),
                asked_at: time(0),
                ended: Some(PastEnd {
                    answer: Some(answer()),
                    reason: None,
                    at: time(60),
                }),
            }],
        }),
        Request::WebLink(WebLink {
            name: Some("phone".into()),
        }),
        Request::Token(MintToken {
            scope: TokenScope::Agent,
            agent: Some("bako-nefi".into()),
            name: Some("ci".into()),
            expires_in_ms: None,
        }),
        Request::Tokens(Nothing {}),
        Request::RevokeToken(RevokeToken {
            token: "0a1b2c".into(),
        }),
        Request::RunReport(Box::new(RunReport {
            run: run(),
            events: vec![RunEvent {
                at: time(1),
                what: "status".into(),
                text: "FINISHED".into(),
            }],
        })),
        Request::RunFollow(RunFollow {
            run_id: run_id(),
            webhook_secret: Some("0123456789abcdef0123456789abcdef".into()),
            public_url: Some("https://broker.example".into()),
            asks: true,
            driver: None,
        }),
        Request::RunClaim(RunClaim {
            run_id: run_id(),
            driver: DriverId(run_id().0),
            sending: Some(Sending {
                cue_ids: vec![cue()],
                position: "3".into(),
            }),
        }),
        Request::Runs(RunQuery {
            kind: Some(RunKind::Cloud),
            name: Some("bc-".into()),
            limit: Some(20),
        }),
        Request::Bootstrap(MintBootstrap {
            agent_id: agent(),
            run_id: run_id(),
        }),
        Request::PublicProbe(PublicProbe {
            public_url: "https://broker.example".into(),
        }),
    ]
}

fn told() -> DeliveredOutcome {
    DeliveredOutcome {
        cue_id: cue(),
        kind: Kind::Cue,
        outcome: Outcome::Answered,
        text: "Env: prod\n\ncarefully".into(),
        reminder: Some("(cue again)".into()),
        answer: Some(answer()),
        ends_run: false,
        decided_at: time(60),
        by: Some("ada".into()),
        question: "Which environment?".into(),
        repeat_of: Some(time(61)),
    }
}

fn agent_view() -> AgentView {
    AgentView {
        agent_id: agent(),
        agent_runtime: runtime(),
        project_dir: "/home/ada/engine".into(),
        agent_terminal: "zsh".into(),
        name: Some("engine".into()),
        joined_at: time(0),
        seen_at: time(30),
        open_cues: 1,
        waiting: 1,
        queued: 2,
        archived: false,
    }
}

fn cue_view() -> CueView {
    CueView {
        cue_id: cue(),
        seq: 42,
        agent_id: agent(),
        agent_runtime: runtime(),
        project_dir: "/home/ada/engine".into(),
        kind: Kind::Cue,
        origin: Origin::Hook,
        prompt: "Which database?".into(),
        payload: Some(payload()),
        outcome: Outcome::Answered,
        delivery: Delivery::Acknowledged,
        asked_at: time(0),
        waiting: 0,
        detached_at: Some(time(40)),
        decided_at: Some(time(60)),
        released_at: Some(time(65)),
        acknowledged_at: Some(time(66)),
        by: Some("ada".into()),
        from_queue: false,
        damaged: false,
        in_run: false,
        text: Some("SQLite".into()),
        answer: Some(answer()),
        ends_run: false,
    }
}

fn replies() -> Vec<Reply> {
    vec![
        Reply::Welcome(Welcome {
            version: "0.1.0".into(),
            protocol: 1,
            pid: 4711,
        }),
        Reply::Joined(Joined {
            agent_id: agent(),
            again: false,
        }),
        Reply::Recalled(Recalled {
            matches: vec![Match {
                agent: agent_view(),
                why: vec!["asked \"Which database?\"".into()],
            }],
            candidates: Vec::new(),
        }),
        Reply::Asked(Asked {
            cue_id: cue(),
            agent_runtime: runtime(),
            again: true,
        }),
        Reply::Outcome(told()),
        Reply::Mailbox(Mailbox {
            cue_id: cue(),
            earlier: vec![told()],
        }),
        Reply::Acked(Acked { cue_ids: vec![cue()] }),
        Reply::Rested(Rested {
            cue_id: cue(),
            rounds: 3,
            give_up: false,
        }),
        Reply::Receipts(ReceiptList {
            receipts: vec![Receipt {
                cue_id: cue(),
                agent_id: agent(),
                kind: Kind::Pause,
                outcome: Outcome::Answered,
                acknowledged_at: time(66),
                ends_run: false,
            }],
        }),
        Reply::Collected(Collected {
            messages: Some(told()),
            earlier: vec![told()],
            closed: vec![cue()],
        }),
        Reply::File(FilePiece {
            data: "aGVsbG8=".into(),
            bytes: 5,
        }),
        Reply::Cue(Box::new(cue_view())),
        Reply::Agent(Box::new(agent_view())),
        Reply::End(End { more: true }),
        Reply::Decided(Decided {
            cue_id: cue(),
            agent_id: agent(),
            outcome: Outcome::Declined,
            handed_to: 1,
            released_at: Some(time(65)),
        }),
        Reply::Undone(Undone {
            cue_id: cue(),
            answer: Some(answer()),
        }),
        Reply::Said(Said {
            agent_id: agent(),
            queued: 1,
            open_cue: Some(cue()),
            waiting: 0,
        }),
        Reply::Event(EventView {
            id: Some(9),
            at: time(60),
            what: EventKind::Answered,
            agent_id: agent(),
            cue_id: Some(cue()),
        }),
        Reply::Lagged(Lagged { newest: 99 }),
        Reply::Status(Status {
            running: true,
            pid: 4711,
            version: "0.1.0".into(),
            protocol: 1,
            socket: "/run/user/7/cueme/broker.sock".into(),
            database: "/home/ada/.local/share/cueme/cueme.db".into(),
            executable: "/usr/local/bin/cueme".into(),
            started_at: time(0),
            open_cues: 1,
            waiting: 1,
            undelivered: 0,
            agents: 1,
            web: Some("http://127.0.0.1:7000".into()),
            storage_error: Some("the disk is full".into()),
            config_error: None,
        }),
        Reply::Stopping(Stopping { pid: 4711 }),
        Reply::Checked(Checked {
            problems: vec!["a page is missing".into()],
            schema: 1,
            bytes: 4096,
            cues: 42,
        }),
        Reply::BackedUp(BackedUp {
            path: "/tmp/copy.db".into(),
            bytes: 4096,
            cues: 42,
        }),
        Reply::Purged(Purged { cues: 3 }),
        Reply::Imported(Imported {
            agents: 1,
            cues: 2,
            ended: 1,
            known: 3,
            refused: vec![RefusedCue {
                key: id(),
                why: "the prompt is empty".into(),
            }],
        }),
        Reply::WebLink(WebLinked {
            url: "http://127.0.0.1:7000/login/t0ken".into(),
            expires_at: time(600),
        }),
        Reply::Token(TokenMade {
            token_id: "0a1b2c".into(),
            token: "t0ken".into(),
            url: "http://127.0.0.1:7000/api/v1".into(),
            expires_at: None,
        }),
        Reply::Tokens(TokenList {
            tokens: vec![TokenView {
                token_id: "0a1b2c".into(),
                scope: TokenScope::Agent,
                agent_id: Some(agent()),
                name: Some("ci".into()),
                created_at: time(0),
                expires_at: None,
                used_at: None,
            }],
        }),
        Reply::TokenRevoked(TokenRevoked {
            token_id: "0a1b2c".into(),
        }),
        Reply::Amended(Amended { agent_id: agent() }),
        Reply::Queue(Queue {
            agent_id: agent(),
            messages: vec![id()],
        }),
        Reply::RunNoted(RunNoted { run_id: run_id() }),
        Reply::RunWoken(RunWoken {
            run_id: run_id(),
            stop: true,
            lead: Lead::Another,
            ended: true,
        }),
        Reply::RunClaimed(RunClaimed {
            leads: true,
            left: Some(Sending {
                cue_ids: vec![cue()],
                position: "2".into(),
            }),
        }),
        Reply::Run(Box::new(RunView {
            run: run(),
            started_at: time(0),
            changed_at: time(60),
            ended_at: Some(time(60)),
            followed: false,
        })),
        Reply::Bootstrap(BootstrapMade {
            token: "cmb_once".into(),
            expires_at: time(600),
        }),
        Reply::PublicProbe(PublicProbed {
            listens_on: Some("127.0.0.1:7443".into()),
            path: "/api/health/4fd3".into(),
            proof: "91c2".into(),
        }),
        Reply::Error(
            Failure::new(ErrorCode::UnknownAgent, "no agent bako-nefi has joined here")
                .with_hint("`cueme join`"),
        ),
    ]
}

/// Requests with keys that came later and stand on the wire only where they say something.
fn newer_requests() -> Vec<(&'static str, Request)> {
    vec![
        (
            "say_queued_answer",
            Request::Say(Say {
                agent: "bako".into(),
                text: "go on with step two".into(),
                purpose: Purpose::QueuedAnswer,
                by: Some("ada".into()),
            }),
        ),
        (
            "token_expires",
            Request::Token(MintToken {
                scope: TokenScope::Join,
                agent: None,
                name: Some("ci".into()),
                expires_in_ms: Some(3_600_000),
            }),
        ),
    ]
}

/// Replies with such keys.
fn newer_replies() -> Vec<(&'static str, Reply)> {
    vec![
        (
            "said_waiting",
            Reply::Said(Said {
                agent_id: agent(),
                queued: 1,
                open_cue: Some(cue()),
                waiting: 2,
            }),
        ),
        (
            "recalled_candidates",
            Reply::Recalled(Recalled {
                matches: Vec::new(),
                candidates: vec![Match {
                    agent: agent_view(),
                    why: vec!["asked \"Which database?\"".into()],
                }],
            }),
        ),
        (
            "cue_damaged",
            Reply::Cue(Box::new(CueView {
                damaged: true,
                text: None,
                answer: None,
                ..cue_view()
            })),
        ),
        (
            "receipts_end_of_run",
            Reply::Receipts(ReceiptList {
                receipts: vec![Receipt {
                    cue_id: cue(),
                    agent_id: agent(),
                    kind: Kind::Cue,
                    outcome: Outcome::Answered,
                    acknowledged_at: time(66),
                    ends_run: true,
                }],
            }),
        ),
        (
            "cue_in_run",
            Reply::Cue(Box::new(CueView {
                in_run: true,
                answer: Some(Answer {
                    ends_run: true,
                    ..answer()
                }),
                ..cue_view()
            })),
        ),
        (
            "token_expires",
            Reply::Token(TokenMade {
                token_id: "0a1b2c".into(),
                token: "t0ken".into(),
                url: "http://127.0.0.1:7000/api/v1".into(),
                expires_at: Some(time(3600)),
            }),
        ),
        (
            "tokens_used",
            Reply::Tokens(TokenList {
                tokens: vec![TokenView {
                    token_id: "0a1b2c".into(),
                    scope: TokenScope::Join,
                    agent_id: None,
                    name: None,
                    created_at: time(0),
                    expires_at: Some(time(3600)),
                    used_at: Some(time(60)),
                }],
            }),
        ),
        (
            "cue_from_queue",
            Reply::Cue(Box::new(CueView {
                from_queue: true,
                ..cue_view()
            })),
        ),
    ]
}

/// Compares a line with its file, or writes the file when told to.
fn compare(kind: &str, name: &str, line: &[u8]) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("golden/{kind}_{name}.json"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, line).unwrap();
    }
    let golden = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert_eq!(
        String::from_utf8_lossy(line),
        String::from_utf8_lossy(&golden),
        "{}",
        path.display()
    );
}

#[test]
fn every_request_stands_on_the_wire_as_recorded_and_reads_back_the_same() {
    let requests = requests();
    let names: Vec<_> = requests.iter().map(Request::name).collect();
    assert_eq!(names, Request::NAMES, "every operation has a golden file");
    for request in &requests {
        let line = encode_request(id(), request).unwrap();
        compare("request", request.name(), &line);
        let (read_id, read) = decode_request(line.trim_ascii_end()).unwrap();
        assert_eq!(read_id, id());
        assert_eq!(encode_request(id(), &read).unwrap(), line);
    }
}

#[test]
fn every_reply_stands_on_the_wire_as_recorded_and_reads_back_the_same() {
    let replies = replies();
    let names: Vec<_> = replies.iter().map(Reply::name).collect();
    assert_eq!(names, Reply::NAMES, "every reply has a golden file");
    for reply in &replies {
        let line = encode_reply(id(), reply).unwrap();
        compare("reply", reply.name(), &line);
        let (read_id, read) = decode_reply(line.trim_ascii_end()).unwrap();
        assert_eq!(read_id, id());
        assert_eq!(encode_reply(id(), &read).unwrap(), line);
    }
}

#[test]
fn keys_that_came_later_stand_on_the_wire_as_recorded_and_read_back_the_same() {
    for (name, request) in newer_requests() {
        let line = encode_request(id(), &request).unwrap();
        compare("request", name, &line);
        let (_, read) = decode_request(line.trim_ascii_end()).unwrap();
        assert_eq!(encode_request(id(), &read).unwrap(), line);
    }
    for (name, reply) in newer_replies() {
        let line = encode_reply(id(), &reply).unwrap();
        compare("reply", name, &line);
        let (_, read) = decode_reply(line.trim_ascii_end()).unwrap();
        assert_eq!(encode_reply(id(), &read).unwrap(), line);
    }
}

#[test]
fn no_golden_file_is_left_over() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let is_known =
            |kind: &str, names: &[&str]| names.iter().any(|known| name == format!("{kind}_{known}.json"));
        let newer_requests: Vec<_> = newer_requests().into_iter().map(|(name, _)| name).collect();
        let newer_replies: Vec<_> = newer_replies().into_iter().map(|(name, _)| name).collect();
        assert!(
            is_known("request", Request::NAMES)
                || is_known("reply", Reply::NAMES)
                || is_known("request", &newer_requests)
                || is_known("reply", &newer_replies),
            "{name}"
        );
    }
}

#[test]
fn an_operation_from_the_future_is_named_with_its_id() {
    let line = format!(r#"{{"v":1,"id":"{}","op":"telepathy","body":{{"x":1}}}}"#, id());
    let error = decode_request(line.as_bytes()).unwrap_err();
    assert_eq!(
        error,
        LineError::Unknown {
            name: "telepathy".into(),
            id: id()
        }
    );
    let line = format!(r#"{{"v":9,"id":"{}","op":"hello"}}"#, id());
    assert_eq!(
        decode_request(line.as_bytes()).unwrap_err(),
        LineError::Version { found: 9, id: id() }
    );
}

#[test]
fn an_unknown_key_of_a_newer_peer_is_no_error() {
    let line = format!(
        r#"{{"v":1,"id":"{}","op":"status","body":{{"new":[1]}},"trace":"t"}}"#,
        id()
    );
    assert!(matches!(
        decode_request(line.as_bytes()),
        Ok((_, Request::Status(_)))
    ));
}

#[test]
fn what_is_not_a_message_is_refused_without_a_panic() {
    for line in [
        &b""[..],
        b"{",
        b"null",
        b"[]",
        b"\xff\xfe",
        b"{\"v\":1}",
        b"{\"v\":1,\"id\":7,\"op\":\"hello\"}",
    ] {
        assert!(
            matches!(decode_request(line), Err(LineError::Malformed(_))),
            "{line:?}"
        );
    }
    let line = format!(
        r#"{{"v":1,"id":"{}","op":"ask","body":{{"agent_id":"A B"}}}}"#,
        id()
    );
    assert!(matches!(
        decode_request(line.as_bytes()),
        Err(LineError::Body { .. })
    ));
}
