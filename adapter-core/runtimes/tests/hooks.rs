//! Hooks of every host: inputs in the shapes that hosts write, answers in the shapes that hosts read.
//!
//! `hooks/<runtime>.<event>.json` are inputs composed after what each vendor documents or its schema says; those of
//! opencode are what our own plugin writes.

// Helpers of a test fail the test by panicking; the lint only exempts the test functions themselves.
#![allow(clippy::unwrap_used)]

use std::{collections::BTreeMap, fs, path::Path};

use runtimes::{
    Runtime,
    hook::{
        DecodeError, Event, HookInput, HookOutput, HookReply, TurnStatus, decode, encode, is_cue_call,
        read_turn,
        transcript::{TAIL_BYTES_MAX, turn_of},
    },
};
use serde_json::{Value, json};

fn sample(runtime: Runtime, event: Event) -> HookInput {
    let path = format!(
        "{}/tests/hooks/{runtime}.{}.json",
        env!("CARGO_MANIFEST_DIR"),
        event.word()
    );
    let stdin = fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    decode(runtime, event, &stdin, |_| None).unwrap()
}

fn given(runtime: Runtime, event: Event, input: &Value) -> HookInput {
    decode(runtime, event, input.to_string().as_bytes(), |_| None).unwrap()
}

fn answer(output: &HookOutput) -> Value {
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {:?}", output.stdout))
}

#[test]
fn every_input_is_decoded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hooks");
    let mut seen = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let [runtime, event, "json"] = name.split('.').collect::<Vec<_>>()[..] else {
            panic!("{name}")
        };
        let runtime = Runtime::from_tag(runtime).unwrap();
        let input = sample(runtime, event.parse().unwrap());
        assert_eq!(input.host, runtime, "{name}");
        assert!(
            input.session.is_some() || runtime == Runtime::Kiro,
            "{name}: no session"
        );
        assert!(input.folder.is_some(), "{name}: no folder");
        match input.event {
            Event::PromptSubmit => assert_eq!(input.prompt.as_deref(), Some("fix the login test"), "{name}"),
            Event::PreTool | Event::Permission | Event::OwnCall => assert!(input.tool.is_some(), "{name}"),
            Event::Stop => assert!(!input.subagent && input.status == TurnStatus::Completed, "{name}"),
            Event::SessionStart | Event::SessionEnd => {}
        }
        seen += 1;
    }
    assert!(seen >= 25, "only {seen} inputs");
}

#[test]
fn every_host_with_hooks_has_its_events_covered() {
    let usual = [Event::SessionStart, Event::PromptSubmit, Event::Stop];
    let with_end = [
        Event::SessionStart,
        Event::PromptSubmit,
        Event::Stop,
        Event::SessionEnd,
    ];
    for runtime in Runtime::ALL {
        let events: &[Event] = match runtime {
            Runtime::AgentsMd | Runtime::Terminal => &[],
            Runtime::Windsurf => &usual[1..],
            Runtime::Cursor
            | Runtime::ClaudeCode
            | Runtime::Codex
            | Runtime::GeminiCli
            | Runtime::CopilotCli
            | Runtime::QwenCode
            | Runtime::Opencode => &with_end,
            _ => &usual,
        };
        for event in events {
            sample(runtime, *event);
        }
    }
}

#[test]
fn the_end_of_a_turn_carries_what_each_host_tells() {
    let turn = |runtime| {
        let input = sample(runtime, Event::Stop);
        (input.session.unwrap_or_default(), input.turn, input.last_message)
    };
    let done = || Some("Done. The login test passes.".to_owned());
    assert_eq!(
        turn(Runtime::Cursor),
        ("conv-1".into(), Some("gen-7".into()), None)
    );
    assert_eq!(turn(Runtime::ClaudeCode), ("sess-1".into(), None, done()));
    assert_eq!(
        turn(Runtime::Codex),
        ("sess-2".into(), Some("turn-3".into()), done())
    );
    assert_eq!(turn(Runtime::GeminiCli), ("sess-3".into(), None, done()));
    assert_eq!(turn(Runtime::Vscode), ("sess-4".into(), None, None));
    assert_eq!(turn(Runtime::CopilotCli), ("sess-5".into(), None, None));
    assert_eq!(
        turn(Runtime::Windsurf),
        ("traj-1".into(), Some("exec-9".into()), done())
    );
    assert_eq!(turn(Runtime::Kiro), (String::new(), None, None));
    assert_eq!(
        turn(Runtime::Opencode),
        ("ses_1".into(), Some("msg_8".into()), done())
    );
    assert_eq!(turn(Runtime::QwenCode), ("sess-6".into(), None, done()));
    assert_eq!(turn(Runtime::Droid), ("sess-7".into(), None, None));
}

