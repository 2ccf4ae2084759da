//! ntfy: notifications with buttons, answered through a second topic.
//!
//! A button publishes to a reply topic that the broker subscribes to. The other way, a request to the broker itself, would need
//! the broker's address to be reachable from the phone; this one needs no open port. ntfy does not say who pressed: each
//! notification carries a key that is bound to its question and ends with it, so whoever may read the topic may answer.

mod render;
mod topic;

pub(super) use topic::Topic;
