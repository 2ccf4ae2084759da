//! A double of the Cursor agent CLI for tests.
//!
//! It takes the real one's commands and flags, fails before the turn in the real one's order, keeps its chats in the
//! same places, and then plays the scenario named by `FAKE_CURSOR_SCENARIO`. Its arguments go to the file named by
//! `FAKE_CURSOR_LOG`, one JSON object per line.

mod args;
mod chats;
mod scenario;
mod stream;

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::ExitCode;

use args::{Args, Command};

const VERSION: &str = "2026.10.01-fake000";

/// The help text of the double; `FAKE_CURSOR_HELP` replaces it.
const HELP: &str = "Usage: agent [options] [command] [prompt...]\n\n  --mode <mode>\n  --continue\n  --trust\n  -w, --worktree [name]";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let Some(acp) = std::env::var_os("FAKE_CURSOR_ACP").filter(|_| words.iter().any(|word| word == "acp"))
    {
        // Only fails when there is no such program.
        let error = std::process::Command::new(acp).args(&words).exec();
        return fail(&error.to_string());
    }
    if words.iter().any(|word| word == "--help") {
        return answer(&std::env::var("FAKE_CURSOR_HELP").unwrap_or_else(|_| HELP.to_owned()));
    }
    match Args::parse(std::env::args().skip(1)) {
        Ok(args) => run(args),
        Err(message) => fail(&message),
    }
}

fn run(mut args: Args) -> ExitCode {
    match args.command {
        Command::Version => answer(VERSION),
        Command::Status if scenario::logged_out() => fail("Not logged in"),
        Command::Status => answer("✓ Logged in as user@example.com"),
        Command::About => answer(&format!(
            "CLI Version {VERSION}\nModel Auto\nUser Email user@example.com"
        )),
        Command::Models => answer("Available models\n\nauto - Auto (default)\ngpt-5 - GPT-5"),
        Command::CreateChat => answer(&chats::create(&args)),
        Command::List => fail("Error: ls requires an interactive terminal"),
        Command::Login | Command::Mcp => answer("ok"),
        Command::Turn if !scenario::is_known() => fail("the double knows no such scenario"),
        Command::Turn => {
            if args.prompt.is_empty() && !scenario::waits_for_nothing() {
                let _ = std::io::stdin().read_to_string(&mut args.prompt);
            }
            let named = args.model.clone();
            args.model = args.model.or_else(|| chats::model(None));
            log(&args);
            if let Some(message) = scenario::preflight(&args) {
                return fail(&message);
            }
            chats::model(named.as_deref());
            scenario::play(&args)
        }
    }
}

fn answer(text: &str) -> ExitCode {
    println!("{text}");
    ExitCode::SUCCESS
}

fn fail(message: &str) -> ExitCode {
    eprintln!("{message}");
    ExitCode::FAILURE
}

/// Records the call for the test to look at.
fn log(args: &Args) {
    let Some(path) = std::env::var_os("FAKE_CURSOR_LOG") else {
        return;
    };
    let env = ["CUEME_TURN", "CURSOR_API_KEY", "FAKE_CURSOR_MARK"]
        .iter()
        .filter_map(|name| {
            Some((
                (*name).to_owned(),
                serde_json::Value::String(std::env::var(name).ok()?),
            ))
        })
        .collect::<serde_json::Map<_, _>>();
    let line = serde_json::json!({
        "pid": std::process::id(),
        "argv": std::env::args().skip(1).collect::<Vec<_>>(),
        "prompt": args.prompt,
        "resume": args.resume,
        "model": args.model,
        "env": env,
    });
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    if let Ok(mut file) = file {
        // In one write: several turns may record themselves at once.
        let _ = file.write_all(format!("{line}\n").as_bytes());
    }
}
