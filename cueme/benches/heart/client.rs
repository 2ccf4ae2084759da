//! What a client costs while it waits.

use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

use crate::home::Home;
use crate::process::private_kib;
use crate::table::{Goal, Row};

const GOAL_KIB: f64 = 1536.0;

pub(crate) fn measure(_: usize) -> Vec<Row> {
    let home = Home::start();
    let agent = home.connect().join();
    let mut client = home
        .command()
        .args(["cue", agent.as_str(), "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("a client");
    let mut stdin = client.stdin.take().expect("its input");
    stdin
        .write_all(b"<cueme_prompt>\nShall I go on?\n</cueme_prompt>\n")
        .expect("a question");
    drop(stdin);
    std::thread::sleep(Duration::from_secs(1));
    let private = private_kib(client.id()) as f64;
    client.kill().and_then(|()| client.wait()).expect("its end");
    vec![Row {
        id: "P8",
        what: "private memory of a waiting client",
        ours: format!("{:.2} MiB", private / 1024.0),
        floor: format!("{:.1} MiB", GOAL_KIB / 1024.0),
        ratio: private / GOAL_KIB,
        goal: Goal::Told,
        aim: Goal::AtMost(1.0),
    }]
}
