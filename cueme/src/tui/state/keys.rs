//! Key bindings, by the part of the screen that has the focus.

use protocol_spec::id::{AgentId, CueId};
use protocol_spec::message::{
    Cancel, CueView, Decline, GiveAnswer, History, Purpose, Request, Say, Show, Undo,
};
use protocol_spec::outcome::{Kind, Origin};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::entry::Entry;
use super::fold::page;
use super::layout::Layout;
use super::model::{CallPurpose, Command, Mode, PromptPurpose, State};
use crate::command::UNDO_WINDOW_MS;
use crate::dialogue::remark;
use crate::tui::draft::{Draft, Row};
use crate::tui::text_box::{TEXT_BYTES_MAX, TextBox};

/// The most past questions that a search finds.
const FOUND_MAX: u32 = 100;

impl PromptPurpose {
    /// Says whether it is about closing a question.
    pub(super) fn is_decision(&self) -> bool {
        matches!(self, Self::Decline(_) | Self::Cancel(_))
    }
}

impl State {
    pub(super) fn press(&mut self, key: KeyEvent, commands: &mut Vec<Command>) {
        if key.kind == KeyEventKind::Release {
            return;
        }
        self.notice = None;
        let was_leaving = std::mem::take(&mut self.is_leaving);
        match (key.code, has_control(key)) {
            (KeyCode::Char('c'), true) => return self.leave(was_leaving, commands),
            (KeyCode::Char('z'), true) => return commands.push(Command::Suspend),
            (KeyCode::PageUp, _) => return self.scroll_by(false),
            (KeyCode::PageDown, _) => return self.scroll_by(true),
            _ => {}
        }
        match &self.mode {
            Mode::List if key.code == KeyCode::Char('q') => self.leave(was_leaving, commands),
            Mode::List => self.press_in_list(key, commands),
            Mode::Search => self.press_in_search(key, commands),
            Mode::Answer => self.press_in_answer(key, commands),
            Mode::Review { cue, .. } => {
                let cue = *cue;
                self.press_in_review(key, &cue, commands);
            }
            Mode::Prompt(..) => self.press_in_prompt(key, commands),
            Mode::Help => self.mode = Mode::List,
        }
    }

    pub(super) fn paste(&mut self, text: &str) {
        if self.mode == Mode::Answer
            && let Some(draft) = self.draft_mut()
            && draft.text().is_none()
        {
            draft.go_to_text();
        }
        let Some(typed) = self.typed_mut() else {
            return self.say("open a question first: Enter does");
        };
        if !typed.insert(text) {
            self.say(format!(
                "the text would be longer than {TEXT_BYTES_MAX} bytes; put it into a file"
            ));
        }
    }

    /// Ends the program; unsent drafts are worth a second press.
    fn leave(&mut self, was_leaving: bool, commands: &mut Vec<Command>) {
        let is_unsent = |id: &CueId| {
            let mut listed = self.inbox.cues.iter().chain(&self.gone);
            listed.any(|cue| cue.cue_id == *id)
        };
        let drafts = self
            .drafts
            .iter()
            .filter(|(id, draft)| draft.is_touched() && is_unsent(id));
        let drafts = drafts.count();
        if drafts == 0 || was_leaving {
            return commands.push(Command::Quit);
        }
        self.is_leaving = true;
        let drafts = if drafts == 1 {
            "1 draft is".to_owned()
        } else {
            format!("{drafts} drafts are")
        };
        self.say(format!(
            "{drafts} not sent; the same key again leaves without sending"
        ));
    }

    fn scroll_by(&mut self, is_down: bool) {
        let page = page(Layout::of(self).body.height.into());
        self.scroll = if is_down {
            self.scroll.saturating_add(page)
        } else {
            self.scroll.saturating_sub(page)
        };
    }

