//! Two ways to wait for the engine: a call takes the one reply of its order, a waiter takes replies until it leaves.

use cueme_rules::Ticket;
use cueme_store::Pass;
use protocol_spec::id::RequestId;
use protocol_spec::message::{Failure, Reply};
use tokio::sync::mpsc;

use super::handle::{EngineError, EngineHandle};
use super::order::{Line, Order, Work};
use super::write::Write;

impl EngineHandle {
    /// Submits work and returns its one reply. It is refused if the pass was revoked before the transaction.
    ///
    /// `write` runs before it, in the same commit. The work is carried out also when the write fails.
    pub async fn call(
        &self,
        pass: Option<Pass>,
        write: Option<Write<'static>>,
        request: RequestId,
        work: Work,
    ) -> Result<Result<Reply, Failure>, EngineError> {
        let ticket = self.ticket();
        let (sender, mut replies) = mpsc::unbounded_channel();
        let order = Order {
            ticket,
            request,
            work,
        };
        self.order(pass, write, order, sender)?;
        next(&mut replies).await
    }

    /// Submits work whose outcome is waited for. It is refused if the pass was revoked before the transaction.
    pub fn wait(&self, pass: Option<Pass>, request: RequestId, work: Work) -> Result<Waiter, EngineError> {
        let ticket = self.ticket();
        let (sender, replies) = mpsc::unbounded_channel();
        let order = Order {
            ticket,
            request,
            work,
        };
        self.order(pass, None, order, sender)?;
        Ok(Waiter {
            engine: self.clone(),
            ticket,
            replies,
        })
    }
}

/// A waiting caller. The engine is told when it leaves, in whatever way.
#[derive(Debug)]
pub struct Waiter {
    engine: EngineHandle,
    ticket: Ticket,
    replies: mpsc::UnboundedReceiver<Box<Line>>,
}

impl Waiter {
    /// Returns the next reply.
    pub async fn next(&mut self) -> Result<Result<Reply, Failure>, EngineError> {
        next(&mut self.replies).await
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        self.engine.gone(self.ticket);
    }
}

async fn next(
    replies: &mut mpsc::UnboundedReceiver<Box<Line>>,
) -> Result<Result<Reply, Failure>, EngineError> {
    match *replies.recv().await.ok_or(EngineError)?.reply {
        Reply::Error(failure) => Ok(Err(failure)),
        reply => Ok(Ok(reply)),
    }
}
