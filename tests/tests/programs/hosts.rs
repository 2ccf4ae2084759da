//! The hosts: how each is started, and how it is pointed at the scripted model without an account.

use std::process::Command;

use cueme_tests::envelope;
use cueme_tests::model_server::AGENT;
use serde_json::json;

use crate::programs::Programs;

/// A published program.
#[derive(Debug)]
pub(crate) struct Host {
    /// Its tag at `cueme init`.
    pub(crate) tag: &'static str,
    /// The name for people.
    pub(crate) name: &'static str,
    /// The package whose version is the program's.
    pub(crate) package: &'static str,
    /// Starts the program, with nothing said yet.
    program: fn(&Programs) -> Command,
    /// Points it at the model: variables and arguments.
    model: fn(&mut Command, &str),
    /// Adds the prompt of a run without a window.
    headless: fn(&mut Command, &str),
    /// The text in its window once it accepts input, if the suite uses the window.
    pub(crate) ready: Option<&'static str>,
    /// Adds what a run with a window needs.
    window: fn(&mut Command),
    /// The key that sends the typed text while a hook runs, beyond Enter.
    pub(crate) send_key: Option<&'static str>,
    /// Its own tool that asks the human.
    pub(crate) question_tool: Option<&'static str>,
    /// Whether its shell runs no command with a here-document, or none that reaches the broker.
    pub(crate) refuses_here_documents: bool,
    /// A file in the home of somebody who has no account: its path and content.
    pub(crate) settings: Option<(&'static str, &'static str)>,
}

impl Host {
    /// Starts the program, pointed at the model.
    fn pointed(&self, programs: &Programs, model: &str) -> Command {
        let mut command = (self.program)(programs);
        (self.model)(&mut command, model);
        command
    }

    /// Writes a question without a payload as the host's shell takes it.
    pub(crate) fn cue(&self, prompt: &str) -> String {
        if self.refuses_here_documents {
            format!("cueme cue {AGENT} --prompt '{prompt}'")
        } else {
            here_document(prompt, None)
        }
    }

    /// Prepares a run with a window.
    pub(crate) fn window(&self, programs: &Programs, model: &str) -> Command {
        let mut command = self.pointed(programs, model);
        (self.window)(&mut command);
        command
    }

    /// Prepares a server that others speak to, where the host has one.
    pub(crate) fn server(&self, programs: &Programs, model: &str) -> Command {
        let mut command = self.pointed(programs, model);
        command.args(["serve", "--port", "0"]);
        command
    }

    /// Prepares the adapter by which editors speak to Claude Code, with the pinned program instead of its own copy.
    pub(crate) fn acp_adapter(&self, programs: &Programs, model: &str) -> Command {
        let program = self.pointed(programs, model);
        let mut command = script(programs, "@agentclientprotocol/claude-agent-acp/dist/index.js");
        for (name, value) in program.get_envs() {
            command.env(name, value.unwrap_or_default());
        }
        command
            .env("CLAUDE_CODE_EXECUTABLE", program.get_program())
            // Otherwise it asks the model what the human might type next, in the middle of the script.
            .env("CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION", "false")
            .env("ANTHROPIC_MODEL", "claude-sonnet-4-5");
        command
    }

    /// Prepares the host as an ACP agent: by its adapter, or by an option of its own.
    pub(crate) fn acp_agent(&self, programs: &Programs, model: &str) -> Command {
        if self.tag == "claude_code" {
            return self.acp_adapter(programs, model);
        }
        let mut command = self.pointed(programs, model);
        command.arg("--experimental-acp");
        command
    }

    /// Prepares a run without a window.
    pub(crate) fn headless(&self, programs: &Programs, model: &str, prompt: &str) -> Command {
        let mut command = self.pointed(programs, model);
        (self.headless)(&mut command, prompt);
        command
    }
}

/// Writes a question as the rule teaches it.
pub(crate) fn here_document(prompt: &str, payload: Option<&str>) -> String {
    format!("cueme cue {AGENT} - <<'EOF'\n{}EOF", envelope(prompt, payload))
}

/// Every host of the suite.
pub(crate) const ALL: [&Host; 6] = [
    &CLAUDE_CODE,
    &CODEX,
    &OPENCODE,
    &GEMINI_CLI,
    &COPILOT_CLI,
    &QWEN_CODE,
];

const CLAUDE_CODE: Host = Host {
    tag: "claude_code",
    name: "Claude Code",
    package: "@anthropic-ai/claude-code-linux-x64",
    program: |programs| Command::new(programs.file("@anthropic-ai/claude-code-linux-x64/claude")),
    model: |command, url| {
        command
            .env("ANTHROPIC_BASE_URL", url)
            .env("ANTHROPIC_AUTH_TOKEN", "scripted")
            .env("DISABLE_AUTOUPDATER", "1")
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .args(["--model", "claude-sonnet-4-5"]);
    },
    headless: |command, prompt| {
        command.args(["-p", prompt]);
    },
    ready: Some("❯"),
    window: |_| {},
    send_key: None,
    question_tool: Some("AskUserQuestion"),
    refuses_here_documents: false,
    settings: None,
};

