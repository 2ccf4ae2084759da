//! The four verbs of an agent, and what is said to one that calls them wrongly.

use cueme_tests::{Home, cueme, envelope};

const CHOICE: &str = r#"{"type":"choice","options":["SQLite","PostgreSQL"]}"#;

#[test]
fn join_prints_who_the_agent_is_and_how_to_ask() {
    let home = Home::new();
    let joined = home.ok(&["join", "claude_code"]);
    let keys: Vec<&str> = joined
        .lines()
        .map_while(|line| line.split_once('='))
        .map(|(key, _)| key)
        .collect();
    assert_eq!(
        keys,
        ["agent_id", "project_dir", "agent_terminal", "agent_runtime"]
    );
    assert!(joined.contains(&format!("project_dir={}\n", home.scratch().display())));
    assert!(joined.contains("agent_runtime=claude_code\n"));
    let id = joined
        .lines()
        .next()
        .and_then(|line| line.strip_prefix("agent_id="))
        .unwrap();
    assert!(
        joined.contains(&format!("cueme cue {id} - <<'CUEME'")),
        "{joined}"
    );
}

#[test]
fn join_refuses_a_wrong_runtime_tag_and_shows_the_right_one() {
    let home = Home::new();
    home.run(&["join", "Claude Code"])
        .refused(2, &["not a runtime tag", "claude_code"]);
    assert!(!home.path().exists(), "a refused call starts nothing");
}

#[test]
fn the_four_verbs_work_together() {
    let home = Home::new();
    let agent = home.join();
    let run = home.ask_and_answer(&agent, "Which branch name?", None, &["tidy-payments"]);
    assert!(run.printed(0).starts_with("tidy-payments\n"), "{run:?}");
    assert!(
        run.stdout.contains("cueme cue"),
        "the reminder stands below: {run:?}"
    );
    assert_eq!(run.stderr, "");
    let pause = cueme_tests::Client::start(&mut home.command(&["pause", &agent, "Look", "first"]), b"");
    let cue = home.wait_for("Look first", 1);
    home.ok(&["answer", &cue, "--confirm"]);
    assert!(pause.finish().printed(0).starts_with("Continue\n"));
    let recalled = home.ok(&["recall", "branch"]);
    assert!(recalled.starts_with(&format!("agent_id={agent}\n")), "{recalled}");
}

#[test]
fn an_unknown_agent_is_told_how_to_join_or_recall() {
    let home = Home::new();
    let stdin = envelope("Hello?", None);
    for agent in ["nobody-here", "Not An Id"] {
        home.run_with(&["cue", agent, "-"], stdin.as_bytes())
            .refused(3, &["error: ", "hint: "]);
        home.run(&["pause", agent]).refused(3, &["error: "]);
    }
    let run = home.run_with(&["cue", "nobody-here", "-"], stdin.as_bytes());
    run.refused(3, &["nobody-here", "cueme join", "cueme recall"]);
    assert!(home.open_cues().is_empty(), "nothing was asked");
    home.run(&["say", "nobody-here", "hi"])
        .refused(3, &["cueme agents"]);
    home.run(&["last", "nobody-here"]).refused(3, &["cueme agents"]);
}

#[test]
fn a_wrong_call_shows_a_right_one() {
    let home = Home::new();
    for (words, hint) in [
        (vec!["cue", "bako-nefi"], "cueme cue bako-nefi - <<'CUEME'"),
        (
            vec!["cue", "bako-nefi", "What", "now?"],
            "cueme cue bako-nefi - <<'CUEME'",
        ),
        (vec!["cue"], "cueme cue bako-nefi - <<'CUEME'"),
        (vec!["join"], "cueme join cursor"),
        (vec!["recall"], "cueme recall"),
        (vec!["answr", "7k3"], "answer"),
        (vec!["say", "bako-nefi"], "cueme say bako-nefi"),
        (vec!["purge"], "cueme purge --older-than 90d --dry-run"),
        (vec!["purge", "--older-than", "30"], "--older-than 30d"),
    ] {
        let run = home.run_with(&words, b"");
        run.refused(2, &[hint]);
    }
}

