//! The cost of a waiting client.

use std::time::Duration;

use crate::home::Home;
use crate::process::private_kib;
use crate::rows::PROMPT;
use crate::table::{Goal, Row};

/// The wanted private memory of a client beside its broker.
pub(crate) const GOAL_KIB: f64 = 1536.0;

pub(crate) fn measure(_: usize) -> Vec<Row> {
    let home = Home::start();
    let agent = home.connect().join("terminal", "/");
    // A second client, so that pages of the program's file count as shared, as they are as soon as two agents wait.
    let mut clients = [PROMPT, "another question"].map(|prompt| home.start_cue(&agent, prompt));
    std::thread::sleep(Duration::from_secs(1));
    let private = private_kib(clients[0].id()) as f64;
    for client in &mut clients {
        client.kill().and_then(|()| client.wait()).expect("its end");
    }
    vec![Row {
        id: "P8",
        what: "private memory of a waiting client, beside another one".into(),
        ours: format!("{:.2} MiB", private / 1024.0),
        floor: format!("{:.1} MiB", GOAL_KIB / 1024.0),
        ratio: private / GOAL_KIB,
        goal: Goal::Told,
        aim: Goal::AtMost(1.0),
    }]
}
