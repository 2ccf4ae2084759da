//! A host that runs as a server, spoken to over HTTP: nothing ends with a turn, so the human's words can continue it.

use cueme_tests::model_server::Step;
use cueme_tests::{Answer, Http, Signal, eventually};
use serde_json::{Value, json};

use super::host_killed::left_nothing;
use crate::hosts::Host;
use crate::programs::Programs;
use crate::scene::{Human, Rule, Running, Scene};
use crate::verdict::{Row, Rows};

const GO_ON: &str = "now rename the lexer as well";

pub(super) fn play(programs: &'static Programs, host: &'static Host) -> Vec<Row> {
    let scene = Scene::connected(programs, host);
    let heard = scene.model.play(
        "scenario-heard",
        vec![
            Step::shell(format!("cueme join {}", host.tag)),
            Step::shell(host.cue("Which one?")),
            Step::say("It was the second one."),
        ],
    );
    // The question stands some messages before the end.
    let served = scene.model.play(
        "scenario-served",
        vec![
            Step::shell(format!("cueme join {}", host.tag)),
            Step::shell(host.cue("May I begin?")),
            Step::shell("ls"),
            Step::say("The parser is renamed."),
            Step::expect(GO_ON),
            Step::say("The lexer is renamed."),
        ],
    );
    let rules = [
        Rule {
            about: "Which one?",
            answer: &["the second"],
        },
        Rule {
            about: "May I begin?",
            answer: &["begin"],
        },
        Rule {
            about: "The parser is renamed.",
            answer: &[GO_ON],
        },
    ];
    let running = scene.serve();
    let server = Server::of(&running);
    let mut human = Human::new(&scene, &rules);
    server.prompt("scenario-heard");
    human.looks_until(|_| heard.is_over());
    server.prompt("scenario-served");
    human.looks_until(|_| served.is_over());
    let last = eventually("the question about the last end", || {
        let cues = scene.home.open_cues();
        cues.into_iter().find(|cue| cue.waiting > 0)
    });
    let story = || {
        let asked: Vec<&str> = human.asked.iter().map(|cue| cue.prompt.as_str()).collect();
        format!("asked: {asked:#?}\ntold: {:#?}\nlast: {last:#?}", served.told())
    };

    let mut rows = Rows::of(host.tag);
    let about = |text: &str| {
        human
            .asked
            .iter()
            .chain([&last])
            .any(|cue| cue.prompt.starts_with(text))
    };
    let is_continued = about("The parser is renamed.") && about("The lexer is renamed.");
    rows.check(
        "`opencode serve`: the human's words continue the turn",
        is_continued && served.failures().is_empty(),
        story,
    );
    rows.check(
        "`opencode serve`: question answered, then the end: not asked again",
        heard.failures().is_empty() && !about("It was the second one."),
        story,
    );
    running.client.signal(Signal::KILL);
    rows.add(
        "`opencode serve`: killed while its hook waits: no process is left",
        left_nothing(&scene, &running),
    );
    rows.done()
}

/// opencode's server.
struct Server(Http);

impl Server {
    /// Waits until it listens.
    fn of(running: &Running) -> Self {
        let port = eventually("the port of the server", || {
            let told = running.client.stdout();
            let (_, address) = told.split_once("listening on http://127.0.0.1:")?;
            address.lines().next()?.trim().parse().ok()
        });
        Self(Http::new(port))
    }

    /// Begins a session with a prompt, and does not wait for its end.
    fn prompt(&self, marker: &str) {
        let session = self.post("/session", &json!({})).json();
        let id = session["id"].as_str().unwrap_or_default();
        let prompt = json!({
            "model": { "providerID": "scripted", "modelID": "scripted" },
            "parts": [{ "type": "text", "text": format!("{marker}: do as the script says.") }],
        });
        let taken = self.post(&format!("/session/{id}/prompt_async"), &prompt);
        assert!(taken.status < 300, "{taken:?}");
    }

    fn post(&self, path: &str, body: &Value) -> Answer {
        let host = self.0.host();
        let headers = [("host", host.as_str()), ("content-type", "application/json")];
        self.0.send("POST", path, &headers, body.to_string().as_bytes())
    }
}
