//! A session of a host has one agent, whether it is joined by a hook, in the host's shell or as an MCP tool.
//!
//! The host is a process of its own that starts all three, as real hosts do: the hook and the command through a shell,
//! the MCP server directly.

use std::process::{Command, Stdio};

use cueme_tests::{Home, cueme};
use serde_json::{Value, json};

/// Plays a host: starts what its steps say and prints what each of them wrote.
const HOST: &str = r#"
import json, os, subprocess, sys

def mcp(binary, call):
    server = subprocess.Popen([binary, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    def say(message):
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        server.stdin.flush()
    say({"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "host", "version": "1"}}})
    server.stdout.readline()
    say({"method": "notifications/initialized"})
    say({"id": 2, "method": "tools/call", "params": call})
    reply = json.loads(server.stdout.readline())
    server.stdin.close()
    server.wait()
    return reply["result"]["content"][0]["text"]

written = []
for step in json.loads(sys.argv[2]):
    environment = {**os.environ, **step.get("env", {})}
    if "mcp" in step:
        os.environ.update(step.get("env", {}))
        written.append(mcp(sys.argv[1], step["mcp"]))
    elif "host" in step:
        inner = [sys.executable, "-c", open("/proc/self/cmdline").read().split("\0")[2], sys.argv[1], json.dumps(step["host"])]
        ended = subprocess.run(inner, env=environment, text=True, stdout=subprocess.PIPE)
        written.append(json.loads(ended.stdout))
    else:
        ended = subprocess.run(step["shell"], shell=True, env=environment, text=True,
            input=step.get("input", ""), stdout=subprocess.PIPE)
        written.append(ended.stdout)
print(json.dumps(written))
"#;

/// Runs a host to its end and returns the agent that each step told.
fn host(home: &Home, steps: &Value) -> Value {
    let mut command = Command::new("python3");
    command
        .args(["-c", HOST])
        .arg(cueme())
        .arg(steps.to_string())
        .env("CUEME_HOME", home.path())
        .current_dir(home.path())
        .stderr(Stdio::inherit());
    for variable in [
        "CUEME_SESSION",
        "CUEME_AGENT_ID",
        "CUEME_TURN",
        "CLAUDE_CODE_SESSION_ID",
        "CODEX_THREAD_ID",
        "CURSOR_VERSION",
    ] {
        command.env_remove(variable);
    }
    let output = command.output().unwrap();
    agents(&serde_json::from_slice(&output.stdout).unwrap())
}

/// Replaces what was written by the agent id in it.
fn agents(written: &Value) -> Value {
    match written {
        Value::Array(steps) => steps.iter().map(agents).collect(),
        Value::String(text) => {
            let rest = ["agent_id=", "agent_id is "]
                .iter()
                .find_map(|words| text.split_once(words))
                .unwrap_or_else(|| panic!("no agent in {text:?}"))
                .1;
            let id: String = rest
                .chars()
                .take_while(|c| c.is_ascii_alphanumeric() || *c == '-')
                .collect();
            json!(id)
        }
        other => panic!("{other}"),
    }
}

fn hook(home: &Home, runtime: &str, session: &str, source: &str) -> Value {
    let input = json!({
        "session_id": session,
        "cwd": home.path(),
        "hook_event_name": "SessionStart",
        "source": source,
    });
    json!({
        "shell": format!("{} hook {runtime} session_start", cueme().display()),
        "input": input.to_string(),
    })
}

fn shell(runtime: &str) -> Value {
    json!({ "shell": format!("{} join {runtime}", cueme().display()) })
}

fn tool(runtime: &str, meta: Value) -> Value {
    json!({ "mcp": { "name": "join", "arguments": { "agent_runtime": runtime }, "_meta": meta } })
}

fn with(mut step: Value, variable: &str, value: &str) -> Value {
    step["env"] = json!({ variable: value });
    step
}

fn are_one(agents: &Value) -> bool {
    let agents = agents.as_array().unwrap();
    agents.iter().all(|agent| *agent == agents[0])
}

fn are_all_different(agents: &Value) -> bool {
    let agents: Vec<&str> = agents
        .as_array()
        .unwrap()
        .iter()
        .map(|id| id.as_str().unwrap())
        .collect();
    agents
        .iter()
        .enumerate()
        .all(|(place, id)| !agents[..place].contains(id))
}

#[test]
fn hook_shell_and_mcp_of_one_session_are_one_agent() {
    let home = Home::created();
    for runtime in [
        "claude_code",
        "codex",
        "gemini_cli",
        "copilot_cli",
        "opencode",
        "qwen_code",
        "droid",
    ] {
        let session = format!("sess-{runtime}");
        let found = host(
            &home,
            &json!([
                hook(&home, runtime, &session, "startup"),
                shell(runtime),
                tool(runtime, json!({})),
                shell(runtime),
            ]),
        );
        assert!(are_one(&found), "{runtime}: {found}");
    }
}

#[test]
fn two_hosts_at_once_are_two_agents() {
    let home = Home::created();
    let found = host(
        &home,
        &json!([
            { "host": [hook(&home, "codex", "one", "startup"), shell("codex"), tool("codex", json!({}))] },
            { "host": [hook(&home, "codex", "two", "startup"), shell("codex"), tool("codex", json!({}))] },
        ]),
    );
    assert!(are_one(&found[0]) && are_one(&found[1]), "{found}");
    assert_ne!(found[0][0], found[1][0]);
}

#[test]
fn sessions_of_one_process_are_told_apart_or_not_joined_to_any() {
    let home = Home::created();
    let found = host(
        &home,
        &json!([
            hook(&home, "codex", "one", "startup"),
            hook(&home, "codex", "two", "startup"),
            shell("codex"),
            tool("codex", json!({})),
        ]),
    );
    assert!(are_all_different(&found), "{found}");
    let named = host(
        &home,
        &json!([
            hook(&home, "codex", "three", "startup"),
            hook(&home, "codex", "four", "startup"),
            with(shell("codex"), "CODEX_THREAD_ID", "three"),
            tool("codex", json!({ "turn": "{\"session\":\"four\"}" })),
            with(shell("codex"), "CUEME_SESSION", "four"),
            // A thread that no hook has told of is none of the two.
            with(shell("codex"), "CODEX_THREAD_ID", "five"),
        ]),
    );
    assert_eq!(named[2], named[0]);
    assert_eq!(named[3], named[1]);
    assert_eq!(named[4], named[1]);
    assert!(named[5] != named[0] && named[5] != named[1], "{named}");
}

#[test]
fn a_session_that_takes_the_place_of_another_takes_its_calls_too() {
    let home = Home::created();
    let found = host(
        &home,
        &json!([
            hook(&home, "claude_code", "before", "startup"),
            hook(&home, "claude_code", "after", "clear"),
            shell("claude_code"),
            tool("claude_code", json!({})),
        ]),
    );
    assert_ne!(found[0], found[1]);
    assert_eq!((&found[2], &found[3]), (&found[1], &found[1]));
}

#[test]
fn a_host_within_another_hosts_shell_is_never_taken_for_it() {
    let home = Home::created();
    let outer = hook(&home, "claude_code", "outer", "startup");
    let found = host(
        &home,
        &json!([
            outer,
            // Another runtime, with and without what the outer hook left in the environment.
            with(shell("codex"), "CUEME_SESSION", "outer"),
            { "host": [shell("codex"), tool("codex", json!({}))], "env": { "CUEME_SESSION": "outer" } },
            // The same runtime, whose hooks did not run.
            { "host": [tool("claude_code", json!({}))], "env": { "CUEME_SESSION": "outer" } },
            // The same runtime, whose hooks did run.
            { "host": [hook(&home, "claude_code", "inner", "startup"), shell("claude_code"), tool("claude_code", json!({}))],
              "env": { "CUEME_SESSION": "outer" } },
        ]),
    );
    assert_ne!(found[1], found[0]);
    assert!(
        found[2]
            .as_array()
            .unwrap()
            .iter()
            .all(|agent| *agent != found[0]),
        "{found}"
    );
    assert_ne!(found[3][0], found[0]);
    assert!(are_one(&found[4]) && found[4][0] != found[0], "{found}");
}
