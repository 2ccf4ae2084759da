//! `cueme import` on databases as the original writes them, with the real broker.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};
use serde_json::Value;

use cueme_tests::{Home, Run, files_below};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nnot really";

/// The original's folder, with a database in it.
struct Original {
    folder: PathBuf,
}

impl Original {
    /// Makes an empty database of this schema. Schema 2 was also written without descriptions of agents.
    fn new(home: &Home, schema: &str) -> Self {
        let folder = home.path().join("original/.cue");
        fs::create_dir_all(folder.join("files")).unwrap();
        let original = Self { folder };
        original.write(
            "CREATE TABLE schema_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
             CREATE TABLE cue_requests (id INTEGER PRIMARY KEY AUTOINCREMENT, request_id TEXT UNIQUE,
                 agent_id TEXT DEFAULT '', prompt TEXT, payload TEXT, status TEXT, created_at TEXT, updated_at TEXT);
             CREATE TABLE cue_responses (id INTEGER PRIMARY KEY AUTOINCREMENT, request_id TEXT UNIQUE,
                 response_json TEXT NOT NULL, cancelled INTEGER DEFAULT 0, created_at TEXT);
             CREATE TABLE cue_files (id INTEGER PRIMARY KEY AUTOINCREMENT, sha256 TEXT UNIQUE NOT NULL,
                 file TEXT NOT NULL, mime_type TEXT NOT NULL, size_bytes INTEGER NOT NULL, created_at TEXT);
             CREATE TABLE cue_response_files (response_id INTEGER NOT NULL, file_id INTEGER NOT NULL,
                 idx INTEGER NOT NULL, PRIMARY KEY (response_id, idx));",
        );
        if schema == "3" {
            original.write(
                "CREATE TABLE agent_envs (agent_id TEXT PRIMARY KEY, agent_runtime TEXT, project_dir TEXT,
                     agent_terminal TEXT, updated_at TEXT);
                 CREATE TABLE agent_profiles (agent_id TEXT PRIMARY KEY, display_name TEXT NOT NULL);",
            );
        }
        original.write(&format!(
            "INSERT INTO schema_meta VALUES ('schema_version', '{schema}')"
        ));
        original
    }

    fn path(&self) -> PathBuf {
        self.folder.join("cue.db")
    }

    fn open(&self) -> Connection {
        Connection::open(self.path()).unwrap()
    }

    fn write(&self, sql: &str) {
        self.open().execute_batch(sql).unwrap();
    }

    fn agent(&self, id: &str, runtime: &str) {
        let row = params![
            id,
            runtime,
            "/home/ana/shop",
            "zsh",
            "2025-11-30T09:00:00.000+08:00"
        ];
        self.open()
            .execute("INSERT INTO agent_envs VALUES (?1, ?2, ?3, ?4, ?5)", row)
            .unwrap();
    }

    fn ask(&self, id: &str, agent: &str, prompt: &str, payload: Option<&str>, at: &str) {
        self.open()
            .execute(
                "INSERT INTO cue_requests (request_id, agent_id, prompt, payload, status, created_at, updated_at)
                 VALUES (?1, ?2, ?3, ?4, 'PENDING', ?5, ?5)",
                params![id, agent, prompt, payload, at],
            )
            .unwrap();
    }

    fn answer(&self, id: &str, json: &str, is_cancelled: bool, at: &str) -> i64 {
        let connection = self.open();
        connection
            .execute(
                "INSERT INTO cue_responses (request_id, response_json, cancelled, created_at) VALUES (?1, ?2, ?3, ?4)",
                params![id, json, is_cancelled, at],
            )
            .unwrap();
        let response = connection.last_insert_rowid();
        connection
            .execute(
                "UPDATE cue_requests SET status = 'COMPLETED' WHERE request_id = ?1",
                params![id],
            )
            .unwrap();
        response
    }

    fn attach(&self, response: i64, place: i64, file: &str, bytes: Option<&[u8]>) {
        if let Some(bytes) = bytes {
            fs::write(self.folder.join(file), bytes).unwrap();
        }
        let connection = self.open();
        connection
            .execute(
                "INSERT INTO cue_files (sha256, file, mime_type, size_bytes) VALUES (?1, ?1, 'image/png', 1)",
                params![file],
            )
            .unwrap();
        connection
            .execute(
                "INSERT INTO cue_response_files VALUES (?1, ?2, ?3)",
                params![response, connection.last_insert_rowid(), place],
            )
            .unwrap();
    }

    fn import(&self, home: &Home) -> Run {
        home.run(&["import", self.path().to_str().unwrap()])
    }

    /// Everything in the folder.
    fn tree(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        files_below(&self.folder)
    }
}