#[test]
fn what_is_not_an_envelope_is_refused_with_its_line_and_a_remedy() {
    let home = Home::new();
    let agent = home.join();
    for (stdin, words) in [
        (&b""[..], vec!["line 1", "<cueme_prompt>"]),
        (b"just words\n", vec!["line 1", "<cueme_prompt>"]),
        (
            b"{\"prompt\":\"hi\",\"payload\":null}",
            vec!["line 1", "JSON", "<cueme_prompt>"],
        ),
        (b"<cueme_prompt>\nA?\n", vec!["</cueme_prompt>"]),
        (b"<cueme_prompt>\n\xff\xfe?\n</cueme_prompt>\n", vec!["UTF-8"]),
        (
            b"<cueme_prompt>\nA?\n</cueme_prompt>\n<cueme_payload>\n{\"type\":\"choice\",\"options\":[]}\n</cueme_payload>\n",
            vec!["options"],
        ),
        (
            b"<cueme_prompt>\nA?\n</cueme_prompt>\n<cueme_payload>\n{\"type\":\"poll\"}\n</cueme_payload>\n",
            vec!["poll", "choice"],
        ),
    ] {
        let run = home.run_with(&["cue", &agent, "-"], stdin);
        run.refused(2, &["error: ", "hint: "]);
        run.refused(2, &words);
    }
    home.run_with(&["pause", &agent, "-"], envelope("A?", Some(CHOICE)).as_bytes())
        .refused(2, &["payload"]);
    assert!(home.open_cues().is_empty(), "nothing was asked");
}

#[test]
fn check_needs_neither_a_broker_nor_a_known_agent() {
    let home = Home::new();
    let stdin = envelope("用哪个数据库?", Some(CHOICE));
    let run = home.run_with(&["cue", "whoever", "-", "--check"], stdin.as_bytes());
    assert_eq!(
        run.printed(0),
        "{\"prompt\":\"用哪个数据库?\",\"payload\":{\"type\":\"choice\",\"options\":[\"SQLite\",\"PostgreSQL\"],\"allow_multiple\":false}}\n"
    );
    let run = home.run(&["pause", "whoever", "wait", "here", "--check"]);
    assert_eq!(run.printed(0), "{\"prompt\":\"wait here\",\"payload\":null}\n");
    assert!(!home.path().exists(), "no broker was started");
}

/// The vectors of the contract, through the whole program: its stdin, its stdout and its exit code.
#[test]
fn check_reads_every_vector_of_the_contract_as_it_says() {
    let home = Home::new();
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../protocol-spec/vectors/envelope.jsonl"
    );
    let vectors = std::fs::read_to_string(path).unwrap();
    assert!(vectors.lines().count() > 100, "the vectors are there");
    for line in vectors.lines() {
        let vector: serde_json::Value = serde_json::from_str(line).unwrap();
        let name = vector["name"].as_str().unwrap();
        let stdin = match vector["stdin"].as_str() {
            Some(text) => text.as_bytes().to_vec(),
            None => decode_base64(vector["stdin_b64"].as_str().unwrap()),
        };
        let run = home.run_with(&[vector["cmd"].as_str().unwrap(), "x", "-", "--check"], &stdin);
        if vector["verdict"] == "accept" {
            let printed: Printed<'_> =
                serde_json::from_str(run.printed(0)).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(printed.prompt, vector["prompt"], "{name}");
            match vector["written"].as_str() {
                Some(written) => assert_spells(printed.payload.get(), written, name),
                None => {
                    let payload = serde_json::from_str(printed.payload.get()).unwrap();
                    assert_keeps(&payload, &vector["payload"], name);
                }
            }
        } else {
            let at = format!("line {}: ", vector["line"]);
            run.refused(2, &[&at, "hint: "]);
        }
    }
}

/// The output of `--check`. The payload may hold numbers that no machine word holds, so it stays text.
#[derive(serde::Deserialize)]
struct Printed<'a> {
    prompt: String,
    #[serde(borrow)]
    payload: &'a serde_json::value::RawValue,
}

/// Every number is spelled as the agent spelled it.
fn assert_spells(printed: &str, written: &str, name: &str) {
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E');
    let numbers = written
        .split(|c| !is_number(c))
        .filter(|word| word.contains(|c: char| c.is_ascii_digit()));
    for number in numbers {
        assert!(printed.contains(number), "{name}: {number} is not in {printed}");
    }
}