    fn press_in_list(&mut self, key: KeyEvent, commands: &mut Vec<Command>) {
        match key.code {
            KeyCode::Up | KeyCode::Char('k') => self.select_by(-1),
            KeyCode::Down | KeyCode::Char('j') => self.select_by(1),
            KeyCode::Home | KeyCode::Char('g') => self.select_by(isize::MIN),
            KeyCode::End | KeyCode::Char('G') => self.select_by(isize::MAX),
            KeyCode::Enter | KeyCode::Right | KeyCode::Tab => self.open(commands),
            KeyCode::Char('/') => self.mode = Mode::Search,
            KeyCode::Char('?') => self.mode = Mode::Help,
            KeyCode::Char('m') => self.toggle_mouse(commands),
            KeyCode::Char('n') => self.ask_note(Purpose::Note),
            KeyCode::Char('N') => self.ask_note(Purpose::QueuedAnswer),
            KeyCode::Char('u') => self.undo(commands),
            KeyCode::Char('d') => self.ask_reason(PromptPurpose::Decline),
            KeyCode::Char('x') => self.ask_reason(PromptPurpose::Cancel),
            KeyCode::Esc => {
                self.search.set("");
                self.found.clear();
            }
            _ => {}
        }
    }

    /// Goes from the list to the selected entry.
    pub(super) fn open(&mut self, commands: &mut Vec<Command>) {
        if self.open_cue().is_some() {
            self.mode = Mode::Answer;
            return;
        }
        match &self.selected {
            Some(Entry::Unseen(cue)) => {
                let show = Show { cue: cue.to_string() };
                commands.push(Command::Call(CallPurpose::Seen, Request::Seen(show)));
            }
            Some(Entry::Agent(agent)) => self.mode = note(agent.clone(), Purpose::Note),
            Some(Entry::Open(cue)) => {
                let words = format!("question {cue} is out of service; x closes it");
                self.say(words);
            }
            Some(Entry::Gone(_) | Entry::Found(_)) | None => {
                self.say("this question is decided; n leaves a note")
            }
        }
    }

    fn ask_note(&mut self, purpose: Purpose) {
        match self.selected_agent() {
            Some(agent) => self.mode = note(agent, purpose),
            None => self.say("select an agent or a question first"),
        }
    }

    fn ask_reason(&mut self, asked: impl Fn(CueId) -> PromptPurpose) {
        match &self.selected {
            Some(Entry::Open(cue)) => self.mode = Mode::Prompt(asked(*cue), TextBox::long()),
            _ => self.say("select an open question first"),
        }
    }

    fn undo(&mut self, commands: &mut Vec<Command>) {
        match self.held() {
            Some(held) => {
                let cue = held.cue;
                let undo = Undo { cue: cue.to_string() };
                commands.push(Command::Call(CallPurpose::Undo(cue), Request::Undo(undo)));
            }
            None => self.say("there is no answer to take back; n leaves the agent a note"),
        }
    }

    fn press_in_search(&mut self, key: KeyEvent, commands: &mut Vec<Command>) {
        match key.code {
            KeyCode::Esc => {
                self.search.set("");
                self.found.clear();
                self.mode = Mode::List;
            }
            KeyCode::Enter => {
                self.mode = Mode::List;
                let words = self.search.text().trim().to_owned();
                if words.is_empty() {
                    return self.found.clear();
                }
                let history = History {
                    agent: None,
                    search: Some(words),
                    limit: Some(FOUND_MAX),
                    before: None,
                };
                commands.push(Command::Call(CallPurpose::Search, Request::History(history)));
            }
            KeyCode::Up => self.select_by(-1),
            KeyCode::Down => self.select_by(1),
            _ => {
                edit(&mut self.search, key);
            }
        }
    }

    fn press_in_answer(&mut self, key: KeyEvent, commands: &mut Vec<Command>) {
        let Some(draft) = self.draft_mut() else {
            self.mode = Mode::List;
            return;
        };
        draft.complaint = None;
        match key.code {
            KeyCode::Esc => self.mode = Mode::List,
            KeyCode::Tab => draft.step_group(true),
            KeyCode::BackTab => draft.step_group(false),
            KeyCode::Char('d') if has_control(key) => self.ask_reason(PromptPurpose::Decline),
            KeyCode::Char('o') if has_control(key) => match draft.text() {
                Some(text) if text.is_secret => self.say("a secret is not written into a file"),
                Some(text) => commands.push(Command::Edit(text.text().to_owned())),
                None => {}
            },
            KeyCode::Enter if !is_line_break(key) => self.enter(commands),
            _ => self.type_key(key),
        }
    }

