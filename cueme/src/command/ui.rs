//! `cueme ui`: opens the inbox in a browser, or prints the link that does.

use std::process::{Command, Stdio};

use protocol_spec::exit::Exit;
use protocol_spec::message::{Request, WebLink};

use crate::cli::UiArgs;
use crate::client::{call, expect_reply};
use crate::error::CliError;
use crate::{environment, output};

/// The programs that open a link, by operating system; the first that starts wins.
const OPENERS: &[&str] = &["xdg-open", "open", "wslview"];

pub(super) fn run(args: &UiArgs) -> Result<Exit, CliError> {
    let link = WebLink {
        name: args.name.clone(),
    };
    let url = expect_reply!(call(&environment::places()?, &Request::WebLink(link))?, WebLink)?.url;
    if args.print_url {
        output::print_line(&url)?;
        return Ok(Exit::Done);
    }
    // The link is printed even when a browser opens: over SSH the browser may open where nobody sits.
    let opened = OPENERS.iter().any(|opener| open(opener, &url));
    let verb = if opened {
        "opened"
    } else {
        "open this link in a browser"
    };
    output::print_line(&format!("{verb}: {url}"))?;
    output::print_line("it signs one browser in, once")?;
    Ok(Exit::Done)
}

fn open(opener: &str, url: &str) -> bool {
    Command::new(opener)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
