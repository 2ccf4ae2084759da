//! R16: a new program on an old database, killed in the middle of bringing it up to date; and programs of different
//! versions that speak to each other.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use cueme_broker::engine::Work;
use cueme_store_sqlite::{SCHEMA, Synchronous};
use cueme_tests::{Home, PATIENCE, Random, Wire, eventually};
use protocol_spec::id::{AgentId, CueId, RequestId};
use protocol_spec::message::{
    History, Last, Nothing, Recall, Reply, Request, Show, decode_reply, encode_request,
};
use protocol_spec::outcome::{Kind, Origin};
use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::promises::Little;
use crate::raw::{Fault, Image, Plan, SimDisk};
use crate::trial::{NotRun, Trial};
use cueme_test_kit::request::{ack, answer, ask};

const OPEN: &str = "Which port?";
const ANSWERED: &str = "Which host?";
const TEXT: &str = "the small one";
/// Set to a directory, it makes this test write the fixture of a release instead of reading those there are.
const RECORD: &str = "CUEME_PROVE_RECORD";

/// Upgrades every schema there was, and replays every release's conversation.
pub(crate) fn run(trial: &mut Trial) -> Result<(), NotRun> {
    if let Some(directory) = std::env::var_os(RECORD) {
        record(Path::new(&directory));
    }
    let mut cases = 0;
    for schema in 0..SCHEMA {
        cases += upgrade(trial, schema)?;
    }
    let releases = releases();
    assert!(!releases.is_empty(), "there is the fixture of a release");
    for release in &releases {
        converse(trial, release);
    }
    trial.figure("schemas", SCHEMA);
    trial.figure("interrupted upgrades", cases);
    trial.figure("releases", releases.len());
    Ok(())
}

/// An old database, and who is in it.
struct Old {
    image: Image,
    agent: AgentId,
    open: CueId,
    answered: CueId,
}

/// Cuts the power, and fails, at each operation of an upgrade.
fn upgrade(trial: &mut Trial, schema: u32) -> Result<u64, NotRun> {
    let directory = tempfile::tempdir().map_err(|error| NotRun(error.to_string()))?;
    let old = Old::make(directory.path(), schema, &mut trial.random);
    let operations = {
        let disk = SimDisk::insert(directory.path(), &old.image, Plan::Sound);
        drop(start(directory.path(), &mut trial.random));
        disk.operations()
    };
    let mut cases = 0;
    for at in 0..=operations {
        let plans = [
            Plan::CutAt(at),
            Plan::FailsAt(at, Fault::Io),
            Plan::FailsAt(at, Fault::Full),
        ];
        // In the smallest tier they take turns.
        let turn = usize::try_from(at).unwrap_or(0) % plans.len();
        let chosen = if trial.is_thorough() {
            &plans[..]
        } else {
            &plans[turn..=turn]
        };
        for &plan in chosen {
            let disk = SimDisk::insert(directory.path(), &old.image, plan);
            drop(start(directory.path(), &mut trial.random));
            let left = match plan {
                Plan::CutAt(_) => disk.cut(&mut trial.random),
                _ => disk.contents(),
            };
            drop(disk);
            cases += 1;
            if let Err(wrong) = old.is_whole(directory.path(), &left, &mut trial.random) {
                trial.violation(format!("schema {schema}, {plan:?}: {wrong}"));
            }
        }
        trial.progress(at, operations);
    }
    Ok(cases)
}

fn start(directory: &Path, random: &mut Random) -> Option<Little> {
    Little::open(
        directory.join("cueme.db"),
        Synchronous::Full,
        false,
        random.fork(),
    )
    .ok()
}

fn migrations() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cueme-broker/store-sqlite/migrations");
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let files: BTreeMap<PathBuf, String> = entries
        .flatten()
        .filter_map(|entry| Some((entry.path(), std::fs::read_to_string(entry.path()).ok()?)))
        .collect();
    files.into_values().collect()
}

impl Old {
    /// Makes a database as the program of that schema left it; schema 0 is an empty file.
    fn make(directory: &Path, schema: u32, random: &mut Random) -> Self {
        let disk = SimDisk::insert(directory, &Image::new(), Plan::Sound);
        let mut old = Self {
            image: Image::new(),
            agent: AgentId::from_random(7),
            open: CueId::from_random(random.next_number()),
            answered: CueId::from_random(random.next_number()),
        };
        if schema > 0 {
            let made = old.fill(&directory.join("cueme.db"), schema);
            made.unwrap_or_else(|error| panic!("an old database: {error}"));
        }
        old.image = disk.contents();
        old
    }

