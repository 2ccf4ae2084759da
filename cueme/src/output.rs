//! The two ways out: stdout carries what was asked for and nothing else, stderr carries the rest.

use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};

use protocol_spec::exit::Exit;
use protocol_spec::visible::{Piece, has_hidden, pieces};
use rustix::fs::{FileType, OFlags};
use serde::Serialize;

use crate::display::visible;
use crate::environment::variable;
use crate::error::CliError;

/// Writes to stdout for a person or a program that may close the pipe when it has seen enough.
pub(crate) fn print(text: &str) -> Result<(), CliError> {
    match write_out(text) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(CliError::silent(Exit::Done)),
        Err(error) => Err(CliError::new(
            Exit::Io,
            format!("could not write to stdout: {error}"),
        )),
    }
}

/// Writes one line to stdout, as [`print()`] does.
pub(crate) fn print_line(line: &str) -> Result<(), CliError> {
    print(&format!("{line}\n"))
}

/// Writes a long text: on a terminal through the person's pager if it does not fit, otherwise as [`print()`] does.
pub(crate) fn page(text: &str) -> Result<(), CliError> {
    /// Shows colours, ends where the text fits the screen, and leaves the text there.
    const LESS: &str = "FRX";
    let rows = rustix::termios::tcgetwinsize(io::stdout()).map_or(0, |size| usize::from(size.ws_row));
    let pager = variable("PAGER").unwrap_or_else(|| "less".to_owned());
    if !is_terminal() || rows == 0 || text.lines().count() < rows || matches!(pager.trim(), "" | "cat") {
        return print(text);
    }
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &pager]).stdin(Stdio::piped());
    if variable("LESS").is_none() {
        command.env("LESS", LESS);
    }
    let Ok(mut child) = command.spawn() else {
        return print(text);
    };
    if let Some(mut stdin) = child.stdin.take() {
        // A person who has seen enough closes the pager.
        let _ = stdin.write_all(text.as_bytes());
    }
    match child.wait() {
        // The shell says with 126 and 127 that there is no such pager.
        Ok(status) if !matches!(status.code(), Some(126 | 127)) => Ok(()),
        _ => print(text),
    }
}

/// Writes text that an agent wrote: as it is to a program, without characters that act there to a terminal.
pub(crate) fn print_foreign(text: &str) -> Result<(), CliError> {
    if is_terminal() && has_hidden_or_return(text) {
        print_line(&visible(text))
    } else {
        print(text)
    }
}

/// Writes a value as one line of JSON. On a terminal, characters that cannot be seen are escaped: the value is the same.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), CliError> {
    print_line(&json_line(value)?)
}

/// Returns a value as one line of JSON, as [`print_json`] writes it.
pub(crate) fn json_line(value: &impl Serialize) -> Result<String, CliError> {
    let line = serde_json::to_string(value)
        .map_err(|error| CliError::new(Exit::Io, format!("could not write JSON: {error}")))?;
    Ok(json_text(line))
}

/// Returns JSON that is written already, as [`print_json`] writes it.
pub(crate) fn json_text(json: String) -> String {
    if is_terminal() { escaped_json(&json) } else { json }
}

/// Writes lines of JSON to stdout, as [`print_json`] does. Each write has whole lines.
#[derive(Debug)]
pub(crate) struct JsonLines {
    stdout: io::Stdout,
    is_terminal: bool,
}

impl JsonLines {
    pub(crate) fn new() -> Self {
        Self {
            stdout: io::stdout(),
            is_terminal: is_terminal(),
        }
    }
}

impl Write for JsonLines {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        if self.is_terminal {
            let escaped = escaped_json(&String::from_utf8_lossy(lines));
            self.stdout.write_all(escaped.as_bytes())?;
        } else {
            self.stdout.write_all(lines)?;
        }
        Ok(lines.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stdout.flush()
    }
}

/// Escapes hidden characters of a JSON text. Outside of strings it has none but line breaks and tabs.
fn escaped_json(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for piece in pieces(json) {
        match piece {
            Piece::Seen(seen) => escaped.push_str(seen),
            Piece::Hidden(letter) => {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    escaped.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    escaped
}

fn has_hidden_or_return(text: &str) -> bool {
    text.contains('\r') || has_hidden(text)
}

/// Writes to stdout what an agent must read. A closed pipe is a failure here: nobody has read it.
pub(crate) fn deliver(text: &str) -> Result<(), CliError> {
    let failed = |why: String| {
        CliError::new(Exit::Io, format!("could not write the outcome to stdout: {why}"))
            .with_hint("nothing was acknowledged; run the same command again with stdout open to get it")
    };
    if is_unread() {
        return Err(failed(
            "stdout is /dev/null, where nobody reads it (the caller discards or closed it)".to_owned(),
        ));
    }
    write_out(text).map_err(|error| failed(error.to_string()))
}

/// Writes to stderr. Whether anyone reads it changes nothing, so a failure is ignored.
pub(crate) fn tell(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = writeln!(stderr, "{text}");
}

/// Says whether stdout is a terminal that a person looks at.
pub(crate) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Returns how many columns a person sees.
pub(crate) fn columns() -> usize {
    /// Wider lines are hard to read.
    const COLUMNS_MAX: usize = 100;
    const COLUMNS_MIN: usize = 20;
    const COLUMNS_DEFAULT: usize = 80;
    let seen = rustix::termios::tcgetwinsize(io::stdout())
        .ok()
        .map(|size| usize::from(size.ws_col))
        .filter(|columns| *columns > 0);
    seen.unwrap_or(COLUMNS_DEFAULT).clamp(COLUMNS_MIN, COLUMNS_MAX)
}

fn write_out(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Says whether stdout is the null device, opened for reading and writing.
///
/// The Rust runtime opens it like this in place of a closed descriptor, and so do programs that discard the output of a
/// child; the two cannot be told apart. Every write would succeed and reach nobody. A person who wants no output
/// redirects it in a shell, which opens it for writing only.
fn is_unread() -> bool {
    let stdout = io::stdout();
    let Ok(flags) = rustix::fs::fcntl_getfl(stdout.as_fd()) else {
        return true;
    };
    flags & OFlags::ACCMODE == OFlags::RDWR && is_null_device(stdout.as_fd())
}

fn is_null_device(descriptor: impl AsFd) -> bool {
    let (Ok(ours), Ok(null)) = (rustix::fs::fstat(descriptor), rustix::fs::stat("/dev/null")) else {
        return false;
    };
    FileType::from_raw_mode(ours.st_mode) == FileType::CharacterDevice && ours.st_rdev == null.st_rdev
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_with_hidden_characters_escaped_is_the_same_value() {
        let value = serde_json::json!({"a\u{202e}": ["\u{7f}\u{9b}31m", "👩\u{200d}💻", "\u{e0041}", "数"]});
        let escaped = escaped_json(&value.to_string());
        assert!(!has_hidden(&escaped), "{escaped}");
        assert!(
            escaped.contains("\\u202e") && escaped.contains("\\udb40\\udc41"),
            "{escaped}"
        );
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&escaped).unwrap(),
            value
        );
    }
}
