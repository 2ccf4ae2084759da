//! The client of push services: RFC 8030.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use reqwest::{Client, StatusCode};
use tokio::sync::{OnceCell, watch};

use super::encrypt::encrypt;
use super::endpoint::{PublicOnly, parse_endpoint};
use super::render::Message;
use super::subscription::Subscription;
use super::vapid::VapidKey;
use crate::broker::Broker;
use crate::notify::send::client_builder;
use crate::notify::surface::request::{Trouble, retry_after, unreachable};

/// The time that a push service keeps a message for a device that is off.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);
/// The default contact for push services; some refuse a request without one.
const CONTACT_DEFAULT: &str = "mailto:cueme@example.com";

/// Sends pushes, and announces changes of devices.
#[derive(Debug, Default)]
pub(crate) struct PushSender {
    key: Mutex<Option<Arc<VapidKey>>>,
    /// The client for public addresses.
    public: OnceCell<Client>,
    /// The client for the services that the configuration names.
    private: OnceCell<Client>,
    changes: watch::Sender<()>,
}

impl PushSender {
    /// Returns the public key that browsers subscribe with. Reads a file.
    pub(crate) fn public_key(&self, broker: &Broker) -> Result<String, Trouble> {
        Ok(self.key(broker)?.public())
    }

    /// Returns the problem with a subscription, if there is one.
    pub(crate) fn check(&self, broker: &Broker, subscription: &Subscription) -> Result<(), String> {
        parse_endpoint(&subscription.endpoint, &broker.config().push.private_services)?;
        let recipient = subscription
            .recipient()
            .ok_or("p256dh and auth are no keys of a browser")?;
        encrypt(&recipient, b"").map_err(|_| "p256dh is no key of a browser")?;
        Ok(())
    }

    /// Announces that a device was added, changed or removed.
    pub(crate) fn changed(&self) {
        self.changes.send_replace(());
    }

    /// Subscribes to changes of devices.
    pub(in crate::notify) fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    /// Sends a test.
    pub(crate) async fn test(&self, broker: &Broker, subscription: &Subscription) -> Result<(), Trouble> {
        self.send(broker, subscription, &Message::Test).await
    }

    /// Sends a message to a device.
    pub(in crate::notify::surface) async fn send(
        &self,
        broker: &Broker,
        subscription: &Subscription,
        message: &Message,
    ) -> Result<(), Trouble> {
        let config = broker.config();
        let endpoint = parse_endpoint(&subscription.endpoint, &config.push.private_services)
            .map_err(Trouble::Refused)?;
        let unusable = || Trouble::Refused("the device's keys cannot be used".to_owned());
        let recipient = subscription.recipient().ok_or_else(unusable)?;
        let body = encrypt(&recipient, &message.encode()).map_err(|_| unusable())?;
        let contact = config.push.contact.as_deref().unwrap_or(CONTACT_DEFAULT);
        let authorization = self
            .key(broker)?
            .authorize(&endpoint.url, contact, SystemTime::now())
            .ok_or_else(unusable)?;
        let client = self.client(endpoint.is_private).await?;
        let mut request = client
            .post(endpoint.url)
            .header("authorization", authorization)
            .header("content-encoding", "aes128gcm")
            .header("content-type", "application/octet-stream")
            .header("ttl", KEPT.as_secs().to_string())
            .header("urgency", "high")
            .body(body);
        if let Some(topic) = message.topic() {
            request = request.header("topic", topic);
        }
        let response = request.send().await.map_err(unreachable)?;
        match response.status() {
            status if status.is_success() => Ok(()),
            // The browser or its owner ended the subscription.
            StatusCode::NOT_FOUND | StatusCode::GONE => Err(Trouble::Gone),
            status => Err(Trouble::of_status(status, retry_after(&response), "not accepted")),
        }
    }

    async fn client(&self, is_private: bool) -> Result<&Client, Trouble> {
        let cell = if is_private { &self.private } else { &self.public };
        let build = move || {
            let builder = client_builder();
            if is_private {
                builder.build()
            } else {
                builder.dns_resolver(Arc::new(PublicOnly)).build()
            }
        };
        let built = cell.get_or_try_init(|| async {
            let built = tokio::task::spawn_blocking(build).await;
            built
                .map_err(|error| Trouble::later(error.to_string()))?
                .map_err(unreachable)
        });
        built.await
    }

    fn key(&self, broker: &Broker) -> Result<Arc<VapidKey>, Trouble> {
        let mut key = self.key.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = &*key {
            return Ok(Arc::clone(key));
        }
        let loaded = VapidKey::load(&broker.places().data_dir);
        let loaded = Arc::new(loaded.map_err(|error| Trouble::Refused(error.to_string()))?);
        *key = Some(Arc::clone(&loaded));
        Ok(loaded)
    }
}
