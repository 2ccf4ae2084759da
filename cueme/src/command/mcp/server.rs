//! The server: a reply to each request.

use std::sync::Arc;

use protocol_spec::endpoint::Places;
use protocol_spec::version::PROGRAM;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CancelledNotificationParam,
    GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult, Implementation,
    ListPromptsResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio::sync::Semaphore;

use super::outgoing::Outgoing;
use super::tasks::Tasks;
use super::{quick, tasks, texts, tools, wait};

/// The most concurrent waits; each has a thread.
pub(super) const WAITS_MAX: usize = 64;

const INSTRUCTIONS: &str = "Call `join` and keep the agent_id; in a session that \
has joined already it returns the same one. Before each summary and before you finish, call \
`cue` and wait: what it returns is the human's answer. When it says that the question is still open, or the call times \
out, call it again with exactly the same arguments. The prompt `hap` is the whole protocol.";

/// The server.
#[derive(Debug, Clone)]
pub(super) struct Server {
    pub(super) places: Arc<Places>,
    pub(super) waits: Arc<Semaphore>,
    pub(super) outgoing: Outgoing,
    tasks: Tasks,
}

impl Server {
    pub(super) fn new(places: Places) -> Self {
        let places = Arc::new(places);
        Self {
            outgoing: Outgoing::new(Arc::clone(&places)),
            places,
            waits: Arc::new(Semaphore::new(WAITS_MAX)),
            tasks: Tasks::default(),
        }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_tasks()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("cueme", PROGRAM).with_title("cueme: ask a human"))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::all()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::all().into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let result = match tools::parse(&request.name, arguments)? {
            tools::Call::Join(join) => {
                let said = serde_json::to_value(&context.meta).unwrap_or_default();
                quick::join(join, said).await
            }
            tools::Call::Recall(recall) => quick::recall(recall).await,
            tools::Call::Wait(asked) if tasks::are_offered(&context) => {
                return Ok(self.tasks.start(self, asked, &context).into());
            }
            tools::Call::Wait(asked) => wait::wait(self, asked, &context).await,
        };
        Ok(result.into())
    }

    async fn on_cancelled(&self, cancelled: CancelledNotificationParam, _: NotificationContext<RoleServer>) {
        if let Some(request) = &cancelled.request_id {
            self.outgoing.give_up(request);
        }
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.tasks.get(&self.outgoing, &request.task_id, context.id)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks.cancel(&request.task_id)
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(texts::prompts()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        texts::prompt(&request).map(Into::into)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(texts::resources()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        texts::resource(&request.uri).map(Into::into)
    }
}
