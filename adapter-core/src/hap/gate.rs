//! The gate: was the human asked in this turn?
//!
//! Pure: it weighs what the stream showed against what the broker recorded. The stream alone proves nothing,
//! because an agent can write anything; the record alone proves that somebody asked at some time in the turn. Both
//! together say that the turn's last act was a cue the human answered. Where the command hides how the cue ended, the
//! record decides: the human is not asked twice because of a `timeout` or an `echo $?`.

use std::fmt;

use protocol_spec::exit::Exit;
use runtimes::hook::mcp_tool;
use runtimes::shell::cue_line::{Cue, WAITING_VERBS, find_cue, is_cue_words, may_wrap_cue};

use super::human::{Receipt, ReceiptOutcome};
use crate::contract::{AskQuestion, CallKind, CallRecord, Evidence, ShellCommand};

/// The exit code of a cue whose question is still open.
const STILL_OPEN: i64 = Exit::StillOpen.code() as i64;
/// The text of an agent that cannot run tools.
const TOOLS_UNAVAILABLE: &str = "TOOLS_UNAVAILABLE";

/// The gate's verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The human was asked and heard.
    Passed,
    /// Not so.
    Failed(Failure),
}

/// Why the gate stays shut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The CLI answered the agent's own questions; no human saw them.
    QuestionsSkipped(Vec<AskQuestion>),
    /// The agent says that it cannot run tools; this is the command it wants run, if it said one.
    ToolsUnavailable(Option<String>),
    /// The agent called no tool at all.
    NothingCalled,
    /// The turn ended while calls were running.
    StillRunning(usize),
    /// Its last call was something else.
    NotLast(String),
    /// The cue was moved to the background.
    Backgrounded,
    /// The command hides the cue's exit code.
    Masked(String),
    /// The cue ended, but not with an answer: exit 75 is still open.
    Exit(i64),
    /// The cue was rejected, or failed.
    Refused(String),
    /// The stream shows a cue of which the broker knows nothing.
    NoReceipt,
    /// The broker has the cue, and no human has answered it yet.
    StillOpen,
}

impl Failure {
    /// Reports whether the question of the turn waits for its answer.
    pub(super) fn is_still_open(&self) -> bool {
        matches!(self, Self::Exit(STILL_OPEN) | Self::StillOpen)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::QuestionsSkipped(_) => f.write_str("the CLI answered the agent's questions itself"),
            Self::ToolsUnavailable(_) => f.write_str("the agent cannot run tools"),
            Self::NothingCalled => f.write_str("the turn ended without any tool call"),
            Self::StillRunning(count) => write!(f, "{count} tool calls were still running"),
            Self::NotLast(key) => write!(f, "the last action was {key}, not a cue"),
            Self::Backgrounded => f.write_str("the cue ran in the background"),
            Self::Masked(command) => write!(
                f,
                "the command hides the cue's exit code: {}",
                first_line(command)
            ),
            Self::Exit(STILL_OPEN) => f.write_str("the cue ended with exit 75: it is still open"),
            Self::Exit(code) => write!(f, "the cue ended with exit {code}"),
            Self::Refused(outcome) => write!(f, "the cue did not run: {outcome}"),
            Self::NoReceipt => f.write_str("the broker has no record of a cue in this turn"),
            Self::StillOpen => f.write_str("the cue of this turn is still open"),
        }
    }
}

/// Judges a turn by its stream and by the broker's records of it.
pub fn judge(evidence: &Evidence, receipts: &[Receipt]) -> Verdict {
    match check(evidence, receipts) {
        Ok(()) => Verdict::Passed,
        Err(failure) => Verdict::Failed(failure),
    }
}

fn check(evidence: &Evidence, receipts: &[Receipt]) -> Result<(), Failure> {
    if !evidence.skipped_questions.is_empty() {
        return Err(Failure::QuestionsSkipped(evidence.skipped_questions.clone()));
    }
    let Some(call) = &evidence.last_call else {
        return Err(unavailable(evidence).unwrap_or(Failure::NothingCalled));
    };
    if evidence.open_calls > 0 {
        return Err(Failure::StillRunning(evidence.open_calls));
    }
    let heard = check_receipts(receipts);
    check_call(call, heard.is_ok()).map_err(|failure| match failure {
        Failure::NotLast(_) => unavailable(evidence).unwrap_or(failure),
        other => other,
    })?;
    heard
}

