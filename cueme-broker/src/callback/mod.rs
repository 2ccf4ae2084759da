//! How agents in the cloud call back: a one-time token, the run's token that it is exchanged for, and signed webhooks.
//!
//! Pure decisions; the listener is in `web`, what must be kept is in `store`.

mod bootstrap;
mod jwt;
mod webhook;

pub use bootstrap::{
    BOOTSTRAP_TTL, BootstrapStore, ExchangeError, ExchangeReply, ExchangeRequest, MemoryBootstrapStore,
    MintError, RUN_TOKEN_TTL, exchange, mint_bootstrap,
};
pub use jwt::{
    AUDIENCE, AgentAction, Claims, ISSUER, JwtError, SCOPE_HAP, SigningKey, authorise, sign_token,
    verify_token,
};
pub use webhook::{
    DELIVERY_ID_HEADER, Delivery, DeliveryLog, EVENT_HEADER, MemoryDeliveryLog, RawDelivery, ReceiveError,
    Received, SIGNATURE_HEADER, STATUS_CHANGE, WEBHOOK_BYTES_MAX, WebhookError, check_delivery, receive,
    sign, verify_signature,
};
