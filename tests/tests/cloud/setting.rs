//! Helpers of the tests of cloud runs: settings, a run with its events, and a receiver of webhooks.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use adapter_core::cursor::cloud::{
    ApiGeneration, CallbackIssuer, CancelHandle, CloudEvent, CloudRun, CloudSettings, ExecutionResult,
    HumanGate, RetryPolicy, RunRequest, RunSignals, Secret, Session, cancellation, connect, execute,
};
use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use cueme_broker::callback::{RawDelivery, check_delivery};
use cueme_tests::cloud_fake::{API_KEY, FakeCloud};
use tokio::net::TcpListener;

pub(crate) const REPOSITORY: &str = "https://github.com/acme/site";
pub(crate) const WEBHOOK_SECRET: &str = "webhook-secret-of-the-tests-0123456789";

/// Fast enough for tests, and still in the proportions of real settings.
pub(crate) fn settings(fake: &FakeCloud, generation: ApiGeneration) -> CloudSettings {
    CloudSettings {
        repository: REPOSITORY.to_owned(),
        reference: "main".to_owned(),
        model: None,
        auto_create_pr: false,
        branch_name: None,
        prompt_template: "{{prompt}}".to_owned(),
        poll_interval: Duration::from_millis(40),
        timeout: None,
        grace: Duration::from_millis(600),
        public_url: Some("https://broker.example".to_owned()),
        webhook_secret: None,
        verify_repository_access: false,
        generation,
        base_url: fake.base_url().to_owned(),
        api_key: Secret::new(API_KEY),
    }
}

pub(crate) fn fast_retry() -> RetryPolicy {
    RetryPolicy {
        attempts_max: 4,
        first_wait: Duration::from_millis(5),
        wait_max: Duration::from_millis(50),
        request_timeout: Duration::from_millis(1_500),
    }
}

/// A run and everything it wrote.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) result: ExecutionResult,
    pub(crate) events: Vec<CloudEvent>,
    pub(crate) lines: Vec<String>,
}

impl Outcome {
    pub(crate) fn kinds(&self) -> Vec<&'static str> {
        let kind = |event: &CloudEvent| match event {
            CloudEvent::Init { .. } => "init",
            CloudEvent::Status { .. } => "status",
            CloudEvent::User { .. } => "user",
            CloudEvent::Assistant { .. } => "assistant",
            CloudEvent::Tool { .. } => "tool",
            CloudEvent::Result { .. } => "result",
        };
        self.events.iter().map(kind).collect()
    }

    pub(crate) fn statuses(&self) -> Vec<&str> {
        let status = |event: &'_ CloudEvent| match event {
            CloudEvent::Status { status, .. } => Some(status.clone()),
            _ => None,
        };
        let names = self.events.iter().filter_map(status);
        names.map(|name| &*Box::leak(name.into_boxed_str())).collect()
    }

    pub(crate) fn assistant_texts(&self) -> Vec<&str> {
        let text = |event: &'_ CloudEvent| match event {
            CloudEvent::Assistant { text } => Some(text.clone()),
            _ => None,
        };
        self.events
            .iter()
            .filter_map(text)
            .map(|text| &*Box::leak(text.into_boxed_str()))
            .collect()
    }
}

/// The parts of a run that a test sets.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Parts<'a> {
    pub(crate) signals: Option<&'a RunSignals>,
    pub(crate) callbacks: Option<&'a dyn CallbackIssuer>,
    pub(crate) gate: Option<&'a dyn HumanGate>,
    pub(crate) cancel_after: Option<Duration>,
}

pub(crate) async fn say(settings: &CloudSettings, words: &str) -> Outcome {
    run(settings, &new_run(words), Parts::default()).await
}

pub(crate) fn new_run(words: &str) -> RunRequest {
    RunRequest::Say {
        words: words.to_owned(),
        session: None,
    }
}

pub(crate) fn resumed_run(words: &str, session: &Session) -> RunRequest {
    RunRequest::Say {
        words: words.to_owned(),
        session: Some(session.clone()),
    }
}

pub(crate) async fn run(settings: &CloudSettings, request: &RunRequest, parts: Parts<'_>) -> Outcome {
    let api = connect(settings, fast_retry()).expect("a base URL");
    let own_signals = RunSignals::default();
    let (handle, cancellation) = cancellation();
    if let Some(after) = parts.cancel_after {
        cancel_later(handle, after);
    }
    let events = Arc::new(Mutex::new(Vec::new()));
    let mut sink = {
        let events = Arc::clone(&events);
        move |event: &CloudEvent| events.lock().expect("one writer").push(event.clone())
    };
    let cloud_run = CloudRun {
        api: &*api,
        settings,
        signals: parts.signals.unwrap_or(&own_signals),
        cancellation: &cancellation,
        callbacks: parts.callbacks,
        gate: parts.gate,
    };
    let result = tokio::time::timeout(Duration::from_secs(30), execute(cloud_run, request, &mut sink))
        .await
        .expect("the run ends");
    let events = events.lock().expect("one writer").clone();
    let lines = events.iter().map(CloudEvent::line).collect();
    Outcome {
        result,
        events,
        lines,
    }
}

fn cancel_later(handle: CancelHandle, after: Duration) {
    tokio::spawn(async move {
        tokio::time::sleep(after).await;
        handle.cancel();
    });
}

/// A listener that receives webhooks as the broker's does.
#[derive(Debug)]
pub(crate) struct WebhookReceiver {
    pub(crate) public_url: String,
    pub(crate) signals: RunSignals,
    answers: Arc<Mutex<Vec<u16>>>,
    wakes: Arc<Mutex<usize>>,
}

impl WebhookReceiver {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let public_url = format!("http://{}", listener.local_addr().expect("an address"));
        let signals = RunSignals::default();
        let (answers, wakes) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(0)));
        let seen = Arc::new(Mutex::new(HashSet::new()));
        let handler = {
            let (signals, answers, wakes) = (signals.clone(), Arc::clone(&answers), Arc::clone(&wakes));
            move |headers: HeaderMap, body: Bytes| {
                let status = answer(&headers, &body, &seen, &signals, &wakes);
                answers.lock().expect("no panic").push(status);
                async move { StatusCode::from_u16(status).expect("a status") }
            }
        };
        let app = Router::new().route("/api/adapters/cursor-cloud/webhooks", post(handler));
        tokio::spawn(async move {
            let _ = axum::serve(listener, app).await;
        });
        WebhookReceiver {
            public_url,
            signals,
            answers,
            wakes,
        }
    }

    /// Returns how each delivery was answered.
    pub(crate) fn answers(&self) -> Vec<u16> {
        self.answers.lock().expect("no panic").clone()
    }

    /// Returns how often a delivery was acted on.
    pub(crate) fn wakes(&self) -> usize {
        *self.wakes.lock().expect("no panic")
    }
}

fn answer(
    headers: &HeaderMap,
    body: &[u8],
    seen: &Mutex<HashSet<String>>,
    signals: &RunSignals,
    wakes: &Mutex<usize>,
) -> u16 {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let raw = RawDelivery {
        signature: header("x-webhook-signature"),
        delivery_id: header("x-webhook-id"),
        event: header("x-webhook-event"),
        body,
    };
    match check_delivery(&Secret::new(WEBHOOK_SECRET), raw) {
        Ok(delivery) => {
            if seen.lock().expect("no panic").insert(delivery.delivery_id) {
                *wakes.lock().expect("no panic") += 1;
                signals.wake(&delivery.id);
            }
            204
        }
        Err(error) => error.status(),
    }
}
