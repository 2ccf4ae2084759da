//! One surface: shows questions and withdraws them, with retries.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use protocol_spec::id::CueId;

use super::inbox::{Inbox, Shown};
use super::medium::Medium;
use super::pace::Pace;
use super::request::Trouble;
use crate::attachments::FILES_MAX;
use crate::notify::busy::Busy;

/// The shortest pause of a listener before it connects again.
const RECONNECT_MIN: Duration = Duration::from_millis(500);
/// The longest pause.
const RECONNECT_MAX: Duration = Duration::from_secs(60);

/// A place where questions are shown and may be answered.
#[derive(Debug)]
pub(in crate::notify) struct Surface {
    name: String,
    medium: Medium,
    pace: Pace,
    inbox: Inbox,
    /// Questions that are being shown or withdrawn at this moment.
    busy: Mutex<HashSet<CueId>>,
}

/// The result of a withdrawal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::notify) enum Withdrawal {
    /// The question is not shown there any more.
    Done,
    /// Another task works on it, and checks again afterwards.
    Busy,
}

impl Surface {
    pub(super) fn new(name: &str, medium: Medium, inbox: Inbox) -> Self {
        Self {
            name: name.to_owned(),
            pace: Pace::new(medium.limit()),
            medium,
            inbox,
            busy: Mutex::default(),
        }
    }

    /// Shows an open question once, with the files that it names. Retries with a backoff for as long as it is open.
    pub(in crate::notify) async fn show(&self, cue: CueId) {
        // The question can be withdrawn while its files are on their way.
        if let Some(shown) = self.show_words(cue).await
            && self.medium.takes_files()
        {
            for number in 0..FILES_MAX {
                self.show_file(cue, &shown, number).await;
            }
        }
    }

    async fn show_words(&self, cue: CueId) -> Option<Shown> {
        let _busy = Busy::take(&self.busy, cue)?;
        loop {
            self.pace.next_message().await;
            let card = self.inbox.open_card(cue).await?;
            // Claimed first: after a crash in between, it is not sent a second time.
            if !self.inbox.claim(cue).await {
                return None;
            }
            match self.medium.show(&card).await {
                Ok(shown) => {
                    self.pace.succeeded();
                    if !self.inbox.keep(cue, &shown).await {
                        tracing::warn!(channel = self.name, %cue, "the message id was not kept; it will not be withdrawn");
                    }
                    return Some(shown);
                }
                Err(trouble) => {
                    self.inbox.forget(cue).await;
                    if !self.wait_after(&trouble, cue, "shown").await {
                        return None;
                    }
                }
            }
        }
    }

    async fn show_file(&self, cue: CueId, shown: &Shown, number: usize) {
        while let Some(file) = self.inbox.named_file(cue, number).await {
            self.pace.next_message().await;
            match self.medium.attach(shown, &file).await {
                Ok(()) => return self.pace.succeeded(),
                Err(trouble) if self.wait_after(&trouble, cue, "shown with its files").await => {}
                Err(_) => return,
            }
        }
    }

    /// Withdraws a question that has ended. Retries with a backoff until the medium accepts it.
    pub(in crate::notify) async fn withdraw(&self, cue: CueId) -> Withdrawal {
        let Some(_busy) = Busy::take(&self.busy, cue) else {
            return Withdrawal::Busy;
        };
        loop {
            self.pace.unblocked().await;
            let Some(known) = self.inbox.shown(cue).await else {
                return Withdrawal::Done;
            };
            let Some((card, closing)) = self.inbox.ended(cue).await else {
                // It is open again, and its message is still right.
                return Withdrawal::Done;
            };
            let Some(shown) = known.or_else(|| self.medium.known_message(cue)) else {
                // Claimed by a broker that ended before it knew the message.
                self.inbox.forget(cue).await;
                return Withdrawal::Done;
            };
            match self.medium.close(card.as_ref(), &shown, &closing).await {
                Ok(()) => self.pace.succeeded(),
                Err(trouble) if self.wait_after(&trouble, cue, "withdrawn").await => continue,
                Err(_) => {}
            }
            self.inbox.forget(cue).await;
            return Withdrawal::Done;
        }
    }

    /// Handles presses and replies for as long as the surface is configured.
    pub(super) async fn listen(self: Arc<Self>) {
        let mut pause = RECONNECT_MIN;
        loop {
            let started = tokio::time::Instant::now();
            let (asked, why) = match self.medium.listen(&self.inbox).await {
                Ok(()) => (None, None),
                Err(Trouble::Later { why, retry_after }) => (retry_after, Some(why)),
                Err(trouble) => (Some(RECONNECT_MAX), Some(trouble.to_string())),
            };
            if started.elapsed() > RECONNECT_MAX {
                pause = RECONNECT_MIN;
            }
            match why {
                Some(why) => {
                    tracing::warn!(channel = self.name, why, "answers cannot be heard; trying again");
                    tokio::time::sleep(asked.unwrap_or(pause).max(RECONNECT_MIN)).await;
                    pause = (pause * 2).min(RECONNECT_MAX);
                }
                // The server wanted a new connection. The pause prevents a busy loop if it wants one at once.
                None if started.elapsed() < RECONNECT_MIN => tokio::time::sleep(RECONNECT_MIN).await,
                None => pause = RECONNECT_MIN,
            }
        }
    }

    /// Pauses after a temporary failure; says whether it was one.
    async fn wait_after(&self, trouble: &Trouble, cue: CueId, what: &str) -> bool {
        match trouble {
            Trouble::Later { retry_after, .. } => {
                self.pace.failed(*retry_after);
                tracing::info!(channel = self.name, %cue, %trouble, "not {what} yet; trying again");
                true
            }
            Trouble::Gone => {
                tracing::info!(channel = self.name, "the device does not get pushes any more");
                self.inbox.unsubscribe().await;
                false
            }
            Trouble::Refused(_) | Trouble::NotSet(_) => {
                tracing::warn!(channel = self.name, %cue, %trouble, "a question was not {what}");
                false
            }
        }
    }
}
