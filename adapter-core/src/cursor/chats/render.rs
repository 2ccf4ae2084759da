//! Renders chats for people and programs. Pure: values in, text out.

use std::fmt::Write;

use super::catalog::{ChatSummary, Listing};
use super::message::{Chat, ChatMessage, Role, ToolDetail, ToolUse};

/// The most lines of a tool's result shown to a person; programs get all of it.
const RESULT_LINES_MAX: usize = 40;

/// Returns a chat as Markdown.
pub fn chat_markdown(chat: &Chat) -> String {
    let mut out = String::new();
    let title = chat.name.as_deref().unwrap_or("Untitled chat");
    push(&mut out, format_args!("# {}\n\n", one_line(title)));
    push(&mut out, format_args!("- chat: `{}`\n", one_line(&chat.chat_id)));
    if let Some(mode) = &chat.mode {
        push(&mut out, format_args!("- mode: {}\n", one_line(mode)));
    }
    if let Some(created) = chat
        .created_at
        .and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok())
    {
        push(&mut out, format_args!("- created: {created}\n"));
    }
    for message in &chat.messages {
        push_message(&mut out, message, 2);
    }
    if !chat.warnings.is_empty() {
        out.push_str("\n## Warnings\n\n");
        for warning in &chat.warnings {
            push(&mut out, format_args!("- {}\n", one_line(&warning.to_string())));
        }
    }
    out
}

/// Returns the lines of a listing, one chat each, ready for a terminal.
pub fn listing_text(listing: &Listing) -> String {
    let mut out = String::new();
    for project in &listing.projects {
        let place = project.cwd.as_deref().unwrap_or(&project.project_id);
        push(&mut out, format_args!("{}\n", one_line(place)));
        for chat in &project.chats {
            push_summary(&mut out, chat);
        }
    }
    out
}

fn push_summary(out: &mut String, chat: &ChatSummary) {
    let updated = chat
        .updated_at
        .and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    let updated = updated
        .map(|time| time.strftime("%Y-%m-%d %H:%M").to_string())
        .unwrap_or_default();
    let name = chat.name.as_deref().unwrap_or("Untitled chat");
    let note = if chat.has_messages { "" } else { " (empty)" };
    push(
        out,
        format_args!(
            "  {}  {updated:16}  {}{note}\n",
            one_line(&chat.chat_id),
            one_line(name)
        ),
    );
}

fn push_message(out: &mut String, message: &ChatMessage, level: usize) {
    let heading = "#".repeat(level.min(6));
    match message.role {
        Role::User => push(
            out,
            format_args!("\n{heading} User\n\n{}\n", clean(&message.text)),
        ),
        Role::Assistant => push(
            out,
            format_args!("\n{heading} Assistant\n\n{}\n", clean(&message.text)),
        ),
        Role::Thinking => push(
            out,
            format_args!("\n{heading} Thinking\n\n{}\n", quoted(&message.text)),
        ),
        Role::Tool => {}
    }
    for tool in &message.tools {
        push_tool(out, tool, level);
    }
}

fn push_tool(out: &mut String, tool: &ToolUse, level: usize) {
    let heading = "#".repeat(level.min(6));
    let detail = tool.detail();
    let outcome = detail.outcome.as_deref().unwrap_or("no result");
    let code = detail
        .exit_code
        .map(|code| format!(", exit {code}"))
        .unwrap_or_default();
    push(
        out,
        format_args!(
            "\n{heading} Tool: {} ({}{code})\n\n",
            one_line(&tool_title(tool, &detail)),
            one_line(outcome)
        ),
    );
    if let Some(subject) = subject(&detail) {
        out.push_str(&fenced(subject));
    }
    let result = tool.result();
    if !result.is_empty() {
        out.push_str(&fenced(&shortened(&result)));
    }
    for step in &tool.steps {
        push_message(out, step, level + 1);
    }
}

fn tool_title(tool: &ToolUse, detail: &ToolDetail) -> String {
    let arg = |key: &str| detail.args[key].as_str();
    match (arg("providerIdentifier"), arg("toolName")) {
        (Some(provider), Some(name)) => format!("{} {provider}/{name}", tool.name),
        _ => match tool
            .oneof_field
            .filter(|_| tool.key == crate::cursor::tool_kind::UNKNOWN_TOOL_KEY)
        {
            Some(field) => format!("{} #{field}", tool.name),
            None => tool.name.to_string(),
        },
    }
}

/// Returns the argument that says best what a tool was used on.
fn subject(detail: &ToolDetail) -> Option<&str> {
    let keys = [
        "command",
        "path",
        "pattern",
        "globPattern",
        "url",
        "searchTerm",
        "query",
        "prompt",
        "plan",
    ];
    keys.iter()
        .find_map(|key| detail.args[*key].as_str())
        .filter(|subject| !subject.is_empty())
}

fn shortened(text: &str) -> String {
    let mut lines: Vec<_> = text.lines().take(RESULT_LINES_MAX + 1).collect();
    if lines.len() <= RESULT_LINES_MAX {
        return text.to_owned();
    }
    lines.truncate(RESULT_LINES_MAX);
    let left_out = text.lines().count() - RESULT_LINES_MAX;
    format!("{}\n… {left_out} more lines", lines.join("\n"))
}

/// Fences text so that no fence inside it can end the block.
fn fenced(text: &str) -> String {
    let text = clean(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{}\n{fence}\n", text.trim_end_matches('\n'))
}

fn quoted(text: &str) -> String {
    clean(text)
        .lines()
        .map(|line| format!("> {line}"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Removes what a terminal would obey: everything that controls it but line breaks and tabs.
fn clean(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
        .collect()
}

fn one_line(text: &str) -> String {
    clean(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn push(out: &mut String, what: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = out.write_fmt(what);
}
