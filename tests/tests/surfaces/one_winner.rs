//! One question in every surface at once: one answer, one decision, and all others withdrawn.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cueme_tests::phone_fakes::{Ntfy, Push, Slack, SlackMessage, Telegram, TelegramMessage};
use cueme_tests::{Home, Http, Random, Terminal, not_run_without, within};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::desk::{ADA, Desk, PEOPLE, WITHDRAWN_MAX, secret, soon};
use crate::push::{Phone, open};
use crate::slack;

/// The number of rounds in the gate; `CUEME_SURFACE_ROUNDS` overrides it.
const ROUNDS: u64 = 14;

/// The pause before a page reconnects.
const RECONNECT: Duration = Duration::from_millis(200);

/// The surface on which a question is answered.
const PLACES: [&str; 7] = ["telegram", "slack", "ntfy", "page", "terminal", "tui", "push"];

/// Every surface, and the people at them.
struct Surfaces {
    telegram: Telegram,
    slack: Slack,
    ntfy: Ntfy,
    push: Push,
    phone: Phone,
    page: Page,
    tui: Terminal,
    desk: Desk,
}

/// A question as each of them shows it.
struct Shown {
    cue: String,
    telegram: TelegramMessage,
    slack: SlackMessage,
    ntfy: Value,
    push: Value,
}

/// The page of somebody who looks at it: its stream of events, and its API.
struct Page {
    http: Http,
    cookie: String,
    heard: Arc<Mutex<Vec<Value>>>,
}

impl Page {
    fn open(desk: &Desk) -> Self {
        let (http, cookie) = desk.sign_in();
        let heard = Arc::<Mutex<Vec<Value>>>::default();
        let (writing, sent) = (Arc::clone(&heard), cookie.clone());
        std::thread::spawn(move || {
            let mut last = None;
            while Arc::strong_count(&writing) > 1 {
                last = follow(http, &sent, last, &writing);
                std::thread::sleep(RECONNECT);
            }
        });
        Self { http, cookie, heard }
    }

    /// Says whether the page heard this of a question.
    fn heard(&self, what: &str, cue: &str) -> bool {
        let heard = self.heard.lock().unwrap();
        heard
            .iter()
            .any(|event| event["what"] == what && event["cue_id"] == cue)
    }

    fn answer(&self, cue: &str, confirmed: bool) {
        let answer = json!({ "reply": { "type": "confirm", "confirmed": confirmed } });
        let body = json!({ "id": uuid::Uuid::now_v7(), "answer": answer }).to_string();
        let (host, origin) = (self.http.host(), self.http.origin());
        let headers = [
            ("host", host.as_str()),
            ("origin", &origin),
            ("cookie", &self.cookie),
            ("content-type", "application/json"),
        ];
        let path = format!("/api/v1/cues/{cue}/answer");
        let answered = self.http.send("POST", &path, &headers, body.as_bytes());
        assert_eq!(answered.status, 200, "{}", answered.text());
    }
}

/// Follows the page's events until the connection ends; returns the last event's id, from where a page goes on.
fn follow(http: Http, cookie: &str, last: Option<String>, heard: &Mutex<Vec<Value>>) -> Option<String> {
    let mut last = last;
    let Ok(mut stream) = TcpStream::connect(http.host()) else {
        return last;
    };
    let seen = last
        .as_ref()
        .map(|last| format!("last-event-id: {last}\r\n"))
        .unwrap_or_default();
    let head = format!(
        "GET /api/v1/events HTTP/1.1\r\nhost: {}\r\ncookie: {cookie}\r\naccept: text/event-stream\r\n{seen}\r\n",
        http.host()
    );
    if stream.write_all(head.as_bytes()).is_err() {
        return last;
    }
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        if let Some(id) = line.strip_prefix("id:") {
            last = Some(id.trim().to_owned());
        }
        let data = line.strip_prefix("data:").map(str::trim);
        if let Some(event) = data.and_then(|data| serde_json::from_str(data).ok()) {
            heard.lock().unwrap().push(event);
        }
    }
    last
}

impl Surfaces {
    fn open() -> Self {
        let (telegram, slack, ntfy, push) = (Telegram::start(), Slack::start(), Ntfy::start(), Push::start());
        let home = Home::new();
        let token = secret(&home, "telegram", telegram.token());
        let config = [
            push.section(),
            telegram.section(&token, PEOPLE),
            slack::section(&home, &slack),
            ntfy.section(),
        ]
        .concat();
        let desk = Desk::in_home(home, &config);
        let tui = Terminal::sized(&desk.home.command(&["tui"]), 140, 40);
        tui.sees("1 agent");
        Self {
            phone: Phone::subscribe(&desk, &push, open()),
            page: Page::open(&desk),
            telegram,
            slack,
            ntfy,
            push,
            tui,
            desk,
        }
    }

