//! Cases that a host cannot pass, each with its reason. One that begins with `open` is our own fault. A limit that is no
//! longer true fails the suite.

/// One case that one host cannot pass.
#[derive(Debug)]
pub(crate) struct Limit {
    pub(crate) host: &'static str,
    pub(crate) case: &'static str,
    pub(crate) reason: &'static str,
}

const CODEX_SANDBOX: &str = "Codex runs a command with a here-document in its sandbox, where no socket can be opened; the MCP tool \
     `cue` and `cueme cue <id> --prompt … --payload …` work";
const QWEN_PERMISSION: &str = "Qwen Code takes each line of a here-document for a command of its own, and without a window it calls no hook that could \
     permit it; the MCP tool `cue` and `cueme cue <id> --prompt … --payload …` work";
const GEMINI_SUBSTITUTION: &str = "Gemini CLI takes the text of a here-document for shell words and refuses `$(` and backticks in it; the \
     MCP tool `cue` works";
const OPENCODE_RUN: &str = "`opencode run` exits as soon as the agent is idle and takes its plugin along: the human is asked, but no answer can \
     continue the turn";
const SECOND_PROCESS: &str = "the host runs itself in a second process, which lives on, and its hook with it, when only the first one is killed";
const WAITS_FOR_HOOKS: &str = "told to end, Gemini CLI waits for its hooks first";

const ALL: &[Limit] = &[
    limit("codex", "cue, plain", CODEX_SANDBOX),
    limit("codex", "cue, choice", CODEX_SANDBOX),
    limit("codex", "cue, confirm", CODEX_SANDBOX),
    limit("codex", "cue, form", CODEX_SANDBOX),
    limit("codex", NASTY, CODEX_SANDBOX),
    limit("qwen_code", "cue, plain", QWEN_PERMISSION),
    limit("qwen_code", "cue, choice", QWEN_PERMISSION),
    limit("qwen_code", "cue, confirm", QWEN_PERMISSION),
    limit("qwen_code", "cue, form", QWEN_PERMISSION),
    limit("qwen_code", NASTY, QWEN_PERMISSION),
    limit("gemini_cli", NASTY, GEMINI_SUBSTITUTION),
    limit("opencode", "end without asking: the human is asked", OPENCODE_RUN),
    limit("opencode", "declined: the turn ends", OPENCODE_RUN),
    limit(
        "opencode",
        "failed question, then the end: the human is asked",
        OPENCODE_RUN,
    ),
    limit(
        "opencode",
        "question, more work, then the end: the human is asked",
        OPENCODE_RUN,
    ),
    limit(
        "opencode",
        "broker killed while the stop hook waits",
        OPENCODE_RUN,
    ),
    limit("gemini_cli", KILLED, SECOND_PROCESS),
    limit("qwen_code", KILLED, SECOND_PROCESS),
    limit("gemini_cli", TOLD_TO_END, WAITS_FOR_HOOKS),
    limit("qwen_code", TOLD_TO_END, SECOND_PROCESS),
];

const NASTY: &str = "cue with code, quotes, `$`, backticks and Chinese";
const KILLED: &str = "host killed while its hook waits: no process is left";
const TOLD_TO_END: &str = "host told to end while its hook waits: no process is left";

const fn limit(host: &'static str, case: &'static str, reason: &'static str) -> Limit {
    Limit { host, case, reason }
}

/// Returns why a host cannot pass a case.
pub(crate) fn of(host: &str, case: &str) -> Option<&'static Limit> {
    ALL.iter().find(|limit| limit.host == host && limit.case == case)
}
