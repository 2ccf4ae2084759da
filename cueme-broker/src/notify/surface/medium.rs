//! The media that questions are shown in.

use protocol_spec::id::CueId;

use super::card::Card;
use super::closing::Closing;
use super::inbox::{Inbox, Shown};
use super::ntfy::Topic;
use super::pace::Limit;
use super::push::Device;
use super::request::Trouble;
use super::slack::App;
use super::telegram::Bot;
use crate::attachments::NamedFile;

/// A medium, ready to be used.
#[derive(Debug)]
pub(super) enum Medium {
    /// A Telegram bot.
    Telegram(Bot),
    /// A topic of ntfy.
    Ntfy(Topic),
    /// A Slack app.
    Slack(App),
    /// A device that gets pushes.
    Push(Device),
}

impl Medium {
    /// Returns how fast new messages may be sent.
    pub(super) fn limit(&self) -> Limit {
        match self {
            Self::Telegram(_) => Bot::LIMIT,
            Self::Ntfy(_) => Topic::LIMIT,
            Self::Slack(_) => App::LIMIT,
            Self::Push(_) => Device::LIMIT,
        }
    }

    /// Shows a question.
    pub(super) async fn show(&self, card: &Card) -> Result<Shown, Trouble> {
        match self {
            Self::Telegram(bot) => bot.show(card).await,
            Self::Ntfy(topic) => topic.show(card).await,
            Self::Slack(app) => app.show(card).await,
            Self::Push(device) => device.show(card).await,
        }
    }

    /// Says whether files can be shown beside a question. Where they cannot, its link leads to them.
    pub(super) fn takes_files(&self) -> bool {
        matches!(self, Self::Telegram(_) | Self::Slack(_))
    }

    /// Shows a file beside a question.
    pub(super) async fn attach(&self, shown: &Shown, file: &NamedFile) -> Result<(), Trouble> {
        match self {
            Self::Telegram(bot) => bot.attach(shown, file).await,
            Self::Slack(app) => app.attach(shown, file).await,
            Self::Ntfy(_) | Self::Push(_) => Ok(()),
        }
    }

    /// Returns how a question is shown where that is known before it is sent.
    pub(super) fn known_message(&self, cue: CueId) -> Option<Shown> {
        match self {
            Self::Push(_) => Some(Device::shown(cue)),
            Self::Telegram(_) | Self::Ntfy(_) | Self::Slack(_) => None,
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
            Self::Push(device) => device.close(card, shown, closing).await,
        }
    }

    /// Handles presses and replies, until the connection fails.
    pub(super) async fn listen(&self, inbox: &Inbox) -> Result<(), Trouble> {
        match self {
            Self::Telegram(bot) => bot.listen(inbox).await,
            Self::Ntfy(topic) => topic.listen(inbox).await,
            Self::Slack(app) => app.listen(inbox).await,
            // Presses come through the page's API.
            Self::Push(_) => std::future::pending().await,
        }
    }
}
