//! The state, what happens to it, and what it wants done.

use std::collections::{HashMap, HashSet};

use protocol_spec::id::{AgentId, CueId};
use protocol_spec::message::{AgentView, CueView, Purpose, Reply, Request};
use protocol_spec::time::Timestamp;
use ratatui::crossterm::event::{KeyEvent, MouseEvent};

use super::entry::Entry;
use crate::display::StyledLine;
use crate::tui::draft::Draft;
use crate::tui::text_box::TextBox;

/// Something that happened.
#[derive(Debug)]
pub(in crate::tui) enum Event {
    Key(KeyEvent),
    Mouse(MouseEvent),
    Paste(String),
    /// The terminal has this many columns and rows now.
    Resize(u16, u16),
    /// Time passed.
    Tick,
    /// The current state of the broker.
    Inbox(Inbox),
    /// The broker is away, for this reason.
    Lost(String),
    /// The result of a call, or its failure.
    Reply(CallPurpose, Result<Vec<Reply>, String>),
    /// The text that the person's editor saved, or its failure.
    Edited(Result<String, String>),
}

/// Everything that a human may look at.
#[derive(Debug, Default, Clone)]
pub(in crate::tui) struct Inbox {
    pub(in crate::tui) cues: Vec<CueView>,
    pub(in crate::tui) unseen: Vec<CueView>,
    pub(in crate::tui) agents: Vec<AgentView>,
}

/// Something to be done outside.
#[derive(Debug)]
pub(in crate::tui) enum Command {
    /// Take the mouse over, or give it back to the terminal.
    Mouse(bool),
    /// Call the broker; what comes of it comes back as [`Event::Reply`].
    Call(CallPurpose, Request),
    /// Let the person edit a text in their own editor.
    Edit(String),
    /// Stop until the shell brings the program back.
    Suspend,
    Quit,
}

/// The purpose of a call to the broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::tui) enum CallPurpose {
    Answer(CueId),
    /// A question is declined or closed.
    Close(CueId),
    Undo(CueId),
    Say(Purpose),
    /// A question that somebody else decided.
    Elsewhere(CueId),
    /// A question that the queue answered was looked at.
    Seen,
    Conversation(AgentId),
    Search,
}

/// The receiver of the keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::tui) enum Mode {
    List,
    Search,
    Answer,
    /// The last look at an answer before it goes out.
    Review {
        cue: CueId,
        /// The text that the agent will read, without secrets.
        text: String,
        remark: Option<&'static str>,
    },
    /// One text is asked for.
    Prompt(PromptPurpose, TextBox),
    Help,
}

/// The purpose of a text that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::tui) enum PromptPurpose {
    Decline(CueId),
    Cancel(CueId),
    Say(AgentId, Purpose),
}

/// Whether the broker is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::tui) enum Connection {
    /// Nothing was read yet.
    Reading,
    Up,
    Lost(String),
}

/// An answer that can be taken back.
#[derive(Debug, Clone)]
pub(in crate::tui) struct Held {
    pub(in crate::tui) cue: CueId,
    pub(in crate::tui) until: Timestamp,
    pub(in crate::tui) draft: Draft,
}

/// The visible part of the selected entry, in lines.
#[derive(Debug, Default)]
pub(in crate::tui) struct Body {
    pub(super) key: Option<(Entry, usize, u64)>,
    pub(in crate::tui) lines: Vec<StyledLine>,
    /// The first line of the question, below the conversation before it.
    pub(super) question_at: usize,
}

