//! Runs on the page: in the cloud, on this machine, and the chats they leave behind.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;
use std::process::Stdio;

use adapter_core::cursor::chats::project_id;
use cueme_tests::cloud_fake::{API_KEY, FakeCloud, Script};
use cueme_tests::{Client, Home, eventually};
use tokio::runtime::Runtime;

use crate::chat_store::{StoreBuilder, assistant, shell, user};
use crate::driver::{Browser, DESKTOP, PHONE, key, sign_in};

const CHAT_ID: &str = "5b1f4bd6-6f0e-4f0a-9d3e-2f7b8a1c0d9e";

/// A home whose configuration leads to a stand-in for Cursor's cloud.
fn cloud_home(runtime: &Runtime, script: Script) -> (Home, FakeCloud) {
    let fake = runtime.block_on(FakeCloud::start(script));
    let home = Home::created();
    let key = home.path().join("api.key");
    fs::write(&key, API_KEY).unwrap();
    let config = format!(
        "[cloud]\nrepository = \"https://github.com/acme/site\"\npublicUrl = \"https://broker.example\"\n\
         pollIntervalSec = 1\ngraceSec = 2\nenableWebhooks = false\nbaseUrl = \"{}\"\n\
         env.CURSOR_API_KEY = {{ type = \"secret_ref\", file = \"{}\" }}\n",
        fake.base_url(),
        key.display()
    );
    fs::write(home.path().join("config.toml"), config).unwrap();
    (home, fake)
}

/// Opens the list of runs.
fn open_runs(browser: &Browser) {
    browser.click("[aria-label=Runs]");
    browser.sees("dialog h2", "Runs");
}

/// Waits for a question, and declines it.
#[track_caller]
fn decline(home: &Home) {
    let cue = home.wait_for_one(|_| true);
    home.run(&["decline", cue["cue_id"].as_str().unwrap()]).expect(0);
}

/// Returns the outcome of each run, oldest first.
fn runs(home: &Home) -> Vec<(String, String, Option<String>)> {
    let database = rusqlite::Connection::open(home.path().join("data/cueme.db")).unwrap();
    let mut statement = database
        .prepare("SELECT title, status, error FROM runs ORDER BY seq")
        .unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    rows.unwrap().map(Result::unwrap).collect()
}

#[test]
fn a_run_in_the_cloud_is_started_by_the_form_and_shows_its_status_branch_and_pull_request() {
    let runtime = Runtime::new().unwrap();
    let (home, fake) = cloud_home(&runtime, Script::default());
    let browser = sign_in(&home, DESKTOP);
    open_runs(&browser);
    browser.sees("dialog", "No runs yet");
    browser.click(".launch-button");
    browser.sees("dialog h2", "Start an agent in the cloud");
    assert_eq!(browser.value("[name=repository]"), "https://github.com/acme/site");
    for field in [
        "ref",
        "model",
        "auto_create_pr",
        "branch_name",
        "poll_interval_sec",
        "timeout_sec",
        "grace_sec",
        "public_url",
        "enable_webhooks",
        "CURSOR_API_KEY",
        "CURSOR_WEBHOOK_SECRET",
    ] {
        assert_eq!(browser.count(&format!(".launch [name={field}]")), 1, "{field}");
    }
    assert_eq!(browser.count(".launch .primary:disabled"), 1);
    browser.write("[name=ref]", "dev");
    browser.click("[name=auto_create_pr]");
    browser.write("[name=prompt]", "Fix the <b>carry</b>");
    assert_eq!(browser.count(".launch .primary:disabled"), 0);
    browser.press(&format!("{}{}{}", key::CONTROL, key::ENTER, key::RELEASE));
    browser.sees(".run[data-state=running] .run-title", "Fix the <b>carry</b>");
    decline(&home);
    browser.sees(".run[data-state=succeeded] .run-place", "finished");
    browser.sees(".run-branch", "cursor/fake-branch");
    browser.until("return document.querySelector('.run-pr')?.href === 'https://github.com/acme/site/pull/1'");
    let launched = &fake.bodies("POST", "/v0/agents")[0];
    assert_eq!(launched["source"]["ref"], "dev");
    assert_eq!(launched["target"]["autoCreatePr"], true);
    browser.click(".run-more summary");
    browser.sees(".run-events", "finished");
    browser.until("return !document.querySelector('.run-title b')");
}

