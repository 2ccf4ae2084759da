//! ntfy: notifications with buttons, answered through a second topic.
//!
//! A button publishes to a reply topic that the broker subscribes to. A request to the broker itself would need the
//! broker's address to be reachable from the phone; this way needs no open port. ntfy does not identify the person:
//! each notification carries a key that is bound to its question and ends with it, so all readers of the topic may
//! answer.

mod render;
mod topic;

pub(super) use topic::Topic;
