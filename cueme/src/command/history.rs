//! `cueme history`: what was asked and answered, newest first.

use protocol_spec::exit::Exit;
use protocol_spec::message::{CueView, History, Request};

use crate::cli::HistoryArgs;
use crate::client::{expect_reply, list};
use crate::display::{Paint, at, decision_words, full, now, pad, shorten, visible, visible_line};
use crate::error::CliError;
use crate::{environment, output};

pub(super) fn run(args: &HistoryArgs) -> Result<Exit, CliError> {
    let history = History {
        agent: args.agent.clone(),
        search: args.search.clone(),
        limit: Some(args.limit),
        before: None,
    };
    let mut cues: Vec<CueView> = Vec::new();
    let end = list(&environment::places()?, &Request::History(history), |reply| {
        cues.push(*expect_reply!(reply, Cue)?);
        Ok(())
    })?;
    let text = match (args.json, args.markdown) {
        (true, _) => format!("{}\n", output::json_line(&cues)?),
        (false, true) => cues.iter().map(markdown).collect(),
        (false, false) if cues.is_empty() => "no questions found\n".to_owned(),
        (false, false) if args.oneline => cues.iter().map(one_line).collect(),
        (false, false) => plain(&cues),
    };
    output::print(&text)?;
    if end.more {
        output::tell(&format!(
            "there are more: `--limit {}` shows them",
            args.limit.saturating_mul(2)
        ));
    }
    Ok(Exit::Done)
}

fn plain(cues: &[CueView]) -> String {
    let (columns, now, paint) = (output::columns(), now(), Paint::for_stdout());
    let rule = paint.dim(&"─".repeat(columns));
    let entries: Vec<String> = cues.iter().map(|cue| full(cue, now, columns, paint)).collect();
    format!("{}\n", entries.join(&format!("\n{rule}\n")))
}

/// Writes when and by whom a question was asked, how it was decided, and how it begins. A terminal's width truncates
/// the line; a pipe gets all of the prompt's first line.
fn one_line(cue: &CueView) -> String {
    let prompt = cue.prompt.trim_start().lines().next().unwrap_or_default();
    let line = format!(
        "{}  {}  {}  {}  {}",
        at(cue.asked_at),
        cue.cue_id,
        pad(cue.agent_id.as_str(), 10),
        decision_words(cue),
        visible_line(prompt)
    );
    if output::is_terminal() {
        format!("{}\n", shorten(&line, output::columns()))
    } else {
        format!("{line}\n")
    }
}

/// Writes a question and its answer as Markdown; both are quoted, so that neither can end its block.
fn markdown(cue: &CueView) -> String {
    let mut text = format!(
        "## {} · {} ({})\n\n",
        at(cue.asked_at),
        cue.agent_id,
        cue.agent_runtime
    );
    text.push_str(&quoted(&cue.prompt));
    let outcome = decision_words(cue);
    let when = cue
        .decided_at
        .map(|time| format!(" {}", at(time)))
        .unwrap_or_default();
    text.push_str(&format!("\n**{outcome}**{when}\n\n"));
    if let Some(answer) = &cue.text {
        text.push_str(&quoted(answer));
        text.push('\n');
    }
    text
}

fn quoted(text: &str) -> String {
    visible(text).lines().map(|line| format!("> {line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_a_question_stays_inside_its_quote() {
        assert_eq!(quoted("a\n```\n# b"), "> a\n> ```\n> # b\n");
    }
}
