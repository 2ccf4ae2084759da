//! Both stores read the same after the same writes.

use cueme_store::Storage;
use cueme_test_kit::postgres::Server;

use crate::pictures::{assert_same, found, picture};
use crate::world::{Writer, write_world};
use crate::{index, open_postgres, open_sqlite};

#[test]
fn both_stores_read_the_same_of_what_was_written() {
    let Some(server) = Server::start() else { return };
    let home = tempfile::tempdir().unwrap();
    let (embedded, sqlite) = open_sqlite(&home.path().join("cueme.db"));
    let (shared, postgres) = open_postgres(&server.database());
    let attachments = home.path().join("attachments");
    let world = write_world(&*sqlite, &attachments);
    write_world(&*postgres, &attachments);
    assert_same(
        picture(&*embedded.reader(), &world),
        picture(&*shared.reader(), &world),
    );
    index(&*sqlite);
    index(&*postgres);
    assert_same(
        found(&*embedded.reader(), &world),
        found(&*shared.reader(), &world),
    );
    let report = shared.reader().check().unwrap();
    assert_eq!(
        (report.problems, report.cues),
        (Vec::new(), world.cues.len() as u64)
    );
}

/// SQLite keeps such a text whole, too, and cuts what it shows of it at the first NUL.
#[test]
fn a_text_with_nul_characters_is_read_and_found_whole() {
    const PROMPT: &str = "Null\0bytes, \u{10FFFF} and \0kettles";
    let Some(server) = Server::start() else { return };
    let home = tempfile::tempdir().unwrap();
    let url = server.database();
    let (storage, store) = open_postgres(&url);
    let mut writer = Writer::new(&*store);
    let agent = writer.join(1, "cursor", "/p");
    let cue = writer.ask(1, &agent, PROMPT, None);
    index(&*store);
    let reader = storage.reader();
    assert_eq!(reader.cue(cue).unwrap().unwrap().prompt, PROMPT);
    assert_eq!(
        reader.search_cues("bytes kettles", None, None, 9).unwrap().len(),
        1
    );
    let backup = home.path().join("backup.db");
    reader.back_up(&backup).unwrap();
    let (restored, _store) = open_sqlite(&backup);
    assert_eq!(restored.reader().cue(cue).unwrap().unwrap().prompt, PROMPT);
}
