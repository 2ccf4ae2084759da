//! The arguments of `cueme init`.

use std::path::PathBuf;

use clap::Args;
use protocol_spec::visible::quoted;
use runtimes::install::{Extras, Scope};
use runtimes::{Language, Runtime};

use crate::cli::candidates::completing_runtimes;
use crate::error::CliError;

/// Arguments of `init`.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// The runtime: cursor, claude_code, codex …; without it, cueme offers those it finds
    #[arg(value_name = "RUNTIME", add = completing_runtimes())]
    pub(super) runtime: Option<String>,
    /// Connect it for all your projects (the default)
    #[arg(long, conflicts_with = "project")]
    pub(super) user: bool,
    /// Connect it only for the project in this folder
    #[arg(long)]
    pub(super) project: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Remove the connection and restore every file
    #[arg(long)]
    pub(super) remove: bool,
    /// Write without asking
    #[arg(long, short = 'y')]
    pub(super) yes: bool,
    /// Show which connections are current, outdated or broken
    #[arg(long, conflicts_with_all = ["dry_run", "remove", "yes"])]
    pub(super) status: bool,
    /// Write a plugin folder for Claude Code instead, with hooks and a skill; load it with `claude --plugin-dir`
    #[arg(long, value_name = "DIR", conflicts_with_all = ["remove", "status"])]
    pub(super) plugin: Option<PathBuf>,
    /// Language of the rule: en or zh; without it, the installed one or your locale's
    #[arg(long, value_name = "LANGUAGE", value_parser = parse_language)]
    pub(super) language: Option<Language>,
    /// Ask you through cueme before a tool that needs permission runs, if the runtime supports it
    #[arg(long)]
    pub(super) approvals: bool,
    /// Route the runtime's own question tool through cueme, if the runtime supports it
    #[arg(long)]
    pub(super) questions: bool,
}

impl InitArgs {
    pub(super) fn scope(&self) -> Scope {
        if self.project { Scope::Project } else { Scope::User }
    }

    /// Returns the extras that were asked for, if any were.
    pub(super) fn extras(&self) -> Option<Extras> {
        (self.approvals || self.questions).then_some(Extras {
            approvals: self.approvals,
            questions: self.questions,
        })
    }
}

/// Finds a runtime by its tag.
pub(in crate::command) fn parse_runtime(tag: &str) -> Result<Runtime, CliError> {
    Runtime::from_tag(tag).ok_or_else(|| {
        let known: Vec<&str> = Runtime::ALL.iter().map(|runtime| runtime.tag()).collect();
        CliError::usage(format!("{} is not a runtime that cueme knows", quoted(tag)))
            .with_hint(format!("use one of {}", known.join(", ")))
    })
}

fn parse_language(name: &str) -> Result<Language, String> {
    name.parse::<Language>().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_runtime_is_answered_with_those_there_are() {
        assert_eq!(parse_runtime("claude_code").unwrap(), Runtime::ClaudeCode);
        let error = parse_runtime("claude").unwrap_err().to_string();
        assert!(
            error.contains("\"claude\"") && error.contains("claude_code"),
            "{error}"
        );
    }
}
