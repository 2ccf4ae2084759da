//! The human side of a cloud run, as traits that the broker or the command implements.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use super::api::RunRef;
use super::prompt::Callback;
use crate::hap::Confirmable;

/// The future of a call to the human side.
pub type GateFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Gives each turn the means to call back.
pub trait CallbackIssuer: Send + Sync + fmt::Debug {
    /// Makes the callback of the next turn, with a one-time token of its own.
    ///
    /// # Errors
    ///
    /// Fails with the reason why there is none.
    fn issue(&self) -> Result<Callback, String>;
}

/// Sees to it that a human ends the run.
pub trait HumanGate: Send + Sync + fmt::Debug {
    /// Tells whether another process speaks with the human in this run. One alone does, or the agent would hear the human's
    /// word twice.
    fn is_led_elsewhere(&self) -> bool {
        false
    }

    /// Asks the human whether to repeat a start whose success is unknown. Without a human it is not repeated.
    fn start_again<'a>(&'a self, _problem: &'a str) -> GateFuture<'a, Result<bool, String>> {
        Box::pin(std::future::ready(Ok(false)))
    }

    /// Claims the human's word for this process before it is sent. `position` says where the conversation stands, for the
    /// process that comes after this one. Tells whether this process may send it.
    fn claim<'a>(&'a self, _position: &'a str) -> GateFuture<'a, Result<bool, String>> {
        Box::pin(std::future::ready(Ok(true)))
    }

    /// Returns the position at which another process last claimed a message. It is unknown whether that process sent
    /// it.
    fn left_by_another(&self) -> GateFuture<'_, Result<Option<String>, String>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// Tells the broker that the word that another process claimed last arrived.
    fn confirm_left(&self) -> GateFuture<'_, Result<(), String>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Tells whether the human ended the run in answers to the agent itself.
    fn is_over<'a>(&'a self, run: &'a RunRef) -> GateFuture<'a, bool>;

    /// Asks the human in the agent's place and waits, however long it takes.
    fn cue<'a>(&'a self, last_word: &'a str) -> GateFuture<'a, Result<Confirmable<HumanWord>, String>>;
}

/// A human's reply to an agent that had finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HumanWord {
    /// To go on with these words.
    Continue(String),
    /// That the run ends, with these last words for the agent.
    Done(Option<String>),
}
