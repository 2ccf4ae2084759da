//! The broker's word on what is open: new questions, and those that somebody else decided.

use protocol_spec::id::CueId;
use protocol_spec::message::{Request, Show};

use super::entry::Entry;
use super::model::{CallPurpose, Command, Connection, Inbox, Mode, State};

impl State {
    pub(super) fn take_inbox(&mut self, inbox: Inbox, commands: &mut Vec<Command>) {
        let before = std::mem::replace(&mut self.inbox, inbox);
        self.inbox
            .agents
            .sort_by_key(|agent| std::cmp::Reverse(agent.seen_at));
        self.connection = Connection::Up;
        self.version += 1;
        let is_open = |id: &CueId| self.inbox.cues.iter().any(|cue| cue.cue_id == *id);
        if let Some(id) = self.wanted.take_if(|id| is_open(id)) {
            self.mine.remove(&id);
            self.select(Some(Entry::Open(id)));
            return;
        }
        if let Some(Entry::Gone(id)) = &self.selected
            && is_open(id)
        {
            // It was asked again, or its answer was taken back.
            let entry = Entry::Open(*id);
            self.select(Some(entry));
            return;
        }
        let Some(Entry::Open(id)) = &self.selected else {
            return;
        };
        if is_open(id) {
            return;
        }
        let id = *id;
        self.leave_question();
        let cue = before.cues.into_iter().find(|cue| cue.cue_id == id);
        if self.mine.contains(&id) {
            let next = self.inbox.cues.iter().find(|cue| cue.is_answerable());
            self.select(next.map(|cue| Entry::Open(cue.cue_id)));
            return;
        }
        self.gone = cue;
        self.selected = Some(Entry::Gone(id));
        self.say(format!("question {id} was decided elsewhere"));
        let show = Show { cue: id.to_string() };
        commands.push(Command::Call(CallPurpose::Elsewhere(id), Request::Show(show)));
    }

    /// Leaves the keys to the list when the question they went to is not open any more.
    fn leave_question(&mut self) {
        let is_about_question = match &self.mode {
            Mode::Answer | Mode::Review { .. } => true,
            Mode::Prompt(asked, _) => asked.is_decision(),
            Mode::List | Mode::Search | Mode::Help => false,
        };
        if is_about_question {
            self.mode = Mode::List;
        }
    }
}
