//! The media that questions are shown in.

use super::card::Card;
use super::closing::Closing;
use super::inbox::{Inbox, Shown};
use super::pace::{Limit, Pace};
use super::request::Trouble;
use super::telegram::Bot;

/// A medium, ready to be used.
#[derive(Debug)]
pub(super) enum Medium {
    /// A Telegram bot.
    Telegram(Bot),
}

impl Medium {
    /// Returns how fast new messages may be sent.
    pub(super) fn limit(&self) -> Limit {
        match self {
            Self::Telegram(_) => Bot::LIMIT,
        }
    }

    /// Shows a question.
    pub(super) async fn show(&self, card: &Card) -> Result<Shown, Trouble> {
        match self {
            Self::Telegram(bot) => bot.show(card).await,
        }
    }

    /// Withdraws a question, and says how it ended where the medium can.
    pub(super) async fn close(
        &self,
        card: Option<&Card>,
        shown: &Shown,
        closing: &Closing,
    ) -> Result<(), Trouble> {
        match self {
            Self::Telegram(bot) => bot.close(card, shown, closing).await,
        }
    }

    /// Hears what people press and write, until the connection fails.
    pub(super) async fn listen(&self, inbox: &Inbox, pace: &Pace) -> Result<(), Trouble> {
        match self {
            Self::Telegram(bot) => bot.listen(inbox, pace).await,
        }
    }
}