    fn fill(&self, database: &Path, schema: u32) -> rusqlite::Result<()> {
        let connection = Connection::open(database)?;
        connection.pragma_update(None, "journal_mode", "wal")?;
        for migration in migrations().iter().take(schema as usize) {
            connection.execute_batch(migration)?;
        }
        connection.pragma_update(None, "user_version", schema)?;
        connection.execute(
            "INSERT INTO agents (agent_id, runtime, project_dir, terminal, joined_at, seen_at) VALUES (?1, 'cursor', '/p', 'zsh', 1, 1)",
            params![self.agent.as_str()],
        )?;
        for (cue, prompt, outcome) in [(self.open, OPEN, 0), (self.answered, ANSWERED, 1)] {
            connection.execute(
                "INSERT INTO cues (cue_id, agent_id, kind, origin, content, asked_at, outcome) VALUES (?1, ?2, 0, 0, ?3, 1, ?4)",
                params![cue.as_str(), self.agent.as_str(), content(&self.agent, prompt), outcome],
            )?;
            let seq = connection.last_insert_rowid();
            connection.execute(
                "INSERT INTO questions (seq, prompt) VALUES (?1, ?2)",
                params![seq, prompt],
            )?;
            connection.execute(
                "INSERT INTO requests (request_id, seq) VALUES (?1, ?2)",
                params![Uuid::now_v7().as_bytes(), seq],
            )?;
            if outcome == 1 {
                connection.execute(
                    "INSERT INTO decisions (seq, request_id, text, decided_at) VALUES (?1, ?2, ?3, 2)",
                    params![seq, Uuid::now_v7().as_bytes(), TEXT],
                )?;
            }
        }
        Ok(())
    }

    /// Starts the new program on what is left, and asks what the old one was asked.
    fn is_whole(&self, directory: &Path, left: &Image, random: &mut Random) -> Result<(), String> {
        let _disk = SimDisk::insert(directory, left, Plan::Sound);
        let opened = Little::open(
            directory.join("cueme.db"),
            Synchronous::Full,
            false,
            random.fork(),
        );
        let mut little = opened.map_err(|error| format!("it does not start: {error}"))?;
        if self.image.values().all(Vec::is_empty) {
            return Ok(());
        }
        let told = little.ask(&self.agent, ANSWERED);
        let is_told = told
            .iter()
            .any(|reply| matches!(reply, Reply::Outcome(told) if told.text == TEXT && told.cue_id == self.answered));
        let asked = little.ask(&self.agent, OPEN);
        let is_open = asked.iter().any(|reply| match reply {
            Reply::Asked(asked) => asked.cue_id == self.open && asked.again,
            _ => false,
        });
        if is_told && is_open {
            Ok(())
        } else {
            Err(format!("{told:?}, {asked:?}"))
        }
    }
}

/// Returns what makes two questions the same, as the engine computes it.
fn content(agent: &AgentId, prompt: &str) -> [u8; 32] {
    match Work::ask(agent.clone(), Kind::Cue, prompt.to_owned(), None, Origin::Agent) {
        Work::Ask { content, .. } => content.0,
        _ => [0; 32],
    }
}

/// One exchange of a recorded conversation.
#[derive(Debug, Serialize, Deserialize)]
struct Exchange {
    say: String,
    hear: Vec<String>,
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/released")
}

/// Returns the directory of each release.
fn releases() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(fixtures()).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect()
}

/// An old client speaks to this broker on the old database; and this client reads what the old broker said.
fn converse(trial: &mut Trial, release: &Path) {
    let home = Home::new();
    let folder = home.database().with_file_name("");
    std::fs::create_dir_all(folder).unwrap_or_else(|error| panic!("{error}"));
    std::fs::copy(release.join("cueme.db"), home.database()).unwrap_or_else(|error| panic!("{error}"));
    private(home.path(), 0o700);
    private(&home.database(), 0o600);
    home.ok(&["agents"]);
    let text = std::fs::read_to_string(release.join("wire.jsonl")).unwrap_or_default();
    let mut exchanges = 0;
    for line in text.lines() {
        let exchange: Exchange = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let heard = say(&home, &exchange.say, exchange.hear.len());
        for (then, now) in exchange.hear.iter().zip(&heard) {
            if let Err(wrong) = means_the_same(then, now) {
                trial.violation(format!(
                    "{} to {}: {wrong}",
                    release.display(),
                    exchange.say.trim_end()
                ));
            }
            trial.check(decode_reply(then.trim_end().as_bytes()).is_ok(), || {
                format!("this client cannot read what {} said: {then}", release.display())
            });
        }
        trial.check(heard.len() == exchange.hear.len(), || {
            format!("{} lines came to {}", heard.len(), exchange.say.trim_end())
        });
        exchanges += 1;
    }
    trial.check(exchanges > 5, || {
        format!("{} holds only {exchanges} exchanges", release.display())
    });
    let name = release
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or("release");
    trial.figure(&format!("exchanges of {name}"), exchanges);
}

