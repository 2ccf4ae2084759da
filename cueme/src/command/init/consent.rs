//! Nothing is written without a yes: a person's on the terminal, or the caller's by `--yes`.

use std::io::{self, IsTerminal};

use super::InitArgs;
use crate::dialogue::Dialogue;
use crate::error::CliError;
use crate::output;

/// Asks whether to go on. Without a terminal, consent has to be an option of the call.
pub(super) fn given(args: &InitArgs, question: &str, command: &str) -> Result<bool, CliError> {
    if args.yes {
        return Ok(true);
    }
    if !(io::stdin().is_terminal() && output::is_terminal()) {
        return Err(
            CliError::usage("there is no terminal to ask in, so nothing was changed")
                .with_hint(format!("run `{command} --yes` to do it without being asked")),
        );
    }
    Dialogue::with_terminal().ask_yes(question)
}