#[test]
fn aborted_failed_looping_and_subordinate_turns_are_told_apart() {
    let cursor = |extra: Value| {
        let mut input = json!({ "conversation_id": "c", "generation_id": "g", "cursor_version": "3" });
        input
            .as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        given(Runtime::Cursor, Event::Stop, &input)
    };
    assert_eq!(cursor(json!({ "status": "aborted" })).status, TurnStatus::Aborted);
    assert_eq!(cursor(json!({ "status": "error" })).status, TurnStatus::Failed);
    assert_eq!(
        cursor(json!({ "status": "completed", "loop_count": 4 })).loop_count,
        4
    );
    let claude = |input: Value| given(Runtime::ClaudeCode, Event::Stop, &input);
    assert!(claude(json!({ "session_id": "s", "stop_hook_active": true })).stop_hook_active);
    assert!(claude(json!({ "session_id": "s", "hook_event_name": "SubagentStop" })).subagent);
    assert!(claude(json!({ "session_id": "s", "agent_id": "a-1" })).subagent);
    assert!(claude(json!({ "session_id": "s", "background_tasks": [{ "id": 1 }] })).background_work);
    assert!(!claude(json!({ "session_id": "s", "background_tasks": [] })).background_work);
}

#[test]
fn a_hook_of_claude_code_that_cursor_runs_is_answered_so_that_cursor_understands() {
    let input = given(
        Runtime::ClaudeCode,
        Event::Stop,
        &json!({ "conversation_id": "c", "generation_id": "g", "status": "completed", "cursor_version": "3.7.21",
                 "hook_event_name": "stop", "workspace_roots": ["/app"] }),
    );
    assert_eq!(
        (input.host, input.installed_for),
        (Runtime::Cursor, Runtime::ClaudeCode)
    );
    assert_eq!(
        answer(&encode(&input, &HookReply::Continue("go on".into()))),
        json!({ "decision": "block", "reason": "go on" })
    );
}

#[test]
fn two_hosts_with_the_same_turn_have_the_same_key() {
    let own = given(
        Runtime::Cursor,
        Event::Stop,
        &json!({ "conversation_id": "c", "generation_id": "g" }),
    );
    let imported = given(
        Runtime::ClaudeCode,
        Event::Stop,
        &json!({ "conversation_id": "c", "generation_id": "g", "cursor_version": "3" }),
    );
    assert_eq!(own.turn_key(None), imported.turn_key(None));
    assert_eq!(own.turn_key(Some("m1")), Some("c/g/m1/0".to_owned()));

    let claude = |message: &str| {
        given(
            Runtime::ClaudeCode,
            Event::Stop,
            &json!({ "session_id": "s", "last_assistant_message": message }),
        )
    };
    assert_eq!(claude("Done.").turn_key(None), claude("Done.\n").turn_key(None));
    assert_ne!(claude("Done.").turn_key(None), claude("Done!").turn_key(None));
    assert_ne!(
        claude("Done.").turn_key(Some("u1")),
        claude("Done.").turn_key(Some("u2"))
    );
    assert_eq!(given(Runtime::Kiro, Event::Stop, &json!({})).turn_key(None), None);
}

