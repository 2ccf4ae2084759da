//! Surfaces: places where a question is shown and may be answered, such as a chat.
//!
//! A surface shows a question as a card, withdraws it when it was decided elsewhere, and hands what people press or write
//! to the same decision as everybody else, with the person's name. Message ids are kept through the engine, so that a restart
//! edits the right messages and sends none twice. Rendering is pure, one file for each medium; the API clients are thin.

mod card;
mod chat;
mod closing;
mod fit;
mod press;

mod deliver;
mod inbox;
mod medium;
mod pace;
mod registry;
mod request;

mod ntfy;
pub(in crate::notify) mod push;
mod slack;
mod telegram;

pub(super) use deliver::Withdrawal;
pub(super) use registry::Surfaces;
