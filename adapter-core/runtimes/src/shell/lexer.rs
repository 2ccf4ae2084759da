//! Cuts a shell text into tokens.
//!
//! Substitutions, groups and control structures are not followed: a text that has them outside of quotes is not read at
//! all. Nothing is dropped silently, blanks excepted, so that a strict judgement can refuse a token that a lenient one
//! ignores.

use std::iter::Peekable;
use std::str::Chars;

/// Unquoted characters, besides ASCII letters and digits, that mean themselves in every POSIX shell and in zsh.
const PLAIN: &str = "_-./:,@+%=";

/// One token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A word of a command.
    Word(Word),
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|` or `|&`
    Pipe,
    /// `&`
    Background,
    /// `;`
    Semicolon,
    /// The end of a line.
    Newline,
    /// A redirection that is no here-document, with its target.
    Redirection,
    /// A here-document with its body.
    HereDocument(HereDocument),
    /// `#` and the rest of its line.
    Comment,
    /// A backslash before the end of a line.
    Continuation,
}

/// A word without its quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// The value that the command gets, if the word is literal.
    pub text: String,
    /// Whether every shell takes the word for exactly this text.
    pub is_literal: bool,
    /// Whether it has no quotes and no escapes.
    pub is_bare: bool,
    /// Whether the next token follows without a blank.
    pub is_glued: bool,
}

/// A here-document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HereDocument {
    /// The line that ends it.
    pub delimiter: String,
    /// Whether the delimiter is one pair of quotes around letters, digits, `_` and `-`: then the body is literal.
    pub is_literal: bool,
    /// Whether it was written as `<<-`.
    pub strips_tabs: bool,
}

/// Cuts a text into tokens; `None` when it is not understood.
pub(super) fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut lexer = Lexer {
        rest: text.chars().peekable(),
        tokens: Vec::new(),
        word: None,
        pending: Vec::new(),
    };
    lexer.run()?;
    Some(lexer.tokens)
}

struct Lexer<'a> {
    rest: Peekable<Chars<'a>>,
    tokens: Vec<Token>,
    word: Option<Word>,
    /// Here-documents whose bodies begin on the next line.
    pending: Vec<HereDocument>,
}