#[test]
fn a_turn_that_a_hook_continued_has_another_key_when_it_ends_again() {
    let codex = |active: bool| {
        given(
            Runtime::Codex,
            Event::Stop,
            &json!({ "session_id": "s", "turn_id": "t", "stop_hook_active": active, "last_assistant_message": "Done." }),
        )
    };
    assert_ne!(codex(false).turn_key(None), codex(true).turn_key(None));
    assert_ne!(
        codex(true).turn_key(Some("12:00:01")),
        codex(true).turn_key(Some("12:00:02"))
    );
    let cursor = |count: u64| {
        let input = json!({ "conversation_id": "c", "generation_id": "g", "loop_count": count });
        given(Runtime::Cursor, Event::Stop, &input).turn_key(None)
    };
    assert_ne!(cursor(1), cursor(2));
}

#[test]
fn what_a_stop_hook_said_begins_a_new_turn_in_the_transcript() {
    let claude = r#"{"type":"assistant","uuid":"u1","message":{"content":[{"type":"tool_use","name":"Bash","input":{"command":"cueme pause a"}}]}}
{"type":"user","uuid":"u2","isMeta":true,"message":{"role":"user","content":"Stop hook feedback:\nwrite the docs"}}
{"type":"attachment","uuid":"u3","attachment":{"type":"hook_blocking_error"}}
{"type":"assistant","uuid":"u4","message":{"content":[{"type":"text","text":"Done."}]}}"#;
    let turn = turn_of(claude).unwrap();
    assert_eq!((turn.id.as_deref(), turn.last_call), (Some("u4"), None));
    let gemini = r#"{"id":"m1","type":"gemini","content":"","toolCalls":[{"name":"mcp_cueme_cue","args":{}}]}
{"id":"m2","type":"user","content":[{"text":"write the docs"}]}
{"id":"m3","type":"gemini","content":"Done."}"#;
    let turn = turn_of(gemini).unwrap();
    assert_eq!((turn.id.as_deref(), turn.last_call), (Some("m3"), None));
    let codex = r#"{"timestamp":"t1","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"cueme pause a\"}"}}
{"timestamp":"t2","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<hook_prompt>write the docs</hook_prompt>"}]}}
{"timestamp":"t3","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}}"#;
    let turn = turn_of(codex).unwrap();
    assert_eq!((turn.id.as_deref(), turn.last_call), (Some("t3"), None));
}

#[test]
fn the_humans_words_continue_the_turn_in_each_hosts_shape() {
    let reply = HookReply::Continue("Now the docs.".into());
    let expected = [
        (Runtime::Cursor, json!({ "followup_message": "Now the docs." })),
        (
            Runtime::ClaudeCode,
            json!({ "decision": "block", "reason": "Now the docs." }),
        ),
        (
            Runtime::Codex,
            json!({ "decision": "block", "reason": "Now the docs." }),
        ),
        (
            Runtime::GeminiCli,
            json!({ "decision": "deny", "reason": "Now the docs." }),
        ),
        (
            Runtime::Vscode,
            json!({ "decision": "block", "reason": "Now the docs.", "hookSpecificOutput":
                { "hookEventName": "Stop", "decision": "block", "reason": "Now the docs." } }),
        ),
        (
            Runtime::CopilotCli,
            json!({ "decision": "block", "reason": "Now the docs." }),
        ),
        (Runtime::Opencode, json!({ "prompt": "Now the docs." })),
    ];
    for (runtime, wanted) in expected {
        let output = encode(&sample(runtime, Event::Stop), &reply);
        assert_eq!((answer(&output), output.exit), (wanted, 0), "{runtime}");
    }
    assert_eq!(
        encode(&sample(Runtime::Kiro, Event::Stop), &reply).stdout,
        "Now the docs.\n"
    );
    assert_eq!(
        encode(&sample(Runtime::Windsurf, Event::Stop), &reply),
        HookOutput::default()
    );
}

