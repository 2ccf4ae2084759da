//! Two brokers with homes of their own on one database: the agent asks at the first, and the human's page is of the second.

use rustix::process::Signal;

use crate::driver::{Browser, DESKTOP, key, sign_in};
use cueme_test_kit::postgres::Server;
use cueme_tests::{Client, Home, eventually};

/// The composer of the question that is answered.
const TEXT: &str = ".entry.answering .composer-text";

/// The agent's machine and the human's, whose page shows the agent.
struct Team {
    server: &'static Server,
    url: String,
    agents: Home,
    agent: String,
    browser: Browser,
    humans: Home,
}

impl Team {
    fn new() -> Option<Self> {
        let server = Server::start()?;
        let url = server.database();
        let home = || {
            let home = Home::created();
            home.configure(&format!("store = \"{url}\"\n"));
            home.ok(&["inbox"]);
            home
        };
        let (agents, humans) = (home(), home());
        let agent = agents.join();
        let browser = sign_in(&humans, DESKTOP);
        browser.click_text(".row-name", &agent);
        Some(Self {
            server,
            url,
            agents,
            agent,
            browser,
            humans,
        })
    }

    /// Asks at the agent's machine, and waits until the page shows the question.
    fn ask(&self, prompt: &str, payload: Option<&str>) -> Client {
        let client = self.agents.start_cue(&self.agent, prompt, payload);
        self.shows(prompt);
        client
    }

    fn shows(&self, prompt: &str) {
        self.browser.sees(".entry.answering .for", prompt);
        self.browser.misses(".answering [aria-disabled=true]");
        self.browser.sees(".badge", "Waiting");
    }

    fn answer(&self, text: &str) {
        self.browser.write(TEXT, text);
        self.browser.press(key::ENTER);
    }

    /// Waits until the page shows that the agent has everything.
    fn is_settled(&self) {
        self.browser.misses(".entry[data-outcome=open]");
        let waiting = "SELECT count(*) FROM cues WHERE delivery < 2 AND outcome <> 4";
        eventually("every outcome is acknowledged", || {
            (self.server.run(&self.url, waiting) == "0").then_some(())
        });
    }
}

/// Checks what an agent printed: this, once, and not as a repeat.
#[track_caller]
fn printed(client: Client, wanted: &str) -> String {
    let run = client.finish();
    let stdout = run.printed(0).to_owned();
    assert_eq!(
        stdout.matches(wanted).count(),
        1,
        "{stdout:?} has not {wanted:?} once"
    );
    assert!(!stdout.contains("repeat"), "{stdout:?}");
    stdout
}

#[test]
fn a_question_of_another_broker_is_answered_taken_back_and_declined_on_the_page() {
    let Some(team) = Team::new() else { return };
    let client = team.ask("Which port?", None);
    team.answer("8080");
    printed(client, "8080\n");
    team.browser.sees(".reply .delivery", "Received");
    team.is_settled();

    let client = team.ask("Delete the table?", None);
    team.answer("yes");
    team.browser.click_text(".toast .text-button", "Undo");
    team.browser.sees(".badge", "Waiting");
    // The words are back in the database, too, not only on the page that sent them.
    team.browser.reload();
    team.browser
        .until("return document.querySelector('.entry.answering .composer-text')?.value === 'yes'");
    team.browser.sees(".badge", "Waiting");
    assert!(client.is_running());
    team.answer(", but keep a copy");
    printed(client, "yes, but keep a copy\n");
    team.is_settled();

    let client = team.ask("May I push?", None);
    team.browser.click(".decline");
    team.browser.write("dialog textarea", "not today");
    team.browser.click("dialog .primary");
    printed(client, "declined: not today\n");
    team.is_settled();
}

