//! What a host makes impossible, each with its reason. A limit that is no longer true fails the suite.

/// One case that one host cannot pass.
#[derive(Debug)]
pub(crate) struct Limit {
    pub(crate) host: &'static str,
    pub(crate) case: &'static str,
    pub(crate) reason: &'static str,
}

const HERE_DOCUMENT: &str = "Codex runs a command with a here-document in its sandbox, where no socket can be opened; the MCP tool \
     `cue` and `cueme cue <id> --prompt … --payload …` work";

const ALL: &[Limit] = &[
    sandboxed("cue, plain"),
    sandboxed("cue, choice"),
    sandboxed("cue, confirm"),
    sandboxed("cue, form"),
    sandboxed("cue with code, quotes, `$`, backticks and Chinese"),
];

const fn sandboxed(case: &'static str) -> Limit {
    Limit {
        host: "codex",
        case,
        reason: HERE_DOCUMENT,
    }
}

/// Returns why a host cannot pass a case.
pub(crate) fn of(host: &str, case: &str) -> Option<&'static Limit> {
    ALL.iter().find(|limit| limit.host == host && limit.case == case)
}
