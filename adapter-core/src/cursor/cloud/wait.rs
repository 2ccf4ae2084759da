//! Waits for a run to end, by its events where the API streams them and by looking again where it does not.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep, timeout};

use super::api::{Conversation, RunRef, RunState};
use super::error::CloudError;
use super::event::CloudEvent;
use super::execute::{Driver, Stop};
use super::status::{Phase, phase};
use super::stream::{RunEvent, RunEventKind, RunStream};
use cloud_settings::ApiGeneration;

/// The longest pause between two looks at a run that cannot be reached.
const OUTAGE_PAUSE_MAX: Duration = Duration::from_secs(60);
/// The time for which the API may not know a run that was just started.
const UNKNOWN_TIME_MAX: Duration = Duration::from_secs(120);
/// The most breaks of a stream in a row without a new event, before we poll instead.
const BREAKS_MAX: u32 = 3;
/// The number of quick polls after a webhook whose change the API does not show yet.
const HURRIED_LOOKS: u32 = 4;
/// The time between two hurried looks.
const HURRY: Duration = Duration::from_secs(1);
/// The most events remembered so that a stream that starts anew repeats nothing.
const EVENTS_MAX: usize = 100_000;

/// The conversation of a run, as far as it was reported.
#[derive(Debug, Default)]
pub(super) struct Transcript {
    told: HashSet<String>,
    raw: Value,
    last_word: Option<String>,
    assistant_count: usize,
    user_count: usize,
    /// A piece of text whose end has not come yet.
    pending: String,
    expected: Option<Expected>,
}

/// A turn that was just started in an old conversation, whose status may still be that of the turn before.
#[derive(Debug, Clone, Copy)]
struct Expected {
    assistant_count: usize,
    since: Instant,
    saw_activity: bool,
}

impl Transcript {
    /// Returns what the agent said last.
    pub(super) fn last_word(&self) -> Option<&str> {
        self.last_word.as_deref()
    }

    /// Returns the conversation as the API had it.
    pub(super) fn raw(&self) -> &Value {
        &self.raw
    }

    /// Returns how many words of the user the conversation has, as far as it was read.
    pub(super) fn user_count(&self) -> usize {
        self.user_count
    }

    /// Notes that a turn is about to be started.
    pub(super) fn expect_new_turn(&mut self) {
        // The words of an earlier turn are not the last of this one.
        self.last_word = None;
        self.expected = Some(Expected {
            assistant_count: self.assistant_count,
            since: Instant::now(),
            saw_activity: false,
        });
    }

    pub(super) fn saw_activity(&mut self) {
        if let Some(expected) = &mut self.expected {
            expected.saw_activity = true;
        }
    }

    /// Tells whether the end of a run can be that of the turn we started, and not of the one before it.
    fn is_new(&self, grace: Duration) -> bool {
        self.expected.is_none_or(|expected| {
            expected.saw_activity
                || self.assistant_count > expected.assistant_count
                || expected.since.elapsed() >= grace
        })
    }

    /// Tells whether the agent's last word of this turn is known.
    fn has_last_word(&self) -> bool {
        let before = self.expected.map_or(0, |expected| expected.assistant_count);
        self.assistant_count > before
    }
}