fn history(home: &Home, words: &[&str]) -> Vec<Value> {
    let all = [&["history", "--json"], words].concat();
    home.run(&all).expect(0).json().as_array().unwrap().clone()
}

fn prompts(cues: &[Value]) -> Vec<&str> {
    cues.iter().map(|cue| cue["prompt"].as_str().unwrap()).collect()
}

/// Two agents, four questions, an answer with a picture.
fn filled(home: &Home) -> Original {
    let original = Original::new(home, "3");
    original.agent("tavilron", "claude_code");
    original.agent("mobestin", "Wind Surf");
    original.write("INSERT INTO agent_profiles VALUES ('tavilron', 'Shop')");
    let choice = r#"{"type":"choice","options":["SQLite","Postgres"]}"#;
    original.ask(
        "req_1",
        "tavilron",
        "Which database? 数据库",
        Some(choice),
        "2025-12-01T10:00:00.000+08:00",
    );
    original.answer(
        "req_1",
        r#"{"text":"SQLite"}"#,
        false,
        "2025-12-01T10:05:00.000+08:00",
    );
    original.ask(
        "req_2",
        "tavilron",
        "Does it look right?",
        None,
        "2025-12-01T11:00:00.000+08:00",
    );
    let response = original.answer(
        "req_2",
        r#"{"text":"like this"}"#,
        false,
        "2025-12-01T11:05:00.000+08:00",
    );
    original.attach(response, 0, "files/abc.png", Some(PNG));
    let pause = r#"{"type":"confirm","variant":"pause","text":"Paused.","confirm_label":"Continue","cancel_label":""}"#;
    original.ask(
        "req_3",
        "mobestin",
        "Paused.",
        Some(pause),
        "2025-12-01T12:00:00.000+08:00",
    );
    original.answer("req_3", r#"{"text":""}"#, false, "2025-12-01T12:01:00.000+08:00");
    original.ask(
        "req_4",
        "mobestin",
        "Still there?",
        None,
        "2025-12-01T13:00:00.000+08:00",
    );
    original
}

#[test]
fn agents_questions_answers_and_files_come_over_once_and_the_source_stays_as_it_is() {
    let home = Home::created();
    let original = filled(&home);
    let before = original.tree();
    let first = original.import(&home).expect(0);
    assert!(
        first
            .stdout
            .contains("(schema 3): 2 agents, 4 questions, 1 file\n"),
        "{}",
        first.stdout
    );
    assert_eq!(first.stderr, "");
    assert_eq!(original.tree(), before);

    let cues = history(&home, &[]);
    assert_eq!(
        prompts(&cues),
        [
            "Still there?",
            "Paused.",
            "Does it look right?",
            "Which database? 数据库"
        ]
    );
    assert_eq!(cues[3]["text"], "SQLite");
    assert_eq!(cues[3]["origin"], "import");
    assert_eq!(cues[3]["asked_at"], "2025-12-01T02:00:00.000Z");
    assert_eq!(cues[3]["decided_at"], "2025-12-01T02:05:00.000Z");
    assert_eq!(cues[3]["payload"]["options"][1], "Postgres");
    assert_eq!(
        (&cues[1]["kind"], &cues[1]["text"]),
        (&"pause".into(), &"Continue".into())
    );
    let file = cues[2]["answer"]["attachments"][0]["path"].as_str().unwrap();
    assert!(
        Path::new(file).starts_with(home.path().join("data/attachments")),
        "{file}"
    );
    assert_eq!(fs::read(file).unwrap(), PNG);
    assert!(cues[2]["text"].as_str().unwrap().ends_with(file));

    let agents = home.run(&["agents", "--json"]).expect(0).json();
    let shop = agents
        .as_array()
        .unwrap()
        .iter()
        .find(|agent| agent["agent_id"] == "tavilron");
    let shop = shop.unwrap();
    assert_eq!(
        (&shop["name"], &shop["project_dir"]),
        (&"Shop".into(), &"/home/ana/shop".into())
    );
    let other = agents
        .as_array()
        .unwrap()
        .iter()
        .find(|agent| agent["agent_id"] == "mobestin");
    assert_eq!(other.unwrap()["agent_runtime"], "wind_surf");

    let again = original.import(&home).expect(0);
    assert!(
        again
            .stdout
            .contains("0 agents, 0 questions, 0 files\nimported before: 4 questions\n"),
        "{}",
        again.stdout
    );
    assert_eq!(history(&home, &[]).len(), 4);
    assert_eq!(original.tree(), before);
}

#[test]
fn what_was_open_there_waits_for_nobody_here_until_it_is_answered_there() {
    let home = Home::created();
    let original = filled(&home);
    original.import(&home).expect(0);
    assert_eq!(
        home.run(&["inbox", "--json"]).expect(0).json(),
        Value::Array(Vec::new())
    );
    let open = &history(&home, &["--agent", "mobestin"])[0];
    assert_eq!(
        (&open["outcome"], &open["delivery"]),
        (&"cancelled".into(), &"acknowledged".into())
    );
    assert!(
        open["text"]
            .as_str()
            .unwrap()
            .contains("still open when it was imported"),
        "{open}"
    );

    original.answer(
        "req_4",
        r#"{"text":"yes"}"#,
        false,
        "2025-12-01T14:00:00.000+08:00",
    );
    let again = original.import(&home).expect(0);
    assert!(
        again.stdout.contains("ended since the last import: 1 question\n"),
        "{}",
        again.stdout
    );
    let ended = &history(&home, &["--agent", "mobestin"])[0];
    assert_eq!(
        (&ended["outcome"], &ended["text"]),
        (&"answered".into(), &"yes".into())
    );
    assert_eq!(ended["cue_id"], open["cue_id"]);
    let third = original.import(&home).expect(0);
    assert!(
        third.stdout.contains("imported before: 4 questions\n"),
        "{}",
        third.stdout
    );
}

#[test]
fn an_imported_agent_is_found_again_and_goes_on_asking() {
    let home = Home::created();
    let original = filled(&home);
    original.import(&home).expect(0);
    let recalled = home.run(&["recall", "database"]).expect(0).stdout;
    assert!(recalled.starts_with("agent_id=tavilron\n"), "{recalled}");
    assert_eq!(
        prompts(&history(&home, &["--search", "数据库"])),
        ["Which database? 数据库"]
    );
    assert_eq!(
        prompts(&history(&home, &["--search", "SQLite"])),
        ["Which database? 数据库"]
    );

    let (asking, cue) = home.ask("tavilron", "And the cache?", None);
    home.run(&["answer", &cue, "none"]).expect(0);
    assert!(asking.finish().expect(0).stdout.starts_with("none\n"));
    let cues = history(&home, &["--agent", "tavilron"]);
    assert_eq!(
        prompts(&cues),
        ["And the cache?", "Does it look right?", "Which database? 数据库"],
        "what was imported is older than what was asked here"
    );
    // A broker that starts anew reads what was imported like everything else.
    home.run(&["broker", "restart"]).expect(0);
    assert_eq!(history(&home, &[]).len(), 5);
    let shown = home
        .run(&["show", cues[2]["cue_id"].as_str().unwrap()])
        .expect(0)
        .stdout;
    assert!(shown.contains("SQLite"), "{shown}");
    assert!(
        shown.contains("it is unknown whether the agent received it"),
        "only what is known is claimed: {shown}"
    );
}

#[test]
fn schema_2_and_a_database_in_use_are_read_too() {
    let home = Home::created();
    let original = Original::new(&home, "2");
    original.ask("req_1", "tavilron", "Old?", None, "2025-06-01 10:00:00.123456");
    original.answer(
        "req_1",
        r#"{"text":"old","mentions":[]}"#,
        false,
        "2025-06-01T10:05:00.000+00:00",
    );
    let writer = original.open();
    let mode: String = writer
        .query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))
        .unwrap();
    assert_eq!(mode, "wal");
    // Another program has it open, and the newest row stands in its log only.
    writer
        .execute(
            "INSERT INTO cue_requests (request_id, agent_id, prompt, status, created_at)
             VALUES ('req_2', 'tavilron', 'New?', 'PENDING', '2025-06-02T10:00:00.000+00:00')",
            [],
        )
        .unwrap();
    let database = fs::read(original.path()).unwrap();
    let imported = original.import(&home).expect(0);
    assert!(
        imported.stdout.contains("(schema 2): 1 agent, 2 questions"),
        "{}",
        imported.stdout
    );
    assert_eq!(fs::read(original.path()).unwrap(), database);
    drop(writer);
    // No program has the database open: not even the files of a write-ahead log appear beside it.
    let at_rest = original.tree();
    assert!(!original.folder.join("cue.db-wal").exists());
    original.import(&home).expect(0);
    assert_eq!(original.tree(), at_rest);
}

