//! Judges whether the exit code of a shell line is that of a cue.
//!
//! The stop hook and the gate of driven runs ask this of a turn's last command. A wrong yes would let an agent slip away,
//! a wrong no asks the human once more; so a line that is not understood counts as one that hides the exit code.

use super::lexer::{Token, tokens};

/// The verbs that wait for the human.
pub const WAITING_VERBS: [&str; 2] = ["cue", "pause"];

/// Programs that run the command that follows them, with its exit code.
const WRAPPERS: [&str; 4] = ["command", "exec", "env", "time"];

/// Programs that print their words and run nothing.
const PRINTERS: [&str; 2] = ["echo", "printf"];

/// Programs that run a text that they are given.
const INTERPRETERS: [&str; 16] = [
    "sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "eval", "script", "su", "ssh", "python", "python3",
    "node", "perl", "ruby",
];

/// A shell line's relation to a cue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cue {
    /// It runs one, and exit 0 of the line means exit 0 of the cue.
    Plain,
    /// It names one in a form whose exit code says nothing about it.
    Masked,
    /// It runs none.
    None,
}

/// Judges a shell line.
pub fn find_cue(line: &str) -> Cue {
    let Some(tokens) = tokens(line) else {
        return if line.contains("cueme") {
            Cue::Masked
        } else {
            Cue::None
        };
    };
    let lists: Vec<&[Token]> = tokens.split(ends_list).filter(|list| has_words(list)).collect();
    let runs_cue = lists
        .iter()
        .any(|list| pipelines(list).any(|pipeline| stages(pipeline).any(is_cue)));
    if !runs_cue {
        return Cue::None;
    }
    match lists.last() {
        Some(last) if exit_is_a_cues(last) && !tokens.contains(&Token::Background) => Cue::Plain,
        _ => Cue::Masked,
    }
}

/// Reports whether a line may run a cue in the foreground inside of something else: `timeout 60 cueme …`,
/// `OUT=$(cueme …)`, `if cueme …`. Its exit code proves nothing; the caller has other evidence of the cue.
pub fn may_wrap_cue(line: &str) -> bool {
    let Some(tokens) = tokens(line) else {
        return line.contains("cueme");
    };
    let commands = || tokens.split(ends_list).flat_map(pipelines).flat_map(stages);
    let waits = |command: &[Token]| words(command).first() == Some(&"wait");
    let is_foreground = !tokens.contains(&Token::Background) || commands().any(waits);
    is_foreground && commands().any(|command| names_cue(&words(command)))
}

/// Reports whether a command names a cue among its words, or in a text that it runs. Text that it only prints does not
/// count.
fn names_cue(words: &[&str]) -> bool {
    let text = words.join(" ");
    let runs_text = words.iter().any(|word| INTERPRETERS.contains(&file_name(word)));
    let substitutes = text.contains("$(") || text.contains('`');
    if (runs_text || substitutes) && mentions_cue(&text) {
        return true;
    }
    let prints = words.first().is_some_and(|first| PRINTERS.contains(first));
    !prints && (0..words.len()).any(|from| is_cue_words(&words[from..]))
}

/// Reports whether a text in any language has `cueme` and, as its next word, a verb that waits.
fn mentions_cue(text: &str) -> bool {
    let text = text.to_lowercase();
    let mut after = text.split("cueme").skip(1);
    after.any(|rest| {
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let next = rest.trim_start_matches(|letter| !is_word(letter));
        let verb = next.split(|letter| !is_word(letter)).next().unwrap_or_default();
        next.len() < rest.len() && WAITING_VERBS.contains(&verb)
    })
}

/// Returns the agent that the last cue of a line is asked for, where the line names it; a shell variable is no name.
pub fn named_agent(line: &str) -> Option<String> {
    let tokens = tokens(line)?;
    let lists = tokens.split(ends_list);
    let commands = lists.flat_map(pipelines).flat_map(stages);
    let words = words(commands.filter(|command| is_cue(command)).last()?);
    let verb = words.iter().position(|word| WAITING_VERBS.contains(word))?;
    let agent = words[verb + 1..].iter().find(|word| !word.starts_with('-'))?;
    (!agent.contains('$')).then(|| (*agent).to_owned())
}

/// Reports whether these words run `cueme cue` or `cueme pause`.
pub fn is_cue_words<S: AsRef<str>>(words: &[S]) -> bool {
    let mut words = words.iter().map(AsRef::as_ref).skip_while(|word| is_prefix(word));
    let is_cueme = words.next().is_some_and(is_cueme);
    is_cueme && words.next().is_some_and(|verb| WAITING_VERBS.contains(&verb))
}

fn ends_list(token: &Token) -> bool {
    matches!(token, Token::Semicolon | Token::Newline)
}

fn has_words(list: &[Token]) -> bool {
    list.iter().any(|token| matches!(token, Token::Word(_)))
}

/// Reports whether exit 0 of the list means exit 0 of a cue in it: no alternative, and the cue ends its pipeline.
fn exit_is_a_cues(list: &[Token]) -> bool {
    !list.contains(&Token::Or) && pipelines(list).any(|pipeline| stages(pipeline).last().is_some_and(is_cue))
}

fn pipelines(list: &[Token]) -> impl Iterator<Item = &[Token]> {
    list.split(|token| matches!(token, Token::And | Token::Or))
}

fn stages(pipeline: &[Token]) -> impl Iterator<Item = &[Token]> {
    pipeline.split(|token| matches!(token, Token::Pipe | Token::Background))
}