fn check_call(call: &CallRecord, is_heard: bool) -> Result<(), Failure> {
    match &call.what {
        CallKind::Shell(shell) => check_shell(shell, is_heard)?,
        CallKind::Mcp { tool, server } if is_our_tool(tool, server) => {}
        CallKind::Mcp { .. } | CallKind::Other => return Err(Failure::NotLast(call.key.clone())),
    }
    if call.is_background {
        return Err(Failure::Backgrounded);
    }
    match call.exit_code {
        Some(STILL_OPEN) => Err(Failure::Exit(STILL_OPEN)),
        Some(code) if code != 0 && !is_heard => Err(Failure::Exit(code)),
        Some(code) if code != 0 => Ok(()),
        _ if call.outcome != "success" => Err(Failure::Refused(call.outcome.clone())),
        _ => Ok(()),
    }
}

fn check_shell(shell: &ShellCommand, is_heard: bool) -> Result<(), Failure> {
    // Our own reading knows operators, which the CLI's list of commands does not; the list helps when the line is
    // too clever for us and holds nothing but the cue.
    let only_cue = shell
        .parsed
        .as_ref()
        .is_some_and(|commands| commands.len() == 1 && is_cue_words(&commands[0]));
    match find_cue(&shell.command) {
        Cue::Plain => Ok(()),
        Cue::None if shell.command.is_empty() && only_cue => Ok(()),
        Cue::None | Cue::Masked if is_heard && may_wrap_cue(&shell.command) => Ok(()),
        Cue::None if may_wrap_cue(&shell.command) => Err(Failure::Masked(shell.command.clone())),
        Cue::None => Err(Failure::NotLast("shellToolCall".to_owned())),
        Cue::Masked => Err(Failure::Masked(shell.command.clone())),
    }
}

/// Recognises our MCP tools, however the host spells server and tool.
fn is_our_tool(tool: &str, server: &str) -> bool {
    let verb = mcp_tool::verb_of_name(tool).or_else(|| mcp_tool::is_our_server(server).then_some(tool));
    verb.is_some_and(|verb| WAITING_VERBS.contains(&verb))
}

fn check_receipts(receipts: &[Receipt]) -> Result<(), Failure> {
    let closed = |receipt: &Receipt| receipt.acknowledged && receipt.outcome != ReceiptOutcome::Open;
    match receipts.last() {
        None => Err(Failure::NoReceipt),
        Some(last) if closed(last) && last.outcome != ReceiptOutcome::Cancelled => Ok(()),
        Some(_) => Err(Failure::StillOpen),
    }
}