    /// Gives a key to the line of the draft that has the cursor.
    fn type_key(&mut self, key: KeyEvent) {
        let Some(draft) = self.draft_mut() else {
            return;
        };
        match (draft.row(), key.code) {
            (Row::Option { .. }, KeyCode::Up) => drop(draft.step(false)),
            (Row::Option { .. }, KeyCode::Down) => drop(draft.step(true)),
            (Row::Option { group, option }, KeyCode::Char(' ')) => draft.pick(group, option),
            (Row::Option { group, .. }, KeyCode::Char(digit @ '1'..='9')) if !has_control(key) => {
                draft.pick(group, (digit as usize) - ('1' as usize));
            }
            (Row::Option { .. }, KeyCode::Char(_)) if !has_control(key) => {
                if draft.go_to_text()
                    && let Some(text) = draft.text_mut()
                {
                    edit(text, key);
                }
            }
            (Row::Option { .. }, _) => {}
            (Row::Text { .. }, code) => {
                let is_full = draft.text_mut().is_some_and(|text| !edit(text, key));
                match code {
                    KeyCode::Up if is_full => drop(draft.step(false)),
                    KeyCode::Down if is_full => drop(draft.step(true)),
                    _ => {}
                }
            }
        }
    }

    /// Takes what the cursor is on, and goes on: to the next field of a form, or to the last look.
    fn enter(&mut self, commands: &mut Vec<Command>) {
        let Some(draft) = self.draft_mut() else {
            return;
        };
        if let Row::Option { group, option } = draft.row()
            && !draft.groups.get(group).is_some_and(|group| group.allow_multiple)
        {
            draft.pick(group, option);
        }
        if draft.is_form() && draft.next_group() {
            return;
        }
        self.review(commands);
    }

    fn review(&mut self, commands: &mut Vec<Command>) {
        let unread = self.unread();
        let Some(cue) = self.open_cue().cloned() else {
            return;
        };
        if cue.origin == Origin::Approval && unread > 0 {
            return self.say(format!(
                "part of the request is still unread (lines: {unread}); PgDn shows it, then you can answer"
            ));
        }
        let Some(draft) = self.draft_mut() else {
            return;
        };
        let (answer, checked) = match draft.checked() {
            Ok(fine) => fine,
            Err(complaint) => {
                draft.complaint = Some(complaint);
                return;
            }
        };
        // There is nothing to look at twice.
        if cue.kind == Kind::Pause && answer.text.is_none() && !cue.in_run {
            return self.send(&cue, false, commands);
        }
        let rendered = checked.render();
        self.mode = Mode::Review {
            text: rendered.redacted.map_or(rendered.text, |redacted| redacted.text),
            remark: remark(&cue, &answer),
            cue: cue.cue_id,
        };
    }

    fn press_in_review(&mut self, key: KeyEvent, cue: &CueId, commands: &mut Vec<Command>) {
        let cue = self.open_cue().filter(|open| open.cue_id == *cue).cloned();
        let Some(cue) = cue else {
            self.mode = Mode::List;
            return;
        };
        match key.code {
            KeyCode::Enter | KeyCode::Char('y') => self.send(&cue, false, commands),
            KeyCode::Char('d') if cue.in_run => self.send(&cue, true, commands),
            KeyCode::Esc | KeyCode::Char('e' | 'n') => self.mode = Mode::Answer,
            _ => {}
        }
    }

    fn send(&mut self, cue: &CueView, ends_run: bool, commands: &mut Vec<Command>) {
        let id = cue.cue_id;
        let Some(draft) = self.drafts.remove(&id) else {
            return;
        };
        let Ok((mut answer, _)) = draft.checked() else {
            self.drafts.insert(id, draft);
            self.mode = Mode::Answer;
            return;
        };
        answer.ends_run = ends_run;
        self.sending.insert(id, draft);
        self.mine.insert(id);
        let request = GiveAnswer {
            cue: id.to_string(),
            answer,
            by: self.by.clone(),
            hold_ms: UNDO_WINDOW_MS,
        };
        commands.push(Command::Call(CallPurpose::Answer(id), Request::Answer(request)));
        self.mode = Mode::List;
        self.select_next_open(&id);
    }

