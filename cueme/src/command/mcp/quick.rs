//! The tools that are answered at once.

use rmcp::model::CallToolResult;
use serde_json::{Value, json};

use super::content;
use super::tools::{JoinCall, RecallCall};
use crate::command::{join, recall};
use crate::error::CliError;
use crate::host_session::Evidence;

/// `said` is what the host says of the call beside its arguments.
pub(super) async fn join(call: JoinCall, said: Value) -> CallToolResult {
    blocking(move || {
        let registered = join::register(&call.agent_runtime, Evidence::Tool(&said))?;
        let message = registered.message();
        // Some hosts show the model nothing but the structured content.
        let structured = json!({
            "message": message,
            "agent_id": registered.agent_id,
            "agent_runtime": registered.join.runtime,
            "project_dir": registered.join.project_dir,
            "agent_terminal": registered.join.terminal,
        });
        Ok((message, structured))
    })
    .await
}

pub(super) async fn recall(call: RecallCall) -> CallToolResult {
    blocking(move || {
        let found = recall::find(&call.hints)?;
        if found.matches.is_empty() {
            return Err(recall::nobody_can_tell(&call.hints, &found.candidates));
        }
        let message = recall::message(&found.matches);
        let structured = json!({ "message": message, "matches": found.matches });
        Ok((message, structured))
    })
    .await
}

/// Talks to the broker on a thread that may block.
async fn blocking(
    work: impl FnOnce() -> Result<(String, Value), CliError> + Send + 'static,
) -> CallToolResult {
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok((text, structured))) => content::said(text, structured),
        Ok(Err(error)) => content::failed(&error),
        Err(error) => content::failed(&CliError::usage(format!("the call was aborted: {error}"))),
    }
}