#[test]
fn a_form_that_cannot_work_says_why_and_a_run_is_stopped_from_the_page() {
    let runtime = Runtime::new().unwrap();
    let (home, fake) = cloud_home(&runtime, Script::endless());
    let browser = sign_in(&home, PHONE);
    open_runs(&browser);
    browser.click(".launch-button");
    browser.write("[name=prompt]", "x");
    browser.write("[name=repository]", "/nonsense here");
    browser.script("document.querySelector('.launch').noValidate = true; return true");
    browser.click(".launch .primary");
    browser.sees(".field-error", "not the URL of a repository");
    browser.script(
        "document.querySelector('[name=repository]').value = 'https://github.com/acme/site'; return true",
    );
    browser.click(".launch .primary");
    browser.sees(".run[data-state=running] .run-place", "running");
    browser.click_text(".run .text-button", "Stop");
    browser.sees(".run[data-state=cancelled]", "cancelled");
    assert_eq!(fake.count("POST", "/stop"), 1);
}

/// Returns the process that drives the run of this home.
fn driver_of(home: &Home, verb: &str) -> Option<rustix::process::Pid> {
    let place = format!("CUEME_HOME={}", home.path().display());
    let drives = |folder: &PathBuf| {
        let environment = fs::read(folder.join("environ")).unwrap_or_default();
        let is_set = |wanted: &str| {
            environment
                .split(|byte| *byte == 0)
                .any(|set| set.starts_with(wanted.as_bytes()))
        };
        let command = fs::read(folder.join("cmdline")).unwrap_or_default();
        is_set(&place) && command.windows(verb.len()).any(|word| word == verb.as_bytes())
    };
    let folders = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let found = folders.into_iter().find(drives)?;
    rustix::process::Pid::from_raw(found.file_name()?.to_str()?.parse().ok()?)
}

#[test]
fn a_run_whose_driver_died_is_unattended_and_the_page_takes_it_over_and_stops_it() {
    let runtime = Runtime::new().unwrap();
    let (home, fake) = cloud_home(&runtime, Script::endless());
    let browser = sign_in(&home, DESKTOP);
    open_runs(&browser);
    browser.click(".launch-button");
    browser.write("[name=prompt]", "x");
    browser.click(".launch .primary");
    browser.sees(".run[data-state=running] .run-place", "running");
    browser.sees(".run-mark", "▶");
    let driver = eventually("the driver of the run", || driver_of(&home, "launch"));
    // Without a key the broker cannot take the run over by itself.
    let key = home.path().join("api.key");
    fs::rename(&key, key.with_extension("away")).unwrap();
    rustix::process::kill_process(driver, rustix::process::Signal::KILL).unwrap();
    let (_, _, error) = eventually("a run that is unattended", || {
        runs(&home).pop().filter(|(_, status, _)| status == "UNATTENDED")
    });
    assert!(error.unwrap().contains("cueme cloud watch "), "{:?}", runs(&home));
    browser.sees(".run[data-state=left] .run-place", "unattended");
    browser.sees(".run-mark", "⚠");
    browser.sees(".run-state", "unattended");
    for button in ["Take over", "Stop"] {
        browser.click_text(".run .text-button", button);
        browser.sees(".toast", "CURSOR_API_KEY");
        browser.until("return !document.querySelector('.toast')");
    }
    assert_eq!(fake.count("POST", "/stop"), 0);
    fs::rename(key.with_extension("away"), &key).unwrap();
    browser.click_text(".run .text-button", "Take over");
    browser.sees(".run[data-state=running] .run-place", "running");
    eventually("the driver of the run", || driver_of(&home, "watch"));
    browser.click_text(".run .text-button", "Stop");
    browser.sees(".run[data-state=cancelled] .run-mark", "■");
    assert_eq!(fake.count("POST", "/stop"), 1);
    browser.until("return document.querySelectorAll('.run .text-button').length === 1");
}