#[test]
fn context_reaches_the_agent_in_each_hosts_shape() {
    let reply = HookReply::Context("An answer is waiting.".into());
    let specific = |name: &str| json!({ "hookSpecificOutput": { "hookEventName": name, "additionalContext": "An answer is waiting." } });
    let expected = [
        (
            Runtime::Cursor,
            json!({ "continue": true, "additional_context": "An answer is waiting." }),
        ),
        (Runtime::ClaudeCode, specific("UserPromptSubmit")),
        (Runtime::Codex, specific("UserPromptSubmit")),
        (Runtime::Vscode, specific("UserPromptSubmit")),
        (Runtime::GeminiCli, specific("BeforeAgent")),
        (
            Runtime::CopilotCli,
            json!({ "additionalContext": "An answer is waiting." }),
        ),
        (Runtime::Opencode, json!({ "context": "An answer is waiting." })),
    ];
    for (runtime, wanted) in expected {
        assert_eq!(
            answer(&encode(&sample(runtime, Event::PromptSubmit), &reply)),
            wanted,
            "{runtime}"
        );
    }
    assert_eq!(
        encode(&sample(Runtime::Kiro, Event::PromptSubmit), &reply).stdout,
        "An answer is waiting.\n"
    );
}

#[test]
fn an_agents_id_is_handed_over_at_the_start_of_a_session() {
    let reply = HookReply::Environment {
        variables: BTreeMap::from([("CUEME_AGENT_ID".to_owned(), "tidy fox".to_owned())]),
        context: "agent_id=tidy_fox".into(),
    };
    let start = |runtime| encode(&sample(runtime, Event::SessionStart), &reply);
    let claude = start(Runtime::ClaudeCode);
    assert_eq!(claude.environment_lines, "export CUEME_AGENT_ID='tidy fox'\n");
    assert_eq!(
        answer(&claude)["hookSpecificOutput"]["additionalContext"],
        "agent_id=tidy_fox"
    );
    assert_eq!(
        answer(&start(Runtime::Cursor)),
        json!({ "env": { "CUEME_AGENT_ID": "tidy fox" }, "additional_context": "agent_id=tidy_fox" })
    );
    assert_eq!(
        answer(&start(Runtime::Opencode)),
        json!({ "env": { "CUEME_AGENT_ID": "tidy fox" }, "context": "agent_id=tidy_fox" })
    );
    for runtime in [
        Runtime::Codex,
        Runtime::GeminiCli,
        Runtime::Vscode,
        Runtime::CopilotCli,
        Runtime::Kiro,
    ] {
        let output = start(runtime);
        assert!(output.stdout.contains("agent_id=tidy_fox"), "{runtime}");
        assert!(output.environment_lines.is_empty(), "{runtime}");
    }
}

#[test]
fn permissions_are_given_and_refused_in_each_hosts_shape() {
    let deny = HookReply::Deny("the human said no".into());
    let permission = |runtime, reply: &HookReply| encode(&sample(runtime, Event::Permission), reply);
    for runtime in [Runtime::ClaudeCode, Runtime::Codex] {
        assert_eq!(
            answer(&permission(runtime, &HookReply::Allow))["hookSpecificOutput"]["decision"],
            json!({ "behavior": "allow" })
        );
        assert_eq!(
            answer(&permission(runtime, &deny))["hookSpecificOutput"]["decision"],
            json!({ "behavior": "deny", "message": "the human said no" })
        );
    }
    let gate = |reply: &HookReply| answer(&encode(&sample(Runtime::Cursor, Event::PreTool), reply));
    assert_eq!(gate(&HookReply::Allow), json!({ "permission": "allow" }));
    assert_eq!(gate(&deny)["permission"], "deny");
    assert_eq!(
        gate(&HookReply::Pass),
        json!({ "permission": "ask" }),
        "an undecided gate must not refuse"
    );
    let windsurf = given(
        Runtime::Windsurf,
        Event::PreTool,
        &json!({ "agent_action_name": "pre_run_command" }),
    );
    let refused = encode(&windsurf, &deny);
    assert_eq!(
        (refused.exit, refused.stderr.as_str()),
        (2, "the human said no\n")
    );
    assert_eq!(encode(&windsurf, &HookReply::Allow), HookOutput::default());
}

#[test]
fn answers_to_a_native_question_go_back_as_its_input_or_as_a_reason() {
    let answers = json!({ "questions": [{ "question": "Which framework?" }], "answers": { "Which framework?": "Axum" } });
    let reply = HookReply::Answers {
        input: answers.clone(),
        text: "Which framework?: Axum".into(),
    };
    let claude = answer(&encode(&sample(Runtime::ClaudeCode, Event::Permission), &reply));
    assert_eq!(
        claude["hookSpecificOutput"]["decision"],
        json!({ "behavior": "allow", "updatedInput": answers })
    );
    let codex = answer(&encode(&sample(Runtime::Codex, Event::PreTool), &reply));
    assert_eq!(codex["hookSpecificOutput"]["permissionDecision"], "deny");
    assert_eq!(
        codex["hookSpecificOutput"]["permissionDecisionReason"],
        "Which framework?: Axum"
    );
}

