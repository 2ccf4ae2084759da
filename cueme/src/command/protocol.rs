//! `cueme protocol`: the HAP text, for agents whose runtime we cannot install into.

use clap::{Args, ValueEnum};
use protocol_spec::exit::Exit;
use runtimes::{Language, protocol};

use super::init::parse_runtime;
use crate::error::CliError;
use crate::{environment, output};

/// Arguments of `protocol`.
#[derive(Debug, Args)]
pub(crate) struct ProtocolArgs {
    /// Add the notes for this runtime: cursor, claude_code, codex …
    #[arg(value_name = "RUNTIME")]
    runtime: Option<String>,
    /// Language of the text; without it, your locale's
    #[arg(long, value_enum, value_name = "LANGUAGE")]
    language: Option<Wanted>,
}

/// A language, or each of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Wanted {
    /// English
    En,
    /// Simplified Chinese
    Zh,
    /// One after the other
    Both,
}

impl Wanted {
    fn languages(self) -> &'static [Language] {
        match self {
            Self::En => &[Language::English],
            Self::Zh => &[Language::Chinese],
            Self::Both => &Language::ALL,
        }
    }
}

pub(super) fn run(args: &ProtocolArgs) -> Result<Exit, CliError> {
    let runtime = args.runtime.as_deref().map(parse_runtime).transpose()?;
    let languages = args
        .language
        .map_or_else(|| vec![locale()], |wanted| wanted.languages().to_vec());
    let texts: Vec<String> = languages
        .into_iter()
        .map(|language| protocol(runtime, language))
        .collect();
    output::print(&texts.join("\n"))?;
    Ok(Exit::Done)
}

/// Returns the language this person reads, as far as the environment tells.
pub(super) fn locale() -> Language {
    ["LC_ALL", "LC_MESSAGES", "LANG"]
        .into_iter()
        .find_map(environment::variable)
        .map_or(Language::English, |locale| Language::from_locale(&locale))
}
