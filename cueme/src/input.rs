//! Reads stdin, never more than [`STDIN_BYTES_MAX`].

use std::io::{self, IsTerminal, Read};

use protocol_spec::envelope::{self, PROMPT_BYTES_MAX};
use protocol_spec::exit::Exit;
use protocol_spec::payload::PAYLOAD_BYTES_MAX;

use crate::error::CliError;
use crate::output;

/// The most bytes that are read: the longest prompt and payload in UTF-16, and room for the tags.
pub(crate) const STDIN_BYTES_MAX: usize = 2 * (PROMPT_BYTES_MAX + PAYLOAD_BYTES_MAX) + 64 * 1024;

/// Reads all of stdin; a person at a terminal is told what is expected of them.
pub(crate) fn read_stdin(expected: &str) -> Result<Vec<u8>, CliError> {
    let stdin = io::stdin().lock();
    if stdin.is_terminal() {
        output::tell(&format!(
            "hint: reading {expected} from the terminal; end it with Ctrl-D"
        ));
    }
    read_limited(stdin, STDIN_BYTES_MAX)
}

/// Reads plain text from stdin, without the line break at its end.
pub(crate) fn read_text(expected: &str) -> Result<String, CliError> {
    let bytes = read_stdin(expected)?;
    let text = envelope::decode(&bytes)?;
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}

/// Returns the words given as arguments as one text, or stdin when they are a lone `-`.
pub(crate) fn text_of(words: &[String], expected: &str) -> Result<Option<String>, CliError> {
    match words {
        [] => Ok(None),
        [dash] if dash == "-" => read_text(expected).map(Some),
        words => Ok(Some(words.join(" "))),
    }
}

/// Returns the words of a text; `rest` stood behind a lone `--`.
pub(crate) fn words_of(words: &[String], rest: &[String]) -> Vec<String> {
    words.iter().chain(rest).cloned().collect()
}

fn read_limited(mut source: impl Read, bytes_max: usize) -> Result<Vec<u8>, CliError> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(bytes_max).unwrap_or(u64::MAX);
    source
        .by_ref()
        .take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|error| CliError::new(Exit::Io, format!("could not read stdin: {error}")))?;
    if bytes.len() > bytes_max {
        return Err(CliError::usage(format!("stdin is longer than {bytes_max} bytes"))
            .with_hint("put long material into a file and name its path in the prompt"));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_up_to_the_limit_is_taken_whole_and_one_byte_more_is_refused() {
        assert_eq!(read_limited(&b"abc"[..], 3).unwrap(), b"abc");
        let error = read_limited(&b"abcd"[..], 3).unwrap_err();
        assert_eq!(error.report(), Exit::Usage);
    }

    #[test]
    fn words_are_joined_as_they_were_typed() {
        let words = ["use".to_owned(), "postgres".to_owned()];
        assert_eq!(text_of(&words, "text").unwrap().as_deref(), Some("use postgres"));
        assert_eq!(text_of(&[], "text").unwrap(), None);
    }
}