    /// Waits until a question stands everywhere.
    fn wait_for(&self, prompt: &str, cue: &str) -> Shown {
        self.tui.sees(prompt);
        soon("the page hears of it", || {
            self.page.heard("asked", cue).then_some(())
        });
        Shown {
            cue: cue.to_owned(),
            telegram: self.telegram.wait_for(prompt),
            slack: self.slack.wait_for(prompt),
            ntfy: self.ntfy.wait_for(prompt),
            push: self.push.wait_for(&self.phone.browser, cue),
        }
    }

    fn answer(&self, place: &str, shown: &Shown, label: &str) {
        match place {
            "telegram" => drop(self.telegram.press(ADA, shown.telegram.id, label)),
            "slack" => self.slack.press("U0ADA", &shown.slack, label, &[]),
            "ntfy" => self.ntfy.press(&shown.ntfy, label),
            "push" => assert_eq!(self.phone.press(&shown.push, label).0, 204),
            "terminal" => drop(self.desk.home.ok(&["answer", &shown.cue, label])),
            "page" => self.page.answer(&shown.cue, label == "Go"),
            "tui" => {
                self.tui.press("Home");
                self.tui.press("Enter");
                self.tui.sees("> 1. ( ) Go");
                self.tui.types(if label == "Go" { "1" } else { "2" });
                self.tui.press("Enter");
                self.tui.sees("will read, as the answer to");
                self.tui.press("Enter");
            }
            other => panic!("no place {other}"),
        }
    }

    /// Returns where a question that has ended still stands.
    fn still_stands(&self, prompt: &str, shown: &Shown) -> Vec<&'static str> {
        let telegram = self.telegram.messages();
        let told = telegram.iter().find(|now| now.id == shown.telegram.id);
        let slack = self.slack.messages();
        let posted = slack.iter().find(|now| now.ts == shown.slack.ts);
        let screen = self.tui.screen();
        let is_gone = [
            ("telegram", told.is_some_and(|now| now.buttons.is_empty())),
            ("slack", posted.is_some_and(|now| now.buttons.is_empty())),
            (
                "ntfy",
                self.ntfy
                    .notifications()
                    .iter()
                    .all(|now| now["id"] != shown.ntfy["id"]),
            ),
            (
                "push",
                self.push
                    .notifications(&self.phone.browser)
                    .iter()
                    .all(|now| now["cue"] != shown.cue.as_str()),
            ),
            ("page", self.page.heard("answered", &shown.cue)),
            (
                "tui",
                screen.contains("0 open") && !screen.contains(&format!("> {prompt}")),
            ),
        ];
        let standing = is_gone.into_iter().filter(|(_, is_gone)| !is_gone);
        standing.map(|(place, _)| place).collect()
    }

    fn decisions(&self, cue: &str) -> u32 {
        let database = Connection::open(self.desk.home.database()).unwrap();
        let counted = database.query_row(
            "SELECT count(*) FROM events WHERE cue_id = ?1 AND what = 2",
            [cue],
            |row| row.get(0),
        );
        counted.unwrap_or_else(|error| panic!("{error}"))
    }
}

#[test]
fn a_question_that_is_open_everywhere_is_decided_once_and_withdrawn_everywhere_else_within_two_seconds() {
    if !Terminal::is_available() {
        return not_run_without("tmux");
    }
    let rounds = std::env::var("CUEME_SURFACE_ROUNDS")
        .ok()
        .and_then(|rounds| rounds.parse().ok());
    let surfaces = Surfaces::open();
    let mut random = Random::new(24);
    let mut answered = [0; PLACES.len()];
    let mut waits: Vec<Duration> = Vec::new();
    for round in 0..rounds.unwrap_or(ROUNDS) {
        let prompt = format!("Round {round}: go on?");
        let payload = json!({ "type": "confirm", "confirm_label": "Go", "cancel_label": "Stay" });
        let (client, cue) = surfaces.desk.ask(&prompt, Some(&payload));
        let shown = surfaces.wait_for(&prompt, &cue);
        let label = if random.below(2) == 0 { "Go" } else { "Stay" };
        let index = usize::try_from(random.below(PLACES.len() as u64)).unwrap();
        let place = PLACES[index];
        answered[index] += 1;
        surfaces.answer(place, &shown, label);
        surfaces.desk.decided(&cue);
        let decided = Instant::now();
        let mut standing = Vec::new();
        let is_gone = within(WITHDRAWN_MAX, || {
            standing = surfaces.still_stands(&prompt, &shown);
            standing.is_empty().then_some(())
        });
        waits.push(decided.elapsed());
        assert!(
            is_gone.is_some(),
            "round {round}, answered in {place}, still stands in {standing:?}:\n{}\n{}",
            surfaces.tui.screen(),
            surfaces.desk.home.log()
        );
        assert!(client.finish().printed(0).contains(label));
        assert_eq!(surfaces.decisions(&cue), 1, "round {round}");
    }
    waits.sort();
    eprintln!(
        "{} rounds, answered in {PLACES:?} {answered:?} times; withdrawn everywhere after {:?} (median), {:?} (slowest)",
        waits.len(),
        waits[waits.len() / 2],
        waits[waits.len() - 1]
    );
}
