//! The media that questions are shown in.

use super::card::Card;
use super::closing::Closing;
use super::inbox::{Inbox, Shown};
use super::ntfy::Topic;
use super::pace::Limit;
use super::request::Trouble;
use super::slack::App;
use super::telegram::Bot;

/// A medium, ready to be used.
#[derive(Debug)]
pub(super) enum Medium {
    /// A Telegram bot.
    Telegram(Bot),
    /// A topic of ntfy.
    Ntfy(Topic),
    /// A Slack app.
    Slack(App),
}

impl Medium {
    /// Returns how fast new messages may be sent.
    pub(super) fn limit(&self) -> Limit {
        match self {
            Self::Telegram(_) => Bot::LIMIT,
            Self::Ntfy(_) => Topic::LIMIT,
            Self::Slack(_) => App::LIMIT,
        }
    }

    /// Shows a question.
    pub(super) async fn show(&self, card: &Card) -> Result<Shown, Trouble> {
        match self {
            Self::Telegram(bot) => bot.show(card).await,
            Self::Ntfy(topic) => topic.show(card).await,
            Self::Slack(app) => app.show(card).await,
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
            Self::Ntfy(topic) => topic.close(shown).await,
            Self::Slack(app) => app.close(card, shown, closing).await,
        }
    }

    /// Hears what people press and write, until the connection fails.
    pub(super) async fn listen(&self, inbox: &Inbox) -> Result<(), Trouble> {
        match self {
            Self::Telegram(bot) => bot.listen(inbox).await,
            Self::Ntfy(topic) => topic.listen(inbox).await,
            Self::Slack(app) => app.listen(inbox).await,
        }
    }
}