#[test]
fn whatever_is_answered_never_breaks_a_host() {
    let replies = [
        HookReply::Pass,
        HookReply::Continue("x".into()),
        HookReply::Context("x".into()),
        HookReply::Environment {
            variables: BTreeMap::new(),
            context: "x".into(),
        },
        HookReply::Allow,
        HookReply::Deny("x".into()),
        HookReply::Answers {
            input: json!({}),
            text: "x".into(),
        },
    ];
    for runtime in Runtime::ALL {
        for event in Event::ALL {
            for reply in &replies {
                let output = encode(&given(runtime, event, &json!({})), reply);
                let name = format!("{runtime} {event:?} {reply:?}: {output:?}");
                let is_gate = matches!(event, Event::PreTool | Event::Permission);
                assert!(output.exit == 0 || is_gate, "{name}");
                if event == Event::OwnCall && *reply != HookReply::Allow {
                    assert_eq!(
                        output,
                        HookOutput::default(),
                        "{name}: nothing is said about other calls"
                    );
                    continue;
                }
                if !matches!(
                    runtime,
                    Runtime::Kiro | Runtime::Windsurf | Runtime::AgentsMd | Runtime::Terminal
                ) {
                    assert!(
                        answer(&output).is_object() && output.stdout.lines().count() == 1,
                        "{name}"
                    );
                }
                if runtime == Runtime::Codex {
                    assert_codex_accepts(event, &answer(&output), &name);
                }
            }
        }
    }
}

/// Codex refuses members that its schema does not list.
fn assert_codex_accepts(event: Event, answer: &Value, name: &str) {
    for member in answer.as_object().unwrap().keys() {
        let known = match member.as_str() {
            "decision" | "reason" => matches!(event, Event::Stop),
            "hookSpecificOutput" => event != Event::Stop,
            _ => false,
        };
        assert!(known, "{name}: {member}");
    }
    if let Some(decision) = answer.pointer("/hookSpecificOutput/decision") {
        assert!(
            decision
                .as_object()
                .unwrap()
                .keys()
                .all(|key| key == "behavior" || key == "message"),
            "{name}"
        );
    }
}

#[test]
fn an_input_that_is_no_object_is_an_error_and_an_empty_one_is_not() {
    let bad = |stdin: &[u8]| decode(Runtime::Codex, Event::Stop, stdin, |_| None);
    assert!(matches!(bad(b"{"), Err(DecodeError::Json(_))));
    assert!(matches!(bad(b"[]"), Err(DecodeError::NotAnObject)));
    assert!(matches!(
        bad(b"{\"session_id\": \"\xff\"}"),
        Err(DecodeError::Json(_))
    ));
    assert!(decode(Runtime::Kiro, Event::Stop, b" \n", |_| None).is_ok());
    assert_eq!(
        given(
            Runtime::Codex,
            Event::Stop,
            &json!({ "session_id": 7, "loop_count": "x" })
        )
        .session,
        None
    );
}

