//! Reads a shell line far enough to know whether its exit code is that of a cue.
//!
//! This is no shell: substitutions and control structures are not followed. What it cannot read it does not
//! believe.

use std::iter::Peekable;
use std::str::Chars;

/// What a shell line says about a cue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cue {
    /// It runs one, and exit 0 of the line means exit 0 of the cue.
    Plain,
    /// It names one in a form whose exit code says nothing about it.
    Masked,
    /// It runs none.
    None,
}

/// Judges a shell line.
pub(crate) fn find_cue(line: &str) -> Cue {
    let Some(tokens) = tokens(line) else {
        return if line.contains("cueme") {
            Cue::Masked
        } else {
            Cue::None
        };
    };
    let lists: Vec<&[Token]> = tokens
        .split(|token| *token == Token::Sequence)
        .filter(|list| !list.is_empty())
        .collect();
    if !lists
        .iter()
        .any(|list| pipelines(list).any(|pipeline| stages(pipeline).any(is_cue)))
    {
        return Cue::None;
    }
    match lists.last() {
        Some(last) if exit_is_a_cues(last) && !tokens.contains(&Token::Background) => Cue::Plain,
        _ => Cue::Masked,
    }
}

/// Reports whether exit 0 of the list means exit 0 of a cue in it: no alternative, and the cue ends its pipeline.
fn exit_is_a_cues(list: &[Token]) -> bool {
    !list.contains(&Token::Or) && pipelines(list).any(|pipeline| stages(pipeline).last().is_some_and(is_cue))
}

fn pipelines(list: &[Token]) -> impl Iterator<Item = &[Token]> {
    list.split(|token| matches!(token, Token::And | Token::Or))
}

fn stages(pipeline: &[Token]) -> impl Iterator<Item = &[Token]> {
    pipeline.split(|token| *token == Token::Pipe)
}

fn is_cue(command: &[Token]) -> bool {
    let words: Vec<&str> = command
        .iter()
        .filter_map(|token| {
            if let Token::Word(word) = token {
                Some(word.as_str())
            } else {
                None
            }
        })
        .collect();
    is_cue_words(&words)
}

/// Reports whether these words run `cueme cue` or `cueme pause`.
pub(crate) fn is_cue_words<S: AsRef<str>>(words: &[S]) -> bool {
    let mut words = words.iter().map(AsRef::as_ref).skip_while(|word| is_prefix(word));
    let program = words.next().unwrap_or_default();
    let name = program.rsplit('/').next().unwrap_or_default();
    name == "cueme" && matches!(words.next(), Some("cue" | "pause"))
}

/// Words that may stand before a command without changing what its exit code means.
fn is_prefix(word: &str) -> bool {
    let assigns = word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    });
    assigns || matches!(word, "command" | "exec" | "env" | "time")
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    And,
    Or,
    Pipe,
    Background,
    /// `;` or the end of a line.
    Sequence,
}

/// Cuts a line into tokens; `None` when it is not understood.
fn tokens(line: &str) -> Option<Vec<Token>> {
    let mut reader = Reader {
        rest: line.chars().peekable(),
        tokens: Vec::new(),
        word: None,
        heredocs: Vec::new(),
    };
    reader.read()?;
    Some(reader.tokens)
}

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    tokens: Vec<Token>,
    word: Option<String>,
    /// The end marks of documents that begin on the next line, and whether tabs before them are dropped.
    heredocs: Vec<(String, bool)>,
}