/// The agent's own values are kept; defaults may stand beside them.
fn assert_keeps(printed: &serde_json::Value, written: &serde_json::Value, name: &str) {
    match (printed, written) {
        (serde_json::Value::Object(printed), serde_json::Value::Object(written)) => {
            for (key, value) in written {
                let found = printed
                    .get(key)
                    .unwrap_or_else(|| panic!("{name}: {key} is gone"));
                // A null stands for the default, which is written out.
                if value.is_null() {
                    continue;
                }
                assert_keeps(found, value, name);
            }
        }
        (serde_json::Value::Array(printed), serde_json::Value::Array(written)) => {
            assert_eq!(printed.len(), written.len(), "{name}");
            for (printed, written) in printed.iter().zip(written) {
                assert_keeps(printed, written, name);
            }
        }
        (printed, written) => assert_eq!(printed, written, "{name}"),
    }
}

fn decode_base64(text: &str) -> Vec<u8> {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut count, mut bytes) = (0u32, 0, Vec::new());
    for digit in text.trim_end_matches('=').bytes() {
        let value = ALPHABET.iter().position(|known| *known == digit).unwrap();
        bits = (bits << 6) | u32::try_from(value).unwrap();
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((bits >> count) & 0xff).unwrap());
        }
    }
    bytes
}

#[test]
fn recall_finds_an_agent_by_english_and_by_two_chinese_characters() {
    let home = Home::new();
    let (english, chinese) = (home.join_as("cursor"), home.join_as("codex"));
    home.ask_and_answer(
        &english,
        "Shall I refactor the payments?",
        None,
        &["yes, the invoices too"],
    );
    home.ask_and_answer(&chinese, "要不要现在迁移数据库的表结构?", None, &["先备份再说"]);
    for (hints, agent) in [
        (vec!["payments"], &english),
        (vec!["payment"], &english),
        (vec!["invoices"], &english),
        (vec!["迁移"], &chinese),
        (vec!["备份"], &chinese),
        (vec!["数据库", "结构"], &chinese),
    ] {
        let words: Vec<&str> = ["recall"].into_iter().chain(hints).collect();
        let found = home.ok(&words);
        assert!(
            found.starts_with(&format!("agent_id={agent}\n")),
            "{words:?}: {found}"
        );
    }
    let found = home.json(&["recall", "迁移", "--json"]);
    assert_eq!(found[0]["agent"]["agent_id"], chinese.as_str());
}

#[test]
fn recall_names_nobody_where_several_fit_and_none_for_common_words() {
    let home = Home::new();
    let agents = [home.join_as("cursor"), home.join_as("codex")];
    for agent in &agents {
        home.ask_and_answer(agent, "Shall I refactor the payments now?", None, &["yes, go on"]);
    }
    let run = home.run(&["recall", "the", "payments", "refactoring"]);
    run.printed(1);
    let said = format!("{}{}", run.stdout, run.stderr);
    assert!(!run.stdout.starts_with("agent_id="), "{said}");
    for agent in &agents {
        assert!(said.contains(agent.as_str()), "{said}");
    }
    for hints in [vec!["shall", "I", "go", "on"], vec!["yes"]] {
        let words: Vec<&str> = ["recall"].into_iter().chain(hints).collect();
        let run = home.run(&words);
        run.printed(1);
        assert!(!run.stdout.starts_with("agent_id="), "{words:?}: {}", run.stdout);
    }
}

#[test]
fn recall_invents_nobody() {
    let home = Home::new();
    home.run(&["recall", "anything"])
        .refused(1, &["no agent matches", "cueme join"]);
    home.join();
    home.run(&["recall", "量子力学"])
        .refused(1, &["no agent matches"]);
    assert_eq!(home.run(&["recall", "量子力学", "--json"]).printed(1), "[]\n");
}

#[test]
fn each_verb_explains_itself_with_an_example() {
    let home = Home::new();
    let help = home.ok(&["--help"]);
    assert!(
        help.contains("Examples:") && help.contains("Exit codes:"),
        "{help}"
    );
    let verbs: Vec<String> = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .flat_map(|line| match line.strip_prefix("More: ") {
            Some(more) => more.split(", ").map(str::to_owned).collect(),
            None => Vec::from_iter(line.split_whitespace().next().map(str::to_owned)),
        })
        .filter(|verb| verb != "help")
        .collect();
    assert!(verbs.len() >= 30, "{verbs:?}");
    for verb in verbs {
        for words in [vec![verb.as_str(), "--help"], vec!["help", &verb]] {
            let help = home.ok(&words);
            assert!(
                help.contains("Examples:\n") && help.contains(&format!("cueme {verb}")),
                "{help}"
            );
        }
    }
    assert!(!home.path().exists(), "help starts nothing");
}

