//! `cueme hook` as hosts call it: their JSON on stdin, the real broker behind it, a human who answers.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use cueme_tests::{Client, Home, envelope, eventually, next_millisecond};

/// The hosts whose shapes are tried at every event.
const HOSTS: [&str; 3] = ["claude_code", "cursor", "codex"];

/// Returns what a host writes to a hook, with a folder and a transcript of ours.
fn recorded(home: &Home, host: &str, event: &str) -> Value {
    let path = format!(
        "{}/../adapter-core/runtimes/tests/hooks/{host}.{event}.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let mut input: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    input["transcript_path"] = json!(transcript(home));
    input
}

fn transcript(home: &Home) -> PathBuf {
    home.path().join("transcript.jsonl")
}

/// Writes a transcript in which the agent was asked, ran a command, and said something.
fn spoke(home: &Home, command: &str, message: &str) {
    let lines = [
        json!({ "type": "user", "message": { "role": "user", "content": "fix it" } }),
        json!({ "type": "assistant", "uuid": "u1", "message": { "role": "assistant", "content": [
            { "type": "tool_use", "id": "t1", "name": "Bash", "input": { "command": command } }] } }),
        json!({ "type": "user", "message": { "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "t1", "content": "ok" }] } }),
        json!({ "type": "assistant", "uuid": "u2", "message": { "role": "assistant", "content": [
            { "type": "text", "text": message }] } }),
    ];
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    fs::write(transcript(home), text.join("\n") + "\n").unwrap();
}

fn run(home: &Home, host: &str, event: &str, input: &Value) -> Value {
    let ended = home.start_hook(host, event, input).finish().expect(0);
    ended.json()
}

/// Waits until a hook's question is open and waited for.
fn hooks_question(home: &Home) -> Value {
    home.wait_for_one(|cue| cue["origin"] == "hook")
}

fn id_of(cue: &Value) -> String {
    cue["cue_id"].as_str().unwrap().to_owned()
}

fn inbox_length(home: &Home) -> usize {
    let inbox = home.run(&["inbox", "--json"]).expect(0).json();
    inbox.as_array().unwrap().len()
}

/// Returns the words with which a host lets the agent go on.
fn continuation(host: &str, reply: &Value) -> String {
    match host {
        "cursor" => reply["followup_message"].as_str(),
        _ => {
            assert_eq!(reply["decision"], "block", "{reply}");
            reply["reason"].as_str()
        }
    }
    .unwrap_or_else(|| panic!("no continuation in {reply}"))
    .to_owned()
}

/// Returns the agent that a session start handed over.
fn agent_of(home: &Home, host: &str) -> String {
    let reply = run(
        home,
        host,
        "session_start",
        &recorded(home, host, "session_start"),
    );
    let context = match host {
        "cursor" => reply["additional_context"].as_str(),
        _ => reply["hookSpecificOutput"]["additionalContext"].as_str(),
    };
    let context = context.unwrap_or_else(|| panic!("no context in {reply}"));
    let (_, rest) = context.split_once("your agent_id is ").unwrap();
    rest.split('.').next().unwrap().to_owned()
}

#[test]
fn a_forgetful_agent_is_continued_with_the_humans_words() {
    for host in HOSTS {
        let home = Home::created();
        spoke(&home, "make test", "Done. The login test passes.");
        let hook = home.start_hook(host, "stop", &recorded(&home, host, "stop"));
        let cue = hooks_question(&home);
        assert!(
            cue["prompt"]
                .as_str()
                .unwrap()
                .starts_with("Done. The login test passes.\n"),
            "{cue}"
        );
        home.run(&["answer", &id_of(&cue), "now the logout test"])
            .expect(0);
        let reply = hook.finish().expect(0).json();
        let text = continuation(host, &reply);
        assert!(text.starts_with("now the logout test\n"), "{host}: {text}");
        let shown = home.run(&["show", &id_of(&cue), "--json"]).expect(0).json();
        assert_eq!(shown["delivery"], "acknowledged", "{host}");
    }
}

#[test]
fn an_obedient_agent_may_end_its_turn() {
    for host in HOSTS {
        let home = Home::created();
        let agent = agent_of(&home, host);
        let asking = home.start_with(&["cue", &agent, "-"], &envelope("Anything else?", None));
        let cue = home.wait_for("Anything else?", 1);
        home.run(&["answer", &cue, "no, thanks"]).expect(0);
        asking.finish().expect(0);
        spoke(
            &home,
            &format!("cueme cue {agent} - <<'E'\n<cueme_prompt>\nAnything else?\n</cueme_prompt>\nE"),
            "Goodbye.",
        );
        let reply = run(&home, host, "stop", &recorded(&home, host, "stop"));
        assert_eq!(reply, json!({}), "{host}");
        assert_eq!(inbox_length(&home), 0);
    }
}

#[test]
fn a_delivery_in_an_earlier_turn_does_not_count_for_this_one() {
    let home = Home::created();
    let agent = agent_of(&home, "claude_code");
    let asking = home.start_with(&["cue", &agent, "-"], &envelope("Go?", None));
    home.run(&["answer", &home.wait_for("Go?", 1), "yes"]).expect(0);
    asking.finish().expect(0);
    next_millisecond();
    run(
        &home,
        "claude_code",
        "prompt_submit",
        &recorded(&home, "claude_code", "prompt_submit"),
    );
    // The last call looks like a cue, but it never asked anything in this turn.
    spoke(&home, &format!("cueme cue {agent} - < missing.txt"), "Done.");
    let hook = home.start_hook("claude_code", "stop", &recorded(&home, "claude_code", "stop"));
    let cue = hooks_question(&home);
    home.run(&["decline", &id_of(&cue)]).expect(0);
    assert_eq!(hook.finish().expect(0).json(), json!({}));
}

#[test]
fn a_question_whose_wait_was_lost_is_waited_for_instead_of_a_second_one() {
    let home = Home::created();
    let agent = agent_of(&home, "claude_code");
    home.ask_for("1ms", &agent, "Which port?", None).expect(75);
    spoke(&home, &format!("cueme cue {agent} - < question.txt"), "I wait.");
    let hook = home.start_hook("claude_code", "stop", &recorded(&home, "claude_code", "stop"));
    let cue = home.wait_for("Which port?", 1);
    assert_eq!(inbox_length(&home), 1);
    home.run(&["answer", &cue, "8080"]).expect(0);
    let text = continuation("claude_code", &hook.finish().expect(0).json());
    assert!(text.starts_with("8080\n"), "{text}");
}

#[test]
fn a_human_who_declines_lets_the_turn_end() {
    for host in HOSTS {
        let home = Home::created();
        spoke(&home, "make test", "Done.");
        let hook = home.start_hook(host, "stop", &recorded(&home, host, "stop"));
        let cue = hooks_question(&home);
        home.run(&["decline", &id_of(&cue), "that is all"]).expect(0);
        assert_eq!(hook.finish().expect(0).json(), json!({}), "{host}");
    }
}

#[test]
fn aborted_turns_and_sub_agents_are_left_alone() {
    let home = Home::created();
    spoke(&home, "make test", "Done.");
    let mut aborted = recorded(&home, "cursor", "stop");
    aborted["status"] = json!("aborted");
    assert_eq!(run(&home, "cursor", "stop", &aborted), json!({}));
    let mut failed = recorded(&home, "cursor", "stop");
    failed["status"] = json!("error");
    assert_eq!(run(&home, "cursor", "stop", &failed), json!({}));
    let mut child = recorded(&home, "claude_code", "stop");
    child["hook_event_name"] = json!("SubagentStop");
    child["agent_id"] = json!("sub-1");
    assert_eq!(run(&home, "claude_code", "stop", &child), json!({}));
    let mut busy = recorded(&home, "claude_code", "stop");
    busy["background_tasks"] = json!([{ "id": "b1" }]);
    assert_eq!(run(&home, "claude_code", "stop", &busy), json!({}));
    assert_eq!(inbox_length(&home), 0);
}

#[test]
fn two_hooks_of_the_same_turn_ask_once_and_the_loser_passes_at_once() {
    let home = Home::created();
    spoke(&home, "make test", "Done.");
    let input = recorded(&home, "claude_code", "stop");
    let first = home.start_hook("claude_code", "stop", &input);
    let cue = hooks_question(&home);
    assert_eq!(run(&home, "claude_code", "stop", &input), json!({}));
    assert_eq!(inbox_length(&home), 1);
    home.run(&["answer", &id_of(&cue), "go on"]).expect(0);
    continuation("claude_code", &first.finish().expect(0).json());
    // One that comes after the first has finished does not repeat the human's words either.
    assert_eq!(run(&home, "claude_code", "stop", &input), json!({}));
}

#[test]
fn a_hook_that_the_host_killed_leaves_its_question_to_the_next() {
    let home = Home::created();
    spoke(&home, "make test", "Done.");
    let input = recorded(&home, "codex", "stop");
    let killed = home.start_hook("codex", "stop", &input);
    let cue = hooks_question(&home);
    killed.kill();
    home.run(&["answer", &id_of(&cue), "go on"]).expect(0);
    let text = continuation("codex", &run(&home, "codex", "stop", &input));
    assert!(text.contains("go on\n"), "{text}");
}

#[test]
fn a_broker_that_cannot_be_reached_breaks_no_host() {
    for host in HOSTS {
        for event in ["session_start", "prompt_submit", "stop"] {
            let home = Home::created();
            // Where the database should be stands a folder, so no broker can start.
            fs::create_dir_all(home.path().join("data/cueme.db")).unwrap();
            spoke(&home, "make test", "Done.");
            let started = Instant::now();
            let reply = run(&home, host, event, &recorded(&home, host, event));
            let passes = if (host, event) == ("cursor", "prompt_submit") {
                json!({ "continue": true })
            } else {
                json!({})
            };
            assert_eq!(reply, passes, "{host} {event}");
            assert!(started.elapsed() < Duration::from_secs(20));
            let log = fs::read_to_string(home.path().join("logs/hook.log")).unwrap();
            assert!(log.contains(event), "{log}");
        }
    }
}

#[test]
fn nonsense_from_a_host_or_about_one_is_logged_and_passed() {
    let home = Home::created();
    let ended = home
        .run_with(&["hook", "claude_code", "stop"], "not json")
        .expect(0);
    assert_eq!(ended.stdout, "");
    home.run_with(&["hook", "emacs", "stop"], "{}").expect(0);
    home.run_with(&["hook", "claude_code", "nap"], "{}").expect(0);
    let log = fs::read_to_string(home.path().join("logs/hook.log")).unwrap();
    assert_eq!(log.lines().count(), 3, "{log}");
}

#[test]
fn a_session_keeps_its_agent() {
    for host in HOSTS {
        let home = Home::created();
        assert_eq!(agent_of(&home, host), agent_of(&home, host), "{host}");
    }
    let home = Home::created();
    let file = home.path().join("environment");
    let mut command = home.command(&["hook", "claude_code", "session_start"]);
    let input = recorded(&home, "claude_code", "session_start").to_string();
    Client::start(command.env("CLAUDE_ENV_FILE", &file), input.as_bytes())
        .finish()
        .expect(0);
    let agent = agent_of(&home, "claude_code");
    let lines = fs::read_to_string(file).unwrap();
    assert!(
        lines.contains(&format!("export CUEME_AGENT_ID={agent}\n")),
        "{lines}"
    );
    // An agent that joins by itself in that session is the same one.
    let joined = home
        .command(&["join", "claude_code"])
        .env("CUEME_SESSION", "sess-1")
        .output()
        .unwrap();
    let joined = String::from_utf8_lossy(&joined.stdout).into_owned();
    assert!(joined.starts_with(&format!("agent_id={agent}\n")), "{joined}");
}

#[test]
fn what_the_agent_missed_comes_with_the_humans_prompt_and_open_questions_close() {
    let home = Home::created();
    let agent = agent_of(&home, "claude_code");
    for prompt in ["Which port?", "Which host?"] {
        home.ask_for("1ms", &agent, prompt, None).expect(75);
    }
    let port = id_of(&home.open("Which port?").unwrap());
    home.run(&["answer", &port, "8080"]).expect(0);
    let input = recorded(&home, "claude_code", "prompt_submit");
    let reply = run(&home, "claude_code", "prompt_submit", &input);
    let context = reply["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(
        context.contains("[outcome of your earlier question \"Which port?\"]\n8080\n"),
        "{context}"
    );
    assert!(context.contains("Which host?"), "{context}");
    assert_eq!(inbox_length(&home), 0, "the question left open was closed");
    assert_eq!(
        run(&home, "claude_code", "prompt_submit", &input),
        json!({}),
        "everything is told once"
    );
}

#[test]
fn permissions_and_native_questions_go_to_the_human() {
    let home = Home::created();
    let asked = recorded(&home, "claude_code", "permission");
    let hook = home.start_hook("claude_code", "permission", &asked);
    let cue = home.wait_for("Framework: Which framework?", 1);
    home.run(&["answer", &cue, "--select", "Axum"]).expect(0);
    let reply = hook.finish().expect(0).json();
    let decision = &reply["hookSpecificOutput"]["decision"];
    assert_eq!(decision["behavior"], "allow", "{reply}");
    assert_eq!(
        decision["updatedInput"]["answers"],
        json!({ "Which framework?": "Axum" }),
        "{reply}"
    );

    let mut command = asked;
    command["tool_name"] = json!("Bash");
    command["tool_input"] = json!({ "command": "rm -rf build" });
    for (words, behavior) in [("--confirm", "allow"), ("--cancel", "deny")] {
        let hook = home.start_hook("claude_code", "permission", &command);
        let cue = id_of(&home.wait_for_one(|cue| {
            cue["origin"] == "approval" && cue["prompt"].as_str().unwrap().contains("rm -rf build")
        }));
        home.run(&["answer", &cue, words]).expect(0);
        let reply = hook.finish().expect(0).json();
        assert_eq!(
            reply["hookSpecificOutput"]["decision"]["behavior"], behavior,
            "{reply}"
        );
    }

    command["tool_input"] = json!({ "command": "cueme join claude_code" });
    let reply = run(&home, "claude_code", "permission", &command);
    assert_eq!(reply["hookSpecificOutput"]["decision"]["behavior"], "allow");
}

fn bash_call(home: &Home, input: Value) -> Value {
    let mut call = recorded(home, "claude_code", "pre_tool");
    call["tool_name"] = json!("Bash");
    call["tool_input"] = input;
    call
}

#[test]
fn our_own_calls_pass_claude_code_and_nothing_else_is_touched() {
    let home = Home::created();
    let said = |input: Value| {
        let hook = home.start_hook("claude_code", "own_call", &bash_call(&home, input));
        hook.finish().expect(0).stdout
    };
    for command in [
        "cueme join claude_code",
        "cueme cue a-b - <<'EOF'\n<cueme_prompt>\nRun `x` for $5?\n</cueme_prompt>\n<cueme_payload>\n{\"type\":\"confirm\"}\n</cueme_payload>\nEOF",
        &format!("{} pause a-b 'look'", home.command(&[]).get_program().display()),
    ] {
        let reply: Value =
            serde_json::from_str(&said(json!({ "command": command, "description": "Ask" }))).unwrap();
        assert_eq!(
            reply["hookSpecificOutput"]["permissionDecision"], "allow",
            "{command}"
        );
    }
    for input in [
        json!({ "command": "cargo test" }),
        json!({ "command": "cueme cue a-b - <<'EOF' > ~/.profile\nx\nEOF" }),
        json!({ "command": "cueme token" }),
        json!({ "command": "/tmp/x/cueme join claude_code" }),
        json!({ "command": "make", "server": "cueme", "tool": "cue" }),
        json!({ "command": "cueme join claude_code", "dangerouslyDisableSandbox": true }),
    ] {
        assert_eq!(said(input.clone()), "", "{input}");
    }
    assert_eq!(inbox_length(&home), 0, "nobody is asked");
}

#[test]
fn our_own_calls_pass_qwen_code_where_it_would_ask() {
    let home = Home::created();
    let said = |command: &str| {
        let mut call = recorded(&home, "qwen_code", "prompt_submit");
        call["hook_event_name"] = json!("PermissionRequest");
        call["tool_name"] = json!("run_shell_command");
        call["tool_input"] = json!({ "command": command, "is_background": false });
        home.start_hook("qwen_code", "own_call", &call)
            .finish()
            .expect(0)
            .stdout
    };
    let reply: Value = serde_json::from_str(&said(
        "cueme cue a-b - <<'EOF'\n<cueme_prompt>\nRun `x` for $5?\n</cueme_prompt>\nEOF",
    ))
    .unwrap();
    assert_eq!(
        reply,
        json!({ "hookSpecificOutput": { "hookEventName": "PermissionRequest", "decision": { "behavior": "allow" } } })
    );
    for command in [
        "cargo test",
        "cueme cue a-b - <<'EOF'\nx\nEOF\nrm -rf x",
        "cueme token",
    ] {
        assert_eq!(said(command), "", "{command}");
    }
}

fn open_ids(home: &Home) -> Vec<String> {
    home.inbox().iter().map(id_of).collect()
}

/// Starts a request for approval and returns it with the id of its question.
fn asks_for_approval(home: &Home, input: Value) -> (Client, String) {
    let earlier = open_ids(home);
    let hook = home.start_hook("claude_code", "permission", &bash_call(home, input));
    let cue = eventually("one more question", || {
        open_ids(home).into_iter().find(|id| !earlier.contains(id))
    });
    (hook, cue)
}

#[test]
fn an_approval_shows_the_whole_input_and_equal_ones_are_two_questions() {
    let home = Home::created();
    let input = json!({ "command": "make", "dangerouslyDisableSandbox": true, "path": "/etc/passwd" });
    let (first, _) = asks_for_approval(&home, input.clone());
    let (second, _) = asks_for_approval(&home, input);
    let inbox = home.run(&["inbox", "--json"]).expect(0).json();
    let open = inbox.as_array().unwrap();
    assert_eq!(open.len(), 2, "{inbox}");
    for cue in open {
        let prompt = cue["prompt"].as_str().unwrap();
        for shown in ["make", "dangerouslyDisableSandbox", "/etc/passwd"] {
            assert!(prompt.contains(shown), "{prompt}");
        }
    }
    for (cue, words) in open.iter().zip(["--confirm", "--cancel"]) {
        home.run(&["answer", &id_of(cue), words]).expect(0);
    }
    let mut behaviors: Vec<Value> = [first, second]
        .into_iter()
        .map(|hook| hook.finish().expect(0).json()["hookSpecificOutput"]["decision"]["behavior"].clone())
        .collect();
    behaviors.sort_by_key(Value::to_string);
    assert_eq!(behaviors, [json!("allow"), json!("deny")]);
}

#[test]
fn a_note_waits_past_approvals_for_the_next_answer_that_the_agent_reads() {
    let home = Home::created();
    let (hook, cue) = asks_for_approval(&home, json!({ "command": "make" }));
    let agents = home.run(&["agents", "--json"]).expect(0).json();
    let agent = agents[0]["agent_id"].as_str().unwrap().to_owned();
    home.run(&["say", &agent, "mind the budget"]).expect(0);
    home.run(&["answer", &cue, "--confirm"]).expect(0);
    let allowed = hook.finish().expect(0).stdout;
    assert!(
        allowed.contains("allow") && !allowed.contains("budget"),
        "{allowed}"
    );
    let (hook, cue) = asks_for_approval(&home, json!({ "command": "make install" }));
    home.run(&["answer", &cue, "not on this machine"]).expect(0);
    let denied = hook.finish().expect(0).stdout;
    assert!(
        denied.contains("not on this machine") && !denied.contains("budget"),
        "{denied}"
    );
    // It outlives the broker, and is in the first answer to a question of the agent's own, once.
    home.run(&["broker", "restart"]).expect(0);
    let (asking, cue) = home.ask(&agent, "What next?", None);
    home.run(&["answer", &cue, "go on"]).expect(0);
    let told = asking.finish().expect(0).stdout;
    assert!(
        told.starts_with("[note, written ") && told.contains("]\nmind the budget\n\n[answer]\ngo on\n"),
        "{told}"
    );
    let (asking, cue) = home.ask(&agent, "And then?", None);
    home.run(&["answer", &cue, "stop"]).expect(0);
    assert!(asking.finish().expect(0).stdout.starts_with("stop\n"));
}

#[test]
fn a_plain_word_decides_an_approval_and_any_other_words_refuse_it() {
    let home = Home::created();
    for (words, behavior) in [
        ("yes", "allow"),
        ("ALLOW", "allow"),
        ("同意", "allow"),
        ("no", "deny"),
        ("only in build/", "deny"),
    ] {
        let (hook, cue) = asks_for_approval(&home, json!({ "command": format!("make {words}") }));
        let told = home.run(&["answer", &cue, words]).expect(0).stderr;
        assert_eq!(
            told.contains("denies the request"),
            words == "only in build/",
            "{words}: {told}"
        );
        let decision = hook.finish().expect(0).json()["hookSpecificOutput"]["decision"].clone();
        assert_eq!(decision["behavior"], behavior, "{words}");
        if words == "only in build/" {
            assert!(
                decision["message"].as_str().unwrap().contains(words),
                "{decision}"
            );
        }
    }
}

#[test]
fn a_tool_is_held_back_although_the_agent_missed_an_answer() {
    let home = Home::created();
    let agent = agent_of(&home, "claude_code");
    home.ask_for("100ms", &agent, "Which database?", None).expect(75);
    let missed = id_of(&home.open("Which database?").unwrap());
    home.run(&["answer", &missed, "SQLite"]).expect(0);
    let mut command = recorded(&home, "claude_code", "pre_tool");
    command["session_id"] = recorded(&home, "claude_code", "session_start")["session_id"].clone();
    command["tool_name"] = json!("Bash");
    command["tool_input"] = json!({ "command": "rm -rf build" });
    for (words, decision) in [("--confirm", "allow"), ("--cancel", "deny")] {
        let hook = home.start_hook("claude_code", "pre_tool", &command);
        let cue = id_of(&home.wait_for_one(|cue| cue["origin"] == "approval"));
        home.run(&["answer", &cue, words]).expect(0);
        let reply = hook.finish().expect(0).json();
        assert_eq!(
            reply["hookSpecificOutput"]["permissionDecision"], decision,
            "{reply}"
        );
    }
    let told = home.ask_for("20s", &agent, "Next?", None).expect(75).stdout;
    assert!(told.contains("SQLite"), "{told}");
}

/// Writes a transcript whose last call is one of our MCP tools.
fn called(home: &Home, tool: &str, agent: &str) {
    let lines = [
        json!({ "type": "user", "message": { "role": "user", "content": "fix it" } }),
        json!({ "type": "assistant", "uuid": "u1", "message": { "role": "assistant", "content": [
            { "type": "tool_use", "id": "t1", "name": tool, "input": { "agent_id": agent, "prompt": "Go?" } }] } }),
        json!({ "type": "assistant", "uuid": "u2", "message": { "role": "assistant", "content": [
            { "type": "text", "text": "Goodbye." }] } }),
    ];
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    fs::write(transcript(home), text.join("\n") + "\n").unwrap();
}

#[test]
fn an_agent_that_asked_through_mcp_or_paused_is_obedient_too() {
    for (verb, tool) in [("cue", "mcp__cueme__cue"), ("pause", "mcp__cueme__pause")] {
        let home = Home::created();
        let agent = agent_of(&home, "claude_code");
        let asking = home.start_with(&[verb, &agent, "-"], &envelope("Go?", None));
        home.run(&["answer", &home.wait_for("Go?", 1), "go"]).expect(0);
        asking.finish().expect(0);
        called(&home, tool, &agent);
        let input = recorded(&home, "claude_code", "stop");
        assert_eq!(run(&home, "claude_code", "stop", &input), json!({}), "{verb}");
        assert_eq!(inbox_length(&home), 0, "{verb}");
    }
}

#[test]
fn a_host_that_runs_the_hook_files_of_two_asks_once() {
    let home = Home::created();
    spoke(&home, "make test", "Done.");
    let input = recorded(&home, "cursor", "stop");
    // Cursor reads Claude Code's settings too, and calls what stands there with its own input.
    let first = home.start_hook("claude_code", "stop", &input);
    let cue = hooks_question(&home);
    assert_eq!(run(&home, "cursor", "stop", &input), json!({}));
    assert_eq!(inbox_length(&home), 1);
    home.run(&["answer", &id_of(&cue), "go on"]).expect(0);
    // A call from Claude Code's settings gets a reply in Claude Code's dialect.
    let text = continuation("claude_code", &first.finish().expect(0).json());
    assert!(text.starts_with("go on\n"), "{text}");
}