impl Driver<'_> {
    /// Waits until the run is over and returns how it stands.
    pub(super) async fn wait(&mut self, run: &RunRef) -> Result<RunState, Stop> {
        if let Some(state) = self.follow_events(run).await? {
            return Ok(state);
        }
        self.poll(run).await
    }

    /// Waits for the agent's last words, which may come after the status that they are the last.
    pub(super) async fn settle(&mut self, run: &RunRef) {
        if self.run.api.generation() == ApiGeneration::V1 {
            return;
        }
        let settings = self.run.settings;
        let pause = settings.poll_interval.min(HURRY);
        let until = Instant::now() + settings.grace;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if let Ok(conversation) = timeout(left, self.run.api.conversation(run)).await {
                self.note_conversation(conversation);
            }
            if self.transcript.has_last_word() || Instant::now() + pause >= until {
                return;
            }
            sleep(pause).await;
        }
    }

    /// Takes note of an old conversation without telling it again.
    pub(super) async fn mark_conversation(&mut self, run: &RunRef) -> Result<(), Stop> {
        if self.run.api.generation() == ApiGeneration::V1 {
            return Ok(());
        }
        let api = self.run.api;
        if let Ok(conversation) = self.guarded(api.conversation(run)).await? {
            self.transcript.assistant_count = assistant_count(&conversation);
            self.transcript.user_count = conversation.messages.len() - self.transcript.assistant_count;
            self.transcript
                .told
                .extend(conversation.messages.into_iter().map(|message| message.id));
        }
        Ok(())
    }

    async fn poll(&mut self, run: &RunRef) -> Result<RunState, Stop> {
        let signal = self.run.signals.listen(&run.agent_id);
        let (mut failures, mut hurried_looks) = (0_u32, 0);
        let since = Instant::now();
        loop {
            match self.look(run).await? {
                Ok(Some(state)) => return Ok(state),
                Ok(None) => failures = 0,
                // The agent works on, and its questions are answered. Only the time limit of the run ends the wait.
                Err(error) if self.may_pass(&error, since) => {
                    failures += 1;
                    let detail = format!("{error}; the run is kept, looking again");
                    self.emit_status(&run.agent_id, "unreachable", Some(&detail));
                }
                Err(error) => return Err(error.into()),
            }
            let interval = self.run.settings.poll_interval;
            let pause = if hurried_looks > 0 {
                interval.min(HURRY)
            } else {
                outage_pause(interval, failures)
            };
            let was_woken = self
                .guarded(async {
                    tokio::select! {
                        () = signal.woken() => true,
                        () = sleep(pause) => false,
                    }
                })
                .await?;
            hurried_looks = if was_woken {
                HURRIED_LOOKS
            } else {
                hurried_looks.saturating_sub(1)
            };
        }
    }

    /// Tells whether an error says nothing about the run: an outage, something between us and the API, or a run that is so
    /// new that the API does not know it yet.
    fn may_pass(&self, error: &CloudError, since: Instant) -> bool {
        let is_unknown = error.api().is_some_and(|api| api.is_not_found());
        let is_new = self.state.is_none() && since.elapsed() < UNKNOWN_TIME_MAX;
        error.is_transient() || if is_unknown { is_new } else { error.is_foreign() }
    }

    /// Looks once. Returns the state if it is the end.
    async fn look(&mut self, run: &RunRef) -> Result<Result<Option<RunState>, CloudError>, Stop> {
        let api = self.run.api;
        let state = match self.guarded(api.state(run)).await? {
            Ok(state) => state,
            Err(error) => return Ok(Err(error)),
        };
        let is_active = phase(&state.status) == Phase::Active;
        if is_active {
            self.transcript.saw_activity();
        }
        if api.generation() == ApiGeneration::V0 {
            // Words that cannot be read now are read at the next look, or at the end.
            let conversation = self
                .guarded(timeout(self.run.settings.grace, api.conversation(run)))
                .await?;
            if let Ok(conversation) = conversation {
                self.note_conversation(conversation);
            }
        }
        // A run of the second generation has its own status, so that cannot be an earlier one's.
        let may_be_stale = api.generation() == ApiGeneration::V0;
        if !is_active && may_be_stale && !self.transcript.is_new(self.run.settings.grace) {
            return Ok(Ok(None));
        }
        self.note_status(&run.agent_id, &state.status);
        self.state = Some(state.clone());
        if !is_active && api.generation() == ApiGeneration::V1 {
            // Where no stream told them, the run itself has the last words.
            self.set_last_word(state.summary.as_deref());
        }
        Ok(Ok((!is_active).then_some(state)))
    }

    fn note_conversation(&mut self, conversation: Result<Conversation, CloudError>) {
        let conversation = match conversation {
            Ok(conversation) => conversation,
            Err(error) => {
                tracing::debug!(%error, "the conversation could not be read");
                return;
            }
        };
        self.transcript.assistant_count = self
            .transcript
            .assistant_count
            .max(assistant_count(&conversation));
        let user_count = conversation.messages.len() - assistant_count(&conversation);
        self.transcript.user_count = self.transcript.user_count.max(user_count);
        for message in conversation.messages {
            if !self.transcript.told.insert(message.id) {
                continue;
            }
            if message.is_assistant {
                self.transcript.last_word = Some(message.text.clone());
                self.emit(&CloudEvent::Assistant { text: message.text });
            } else {
                self.emit(&CloudEvent::User { text: message.text });
            }
        }
        self.transcript.raw = conversation.raw;
    }

    /// Follows the run's events to its end. Returns none if there are none or no more.
    async fn follow_events(&mut self, run: &RunRef) -> Result<Option<RunState>, Stop> {
        let mut after: Option<String> = None;
        let mut breaks = 0;
        let api = self.run.api;
        while breaks <= BREAKS_MAX {
            match self.guarded(api.events(run, after.as_deref())).await? {
                Ok(None) => return Ok(None),
                Ok(Some(mut stream)) => match self.follow_stream(run, &mut stream, &mut after).await? {
                    StreamEnding::Over => {
                        // If the state cannot be read now, the caller polls.
                        return Ok(self.look(run).await?.unwrap_or(None));
                    }
                    StreamEnding::Broken { had_news: true } => breaks = 1,
                    StreamEnding::Broken { had_news: false } => breaks += 1,
                },
                Err(error) if has_expired(&error) => {
                    self.emit_status(&run.agent_id, "polling", Some("the stream has expired"));
                    return Ok(None);
                }
                Err(error) if is_bad_event_id(&error) => {
                    after = None;
                    breaks += 1;
                }
                Err(error) if error.is_transient() => breaks += 1,
                // Looking at the run tells whether it is lost.
                Err(error) => {
                    self.emit_status(&run.agent_id, "polling", Some(&error.to_string()));
                    return Ok(None);
                }
            }
            let pause = HURRY
                .saturating_mul(1 << breaks.min(4))
                .min(self.run.settings.poll_interval);
            self.guarded(sleep(pause)).await?;
        }
        self.emit_status(&run.agent_id, "polling", Some("the stream keeps breaking"));
        Ok(None)
    }

    /// Reads a stream until it ends.
    async fn follow_stream(
        &mut self,
        run: &RunRef,
        stream: &mut RunStream,
        after: &mut Option<String>,
    ) -> Result<StreamEnding, Stop> {
        let mut had_news = false;
        loop {
            let event = match self.guarded(stream.next()).await? {
                Ok(Some(event)) => event,
                Ok(None) => return Ok(StreamEnding::Broken { had_news }),
                Err(error) => {
                    tracing::debug!(%error, "the stream broke");
                    return Ok(StreamEnding::Broken { had_news });
                }
            };
            if let Some(id) = &event.id {
                *after = Some(id.clone());
            }
            if self.is_repeat(run, &event) {
                continue;
            }
            had_news |= event.id.is_some();
            if self.note_event(run, event.kind) {
                return Ok(StreamEnding::Over);
            }
        }
    }

    /// Tells whether an event came before. One id may stand for several kinds of events, and the end counts
    /// however often it comes.
    fn is_repeat(&mut self, run: &RunRef, event: &RunEvent) -> bool {
        let Some(id) = event.id.as_ref().filter(|_| event.kind != RunEventKind::Done) else {
            return false;
        };
        if self.transcript.told.len() >= EVENTS_MAX {
            self.transcript.told.clear();
        }
        let run_id = run.run_id.as_deref().unwrap_or_default();
        let kind = std::mem::discriminant(&event.kind);
        !self.transcript.told.insert(format!("{run_id} {id} {kind:?}"))
    }

    /// Takes note of an event. Returns whether it is the last.
    fn note_event(&mut self, run: &RunRef, kind: RunEventKind) -> bool {
        match kind {
            RunEventKind::Assistant(text) => self.transcript.pending.push_str(&text),
            RunEventKind::Status(status) => {
                // The end is told of when it was read from the run itself.
                if phase(&status) == Phase::Active {
                    self.note_status(&run.agent_id, &status);
                }
            }
            RunEventKind::ToolCall {
                call_id,
                name,
                status,
            } => {
                self.end_text();
                self.emit(&CloudEvent::Tool {
                    call_id,
                    name,
                    status,
                });
            }
            RunEventKind::Thinking => self.end_text(),
            RunEventKind::Error(data) => {
                self.end_text();
                let reason = data["message"]
                    .as_str()
                    .or_else(|| data["error"]["message"].as_str());
                self.emit_status(&run.agent_id, "error", reason);
            }
            RunEventKind::Result(data) => {
                self.end_text();
                self.set_last_word(data["text"].as_str());
                self.transcript.raw = data;
            }
            RunEventKind::Done => {
                self.end_text();
                return true;
            }
            RunEventKind::Other => {}
        }
        false
    }

    fn end_text(&mut self) {
        let text = std::mem::take(&mut self.transcript.pending);
        if !text.is_empty() {
            self.transcript.last_word = Some(text.clone());
            self.emit(&CloudEvent::Assistant { text });
        }
    }

    /// Takes the result's text for the last word, and tells it if it was not told piece by piece.
    fn set_last_word(&mut self, text: Option<&str>) {
        let Some(text) = text.filter(|text| !text.is_empty()) else {
            return;
        };
        if self.transcript.last_word.is_none() {
            self.emit(&CloudEvent::Assistant {
                text: text.to_owned(),
            });
        }
        self.transcript.last_word = Some(text.to_owned());
    }
}

/// The end of a connection to a stream.
enum StreamEnding {
    /// With the run, as far as the stream says.
    Over,
    /// Before the run.
    Broken {
        /// Whether it brought anything that was not known.
        had_news: bool,
    },
}

fn assistant_count(conversation: &Conversation) -> usize {
    conversation
        .messages
        .iter()
        .filter(|message| message.is_assistant)
        .count()
}

fn has_expired(error: &CloudError) -> bool {
    error
        .api()
        .is_some_and(|api| api.status == 410 || api.has_code("stream_expired"))
}

fn is_bad_event_id(error: &CloudError) -> bool {
    error
        .api()
        .is_some_and(|api| api.has_code("invalid_last_event_id"))
}

/// Returns the pause before the next look; it doubles while the run cannot be reached.
fn outage_pause(interval: Duration, failures: u32) -> Duration {
    let longest = interval.max(OUTAGE_PAUSE_MAX);
    interval
        .saturating_mul(1 << failures.saturating_sub(1).min(16))
        .min(longest)
}
