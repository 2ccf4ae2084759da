//! Serves until the client leaves.

use clap::Args;
use protocol_spec::exit::Exit;
use rmcp::ServiceExt;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::stdio;

use super::outgoing::Confirming;
use super::server::Server;
use crate::environment;
use crate::error::CliError;

/// Arguments of `mcp`; there are none.
#[derive(Debug, Args)]
pub(crate) struct McpArgs {}

pub(in crate::command) fn run(_: &McpArgs) -> Result<Exit, CliError> {
    let server = Server::new(environment::places()?);
    let failed = |why: String| CliError::new(Exit::Io, format!("could not serve MCP: {why}"));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| failed(error.to_string()))?;
    let ended = runtime.block_on(async {
        let (stdin, stdout) = stdio();
        let outgoing = server.outgoing.clone();
        let service = server
            .serve(Confirming::new(AsyncRwTransport::new(stdin, stdout), outgoing))
            .await
            .map_err(|error| failed(error.to_string()))?;
        service.waiting().await.map_err(|error| failed(error.to_string()))
    });
    // Waits whose client left are not waited for: their questions stay open.
    runtime.shutdown_background();
    ended.map(|_| Exit::Done)
}
