//! Judges whether a command can do nothing but one call of ours.
//!
//! A grammar of what is allowed, not a list of what is not:
//!
//! ```text
//! [CUEME_WAIT=value] program verb word… [<<'NAME' newline body newline NAME]
//! ```
//!
//! The program is `cueme` or one of our own absolute paths, the verb one of the four that agents use. Every word and the
//! body are literal in every POSIX shell and in zsh: nothing is expanded, substituted, continued or commented. When in
//! doubt the answer is no, and the host asks as it would without us.

use super::lexer::{HereDocument, Token, Word, tokens};

/// The verbs that agents use. An agent needs no permission to ask a human.
pub const AGENT_VERBS: [&str; 4] = ["join", "recall", "cue", "pause"];

/// The longest command that is judged; a longer one is not ours.
pub const COMMAND_BYTES_MAX: usize = 1024 * 1024;

/// The name that finds us on a search path.
const PROGRAM: &str = "cueme";

/// The only variable that a call may set: how long it waits.
const WAIT_VARIABLE: &str = "CUEME_WAIT";

/// Tells whether a shell that runs this text does nothing but one call of an agent verb.
///
/// `programs` are our own absolute paths.
pub fn is_agent_call(text: &str, programs: &[String]) -> bool {
    if text.len() > COMMAND_BYTES_MAX || text.chars().any(is_control) {
        return false;
    }
    let Some(tokens) = tokens(text) else {
        return false;
    };
    let (words, document) = match without_blank_lines(&tokens) {
        // The lexer has read the body with the end of the line.
        [words @ .., Token::HereDocument(document)] => (words, Some(document)),
        words => (words, None),
    };
    let Some(words) = literal_words(words, document) else {
        return false;
    };
    is_agent_argv(&without_wait(&words), programs)
}

/// Tells whether these arguments, given to no shell, are one call of an agent verb.
pub fn is_agent_argv<S: AsRef<str>>(words: &[S], programs: &[String]) -> bool {
    let mut words = words.iter().map(AsRef::as_ref);
    let is_ours = words
        .next()
        .is_some_and(|program| program == PROGRAM || programs.iter().any(|ours| ours == program));
    is_ours && words.next().is_some_and(|verb| AGENT_VERBS.contains(&verb))
}

fn without_blank_lines(mut tokens: &[Token]) -> &[Token] {
    while let [Token::Newline, rest @ ..] | [rest @ .., Token::Newline] = tokens {
        tokens = rest;
    }
    tokens
}

/// Returns the words if all are literal and the here-document, if there is one, is too.
fn literal_words<'a>(tokens: &'a [Token], document: Option<&HereDocument>) -> Option<Vec<&'a Word>> {
    let is_document_literal = document.is_none_or(|document| document.is_literal && !document.strips_tabs);
    let words: Vec<&Word> = tokens
        .iter()
        .map(|token| match token {
            Token::Word(word) if word.is_literal => Some(word),
            _ => None,
        })
        .collect::<Option<_>>()?;
    // Shells disagree where a body begins when a quoted word has a line end of its own.
    let is_one_line = words.iter().all(|word| !word.text.contains('\n'));
    // `-<<'END'` is common; before anything else a word that touches the operator is in doubt.
    let is_apart = words.last().is_none_or(|word| !word.is_glued || word.text == "-");
    (is_document_literal && (document.is_none() || is_one_line && is_apart)).then_some(words)
}

/// Returns the words after an assignment of the wait.
fn without_wait<'a>(words: &[&'a Word]) -> Vec<&'a str> {
    let sets_wait = words.first().is_some_and(|word| {
        word.is_bare
            && word
                .text
                .split_once('=')
                .is_some_and(|(name, value)| name == WAIT_VARIABLE && is_duration(value))
    });
    words
        .iter()
        .skip(usize::from(sets_wait))
        .map(|word| word.text.as_str())
        .collect()
}

