//! A broker in a directory of its own, and the clients that speak to it.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use cueme_broker::chats::{ChatPart, ChatPlace, ChatReader};
use cueme_broker::{ServeOptions, serve};
use cueme_test_kit::{Answer, Http, PATIENCE, Wire, request};
use protocol_spec::endpoint::Places;
use protocol_spec::id::{AgentId, CueId};
use protocol_spec::message::{
    Ask, Attach, DeliveredOutcome, MintToken, Nothing, Reply, Request, TokenScope, WebLink,
};
use protocol_spec::outcome::{Kind, Origin};
use serde_json::{Value, json};
use tempfile::TempDir;
use uuid::Uuid;

const HOME: &str = "CUEME_TEST_HOME";

/// Runs the broker, in its process.
pub(crate) fn be_the_broker() {
    let Some(home) = std::env::var_os(HOME) else {
        return;
    };
    let options = ServeOptions {
        places: Places::below(Path::new(&home)),
        is_background: true,
        chats: Arc::new(NoChats),
        guide: Vec::new,
    };
    serve(&options).unwrap();
}

/// A running broker; killed and removed when dropped.
pub(crate) struct TestBroker {
    home: TempDir,
    child: Child,
    variables: Vec<(String, String)>,
    pub(crate) port: u16,
}

impl TestBroker {
    pub(crate) fn start() -> Self {
        Self::with_config("")
    }

    pub(crate) fn with_config(config: &str) -> Self {
        Self::with_variables(config, &[])
    }

