//! The line of keys at the bottom, and all of them on a screen of their own.

use unicode_width::UnicodeWidthStr;

use crate::tui::state::{Entry, Mode, State};

/// Returns the keys that matter right now, as many as fit; those that matter most come first.
pub(super) fn keys(state: &State, columns: usize) -> String {
    let in_run = state.open_cue().is_some_and(|cue| cue.in_run);
    let keys: &[&str] = match state.mode() {
        Mode::List if matches!(state.selected(), Some(Entry::Agent(_))) => &[
            "Enter note",
            "q quit",
            "? help",
            "↑↓ select",
            "/ search",
            "N queue an answer",
            "PgUp/PgDn scroll",
        ],
        Mode::List => &[
            "Enter answer",
            "q quit",
            "? help",
            "↑↓ select",
            "u undo",
            "n note",
            "d decline",
            "x close",
            "/ search",
            "PgUp/PgDn scroll",
        ],
        Mode::Search => &["type to filter", "Enter also searches the past", "Esc shows all"],
        Mode::Answer => &[
            "Enter send",
            "Esc list",
            "Tab field",
            "Space pick",
            "Alt-Enter new line",
            "^O editor",
            "^D decline",
            "PgUp/PgDn scroll",
        ],
        Mode::Review { .. } if in_run => &["Enter sends it", "e changes it", "d sends it and ends the run"],
        Mode::Review { .. } => &["Enter sends it", "e changes it"],
        Mode::Prompt(..) => &["Enter sends it", "Esc leaves", "Alt-Enter new line", "^O editor"],
        Mode::Help => &["any key closes this"],
    };
    let mut line = String::new();
    for key in keys {
        let longer = if line.is_empty() {
            (*key).to_owned()
        } else {
            format!("{line} · {key}")
        };
        if longer.width() > columns {
            break;
        }
        line = longer;
    }
    line
}

/// Everything the keys do.
pub(super) const HELP: &[&str] = &[
    "The list",
    "  ↑ ↓ j k      select a question, or an agent that asks nothing",
    "  Enter        answer the question; for an agent, write a note",
    "  PgUp PgDn    scroll the conversation",
    "  n            leave a note, which goes above your next answer",
    "  N            queue an answer to the agent's next plain question",
    "  d  x         decline the question; close it without an answer",
    "  u            take back your last answer within 5 s",
    "  /            search the list; Enter also searches past questions",
    "  m            the mouse selects and scrolls, or the terminal selects text",
    "  q  Ctrl-C    leave",
    "Answering",
    "  ↑ ↓ Tab      go between options and fields",
    "  Space 1-9    pick an option; other letters write your own words",
    "  Enter        next field; then shows what the agent will read",
    "  Alt-Enter    new line (also Ctrl-J)       Ctrl-O  your editor",
    "  d            in that last look: sends it and ends the agent's run",
    "  Esc          back to the list; the draft is kept",
    "In the list: * waits, - stopped listening, ! damaged, = decided, . agent",
];