#[test]
fn a_row_that_cannot_be_kept_is_named_and_the_others_come_over() {
    let home = Home::created();
    let original = filled(&home);
    original.ask("req_5", "", "From whom?", None, "2025-12-02T10:00:00.000+08:00");
    original.ask("req_6", "tavilron", " ", None, "2025-12-02T10:00:00.000+08:00");
    original.ask("req_7", "tavilron", "When?", None, "once upon a time");
    original.ask(
        "req_8",
        "Not An Id",
        "Who?",
        None,
        "2025-12-02T10:00:00.000+08:00",
    );
    original.ask(
        "req_9",
        "tavilron",
        "Riddle?",
        Some(r#"{"type":"riddle"}"#),
        "2025-12-02T10:00:00.000+08:00",
    );
    original.ask(
        "req_10",
        "tavilron",
        "File?",
        None,
        "2025-12-02T11:00:00.000+08:00",
    );
    let response = original.answer(
        "req_10",
        r#"{"text":"here"}"#,
        false,
        "2025-12-02T11:05:00.000+08:00",
    );
    original.attach(response, 0, "files/gone.png", None);
    original.attach(response, 1, "../../outside.png", Some(PNG));
    let imported = original.import(&home).expect(0);
    assert!(
        imported.stdout.contains("2 agents, 6 questions, 1 file\n"),
        "{}",
        imported.stdout
    );
    assert!(
        imported.stdout.contains("skipped (see above): 5 rows"),
        "{}\n{}",
        imported.stdout,
        imported.stderr
    );
    for told in [
        "skipped question req_5: no agent asked it",
        "the prompt is empty",
        "skipped question req_7: it has no readable time",
        "skipped agent \"Not An Id\"",
        "skipped question req_8",
        "question req_9: its payload was left out",
        "question req_10: its file \"files/gone.png\" was left out",
        "question req_10: its file \"../../outside.png\" was left out",
    ] {
        assert!(imported.stderr.contains(told), "{told}: {}", imported.stderr);
    }
    let kept = history(&home, &["--search", "File"]);
    assert_eq!(kept[0]["text"], "here");
}

#[test]
fn what_is_no_database_of_the_original_is_refused_with_a_way_on() {
    let home = Home::created();
    let missing = home.run(&["import", "/nowhere/cue.db"]).expect(1);
    assert!(
        missing.stderr.contains("hint: name the file"),
        "{}",
        missing.stderr
    );
    let text = home.path().join("text.db");
    fs::write(&text, "hello").unwrap();
    let wrong = home.run(&["import", text.to_str().unwrap()]).expect(2);
    assert!(wrong.stderr.contains("cannot be read"), "{}", wrong.stderr);
    for (sql, told) in [
        ("DELETE FROM schema_meta", "migrate"),
        (
            "INSERT INTO schema_meta VALUES ('schema_version', '4')",
            "its schema is 4",
        ),
    ] {
        let home = Home::created();
        let original = Original::new(&home, "3");
        original.write("DELETE FROM schema_meta");
        original.write(sql);
        let refused = original.import(&home).expect(2);
        assert!(refused.stderr.contains(told), "{}", refused.stderr);
    }
    // Without a name, it is looked for where the original keeps it.
    let original = filled(&home);
    let person = original.folder.parent().unwrap();
    let output = home.command(&["import"]).env("HOME", person).output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.contains(".cue/cue.db (schema 3): 2 agents"), "{stdout}");
}

