//! Every command that the README and the pages show is run as it stands, in a home of its own.
//!
//! Ids in the text stand for questions and agents that the test makes: `7k3` is a fresh question of the kind that the
//! command answers, `bako` and `$id` are an agent. A block that sets `id` is run as one script. A command that cannot be run
//! here is in [`NOT_HERE`], with the reason.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use cueme_tests::{Client, Home, Run, eventually};
use protocol_spec::answer::Answer;
use protocol_spec::message::{GiveAnswer, Reply, Request};

use crate::markdown::{documents, lines, root};

/// Commands by their beginning, and why they are not run.
const NOT_HERE: [(&str, &str); 15] = [
    (
        "cargo ",
        "builds the program, which tests/run and tests/package do",
    ),
    ("tests/run", "runs this test"),
    ("tests/package", "builds a release"),
    ("pip install", "installs a package, which tests/package does"),
    ("npm install", "installs a package, which tests/package does"),
    ("sudo ", "installs a package, which tests/package does"),
    (
        "cueme import",
        "needs a database of the original; see tests/cli/import.rs",
    ),
    ("cueme agent run", "needs Cursor's CLI; see tests/agent"),
    ("cueme agent doctor", "needs Cursor's CLI; see tests/agent"),
    ("cueme cloud", "needs Cursor's API; see tests/cloud"),
    ("docker run", "needs Docker and an image with an agent"),
    ("cueme store move", "needs PostgreSQL; see tests/e2e/team.rs"),
    ("cueme notify", "needs a chat; see tests/surfaces/command.rs"),
    (
        "cueme link https",
        "needs a broker elsewhere; see tests/e2e/remote.rs",
    ),
    ("cueme link you@", "needs SSH; see tests/e2e/ssh.rs"),
];
/// Commands that ask a person in a terminal, and refuse to without one.
const NEED_TERMINAL: [&str; 5] = [
    "cueme tui",
    "cueme answer",
    "cueme answer 7k3",
    "cueme init claude_code",
    "cueme init cursor --project",
];
/// Commands that stay until they are ended.
const STAY: [&str; 2] = ["cueme inbox --watch", "cueme broker logs --follow"];
/// Commands that find nothing in a fresh home, and say so by exit code 1.
const FIND_NOTHING: [&str; 3] = ["cueme init", "cueme link --status", "cueme link --remove"];

const CHOICE: &str = r#"{"type":"choice","options":["SQLite","Postgres"]}"#;
const CONFIRM: &str = r#"{"type":"confirm","text":"Go on?"}"#;
const FORM: &str =
    r#"{"type":"form","fields":[{"label":"Env","kind":"text"},{"label":"Replicas","kind":"text"}]}"#;
const SECRET: &str = r#"{"type":"form","fields":[{"label":"Token","kind":"password"}]}"#;

/// A turn as Cursor's CLI prints it.
const RECORDED: &str = r#"{"type":"system","subtype":"init","session_id":"s1","model":"auto","cwd":"/work"}
{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"s1","duration_ms":5}
"#;

/// The beginning of a command whose variable the lines below it use.
const SETS_ID: &str = "id=$(";

/// A command as a page shows it: its lines, here-documents included, and where it begins.
struct Shown {
    place: String,
    text: String,
}

impl Shown {
    /// Returns the command without a comment at its end.
    fn bare(&self) -> &str {
        let line = self
            .text
            .split_once("  #")
            .map_or(self.text.as_str(), |(command, _)| command);
        line.trim_end()
    }
}

fn commands(path: &Path, text: &str) -> Vec<Shown> {
    let mut shown: Vec<Shown> = Vec::new();
    let mut end: Option<String> = None;
    let mut number = 0;
    for line in lines(text).iter().filter(|line| line.fence == Some("sh")) {
        let is_same_block = line.number == number + 1;
        number = line.number;
        match (&end, shown.last_mut()) {
            (Some(mark), Some(last)) => {
                last.text.push_str(&format!("\n{}", line.text));
                if line.text == mark {
                    end = None;
                }
            }
            _ if line.text.trim().is_empty() || line.text.starts_with('#') => {}
            (_, last) => {
                end = line
                    .text
                    .split_once("<<'")
                    .map(|(_, mark)| mark.trim_end_matches('\'').to_owned());
                match last.filter(|last| is_same_block && last.text.starts_with(SETS_ID)) {
                    Some(last) => last.text.push_str(&format!("\n{}", line.text)),
                    None => shown.push(Shown {
                        place: format!("{}:{}", path.display(), line.number),
                        text: line.text.to_owned(),
                    }),
                }
            }
        }
    }
    shown
}