#[test]
fn a_note_a_pause_a_password_and_a_file_go_from_the_page_to_an_agent_of_another_broker() {
    let Some(team) = Team::new() else { return };
    team.browser
        .write(".composer[data-target=message] .composer-text", "mind the tests");
    team.browser.press(key::ENTER);
    team.browser.sees(".queue-text", "mind the tests");
    let pausing = team
        .agents
        .start_with(&["pause", &team.agent, "Look at the plan"], "");
    team.shows("Look at the plan");
    // On a wide screen the button shows its keys, too.
    team.browser
        .press(&format!("{}{}{}", key::CONTROL, key::ENTER, key::RELEASE));
    let told = printed(pausing, "Continue\n");
    assert!(told.contains("mind the tests"), "{told}");
    team.is_settled();

    let form = r#"{"type":"form","fields":[{"label":"Key","kind":"password"}]}"#;
    let client = team.ask("Which key?", Some(form));
    team.browser.write(".field input", "hunter2-secret");
    team.browser.click(".send");
    printed(client, "hunter2-secret");
    team.browser.sees(".reply", "hidden");
    team.is_settled();
    let left = "SELECT count(*) FROM decisions WHERE text LIKE '%hunter2%' OR answer LIKE '%hunter2%'";
    assert_eq!(team.server.run(&team.url, left), "0");

    let client = team.ask("How should it look?", None);
    let sketch = team.humans.scratch().join("sketch 图.txt");
    std::fs::write(&sketch, "like this").unwrap();
    team.browser.write("input[type=file]", sketch.to_str().unwrap());
    team.browser.sees(".attachment", "sketch");
    team.browser.until(
        "return ![...document.querySelectorAll('.attachment')].some((el) => el.innerText.includes('uploading'))",
    );
    // The agent's machine has nothing of the human's disk.
    client.signal(Signal::STOP);
    team.answer("as drawn");
    team.browser.sees(".reply", "as drawn");
    let attachments = team.humans.path().join("data/attachments");
    std::fs::rename(&attachments, attachments.with_extension("gone")).unwrap();
    client.signal(Signal::CONT);
    let told = printed(client, "as drawn\n");
    let path = told.lines().find(|line| line.starts_with('/')).unwrap();
    assert!(path.starts_with(team.agents.path().to_str().unwrap()), "{told}");
    assert_eq!(std::fs::read_to_string(path).unwrap(), "like this");
    team.is_settled();
}

#[test]
fn brokers_that_are_killed_before_and_after_the_answer_lose_nothing() {
    let Some(team) = Team::new() else { return };
    let client = team.ask("Asked of a broker that dies?", None);
    team.agents.kill_broker();
    team.answer("to the next one");
    printed(client, "to the next one\n");
    team.is_settled();

    // The human's broker dies with an answer that can still be taken back: it is held, and another one releases it.
    let client = team.ask("Answered at a broker that dies?", None);
    team.answer("by the other one");
    team.browser.sees(".toast", "Undo");
    team.humans.kill_broker();
    printed(client, "by the other one\n");
    team.humans.ok(&["inbox"]);
    team.browser.misses(".banner");
    team.is_settled();
    team.browser.sees(".reply", "by the other one");
}

#[test]
fn what_an_agent_did_not_confirm_is_repeated_and_marked() {
    let Some(team) = Team::new() else { return };
    let client = team.ask("Printed, and never confirmed?", None);
    // It was told, and is killed before it says that it has printed it.
    client.signal(Signal::STOP);
    team.answer("once or twice");
    let handed = "SELECT count(*) FROM cues WHERE delivery = 1";
    eventually("it is handed over", || {
        (team.server.run(&team.url, handed) == "1").then_some(())
    });
    client.signal(Signal::KILL);
    team.agents.kill_broker();
    let again = team
        .agents
        .start_cue(&team.agent, "Printed, and never confirmed?", None)
        .finish();
    let told = again.printed(0);
    assert!(told.contains("once or twice"), "{told}");
    assert!(told.contains("repeat"), "{told}");
    team.is_settled();
}
