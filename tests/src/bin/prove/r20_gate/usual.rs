//! The forms in which models call us, with what the call must get.

/// Prompts and payloads as models write them.
pub(super) const BODIES: &[&str] = &[
    "<cueme_prompt>\nDone. What next?\n</cueme_prompt>",
    "<cueme_prompt>\nWhich database shall we use?\n</cueme_prompt>\n<cueme_payload>\n{\"type\":\"choice\",\"options\":[\"SQLite\",\"PostgreSQL\"]}\n</cueme_payload>",
    "<cueme_prompt>\nDelete the branch?\n</cueme_prompt>\n<cueme_payload>\n{\n  \"type\": \"confirm\",\n  \"confirm_label\": \"Delete\",\n  \"cancel_label\": \"Keep\"\n}\n</cueme_payload>",
    "<cueme_prompt>\nHow shall I deploy?\n</cueme_prompt>\n<cueme_payload>\n{\"type\":\"form\",\"fields\":[{\"label\":\"Host\"},{\"label\":\"Port\",\"kind\":\"number\"}]}\n</cueme_payload>",
    "<cueme_prompt>\n任务完成了。接下来做什么？“继续”还是停止！\n</cueme_prompt>",
    "<cueme_prompt>\nテストは全部通りました。次は？ Ünïcödé é ñ 🎉\n</cueme_prompt>",
    "<cueme_prompt>\nRun `rm -rf build` and $(date), costs $5, ${HOME}, \\$x, !important?\n</cueme_prompt>",
    "<cueme_prompt>\n```bash\nset -e\nfor f in *.txt; do echo \"$f\" | wc -c > out; done && exit 0\n```\nShall I?\n</cueme_prompt>",
    "<cueme_prompt>\nHe said \"it's fine\" & left; <b>ok</b> | 'quoted' (maybe) {a,b} [x] ~ #1 50% a=b \\n\n</cueme_prompt>",
    "<cueme_prompt>\n\n\tindented\n\n  more\n\n</cueme_prompt>",
    "<cueme_prompt>\ncat <<'DOC'\ninner\nDOC\ncueme pause x; echo EOF done\n EOF\nEOFX\n</cueme_prompt>",
    "<cueme_prompt>\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- [ ] one\n- [x] two\n\n> quote\n</cueme_prompt>",
    "<cueme_prompt>\ndiff --git a/x b/x\n@@ -1 +1 @@\n-old\n+new\n</cueme_prompt>",
    "",
];

/// Delimiters as models write them.
const DELIMITERS: &[&str] = &[
    "EOF",
    "CUEME",
    "CUEME_EOF",
    "END",
    "EOT",
    "PROMPT",
    "CUE_PROMPT",
    "HEREDOC",
    "END_OF_PROMPT",
    "eof",
    "EOF1",
    "__END__",
    "CUEME-EOF",
];

/// One form.
pub(super) struct Form {
    pub(super) text: String,
    pub(super) arguments: Vec<String>,
    pub(super) stdin: String,
}

/// Returns all forms; `own` is our absolute path.
pub(super) fn forms(own: &str) -> Vec<Form> {
    let mut forms = one_line(own);
    for body in BODIES {
        for delimiter in DELIMITERS {
            forms.extend(documents(own, body, delimiter));
        }
    }
    forms
}

fn form(text: impl Into<String>, arguments: &[&str], stdin: &str) -> Form {
    Form {
        text: text.into(),
        arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
        stdin: stdin.to_owned(),
    }
}

