//! The last look at an answer before it goes out.

use std::io::Write;

use protocol_spec::answer::Checked;
use protocol_spec::message::CueView;

use super::lines::Lines;
use super::person::Dialogue;
use crate::display::{visible, wrap};
use crate::error::CliError;
use crate::output;

/// A person's decision about an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Review {
    Send,
    /// Send it, and end the run with it.
    SendAndEnd,
    Change,
}

impl<L: Lines, W: Write> Dialogue<L, W> {
    /// Shows what the agent will read, without its secrets, and asks whether to send it.
    pub(super) fn review(
        &mut self,
        cue: &CueView,
        checked: &Checked,
        remark: Option<&str>,
    ) -> Result<Review, CliError> {
        let rendered = checked.render();
        let text = rendered.redacted.map_or(rendered.text, |redacted| redacted.text);
        self.say("")?;
        self.say(&format!("{} will read:", cue.agent_id))?;
        for line in wrap(&visible(&text), output::columns() - 2) {
            self.say(&format!("  {line}"))?;
        }
        if let Some(remark) = remark {
            self.say(remark)?;
        }
        let (ask, again) = if cue.in_run {
            (
                "send it? (y sends, d sends it and ends the run, e changes it, q leaves): ",
                "write y, d, e or q",
            )
        } else {
            ("send it? (y sends, e changes it, q leaves): ", "write y, e or q")
        };
        loop {
            let reply = self.ask(ask, "")?;
            match reply.trim().to_lowercase().as_str() {
                "y" | "yes" => return Ok(Review::Send),
                "d" | "done" if cue.in_run => return Ok(Review::SendAndEnd),
                "e" | "edit" => return Ok(Review::Change),
                "q" | "n" | "no" => return Err(self.leave()),
                _ => self.say(again)?,
            }
        }
    }
}
