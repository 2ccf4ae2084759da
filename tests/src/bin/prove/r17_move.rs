//! R17, moving: an inbox goes from a file into a database and back while agents wait, and each move is killed at a random moment.
//!
//! Between a kill and the next attempt people go on answering in whichever store is in force.

use std::time::{Duration, Instant};

use cueme_test_kit::postgres::Server;
use cueme_tests::{Client, Home, eventually};

use crate::trial::{NotRun, Trial};

/// A question, who waits for it, and its words.
struct Waiting {
    client: Client,
    cue: String,
    number: usize,
}

/// Moves there and back, and judges.
pub(crate) fn run(trial: &mut Trial) -> Result<(), NotRun> {
    let Some(server) = Server::own(&[]) else {
        trial.lack("everything", "PostgreSQL");
        return Err(NotRun("PostgreSQL is not installed".into()));
    };
    let home = Home::new();
    home.configure("reminder = false\nlisten = \"off\"\n");
    let agents = trial.size(8, 100, 100);
    let kills = trial.size(4, 100, 100);
    let mut asked = 0;
    let mut ask = || {
        asked += 1;
        let (client, cue) = home.ask(&home.join(), &prompt(asked), None);
        Waiting {
            client,
            cue,
            number: asked,
        }
    };
    let mut waiting: Vec<Waiting> = (0..agents).map(|_| ask()).collect();
    let mut longest = Duration::from_millis(1);
    let (mut moves, mut interrupted) = (0u32, 0u32);
    let mut is_in_file = true;
    let mut killed = 0;
    while killed < kills {
        let target = match is_in_file {
            true => server.database(),
            false => "sqlite".to_owned(),
        };
        loop {
            let started = Instant::now();
            let mut moving = Some(home.start_with(&["store", "move", &target], ""));
            if killed < kills && trial.random.below(3) > 0 {
                let millis = u64::try_from(longest.as_millis()).unwrap_or(u64::MAX);
                std::thread::sleep(Duration::from_millis(trial.random.below(millis + 1)));
                let ended = moving.as_mut().and_then(Client::ended);
                if ended.is_none() {
                    if let Some(moving) = moving.take() {
                        moving.kill();
                    }
                    killed += 1;
                    interrupted += 1;
                    trial.progress(killed, kills);
                    let place = trial.random.index(waiting.len());
                    let answered = std::mem::replace(&mut waiting[place], ask());
                    finish(trial, &home, answered);
                    continue;
                }
                // It was faster than the kill.
                check_moved(trial, ended);
                break;
            }
            check_moved(trial, moving.map(Client::finish));
            longest = longest.max(started.elapsed());
            break;
        }
        moves += 1;
        is_in_file = !is_in_file;
    }
    let last = waiting.len();
    for waiting in waiting {
        finish(trial, &home, waiting);
    }
    for number in 1..=asked {
        let found = home.ok(&["history", "--search", &format!("moved{number}x")]);
        trial.check(found.contains(&prompt(number)), || {
            format!("question {number} is not in the history any more: {found}")
        });
    }
    home.kill_brokers(&home.brokers());
    trial.figure("moves", moves);
    trial.figure("killed", interrupted);
    trial.figure("questions; waiting at any time", format!("{asked}; {last}"));
    Ok(())
}

fn prompt(number: usize) -> String {
    format!("Who is moved{number}x?")
}

fn check_moved(trial: &mut Trial, run: Option<cueme_tests::Run>) {
    let is_moved = run.as_ref().is_some_and(|run| run.code == Some(0));
    trial.check(is_moved, || {
        format!("a move that nobody interrupted ended with {run:?}")
    });
}

/// Answers a question, and holds what its agent prints against that.
fn finish(trial: &mut Trial, home: &Home, waiting: Waiting) {
    let text = format!("answer {}", waiting.number);
    eventually("the answer is taken", || {
        let run = home.run(&["answer", &waiting.cue, &text]);
        (run.code == Some(0) || home.show(&waiting.cue)["outcome"] == "answered").then_some(())
    });
    let run = waiting.client.finish();
    trial.check(
        run.code == Some(0) && run.stdout.trim_end().ends_with(&text),
        || {
            format!(
                "{:?} was answered {text:?}, and its agent got {run:?}",
                prompt(waiting.number)
            )
        },
    );
}
