//! Calls that a client takes as tasks: it gets a handle at once and looks at the result whenever it likes.
//!
//! No timeout of the client can end such a wait. The outcome counts as delivered when the client has fetched it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::ErrorData;
use rmcp::RoleServer;
use rmcp::model::{CreateTaskResult, GetTaskResult, RequestId, TaskPayload};
use rmcp::service::RequestContext;
use rmcp::task_manager::{TaskExit, TaskManager, TaskOptions};

use super::content;
use super::outgoing::Outgoing;
use super::server::Server;
use super::tools::WaitCall;
use super::wait::{Caller, finish};
use crate::client::Receipt;

/// The polling interval that a client is advised to use.
const POLL_EVERY_MS: u64 = 2_000;

/// The tasks of one client.
#[derive(Clone, Default)]
pub(super) struct Tasks {
    manager: TaskManager,
    /// Receipts of results that nobody has fetched yet, by task.
    receipts: Arc<Mutex<HashMap<String, Receipt>>>,
}

/// Says whether the client takes a call as a task.
pub(super) fn are_offered(context: &RequestContext<RoleServer>) -> bool {
    context
        .client_capabilities()
        .is_some_and(|client| client.supports_tasks())
}

impl Tasks {
    /// Waits for the human in the background. A task that is cancelled leaves its question open.
    pub(super) fn start(
        &self,
        server: &Server,
        asked: WaitCall,
        context: &RequestContext<RoleServer>,
    ) -> CreateTaskResult {
        let (server, caller) = (server.clone(), Caller::of(context).left_alone());
        let receipts = Arc::clone(&self.receipts);
        let options = TaskOptions::new()
            .with_ttl_ms(None)
            .with_poll_interval_ms(POLL_EVERY_MS)
            .with_status_message("waiting for the human");
        let task = self.manager.spawn(options, move |task| {
            Box::pin(async move {
                let ended = match finish(&server, asked, &caller, task.cancelled()).await {
                    Ok(ended) if ended.is_cancelled => return Err(TaskExit::Cancelled),
                    Ok(ended) => ended,
                    Err(error) => return Ok(content::failed(&error)),
                };
                if let Some(receipt) = ended.receipt {
                    let mut receipts = receipts.lock().unwrap_or_else(PoisonError::into_inner);
                    receipts.insert(task.task_id().to_owned(), receipt);
                }
                Ok(ended.result)
            })
        });
        CreateTaskResult::new(task)
    }

    /// Returns the state of a task; a caller that gets its end has the outcome.
    pub(super) fn get(
        &self,
        outgoing: &Outgoing,
        task_id: &str,
        request: RequestId,
    ) -> Result<GetTaskResult, ErrorData> {
        let task = self.manager.get_task(task_id)?;
        if matches!(task.payload, TaskPayload::Completed { .. }) {
            let receipt = self
                .receipts
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .remove(task_id);
            if let Some(receipt) = receipt {
                outgoing.hold(request, receipt);
            }
        }
        Ok(GetTaskResult::new(task))
    }

    pub(super) fn cancel(&self, task_id: &str) -> Result<(), ErrorData> {
        self.manager.cancel_task(task_id)
    }
}

impl std::fmt::Debug for Tasks {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Tasks").finish_non_exhaustive()
    }
}
