//! Drives Cursor's cloud agents: starts them, follows them, and brings their questions to a human.
//!
//! Both generations of Cursor's API stand behind [`CloudApi`]. Nothing here opens a listener or a store: webhooks
//! and the exchange of tokens are the broker's (`callback` there), and the configuration is a crate of its own.
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

mod event;
mod gate;
mod handover;
mod prompt;
mod result;
mod session;
mod signal;
mod status;

mod doctor;
mod error;

pub use cloud_settings::{
    API_KEY_VARIABLE, ApiGeneration, CloudConfig, CloudSettings, ConfigError, DEFAULT_BASE_URL,
    EXCHANGE_PATH, EnvBinding, FormValues, PUBLIC_URL_VARIABLE, PlainText, PlainValue, REDACTED, RUN_HEADER,
    Reach, Redactor, SKILLS_INDEX_PATH, Secret, SecretError, SecretPlace, SecretRef, WEBHOOK_PATH,
    WEBHOOK_SECRET_CHARS_MIN, WEBHOOK_SECRET_VARIABLE, WebhookTarget, build_config, repository_key,
};

pub use api::{
    ApiFuture, CloudApi, Conversation, ConversationMessage, Identity, Launch, Prompt, RunRef, RunState,
    Started, StopOutcome,
};
pub use doctor::{Check, Level, diagnose, worst};
pub use error::{CloudError, CursorApiError, RequestContext};
pub use event::{CloudEvent, EventSink, TranscriptLine, format_event, parse_line, result_text};
pub use execute::{CloudRun, RUNTIME, RunRequest, connect, execute};
pub use gate::{CallbackIssuer, GateFuture, HumanGate, HumanWord};
pub use http::RetryPolicy;
pub use limiter::{LimitFile, RepositoryLimiter};
pub use prompt::{Callback, compose_prompt, render_template};
pub use result::{EXIT_CANCELLED, EXIT_FAILURE, EXIT_SUCCESS, ExecutionResult};
pub use session::{Session, decode_session, encode_session};
pub use signal::{CancelHandle, Cancellation, RunSignal, RunSignals, cancellation};
pub use sse::{EventTooLong, SseEvent, SseParser};
pub use status::{Phase, phase};
pub use stream::{RunEvent, RunEventKind, RunStream};
pub use v0::{AgentSource, AgentTarget, CursorAgent, V0Client};
pub use v1::V1Client;
