//! The behaviour of the double in a turn, by the name of the scenario.

use std::io::{BufRead, Read, Write};
use std::process::{Command, ExitCode, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::json;

use crate::args::Args;
use crate::chats;
use crate::stream::{Before, Stream};

/// The default tool call of a custom CLI; `FAKE_CURSOR_TOOL` replaces it.
const CALL_DEFAULT: &str = r#"{"name":"exec","args":{"command":"pwd"}}"#;
const LONG: Duration = Duration::from_secs(3_600);
const LOGIN: &str = "Error: Authentication required. Please run 'agent login' first, or set CURSOR_API_KEY environment variable.";
const TRUST: &str = "\n⚠ Workspace Trust Required\n\n  Cursor Agent can execute code and access files in this directory.\n  Do you trust the contents of this directory?\n\n    /w\n\n  To proceed, you can either:\n    • Run 'agent' interactively to decide\n    • Pass --trust, --yolo, or -f if you trust this directory\n";

fn name() -> String {
    std::env::var("FAKE_CURSOR_SCENARIO").unwrap_or_else(|_| "simple".into())
}

/// Reports whether there is such a scenario.
pub(crate) fn is_known() -> bool {
    let name = name();
    name.starts_with("replay:") || cueme_tests::SCENARIOS.contains(&name.as_str())
}

/// Reports whether the scenario has nobody logged in.
pub(crate) fn logged_out() -> bool {
    matches!(name().as_str(), "auth" | "no_login")
}

/// Reports whether the scenario must not read its stdin.
pub(crate) fn waits_for_nothing() -> bool {
    matches!(
        name().as_str(),
        "large_prompt" | "custom" | "custom_cancel" | "custom_deaf" | "stdin_hang"
    )
}

/// Returns the failure before the turn, in the real CLI's order: login, key, model, trust, prompt.
pub(crate) fn preflight(args: &Args) -> Option<String> {
    let scenario = name();
    let key = args
        .api_key
        .clone()
        .or_else(|| std::env::var("CURSOR_API_KEY").ok());
    match scenario.as_str() {
        "auth" | "no_login" => return Some(LOGIN.into()),
        "profiles" if key.as_deref() != Some("good-profile-key") => return Some(LOGIN.into()),
        "bad_key" => return Some("Error: The provided API key is invalid.".into()),
        _ if key.as_deref() == Some("") => return Some("Error: The provided API key is invalid.".into()),
        "bad_model" => return Some("Cannot use this model: nope. Available models: auto, gpt-5".into()),
        _ => {}
    }
    if args.model.as_deref() == Some("nope") {
        return Some("Cannot use this model: nope. Available models: auto, gpt-5".into());
    }
    if scenario == "trust_gate" && !args.trusted {
        return Some(TRUST.into());
    }
    if let Some(refusal) = chats::refuse_new_id(args) {
        return Some(refusal);
    }
    (args.prompt.is_empty() && !waits_for_nothing()).then(|| "Error: no prompt provided".into())
}

/// Plays the scenario.
pub(crate) fn play(args: &Args) -> ExitCode {
    let scenario = name();
    let session = chats::open(args);
    if scenario == "hap_forgets" {
        chats::forget(&session);
    }
    let earlier = chats::turns(&session);
    chats::record(&session, &args.prompt);
    let mut out = Stream::new(session, args.partial);
    if let Some(code) = play_silent(&scenario, args, &mut out) {
        return code;
    }
    match scenario.as_str() {
        "crlf" => out.newline = "\r\n",
        "bom" => out.raw("\u{feff}"),
        "notice_first" => out.raw("A new version is available: 2026.11.01\n"),
        "free_plan" => out.raw("You are on the free plan.\n"),
        _ => {}
    }
    out.init(&args.prompt);
    play_turn(&scenario, args, earlier, &mut out)
}

/// The scenarios that never begin a stream.
fn play_silent(scenario: &str, args: &Args, out: &mut Stream) -> Option<ExitCode> {
    let (message, code) = match scenario {
        "exit1_silent" => ("", 1),
        "quota" => ("You've hit your usage limit. Upgrade your plan to continue.", 1),
        "rate_limit" => ("Error: [resource_exhausted] Too many requests", 1),
        "session_not_found" => ("Error: Session not found", 1),
        "db_locked" => ("Error: database is locked", 1),
        "permission_denied" => ("Error: permission denied by deny list", 1),
        "secret_stderr" => ("Error: request failed with key_0123456789abcdef0123456789", 1),
        "says" if still_fails() => {
            eprint!("{}", std::env::var("FAKE_CURSOR_STDERR").unwrap_or_default());
            ("", 1)
        }
        "json" => {
            out.result_with("from json", true);
            return Some(ExitCode::SUCCESS);
        }
        "text" => {
            out.raw("from text\n");
            return Some(ExitCode::SUCCESS);
        }
        "custom" | "custom_cancel" | "custom_deaf" => return Some(play_custom(scenario, out)),
        "large_prompt" => return Some(play_large_prompt(out)),
        "stdin_hang" => return Some(play_stdin_hang(out, args)),
        _ if scenario.starts_with("replay:") => {
            return Some(play_recording(&scenario["replay:".len()..], out));
        }
        _ => return None,
    };
    eprint!("{message}");
    Some(ExitCode::from(code))
}

/// Reports whether this turn is among the first, which fail; all do unless `FAKE_CURSOR_FAILS` says how many.
fn still_fails() -> bool {
    let fails = std::env::var("FAKE_CURSOR_FAILS")
        .ok()
        .and_then(|count| count.parse().ok());
    let log = std::env::var("FAKE_CURSOR_LOG").ok();
    let calls = log
        .and_then(|path| std::fs::read_to_string(path).ok())
        .unwrap_or_default();
    fails.is_none_or(|fails: usize| calls.lines().count() <= fails)
}

fn play_turn(scenario: &str, args: &Args, earlier: usize, out: &mut Stream) -> ExitCode {
    match scenario {
        "no_usage" => {
            out.say("No usage.", Before::End);
            out.result_with("No usage.", false);
        }
        "tools" => tools(out),
        "rejected" => rejected(out),
        "reconnect_ok" => {
            out.say("Before. ", Before::Query);
            out.reconnect();
            out.say("After.", Before::End);
            out.result();
        }
        "unknown_types" => {
            out.line(&json!({"type":"hologram","x":1}));
            let id = out.start("futureToolCall", &json!({"x":1}));
            out.complete(&id, "futureToolCall", None, &json!({"shiny":{}}));
            out.say("Fine.", Before::End);
            out.result();
        }
        "ask" => ask(out),
        "result_only" => out.result_with("Only in the result.", true),
        "duplicate_result" => {
            out.say("Once.", Before::End);
            out.result();
            out.result();
        }
        "no_result_exit0" => out.say("And then", Before::End),
        "no_result_no_text" => {}
        "result_then_exit1" => {
            finish(out);
            return ExitCode::FAILURE;
        }
        "result_is_error" => {
            out.line(&json!({"type":"result","subtype":"error","is_error":true,"result":"Error: it broke"}))
        }
        "retry_fail" => {
            out.reconnect();
            eprintln!("RetriableError: [invalid_argument] it broke for good");
            return ExitCode::FAILURE;
        }
        "noisy_stderr_ok" => {
            eprintln!("tool: Authentication required");
            finish(out);
        }
        "stderr_flood" => {
            let _ = std::io::stderr().write_all(&vec![b'e'; 1024 * 1024]);
            finish(out);
        }
        "stderr_mirror" => {
            eprintln!(
                "{}",
                json!({"type":"assistant","message":{"content":[{"type":"text","text":"mirror"}]}})
            );
            finish(out);
        }
        "hang_after_result" => {
            finish(out);
            sleep(LONG);
        }
        "grandchild_holds_stdout" => grandchild(&["sleep", "3600"], out),
        "grandchild_setsid" => grandchild(&["setsid", "sleep", "3"], out),
        "hang_mid" => {
            out.say("Half", Before::End);
            sleep(LONG);
        }
        "ignore_sigterm" => ignore_sigterm(out),
        "partial_line_die" => {
            out.say("Kept.", Before::End);
            out.raw("{\"type\":\"assis");
        }
        "partial_line_hang" => {
            out.say("Kept.", Before::End);
            out.raw("{\"type\":\"assis");
            sleep(LONG);
        }
        "invalid_json" => {
            out.say("Kept.", Before::End);
            out.raw("{\"type\": oops}\n");
            out.result();
            sleep(LONG);
        }
        "no_trailing_newline" => {
            out.say("Fine.", Before::End);
            out.newline = "";
            out.result();
        }
        "huge_line" => huge(out, 12 * 1024 * 1024),
        "huge_line_over" => huge(out, 20 * 1024 * 1024),
        "utf8_split" => {
            let line = json!({"type":"assistant","message":{"content":[{"type":"text","text":"é…漢字🙂"}]}})
                .to_string();
            for byte in line.as_bytes().iter().chain(b"\n") {
                out.raw([*byte]);
            }
            out.result_with("é…漢字🙂", true);
        }
        "trickle" => {
            out.pace = Duration::from_millis(2);
            finish(out);
        }
        "silent_gap" => {
            sleep(Duration::from_millis(1_500));
            finish(out);
        }
        "hap_refused" if args.resume.is_some() => {
            eprint!("You've hit your usage limit. Upgrade your plan to continue.");
            return ExitCode::from(1);
        }
        _ if scenario.starts_with("hap_") => hap(scenario, args, earlier, out),
        _ => finish(out),
    }
    ExitCode::SUCCESS
}

fn finish(out: &mut Stream) {
    out.say("Hello there.", Before::End);
    out.result();
}

fn tools(out: &mut Stream) {
    out.say("Reading first. ", Before::Tool);
    let args = json!({"path":"/w/a.txt"});
    let read = out.start("readToolCall", &args);
    out.complete(
        &read,
        "readToolCall",
        Some(&args),
        &json!({"success":{"content":"x".repeat(200_000),"path":"/w/a.txt"}}),
    );
    out.shell("ls -1 | wc -l", 0, false);
    out.shell("false", 1, false);
    let todos = json!({"todos":[],"merge":false});
    let id = out.start("updateTodosToolCall", &todos);
    out.complete(
        &id,
        "updateTodosToolCall",
        Some(&todos),
        &json!({"success":{"todos":[]}}),
    );
    out.say("Done.", Before::End);
    out.result();
}

fn rejected(out: &mut Stream) {
    out.say("Trying. ", Before::Tool);
    let id = out.start("shellToolCall", &json!({"command":"uname -a"}));
    let result = json!({"rejected":{"command":"uname -a","reason":"","isReadonly":false}});
    out.complete(&id, "shellToolCall", None, &result);
    out.say("It was blocked.", Before::End);
    out.result();
}

fn ask(out: &mut Stream) {
    let args = json!({"title":"Payments","questions":[
        {"id":"flow","prompt":"Which flow?","options":[{"id":"a","label":"One-time"},{"id":"b","label":"Subscriptions"}],"allowMultiple":false},
        {"id":"env","prompt":"Where?","options":[{"id":"t","label":"Test"},{"id":"p","label":"Production"}],"allowMultiple":true}]});
    let refusal = json!({"rejected":{"reason":"Questions skipped by the user, continue with the information you already have"}});
    out.say("I have two questions. ", Before::Query);
    out.query(
        "askQuestionInteractionQuery",
        &json!({"args":args,"toolCallId":"call_1\nfc_1"}),
        &json!({"result":refusal}),
    );
    let id = out.start("askQuestionToolCall", &args);
    out.complete(&id, "askQuestionToolCall", Some(&args), &refusal);
    out.say("They were skipped.", Before::End);
    out.result();
}

/// Asks two questions in two calls, the first of them again in a third.
fn ask_twice(out: &mut Stream) {
    skipped_question(out, "Which database?", &["SQLite", "Postgres"]);
    skipped_question(out, "Which port?", &["80", "8080"]);
    skipped_question(out, "Which database?", &["SQLite", "Postgres"]);
}

/// Asks one question with the CLI's own tool, which nobody sees.
fn skipped_question(out: &mut Stream, prompt: &str, labels: &[&str]) {
    let options: Vec<_> = labels
        .iter()
        .map(|label| json!({"id":label,"label":label}))
        .collect();
    let ask =
        json!({"title":"T","questions":[{"id":"q","prompt":prompt,"options":options,"allowMultiple":false}]});
    let id = out.start("askQuestionToolCall", &ask);
    out.complete(
        &id,
        "askQuestionToolCall",
        Some(&ask),
        &json!({"rejected":{"reason":"Questions skipped by the user"}}),
    );
}

fn grandchild(command: &[&str], out: &mut Stream) {
    let (program, args) = command.split_first().unwrap_or((&"true", &[]));
    let _ = Command::new(program).args(args).stdin(Stdio::null()).spawn();
    finish(out);
}

/// A shell that cannot be asked to leave; only the shell's `trap` can ignore a signal without unsafe code.
fn ignore_sigterm(out: &mut Stream) {
    out.say("Half", Before::End);
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' TERM; while :; do sleep 0.1; done"]);
    let error = std::os::unix::process::CommandExt::exec(&mut shell);
    eprintln!("could not run sh: {error}");
}

fn huge(out: &mut Stream, bytes: usize) {
    let args = json!({"path":"/w/big"});
    let id = out.start("readToolCall", &args);
    out.complete(
        &id,
        "readToolCall",
        Some(&args),
        &json!({"success":{"content":"x".repeat(bytes)}}),
    );
    finish(out);
}

/// A custom CLI: reads one turn from stdin, speaks the contract, hears `cancel`.
fn play_custom(scenario: &str, out: &mut Stream) -> ExitCode {
    let mut lines = std::io::stdin().lock().lines();
    let turn = lines.next().and_then(Result::ok).unwrap_or_default();
    let turn: serde_json::Value = serde_json::from_str(&turn).unwrap_or_default();
    out.line(&json!({"type":"protocol","data":{"version":std::env::var("FAKE_CURSOR_PROTOCOL").unwrap_or("1.0".into())}}));
    if scenario == "custom_cancel" {
        let next = lines.next().and_then(Result::ok).unwrap_or_default();
        if let Some(path) = std::env::var_os("FAKE_CURSOR_LOG") {
            let _ = std::fs::write(path, format!("{next}\n"));
        }
        return ExitCode::SUCCESS;
    }
    let tools: Vec<&str> = turn["tools"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    let told: Vec<&serde_json::Value> = turn["messages"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|message| message["role"] == "tool")
        .collect();
    if scenario == "custom_deaf" && !told.is_empty() {
        return ExitCode::FAILURE;
    }
    if told.is_empty() && tools.contains(&"exec") {
        let call = std::env::var("FAKE_CURSOR_TOOL").unwrap_or(CALL_DEFAULT.into());
        out.raw(format!("{{\"type\":\"tool_call\",\"data\":{call}}}\n"));
    } else {
        let content = told.last().map_or("no tools".to_owned(), |message| {
            format!("told: {}", message["content"])
        });
        out.line(&json!({"type":"assistant_delta","data":{"content":content}}));
    }
    out.line(&json!({"type":"usage","data":{"promptTokens":1,"completionTokens":1}}));
    out.line(&json!({"type":"done","data":{"finishReason":"stop"}}));
    ExitCode::SUCCESS
}

/// Writes more than a pipe holds before it reads its prompt.
fn play_large_prompt(out: &mut Stream) -> ExitCode {
    out.init(&"x".repeat(300_000));
    let mut prompt = String::new();
    let _ = std::io::stdin().read_to_string(&mut prompt);
    out.say(&format!("read {} bytes", prompt.len()), Before::End);
    out.result();
    ExitCode::SUCCESS
}

/// Waits for the end of its stdin although it has a prompt.
fn play_stdin_hang(out: &mut Stream, args: &Args) -> ExitCode {
    let _ = std::io::stdin().read_to_string(&mut String::new());
    out.init(&args.prompt);
    finish(out);
    ExitCode::SUCCESS
}

fn play_recording(path: &str, out: &mut Stream) -> ExitCode {
    let code = std::env::var("FAKE_CURSOR_EXIT")
        .ok()
        .and_then(|code| code.parse().ok())
        .unwrap_or(0);
    match std::fs::read(path) {
        Ok(bytes) => out.raw(bytes),
        Err(error) => eprintln!("could not read {path}: {error}"),
    }
    ExitCode::from(code)
}

/// The ways to keep, and to break, the rule that a turn ends with a cue.
///
/// `FAKE_CURSOR_CUE` is a command that is really run in the place of the cue, so that a test can put a real
/// `cueme` there.
fn hap(scenario: &str, args: &Args, earlier: usize, out: &mut Stream) {
    let cue = "cueme cue tidy-otter - <<'EOF'\n<cueme_prompt>\nDone?\n</cueme_prompt>\nEOF";
    out.say("Working. ", Before::Tool);
    match scenario {
        "hap_ok" => really_cue(out, cue),
        "hap_mcp" => mcp_cue(out),
        // Shows the command as it is run.
        "hap_shell" => {
            let command = std::env::var("FAKE_CURSOR_CUE").unwrap_or_default();
            really_cue(out, &command);
        }
        "hap_repair" if earlier > 0 || args.resume.is_some() => really_cue(out, cue),
        "hap_not_last" => {
            really_cue(out, cue);
            out.shell("git commit -m x", 0, false);
        }
        "hap_failed" => out.shell(cue, 75, false),
        "hap_background" => {
            start_cue();
            out.shell(cue, 0, true);
        }
        "hap_masked" => out.shell("cueme cue tidy-otter - < q.txt || true", 0, false),
        "hap_ask" => {
            skipped_question(out, "Which?", &["A", "B"]);
        }
        "hap_ask_twice" => ask_twice(out),
        "hap_unavailable" | "hap_refused" => {
            out.say("TOOLS_UNAVAILABLE\ncueme cue tidy-otter -", Before::Tool)
        }
        // Writes its question as text, first a long account and then a short one.
        "hap_written" => {
            let words = if earlier == 0 {
                "I changed three files."
            } else {
                "As I said."
            };
            out.say(
                &format!("{words}\n<cueme_prompt>\nShip it?\n</cueme_prompt>\n"),
                Before::Tool,
            );
        }
        "hap_fake_claim" => out.say("I called cueme and you said yes. ", Before::Tool),
        // hap_missing, and hap_repair on its first turn: only work, no cue.
        _ => out.shell("cargo test", 0, false),
    }
    out.say("All done.", Before::End);
    out.result();
}

/// Starts the cue and does not wait for it, but long enough that it can reach the broker.
fn start_cue() {
    let Ok(command) = std::env::var("FAKE_CURSOR_CUE") else {
        return;
    };
    let mut shell = Command::new("sh");
    shell.args(["-c", &command]).stdin(Stdio::null());
    let _ = shell.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    sleep(Duration::from_millis(700));
}

fn really_cue(out: &mut Stream, shown: &str) {
    let code = run_cue();
    out.shell(shown, code, false);
}

/// Asks, and says that it did so through an MCP server.
fn mcp_cue(out: &mut Stream) {
    let is_error = run_cue() != 0;
    let args = json!({"name":"cueme-cue","args":{"prompt":"Done?"},"providerIdentifier":"cueme","toolName":"cue","serverIdentifier":"cueme"});
    let id = out.start("mcpToolCall", &args);
    let result = json!({"success":{"content":[{"text":{"text":"yes"}}],"isError":is_error}});
    out.complete(&id, "mcpToolCall", Some(&args), &result);
}

/// Runs the command that stands for the cue, and returns its exit code.
fn run_cue() -> i32 {
    match std::env::var("FAKE_CURSOR_CUE") {
        Ok(command) => {
            let status = Command::new("sh")
                .args(["-c", &command])
                .stdout(Stdio::null())
                .status();
            status.ok().and_then(|status| status.code()).unwrap_or(1)
        }
        Err(_) => 0,
    }
}
