//! The way out: what a result carries counts as delivered once the line with it is written, and never before.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use protocol_spec::endpoint::Places;
use rmcp::RoleServer;
use rmcp::model::{JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

use crate::client::Receipt;

/// Receipts of results that are not written yet, by the request that each answers.
#[derive(Debug, Clone)]
pub(super) struct Outgoing {
    places: Arc<Places>,
    receipts: Arc<Mutex<HashMap<RequestId, Receipt>>>,
}

impl Outgoing {
    pub(super) fn new(places: Arc<Places>) -> Self {
        Self {
            places,
            receipts: Arc::default(),
        }
    }

    /// Keeps a receipt until the answer to this request is written.
    pub(super) fn hold(&self, request: RequestId, receipt: Receipt) {
        self.receipts().insert(request, receipt);
    }

    /// Gives up a receipt whose request nobody wants answered any more.
    pub(super) fn give_up(&self, request: &RequestId) {
        self.receipts().remove(request);
    }

    fn receipts(&self) -> MutexGuard<'_, HashMap<RequestId, Receipt>> {
        self.receipts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A transport that confirms what it has written.
pub(super) struct Confirming<T> {
    transport: T,
    outgoing: Outgoing,
}

impl<T> Confirming<T> {
    pub(super) fn new(transport: T, outgoing: Outgoing) -> Self {
        Self { transport, outgoing }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Confirming<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let receipt = match &message {
            JsonRpcMessage::Response(response) => self.outgoing.receipts().remove(&response.id),
            _ => None,
        };
        let places = Arc::clone(&self.outgoing.places);
        let written = self.transport.send(message);
        async move {
            // A line that could not be written reached nobody: its receipt is dropped here.
            written.await?;
            if let Some(receipt) = receipt {
                // Waited for, so that a client that leaves at once does not take the confirmation with it.
                let _ = tokio::task::spawn_blocking(move || receipt.give(&places)).await;
            }
            Ok(())
        }
    }

    fn receive(&mut self) -> impl Future<Output = Option<RxJsonRpcMessage<RoleServer>>> + Send {
        self.transport.receive()
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.transport.close()
    }
}