fn unavailable(evidence: &Evidence) -> Option<Failure> {
    let (_, after) = evidence.final_text.split_once(TOOLS_UNAVAILABLE)?;
    let command = after
        .lines()
        .map(|line| line.trim().trim_matches('`'))
        .find(|line| line.starts_with("cueme "));
    Some(Failure::ToolsUnavailable(command.map(str::to_owned)))
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(command: &str, exit: i64, is_background: bool) -> Evidence {
        let what = CallKind::Shell(ShellCommand {
            command: command.into(),
            parsed: None,
        });
        let outcome = if exit == 0 { "success" } else { "failure" };
        let call = CallRecord {
            key: "shellToolCall".into(),
            outcome: outcome.into(),
            exit_code: Some(exit),
            is_background,
            what,
        };
        Evidence {
            last_call: Some(call),
            ..Evidence::default()
        }
    }

    fn receipt(outcome: ReceiptOutcome) -> Vec<Receipt> {
        vec![Receipt {
            nonce: "n".into(),
            outcome,
            acknowledged: outcome != ReceiptOutcome::Open,
            ends_run: false,
        }]
    }

    fn failure(evidence: &Evidence, receipts: &[Receipt]) -> Failure {
        match judge(evidence, receipts) {
            Verdict::Failed(failure) => failure,
            Verdict::Passed => panic!("the gate passed"),
        }
    }

    const CUE: &str = "cueme cue tidy-otter - <<'E'\n<cueme_prompt>\nDone?\n</cueme_prompt>\nE";

    #[test]
    fn an_agent_that_obeys_passes_by_shell_and_by_mcp() {
        let answered = receipt(ReceiptOutcome::Answered);
        assert_eq!(judge(&shell(CUE, 0, false), &answered), Verdict::Passed);
        assert_eq!(
            judge(&shell(CUE, 0, false), &receipt(ReceiptOutcome::Declined)),
            Verdict::Passed
        );
        let what = CallKind::Mcp {
            tool: "cue".into(),
            server: "cueme".into(),
        };
        let call = CallRecord {
            key: "mcpToolCall".into(),
            outcome: "success".into(),
            exit_code: None,
            is_background: false,
            what,
        };
        let evidence = Evidence {
            last_call: Some(call),
            ..Evidence::default()
        };
        assert_eq!(judge(&evidence, &answered), Verdict::Passed);
    }

    #[test]
    fn an_agent_that_forgets_does_not_pass_even_with_an_earlier_receipt() {
        let answered = receipt(ReceiptOutcome::Answered);
        assert_eq!(failure(&Evidence::default(), &[]), Failure::NothingCalled);
        assert!(matches!(
            failure(&shell("cargo test", 0, false), &answered),
            Failure::NotLast(_)
        ));
    }

    #[test]
    fn an_agent_that_lies_does_not_pass() {
        let claim = Evidence {
            final_text: "I called cueme and you said yes".into(),
            ..Evidence::default()
        };
        assert_eq!(failure(&claim, &[]), Failure::NothingCalled);
        assert!(matches!(
            failure(&shell("echo cueme cue a -", 0, false), &[]),
            Failure::NotLast(_)
        ));
        assert_eq!(failure(&shell(CUE, 0, false), &[]), Failure::NoReceipt);
    }

    #[test]
    fn a_cue_in_the_background_does_not_pass() {
        let answered = receipt(ReceiptOutcome::Answered);
        assert_eq!(failure(&shell(CUE, 0, true), &answered), Failure::Backgrounded);
        assert!(matches!(
            failure(&shell("cueme cue a - &", 0, false), &answered),
            Failure::Masked(_)
        ));
    }

    #[test]
    fn a_hidden_exit_code_passes_only_where_the_broker_holds_an_acknowledged_answer() {
        let answered = receipt(ReceiptOutcome::Answered);
        for command in [
            "cueme cue a - || true",
            "cueme cue a -; true",
            "cueme cue a - | tee log",
            "timeout 60 cueme cue a -",
            "OUT=$(cueme cue a -)",
            "if cueme cue a -; then :; fi",
        ] {
            assert_eq!(
                judge(&shell(command, 0, false), &answered),
                Verdict::Passed,
                "{command}"
            );
            for receipts in [Vec::new(), receipt(ReceiptOutcome::Open)] {
                let failure = failure(&shell(command, 0, false), &receipts);
                assert!(matches!(failure, Failure::Masked(_)), "{command}: {failure}");
            }
        }
        assert_eq!(
            judge(&shell("cueme cue a - && git push", 1, false), &answered),
            Verdict::Passed
        );
    }

    #[test]
    fn a_cue_that_is_still_open_never_passes() {
        assert_eq!(
            failure(&shell(CUE, 75, false), &receipt(ReceiptOutcome::Answered)),
            Failure::Exit(75)
        );
        assert_eq!(
            failure(&shell(CUE, 0, false), &receipt(ReceiptOutcome::Open)),
            Failure::StillOpen
        );
        assert_eq!(
            failure(&shell(CUE, 0, false), &receipt(ReceiptOutcome::Cancelled)),
            Failure::StillOpen
        );
    }

    #[test]
    fn a_cue_before_other_running_work_does_not_pass() {
        let evidence = Evidence {
            open_calls: 1,
            ..shell(CUE, 0, false)
        };
        assert_eq!(
            failure(&evidence, &receipt(ReceiptOutcome::Answered)),
            Failure::StillRunning(1)
        );
    }

    #[test]
    fn an_agent_without_tools_surfaces_its_exact_command() {
        let text = "TOOLS_UNAVAILABLE\n```\ncueme cue tidy-otter -\n```".to_owned();
        let evidence = Evidence {
            final_text: text,
            ..Evidence::default()
        };
        assert_eq!(
            failure(&evidence, &[]),
            Failure::ToolsUnavailable(Some("cueme cue tidy-otter -".into()))
        );
    }

    #[test]
    fn a_stranger_s_tool_named_cue_is_not_ours() {
        assert!(!is_our_tool("cue", "billiards"));
        assert!(!is_our_tool("cue", "not-cueme") && !is_our_tool("mcp_not_cueme_cue", ""));
        assert!(is_our_tool("mcp_cueme_cue", "") && is_our_tool("pause", "user-cueme"));
    }
}
