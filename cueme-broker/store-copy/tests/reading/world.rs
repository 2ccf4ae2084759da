//! One of everything that a store keeps, written through its traits.

use std::sync::Arc;

use cueme_rules::{Amendment, Change, ContentKey, PastCue, PastEnd};
use cueme_store::{BatchId, BootstrapRecord, Device, DraftPlace, Store, Token, Upload};
use protocol_spec::answer::Answer;
use protocol_spec::id::{AgentId, CueId, DriverId, RequestId, RunId};
use protocol_spec::message::{
    EventKind, PastAgent, Purpose, Run, RunEnd, RunEvent, RunKind, Sending, TokenScope,
};
use protocol_spec::outcome::{Kind, Origin, Outcome};
use protocol_spec::time::Timestamp;
use uuid::Uuid;

/// When the world begins.
pub(crate) const WALL_MS: i64 = 1_800_000_000_000;

/// Somebody who writes: each call is a transaction, a second after the one before.
pub(crate) struct Writer<'a> {
    store: &'a dyn Store,
    step: u64,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(store: &'a dyn Store) -> Self {
        Self { store, step: 0 }
    }

    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_millis(WALL_MS + 1000 * i64::try_from(self.step).unwrap())
    }

    /// Writes in a transaction.
    pub(crate) fn write<T>(&mut self, work: impl FnOnce(&dyn Store, Timestamp) -> T) -> T {
        self.step += 1;
        self.store.begin().unwrap();
        let result = work(self.store, self.now());
        self.store.commit(BatchId(self.step)).unwrap();
        result
    }

    pub(crate) fn apply(&mut self, changes: &[Change]) {
        self.write(|store, at| {
            for change in changes {
                store.apply(at, change).unwrap();
            }
        });
    }

    pub(crate) fn join(&mut self, number: u32, runtime: &str, project: &str) -> AgentId {
        let agent = AgentId::from_random(number);
        let joined = Change::AddAgent {
            agent: agent.clone(),
            runtime: runtime.parse().unwrap(),
            project_dir: project.into(),
            terminal: "sh".into(),
            session: (number % 2 == 1).then(|| format!("session {number}")),
        };
        self.write(|store, at| {
            store.apply(at, &joined).unwrap();
            store.log(at, EventKind::Joined, &agent, None).unwrap();
        });
        agent
    }

    pub(crate) fn ask(&mut self, number: u64, agent: &AgentId, prompt: &str, payload: Option<&str>) -> CueId {
        let cue = CueId::from_random(number);
        let asked = [
            Change::AddCue {
                cue,
                agent: agent.clone(),
                kind: if number % 5 == 4 { Kind::Pause } else { Kind::Cue },
                origin: Origin::Agent,
                prompt: prompt.into(),
                payload: payload.map(Arc::from),
                content: ContentKey([u8::try_from(number % 256).unwrap(); 32]),
            },
            Change::BindRequest {
                request: request(number),
                cue,
            },
        ];
        self.write(|store, at| {
            asked.iter().for_each(|change| store.apply(at, change).unwrap());
            store.log(at, EventKind::Asked, agent, Some(cue)).unwrap();
        });
        cue
    }

    pub(crate) fn answer(&mut self, cue: CueId, text: &str, by: Option<&str>) {
        self.apply(&[decision(cue, text, by)]);
    }

    pub(crate) fn deliver(&mut self, cue: CueId, nonce: &str) {
        self.apply(&[
            Change::Hand { cue },
            Change::Acknowledge {
                cue,
                nonce: Some(nonce.into()),
                erase: false,
            },
        ]);
    }
}

/// A key that is the same in every store.
pub(crate) fn request(number: u64) -> RequestId {
    RequestId(Uuid::from_u64_pair(7, number))
}

fn answered(text: &str) -> Answer {
    Answer {
        text: Some(text.into()),
        ..Answer::default()
    }
}

pub(crate) fn decision(cue: CueId, text: &str, by: Option<&str>) -> Change {
    Change::Decide {
        cue,
        outcome: Outcome::Answered,
        request: RequestId(Uuid::from_u64_pair(
            9,
            u64::from_str_radix(&hex_of(cue), 16).unwrap_or(1),
        )),
        text: text.into(),
        reminder: Some("and go on".into()),
        answer: Some(Arc::new(answered(text))),
        redacted: None,
        by: by.map(str::to_owned),
        released_at: None,
        from_queue: false,
    }
}

fn hex_of(cue: CueId) -> String {
    cue.as_str()
        .bytes()
        .take(7)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// The ids in the world.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) agents: Vec<AgentId>,
    pub(crate) cues: Vec<CueId>,
    pub(crate) run: RunId,
}