impl Lexer<'_> {
    fn run(&mut self) -> Option<()> {
        while let Some(letter) = self.rest.next() {
            match letter {
                '\'' | '"' => self.quoted(letter)?,
                '\\' => self.escaped()?,
                ' ' | '\t' | '\r' => self.end_word(),
                '\n' => {
                    self.operator(Token::Newline);
                    self.skip_bodies()?;
                }
                '#' if self.word.is_none() => {
                    while self.rest.next_if(|letter| *letter != '\n').is_some() {}
                    self.tokens.push(Token::Comment);
                }
                ';' => self.operator(Token::Semicolon),
                '|' => self.pipe_or_or(),
                '&' => self.and_or_background(),
                '<' | '>' => self.redirection(letter)?,
                // Groups, substitutions and control structures hide what the exit code means.
                '(' | ')' | '`' => return None,
                '{' | '}' if self.word.is_none() => return None,
                other => self.push_bare(other),
            }
        }
        self.end_word();
        self.pending.is_empty().then_some(())
    }

    fn word(&mut self) -> &mut Word {
        self.word.get_or_insert_with(|| Word {
            text: String::new(),
            is_literal: true,
            is_bare: true,
            is_glued: false,
        })
    }

    fn push_bare(&mut self, letter: char) {
        let word = self.word();
        // A leading `=` is a path lookup in zsh.
        let starts_with_equals = letter == '=' && word.text.is_empty();
        word.is_literal &= (letter.is_ascii_alphanumeric() || PLAIN.contains(letter)) && !starts_with_equals;
        word.text.push(letter);
    }

    fn end_word(&mut self) {
        self.tokens.extend(self.word.take().map(Token::Word));
    }

    fn operator(&mut self, token: Token) {
        if let Some(word) = &mut self.word {
            word.is_glued = true;
        }
        self.end_word();
        self.tokens.push(token);
    }

    fn escaped(&mut self) -> Option<()> {
        match self.rest.next()? {
            '\n' => {
                if let Some(word) = &mut self.word {
                    word.is_literal = false;
                }
                self.tokens.push(Token::Continuation);
            }
            letter => {
                let word = self.word();
                word.is_literal = false;
                word.is_bare = false;
                word.text.push(letter);
            }
        }
        Some(())
    }

    fn quoted(&mut self, quote: char) -> Option<()> {
        self.word().is_bare = false;
        let is_literal = if quote == '\'' {
            self.single_quoted()?
        } else {
            self.double_quoted()?
        };
        self.word().is_literal &= is_literal;
        Some(())
    }

    /// Tells whether the text means the same in every shell: to fish, a backslash takes the closing quote's meaning.
    fn single_quoted(&mut self) -> Option<bool> {
        let mut last = '\'';
        loop {
            let letter = self.rest.next()?;
            if letter == '\'' {
                return Some(last != '\\');
            }
            last = letter;
            self.word().text.push(letter);
        }
    }

    /// Tells whether the text means the same in every shell.
    fn double_quoted(&mut self) -> Option<bool> {
        let mut is_literal = true;
        let mut last = '"';
        loop {
            let letter = self.rest.next()?;
            match letter {
                '"' => return Some(is_literal),
                '\\' => {
                    let escaped = self.rest.next()?;
                    // In some encodings a backslash is the second byte of a character.
                    is_literal &= escaped != '\n' && last.is_ascii();
                    if !matches!(escaped, '"' | '\\' | '$' | '`' | '\n') {
                        self.word().text.push('\\');
                    }
                    if escaped != '\n' {
                        self.word().text.push(escaped);
                    }
                    last = escaped;
                    continue;
                }
                '$' | '`' => is_literal = false,
                // An interactive shell looks an earlier command up.
                '!' => is_literal &= matches!(self.rest.peek(), Some(' ' | '\t' | '\n' | '"')),
                _ => {}
            }
            last = letter;
            self.word().text.push(letter);
        }
    }

    fn pipe_or_or(&mut self) {
        if self.rest.next_if_eq(&'|').is_some() {
            self.operator(Token::Or);
        } else {
            // `|&` also takes stderr along.
            self.rest.next_if_eq(&'&');
            self.operator(Token::Pipe);
        }
    }

    fn and_or_background(&mut self) {
        if self.rest.next_if_eq(&'&').is_some() {
            self.operator(Token::And);
        } else if self.rest.peek() == Some(&'>') {
            // `&> file` is a redirection, which is read next.
            self.end_word();
        } else {
            self.operator(Token::Background);
        }
    }

    /// Reads a redirection and its target, neither of which is a word of the command.
    fn redirection(&mut self, first: char) -> Option<()> {
        let is_descriptor = |word: &Word| word.is_bare && word.text.bytes().all(|byte| byte.is_ascii_digit());
        if self.word.as_ref().is_some_and(is_descriptor) {
            self.word = None;
            self.plain_redirection(first)
        } else if first == '<' && self.rest.next_if_eq(&'<').is_some() {
            self.here_document_or_string()
        } else {
            self.plain_redirection(first)
        }
    }

    fn plain_redirection(&mut self, first: char) -> Option<()> {
        let is_document =
            self.rest.next_if_eq(&first).is_some() && first == '<' && self.rest.next_if_eq(&'<').is_none();
        if is_document {
            return self.here_document(false);
        }
        self.rest.next_if(|letter| matches!(letter, '&' | '|' | '>'));
        self.skip_blanks();
        self.end_before_redirection();
        self.target()?;
        self.tokens.push(Token::Redirection);
        Some(())
    }

    fn here_document_or_string(&mut self) -> Option<()> {
        if self.rest.next_if_eq(&'<').is_none() {
            return self.here_document(true);
        }
        self.skip_blanks();
        self.end_before_redirection();
        self.target()?;
        self.tokens.push(Token::Redirection);
        Some(())
    }

    /// Reads what follows `<<`. One for another descriptor than stdin is not literal.
    fn here_document(&mut self, is_stdin: bool) -> Option<()> {
        let strips_tabs = self.rest.next_if_eq(&'-').is_some();
        self.skip_blanks();
        self.end_before_redirection();
        let written: String = self
            .rest
            .clone()
            .take_while(|letter| !is_end_of_word(*letter))
            .collect();
        let delimiter = self.target()?;
        let is_name = |name: &str| {
            !name.is_empty()
                && name
                    .chars()
                    .all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-'))
        };
        let is_quoted = [format!("'{delimiter}'"), format!("\"{delimiter}\"")].contains(&written);
        let document = HereDocument {
            is_literal: is_stdin && is_quoted && is_name(&delimiter),
            delimiter,
            strips_tabs,
        };
        self.pending.push(document.clone());
        self.tokens.push(Token::HereDocument(document));
        Some(())
    }

    fn end_before_redirection(&mut self) {
        if let Some(word) = &mut self.word {
            word.is_glued = true;
        }
        self.end_word();
    }

    fn skip_blanks(&mut self) {
        while self.rest.next_if(|letter| matches!(letter, ' ' | '\t')).is_some() {}
    }

    fn target(&mut self) -> Option<String> {
        while let Some(letter) = self.rest.peek().copied() {
            if is_end_of_word(letter) {
                break;
            }
            self.rest.next();
            match letter {
                '\'' | '"' => self.quoted(letter)?,
                '\\' => {
                    let escaped = self.rest.next()?;
                    self.word().text.push(escaped);
                }
                // `<(…)` and `>(…)` run a command of their own.
                '(' | '`' => return None,
                other => self.push_bare(other),
            }
        }
        self.word.take().map(|word| word.text)
    }

    /// Skips the documents whose bodies begin here.
    fn skip_bodies(&mut self) -> Option<()> {
        for document in std::mem::take(&mut self.pending) {
            while !self.ends_document(&document)? {}
        }
        Some(())
    }

    /// Reads one line of a body and tells whether it ends the document; `None` when the text ends first.
    fn ends_document(&mut self, document: &HereDocument) -> Option<bool> {
        let mut line = String::new();
        let mut is_last = true;
        for letter in self.rest.by_ref() {
            if letter == '\n' {
                is_last = false;
                break;
            }
            line.push(letter);
        }
        let line = line.trim_end_matches('\r');
        let line = if document.strips_tabs {
            line.trim_start_matches('\t')
        } else {
            line
        };
        let ends = line == document.delimiter;
        (ends || !is_last).then_some(ends)
    }
}

fn is_end_of_word(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\r' | '\n' | ';' | '|' | '&' | '<' | '>')
}