    fn press_in_prompt(&mut self, key: KeyEvent, commands: &mut Vec<Command>) {
        let Mode::Prompt(asked, text) = &mut self.mode else {
            return;
        };
        match key.code {
            KeyCode::Esc => self.mode = Mode::List,
            KeyCode::Tab => {
                if let PromptPurpose::Say(_, purpose) = asked {
                    *purpose = match purpose {
                        Purpose::Note => Purpose::QueuedAnswer,
                        Purpose::QueuedAnswer => Purpose::Note,
                    };
                }
            }
            KeyCode::Char('o') if has_control(key) => commands.push(Command::Edit(text.text().to_owned())),
            KeyCode::Enter if !is_line_break(key) => {
                let (asked, text) = (asked.clone(), text.clone());
                self.submit(asked, &text, commands);
            }
            _ => drop(edit(text, key)),
        }
    }

    fn submit(&mut self, asked: PromptPurpose, text: &TextBox, commands: &mut Vec<Command>) {
        let words = (!text.is_blank()).then(|| text.text().to_owned());
        let by = self.by.clone();
        let (about, request) = match asked {
            PromptPurpose::Decline(id) => {
                let cue = id.to_string();
                (
                    CallPurpose::Close(id),
                    Request::Decline(Decline {
                        cue,
                        reason: words,
                        by,
                    }),
                )
            }
            PromptPurpose::Cancel(id) => {
                let cue = id.to_string();
                (
                    CallPurpose::Close(id),
                    Request::Cancel(Cancel {
                        cue,
                        reason: words,
                        by,
                    }),
                )
            }
            PromptPurpose::Say(agent, purpose) => {
                let Some(text) = words else {
                    return self.say("the message is empty");
                };
                let agent = agent.to_string();
                let say = Say {
                    agent,
                    text,
                    purpose,
                    by,
                };
                (CallPurpose::Say(purpose), Request::Say(say))
            }
        };
        self.mode = Mode::List;
        if let CallPurpose::Close(id) = about {
            self.mine.insert(id);
            self.select_next_open(&id);
        }
        commands.push(Command::Call(about, request));
    }

    /// Returns the draft of the selected question, begun if there is none.
    pub(super) fn draft_mut(&mut self) -> Option<&mut Draft> {
        let cue = self.open_cue()?;
        if self.sending.contains_key(&cue.cue_id) {
            return None;
        }
        let (id, new) = (cue.cue_id, Draft::new(cue));
        Some(self.drafts.entry(id).or_insert(new))
    }
}

fn note(agent: AgentId, purpose: Purpose) -> Mode {
    Mode::Prompt(PromptPurpose::Say(agent, purpose), TextBox::long())
}

/// Edits a text; says whether the key meant something there.
fn edit(text: &mut TextBox, key: KeyEvent) -> bool {
    match (key.code, has_control(key)) {
        (KeyCode::Enter, _) | (KeyCode::Char('j'), true) if text.is_long => drop(text.insert("\n")),
        (KeyCode::Char('a'), true) | (KeyCode::Home, _) => text.go_to_line_start(),
        (KeyCode::Char('e'), true) | (KeyCode::End, _) => text.go_to_line_end(),
        (KeyCode::Char('w'), true) => text.delete_word(),
        (KeyCode::Char('u'), true) => text.delete_to_line_start(),
        (KeyCode::Char('k'), true) => text.delete_to_line_end(),
        (KeyCode::Char('h'), true) | (KeyCode::Backspace, _) => text.backspace(),
        (KeyCode::Delete, _) => text.delete(),
        (KeyCode::Left, _) => text.left(),
        (KeyCode::Right, _) => text.right(),
        (KeyCode::Up, _) => return text.up(),
        (KeyCode::Down, _) => return text.down(),
        (KeyCode::Char(letter), false) => return text.insert(letter.encode_utf8(&mut [0; 4])),
        _ => return false,
    }
    true
}

fn has_control(key: KeyEvent) -> bool {
    key.modifiers.contains(KeyModifiers::CONTROL)
}

/// Says whether an Enter starts a new line.
fn is_line_break(key: KeyEvent) -> bool {
    key.modifiers.intersects(KeyModifiers::ALT | KeyModifiers::SHIFT)
}
