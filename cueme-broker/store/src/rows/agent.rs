//! Agents in lists.

use protocol_spec::message::AgentView;

use super::Columns;

columns! {
    AGENT_ID, RUNTIME, PROJECT_DIR, TERMINAL, NAME, JOINED_AT, SEEN_AT, OPEN_CUES, QUEUED, ARCHIVED
}

/// Reads an agent as it is shown in lists.
pub fn agent_view<R: Columns>(row: &R) -> Result<AgentView, R::Fault> {
    Ok(AgentView {
        agent_id: row.id(AGENT_ID)?,
        agent_runtime: row.id(RUNTIME)?,
        project_dir: row.text(PROJECT_DIR)?,
        agent_terminal: row.text(TERMINAL)?,
        name: row.maybe_text(NAME)?,
        joined_at: row.time(JOINED_AT)?,
        seen_at: row.time(SEEN_AT)?,
        open_cues: row.count(OPEN_CUES)?,
        waiting: 0,
        queued: row.count(QUEUED)?,
        archived: row.flag(ARCHIVED)?,
    })
}
