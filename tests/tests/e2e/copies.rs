//! The content of a copy of the database, and the rights of a restored one.

use cueme_tests::{Home, Http};

use crate::door_of_the_page::page_of;

/// Asks the page for something with a token, and returns the status.
fn status(home: &Home, method: &str, path: &str, token: &str) -> u16 {
    let page: Http = page_of(home);
    let (host, bearer) = (page.host(), format!("Bearer {token}"));
    let headers = [("host", host.as_str()), ("authorization", bearer.as_str())];
    let target = format!("/api/v1{path}");
    page.send(method, &target, &headers, b"").status
}

fn token(home: &Home) -> String {
    home.ok(&["token", "--scope", "human"]).trim().to_owned()
}

#[test]
fn a_restored_database_signs_nobody_in() {
    let home = Home::new();
    home.join();
    let token = token(&home);
    assert_eq!(status(&home, "GET", "/state", &token), 200);
    home.ok(&["backup", "copy.db"]);
    home.ok(&["restore", home.scratch().join("copy.db").to_str().unwrap()]);
    home.ok(&["agents"]);
    assert_eq!(status(&home, "GET", "/state", &token), 401);
    // Nor does a copy that somebody made by hand.
    let token = self::token(&home);
    home.ok(&["broker", "stop"]);
    let by_hand = home.scratch().join("by-hand.db");
    std::fs::copy(home.database(), &by_hand).unwrap();
    home.ok(&["restore", by_hand.to_str().unwrap()]);
    home.ok(&["agents"]);
    assert_eq!(status(&home, "GET", "/state", &token), 401);
}

#[test]
fn a_row_of_a_restored_database_removes_no_file_of_others() {
    let home = Home::new();
    home.join();
    let precious = home.scratch().join("precious.txt");
    std::fs::write(&precious, "mine").unwrap();
    home.ok(&["backup", "copy.db"]);
    let copy = home.scratch().join("copy.db");
    let paths = [
        precious.to_str().unwrap().to_owned(),
        format!("{}/data/attachments/../../../precious.txt", home.path().display()),
    ];
    let database = rusqlite::Connection::open(&copy).unwrap();
    for (number, path) in paths.iter().enumerate() {
        database
            .execute(
                "INSERT INTO uploads (upload_id, path, name, media_type, bytes, uploaded_at) VALUES (?1, ?2, 'x', 'text/plain', 4, 0)",
                rusqlite::params![format!("upload{number}"), path],
            )
            .unwrap();
    }
    drop(database);
    home.ok(&["restore", copy.to_str().unwrap()]);
    home.ok(&["agents"]);
    let token = token(&home);
    for number in 0..paths.len() {
        let removed = status(&home, "DELETE", &format!("/uploads/upload{number}"), &token);
        assert!(matches!(removed, 204 | 404), "{removed}");
    }
    home.ok(&["purge", "--older-than", "1s"]);
    home.ok(&["broker", "restart"]);
    home.ok(&["agents"]);
    assert_eq!(std::fs::read_to_string(&precious).unwrap(), "mine");
}

#[test]
fn a_backup_holds_no_password_that_was_not_delivered_and_its_question_is_open_in_it() {
    const SECRET: &str = "correct-horse-battery-staple";
    let home = Home::new();
    let agent = home.join();
    let payload = r#"{"type":"form","fields":[{"label":"Key","kind":"password"}]}"#;
    let (client, cue) = home.ask(&agent, "Credentials?", Some(payload));
    drop(client);
    home.wait_for("Credentials?", 0);
    home.ok(&["answer", &cue, "--field", &format!("Key={SECRET}")]);
    home.ok(&["backup", "copy.db"]);
    let copy = home.scratch().join("copy.db");
    let bytes = std::fs::read(&copy).unwrap();
    assert!(
        !bytes
            .windows(SECRET.len())
            .any(|window| window == SECRET.as_bytes()),
        "the copy holds it"
    );
    home.ok(&["restore", copy.to_str().unwrap()]);
    let (client, again) = home.ask(&agent, "Credentials?", Some(payload));
    assert_eq!(again, cue);
    home.ok(&["answer", &cue, "--field", "Key=another"]);
    assert!(client.finish().printed(0).starts_with("Key: another\n"));
}
