//! Cases that a host makes impossible, each with its reason.
//!
//! This is the one list of them: the suite that runs the real programs fails when a limit is no longer true and writes
//! the reasons below the table in `CHECKED.md`, and `cueme init` tells a person those of their host.

use super::Runtime;

/// Something that a host makes impossible.
#[derive(Debug)]
pub struct Limit {
    /// Why, and what works in its place.
    pub reason: &'static str,
    /// The cases that fail for it, as the table calls them.
    pub cases: &'static [&'static str],
}

impl Runtime {
    /// Returns what this host makes impossible, as far as it was tried.
    pub fn limits(self) -> &'static [Limit] {
        match self {
            Runtime::Codex => CODEX,
            Runtime::QwenCode => QWEN_CODE,
            Runtime::GeminiCli => GEMINI_CLI,
            Runtime::Opencode => OPENCODE,
            _ => &[],
        }
    }
}

const NASTY: &str = "cue with code, quotes, `$`, backticks and Chinese";
const HERE_DOCUMENTS: &[&str] = &["cue, plain", "cue, choice", "cue, confirm", "cue, form", NASTY];
const KILLED: &str = "host killed while its hook waits: no process is left";
const TOLD_TO_END: &str = "host told to end while its hook waits: no process is left";
const SECOND_PROCESS: &str =
    "the host starts a second process; if only the first is killed, the second and its hook keep running";

const CODEX: &[Limit] = &[Limit {
    reason: "Codex runs a command with a here-document in its sandbox, where no socket can be opened; the MCP tool \
             `cue` and `cueme cue <id> --prompt … --payload …` work",
    cases: HERE_DOCUMENTS,
}];

const QWEN_CODE: &[Limit] = &[
    Limit {
        reason: "Qwen Code parses each line of a here-document as a command of its own, and without a window it calls no \
                 hook that could permit it; the MCP tool `cue` and `cueme cue <id> --prompt … --payload …` work",
        cases: HERE_DOCUMENTS,
    },
    Limit {
        reason: SECOND_PROCESS,
        cases: &[KILLED, TOLD_TO_END],
    },
];

const GEMINI_CLI: &[Limit] = &[
    Limit {
        reason: "Gemini CLI parses the text of a here-document as shell words and refuses `$(` and backticks in it; the \
                 MCP tool `cue` works",
        cases: &[NASTY],
    },
    Limit {
        reason: SECOND_PROCESS,
        cases: &[KILLED],
    },
    Limit {
        reason: "on SIGTERM, Gemini CLI waits for its hooks before it exits",
        cases: &[TOLD_TO_END],
    },
];

const OPENCODE: &[Limit] = &[Limit {
    reason: "`opencode run` exits, and its plugin with it, as soon as the agent is idle: the human is asked, but no \
             answer can continue the turn; `opencode serve` goes on",
    cases: &[
        "end without asking: the human is asked",
        "declined: the turn ends",
        "failed question, then the end: the human is asked",
        "question, more work, then the end: the human is asked",
        "broker killed while the stop hook waits",
    ],
}];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_table_gives_these_reasons_and_no_others() {
        let table = include_str!("../../CHECKED.md");
        let (_, notes) = table.split_once("\n\n1. ").unwrap();
        let (notes, _) = notes.split_once("<!--").unwrap();
        let told: BTreeSet<&str> = notes
            .lines()
            .map(|line| line.split_once(". ").map_or(line, |(_, reason)| reason))
            .collect();
        let known: BTreeSet<&str> = Runtime::ALL
            .into_iter()
            .flat_map(Runtime::limits)
            .map(|limit| limit.reason)
            .collect();
        assert_eq!(told, known);
    }

    #[test]
    fn a_limit_is_one_line_and_names_cases_of_the_table() {
        let table = include_str!("../../CHECKED.md");
        for limit in Runtime::ALL.into_iter().flat_map(Runtime::limits) {
            assert!(
                !limit.reason.contains('\n') && limit.reason.len() < 240,
                "{limit:?}"
            );
            for case in limit.cases {
                assert!(table.contains(&format!("\n| {case} |")), "{case}");
            }
        }
    }
}
