//! The decision of a hook.

use protocol_spec::endpoint::Places;
use runtimes::hook::HookReply;

use super::lease::Lease;
use crate::client::Receipt;

/// The reply to the host, and the receipts to send once it is written.
pub(super) struct Verdict {
    pub(super) reply: HookReply,
    receipts: Vec<Receipt>,
    lease: Option<Lease>,
}

impl Verdict {
    /// The host goes on as if there were no hook.
    pub(super) fn pass() -> Self {
        Self::just(HookReply::Pass)
    }

    /// A reply that confirms nothing.
    pub(super) fn just(reply: HookReply) -> Self {
        Self {
            reply,
            receipts: Vec::new(),
            lease: None,
        }
    }

    /// A reply that delivers outcomes.
    pub(super) fn delivering(reply: HookReply, receipts: Vec<Receipt>) -> Self {
        Self {
            reply,
            receipts,
            lease: None,
        }
    }

    /// Ends the turn's lease together with this verdict.
    pub(super) fn under(mut self, lease: Option<Lease>) -> Self {
        self.lease = lease;
        self
    }

    /// Says to the broker, and to a second hook of the same turn, that the host has the reply.
    pub(super) fn confirm(self, places: &Places) {
        for receipt in self.receipts {
            receipt.give(places);
        }
        if let Some(lease) = self.lease {
            lease.finish();
        }
    }
}
