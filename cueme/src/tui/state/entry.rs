//! The list: what can be selected, and what the selection means.

use protocol_spec::id::{AgentId, CueId};
use protocol_spec::message::{AgentView, CueView};

use super::model::{Body, State};

/// A line of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::tui) enum Entry {
    /// A question that is open, or out of service.
    Open(CueId),
    /// The selected question, decided by somebody else.
    Gone(CueId),
    /// A question that the queue answered before anybody saw it.
    Unseen(CueId),
    /// A past question that a search found.
    Found(CueId),
    /// An agent that asks nothing.
    Agent(AgentId),
}

impl State {
    /// Returns the list.
    pub(in crate::tui) fn entries(&self) -> Vec<Entry> {
        let open = self.inbox.cues.iter().filter(|cue| self.fits(cue));
        let open = open.map(|cue| Entry::Open(cue.cue_id));
        let gone = self.gone.iter().map(|cue| Entry::Gone(cue.cue_id));
        let unseen = self.inbox.unseen.iter().filter(|cue| self.fits(cue));
        let unseen = unseen.map(|cue| Entry::Unseen(cue.cue_id));
        let found = self.found.iter().map(|cue| Entry::Found(cue.cue_id));
        let agents = self.inbox.agents.iter().filter(|agent| self.is_idle(agent));
        let agents = agents.map(|agent| Entry::Agent(agent.agent_id.clone()));
        open.chain(gone)
            .chain(unseen)
            .chain(found)
            .chain(agents)
            .collect()
    }

    pub(in crate::tui) fn selected(&self) -> Option<&Entry> {
        self.selected.as_ref()
    }

    /// Returns the question of an entry.
    pub(in crate::tui) fn cue_of(&self, entry: &Entry) -> Option<&CueView> {
        let (list, id): (&[CueView], &CueId) = match entry {
            Entry::Open(id) => (&self.inbox.cues, id),
            Entry::Gone(id) => (self.gone.as_slice(), id),
            Entry::Unseen(id) => (&self.inbox.unseen, id),
            Entry::Found(id) => (&self.found, id),
            Entry::Agent(_) => return None,
        };
        list.iter().find(|cue| cue.cue_id == *id)
    }

    pub(in crate::tui) fn agent_of(&self, id: &AgentId) -> Option<&AgentView> {
        self.inbox.agents.iter().find(|agent| agent.agent_id == *id)
    }

    /// Returns the selected question, if it can be answered.
    pub(in crate::tui) fn open_cue(&self) -> Option<&CueView> {
        match self.selected.as_ref()? {
            entry @ Entry::Open(_) => self.cue_of(entry).filter(|cue| cue.is_answerable()),
            _ => None,
        }
    }

    /// Returns the agent that the selection is about.
    pub(in crate::tui) fn selected_agent(&self) -> Option<AgentId> {
        let entry = self.selected.as_ref()?;
        match entry {
            Entry::Agent(agent) => Some(agent.clone()),
            entry => self.cue_of(entry).map(|cue| cue.agent_id.clone()),
        }
    }

    /// Moves the selection by some lines of the list.
    pub(super) fn select_by(&mut self, lines: isize) {
        if let Some(undone) = self.wanted.take() {
            self.mine.remove(&undone);
        }
        let entries = self.entries();
        let at = self.position(&entries).unwrap_or(0);
        let at = at
            .saturating_add_signed(lines)
            .min(entries.len().saturating_sub(1));
        self.select(entries.into_iter().nth(at));
    }

    pub(super) fn select(&mut self, entry: Option<Entry>) {
        if entry == self.selected {
            return;
        }
        // A question that was decided elsewhere stays while it is selected.
        if !matches!(entry, Some(Entry::Gone(_))) {
            self.gone = None;
        }
        self.selected = entry;
        self.body = Body::default();
        self.read_to = 0;
    }

    /// Selects the next question that can be answered, after one of them was.
    pub(super) fn select_next_open(&mut self, after: &CueId) {
        let cues = &self.inbox.cues;
        let start = cues
            .iter()
            .position(|cue| cue.cue_id == *after)
            .map_or(0, |at| at + 1);
        let next = cues[start..]
            .iter()
            .chain(&cues[..start])
            .find(|cue| cue.cue_id != *after && cue.is_answerable() && !self.mine.contains(&cue.cue_id));
        if let Some(next) = next.map(|cue| Entry::Open(cue.cue_id)) {
            self.select(Some(next));
        }
    }

    pub(super) fn position(&self, entries: &[Entry]) -> Option<usize> {
        let selected = self.selected.as_ref()?;
        entries.iter().position(|entry| entry == selected)
    }

    fn fits(&self, cue: &CueView) -> bool {
        let name = self
            .agent_of(&cue.agent_id)
            .and_then(|agent| agent.name.as_deref());
        let texts = [
            Some(cue.prompt.as_str()),
            Some(cue.agent_id.as_str()),
            Some(cue.agent_runtime.as_str()),
            Some(cue.cue_id.as_str()),
            Some(cue.project_dir.as_str()),
            name,
        ];
        self.has_words(&texts)
    }

    /// Says whether an agent is listed by itself: it asks nothing, and fits the search.
    fn is_idle(&self, agent: &AgentView) -> bool {
        let texts = [
            Some(agent.agent_id.as_str()),
            Some(agent.agent_runtime.as_str()),
            Some(agent.project_dir.as_str()),
            agent.name.as_deref(),
        ];
        let asks = self.inbox.cues.iter().any(|cue| cue.agent_id == agent.agent_id);
        !asks && self.has_words(&texts)
    }

    fn has_words(&self, texts: &[Option<&str>]) -> bool {
        let words = self.search.text().trim().to_lowercase();
        words.is_empty()
            || texts
                .iter()
                .flatten()
                .any(|text| text.to_lowercase().contains(&words))
    }
}