#[test]
fn a_transcript_tells_the_last_words_and_whether_the_last_call_was_a_cue() {
    let cue = "cueme cue tidy_fox - <<'E'\\n<cueme_prompt>\\nok?\\n</cueme_prompt>\\nE";
    let transcripts = [
        (
            "claude code",
            format!(
                r#"{{"type":"user","uuid":"u0","message":{{"role":"user","content":"fix it"}}}}
{{"type":"assistant","uuid":"u1","message":{{"role":"assistant","content":[{{"type":"tool_use","name":"Bash","input":{{"command":"{cue}"}}}}]}}}}
{{"type":"user","uuid":"u2","message":{{"role":"user","content":[{{"type":"tool_result","content":"yes"}}]}}}}
{{"type":"assistant","uuid":"u3","isSidechain":true,"message":{{"content":[{{"type":"text","text":"a sub-agent"}}]}}}}
{{"type":"assistant","uuid":"u4","message":{{"role":"assistant","content":[{{"type":"text","text":"All done."}}]}}}}"#
            ),
        ),
        (
            "cursor",
            format!(
                r#"{{"role":"user","message":{{"content":[{{"type":"text","text":"fix it"}}]}}}}
{{"role":"assistant","message":{{"content":[{{"type":"text","text":"All done."}},{{"type":"tool_use","name":"Shell","input":{{"command":"{cue}","block_until_ms":86400000}}}}]}}}}"#
            ),
        ),
        (
            "codex",
            format!(
                r#"{{"type":"response_item","payload":{{"type":"message","role":"user","content":[{{"type":"input_text","text":"fix it"}}]}}}}
{{"type":"response_item","payload":{{"type":"function_call","name":"exec_command","arguments":"{{\"cmd\":\"{}\"}}"}}}}
{{"type":"response_item","payload":{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":"All done."}}]}}}}"#,
                cue.replace('\\', "\\\\")
            ),
        ),
        (
            "copilot",
            format!(
                r#"{{"type":"user.message","id":"e1","data":{{"content":"fix it"}}}}
{{"type":"assistant.message","id":"e2","data":{{"content":"All done.","toolRequests":[{{"name":"bash","arguments":{{"command":"{cue}"}}}}]}}}}"#
            ),
        ),
        (
            "gemini",
            format!(
                r#"{{"sessionId":"s","kind":"main"}}
{{"id":"m1","timestamp":"t1","type":"user","content":[{{"text":"fix it"}}]}}
{{"$set":{{"lastUpdated":"t1"}}}}
{{"id":"m2","timestamp":"t2","type":"gemini","content":"All done.","toolCalls":[{{"name":"run_shell_command","args":{{"command":"{cue}"}}}}]}}"#
            ),
        ),
        (
            "gemini, older",
            format!(
                r#"{{"sessionId":"s","messages":[{{"type":"user","content":"fix it"}},
                {{"id":"m2","type":"gemini","content":"All done.","toolCalls":[{{"name":"run_shell_command","args":{{"command":"{cue}"}}}}]}}]}}"#
            ),
        ),
    ];
    for (host, text) in transcripts {
        let turn = turn_of(&text).unwrap_or_else(|| panic!("{host}: no turn"));
        assert_eq!(turn.last_message.as_deref(), Some("All done."), "{host}");
        assert!(
            turn.last_call.as_ref().is_some_and(is_cue_call),
            "{host}: {:?}",
            turn.last_call
        );
    }
}

#[test]
fn a_cue_before_the_humans_last_prompt_does_not_count() {
    let text = r#"{"role":"assistant","message":{"content":[{"type":"tool_use","name":"mcp__cueme__cue","input":{}}]}}
{"role":"user","message":{"content":"and now?"}}
{"role":"assistant","message":{"content":[{"type":"text","text":"Nothing."}]}}
not json
{"role":"assist"#;
    let turn = turn_of(text).unwrap();
    assert_eq!(
        (turn.last_call, turn.last_message.as_deref()),
        (None, Some("Nothing."))
    );
    assert_eq!(turn_of(""), None);
}

#[test]
fn of_a_huge_transcript_only_the_end_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.jsonl");
    let filler = format!(
        "{{\"role\":\"assistant\",\"message\":{{\"content\":\"{}\"}}}}\n",
        "x".repeat(1_000_000)
    );
    let mut text = filler.repeat(9);
    text.push_str("{\"role\":\"assistant\",\"id\":\"last\",\"message\":{\"content\":\"the end\"}}\n");
    assert!(text.len() as u64 > TAIL_BYTES_MAX);
    fs::write(&path, text).unwrap();
    let turn = read_turn(&path).unwrap().unwrap();
    assert_eq!(
        (turn.id.as_deref(), turn.last_message.as_deref()),
        (Some("last"), Some("the end"))
    );
    assert!(read_turn(&folder.path().join("missing")).is_err());
}
