//! The configured surfaces, each with a task that listens.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use reqwest::Client;
use tokio::task::AbortHandle;

use super::deliver::Surface;
use super::inbox::Inbox;
use super::medium::Medium;
use super::ntfy::Topic;
use super::push::Device;
use super::slack::App;
use super::telegram::Bot;
use crate::broker::Broker;
use crate::notify::channel::{Channel, ChannelKind, People};

/// All surfaces.
#[derive(Debug)]
pub(in crate::notify) struct Surfaces {
    broker: Arc<Broker>,
    running: Mutex<HashMap<String, Running>>,
}

#[derive(Debug)]
struct Running {
    channel: Channel,
    surface: Arc<Surface>,
    listener: AbortHandle,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

impl Surfaces {
    pub(in crate::notify) fn new(broker: Arc<Broker>) -> Self {
        Self {
            broker,
            running: Mutex::default(),
        }
    }

    /// Starts and stops surfaces to match the channels. An unchanged one keeps running.
    pub(in crate::notify) fn sync(&self, channels: &[Channel], http: &Client) {
        let mut running = self.running();
        running.retain(|_, known| channels.contains(&known.channel));
        for channel in channels {
            if running.contains_key(&channel.name) {
                continue;
            }
            let Some((medium, people)) = self.medium_of(channel, http) else {
                continue;
            };
            let inbox = Inbox::new(Arc::clone(&self.broker), &channel.name, &people, channel.preview);
            let surface = Arc::new(Surface::new(&channel.name, medium, inbox));
            let listener = tokio::spawn(Arc::clone(&surface).listen()).abort_handle();
            let started = Running {
                channel: channel.clone(),
                surface,
                listener,
            };
            running.insert(channel.name.clone(), started);
        }
    }

    /// Stops all of them.
    pub(in crate::notify) fn stop(&self) {
        self.running().clear();
    }

    /// Returns the surface of a channel, if the channel takes answers.
    pub(in crate::notify) fn find(&self, channel: &str) -> Option<Arc<Surface>> {
        self.running()
            .get(channel)
            .map(|known| Arc::clone(&known.surface))
    }

    fn running(&self) -> MutexGuard<'_, HashMap<String, Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the medium of a channel and the people who may answer there; `None` for a channel that only notifies.
    fn medium_of(&self, channel: &Channel, http: &Client) -> Option<(Medium, People)> {
        let http = http.clone();
        match &channel.kind {
            ChannelKind::Telegram {
                url,
                token,
                chat,
                people,
            } if !people.is_empty() => {
                let bot = Bot::new(http, url.clone(), token.clone(), chat.clone());
                Some((Medium::Telegram(bot), people.clone()))
            }
            ChannelKind::Ntfy {
                url,
                token,
                answers: Some(answers),
            } => {
                let topic = Topic {
                    http,
                    url: url.clone(),
                    token: token.clone(),
                    replies: answers.replies.clone(),
                    reply_token: answers.reply_token.clone(),
                };
                let people = People::from([(Topic::KEY_HOLDER.to_owned(), answers.person.clone())]);
                Some((Medium::Ntfy(topic), people))
            }
            ChannelKind::SlackApp {
                url,
                token,
                app_token,
                channel,
                people,
            } => {
                let app = App {
                    http,
                    url: url.clone(),
                    token: token.clone(),
                    app_token: app_token.clone(),
                    channel: channel.clone(),
                };
                Some((Medium::Slack(app), people.clone()))
            }
            ChannelKind::Push(subscription) => {
                let device = Device {
                    broker: Arc::clone(&self.broker),
                    subscription: (**subscription).clone(),
                };
                // Presses come through the page's API, which knows the device.
                Some((Medium::Push(device), People::new()))
            }
            ChannelKind::Telegram { .. }
            | ChannelKind::Ntfy { .. }
            | ChannelKind::Desktop
            | ChannelKind::Webhook { .. }
            | ChannelKind::Slack { .. } => None,
        }
    }
}
