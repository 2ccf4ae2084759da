//! Two hundred agents and ten thousand messages.

use std::time::{Duration, Instant};

use protocol_spec::id::{AgentId, CueId};
use rusqlite::{Connection, params};

use crate::driver::{DESKTOP, key, sign_in};
use cueme_tests::Home;

const AGENTS: u32 = 200;
const MESSAGES: u64 = 10_000;
/// The time after which a person calls the page slow; this machine may be busy with other tests.
const SLOW: Duration = Duration::from_secs(8);

/// Multiplies one agent and one settled question of its, as if they had been asked long ago.
fn fill(home: &Home, agent: &str) {
    let mut database = Connection::open(home.path().join("data/cueme.db")).unwrap();
    let filling = database.transaction().unwrap();
    for number in 0..AGENTS {
        let id = AgentId::from_random(number * 7_919 + 1).to_string();
        let row = "INSERT OR IGNORE INTO agents (agent_id, runtime, project_dir, terminal, joined_at, seen_at)
            SELECT ?1, runtime, '/code/project-' || ?2, terminal, joined_at, seen_at - ?2 FROM agents WHERE agent_id = ?3";
        filling.execute(row, params![id, number, agent]).unwrap();
    }
    for number in 0..MESSAGES {
        let id = CueId::from_random(number + 1_000).to_string();
        let cue = "INSERT INTO cues (cue_id, agent_id, kind, origin, content, asked_at, outcome, delivery, handed_at, acknowledged_at)
            SELECT ?1, agent_id, kind, origin, content, asked_at, outcome, delivery, handed_at, acknowledged_at FROM cues WHERE seq = 1";
        filling.execute(cue, params![id]).unwrap();
        let seq = filling.last_insert_rowid();
        let question = "INSERT INTO questions (seq, prompt) VALUES (?1, 'Question number ' || ?2)";
        filling.execute(question, params![seq, number]).unwrap();
        let decision = "INSERT INTO decisions (seq, request_id, text, answer, decided_by, decided_at)
            SELECT ?1, request_id, 'Answer ' || ?2, answer, decided_by, decided_at FROM decisions WHERE seq = 1";
        filling.execute(decision, params![seq, number]).unwrap();
    }
    filling.commit().unwrap();
}

#[test]
fn the_inbox_stays_quick_with_two_hundred_agents_and_ten_thousand_messages() {
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (asking, cue) = home.ask(&agent, "The first of many", None);
    home.run(&["answer", &cue, "go"]).expect(0);
    asking.finish().expect(0);
    home.run(&["broker", "stop"]).expect(0);
    fill(&home, &agent);
    let (asking, _) = home.ask(&agent, "The newest of many", None);

    let start = Instant::now();
    let browser = sign_in(&home, DESKTOP);
    browser.until("return [...document.querySelectorAll('.group-count')].reduce((sum, el) => sum + Number(el.textContent), 0) > 190");
    let opened = start.elapsed();

    let start = Instant::now();
    browser.click_text(".row-name", &agent);
    browser.sees(".entry .prose", "The newest of many");
    browser.until("const box = document.querySelector('.entry[data-outcome=open]').getBoundingClientRect(); return box.top >= 0 && box.bottom <= innerHeight");
    let shown = start.elapsed();
    assert!(
        browser.count(".entry") <= 40,
        "only a page of the conversation is read at first"
    );

    // Reading back, page by page, without slowing down.
    let start = Instant::now();
    for pages in 2..=15 {
        browser.until(&format!("document.querySelector('.timeline').scrollTop = 0; return document.querySelectorAll('.entry').length >= {pages} * 30"));
    }
    let read_back = start.elapsed();
    let start = Instant::now();
    browser.write(".composer-text", "typed under load");
    let typed = start.elapsed();
    browser.press(key::ENTER);
    assert!(asking.finish().expect(0).stdout.starts_with("typed under load\n"));
    eprintln!("opened {opened:?}, shown {shown:?}, 14 older pages {read_back:?}, typed {typed:?}");
    assert!(
        opened < SLOW * 2 && shown < SLOW && read_back < SLOW * 3 && typed < SLOW,
        "see above"
    );
}