#[test]
fn a_run_that_nobody_drives_is_stopped_from_the_page_and_its_agent_does_not_work_any_more() {
    let runtime = Runtime::new().unwrap();
    let (home, fake) = cloud_home(&runtime, Script::endless());
    let key = home.path().join("api.key");
    home.run(&["agents"]).expect(0);
    let mut command = home.command(&["cloud", "launch", "x"]);
    command.env("CURSOR_API_KEY", API_KEY);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut driver = command.spawn().unwrap();
    eventually("a run that goes on", || {
        runs(&home).pop().filter(|(_, status, _)| status == "RUNNING")
    });
    fs::rename(&key, key.with_extension("away")).unwrap();
    driver.kill().unwrap();
    driver.wait().unwrap();
    eventually("a run that is unattended", || {
        runs(&home).pop().filter(|(_, status, _)| status == "UNATTENDED")
    });
    let browser = sign_in(&home, DESKTOP);
    browser.sees(".groups", "Working");
    open_runs(&browser);
    browser.sees(".run[data-state=left]", "Stop");
    // With its key back, the broker would soon drive the run itself.
    fs::rename(key.with_extension("away"), &key).unwrap();
    browser.click_text(".run[data-state=left] .text-button", "Stop");
    browser.sees(".run[data-state=cancelled] .run-place", "STOPPED");
    assert_eq!(fake.count("POST", "/stop"), 1);
    let agents = home.run(&["agents", "--json"]).expect(0).json();
    assert_eq!(agents.as_array().unwrap().len(), 1);
    browser.sees(".groups", "Idle");
    browser.until("return !document.querySelector('.groups').textContent.includes('Working')");
}

/// A home in which `agent` is the double of Cursor's CLI, for the broker too.
struct Stage {
    home: Home,
}

impl Stage {
    fn new() -> Self {
        let stage = Self {
            home: Home::created(),
        };
        fs::create_dir(stage.home.path().join("bin")).unwrap();
        let bin = stage.home.path().join("bin");
        symlink(env!("CARGO_BIN_EXE_fake-cursor-agent"), bin.join("agent")).unwrap();
        symlink(cueme_tests::cueme(), bin.join("cueme")).unwrap();
        fs::create_dir(stage.project()).unwrap();
        // The broker searches programs on the `PATH` of the process that started it.
        assert!(stage.command(&["agents"]).output().unwrap().status.success());
        stage
    }

    fn project(&self) -> PathBuf {
        self.home.path().join("project")
    }

    fn command(&self, words: &[&str]) -> Command {
        let bin = self.home.path().join("bin");
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        let mut command = self.home.command(words);
        command
            .current_dir(self.project())
            .env("PATH", path)
            .env("HOME", self.home.path())
            .env("CURSOR_CONFIG_DIR", self.home.path().join(".cursor"))
            .env_remove("CURSOR_API_KEY")
            .env("FAKE_CURSOR_SCENARIO", "tools")
            .env("FAKE_CURSOR_HOME", self.home.path().join(".cursor"))
            .env("FAKE_CURSOR_LOG", self.home.path().join("log"));
        command
    }

    /// Starts a call.
    fn start(&self, words: &[&str]) -> Client {
        Client::start(&mut self.command(words), b"")
    }

    fn log(&self) -> String {
        fs::read_to_string(self.home.path().join("log")).unwrap_or_default()
    }
}