#[test]
fn completions_are_printed_for_each_shell() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = home.ok(&["completions", shell]);
        assert!(
            script.contains("cueme") && script.contains("CUEME_COMPLETE"),
            "{shell}"
        );
        // The script asks for a word like this.
        let mut command = home.command(&["--", "cueme", "an"]);
        command
            .env("CUEME_COMPLETE", shell)
            .env("_CLAP_COMPLETE_INDEX", "1");
        let offered = command
            .output()
            .map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        assert!(offered.is_ok_and(|offered| offered.contains("answer")), "{shell}");
    }
    assert!(!home.path().exists(), "completing starts nothing");
    home.run(&["completions", "tcsh"]).refused(2, &["tcsh"]);
}

#[test]
fn the_version_is_the_one_of_the_binary() {
    let home = Home::new();
    let version = home.ok(&["--version"]);
    assert!(version.starts_with("cueme "), "{version}");
    assert!(cueme().is_file());
}

/// Runs a command in which connecting is forbidden, as in the sandbox of Codex.
#[cfg(target_os = "linux")]
const SANDBOX: &str = r#"
import ctypes, os, platform, struct, sys
connect = {"x86_64": 42, "aarch64": 203}[platform.machine()]
rules = [(0x20, 0, 0, 0), (0x15, 0, 1, connect), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7fff0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in rules))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(rules), ctypes.addressof(code)))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, program, 0, 0) == 0, os.strerror(ctypes.get_errno())
os.execv(sys.argv[1], sys.argv[1:])
"#;

#[cfg(target_os = "linux")]
#[test]
fn a_sandboxed_call_is_told_to_use_the_mcp_tool() {
    let home = Home::new();
    let agent = home.join();
    for words in [
        &["join", "codex"][..],
        &["pause", &agent],
        &["cue", &agent, "--prompt", "Go?"],
    ] {
        let mut command = home.command_of(std::path::Path::new("python3"), &["-c", SANDBOX]);
        command.arg(cueme()).args(words);
        let run = cueme_tests::Client::start(&mut command, b"").finish();
        run.refused(69, &["sandboxed: use the MCP tool `cue`", "--prompt"]);
        assert!(!run.stderr.contains("doctor"), "{}", run.stderr);
    }
    assert!(home.open_cues().is_empty());
}

#[test]
fn a_question_among_the_arguments_is_the_one_in_an_envelope() {
    let home = Home::new();
    let agent = home.join();
    let prompt = "Ship `it`? \"$HOME\"\n- 数据库\n</b> \\n";
    let (first, cue) = home.ask(&agent, prompt, Some(CHOICE));
    let mut second = home.command(&["cue", &agent, "--prompt", prompt, "--payload", CHOICE]);
    let second = cueme_tests::Client::start(&mut second, b"");
    assert_eq!(home.wait_for(prompt, 2), cue, "both wait for one question");
    home.ok(&["answer", &cue, "SQLite"]);
    for client in [first, second] {
        assert!(client.finish().printed(0).starts_with("SQLite\n"));
    }
    let checked = |words: &[&str]| {
        let mut all = vec!["cue", agent.as_str(), "--check"];
        all.extend(words);
        home.run(&all)
    };
    let parts = checked(&["--prompt", "-v?", "--payload", " null "]);
    assert_eq!(parts.printed(0), "{\"prompt\":\"-v?\",\"payload\":null}\n");
    checked(&["--prompt", " "]).refused(2, &["prompt"]);
    checked(&["--prompt", "A?", "--payload", "{}"]).refused(2, &["type"]);
    checked(&["--prompt", "A?", "--payload", "{\"type\":\"confirm\"} x"]).refused(2, &["JSON"]);
    checked(&["-", "--prompt", "A?"]).refused(2, &["--prompt"]);
    checked(&["--payload", "null"]).refused(2, &["--prompt"]);
}
