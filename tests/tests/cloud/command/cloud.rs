//! A home whose broker can be reached from outside, and a cloud that sends it webhooks.

use std::process::Command;
use std::time::Duration;

use adapter_core::cursor::cloud::{Secret, WEBHOOK_PATH};
use cueme_broker::callback::sign;
use cueme_test_kit::free_port;
use cueme_tests::cloud_fake::{API_KEY, FakeCloud, Script};
use cueme_tests::{Client, Home, Run, eventually};
use reqwest::{Method, StatusCode};
use rusqlite::Connection;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

pub(crate) const REPOSITORY: &str = "https://github.com/acme/site";
pub(crate) const WEBHOOK_SECRET: &str = "webhook-secret-of-the-tests-0123456789";

/// A cloud, a broker and everything they need.
pub(crate) struct Cloud {
    pub(crate) fake: FakeCloud,
    pub(crate) home: Home,
    pub(crate) public: String,
    runtime: Runtime,
}

/// The way back to the broker that stood in a prompt.
#[derive(Debug, Clone)]
pub(crate) struct Callback {
    pub(crate) token: String,
    pub(crate) run_id: String,
    pub(crate) agent_id: String,
}

impl Cloud {
    /// Starts both; `poll` is the time between two looks at a status, in seconds.
    pub(crate) fn start(script: Script, poll: u64) -> Self {
        let runtime = Runtime::new().unwrap();
        let fake = runtime.block_on(FakeCloud::start(script));
        let port = free_port();
        let home = Home::new();
        let public = format!("http://127.0.0.1:{port}");
        home.configure(&format!(
            "public_listen = \"127.0.0.1:{port}\"\n\n[cloud]\nrepository = \"{REPOSITORY}\"\npollIntervalSec = {poll}\n\
             graceSec = 2\nbaseUrl = \"{}\"\n",
            fake.base_url()
        ));
        // The broker is started without any secret: the driver of a run tells it the ones it needs.
        home.ok(&["agents"]);
        Self {
            fake,
            home,
            public,
            runtime,
        }
    }

    /// Writes everything a run needs into the configuration, for commands without an environment of their own.
    pub(crate) fn configure_whole(&self) {
        let key = self.home.scratch().join("api.key");
        std::fs::write(&key, API_KEY).unwrap();
        self.home.configure(&format!(
            "public_listen = \"{}\"\n\n[cloud]\nrepository = \"{REPOSITORY}\"\npublicUrl = \"{}\"\npollIntervalSec = 1\n\
             graceSec = 2\nenableWebhooks = false\nbaseUrl = \"{}\"\n\
             env.CURSOR_API_KEY = {{ type = \"secret_ref\", file = \"{}\" }}\n",
            self.public.trim_start_matches("http://"),
            self.public,
            self.fake.base_url(),
            key.display()
        ));
    }

    /// Takes the listener for the outside away.
    pub(crate) fn make_private(&self) {
        let config = std::fs::read_to_string(self.home.path().join("config.toml")).unwrap();
        let private: Vec<&str> = config
            .lines()
            .filter(|line| !line.starts_with("public_listen"))
            .collect();
        self.home.configure(&private.join("\n"));
        self.home.ok(&["broker", "restart"]);
    }

