//! Callbacks of agents in the cloud: a one-time token, the run's token that it is exchanged for, and signed webhooks.
//!
//! Pure decisions; the listener is in `web`, the storage in `store`.

mod bootstrap;
mod jwt;
mod webhook;

pub use bootstrap::{
    BOOTSTRAP_TTL, ExchangeError, ExchangeReply, ExchangeRequest, MintError, RUN_TOKEN_TTL, exchange,
    mint_bootstrap,
};
pub use jwt::{
    AUDIENCE, AgentAction, Claims, ISSUER, JwtError, SCOPE_HAP, SigningKey, authorise, sign_token,
    verify_token,
};
pub use webhook::{
    DELIVERY_ID_HEADER, Delivery, EVENT_HEADER, RawDelivery, SIGNATURE_HEADER, STATUS_CHANGE,
    WEBHOOK_BYTES_MAX, WebhookError, check_delivery, sign, verify_signature,
};