/// Writes one of everything.
pub(crate) fn write_world(store: &dyn Store, attachments: &std::path::Path) -> World {
    const CONFIRM: &str = r#"{"type":"confirm","text":"Sure?"}"#;
    let mut writer = Writer::new(store);
    let agents = vec![
        writer.join(1, "cursor", "/home/ada/shop"),
        writer.join(2, "claude_code", "/srv/harbour"),
        writer.join(3, "terminal", "/home/ada/silent\u{10FFFF}"),
    ];
    let past = write_past(&mut writer);
    let asked: &[(usize, &str, Option<&str>)] = &[
        (0, "Which database, SQLite or PostgreSQL?", None),
        (1, "Sure about the migration of the harbour?", Some(CONFIRM)),
        (0, "用SQLite数据库,还是 PostgreSQL?", None),
        (1, "Odd \u{10FFFF}characters are text", None),
        (0, "A pause for the café", None),
        (0, "What is the password?", None),
        (1, "Shall I queue the naïve harbours?", None),
        (0, "Left behind", None),
        (1, "Held back", None),
        (0, "Open still", Some(r#"{"type":"choice","options":["a","b"]}"#)),
        (1, "Decided by a rule", None),
        (1, "Taken back", None),
    ];
    let mut cues: Vec<CueId> = (1..)
        .zip(asked)
        .map(|(number, (agent, prompt, payload))| writer.ask(number, &agents[*agent], prompt, *payload))
        .collect();
    let reword = |cue, text: &str| {
        let mut change = decision(cue, text, Some("ada"));
        let Change::Decide {
            redacted,
            from_queue,
            released_at,
            ..
        } = &mut change
        else {
            unreachable!()
        };
        match text {
            "hunter2" => *redacted = Some(Arc::new(("[redacted]".into(), answered("[redacted]")))),
            "queued" => *from_queue = true,
            _ => *released_at = Some(Timestamp::from_millis(WALL_MS + 99_000)),
        }
        change
    };
    writer.answer(cues[0], "SQLite, for now\0", Some("ada"));
    writer.deliver(cues[0], "turn 1");
    writer.answer(cues[1], "no migration", None);
    writer.deliver(cues[1], "turn 1");
    writer.apply(&[Change::AddReceipt {
        cue: cues[1],
        nonce: "turn 2".into(),
    }]);
    writer.answer(cues[2], "数据库很好", Some("policy:fast"));
    writer.apply(&[Change::Hand { cue: cues[2] }]);
    writer.apply(&[reword(cues[5], "hunter2")]);
    writer.apply(&[reword(cues[6], "queued")]);
    writer.apply(&[Change::Reopen {
        cue: cues[7],
        outcome: Outcome::Superseded,
        erase: false,
    }]);
    writer.apply(&[reword(cues[8], "held")]);
    writer.answer(cues[10], "yes", Some("policy:fast"));
    writer.answer(cues[11], "a zeppelin", None);
    writer.apply(&[Change::Reopen {
        cue: cues[11],
        outcome: Outcome::Open,
        erase: false,
    }]);
    writer.apply(&[Change::SetDetached {
        cue: cues[9],
        at: Some(Timestamp::from_millis(WALL_MS)),
    }]);
    write_messages(&mut writer, &agents, cues[8]);
    write_records(&mut writer, &agents, &cues, attachments);
    let run = write_runs(&mut writer, &agents);
    cues.extend(past);
    World { agents, cues, run }
}

fn write_past(writer: &mut Writer<'_>) -> Vec<CueId> {
    let agent = AgentId::from_random(9);
    let at = |day: i64| Timestamp::from_millis(WALL_MS - day * 86_400_000);
    let import = |number: u64, prompt: &str, end, day| {
        let past = PastCue {
            request: request(number),
            cue: CueId::from_random(number),
            agent: agent.clone(),
            kind: Kind::Cue,
            prompt: prompt.into(),
            payload: None,
            content: ContentKey([1; 32]),
            asked_at: at(day),
            end,
            ended_at: at(day - 1),
        };
        Change::ImportCue(Box::new(past))
    };
    let end = PastEnd::Answered {
        text: "in the lighthouse".into(),
        answer: Arc::new(answered("in the lighthouse")),
    };
    writer.apply(&[
        Change::ImportAgent(Box::new(PastAgent {
            agent_id: agent.clone(),
            runtime: "codex".parse().unwrap(),
            project_dir: "/old".into(),
            terminal: "unknown".into(),
            name: Some("Old one".into()),
            joined_at: at(30),
            seen_at: at(20),
        })),
        import(101, "Where was the kettle?", end, 30),
        import(102, "Who left it open?", PastEnd::LeftOpen, 25),
    ]);
    [101, 102].map(CueId::from_random).to_vec()
}

fn write_messages(writer: &mut Writer<'_>, agents: &[AgentId], taken_by: CueId) {
    let say = |number: u64, agent: &AgentId, text: &str, purpose| Change::AddMessage {
        request: request(number),
        agent: agent.clone(),
        text: text.into(),
        purpose,
        by: Some("ada".into()),
    };
    writer.apply(&[
        say(201, &agents[0], "a note", Purpose::Note),
        say(202, &agents[0], "a queued answer", Purpose::QueuedAnswer),
        say(203, &agents[1], "taken", Purpose::Note),
        say(204, &agents[0], "dropped", Purpose::Note),
    ]);
    writer.apply(&[
        Change::ReorderMessages {
            messages: vec![request(202), request(201)],
        },
        Change::RewordMessage {
            message: request(201),
            text: "a better note".into(),
        },
        Change::TakeMessages {
            messages: vec![request(203)],
            cue: taken_by,
        },
        Change::DropMessage {
            message: request(204),
        },
    ]);
}

fn write_records(writer: &mut Writer<'_>, agents: &[AgentId], cues: &[CueId], attachments: &std::path::Path) {
    let amendment = Amendment {
        name: Some(Some("Shop keeper".into())),
        pinned: Some(true),
        archived: None,
        standing: Some(Some("in English".into())),
    };
    writer.apply(&[Change::AmendAgent {
        agent: agents[0].clone(),
        amendment,
    }]);
    let path = attachments.join("picture.png");
    std::fs::create_dir_all(attachments).unwrap();
    std::fs::write(&path, b"a picture").unwrap();
    let upload = Upload {
        upload_id: "upload1".into(),
        path: path.to_str().unwrap().to_owned(),
        name: "picture.png".into(),
        media_type: "image/png".into(),
        bytes: 9,
        cue_ids: Vec::new(),
    };
    writer.write(|store, at| {
        store.set("language", "\"en\"").unwrap();
        store.mark_read(&agents[0], 1).unwrap();
        let (place, other) = (DraftPlace::cue(cues[9]), DraftPlace::agent(&agents[1]));
        store
            .keep_draft(&place, 0, r#"{"text":"dra"}"#, Some("ada"), at)
            .unwrap()
            .unwrap();
        store
            .keep_draft(&place, 1, r#"{"text":"draft"}"#, None, at)
            .unwrap()
            .unwrap();
        store.keep_sent(&other, r#"{"text":"sent"}"#, None, at).unwrap();
        let device = |number: u8| Device {
            device_id: format!("device{number}"),
            hash: [number; 32],
            name: format!("Phone {number}"),
            created_at: at,
            seen_at: at,
        };
        store.add_device(&device(1)).unwrap();
        store.add_device(&device(2)).unwrap();
        store
            .add_link(&[3; 32], Some("tablet"), Timestamp::from_millis(WALL_MS * 2))
            .unwrap();
        let token = Token {
            token_id: "token1".into(),
            hash: [4; 32],
            scope: TokenScope::Agent,
            agent: Some(agents[1].clone()),
            name: Some("ci".into()),
            created_at: at,
            expires_at: Some(Timestamp::from_millis(WALL_MS * 2)),
            used_at: None,
        };
        store.add_token(&token).unwrap();
        store.touch_token("token1", at).unwrap();
        store.note_joined_with(&agents[1], "token1").unwrap();
        assert!(store.claim_for_policy(cues[2], "fast", at).unwrap());
        assert!(!store.claim_for_policy(cues[2], "fast", at).unwrap());
        assert!(store.claim_notice(cues[9], "slack", at).unwrap());
        assert!(store.keep_reference(cues[9], "slack", "message 7").unwrap());
        assert!(store.claim_notice(cues[3], "mail", at).unwrap());
        store.add_upload(&upload, at).unwrap();
        assert!(
            store
                .keep_delivery("delivery1", "session", "FINISHED", at)
                .unwrap()
        );
        let bootstrap = BootstrapRecord {
            token_hash: [5; 32],
            agent_id: agents[0].to_string(),
            run_id: Uuid::from_u128(5).to_string(),
            expires_at_ms: WALL_MS * 2,
        };
        store.add_bootstrap(&bootstrap, at).unwrap();
    });
}

fn write_runs(writer: &mut Writer<'_>, agents: &[AgentId]) -> RunId {
    let run: RunId = Uuid::from_u128(1).to_string().parse().unwrap();
    let ended: RunId = Uuid::from_u128(2).to_string().parse().unwrap();
    let of = |run_id, kind, end| Run {
        run_id,
        kind,
        agent_id: Some(agents[1].clone()),
        project: "/srv/harbour".into(),
        title: "Build a harbour".into(),
        status: "running".into(),
        end,
        error: None,
        session: Some("bc-1".into()),
        session_params: Some(serde_json::json!({"b": 1, "a": [2]})),
        model: Some("large".into()),
        branch: None,
        pr_url: None,
        url: Some("https://example.com/run".into()),
    };
    writer.write(|store, at| {
        store.keep_run(&of(run, RunKind::Cloud, None), at).unwrap();
        store
            .keep_run(&of(ended, RunKind::Local, Some(RunEnd::Failed)), at)
            .unwrap();
        let driver = DriverId(Uuid::from_u128(7));
        store.keep_leader(run, driver).unwrap();
        let sending = Sending {
            cue_ids: vec![CueId::from_random(1)],
            position: "after the third message".into(),
        };
        store.keep_sending(run, driver, &sending).unwrap();
        for text in ["began", "went on"] {
            let event = RunEvent {
                at,
                what: "status".into(),
                text: text.into(),
            };
            store.note_run_event(run, &event).unwrap();
        }
    });
    run
}
