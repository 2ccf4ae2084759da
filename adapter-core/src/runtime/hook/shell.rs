//! Reads enough of a shell command to tell what runs last in it.
//!
//! Not a shell: quotes, backslashes, separators and here-documents are understood, everything else is text.

/// What stands between two commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|`
    Pipe,
    /// `&`
    Background,
    /// `;` or the end of a line
    Sequence,
}

/// One command of a line and what follows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Simple {
    /// Its words, unquoted.
    pub words: Vec<String>,
    /// What follows it, if anything.
    pub then: Option<Separator>,
}

/// Splits a shell text into its simple commands.
pub(super) fn commands(text: &str) -> Vec<Simple> {
    let mut reader = Reader {
        characters: text.chars().peekable(),
        ..Reader::default()
    };
    reader.run();
    reader.commands
}

struct Reader<'a> {
    characters: std::iter::Peekable<std::str::Chars<'a>>,
    commands: Vec<Simple>,
    words: Vec<String>,
    word: Option<String>,
    /// Ends of here-documents whose bodies begin on the next line.
    ends: Vec<String>,
    /// Whether the word being read names the end of a here-document.
    reads_end: bool,
}

impl Default for Reader<'_> {
    fn default() -> Self {
        Reader {
            characters: "".chars().peekable(),
            commands: Vec::new(),
            words: Vec::new(),
            word: None,
            ends: Vec::new(),
            reads_end: false,
        }
    }
}

impl Reader<'_> {
    fn run(&mut self) {
        while let Some(character) = self.characters.next() {
            match character {
                '\'' => self.quoted('\''),
                '"' => self.quoted('"'),
                '\\' => self.escaped(),
                '\n' => self.end_line(),
                ';' => self.end_command(Separator::Sequence),
                '&' if self.take('&') => self.end_command(Separator::And),
                // `2>&1` and `&>file` redirect; they end nothing.
                '&' if self.is_redirection() => self.push('&'),
                '&' => self.end_command(Separator::Background),
                '|' if self.take('|') => self.end_command(Separator::Or),
                '|' => self.end_command(Separator::Pipe),
                '<' if self.take('<') => self.here_document(),
                blank if blank.is_whitespace() => self.end_word(),
                other => self.push(other),
            }
        }
        self.end_word();
        if !self.words.is_empty() {
            let words = std::mem::take(&mut self.words);
            self.commands.push(Simple { words, then: None });
        }
    }

    fn take(&mut self, character: char) -> bool {
        self.characters.next_if_eq(&character).is_some()
    }

    fn is_redirection(&mut self) -> bool {
        let after = self
            .word
            .as_deref()
            .is_some_and(|word| word.ends_with('>') || word.ends_with('<'));
        after || self.characters.peek() == Some(&'>')
    }

    fn push(&mut self, character: char) {
        self.word.get_or_insert_default().push(character);
    }

    fn quoted(&mut self, quote: char) {
        let mut word = self.word.take().unwrap_or_default();
        while let Some(character) = self.characters.next() {
            if character == quote {
                break;
            }
            let escapes = quote == '"' && character == '\\';
            word.push(if escapes {
                self.characters.next().unwrap_or('\\')
            } else {
                character
            });
        }
        self.word = Some(word);
    }

    fn escaped(&mut self) {
        match self.characters.next() {
            // A line that goes on.
            Some('\n') | None => {}
            Some(character) => self.push(character),
        }
    }

    fn here_document(&mut self) {
        self.end_word();
        if self.take('<') {
            // `<<<` feeds a word, which then reads like any other.
            return;
        }
        self.take('-');
        self.reads_end = true;
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else {
            return;
        };
        if std::mem::take(&mut self.reads_end) {
            self.ends.push(word);
        } else {
            self.words.push(word);
        }
    }

    fn end_command(&mut self, then: Separator) {
        self.end_word();
        if self.words.is_empty() {
            return;
        }
        let words = std::mem::take(&mut self.words);
        self.commands.push(Simple {
            words,
            then: Some(then),
        });
    }

    fn end_line(&mut self) {
        self.end_command(Separator::Sequence);
        for end in std::mem::take(&mut self.ends) {
            self.skip_body(&end);
        }
    }

    fn skip_body(&mut self, end: &str) {
        let mut line = String::new();
        for character in self.characters.by_ref() {
            if character != '\n' {
                line.push(character);
            } else if line.trim() == end {
                return;
            } else {
                line.clear();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, Option<Separator>)> {
        commands(text)
            .into_iter()
            .map(|command| (command.words.join(" "), command.then))
            .collect()
    }

    #[test]
    fn a_line_is_split_at_its_separators() {
        assert_eq!(
            read("cd 'a b' && x=1 make -j2 2>&1 | tee log || true; sleep 9 &"),
            [
                ("cd a b".to_owned(), Some(Separator::And)),
                ("x=1 make -j2 2>&1".to_owned(), Some(Separator::Pipe)),
                ("tee log".to_owned(), Some(Separator::Or)),
                ("true".to_owned(), Some(Separator::Sequence)),
                ("sleep 9".to_owned(), Some(Separator::Background)),
            ]
        );
    }

    #[test]
    fn the_body_of_a_here_document_is_not_a_command() {
        let text =
            "cueme cue a1 - <<'END'\n<cueme_prompt>\nrm -rf /; echo \"\nEND of it\n</cueme_prompt>\nEND\n";
        assert_eq!(
            read(text),
            [("cueme cue a1 -".to_owned(), Some(Separator::Sequence))]
        );
        let piped = "cat <<END | cueme cue a1 -\nx\nEND";
        assert_eq!(read(piped).last().unwrap().0, "cueme cue a1 -");
    }

    #[test]
    fn quotes_hide_separators() {
        assert_eq!(
            read(r#"echo "a; b" 'c | d' e\;f"#),
            [("echo a; b c | d e;f".to_owned(), None)]
        );
        assert_eq!(
            read("echo 'never closed"),
            [("echo never closed".to_owned(), None)]
        );
        assert!(read("  \n ").is_empty());
    }
}
