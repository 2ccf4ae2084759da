//! `cueme docs`: the documentation, embedded so that it fits this version and needs no network.

use clap::Args;
use clap::builder::PossibleValuesParser;
use protocol_spec::exit::Exit;

use crate::error::CliError;
use crate::output;

/// Arguments of `docs`.
#[derive(Debug, Args)]
pub(crate) struct DocsArgs {
    /// The page to print; without it, the pages are listed
    #[arg(value_name = "TOPIC", value_parser = PossibleValuesParser::new(PAGES.map(|page| page.topic)))]
    topic: Option<String>,
}

/// One page of the documentation.
struct Page {
    topic: &'static str,
    about: &'static str,
    text: &'static str,
}

/// The pages, in the order in which a newcomer reads them.
const PAGES: [Page; 10] = [
    Page {
        topic: "getting-started",
        about: "install, connect, ask and answer once",
        text: include_str!("../../docs/getting-started.md"),
    },
    Page {
        topic: "runtimes",
        about: "what `cueme init` changes in each program, and its limits",
        text: include_str!("../../docs/runtimes.md"),
    },
    Page {
        topic: "answering",
        about: "terminal, browser, phone, programs",
        text: include_str!("../../docs/answering.md"),
    },
    Page {
        topic: "rules-and-notifications",
        about: "automatic answers, and messages when nobody answers",
        text: include_str!("../../docs/rules-and-notifications.md"),
    },
    Page {
        topic: "configuration",
        about: "every key and variable",
        text: include_str!("../../docs/configuration.md"),
    },
    Page {
        topic: "team-and-remote",
        about: "agents and people on other machines, several brokers with one inbox",
        text: include_str!("../../docs/team-and-remote.md"),
    },
    Page {
        topic: "operating",
        about: "backup, restore, retention, doctor, upgrade",
        text: include_str!("../../docs/operating.md"),
    },
    Page {
        topic: "security",
        about: "what is trusted, what is not, and the test of each point",
        // A link to the file at the root of the repository, which a package contains as a file.
        text: include_str!("../../SECURITY.md"),
    },
    Page {
        topic: "protocol",
        about: "envelope, payloads, wire, exit codes",
        text: protocol_spec::SPECIFICATION,
    },
    Page {
        topic: "api",
        about: "the HTTP API of the page and of agents",
        text: cueme_broker::HTTP_API,
    },
];

pub(super) fn run(args: &DocsArgs) -> Result<Exit, CliError> {
    let page = PAGES
        .iter()
        .find(|page| Some(page.topic) == args.topic.as_deref());
    match page {
        Some(page) => output::print(page.text)?,
        None => output::print(&list())?,
    }
    Ok(Exit::Done)
}

fn list() -> String {
    let width = PAGES
        .iter()
        .map(|page| page.topic.len())
        .max()
        .unwrap_or_default();
    let lines = PAGES.map(|page| format!("{:width$}  {}\n", page.topic, page.about));
    format!(
        "{}\n`cueme docs <topic>` prints a page, `cueme protocol` the text that agents read\n",
        lines.concat()
    )
}
