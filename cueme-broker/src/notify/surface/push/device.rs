//! A device as a surface: shows a question, and withdraws it.

use std::sync::Arc;
use std::time::Duration;

use protocol_spec::id::CueId;

use super::render::{Message, over, question};
use super::subscription::Subscription;
use crate::broker::Broker;
use crate::notify::surface::card::Card;
use crate::notify::surface::closing::Closing;
use crate::notify::surface::inbox::Shown;
use crate::notify::surface::pace::Limit;
use crate::notify::surface::request::Trouble;

/// A device that gets pushes.
#[derive(Debug)]
pub(in crate::notify::surface) struct Device {
    pub(in crate::notify::surface) broker: Arc<Broker>,
    pub(in crate::notify::surface) subscription: Subscription,
}

impl Device {
    /// Push services name no limit; this is what a person can read.
    pub(in crate::notify::surface) const LIMIT: Limit = Limit {
        burst: 20,
        refill: Duration::from_secs(1),
    };

    /// Returns the message that shows a question: a device identifies its notification by the question.
    pub(in crate::notify::surface) fn shown(cue: CueId) -> Shown {
        Shown {
            message: cue.to_string(),
            ..Shown::default()
        }
    }

    /// Pushes a question.
    pub(in crate::notify::surface) async fn show(&self, card: &Card) -> Result<Shown, Trouble> {
        let question = question(card);
        let shown = Shown {
            whole: question.whole,
            ..Self::shown(card.cue)
        };
        self.send(&Message::Question(question)).await?;
        Ok(shown)
    }

    /// Pushes that a question has ended, so that the device closes its notification.
    pub(in crate::notify::surface) async fn close(
        &self,
        card: Option<&Card>,
        shown: &Shown,
        closing: &Closing,
    ) -> Result<(), Trouble> {
        match shown.message.parse() {
            Ok(cue) => self.send(&over(cue, card, closing)).await,
            Err(_) => Err(Trouble::Refused("no question is named".to_owned())),
        }
    }

    async fn send(&self, message: &Message) -> Result<(), Trouble> {
        let push = self.broker.push();
        push.send(&self.broker, &self.subscription, message).await
    }
}
