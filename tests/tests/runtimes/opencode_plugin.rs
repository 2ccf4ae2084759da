//! Our plugin for opencode, in Node.js, on messages that opencode 1.18.33 recorded.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use cueme_tests::{Home, eventually, next_millisecond, not_run_without};

/// Loads the plugin, plays one idle session to it, and ends when the plugin is done with it or is told to.
const PLAYER: &str = r#"
const [plugin, messages] = process.argv.slice(2);
const { readFileSync } = await import("node:fs");
const { Cueme } = await import(plugin);
const data = JSON.parse(readFileSync(messages));
const sessionID = data[0].info.sessionID;
const client = { session: {
  get: async () => ({ data: { id: sessionID } }),
  messages: async () => ({ data }),
  prompt: async ({ body }) => console.log(body.parts[0].text),
} };
const { event } = await Cueme({ client, directory: process.cwd() });
await event({ event: { type: "session.idle", properties: { sessionID } } });
"#;

struct Scene {
    home: Home,
    messages: Value,
}

impl Scene {
    /// A person with opencode connected, and a session whose last call ended like this.
    fn new(exit: i64) -> Self {
        let home = Home::created();
        let connected = home
            .command(&["init", "opencode", "--yes"])
            .env("HOME", home.path().join("person"))
            .env_remove("XDG_CONFIG_HOME")
            .output()
            .unwrap();
        assert!(connected.status.success(), "{connected:?}");
        let path = format!(
            "{}/../adapter-core/runtimes/tests/transcripts/opencode.messages.json",
            env!("CARGO_MANIFEST_DIR")
        );
        let mut messages: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        // Words follow the call in a message of their own, as in any turn.
        let call = messages
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .flat_map(|message| message["parts"].as_array_mut().unwrap().iter_mut())
            .rfind(|part| part["type"] == "tool")
            .unwrap();
        call["state"]["metadata"]["exit"] = json!(exit);
        Self { home, messages }
    }

    fn session(&self) -> String {
        self.messages[0]["info"]["sessionID"].as_str().unwrap().to_owned()
    }

    fn agent(&self) -> String {
        let input = json!({ "session_id": self.session(), "cwd": "/app", "prompt": "fix it" });
        let hook = self.home.start_hook("opencode", "prompt_submit", &input);
        hook.finish().expect(0);
        next_millisecond();
        let agents = self.home.run(&["agents", "--json"]).expect(0).json();
        agents[0]["agent_id"].as_str().unwrap().to_owned()
    }

    fn play(&self) -> Command {
        let messages = self.home.path().join("messages.json");
        fs::write(&messages, self.messages.to_string()).unwrap();
        let player = self.home.path().join("player.mjs");
        fs::write(&player, PLAYER).unwrap();
        let plugin: PathBuf = self.home.path().join("person/.config/opencode/plugins/cueme.js");
        // Node takes a file for a module by its name.
        let module = self.home.path().join("plugin.mjs");
        fs::copy(plugin, &module).unwrap();
        let mut command = Command::new("node");
        command
            .arg(player)
            .arg(module)
            .arg(messages)
            .current_dir(self.home.path())
            .env("CUEME_HOME", self.home.path());
        command
    }

    fn inbox(&self) -> Vec<Value> {
        self.home.inbox()
    }
}

fn has_node() -> bool {
    let found = Command::new("node").arg("--version").output().is_ok();
    if !found {
        not_run_without("node");
    }
    found
}

#[test]
fn the_whole_turn_counts_not_only_its_last_message() {
    if !has_node() {
        return;
    }
    for (exit, is_asked) in [(0, false), (2, true)] {
        let mut scene = Scene::new(exit);
        let agent = scene.agent();
        let text = scene
            .messages
            .to_string()
            .replace("cueme cue x -", &format!("cueme cue {agent} -"));
        scene.messages = serde_json::from_str(&text).unwrap();
        let (asking, cue) = scene.home.ask(&agent, "Go?", None);
        scene.home.run(&["answer", &cue, "yes"]).expect(0);
        asking.finish().expect(0);
        let mut host = scene.play().spawn().unwrap();
        if is_asked {
            let asked = eventually("a question", || scene.inbox().pop());
            assert!(
                asked["prompt"].as_str().unwrap().starts_with("All done."),
                "{asked}"
            );
            scene
                .home
                .run(&["decline", asked["cue_id"].as_str().unwrap()])
                .expect(0);
        }
        assert!(host.wait().unwrap().success());
        assert!(scene.inbox().is_empty());
        let history = scene.home.run(&["history", "--json"]).expect(0).json();
        assert_eq!(
            history.as_array().unwrap().len(),
            if is_asked { 2 } else { 1 },
            "{history}"
        );
    }
}

#[test]
fn a_host_that_ends_takes_the_hook_of_its_plugin_along() {
    if !has_node() {
        return;
    }
    let scene = Scene::new(2);
    let mut host = scene.play().spawn().unwrap();
    let asked = scene.home.wait_for_one(|_| true);
    host.kill().unwrap();
    host.wait().unwrap();
    eventually("an empty inbox", || scene.inbox().is_empty().then_some(()));
    let shown = scene
        .home
        .run(&["show", asked["cue_id"].as_str().unwrap(), "--json"])
        .expect(0)
        .json();
    assert_eq!(shown["outcome"], "cancelled", "{shown}");
}