#[test]
fn a_database_beyond_every_measure_is_refused_and_brings_nothing() {
    let refused = |original: &Original, home: &Home, why: &str| {
        let run = original.import(home).expect(2);
        assert!(run.stderr.contains(why), "{why}: {}", run.stderr);
        assert_eq!(history(home, &[]).len(), 0, "{why}");
    };
    let home = Home::created();
    let original = Original::new(&home, "3");
    let file = fs::OpenOptions::new().write(true).open(original.path()).unwrap();
    let bytes_max = 8 * 1024 * 1024 * 1024;
    file.set_len(bytes_max + 1).unwrap();
    refused(&original, &home, &format!("more than {bytes_max} bytes"));

    let home = Home::created();
    let original = Original::new(&home, "3");
    original.write(
        "INSERT INTO cue_requests (agent_id, prompt, status)
         VALUES ('tavilron', hex(zeroblob(32 * 1024 * 1024 + 1)), 'PENDING')",
    );
    refused(&original, &home, "too big");

    let home = Home::created();
    let original = Original::new(&home, "3");
    original.write(
        "WITH RECURSIVE many (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many LIMIT 1000001)
         INSERT INTO cue_requests (agent_id, prompt, status) SELECT 'tavilron', 'p', 'PENDING' FROM many",
    );
    refused(&original, &home, "more than 1000000 rows");
}

