//! Drives Cursor's cloud agents: starts them, follows them, and brings their questions to a human.
//!
//! Both generations of Cursor's API stand behind [`CloudApi`]. Nothing here opens a listener or a store: what
//! arrives from outside (webhooks, token exchange) is decided by pure functions that the owner of the listener
//! calls, and what must be kept is kept through small traits.
//!
//! Read [`execute`] first; the rest is what it stands on.

mod execute;
mod wait;

mod api;
mod http;
mod limiter;
mod sse;
mod stream;
mod v0;
mod v1;

mod config;
mod event;
mod gate;
mod prompt;
mod result;
mod secret;
mod session;
mod signal;
mod status;

mod bootstrap;
mod jwt;
mod webhook;

mod doctor;
mod error;

pub use api::{
    ApiFuture, ApiGeneration, CloudApi, Conversation, ConversationMessage, Identity, Launch, Prompt, RunRef,
    RunState, Started, StopOutcome, WebhookTarget,
};
pub use bootstrap::{
    BOOTSTRAP_TTL, BootstrapRecord, BootstrapStore, ExchangeError, ExchangeReply, ExchangeRequest,
    MemoryBootstrapStore, MintError, RUN_TOKEN_TTL, exchange, mint_bootstrap,
};
pub use config::{
    API_KEY_VARIABLE, CloudConfig, CloudSettings, ConfigError, FormValues, PUBLIC_URL_VARIABLE, WEBHOOK_PATH,
    WEBHOOK_SECRET_CHARS_MIN, WEBHOOK_SECRET_VARIABLE, build_config, repository_key,
};
pub use doctor::{Check, Level, diagnose, worst};
pub use error::{CloudError, CursorApiError, RequestContext};
pub use event::{CloudEvent, EventSink, TranscriptLine, format_event, parse_line, result_text};
pub use execute::{CloudRun, RUNTIME, RunRequest, connect, execute};
pub use gate::{CallbackIssuer, GateFuture, HumanGate, HumanWord};
pub use http::{DEFAULT_BASE_URL, RetryPolicy};
pub use jwt::{
    AUDIENCE, AgentAction, Claims, ISSUER, JwtError, SCOPE_HAP, SigningKey, authorise, sign_token,
    verify_token,
};
pub use limiter::RepositoryLimiter;
pub use prompt::{Callback, EXCHANGE_PATH, RUN_HEADER, SKILLS_INDEX_PATH, compose_prompt, render_template};
pub use result::{EXIT_CANCELLED, EXIT_FAILURE, EXIT_SUCCESS, ExecutionResult};
pub use secret::{
    EnvBinding, PlainText, PlainValue, REDACTED, Redactor, Secret, SecretError, SecretPlace, SecretRef,
};
pub use session::{Session, decode_session, encode_session};
pub use signal::{CancelHandle, Cancellation, RunSignal, RunSignals, cancellation};
pub use sse::{EventTooLong, SseEvent, SseParser};
pub use status::{Phase, phase};
pub use stream::{RunEvent, RunEventKind, RunStream};
pub use v0::{AgentSource, AgentTarget, CursorAgent, V0Client};
pub use v1::V1Client;
pub use webhook::{
    DELIVERY_ID_HEADER, Delivery, DeliveryLog, EVENT_HEADER, MemoryDeliveryLog, RawDelivery, ReceiveError,
    Received, SIGNATURE_HEADER, STATUS_CHANGE, WEBHOOK_BYTES_MAX, WebhookError, check_delivery, receive,
    sign, verify_signature,
};
