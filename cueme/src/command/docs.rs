//! `cueme docs`: the documentation, embedded so that it fits this version and needs no network.

use clap::Args;
use clap::builder::PossibleValuesParser;
use protocol_spec::exit::Exit;
use pulldown_cmark::{Event, Options, Parser, Tag};

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

/// Files outside of the folder of pages, and their topics.
const ELSEWHERE: [(&str, &str); 3] = [
    ("SECURITY.md", "security"),
    ("SPEC.md", "protocol"),
    ("API.md", "api"),
];

pub(super) fn run(args: &DocsArgs) -> Result<Exit, CliError> {
    let page = PAGES
        .iter()
        .find(|page| Some(page.topic) == args.topic.as_deref());
    match page {
        Some(page) if output::is_terminal() => output::page(&with_commands(page.text))?,
        Some(page) => output::print(page.text)?,
        None => output::print(&list())?,
    }
    Ok(Exit::Done)
}

/// Names the command that prints the page behind each link to one. Other links stay as they are.
fn with_commands(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut copied = 0;
    let options = Options::ENABLE_TABLES;
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        let Event::Start(Tag::Link { dest_url, .. }) = event else {
            continue;
        };
        let Some(topic) = topic_of(&dest_url) else {
            continue;
        };
        // The words of an inline link; links of another form have no target behind them.
        let words = text[range.clone()]
            .strip_prefix('[')
            .and_then(|link| link.rsplit_once("]("));
        let Some((words, _)) = words else {
            continue;
        };
        shown.push_str(&text[copied..range.start]);
        shown.push_str(words);
        if let Some(topic) = topic {
            shown.push_str(&format!(" (`cueme docs {topic}`)"));
        }
        copied = range.end;
    }
    shown.push_str(&text[copied..]);
    shown
}

/// Returns the topic of a linked page: none of its own for a place of the same page, and nothing for any other target.
fn topic_of(target: &str) -> Option<Option<&'static str>> {
    let file = target.split('#').next().unwrap_or_default();
    if file.is_empty() {
        return Some(None);
    }
    if file.contains(':') {
        return None;
    }
    let name = file.rsplit('/').next().unwrap_or_default();
    let elsewhere = ELSEWHERE.iter().find(|(file, _)| *file == name);
    let topic = elsewhere.map_or(name.strip_suffix(".md")?, |(_, topic)| *topic);
    let page = PAGES.iter().find(|page| page.topic == topic);
    page.map(|page| Some(page.topic))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_to_a_page_names_the_command_that_prints_it() {
        for (text, shown) in [
            (
                "See [tokens](../../SECURITY.md#tokens), [`url`](configuration.md).\n",
                "See tokens (`cueme docs security`), `url` (`cueme docs configuration`).\n",
            ),
            (
                "| a |\n|---|\n| [x](../../protocol-spec/SPEC.md) |\n",
                "| a |\n|---|\n| x (`cueme docs protocol`) |\n",
            ),
            ("[below](#rules)", "below"),
            (
                "[site](https://example.org/security.md)",
                "[site](https://example.org/security.md)",
            ),
            ("[source](tests/door.rs)", "[source](tests/door.rs)"),
            ("[no page](../flying.md)", "[no page](../flying.md)"),
            (
                "`[code](security.md)`\n\n```sh\n[x](api.md)\n```\n",
                "`[code](security.md)`\n\n```sh\n[x](api.md)\n```\n",
            ),
            ("![picture](configuration.md)", "![picture](configuration.md)"),
        ] {
            assert_eq!(with_commands(text), shown);
        }
    }

    #[test]
    fn no_page_sends_a_reader_to_a_file_where_a_command_prints_it() {
        for page in PAGES {
            let shown = with_commands(page.text);
            for file in [
                "SECURITY.md#",
                "SECURITY.md)",
                "SPEC.md)",
                "configuration.md)",
                "](#",
            ] {
                assert!(!shown.contains(file), "{}: {file}", page.topic);
            }
        }
    }
}
