//! `cueme tui`: the inbox on the whole screen of a terminal.

use std::io::{self, IsTerminal};

use protocol_spec::exit::Exit;

use crate::cli::TuiArgs;
use crate::environment::{self, variable};
use crate::error::CliError;
use crate::{output, tui};

pub(super) fn run(args: &TuiArgs) -> Result<Exit, CliError> {
    let is_dumb = variable("TERM").is_some_and(|term| term == "dumb");
    if is_dumb || !io::stdin().is_terminal() || !output::is_terminal() {
        return Err(
            CliError::usage("`cueme tui` needs a terminal that it can draw on")
                .with_hint("`cueme inbox` lists the questions, and `cueme answer` asks you line by line"),
        );
    }
    tui::run(&environment::places()?, args.mouse)
}
