//! Lines to and from a person.

use std::io::{self, BufRead, BufReader, Stdin, Stdout, Write};

use protocol_spec::exit::Exit;
use protocol_spec::message::CueView;

use super::secret::Hidden;
use crate::display::{ago, now, shorten, visible_line};
use crate::error::CliError;
use crate::output;

/// A conversation with a person.
#[derive(Debug)]
pub(crate) struct Dialogue<R, W> {
    input: R,
    output: W,
    /// Whether there is a terminal whose echo can be turned off.
    has_terminal: bool,
}

impl Dialogue<BufReader<Stdin>, Stdout> {
    /// Talks over stdin and stdout.
    pub(crate) fn with_terminal() -> Self {
        Self {
            input: BufReader::new(io::stdin()),
            output: io::stdout(),
            has_terminal: true,
        }
    }
}

impl<R: BufRead, W: Write> Dialogue<R, W> {
    #[cfg(test)]
    pub(super) fn over(input: R, output: W) -> Self {
        Self {
            input,
            output,
            has_terminal: false,
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

    /// Asks for a yes; whatever else is typed, and the end of the input, is a no.
    pub(crate) fn ask_yes(&mut self, question: &str) -> Result<bool, CliError> {
        write!(self.output, "{question}")
            .and_then(|()| self.output.flush())
            .map_err(|error| broken(&error))?;
        let mut line = String::new();
        self.input.read_line(&mut line).map_err(|error| broken(&error))?;
        Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
    }

    /// Writes a line.
    pub(super) fn say(&mut self, line: &str) -> Result<(), CliError> {
        writeln!(self.output, "{line}").map_err(|error| broken(&error))
    }

    /// Asks for one line, without its line break.
    pub(super) fn ask_line(&mut self, question: &str) -> Result<String, CliError> {
        write!(self.output, "{question}")
            .and_then(|()| self.output.flush())
            .map_err(|error| broken(&error))?;
        let mut line = String::new();
        match self.input.read_line(&mut line) {
            Ok(0) => Err(left()),
            Ok(_) => Ok(line.trim_end_matches(['\n', '\r']).to_owned()),
            Err(error) => Err(broken(&error)),
        }
    }

    /// Asks for one line that is not shown while it is typed.
    pub(super) fn ask_secret(&mut self, question: &str) -> Result<String, CliError> {
        let hidden = self.has_terminal.then(Hidden::begin).flatten();
        let line = self.ask_line(question);
        if hidden.is_some() {
            drop(hidden);
            self.say("")?;
        }
        line
    }

    /// Asks for lines up to one that holds only a dot.
    pub(super) fn ask_lines(&mut self, question: &str) -> Result<String, CliError> {
        self.say(&format!("{question} (end with a line that holds only a dot)"))?;
        let mut lines = Vec::new();
        loop {
            match self.ask_line("| ")?.as_str() {
                "." => return Ok(lines.join("\n")),
                line => lines.push(line.to_owned()),
            }
        }
    }

    /// Asks until the person gives a number from one to `max`.
    pub(super) fn ask_number(&mut self, question: &str, max: usize) -> Result<usize, CliError> {
        loop {
            let line = self.ask_line(question)?;
            match line.trim().parse() {
                Ok(number) if (1..=max).contains(&number) => return Ok(number),
                _ => self.say(&format!("write a number from 1 to {max}"))?,
            }
        }
    }
}

fn broken(error: &io::Error) -> CliError {
    CliError::new(Exit::Io, format!("could not talk to the terminal: {error}"))
}

/// The person ended the conversation; nothing was sent.
fn left() -> CliError {
    CliError::new(Exit::Interrupted, "nothing was sent; the question stays open")
}