/// The state of the inbox.
#[derive(Debug)]
pub(in crate::tui) struct State {
    /// The person's name, which goes with each decision.
    pub(super) by: Option<String>,
    pub(super) now: Timestamp,
    pub(super) size: (u16, u16),
    pub(super) connection: Connection,
    pub(super) inbox: Inbox,
    /// Grows with each change of what was read.
    pub(super) version: u64,
    /// The selected question after somebody else decided it.
    pub(super) gone: Option<CueView>,
    /// Past questions that a search found.
    pub(super) found: Vec<CueView>,
    pub(super) search: TextBox,
    pub(super) selected: Option<Entry>,
    /// The question to select as soon as the broker lists it.
    pub(super) wanted: Option<CueId>,
    pub(super) mode: Mode,
    pub(super) drafts: HashMap<CueId, Draft>,
    /// Drafts on their way to the broker.
    pub(super) sending: HashMap<CueId, Draft>,
    /// Questions that this person decided here.
    pub(super) mine: HashSet<CueId>,
    pub(super) held: Vec<Held>,
    pub(super) conversations: HashMap<AgentId, Vec<CueView>>,
    /// The conversation that was asked for last, and at which version.
    pub(super) asked_for: Option<(AgentId, u64)>,
    pub(super) body: Body,
    pub(super) scroll: usize,
    /// The number of the body's lines, from the first on, that were shown.
    pub(super) read_to: usize,
    pub(super) notice: Option<String>,
    /// Whether the person was told that leaving loses drafts.
    pub(super) is_leaving: bool,
    /// Whether the mouse selects and scrolls; otherwise the terminal selects text with it.
    pub(super) has_mouse: bool,
}

impl State {
    /// Begins with an empty inbox.
    pub(in crate::tui) fn new(by: Option<String>, size: (u16, u16), now: Timestamp) -> Self {
        Self {
            by,
            now,
            size,
            connection: Connection::Reading,
            inbox: Inbox::default(),
            version: 0,
            gone: None,
            found: Vec::new(),
            search: TextBox::default(),
            selected: None,
            wanted: None,
            mode: Mode::List,
            drafts: HashMap::new(),
            sending: HashMap::new(),
            mine: HashSet::new(),
            held: Vec::new(),
            conversations: HashMap::new(),
            asked_for: None,
            body: Body::default(),
            scroll: 0,
            read_to: 0,
            notice: None,
            is_leaving: false,
            has_mouse: false,
        }
    }

    /// Notes whether the mouse is ours.
    pub(in crate::tui) fn set_mouse(&mut self, is_ours: bool) {
        self.has_mouse = is_ours;
    }

    /// Takes an event and returns what is to be done about it.
    pub(in crate::tui) fn handle(&mut self, event: Event, now: Timestamp) -> Vec<Command> {
        self.now = now;
        self.held.retain(|held| held.until > now);
        let mut commands = Vec::new();
        match event {
            Event::Key(key) => self.press(key, &mut commands),
            Event::Mouse(mouse) => self.handle_mouse(mouse, &mut commands),
            Event::Paste(text) => self.paste(&text),
            Event::Resize(columns, rows) => self.size = (columns, rows),
            Event::Tick => {}
            Event::Inbox(inbox) => self.take_inbox(inbox, &mut commands),
            Event::Lost(why) => self.connection = Connection::Lost(why),
            Event::Reply(about, result) => self.take_reply(about, result),
            Event::Edited(result) => self.take_edited(result),
        }
        self.settle(&mut commands);
        commands
    }

    /// Returns the answer that can be taken back and was given last.
    pub(in crate::tui) fn held(&self) -> Option<&Held> {
        self.held.last()
    }

    pub(in crate::tui) fn now(&self) -> Timestamp {
        self.now
    }

    /// Returns how many columns and rows the terminal has.
    #[cfg(test)]
    pub(in crate::tui) fn size(&self) -> (u16, u16) {
        self.size
    }

    pub(in crate::tui) fn mode(&self) -> &Mode {
        &self.mode
    }

    pub(in crate::tui) fn connection(&self) -> &Connection {
        &self.connection
    }

    pub(in crate::tui) fn inbox(&self) -> &Inbox {
        &self.inbox
    }

    pub(in crate::tui) fn notice(&self) -> Option<&str> {
        self.notice.as_deref()
    }

    pub(in crate::tui) fn search(&self) -> &TextBox {
        &self.search
    }

    /// Returns the lines of the selected entry and the first one on the screen.
    pub(in crate::tui) fn body(&self) -> (&[StyledLine], usize) {
        (&self.body.lines, self.scroll)
    }

    pub(super) fn say(&mut self, words: impl Into<String>) {
        self.notice = Some(words.into());
    }
}
