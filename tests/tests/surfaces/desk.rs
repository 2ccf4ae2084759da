//! A home whose answers are released at once, and what the tests ask in it.

use std::time::{Duration, Instant};

use cueme_tests::phone_fakes::{Person, Telegram};
use cueme_tests::{Client, Home, Http, Wire, eventually};
use protocol_spec::message::{Ask, Reply, Request, WebLink};
use protocol_spec::outcome::{Kind, Origin};
use serde_json::{Value, json};

/// The time within which a question that was decided elsewhere must be withdrawn.
pub(crate) const WITHDRAWN_MAX: Duration = Duration::from_secs(2);

pub(crate) const ADA: Person = Person {
    id: 42,
    name: "ada_l",
};
pub(crate) const STRANGER: Person = Person {
    id: 666,
    name: "mallory",
};
pub(crate) const PEOPLE: &str = "{ 42 = \"Ada\" }";

/// A home with a broker that runs.
pub(crate) struct Desk {
    pub(crate) home: Home,
    pub(crate) agent: String,
}

impl Desk {
    /// Starts a broker with this configuration.
    pub(crate) fn new(config: &str) -> Self {
        Self::in_home(Home::new(), config)
    }

    /// Starts a broker with a chat of Telegram.
    pub(crate) fn with_telegram(telegram: &Telegram) -> Self {
        let home = Home::new();
        let token = secret(&home, "telegram", telegram.token());
        let config = telegram.section(&token, PEOPLE);
        Self::in_home(home, &config)
    }

    pub(crate) fn in_home(home: Home, config: &str) -> Self {
        home.configure(config);
        let agent = home.join();
        let desk = Self { home, agent };
        desk.release_at_once();
        desk
    }

    /// Asks as an agent does; returns the client that waits, and the question.
    #[track_caller]
    pub(crate) fn ask(&self, prompt: &str, payload: Option<&Value>) -> (Client, String) {
        let payload = payload.map(Value::to_string);
        self.home.ask(&self.agent, prompt, payload.as_deref())
    }

    /// Joins as an agent that works in a directory with these files.
    pub(crate) fn agent_with_files(&self, files: &[(&str, &[u8])]) -> String {
        let project = self.home.scratch().join("shop");
        std::fs::create_dir_all(&project).unwrap();
        for (name, bytes) in files {
            std::fs::write(project.join(name), bytes).unwrap();
        }
        let mut joining = self.home.command(&["join", "patient"]);
        let joined = joining.current_dir(&project).output().unwrap();
        let joined = String::from_utf8(joined.stdout).unwrap();
        let id = joined.lines().find_map(|line| line.strip_prefix("agent_id="));
        id.unwrap().to_owned()
    }

    /// Asks for approval, as a hook does; the question ends with its connection.
    #[track_caller]
    pub(crate) fn ask_approval(&self, prompt: &str) -> (Wire, String) {
        self.ask_approval_with(prompt, &json!({ "type": "confirm" }))
    }

    /// Asks for approval with these buttons, such as those of an agent that asks for "once" or "always".
    #[track_caller]
    pub(crate) fn ask_approval_with(&self, prompt: &str, payload: &Value) -> (Wire, String) {
        let ask = Ask {
            agent_id: self.agent.parse().unwrap(),
            kind: Kind::Cue,
            prompt: prompt.to_owned(),
            payload: Some(serde_json::value::to_raw_value(payload).unwrap()),
            origin: Origin::Approval,
            nonce: None,
        };
        let mut wire = self.home.wire();
        match wire.call(&Request::Ask(ask)) {
            Some(Reply::Asked(asked)) => (wire, asked.cue_id.to_string()),
            other => panic!("not asked: {other:?}"),
        }
    }

    /// Waits until a question is decided, and returns it.
    #[track_caller]
    pub(crate) fn decided(&self, cue: &str) -> Value {
        eventually("a decision", || {
            let shown = self.home.show(cue);
            (shown["outcome"] != "open").then_some(shown)
        })
    }

    #[track_caller]
    pub(crate) fn is_open(&self, cue: &str) -> bool {
        self.home.show(cue)["outcome"] == "open"
    }

    /// Waits until the broker keeps so many message ids: a kill before that loses them.
    #[track_caller]
    pub(crate) fn keeps(&self, count: u32) {
        eventually(&format!("{count} message ids are kept"), || {
            let database = rusqlite::Connection::open(self.home.database()).ok()?;
            let kept = "SELECT count(*), count(reference) FROM notified";
            let kept: (u32, u32) = database
                .query_row(kept, [], |row| Ok((row.get(0)?, row.get(1)?)))
                .ok()?;
            (kept == (count, count)).then_some(())
        });
    }

    /// Settings: an answer cannot be taken back, so that agents get it at once.
    fn release_at_once(&self) {
        let (http, cookie) = self.sign_in();
        let (host, origin) = (http.host(), http.origin());
        let headers = [
            ("host", host.as_str()),
            ("origin", &origin),
            ("cookie", &cookie),
            ("content-type", "application/json"),
        ];
        let body = json!({ "undo_ms": 0 }).to_string();
        let answer = http.send("PATCH", "/api/v1/settings", &headers, body.as_bytes());
        assert_eq!(answer.status, 200, "{}", answer.text());
    }

    pub(crate) fn sign_in(&self) -> (Http, String) {
        let link = match self.home.wire().call(&Request::WebLink(WebLink::default())) {
            Some(Reply::WebLink(link)) => link.url,
            other => panic!("no link: {other:?}"),
        };
        let port = link.split(':').nth(2).unwrap().split('/').next().unwrap();
        let http = Http::new(port.parse().unwrap());
        let cookie = http.sign_in(&link);
        (http, cookie)
    }
}

/// Keeps a secret in a file beside the home.
pub(crate) fn secret(home: &Home, name: &str, value: &str) -> String {
    let path = home.scratch().join(name);
    std::fs::write(&path, format!("{value}\n")).unwrap();
    path.display().to_string()
}

/// Looks until it is so, and checks that it did not take too long.
#[track_caller]
pub(crate) fn soon<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    let seen = eventually(what, look);
    assert!(
        started.elapsed() < WITHDRAWN_MAX,
        "{what}: {:?}",
        started.elapsed()
    );
    seen
}
