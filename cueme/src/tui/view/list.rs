//! The list of questions and agents.

use ratatui::Frame;
use ratatui::style::{Modifier, Style as Painted};

use super::parts::put_words;
use super::style::Style;
use crate::display::{Tone, ago, shorten, visible_line};
use crate::tui::state::{Entry, Layout, State};

/// Draws as many entries as fit around the selected one.
pub(super) fn draw(frame: &mut Frame<'_>, state: &State, layout: &Layout, style: Style) {
    let area = layout.list;
    let entries = state.entries();
    if entries.is_empty() {
        let words = if state.search().is_blank() {
            "no agent is waiting for you"
        } else {
            "nothing fits; Esc shows all"
        };
        return put_words(frame, area, 0, words, style.of(Tone::Quiet));
    }
    let (first, fitting) = state.window(layout, &entries);
    let selected = state.selected();
    for (place, entry) in entries.iter().skip(first).take(fitting).enumerate() {
        let is_selected = Some(entry) == selected;
        let row = place * usize::from(layout.entry_rows);
        draw_entry(frame, state, layout, (row, entry, is_selected), style);
    }
}

fn draw_entry(
    frame: &mut Frame<'_>,
    state: &State,
    layout: &Layout,
    (row, entry, is_selected): (usize, &Entry, bool),
    style: Style,
) {
    let (head, words, tone) = words_of(state, entry);
    let painted = if is_selected {
        Painted::new().add_modifier(Modifier::REVERSED)
    } else {
        style.of(tone)
    };
    let pointer = if is_selected { '>' } else { ' ' };
    let width = usize::from(layout.list.width);
    if layout.entry_rows == 1 {
        let line = format!("{pointer} {head}  {words}");
        put_words(frame, layout.list, row, &line, painted);
    } else {
        put_words(frame, layout.list, row, &format!("{pointer} {head}"), painted);
        let words = shorten(&words, width.saturating_sub(4));
        put_words(
            frame,
            layout.list,
            row + 1,
            &format!("    {words}"),
            style.of(Tone::Quiet),
        );
    }
}

/// Returns who asks and since when, how the question begins, and how it stands.
fn words_of(state: &State, entry: &Entry) -> (String, String, Tone) {
    if let Entry::Agent(id) = entry {
        let Some(agent) = state.agent_of(id) else {
            return (id.to_string(), String::new(), Tone::Quiet);
        };
        let head = format!(". {id} {}", agent.agent_runtime);
        let name = agent.name.as_deref().map(visible_line);
        return (
            head,
            name.unwrap_or_else(|| visible_line(&agent.project_dir)),
            Tone::Quiet,
        );
    }
    let Some(cue) = state.cue_of(entry) else {
        return (String::new(), String::new(), Tone::Quiet);
    };
    let (mark, tone) = match entry {
        Entry::Open(_) if cue.damaged => ('!', Tone::Bad),
        Entry::Open(_) if cue.waiting > 0 => ('*', Tone::Good),
        Entry::Open(_) => ('-', Tone::Attention),
        _ => ('=', Tone::Quiet),
    };
    let since = ago(state.now(), cue.asked_at);
    let head = format!("{mark} {} {} {since}", cue.agent_id, cue.agent_runtime);
    let prompt = cue.prompt.trim_start().lines().next().unwrap_or_default();
    (head, visible_line(prompt), tone)
}