fn documents(own: &str, body: &str, delimiter: &str) -> Vec<Form> {
    let stdin = format!("{body}\n");
    let rest = format!("\n{body}\n{delimiter}");
    let cue = ["cue", "tidy-fox", "-"];
    vec![
        form(
            format!("cueme cue tidy-fox - <<'{delimiter}'{rest}"),
            &cue,
            &stdin,
        ),
        form(
            format!("cueme cue tidy-fox - <<'{delimiter}'{rest}\n"),
            &cue,
            &stdin,
        ),
        form(
            format!("cueme cue tidy-fox - << '{delimiter}'{rest}"),
            &cue,
            &stdin,
        ),
        form(
            format!("cueme cue tidy-fox - <<\"{delimiter}\"{rest}"),
            &cue,
            &stdin,
        ),
        form(format!("cueme cue tidy-fox -<<'{delimiter}'{rest}"), &cue, &stdin),
        form(
            format!("cueme cue \"tidy-fox\" - <<'{delimiter}'{rest}"),
            &cue,
            &stdin,
        ),
        form(
            format!("cueme cue 'tidy-fox' - <<'{delimiter}'{rest}"),
            &cue,
            &stdin,
        ),
        form(
            format!("{own} cue tidy-fox - <<'{delimiter}'{rest}"),
            &cue,
            &stdin,
        ),
        form(
            format!("\"{own}\" cue tidy-fox - <<'{delimiter}'{rest}"),
            &cue,
            &stdin,
        ),
        form(
            format!("  cueme cue tidy-fox -  <<'{delimiter}'{rest}\n\n"),
            &cue,
            &stdin,
        ),
        form(
            format!("CUEME_WAIT=90s cueme cue tidy-fox - <<'{delimiter}'{rest}"),
            &cue,
            &stdin,
        ),
        form(
            format!("cueme cue tidy-fox - --json <<'{delimiter}'{rest}"),
            &["cue", "tidy-fox", "-", "--json"],
            &stdin,
        ),
        form(
            format!("cueme pause tidy-fox - <<'{delimiter}'{rest}"),
            &["pause", "tidy-fox", "-"],
            &stdin,
        ),
    ]
}

fn one_line(own: &str) -> Vec<Form> {
    let texts: &[(&str, &[&str])] = &[
        ("cueme join claude_code", &["join", "claude_code"]),
        ("cueme join codex\n", &["join", "codex"]),
        ("cueme join \"gemini_cli\"", &["join", "gemini_cli"]),
        ("cueme join 'opencode'", &["join", "opencode"]),
        ("  cueme join copilot_cli  ", &["join", "copilot_cli"]),
        ("cueme join qwen_code", &["join", "qwen_code"]),
        ("cueme recall login test", &["recall", "login", "test"]),
        (
            "cueme recall \"the login test in /srv/app\"",
            &["recall", "the login test in /srv/app"],
        ),
        ("cueme recall '登录测试'", &["recall", "登录测试"]),
        ("cueme recall --json app", &["recall", "--json", "app"]),
        ("cueme pause tidy-fox", &["pause", "tidy-fox"]),
        ("cueme pause tidy-fox --json", &["pause", "tidy-fox", "--json"]),
        (
            "cueme pause tidy-fox \"Ready for review\"",
            &["pause", "tidy-fox", "Ready for review"],
        ),
        (
            "cueme pause tidy-fox 'Ready; look at src/*.rs?'",
            &["pause", "tidy-fox", "Ready; look at src/*.rs?"],
        ),
        (
            "cueme pause tidy-fox \"It's done! What's next?\"",
            &["pause", "tidy-fox", "It's done! What's next?"],
        ),
        ("cueme pause tidy-fox \"Done!\"", &["pause", "tidy-fox", "Done!"]),
        (
            "cueme pause tidy-fox \"say \\\"hi\\\"\"",
            &["pause", "tidy-fox", "say \"hi\""],
        ),
        (
            "cueme pause tidy-fox \"costs \\$5\"",
            &["pause", "tidy-fox", "costs $5"],
        ),
        (
            "cueme pause tidy-fox \"run \\`make\\`\"",
            &["pause", "tidy-fox", "run `make`"],
        ),
        (
            "cueme pause tidy-fox '{\"a\": [1, 2]}'",
            &["pause", "tidy-fox", "{\"a\": [1, 2]}"],
        ),
        (
            "cueme pause tidy-fox \"请看一下：“好”\"",
            &["pause", "tidy-fox", "请看一下：“好”"],
        ),
        (
            "cueme pause tidy-fox \"line one\nline two\"",
            &["pause", "tidy-fox", "line one\nline two"],
        ),
        (
            "cueme pause \"tidy-fox\" 'a' \"b\" c",
            &["pause", "tidy-fox", "a", "b", "c"],
        ),
        ("CUEME_WAIT=5m cueme pause tidy-fox", &["pause", "tidy-fox"]),
        (
            "CUEME_WAIT=0 cueme pause tidy-fox 'x'",
            &["pause", "tidy-fox", "x"],
        ),
    ];
    let mut forms: Vec<Form> = texts
        .iter()
        .map(|(text, arguments)| form(*text, arguments, ""))
        .collect();
    forms.push(form(
        format!("{own} join claude_code"),
        &["join", "claude_code"],
        "",
    ));
    forms.push(form(
        format!("'{own}' pause tidy-fox"),
        &["pause", "tidy-fox"],
        "",
    ));
    forms
}