fn is_cue(command: &[Token]) -> bool {
    is_cue_words(&words(command))
}

fn words(command: &[Token]) -> Vec<&str> {
    command
        .iter()
        .filter_map(|token| match token {
            Token::Word(word) => Some(word.text.as_str()),
            _ => None,
        })
        .collect()
}

fn is_cueme(program: &str) -> bool {
    matches!(file_name(program), "cueme" | "cueme.exe")
}

fn file_name(program: &str) -> &str {
    program.rsplit(['/', '\\']).next().unwrap_or(program)
}

/// Words that may stand before a command without changing what its exit code means.
fn is_prefix(word: &str) -> bool {
    let is_assignment = word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    });
    is_assignment || WRAPPERS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_whose_exit_code_is_the_cues() {
        let lines = [
            "cueme cue tidy-otter -",
            "cueme pause tidy-otter",
            "/usr/local/bin/cueme cue a - < q.txt",
            "cueme cue a - <<'EOF'\n<cueme_prompt>\nDone; or || not & | tee?\n</cueme_prompt>\nEOF",
            "cueme cue a - <<EOF\nx\nEOF\n",
            "cueme cue a - <<-END 2>&1\n\tx\n\tEND",
            "cd /w && cueme cue a -",
            "printf 'x;y' | cueme cue a -",
            "CUEME_WAIT=0 cueme cue a -",
            "echo hi; cueme cue a -",
            "cargo test\ncueme cue a - <<E\nq\nE",
            "cueme cue a - && echo ok",
            "\"cueme\" cue a - # the last step",
            "cueme cue a - \\\n  2> err.txt",
        ];
        for line in lines {
            assert_eq!(find_cue(line), Cue::Plain, "{line}");
        }
    }

    #[test]
    fn lines_that_hide_the_cues_exit_code() {
        let lines = [
            "cueme cue a - || true",
            "true || cueme cue a -",
            "cueme cue a - ; echo done",
            "cueme cue a - | tee log",
            "cueme cue a - |& tee log",
            "cueme cue a - &",
            "cueme cue a - & wait",
            "cueme cue a -\necho done",
            "(cueme cue a -) || true",
            "echo $(cueme cue a -)",
            "cueme cue a - <<EOF\nnever closed",
            "cueme cue 'a",
        ];
        for line in lines {
            assert_eq!(find_cue(line), Cue::Masked, "{line}");
        }
    }

    #[test]
    fn a_cue_inside_of_something_else_is_found_unless_it_is_only_printed_or_left_behind() {
        for line in [
            "timeout 60 cueme cue a -",
            "OUT=$(cueme cue a -)",
            "cueme cue a -; echo $?",
            "cueme cue a - | cat",
            "if cueme cue a -; then :; fi",
            "cueme cue a - && false",
            "env X=1 cueme cue a -",
            "cueme cue a - 2>&1 | tee log",
            "sh -c 'cueme cue a -'",
            "timeout 60 bash -lc \"cueme cue a - <<'E'\nx\nE\"",
            "eval \"cueme pause a\"",
            "set -o pipefail; cueme cue a - | tee log",
            "cueme cue a - & wait",
            "cueme cue a - & wait $!",
            "printf '%s' \"$(cueme cue a -)\"",
            "\"$(which cueme)\" cue a -",
            "OUT=`cueme cue a -`",
            "python3 -c \"import subprocess; subprocess.run(['cueme', 'cue', 'a', '-'])\"",
            "(cueme cue a -)",
            "{ cueme cue a -; }",
            "for i in 1; do cueme cue a -; done",
            "cueme cue a - <<< 'x'",
            "while ! cueme cue a -; do sleep 1; done",
            "until cueme pause a; do :; done",
            "nohup cueme cue a - > out.txt; cat out.txt",
            "cueme cue a - <<'EOF' > /tmp/ans 2>&1\nq\nEOF\ncat /tmp/ans",
            "ANSWER=\"$(cueme cue a - <<'EOF'\nq\nEOF\n)\"; echo \"$ANSWER\"",
            "stdbuf -o0 cueme cue a - | tee -a log",
            "read -r x < <(cueme cue a -)",
            "cat <(cueme cue a -)",
            "case $(cueme cue a -) in yes) ;; esac",
            "[[ $(cueme cue a -) == yes ]] && echo ok",
            "sudo -u me cueme cue a -",
            "xargs cueme cue a < q",
            "(set -x; cueme cue a -); echo done",
            "cueme cue a - || cueme cue a -",
            "f() { cueme cue a -; }; f",
            "time -p cueme cue a -",
            "timeout --foreground -k 5 60s /usr/local/bin/cueme cue a - <<'E'\nq\nE\necho \"exit=$?\"",
        ] {
            assert!(may_wrap_cue(line), "{line}");
        }
        for line in [
            "echo cueme cue a -",
            "git commit -m 'sh: cueme cue a -'",
            "sh -c 'cueme join cursor'",
            "grep -n 'cueme cue' README.md",
            "bash build.sh cueme",
            "printf 'cueme cue a -'",
            "cargo test",
            "cueme cue a - &",
            "cueme join a",
        ] {
            assert!(!may_wrap_cue(line), "{line}");
        }
    }

    #[test]
    fn lines_that_run_no_cue() {
        for line in [
            "cargo test",
            "echo cueme cue a -",
            "cueme join cursor",
            "echo 'cueme cue'",
            "",
            "! cueme cue a -",
        ] {
            assert_eq!(find_cue(line), Cue::None, "{line}");
        }
    }
}
