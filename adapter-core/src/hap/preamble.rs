//! The preamble of every turn: the protocol for the agent.
//!
//! It is repeated in each turn, because a rule that is only in the context is lost when the context is compacted.

use super::gate::Failure;

/// The environment variable that carries the turn's nonce to `cueme`.
pub const TURN_ENV: &str = "CUEME_TURN";

/// The most characters of its own words that a forgetful agent is told again.
const SAID_CHARS_MAX: usize = 8_000;

/// Returns the rule for an agent with this id.
pub fn preamble(agent_id: &str) -> String {
    format!(
        "[HAP] You work with a human through the command `cueme`. Before every summary and before you finish, run in \
the foreground:\n\
cueme cue {agent_id} - <<'EOF'\n<cueme_prompt>\nwhat you did and what you ask\n</cueme_prompt>\nEOF\n\
Its stdout is the human's answer: act on it, then cue again; only where it says that the human ends the run, finish \
without asking again. A reply is not complete unless its last action is a \
successful `cueme cue` or `cueme pause`. Give the shell call a very large block_until_ms (86400000), never run it in \
the background, and never append `||`, `;`, `&` or a pipe to it. Exit 75 means the question is still open: run the \
same command again. Do not use the built-in question tool: nobody sees it. Never claim a call you did not make. If you \
cannot run tools, say TOOLS_UNAVAILABLE and print only the exact cueme command.\n[/HAP]"
    )
}

/// Returns a prompt with the rule before it.
pub fn with_preamble(agent_id: &str, prompt: &str) -> String {
    format!("{}\n\n{prompt}", preamble(agent_id))
}

/// Returns what an agent is told that ended its turn without asking.
pub fn follow_up(agent_id: &str, failure: &Failure) -> String {
    if failure.is_still_open() {
        return format!(
            "Your turn is not complete: {failure}. Run the same `cueme` command again, word for word and in the foreground: \
it waits for the answer to the same question. Do nothing else before it."
        );
    }
    format!(
        "Your turn is not complete: {failure}. Do not repeat your work. Now run `cueme cue {agent_id} -` in the \
foreground, as its last and only step, with a summary of what you did and what you need, and wait for the answer."
    )
}

/// Returns what an agent is told of the human's answer.
pub(super) fn answered(text: &str) -> String {
    format!("The human answered:\n{text}")
}

/// Returns what an agent is told that has forgotten what was said before.
pub(super) fn told_again(task: &str, said: &str, answer: &str) -> String {
    let said = said.trim();
    let skip = said.chars().count().saturating_sub(SAID_CHARS_MAX);
    let said: String = said.chars().skip(skip).collect();
    format!(
        "The earlier part of this conversation was lost. Look at the state of the work before you go on.\n\n\
The task was:\n{task}\n\nYou said last:\n{said}\n\n{}",
        answered(answer)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_names_the_command_the_wait_and_the_way_out() {
        let text = preamble("tidy-otter");
        for part in [
            "cueme cue tidy-otter -",
            "<cueme_prompt>",
            "block_until_ms",
            "TOOLS_UNAVAILABLE",
            "Exit 75",
        ] {
            assert!(text.contains(part), "{part}");
        }
    }

    #[test]
    fn an_agent_that_forgot_is_told_the_task_its_words_and_the_answer() {
        let text = told_again("fix it", &"é".repeat(2 * SAID_CHARS_MAX), "go on");
        assert!(text.contains("fix it") && text.ends_with("The human answered:\ngo on"));
        assert!(text.chars().count() < SAID_CHARS_MAX + 500);
    }

    #[test]
    fn a_follow_up_says_what_was_missing() {
        assert!(follow_up("a", &Failure::Backgrounded).contains("background"));
        for open in [Failure::Exit(75), Failure::StillOpen] {
            assert!(follow_up("a", &open).contains("same `cueme` command again"));
        }
    }
}
