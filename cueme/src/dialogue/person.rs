//! Prompts and replies, whatever they are about.

use std::io::{self, Stdout, Write};

use protocol_spec::exit::Exit;
use protocol_spec::message::CueView;

use super::editor::TerminalLines;
use super::lines::{Lines, Typed};
use crate::display::{ago, now, shorten, visible_line};
use crate::error::CliError;
use crate::output;

/// A conversation with a person.
#[derive(Debug)]
pub(crate) struct Dialogue<L, W> {
    pub(super) lines: L,
    pub(super) output: W,
}

impl Dialogue<TerminalLines, Stdout> {
    /// Talks over the terminal of stdin and stdout.
    pub(crate) fn with_terminal() -> Self {
        Self {
            lines: TerminalLines::default(),
            output: io::stdout(),
        }
    }

    /// Lets the person choose one of several questions.
    pub(crate) fn pick_cue(&mut self, mut cues: Vec<CueView>) -> Result<CueView, CliError> {
        let (now, columns) = (now(), output::columns());
        for (index, cue) in cues.iter().enumerate() {
            let line = format!(
                "{}. {} ({}), asked {} ago: {}",
                index + 1,
                cue.agent_id,
                cue.agent_runtime,
                ago(now, cue.asked_at),
                visible_line(&cue.prompt)
            );
            self.say(&shorten(&line, columns))?;
        }
        let number = self.ask_number("which question? ", cues.len())?;
        Ok(cues.swap_remove(number - 1))
    }

    /// Asks for a secret that belongs into an argument.
    pub(crate) fn ask_value(&mut self, label: &str) -> Result<String, CliError> {
        self.ask_secret(&format!("{}: ", visible_line(label)))
    }

    /// Asks for a yes; any other text, and the end of the input, is a no.
    pub(crate) fn ask_yes(&mut self, question: &str) -> Result<bool, CliError> {
        match self.lines.read(question, "").map_err(|error| broken(&error))? {
            Typed::Text(text) => Ok(matches!(text.trim().to_lowercase().as_str(), "y" | "yes")),
            Typed::End => Ok(false),
            Typed::Interrupt => Err(CliError::silent(Exit::Interrupted)),
        }
    }
}

impl<L: Lines, W: Write> Dialogue<L, W> {
    /// Writes a line.
    pub(super) fn say(&mut self, line: &str) -> Result<(), CliError> {
        writeln!(self.output, "{line}").map_err(|error| broken(&error))
    }

    /// Asks for a text, beginning with a draft.
    pub(super) fn ask(&mut self, question: &str, draft: &str) -> Result<String, CliError> {
        self.output.flush().map_err(|error| broken(&error))?;
        let typed = self.lines.read(question, draft);
        self.typed(typed)
    }

    /// Asks for a text that is not shown while it is typed.
    pub(super) fn ask_secret(&mut self, question: &str) -> Result<String, CliError> {
        self.output.flush().map_err(|error| broken(&error))?;
        let typed = self.lines.read_secret(question);
        self.typed(typed)
    }

    /// Asks for a text of one or more lines; a backslash at its end continues it on the next line.
    pub(super) fn ask_text(&mut self, question: &str, draft: &str) -> Result<String, CliError> {
        let mut text = self.ask(question, draft)?;
        let indent = format!("{:>1$} ", "|", question.trim_end().chars().count());
        while let Some(begun) = text.strip_suffix('\\') {
            let begun = begun.to_owned();
            let more = self.ask(&indent, "")?;
            text = format!("{begun}\n{more}");
        }
        Ok(text)
    }

    /// Asks until the person gives a number from one to `max`.
    pub(super) fn ask_number(&mut self, question: &str, max: usize) -> Result<usize, CliError> {
        let mut draft = String::new();
        loop {
            let line = self.ask(question, &draft)?;
            match line.trim().parse() {
                Ok(number) if (1..=max).contains(&number) => return Ok(number),
                _ => self.say(&format!("write a number from 1 to {max}"))?,
            }
            draft = line;
        }
    }

    /// Ends the conversation at the person's wish: nothing is sent.
    pub(super) fn leave(&mut self) -> CliError {
        self.lines.discard();
        CliError::new(Exit::Interrupted, "nothing was sent; the question stays open")
    }

    fn typed(&mut self, typed: io::Result<Typed>) -> Result<String, CliError> {
        match typed {
            Ok(Typed::Text(text)) => Ok(text),
            Ok(Typed::End | Typed::Interrupt) => Err(self.leave()),
            Err(error) => Err(broken(&error)),
        }
    }
}

fn broken(error: &io::Error) -> CliError {
    CliError::new(Exit::Io, format!("could not talk to the terminal: {error}"))
}