    /// Starts one in whose environment these variables are, now and after a restart.
    pub(crate) fn with_variables(config: &str, variables: &[(&str, &str)]) -> Self {
        let variables: Vec<(String, String)> = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("config.toml"), config).unwrap();
        let child = spawn(home.path(), &variables);
        let mut broker = Self {
            home,
            child,
            variables,
            port: 0,
        };
        broker.port = broker.find_port();
        broker
    }

    /// Ends the broker without a word, and starts it again.
    pub(crate) fn kill_and_restart(&mut self) {
        self.kill();
        self.child = spawn(self.home.path(), &self.variables);
        self.port = self.find_port();
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn places(&self) -> Places {
        Places::below(self.home())
    }

    /// Opens the database beside the broker.
    pub(crate) fn database(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.places().database()).unwrap()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    fn find_port(&self) -> u16 {
        let status = match self.call(&Request::Status(Nothing {})) {
            Reply::Status(status) => status,
            other => panic!("{other:?}"),
        };
        status.web.unwrap().rsplit(':').next().unwrap().parse().unwrap()
    }

    /// Says one thing over the local socket.
    pub(crate) fn call(&self, request: &Request) -> Reply {
        self.connect().call(request).unwrap()
    }

    pub(crate) fn connect(&self) -> Wire {
        Wire::connect(&self.places().socket()).unwrap()
    }

    pub(crate) fn join(&self, runtime: &str) -> AgentId {
        self.connect().join(runtime, "/home/me/shop")
    }

    /// Asks as an agent does, and returns who waits.
    pub(crate) fn ask(&self, agent: &AgentId, prompt: &str) -> Waiting {
        self.ask_with(agent, Kind::Cue, prompt, None, Origin::Agent)
    }

    pub(crate) fn ask_payload(&self, agent: &AgentId, prompt: &str, payload: &Value) -> Waiting {
        self.ask_with(agent, Kind::Cue, prompt, Some(payload), Origin::Agent)
    }

    pub(crate) fn ask_with(
        &self,
        agent: &AgentId,
        kind: Kind,
        prompt: &str,
        payload: Option<&Value>,
        origin: Origin,
    ) -> Waiting {
        let ask = Ask {
            agent_id: agent.clone(),
            kind,
            prompt: prompt.into(),
            payload: payload.map(|payload| serde_json::value::to_raw_value(payload).unwrap()),
            origin,
            nonce: None,
        };
        self.wait(&Request::Ask(ask))
    }

    /// Waits again for a question.
    pub(crate) fn attach(&self, cue: CueId) -> Waiting {
        self.wait(&Request::Attach(Attach {
            cue_id: cue,
            nonce: None,
        }))
    }

    fn wait(&self, request: &Request) -> Waiting {
        let mut wire = self.connect();
        match wire.call(request).unwrap() {
            Reply::Asked(asked) => Waiting {
                cue: asked.cue_id,
                wire,
            },
            other => panic!("{other:?}"),
        }
    }

    /// Signs a browser in the way a person does.
    pub(crate) fn sign_in(&self) -> Browser {
        let token = self.link_token();
        let cookie = Http::new(self.port).sign_in(&token);
        Browser {
            port: self.port,
            cookie,
        }
    }

    pub(crate) fn link_token(&self) -> String {
        match self.call(&Request::WebLink(WebLink::default())) {
            Reply::WebLink(link) => link.url.rsplit('/').next().unwrap().to_owned(),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn token(&self, scope: TokenScope, agent: Option<&AgentId>) -> String {
        let mint = MintToken {
            scope,
            agent: agent.map(ToString::to_string),
            name: Some("a program".into()),
            expires_in_ms: None,
        };
        match self.call(&Request::Token(mint)) {
            Reply::Token(made) => made.token,
            other => panic!("{other:?}"),
        }
    }

    /// Returns everything that is stored and that a refused request must not change.
    pub(crate) fn everything(&self) -> String {
        let database = self.database();
        let mut seen = String::new();
        for table in [
            "agents",
            "cues",
            "decisions",
            "messages",
            "drafts",
            "uploads",
            "settings",
            "links",
            "tokens",
            "events",
        ] {
            let mut statement = database.prepare(&format!("SELECT * FROM {table}")).unwrap();
            let columns = statement.column_count();
            let mut rows = statement.query([]).unwrap();
            while let Some(row) = rows.next().unwrap() {
                for column in 0..columns {
                    seen.push_str(&format!("{table} {:?}\n", row.get_ref(column).unwrap()));
                }
            }
        }
        seen
    }

    /// Changes the database behind the broker's back.
    pub(crate) fn sql(&self, sql: &str) {
        let database = self.database();
        database.busy_timeout(PATIENCE).unwrap();
        database.execute_batch(sql).unwrap();
    }
}

impl Drop for TestBroker {
    fn drop(&mut self) {
        // It may have been killed by the test.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(home: &Path, variables: &[(String, String)]) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "broker_process", "--ignored", "--nocapture"])
        .env(HOME, home)
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    for (name, value) in variables {
        command.env(name, value);
    }
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let ready = lines.find(|line| line.as_ref().is_ok_and(|line| line.contains("ready socket=")));
    assert!(
        ready.is_some(),
        "the broker did not start; its log is in {}",
        home.display()
    );
    child
}

/// An agent that waits for an outcome.
pub(crate) struct Waiting {
    pub(crate) cue: CueId,
    wire: Wire,
}

impl Waiting {
    /// Waits until the outcome comes.
    pub(crate) fn told(&mut self) -> DeliveredOutcome {
        self.wire.outcome()
    }

    /// Says that the outcome was printed.
    pub(crate) fn ack(&mut self) {
        assert!(matches!(
            self.wire.call(&request::ack(self.cue)),
            Some(Reply::Acked(_))
        ));
    }
}

/// A browser that is signed in.
#[derive(Clone)]
pub(crate) struct Browser {
    pub(crate) port: u16,
    pub(crate) cookie: String,
}

impl Browser {
    fn http(&self) -> Http {
        Http::new(self.port)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.http().get(&full(path), Some(&self.cookie))
    }

    pub(crate) fn send(&self, method: &str, path: &str, body: &Value) -> Answer {
        self.send_bytes(method, path, "application/json", body.to_string().as_bytes())
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, body)
    }

    pub(crate) fn delete(&self, path: &str) -> Answer {
        self.send_bytes("DELETE", path, "application/json", b"")
    }

    pub(crate) fn send_bytes(&self, method: &str, path: &str, kind: &str, body: &[u8]) -> Answer {
        let host = self.http().host();
        let origin = format!("http://{host}");
        let headers = [
            ("host", host.as_str()),
            ("origin", &origin),
            ("cookie", &self.cookie),
            ("content-type", kind),
        ];
        self.http().send(method, &full(path), &headers, body)
    }

    /// Answers with words.
    pub(crate) fn answer(&self, cue: CueId, answer: &Value, hold_ms: u64) -> Answer {
        self.post(
            &format!("/cues/{cue}/answer"),
            &json!({ "id": Uuid::now_v7(), "answer": answer, "hold_ms": hold_ms }),
        )
    }

    /// Follows the events.
    pub(crate) fn events(&self, last: Option<i64>) -> Events {
        let host = self.http().host();
        let last = last.map(|last| last.to_string());
        let mut headers = vec![("host", host.as_str()), ("cookie", &self.cookie)];
        if let Some(last) = &last {
            headers.push(("last-event-id", last));
        }
        let stream = self.http().send_head("GET", "/api/v1/events", &headers, None);
        Events::new(stream)
    }
}

fn full(path: &str) -> String {
    if path.starts_with("/api/") || path == "/" {
        path.to_owned()
    } else {
        format!("/api/v1{path}")
    }
}

/// Server-sent events, as they come.
pub(crate) struct Events {
    reader: BufReader<TcpStream>,
    rest: String,
}

/// One event.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) id: Option<i64>,
    pub(crate) name: String,
    pub(crate) data: Value,
}

impl Events {
    fn new(stream: TcpStream) -> Self {
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        assert!(line.contains(" 200 "), "{line}");
        while line.trim() != "" {
            line.clear();
            reader.read_line(&mut line).unwrap();
        }
        Self {
            reader,
            rest: String::new(),
        }
    }

    /// Returns the next event, or nothing when the stream ends.
    pub(crate) fn next(&mut self) -> Option<Event> {
        loop {
            while let Some(end) = self.rest.find("\n\n") {
                let block: String = self.rest.drain(..end + 2).collect();
                let field = |name: &str| {
                    block
                        .lines()
                        .find_map(|line| line.strip_prefix(name).map(|value| value.trim().to_owned()))
                };
                if let (Some(name), Some(data)) = (field("event:"), field("data:")) {
                    return Some(Event {
                        id: field("id:").map(|id| id.parse().unwrap()),
                        name,
                        data: serde_json::from_str(&data).unwrap(),
                    });
                }
            }
            let chunk = self.next_chunk()?;
            self.rest.push_str(&chunk);
        }
    }

    /// Returns the next bytes of the stream, or `None` when it ends.
    pub(crate) fn next_chunk(&mut self) -> Option<String> {
        let mut size = String::new();
        if self.reader.read_line(&mut size).ok()? == 0 {
            return None;
        }
        let size = usize::from_str_radix(size.trim(), 16).ok()?;
        let mut chunk = vec![0; size + 2];
        self.reader.read_exact(&mut chunk).ok()?;
        chunk.truncate(size);
        (size > 0).then(|| String::from_utf8(chunk).unwrap())
    }

    /// Makes the system keep little for this reader.
    pub(crate) fn take_little(&self) {
        rustix::net::sockopt::set_socket_recv_buffer_size(self.reader.get_ref(), 4096).unwrap();
    }

    /// Returns the next event with this name.
    pub(crate) fn until(&mut self, name: &str) -> Event {
        loop {
            let event = self.next().expect("the stream ended");
            if event.name == name {
                return event;
            }
        }
    }

    /// Returns the next change of this kind.
    pub(crate) fn until_change(&mut self, what: &str) -> Event {
        loop {
            let event = self.until("change");
            if event.data["what"] == what {
                return event;
            }
        }
    }
}

/// No runtime keeps chats here.
#[derive(Debug)]
struct NoChats;

impl ChatReader for NoChats {
    fn read(&self, _: &[ChatPlace], _: Option<usize>) -> Result<Option<ChatPart>, String> {
        Ok(None)
    }
}
