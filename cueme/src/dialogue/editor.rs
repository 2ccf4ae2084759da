//! The line editor of a terminal: bracketed paste, several lines, and a way to the person's own editor.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::termios::{QueueSelector, tcflush};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{
    Cmd, ColorMode, ConditionalEventHandler, Config, Editor, Event, EventContext, EventHandler, Helper,
    KeyCode, KeyEvent, Modifiers, RepeatCount,
};
use unicode_width::UnicodeWidthStr;

use super::external_editor;
use super::lines::{Lines, Typed};
use super::secret::Hidden;
use crate::output;

/// A terminal's line editor, made when it is first used.
#[derive(Default)]
pub(crate) struct TerminalLines {
    editor: Option<Editor<Mask, MemHistory>>,
    /// Set when the person asks for their own editor.
    wants_editor: Arc<AtomicBool>,
}

impl std::fmt::Debug for TerminalLines {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("TerminalLines").finish_non_exhaustive()
    }
}

impl Lines for TerminalLines {
    fn read(&mut self, prompt: &str, draft: &str) -> io::Result<Typed> {
        let mut draft = draft.to_owned();
        loop {
            let typed = self.read_masked(prompt, &draft, false)?;
            match typed {
                Typed::Text(text) if self.wants_editor.swap(false, Ordering::Relaxed) => {
                    draft = external_editor::edit(&text).unwrap_or_else(|why| {
                        output::tell(&format!("could not use your editor: {why}"));
                        text
                    });
                }
                typed => return Ok(typed),
            }
        }
    }

    fn read_secret(&mut self, prompt: &str) -> io::Result<Typed> {
        // A terminal without cursor control echoes by itself.
        let _hidden = Hidden::begin();
        let typed = self.read_masked(prompt, "", true);
        // A secret never goes through a file.
        self.wants_editor.store(false, Ordering::Relaxed);
        typed
    }

    fn discard(&mut self) {
        // A terminal that is gone has nothing left to read.
        let _ = tcflush(io::stdin(), QueueSelector::IFlush);
    }
}

impl TerminalLines {
    fn read_masked(&mut self, prompt: &str, draft: &str, is_masked: bool) -> io::Result<Typed> {
        let editor = match &mut self.editor {
            Some(editor) => editor,
            empty => empty.insert(build(&self.wants_editor)?),
        };
        if let Some(mask) = editor.helper_mut() {
            mask.is_on = is_masked;
        }
        match editor.readline_with_initial(prompt, (draft, "")) {
            Ok(text) => Ok(Typed::Text(text)),
            Err(ReadlineError::Eof) => Ok(Typed::End),
            Err(ReadlineError::Interrupted) => Ok(Typed::Interrupt),
            Err(error) => Err(as_io(error)),
        }
    }
}

fn build(wants_editor: &Arc<AtomicBool>) -> io::Result<Editor<Mask, MemHistory>> {
    let config = Config::builder()
        .auto_add_history(false)
        .bracketed_paste(true)
        // The mask of secrets is a highlighting, and NO_COLOR must not unmask them.
        .color_mode(ColorMode::Forced)
        .build();
    let history = MemHistory::with_config(&config);
    let mut editor = Editor::with_history(config, history).map_err(as_io)?;
    editor.set_helper(Some(Mask::default()));
    for key in [KeyEvent(KeyCode::Enter, Modifiers::ALT), KeyEvent::ctrl('J')] {
        editor.bind_sequence(key, Cmd::Newline);
    }
    let handler = EventHandler::Conditional(Box::new(OpenEditor(Arc::clone(wants_editor))));
    editor.bind_sequence(
        Event::KeySeq(vec![KeyEvent::ctrl('X'), KeyEvent::ctrl('E')]),
        handler,
    );
    Ok(editor)
}

fn as_io(error: ReadlineError) -> io::Error {
    match error {
        ReadlineError::Io(error) => error,
        other => io::Error::other(other),
    }
}

/// Ends the line so that its text can be taken to the person's own editor.
struct OpenEditor(Arc<AtomicBool>);

impl ConditionalEventHandler for OpenEditor {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, _: &EventContext<'_>) -> Option<Cmd> {
        self.0.store(true, Ordering::Relaxed);
        Some(Cmd::AcceptLine)
    }
}

/// Draws blanks in place of a secret.
#[derive(Default)]
struct Mask {
    is_on: bool,
}

impl Highlighter for Mask {
    fn highlight<'l>(&self, line: &'l str, _pos: usize) -> Cow<'l, str> {
        if self.is_on {
            Cow::Owned(" ".repeat(line.width()))
        } else {
            Cow::Borrowed(line)
        }
    }

    fn highlight_char(&self, _line: &str, _pos: usize, kind: CmdKind) -> bool {
        self.is_on && kind != CmdKind::MoveCursor
    }
}

impl Helper for Mask {}
impl Completer for Mask {
    type Candidate = String;
}
impl Hinter for Mask {
    type Hint = String;
}
impl Validator for Mask {}