fn private(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
        .unwrap_or_else(|error| panic!("{error}"));
}

/// Says one line and hears so many.
fn say(home: &Home, line: &str, count: usize) -> Vec<String> {
    let mut stream = UnixStream::connect(home.socket()).unwrap_or_else(|error| panic!("{error}"));
    let _ = stream.set_read_timeout(Some(PATIENCE));
    stream
        .write_all(line.as_bytes())
        .unwrap_or_else(|error| panic!("{error}"));
    let mut reader = BufReader::new(stream);
    let mut heard = Vec::new();
    while heard.len() < count {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            break;
        }
        heard.push(line);
    }
    heard
}

/// Fields whose values a new broker must repeat.
const KEPT: [&str; 7] = [
    "cue_id", "agent_id", "text", "outcome", "prompt", "question", "again",
];

/// Drops the line that says when words were written: it tells the order of times since 0.2.
fn without_label(value: &Value) -> Value {
    let Some(text) = value.as_str() else {
        return value.clone();
    };
    let is_label = |line: &&str| line.starts_with('[') && line.contains("written");
    text.lines()
        .filter(|line| !is_label(line))
        .collect::<Vec<_>>()
        .join("\n")
        .into()
}

/// Says whether a reader of the old line understands the new one alike.
fn means_the_same(then: &str, now: &str) -> Result<(), String> {
    let parse = |line: &str| serde_json::from_str::<Value>(line).map_err(|error| format!("{error}: {line}"));
    let (then, now) = (parse(then)?, parse(now)?);
    if then["re"] != now["re"] {
        return Err(format!("{} became {}", then["re"], now["re"]));
    }
    for (key, value) in then["body"].as_object().into_iter().flatten() {
        match now["body"].get(key) {
            None => return Err(format!("{key} is missing in {now}")),
            Some(other) if KEPT.contains(&key.as_str()) && without_label(other) != without_label(value) => {
                return Err(format!("{key} became {other}, it was {value}"));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// Writes the fixture of this version: a database, and a conversation about what is in it.
fn record(directory: &Path) {
    let home = Home::new();
    home.configure("listen = \"off\"\n");
    let agent = home.join();
    home.ask_and_answer(&agent, "Settled?", None, &["long ago"]);
    let (client, open) = home.ask(&agent, OPEN, None);
    client.kill();
    let (client, answered) = home.ask(&agent, ANSWERED, None);
    client.kill();
    home.wait_for(ANSWERED, 0);
    home.ok(&["answer", &answered, TEXT]);
    home.ok(&["say", &agent, "a word before being asked"]);
    home.ok(&["broker", "stop"]);
    std::fs::create_dir_all(directory).unwrap_or_else(|error| panic!("{error}"));
    std::fs::copy(home.database(), directory.join("cueme.db")).unwrap_or_else(|error| panic!("{error}"));
    home.ok(&["agents"]);
    let mut text = String::new();
    for (request, count) in conversation(&agent, &open, &answered) {
        let id: RequestId = Wire::mint();
        let line = encode_request(id, &request).unwrap_or_else(|error| panic!("{error}"));
        let say_line = String::from_utf8_lossy(&line).into_owned();
        let hear = say(&home, &say_line, count);
        // A caller that the broker takes for waiting still would be handed the next answer.
        eventually("nobody waits", || {
            home.open_cues().iter().all(|cue| cue.waiting == 0).then_some(())
        });
        let exchange = Exchange { say: say_line, hear };
        text.push_str(&serde_json::to_string(&exchange).unwrap_or_default());
        text.push('\n');
    }
    std::fs::write(directory.join("wire.jsonl"), text).unwrap_or_else(|error| panic!("{error}"));
}

/// Returns what is said, and how many lines come back.
fn conversation(agent: &str, open: &str, answered: &str) -> Vec<(Request, usize)> {
    let cue: CueId = answered.parse().unwrap_or_else(|_| panic!("a cue: {answered}"));
    vec![
        (Request::Agents(Nothing {}), 2),
        (Request::Inbox(Nothing {}), 2),
        (Request::Show(Show { cue: open.to_owned() }), 1),
        (ask(agent, ANSWERED), 2),
        (ask(agent, OPEN), 1),
        (answer(open, "8080"), 1),
        (answer(open, "9090"), 1),
        (ask(agent, OPEN), 2),
        (ack(cue), 1),
        (
            Request::Last(Last {
                agent: agent.to_owned(),
            }),
            1,
        ),
        (Request::History(History::default()), 4),
        (
            Request::Recall(Recall {
                hints: "host".to_owned(),
                project_dir: None,
            }),
            1,
        ),
        (Request::Check(Nothing {}), 1),
    ]
}
