//! One question in every surface at once: one answer, one decision, and all others withdrawn.

use cueme_tests::phone_fakes::{Ntfy, Slack, Telegram};
use cueme_tests::{Home, Random};
use rusqlite::Connection;
use serde_json::json;

use crate::desk::{ADA, Desk, PEOPLE, secret, soon};
use crate::slack;

/// How often it is tried in the gate; `CUEME_SURFACE_ROUNDS` says otherwise.
const ROUNDS: u64 = 12;

/// Where a question is answered.
const PLACES: [&str; 5] = ["telegram", "slack", "ntfy", "page", "terminal"];

#[test]
fn a_question_that_is_open_everywhere_is_decided_once_and_withdrawn_everywhere_else_within_two_seconds() {
    let rounds = std::env::var("CUEME_SURFACE_ROUNDS")
        .ok()
        .and_then(|rounds| rounds.parse().ok());
    let (telegram, slack, ntfy) = (Telegram::start(), Slack::start(), Ntfy::start());
    let home = Home::new();
    let token = secret(&home, "telegram", telegram.token());
    let config = [
        telegram.section(&token, PEOPLE),
        slack::section(&home, &slack),
        ntfy.section(),
    ]
    .concat();
    let desk = Desk::in_home(home, &config);
    let (http, cookie) = desk.sign_in();
    let mut random = Random::new(24);
    for round in 0..rounds.unwrap_or(ROUNDS) {
        let prompt = format!("Round {round}: go on?");
        let payload = json!({ "type": "confirm", "confirm_label": "Go", "cancel_label": "Stay" });
        let (client, cue) = desk.ask(&prompt, Some(&payload));
        let in_telegram = telegram.wait_for(&prompt);
        let in_slack = slack.wait_for(&prompt);
        let in_ntfy = ntfy.wait_for(&prompt);
        let label = if random.below(2) == 0 { "Go" } else { "Stay" };
        let place = random.pick(&PLACES).copied().unwrap();
        match place {
            "telegram" => drop(telegram.press(ADA, in_telegram.id, label)),
            "slack" => slack.press("U0ADA", &in_slack, label, &[]),
            "ntfy" => ntfy.press(&in_ntfy, label),
            "terminal" => drop(desk.home.ok(&["answer", &cue, label])),
            _ => {
                let answer = json!({ "reply": { "type": "confirm", "confirmed": label == "Go" } });
                let body = json!({ "id": uuid::Uuid::now_v7(), "answer": answer }).to_string();
                let (host, origin) = (http.host(), http.origin());
                let headers = [
                    ("host", host.as_str()),
                    ("origin", &origin),
                    ("cookie", &cookie),
                    ("content-type", "application/json"),
                ];
                let answered = http.send(
                    "POST",
                    &format!("/api/v1/cues/{cue}/answer"),
                    &headers,
                    body.as_bytes(),
                );
                assert_eq!(answered.status, 200, "{}", answered.text());
            }
        }
        desk.decided(&cue);
        soon(
            &format!("round {round}, answered in {place}: withdrawn everywhere"),
            || {
                let told = telegram
                    .messages()
                    .into_iter()
                    .find(|now| now.id == in_telegram.id)?;
                let posted = slack.messages().into_iter().find(|now| now.ts == in_slack.ts)?;
                let is_gone = ntfy.notifications().iter().all(|now| now["id"] != in_ntfy["id"]);
                (told.buttons.is_empty() && posted.buttons.is_empty() && is_gone).then_some(())
            },
        );
        assert!(client.finish().printed(0).contains(label));
        let database = Connection::open(desk.home.database()).unwrap();
        let decisions: u32 = database
            .query_row(
                "SELECT count(*) FROM events WHERE cue_id = ?1 AND what = 2",
                [&cue],
                |row| row.get(0),
            )
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(decisions, 1, "round {round}");
    }
}
