//! Stops a running turn from elsewhere.

use tokio::sync::watch;

/// Stops the turn that holds the matching [`Cancelled`].
#[derive(Debug, Clone)]
pub struct Canceller(watch::Sender<bool>);

/// Learns that the turn is to stop.
#[derive(Debug, Clone)]
pub struct Cancelled(Option<watch::Receiver<bool>>);

/// Builds the two ends.
pub fn cancellation() -> (Canceller, Cancelled) {
    let (sender, receiver) = watch::channel(false);
    (Canceller(sender), Cancelled(Some(receiver)))
}

impl Canceller {
    /// Stops the turn; more than once does no harm.
    pub fn cancel(&self) {
        self.0.send_replace(true);
    }
}

impl Cancelled {
    /// Builds an end that never hears anything.
    pub fn never() -> Self {
        Self(None)
    }

    /// Waits until the turn is to stop; for ever, when nobody can say so any more.
    pub async fn wait(&mut self) {
        if let Some(receiver) = &mut self.0
            && receiver.wait_for(|cancelled| *cancelled).await.is_ok()
        {
            return;
        }
        std::future::pending().await
    }
}