/// A home in which the commands of one page are run, one after another.
struct Sandbox {
    home: Home,
    agent: String,
    asked: u32,
}

impl Sandbox {
    fn new() -> Self {
        let home = Home::new();
        let agent = home.join();
        home.ask_and_answer(&agent, "Which 数据库?", None, &["SQLite"])
            .printed(0);
        let scratch = home.scratch();
        let tools = scratch.join("bin");
        fs::create_dir_all(&tools).unwrap();
        symlink(home.binary(), tools.join("cueme")).unwrap();
        fs::write(tools.join("pass"), "#!/bin/sh\necho a-secret\n").unwrap();
        fs::set_permissions(tools.join("pass"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(scratch.join("shot.png"), "a picture").unwrap();
        fs::write(scratch.join("turn.ndjson"), RECORDED).unwrap();
        Self {
            home,
            agent,
            asked: 0,
        }
    }

    fn start(&self, text: &str) -> Client {
        let scratch = self.home.scratch();
        let path = format!("{}:/usr/bin:/bin", scratch.join("bin").display());
        let mut command = self
            .home
            .command_of(Path::new("bash"), &["-o", "pipefail", "-c", text]);
        command
            .env("HOME", scratch)
            .env("PATH", path)
            .env("id", &self.agent);
        // `git log` of the repository itself.
        command.env("GIT_DIR", root().join(".git"));
        Client::start(&mut command, b"")
    }

    /// Runs a command to its end, and returns what is wrong with it.
    fn try_command(&mut self, shown: &Shown) -> Result<(), String> {
        let bare = shown.bare();
        let text = shown
            .text
            .replace("bako-nefi", &self.agent)
            .replace("bako", &self.agent);
        if NEED_TERMINAL.contains(&bare) {
            let text = text.replace("7k3", "0");
            return exits(&self.start(&text).finish(), 2);
        }
        if STAY.contains(&bare) {
            let client = self.start(&text);
            eventually(bare, || (!client.stdout().is_empty()).then_some(()));
            client.kill();
            return Ok(());
        }
        if bare.contains("cueme cue ") {
            return self.ask_as_shown(&text);
        }
        let asking = if bare.contains("7k3") {
            Some(self.ask(payload_for(bare)))
        } else if bare == "cueme undo" {
            Some(self.ask_and_hold())
        } else {
            None
        };
        let cue = asking.as_ref().map_or("", |(_, cue)| cue.as_str());
        let expected = i32::from(FIND_NOTHING.contains(&bare));
        exits(&self.start(&text.replace("7k3", cue)).finish(), expected)?;
        if let Some((client, cue)) = asking {
            if bare.contains("cueme show") || bare == "cueme undo" {
                self.home.ok(&["cancel", &cue]);
            }
            client.finish();
        }
        Ok(())
    }

    fn ask(&mut self, payload: Option<&str>) -> (Client, String) {
        self.asked += 1;
        self.home
            .ask(&self.agent, &format!("Question {}?", self.asked), payload)
    }

    /// Asks, and answers as the page does: for a while, the answer can be taken back.
    fn ask_and_hold(&mut self) -> (Client, String) {
        let (client, cue) = self.ask(None);
        let answer = Answer {
            text: Some("too early".to_owned()),
            ..Answer::default()
        };
        let held = Request::Answer(GiveAnswer {
            cue: cue.clone(),
            answer,
            by: None,
            hold_ms: 60_000,
        });
        assert!(matches!(self.home.wire().call(&held), Some(Reply::Decided(_))));
        (client, cue)
    }

    /// Runs a question of the page, which may wait in the background, and answers it as its human.
    fn ask_as_shown(&self, text: &str) -> Result<(), String> {
        let mut client = if text.ends_with('&') {
            self.start(&format!("{text}\nwait $!"))
        } else {
            self.start(text)
        };
        let found = eventually("the question, or the end of the command", || {
            let cues = self.home.open_cues();
            let asked = cues
                .into_iter()
                .find(|cue| cue.prompt == "Which database?" && cue.waiting == 1);
            asked.map(Ok).or_else(|| client.ended().map(Err))
        });
        let cue = match found {
            Ok(cue) => cue,
            Err(run) => {
                return Err(format!(
                    "it ended with {:?}: {}{}",
                    run.code, run.stdout, run.stderr
                ));
            }
        };
        let id = cue.cue_id.to_string();
        let mut answer = vec!["answer", id.as_str()];
        if cue.payload.is_some() {
            answer.push("--select");
        }
        answer.push("SQLite");
        self.home.ok(&answer);
        let run = client.finish();
        exits(&run, 0)?;
        if run.stdout.contains("SQLite") {
            Ok(())
        } else {
            Err(format!("no answer in {}", run.stdout))
        }
    }
}

/// Returns the payload of a question that the options of a command answer.
fn payload_for(command: &str) -> Option<&'static str> {
    [
        ("--select", CHOICE),
        ("--other", CHOICE),
        ("--confirm", CONFIRM),
        ("--cancel", CONFIRM),
        ("--field Env", FORM),
        ("--field Token", SECRET),
    ]
    .into_iter()
    .find_map(|(option, payload)| command.contains(option).then_some(payload))
}

fn exits(run: &Run, code: i32) -> Result<(), String> {
    if run.code == Some(code) {
        Ok(())
    } else {
        Err(format!(
            "exit {:?} instead of {code}: {}{}",
            run.code, run.stdout, run.stderr
        ))
    }
}

#[test]
fn every_command_of_the_readme_and_the_pages_can_be_run() {
    let mut wrong = Vec::new();
    let (mut run, mut not_here) = (0, BTreeSet::new());
    let pages = documents()
        .into_iter()
        .filter(|(path, _)| path.ends_with("README.md") || path.parent().unwrap().ends_with("cueme/docs"));
    for (path, text) in pages {
        let shown = commands(&path, &text);
        let hindrance = |shown: &Shown| {
            let found = NOT_HERE
                .iter()
                .find(|(beginning, _)| shown.text.starts_with(beginning));
            found.map(|(beginning, _)| *beginning)
        };
        not_here.extend(shown.iter().filter_map(hindrance));
        let mut sandbox = Sandbox::new();
        for shown in shown.iter().filter(|shown| hindrance(shown).is_none()) {
            run += 1;
            if let Err(why) = sandbox.try_command(shown) {
                wrong.push(format!("{}: {}: {why}", shown.place, shown.bare()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(run > 50, "only {run} commands were run");
    assert_eq!(
        not_here.len(),
        NOT_HERE.len(),
        "a reason is for a command that is shown: {not_here:?}"
    );
}

/// Returns the commands of a walk of CONTRIBUTING, which follows its name in bold.
fn walk(name: &str) -> String {
    let contributing = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let (_, walk) = contributing.split_once(&format!("\n**{name}**")).unwrap();
    let walk = walk.split("\n**").next().unwrap();
    let commands = lines(walk).into_iter().filter(|line| line.fence == Some("sh"));
    commands.map(|line| format!("{}\n", line.text)).collect()
}

#[test]
fn the_page_can_be_run_against_a_demo_as_contributing_shows_it() {
    let home = Home::new();
    let scratch = home.scratch().to_owned();
    let (built, temporary) = (scratch.join("target/debug"), scratch.join("tmp"));
    fs::create_dir_all(&built).unwrap();
    fs::create_dir(&temporary).unwrap();
    symlink(home.binary(), built.join("cueme")).unwrap();
    let commands = walk("Run the page against a demo.") + "wait\n";
    let mut shell = home.command_of(Path::new("bash"), &["-c", &commands]);
    shell.env("TMPDIR", &temporary).env_remove("CUEME_HOME");
    let client = Client::start(&mut shell, b"");
    // The walk chooses a home of its own; from here on it is ours, and ends with the test.
    let chosen = eventually("the walk's home", || {
        fs::read_dir(&temporary).unwrap().flatten().next()
    });
    let home = home.at(chosen.path());
    eventually("the link to the page", || {
        client.stdout().contains("http://").then_some(())
    });
    let cue = eventually("the question", || {
        let cues = home.open_cues();
        cues.into_iter().find(|cue| cue.waiting == 1)
    });
    assert_eq!(cue.prompt, "Which database?");
    home.ok(&["answer", &cue.cue_id.to_string(), "SQLite"]);
    let run = client.finish();
    exits(&run, 0).unwrap();
    assert!(run.stdout.contains("SQLite"), "{}", run.stdout);
}