const CODEX: Host = Host {
    tag: "codex",
    name: "Codex",
    package: "@openai/codex-linux-x64",
    program: |programs| {
        let binary = "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex";
        Command::new(programs.file(binary))
    },
    model: |command, url| {
        let provider = format!(
            r#"model_providers.scripted={{name="scripted",base_url="{url}/v1",wire_api="responses",env_key="SCRIPTED_KEY"}}"#
        );
        command
            .env("SCRIPTED_KEY", "scripted")
            .args([
                "-c",
                "model_provider=\"scripted\"",
                "-c",
                &provider,
                "-m",
                "gpt-5.1",
            ])
            // A person trusts the hooks in Codex's own dialog; a run without a window has none.
            .arg("--dangerously-bypass-hook-trust");
    },
    headless: |command, prompt| {
        command.args(["exec", "--skip-git-repo-check", prompt]);
    },
    ready: Some("›"),
    window: |command| {
        command.args(["-a", "on-request", "-s", "workspace-write", "--no-alt-screen"]);
    },
    send_key: Some("Escape"),
    question_tool: None,
    refuses_here_documents: true,
    settings: None,
};

const OPENCODE: Host = Host {
    tag: "opencode",
    name: "opencode",
    package: "opencode-linux-x64-baseline",
    program: |programs| Command::new(programs.file("opencode-linux-x64-baseline/bin/opencode")),
    model: |command, url| {
        let settings = json!({ "provider": { "scripted": {
            "npm": "@ai-sdk/openai-compatible",
            "options": { "baseURL": format!("{url}/v1"), "apiKey": "scripted" },
            "models": { "scripted": { "name": "scripted", "tool_call": true } },
        } } });
        command
            .env("OPENCODE_CONFIG_CONTENT", settings.to_string())
            .env("OPENCODE_DISABLE_AUTOUPDATE", "1")
            .env("OPENCODE_DISABLE_MODELS_FETCH", "1")
            .env("OPENCODE_DISABLE_LSP_DOWNLOAD", "1")
            // Where there are plugins it installs types for them, and tries for more than a minute without a network.
            .env("npm_config_offline", "true")
            .env("npm_config_fetch_retries", "0");
    },
    headless: |command, prompt| {
        command.args(["run", "--model", "scripted/scripted", prompt]);
    },
    ready: None,
    window: |_| {},
    send_key: None,
    question_tool: None,
    refuses_here_documents: false,
    settings: None,
};

const GEMINI_CLI: Host = Host {
    tag: "gemini_cli",
    name: "Gemini CLI",
    package: "@google/gemini-cli",
    program: |programs| script(programs, "@google/gemini-cli/bundle/gemini.js"),
    model: |command, url| {
        command
            .env("GEMINI_API_KEY", "scripted")
            .env("GOOGLE_GEMINI_BASE_URL", url)
            .env("GEMINI_TELEMETRY_ENABLED", "false")
            .args(["--model", "gemini-2.5-pro", "--skip-trust"]);
    },
    headless: |command, prompt| {
        command.args(["-p", prompt]);
    },
    ready: None,
    window: |_| {},
    send_key: None,
    question_tool: None,
    refuses_here_documents: false,
    // An address of one's own makes it forget that there is a key, unless the settings say so.
    settings: Some((
        ".gemini/settings.json",
        r#"{"security":{"auth":{"selectedType":"gemini-api-key"}}}"#,
    )),
};

const COPILOT_CLI: Host = Host {
    tag: "copilot_cli",
    name: "Copilot CLI",
    package: "@github/copilot-linux-x64",
    program: |programs| Command::new(programs.file("@github/copilot-linux-x64/copilot")),
    model: |command, url| {
        command
            .env("COPILOT_PROVIDER_BASE_URL", format!("{url}/v1"))
            .env("COPILOT_PROVIDER_API_KEY", "scripted")
            .env("COPILOT_MODEL", "gpt-5.1")
            .env("COPILOT_OFFLINE", "true")
            .env("COPILOT_AUTO_UPDATE", "false");
    },
    headless: |command, prompt| {
        // It has no file for permissions, so `cueme init` tells the person to start it so.
        command.args([
            "--allow-tool",
            "shell(cueme:*)",
            "--allow-tool",
            "cueme",
            "-p",
            prompt,
        ]);
    },
    ready: None,
    window: |_| {},
    send_key: None,
    question_tool: None,
    refuses_here_documents: false,
    settings: None,
};

const QWEN_CODE: Host = Host {
    tag: "qwen_code",
    name: "Qwen Code",
    package: "@qwen-code/qwen-code",
    program: |programs| script(programs, "@qwen-code/qwen-code/cli-entry.js"),
    model: |command, url| {
        command
            .env("OPENAI_API_KEY", "scripted")
            .env("OPENAI_BASE_URL", format!("{url}/v1"))
            .env("OPENAI_MODEL", "scripted")
            .args(["--auth-type", "openai"]);
    },
    headless: |command, prompt| {
        command.arg(prompt);
    },
    ready: Some("Type your message"),
    window: |_| {},
    send_key: None,
    question_tool: None,
    refuses_here_documents: true,
    // Otherwise an agent of its own reads each conversation after its end and writes notes.
    settings: Some((
        ".qwen/settings.json",
        r#"{"memory":{"enableManagedAutoMemory":false}}"#,
    )),
};

/// Starts a program written in JavaScript.
fn script(programs: &Programs, path: &str) -> Command {
    let mut command = Command::new(programs.node());
    command.arg(programs.file(path));
    command
}
