//! The output formats a CLI can be asked for.

/// The output format of the CLI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutputFormat {
    /// One JSON object per line, as it happens.
    #[default]
    StreamJson,
    /// One JSON object at the end.
    Json,
    /// The answer's text and nothing else.
    Text,
}

impl OutputFormat {
    /// Finds the format that a command line asks for.
    ///
    /// Cursor's own default is text, but only in print mode; a custom CLI without the flag writes the
    /// contract's stream.
    pub fn from_args<S: AsRef<str>>(args: &[S]) -> Self {
        let mut words = args.iter().map(AsRef::as_ref);
        let mut print = false;
        while let Some(word) = words.next() {
            let value = match word {
                "--output-format" => words.next(),
                "-p" | "--print" => {
                    print = true;
                    continue;
                }
                _ => word.strip_prefix("--output-format="),
            };
            match value {
                Some("json") => return Self::Json,
                Some("text") => return Self::Text,
                Some(_) => return Self::StreamJson,
                None => {}
            }
        }
        if print { Self::Text } else { Self::StreamJson }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_is_read_from_the_command_line() {
        let cases: [(&[&str], OutputFormat); 6] = [
            (
                &["-p", "--output-format", "stream-json"],
                OutputFormat::StreamJson,
            ),
            (&["-p", "--output-format", "json"], OutputFormat::Json),
            (&["-p", "--output-format=text"], OutputFormat::Text),
            (&["-p"], OutputFormat::Text),
            (&["auto"], OutputFormat::StreamJson),
            (&[], OutputFormat::StreamJson),
        ];
        for (args, format) in cases {
            assert_eq!(OutputFormat::from_args(args), format, "{args:?}");
        }
    }
}