#[test]
fn a_run_on_this_machine_shows_its_tools_and_is_resumed_from_the_page() {
    let stage = Stage::new();
    let running = stage.start(&["agent", "run", "--json", "fix the build"]);
    decline(&stage.home);
    running.finish().expect(0);
    let browser = sign_in(&stage.home, DESKTOP);
    open_runs(&browser);
    browser.sees(".run[data-state=succeeded] .run-title", "fix the build");
    browser.sees(".run-place", "this machine");
    browser.click(".run-more summary");
    browser.sees(".run-events [data-what=tool]", "Bash");
    let before = stage.log().lines().count();
    browser.click_text(".run .text-button", "Resume");
    browser.write("dialog textarea.input", "now the docs");
    browser.click_text("dialog .primary", "Continue");
    browser.sees(".run .run-title", "now the docs");
    decline(&stage.home);
    browser.until("return document.querySelectorAll('.run[data-state=succeeded]').length === 2");
    let resumed = stage.log().lines().nth(before).unwrap().to_owned();
    assert!(resumed.contains("--resume"), "{resumed}");
}

#[test]
fn the_button_that_ends_the_run_stands_beside_the_questions_of_a_run_and_sends_the_last_words() {
    let stage = Stage::new();
    let other = stage.home.join_as("terminal");
    let (waiting, cue) = stage.home.ask(&other, "Which one?", None);
    let browser = sign_in(&stage.home, PHONE);
    browser.click_text(".row-name", &other);
    browser.sees(".decline", "Decline");
    browser.until("return !document.querySelector('.end-run')");
    stage.home.run(&["answer", &cue, "A"]).expect(0);
    waiting.finish().expect(0);
    let running = stage.start(&["agent", "run", "--json", "fix the build"]);
    let agent = eventually("a question", || {
        Some(stage.home.inbox().first()?["agent_id"].as_str()?.to_owned())
    });
    browser.script(&format!("location.hash = '#/agent/{agent}'"));
    browser.sees(".end-run", "Finish and end the run");
    browser.write(".composer-text", "push it");
    browser.click(".end-run");
    running.finish().expect(0);
    let log = stage.log();
    assert!(log.lines().last().unwrap().contains("push it"), "{log}");
    assert_eq!(runs(&stage.home)[0].1, "FINISHED");
}

#[test]
fn an_agent_is_linked_to_its_chat_in_cursor_which_can_only_be_read() {
    let stage = Stage::new();
    let folder = stage
        .home
        .path()
        .join(".cursor/chats")
        .join(project_id(&stage.project()).unwrap())
        .join(CHAT_ID);
    fs::create_dir_all(&folder).unwrap();
    let mut builder = StoreBuilder::new(CHAT_ID);
    builder.turn(
        user("make it <i>faster</i>", "m1"),
        vec![shell("ls", "a.txt\n", 0), assistant("It is faster now.")],
    );
    drop(builder.write(&folder.join("store.db")));
    let mut joining = stage.command(&["join", "cursor"]);
    assert!(
        joining
            .env("CUEME_SESSION", CHAT_ID)
            .output()
            .unwrap()
            .status
            .success()
    );
    let agents = stage.home.run(&["agents", "--json"]).expect(0).json();
    let agent = agents[0]["agent_id"].as_str().unwrap();
    let browser = sign_in(&stage.home, DESKTOP);
    browser.click_text(".row-name", agent);
    browser.click(".chat-button");
    browser.sees("dialog h2", "Chat in Cursor");
    browser.sees(".chat-message[data-role=user]", "make it <i>faster</i>");
    browser.sees(".chat-message[data-role=assistant]", "It is faster now.");
    browser.click(".chat-tool summary");
    browser.sees(".chat-tool", "a.txt");
    assert_eq!(
        browser.count("dialog textarea, dialog input"),
        0,
        "nothing can be written"
    );
    browser.until("return !document.querySelector('.chat i')");
}
