//! A press on a notification's button, which the service worker sends through the page's API.

use std::sync::Arc;

use protocol_spec::id::CueId;
use uuid::Uuid;

use super::subscription::{Subscription, setting_name};
use crate::broker::Broker;
use crate::notify::channel::People;
use crate::notify::surface::inbox::{Deed, Heard, Inbox};
use crate::notify::surface::press::Press;
use crate::store::Pass;

/// A press.
#[derive(Debug)]
pub(crate) struct Pressed<'a> {
    /// The question.
    pub(crate) cue: CueId,
    /// The button.
    pub(crate) press: &'a str,
    /// The key of the decision.
    pub(crate) id: Uuid,
    /// The name of the device.
    pub(crate) by: &'a str,
    /// The pass of the device.
    pub(crate) pass: Option<Pass>,
}

/// Decides a question as the button says, or returns why nothing was decided.
pub(crate) async fn press(
    broker: &Arc<Broker>,
    device: &Subscription,
    pressed: &Pressed<'_>,
) -> Result<(), String> {
    let written = format!("{}:{}", pressed.cue, pressed.press);
    let (cue, press) = Press::decode(&written).ok_or("There is no such button.")?;
    let people = People::from([(device.device_id.clone(), pressed.by.to_owned())]);
    let channel = setting_name(&device.device_id);
    let inbox = Inbox::new(Arc::clone(broker), &channel, &people, device.preview);
    let key = pressed.id.to_string();
    let deed = Deed {
        by: pressed.by,
        cue,
        message: None,
        key: &key,
        pass: pressed.pass.clone(),
    };
    match inbox.pressed(&deed, press, None).await {
        Heard::Decided | Heard::Refused => Ok(()),
        Heard::Marked(..) | Heard::NotSeen(..) => Err("This question has no such button.".to_owned()),
        Heard::Not(why) => Err(why),
    }
}
