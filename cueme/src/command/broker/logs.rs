//! `cueme broker logs`: what the broker says about itself.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;

use crate::display::visible;
use crate::error::CliError;
use crate::output;

/// The most lines that are printed.
const LINES_MAX: u32 = 100_000;

pub(super) fn run(places: &Places, lines: u32, follow: bool) -> Result<Exit, CliError> {
    let path = places.log();
    let lines = lines.min(LINES_MAX);
    if follow && output::is_terminal() {
        return follow_visibly(&path, lines);
    }
    if follow {
        return Err(exec_tail(&path, lines));
    }
    let tail = read_tail(&path, lines as usize)?;
    output::print(&tail)?;
    Ok(Exit::Done)
}

/// Returns `tail`, which follows a file that is rotated without polling it.
fn tail(path: &Path, lines: u32) -> Command {
    let mut command = Command::new("tail");
    command.args(["-n", &lines.to_string(), "-F"]).arg(path);
    command
}

fn exec_tail(path: &Path, lines: u32) -> CliError {
    no_tail(path, &tail(path, lines).exec())
}

/// Follows the log for a person; shows control characters, because the log quotes agents.
fn follow_visibly(path: &Path, lines: u32) -> Result<Exit, CliError> {
    let mut tail = tail(path, lines)
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| no_tail(path, &error))?;
    for line in tail
        .stdout
        .take()
        .into_iter()
        .flat_map(|out| BufReader::new(out).split(b'\n'))
    {
        let line = line.map_err(|error| CliError::io("read", path, &error))?;
        output::print_line(&visible(&String::from_utf8_lossy(&line)))?;
    }
    tail.wait().map_err(|error| no_tail(path, &error))?;
    Ok(Exit::Done)
}

fn no_tail(path: &Path, error: &std::io::Error) -> CliError {
    CliError::new(Exit::Io, format!("could not run `tail`: {error}"))
        .with_hint(format!("follow {} with a program of your own", path.display()))
}

fn read_tail(path: &Path, lines: usize) -> Result<String, CliError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(
                CliError::new(Exit::NotFound, format!("there is no log at {}", path.display()))
                    .with_hint("the broker writes it once it is started"),
            );
        }
        Err(error) => return Err(CliError::io("read", path, &error)),
    };
    let mut tail: VecDeque<String> = VecDeque::new();
    for line in BufReader::new(file).split(b'\n') {
        let line = line.map_err(|error| CliError::io("read", path, &error))?;
        tail.push_back(visible(&String::from_utf8_lossy(&line)));
        if tail.len() > lines {
            tail.pop_front();
        }
    }
    Ok(tail.iter().map(|line| format!("{line}\n")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_lines_are_printed_and_none_acts_on_the_terminal() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("broker.log");
        std::fs::write(&path, "one\ntwo\nthr\u{1b}ee\n").unwrap();
        assert_eq!(read_tail(&path, 2).unwrap(), "two\nthr␛ee\n");
        assert!(read_tail(&home.path().join("missing"), 2).is_err());
    }
}