    /// Returns the body of the webhook that told of the first run's end.
    pub(crate) fn delivery_of_first_run(&self) -> (String, String) {
        let database = Connection::open(self.home.database()).unwrap();
        let (id, session): (String, String) = database
            .query_row("SELECT delivery_id, session FROM deliveries", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .unwrap();
        let body = json!({"event": "statusChange", "id": session, "status": "FINISHED"}).to_string();
        (id, body)
    }

    /// Delivers a webhook signed with this key; returns the status of the answer.
    pub(crate) fn deliver(&self, (id, body): &(String, String), key: &str) -> u16 {
        let signature = sign(&Secret::new(key), body.as_bytes());
        self.runtime.block_on(async {
            let response = adapter_core::http::client()
                .build()
                .unwrap()
                .post(format!("{}{WEBHOOK_PATH}", self.public))
                .header("x-webhook-signature", signature)
                .header("x-webhook-id", id)
                .header("x-webhook-event", "statusChange")
                .body(body.clone())
                .send()
                .await
                .unwrap();
            response.status().as_u16()
        })
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = self.home.command(words);
        command
            .env("CURSOR_API_KEY", API_KEY)
            .env("CURSOR_WEBHOOK_SECRET", WEBHOOK_SECRET)
            .env("CUEME_PUBLIC_URL", &self.public);
        command
    }

    /// Starts a command of `cueme cloud`.
    pub(crate) fn begin(&self, words: &[&str]) -> Client {
        let words: Vec<&str> = ["cloud"].into_iter().chain(words.iter().copied()).collect();
        Client::start(&mut self.command(&words), b"")
    }

    /// Runs a command of `cueme cloud` to its end.
    pub(crate) fn run(&self, words: &[&str]) -> Run {
        self.begin(words).finish()
    }

    /// Waits until an agent was launched, and returns its id.
    pub(crate) fn launched(&self) -> String {
        eventually("an agent in the cloud", || self.fake.agents().pop())
    }

    /// Waits until this many prompts were sent, and returns the last one's way back.
    pub(crate) fn callback(&self, prompts: usize) -> Callback {
        let prompt = eventually("a prompt", || {
            let mut all = self.fake.bodies("POST", "/v0/agents");
            all.extend(self.fake.bodies("POST", "/followup"));
            (all.len() >= prompts).then(|| all.pop()).flatten()
        });
        let text = prompt["prompt"]["text"].as_str().unwrap().to_owned();
        let part = |from: &str, to: &str| {
            let rest = text
                .split_once(from)
                .unwrap_or_else(|| panic!("no {from} in {text}"))
                .1;
            rest.split_once(to).unwrap().0.to_owned()
        };
        Callback {
            token: part("\"token\":\"", "\""),
            run_id: part("\"runId\":\"", "\""),
            agent_id: part("Your agent_id is ", "."),
        }
    }

    /// Sends a request to the listener for agents elsewhere.
    pub(crate) fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> (StatusCode, Value) {
        self.send_to(&self.public, method, path, headers, body)
    }

    pub(crate) fn send_to(
        &self,
        base: &str,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> (StatusCode, Value) {
        self.runtime.block_on(async {
            let mut request = adapter_core::http::client()
                .build()
                .unwrap()
                .request(method, format!("{base}{path}"))
                .timeout(Duration::from_secs(40));
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            if let Some(body) = body {
                request = request
                    .header("content-type", "application/json")
                    .body(body.to_string());
            }
            let response = request.send().await.unwrap();
            let status = response.status();
            let text = response.text().await.unwrap();
            let value = serde_json::from_str(&text).unwrap_or(Value::String(text));
            (status, value)
        })
    }

    /// Exchanges a one-time token.
    pub(crate) fn exchange(&self, callback: &Callback) -> (StatusCode, Value) {
        let body = json!({"token": callback.token, "runId": callback.run_id});
        self.send(Method::POST, "/api/agent-auth/exchange", &[], Some(&body))
    }

    /// Sends a request as the agent that holds this run's token.
    pub(crate) fn send_as(
        &self,
        token: &str,
        run: &str,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> (StatusCode, Value) {
        let bearer = format!("Bearer {token}");
        let headers = [("authorization", bearer.as_str()), ("x-cueme-run-id", run)];
        self.send(method, path, &headers, body)
    }

    /// Returns the runs the broker knows, newest first.
    pub(crate) fn runs(&self) -> Vec<Value> {
        let printed = self.home.run(&["cloud", "status"]);
        printed
            .printed(0)
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// Reads one number from the broker's database.
    pub(crate) fn number(&self, sql: &str) -> i64 {
        let database = Connection::open(self.home.database()).unwrap();
        database.busy_timeout(Duration::from_secs(10)).unwrap();
        database.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    /// Changes the broker's database.
    pub(crate) fn change(&self, sql: &str) {
        let database = Connection::open(self.home.database()).unwrap();
        database.busy_timeout(Duration::from_secs(10)).unwrap();
        assert!(database.execute(sql, []).unwrap() > 0, "nothing changed");
    }

    /// Waits until a question is open whose prompt holds these words, and returns its id.
    pub(crate) fn question(&self, words: &str) -> String {
        eventually(&format!("a question with {words:?}"), || {
            let cues = self.home.open_cues();
            let found = cues.iter().find(|cue| cue.prompt.contains(words));
            found.map(|cue| cue.cue_id.to_string())
        })
    }
}

/// Returns the events a command printed.
pub(crate) fn events(stdout: &str) -> Vec<Value> {
    stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Returns the kinds of the events a command printed.
pub(crate) fn kinds(stdout: &str) -> Vec<String> {
    events(stdout)
        .iter()
        .map(|event| event["type"].as_str().unwrap().to_owned())
        .collect()
}
