//! Replies of the broker and of the person's editor.

use protocol_spec::id::CueId;
use protocol_spec::message::{CueView, Decided, Purpose, Reply, Said};

use super::model::{CallPurpose, Held, Mode, State};
use crate::command::{decided_words, said_words};
use crate::display::{decision_words, visible_line};
use crate::tui::draft::Draft;
use crate::tui::text_box::TextBox;

impl State {
    pub(super) fn take_reply(&mut self, about: CallPurpose, result: Result<Vec<Reply>, String>) {
        let replies = match result {
            Ok(replies) => replies,
            Err(why) => return self.take_failure(&about, &why),
        };
        match about {
            CallPurpose::Conversation(agent) => {
                self.conversations.insert(agent, cues_of(replies));
                self.body.key = self
                    .body
                    .key
                    .take()
                    .map(|(entry, columns, _)| (entry, columns, u64::MAX));
            }
            CallPurpose::Search => self.take_found(cues_of(replies)),
            CallPurpose::Seen => {}
            _ => {
                for reply in replies {
                    self.take_one(&about, reply);
                }
            }
        }
    }

    fn take_one(&mut self, about: &CallPurpose, reply: Reply) {
        match (about, reply) {
            (CallPurpose::Answer(cue) | CallPurpose::Close(cue), Reply::Decided(decided)) => {
                self.take_decided(cue, &decided)
            }
            (CallPurpose::Undo(cue), Reply::Undone(_)) => self.take_undone(cue),
            (CallPurpose::Say(purpose), Reply::Said(said)) => self.take_said(&said, *purpose),
            (CallPurpose::Elsewhere(_), Reply::Cue(cue)) => self.take_elsewhere(*cue),
            // An unexpected reply is ignored; the next inbox shows the current state.
            _ => {}
        }
    }

    fn take_decided(&mut self, cue: &CueId, decided: &Decided) {
        let draft = self.sending.remove(cue);
        self.drafts.remove(cue);
        let agent = &decided.agent_id;
        match (decided.released_at, draft) {
            (Some(until), Some(draft)) => {
                self.say(format!(
                    "answered {cue}: {agent} gets it when the time to undo ends"
                ));
                self.held.push(Held {
                    cue: *cue,
                    until,
                    draft,
                });
            }
            _ => self.say(decided_words(decided, self.now)),
        }
    }

    fn take_undone(&mut self, cue: &CueId) {
        if let Some(at) = self.held.iter().position(|held| held.cue == *cue) {
            let held = self.held.remove(at);
            self.drafts.insert(*cue, held.draft);
        }
        self.say(format!(
            "{cue} is open again with your draft; the agent received nothing"
        ));
        // An inbox that was read before the undo may still arrive, so the question is this person's until it is listed.
        self.wanted = Some(*cue);
    }

    fn take_said(&mut self, said: &Said, purpose: Purpose) {
        let words = said_words(said, purpose);
        // The remaining lines concern an open question, which is on the screen already.
        self.say(words.lines().next().unwrap_or_default());
    }

    fn take_elsewhere(&mut self, cue: CueView) {
        // It is open again, and the next inbox lists it.
        if cue.is_answerable() {
            self.notice = None;
            return;
        }
        let by = cue
            .by
            .as_deref()
            .map_or_else(String::new, |by| format!(" by {}", visible_line(by)));
        let draft = if self.drafts.get(&cue.cue_id).is_some_and(Draft::is_touched) {
            "; your draft was not sent and is below"
        } else {
            ""
        };
        self.say(format!("{}: {}{by}{draft}", cue.cue_id, decision_words(&cue)));
        if self.gone.as_ref().is_some_and(|gone| gone.cue_id == cue.cue_id) {
            self.gone = Some(cue);
            self.version += 1;
        }
    }

    fn take_found(&mut self, cues: Vec<CueView>) {
        let is_listed = |cue: &CueView| {
            let mut listed = self.inbox.cues.iter().chain(&self.inbox.unseen);
            listed.any(|found| found.cue_id == cue.cue_id)
        };
        self.found = cues.into_iter().filter(|cue| !is_listed(cue)).collect();
        self.say(match self.found.len() {
            0 => "no past question contains these words".to_owned(),
            1 => "1 past question contains these words".to_owned(),
            count => format!("{count} past questions contain these words"),
        });
    }

    fn take_failure(&mut self, about: &CallPurpose, why: &str) {
        match about {
            CallPurpose::Answer(cue) => {
                if let Some(mut draft) = self.sending.remove(cue) {
                    draft.complaint = Some(why.to_owned());
                    self.drafts.insert(*cue, draft);
                }
                self.mine.remove(cue);
            }
            CallPurpose::Close(cue) => drop(self.mine.remove(cue)),
            // The list goes on without it, and reads it again with the next change.
            CallPurpose::Conversation(_) => return,
            CallPurpose::Undo(_)
            | CallPurpose::Say(_)
            | CallPurpose::Elsewhere(_)
            | CallPurpose::Seen
            | CallPurpose::Search => {}
        }
        self.say(why);
    }

    pub(super) fn take_edited(&mut self, result: Result<String, String>) {
        match result {
            Ok(text) => {
                if let Some(typed) = self.typed_mut() {
                    typed.set(&text);
                }
            }
            Err(why) => self.say(format!("could not use your editor: {why}")),
        }
    }

    /// Returns the text that has the cursor.
    pub(super) fn typed_mut(&mut self) -> Option<&mut TextBox> {
        match self.mode {
            Mode::Search => Some(&mut self.search),
            Mode::Answer => self.draft_mut()?.text_mut(),
            Mode::Prompt(_, ref mut text) => Some(text),
            Mode::List | Mode::Review { .. } | Mode::Help => None,
        }
    }
}

fn cues_of(replies: Vec<Reply>) -> Vec<CueView> {
    let cues = replies.into_iter().filter_map(|reply| match reply {
        Reply::Cue(cue) => Some(*cue),
        _ => None,
    });
    cues.collect()
}