fn is_duration(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Characters that a terminal or a shell on another system may act upon. Line ends and tabs are judged where they stand.
fn is_control(letter: char) -> bool {
    letter.is_control() && !matches!(letter, '\n' | '\t')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_ours(text: &str) -> bool {
        is_agent_call(text, &["/opt/cueme/bin/cueme".to_owned()])
    }

    #[test]
    fn calls_that_do_nothing_else_are_ours() {
        for text in [
            "cueme join claude_code",
            "cueme recall red fox 'in the barn'",
            "cueme pause tidy-fox \"It's done; next?\"",
            "cueme pause tidy-fox \"say \\\"hi\\\" for \\$5, `no` problem\""
                .replace('`', "\\`")
                .as_str(),
            "cueme pause tidy-fox 'line one\nline two'",
            "/opt/cueme/bin/cueme cue tidy-fox - <<'EOF'\nuse `a` or $(b)?\nEOF",
            "\"/opt/cueme/bin/cueme\" pause tidy-fox",
            "cueme cue tidy-fox - <<\"EOF\"\n$HOME\nEOF\n\n",
            "cueme cue tidy-fox - << 'CUEME_END'\nEOF\n EOF\nCUEME_END \nCUEME_END",
            "cueme cue tidy-fox -<<'E'\nE x\nE\n",
            "\n  cueme cue 'tidy-fox' - --json <<'E'\n\nE",
            "CUEME_WAIT=90s cueme cue tidy-fox - <<'E'\nx\nE",
            "cueme cue tidy-fox - <<'E'\n中文：“好”！\nE",
        ] {
            assert!(is_ours(text), "{text}");
        }
    }

    #[test]
    fn a_second_command_is_not_ours() {
        for text in [
            "cueme cue a - && id",
            "cueme cue a - & id",
            "cueme cue a -; id",
            "cueme cue a - | sh",
            "cueme cue a -\nid",
            "id\ncueme cue a -",
            "(cueme cue a -)",
            "{ cueme cue a -; }",
            "! cueme cue a -",
            "time cueme cue a -",
            "cueme cue a - <<'E'\nx\nE\nid",
            "cueme cue a - <<'E'; id\nx\nE",
            "cueme cue a - <<'E' && id\nx\nE",
            "cueme cue a - <<'E'\nE\nid\nE",
            "cueme cue a - # done",
            "#\ncueme cue a -",
        ] {
            assert!(!is_ours(text), "{text}");
        }
    }

    #[test]
    fn an_expansion_is_not_ours() {
        for text in [
            "cueme pause $(id)",
            "cueme pause \"$(id)\"",
            "cueme pause `id`",
            "cueme pause \"`id`\"",
            "cueme pause $HOME",
            "cueme pause \"$HOME\"",
            "cueme pause ~",
            "cueme pause *",
            "cueme pause a?",
            "cueme pause [ab]",
            "cueme pause {a,b}",
            "cueme pause =id",
            "cueme pause !id",
            "cueme pause \"!id\"",
            "cueme pause a\\ b",
            "cueme \\\npause a",
            "cueme pause \"a\\\nb\"",
            "cueme pause $'a'",
            "cueme pause 中",
            "cueme pause \"中\\\" ; id \\\"\"",
            "cueme pause 'a\\' 'b; id'",
            "cueme cue a - <<E\nx\nE",
            "cueme cue a - <<E\n$(id)\nE",
        ] {
            assert!(!is_ours(text), "{text}");
        }
    }

    #[test]
    fn a_redirection_or_an_odd_document_is_not_ours() {
        for text in [
            "cueme pause a > f",
            "cueme pause a >> f",
            "cueme pause a 2>&1",
            "cueme pause a &> f",
            "cueme cue a - < f",
            "cueme cue a - <<< x",
            "cueme cue a - <> f",
            "cueme cue a - < <(id)",
            "cueme cue a - <<'E' > f\nx\nE",
            "cueme cue a - > f <<'E'\nx\nE",
            "cueme cue a - <<'E' <<'F'\nx\nE\ny\nF",
            "cueme cue a - <<-'E'\n\tx\n\tE",
            "cueme cue a - 3<<'E'\nx\nE",
            "cueme cue a b<<'E'\nx\nE",
            "cueme cue a - <<'E'F\nx\nEF",
            "cueme cue a - <<''E\nx\nE",
            "cueme cue a - <<''\nx\n\n",
            "cueme cue a - <<\\E\nx\nE",
            "cueme cue a - <<$'E'\nx\nE",
            "cueme cue a - <<'E F'\nx\nE F",
            "cueme cue a - <<'E$(id)'\nx\nE$(id)",
            "cueme cue a - <<'E'\nx\n E",
            "cueme cue a - <<'E'\nnever closed",
            "cueme cue a - <<'E'",
            "cueme cue 'a\nb' - <<'E'\nx\nE",
            "cueme cue a \"<<'E'\"\nid\nE",
            "cueme cue a '<<' 'E'\nid\nE",
            "cueme cue a - <<'E' b\nx\nE",
        ] {
            assert!(!is_ours(text), "{text}");
        }
    }

    #[test]
    fn another_program_verb_or_variable_is_not_ours() {
        for text in [
            "",
            " \n",
            "cueme",
            "./cueme pause a",
            "../cueme pause a",
            "/tmp/cueme pause a",
            "/opt/cueme/bin/../bin/cueme pause a",
            "/opt/cueme/bin/cueme.exe pause a",
            "cueme.exe pause a",
            "notcueme pause a",
            "cueme answer q yes",
            "cueme token",
            "cueme restore x",
            "cueme agent run",
            "cueme mcp",
            "cueme --json cue a -",
            "cueme CUE a -",
            "PATH=/tmp cueme pause a",
            "LD_PRELOAD=x cueme pause a",
            "BASH_ENV=x cueme pause a",
            "CUEME_HOME=/tmp cueme pause a",
            "CUEME_WAIT=$(id) cueme pause a",
            "CUEME_WAIT=1 PATH=/tmp cueme pause a",
            "'CUEME_WAIT=1' cueme pause a",
            "env cueme pause a",
            "command cueme pause a",
            "sudo cueme pause a",
            "echo cueme pause a",
        ] {
            assert!(!is_ours(text), "{text}");
        }
    }

    #[test]
    fn control_characters_and_odd_blanks_are_not_ours() {
        for text in [
            "cueme pause a\r",
            "cueme pause a\r\nid",
            "cueme pause 'a\0b'",
            "cueme pause 'a\u{1b}[2J'",
            "cueme pause 'a\u{85}'",
            "cueme\u{a0}pause a",
            "cueme\u{3000}pause a",
            "cueme\u{b}pause a",
            "cueme\u{c}pause a",
            "\u{feff}cueme pause a",
            "cueme cue a - <<'E'\r\nx\r\nE\r\nid",
            "cueme cue a - <<'E'\nx\r\nE",
        ] {
            assert!(!is_ours(text), "{text:?}");
        }
        let long = format!("cueme pause a '{}'", "x".repeat(COMMAND_BYTES_MAX));
        assert!(!is_ours(&long));
    }

    #[test]
    fn arguments_without_a_shell_are_taken_as_they_are() {
        let programs = ["/opt/cueme/bin/cueme".to_owned()];
        assert!(is_agent_argv(&["cueme", "pause", "a", "$(id); > f"], &programs));
        assert!(is_agent_argv(
            &["/opt/cueme/bin/cueme", "cue", "a", "-"],
            &programs
        ));
        for words in [
            &[][..],
            &["cueme"],
            &["/tmp/cueme", "pause"],
            &["cueme", "token"],
            &["CUEME_WAIT=1", "cueme", "cue"],
        ] {
            assert!(!is_agent_argv(words, &programs), "{words:?}");
        }
    }
}