impl Reader<'_> {
    fn read(&mut self) -> Option<()> {
        while let Some(letter) = self.rest.next() {
            match letter {
                '\'' | '"' => self.quoted(letter)?,
                '\\' => match self.rest.next()? {
                    '\n' => {}
                    escaped => self.push(escaped),
                },
                ' ' | '\t' | '\r' => self.end_word(),
                '\n' => {
                    self.end_word();
                    self.skip_documents()?;
                    self.tokens.push(Token::Sequence);
                }
                '#' if self.word.is_none() => while self.rest.next_if(|letter| *letter != '\n').is_some() {},
                ';' => self.operator(Token::Sequence),
                '|' => self.pipe_or_or(),
                '&' => self.and_or_background(),
                '<' | '>' => self.redirect(letter)?,
                // Groups, substitutions and control structures hide what the exit code means.
                '(' | ')' | '`' => return None,
                '{' | '}' if self.word.is_none() => return None,
                other => self.push(other),
            }
        }
        self.end_word();
        self.heredocs.is_empty().then_some(())
    }

    fn push(&mut self, letter: char) {
        self.word.get_or_insert_default().push(letter);
    }

    fn end_word(&mut self) {
        self.tokens.extend(self.word.take().map(Token::Word));
    }

    fn operator(&mut self, token: Token) {
        self.end_word();
        self.tokens.push(token);
    }

    fn pipe_or_or(&mut self) {
        let token = if self.rest.next_if_eq(&'|').is_some() {
            Token::Or
        } else {
            Token::Pipe
        };
        // `|&` also takes stderr along.
        if token == Token::Pipe {
            self.rest.next_if_eq(&'&');
        }
        self.operator(token);
    }

    fn and_or_background(&mut self) {
        if self.rest.next_if_eq(&'&').is_some() {
            self.operator(Token::And);
        } else if self.rest.peek() == Some(&'>') {
            // `&> file` is a redirection.
            self.end_word();
        } else {
            self.operator(Token::Background);
        }
    }

    fn quoted(&mut self, quote: char) -> Option<()> {
        self.word.get_or_insert_default();
        loop {
            match self.rest.next()? {
                letter if letter == quote => return Some(()),
                '\\' if quote == '"' => {
                    let escaped = self.rest.next()?;
                    if !matches!(escaped, '"' | '\\' | '$' | '`' | '\n') {
                        self.push('\\');
                    }
                    self.push(escaped);
                }
                letter => self.push(letter),
            }
        }
    }

    /// Reads a redirection and what it points to, neither of which is a word of the command.
    fn redirect(&mut self, first: char) -> Option<()> {
        // A number before it is a descriptor.
        if self
            .word
            .as_ref()
            .is_some_and(|word| word.chars().all(|letter| letter.is_ascii_digit()))
        {
            self.word = None;
        }
        self.end_word();
        let mut document = false;
        if self.rest.next_if_eq(&first).is_some() && first == '<' {
            document = self.rest.next_if_eq(&'<').is_none();
        }
        let tabs = document && self.rest.next_if_eq(&'-').is_some();
        self.rest.next_if(|letter| matches!(letter, '&' | '|' | '>'));
        // `<(…)` and `>(…)` run a command of their own.
        while self.rest.next_if(|letter| matches!(letter, ' ' | '\t')).is_some() {}
        let target = self.target()?;
        if document {
            self.heredocs.push((target, tabs));
        }
        Some(())
    }

    fn target(&mut self) -> Option<String> {
        while let Some(letter) = self.rest.peek().copied() {
            match letter {
                '\'' | '"' => {
                    self.rest.next();
                    self.quoted(letter)?;
                }
                '\\' => {
                    self.rest.next();
                    let escaped = self.rest.next()?;
                    self.push(escaped);
                }
                '(' | '`' => return None,
                ' ' | '\t' | '\r' | '\n' | ';' | '|' | '&' | '<' | '>' => break,
                other => {
                    self.rest.next();
                    self.push(other);
                }
            }
        }
        self.word.take()
    }

    /// Skips the documents whose bodies begin here.
    fn skip_documents(&mut self) -> Option<()> {
        for (mark, tabs) in std::mem::take(&mut self.heredocs) {
            loop {
                let mut ended = true;
                let mut body = String::new();
                for letter in self.rest.by_ref() {
                    if letter == '\n' {
                        ended = false;
                        break;
                    }
                    body.push(letter);
                }
                let body = body.trim_end_matches('\r');
                let body = if tabs { body.trim_start_matches('\t') } else { body };
                if body == mark {
                    break;
                }
                if ended {
                    return None;
                }
            }
        }
        Some(())
    }
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