#[test]
fn a_file_of_an_answer_that_is_too_large_a_pipe_or_a_link_is_left_out() {
    let home = Home::created();
    let original = filled(&home);
    original.ask(
        "req_5",
        "tavilron",
        "Files?",
        None,
        "2025-12-02T11:00:00.000+08:00",
    );
    let response = original.answer(
        "req_5",
        r#"{"text":"here"}"#,
        false,
        "2025-12-02T11:05:00.000+08:00",
    );
    let file = |name: &str| original.folder.join(name);
    let large = fs::File::create(file("files/large.png")).unwrap();
    large.set_len(256 * 1024 * 1024 + 1).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(file("files/pipe.png"))
        .status();
    assert!(made.unwrap().success());
    std::os::unix::fs::symlink("/etc/passwd", file("files/link.png")).unwrap();
    for (place, name) in (0..).zip(["files/large.png", "files/pipe.png", "files/link.png"]) {
        original.attach(response, place, name, None);
    }
    let imported = original.import(&home).expect(0);
    for (name, why) in [
        ("files/large.png", "it is not a file of at most 268435456 bytes"),
        ("files/pipe.png", "it is not a file of at most"),
        ("files/link.png", "it is a link"),
    ] {
        let told = format!("its file {name:?} was left out: {why}");
        assert!(imported.stderr.contains(&told), "{told}: {}", imported.stderr);
    }
    assert_eq!(history(&home, &["--search", "Files"])[0]["text"], "here");
}

#[test]
fn only_a_plain_file_with_plain_tables_is_read() {
    let home = Home::created();
    let original = Original::new(&home, "3");
    let refused = |path: &Path, why: &str| {
        let run = home.run(&["import", path.to_str().unwrap()]).expect(2);
        assert!(run.stderr.contains(why), "{why}: {}", run.stderr);
    };
    let pipe = home.path().join("pipe.db");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    refused(&pipe, "not a regular file");
    refused(Path::new("/dev/zero"), "not a regular file");
    refused(home.path(), "not a regular file");
    let link = home.path().join("link.db");
    std::os::unix::fs::symlink(original.path(), &link).unwrap();
    refused(&link, "it is a link");
    let journal = original.path().with_file_name("cue.db-wal");
    let made = std::process::Command::new("mkfifo")
        .arg(&journal)
        .status()
        .unwrap();
    assert!(made.success());
    refused(&original.path(), "cue.db-wal is not a regular file");
    fs::remove_file(&journal).unwrap();
    // Rows without an end, by a view and by a virtual table.
    original.write(
        "DROP TABLE cue_requests;
         CREATE VIEW cue_requests AS WITH RECURSIVE endless (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM endless)
             SELECT id, 'r' || id AS request_id, 'a' AS agent_id, 'p' AS prompt, NULL AS payload, 'pending' AS status,
                 '' AS created_at, '' AS updated_at FROM endless;",
    );
    refused(&original.path(), "its cue_requests is a view, not a table");
    original.write("DROP VIEW cue_requests; CREATE VIRTUAL TABLE cue_requests USING fts5 (id, request_id)");
    refused(
        &original.path(),
        "its cue_requests is a virtual table, not a table",
    );
}
