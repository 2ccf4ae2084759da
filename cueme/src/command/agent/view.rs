//! Prints a running conversation, for a person or for a program.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use adapter_core::contract::{ActivityData, ErrorData, Event, Item, Note, Phase, Sink, Usage};
use adapter_core::cursor::cli::EventWriter;
use adapter_core::guard::redact;
use adapter_core::hap::{Answer, HapEvent};
use protocol_spec::endpoint::Places;

use super::identity::Identity;
use super::reported::ReportedRun;
use crate::display::{Paint, shorten, visible, visible_line};
use crate::output::JsonLines;
use crate::{log_file, output};
use adapter_core::process::Canceller;

/// The log's name in the log directory.
const LOG_NAME: &str = "agent.log";

/// The two ways to show a conversation.
#[derive(Debug)]
enum Form {
    /// Contract events, one JSON object a line; the rest goes to stderr.
    Lines(EventWriter<JsonLines>),
    /// Text as it comes, for a terminal.
    Live(Live),
}

/// Shows a conversation; its clones write to the same place.
#[derive(Debug, Clone)]
pub(super) struct View {
    form: Arc<Mutex<Form>>,
    /// Ends the conversation when nobody reads it any more.
    canceller: Canceller,
    /// The path of the log.
    places: Places,
    /// Reports the run to the broker.
    reported: Option<ReportedRun>,
    /// Ties the agent to its chat.
    identity: Option<Arc<Mutex<Identity>>>,
    /// Whether the chat and the model are among the events.
    shows_session: bool,
    shows_activity: bool,
}

impl View {
    /// Writes contract events.
    pub(super) fn lines(canceller: Canceller, places: Places) -> Self {
        Self::new(Form::Lines(EventWriter::new(JsonLines::new())), canceller, places)
    }

    /// Writes for a person.
    pub(super) fn live(canceller: Canceller, places: Places) -> Self {
        Self::new(Form::Live(Live::new()), canceller, places)
    }

    fn new(form: Form, canceller: Canceller, places: Places) -> Self {
        Self {
            form: Arc::new(Mutex::new(form)),
            canceller,
            places,
            reported: None,
            identity: None,
            shows_session: false,
            shows_activity: true,
        }
    }

    /// Passes everything on to the broker, and shows tools only where they are wanted.
    pub(super) fn reporting(self, reported: Option<ReportedRun>, shows_activity: bool) -> Self {
        Self {
            reported,
            shows_activity,
            ..self
        }
    }

    /// Ties the agent to the chat that it turns out to be.
    pub(super) fn identifying(self, identity: Identity) -> Self {
        Self {
            identity: Some(Arc::new(Mutex::new(identity))),
            ..self
        }
    }

    /// Shows the chat and the model among the events.
    pub(super) fn with_session(self, shows_session: bool) -> Self {
        Self {
            shows_session,
            ..self
        }
    }

    /// Waits until the broker knows the chat; returns why it does not.
    pub(super) async fn settle_identity(&self) -> Option<String> {
        let binding = {
            let identity = self.identity.as_ref()?;
            identity
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take_binding()
        };
        Identity::settled(binding?).await
    }

    /// Shows a step between turns.
    pub(super) fn step(&self, event: &HapEvent<'_>) {
        if let Some(words) = words_of(event) {
            self.remark(&words);
        }
    }

    /// Says something that is no part of the conversation, and logs it.
    pub(super) fn remark(&self, words: &str) {
        let words = redact(words);
        log_file::note(&self.places, LOG_NAME, &words);
        match &mut *self.form() {
            Form::Lines(_) => output::tell(&visible(&words)),
            Form::Live(live) => live.remark(&visible(&words)),
        }
    }

    /// Writes something to the log and shows it to nobody.
    pub(super) fn log(&self, words: &str) {
        log_file::note(&self.places, LOG_NAME, &redact(words));
    }

    /// Says in the end what it cost.
    pub(super) fn close(&self) {
        if let Form::Live(live) = &mut *self.form() {
            live.close();
        }
    }

    fn form(&self) -> MutexGuard<'_, Form> {
        self.form.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink for View {
    fn item(&mut self, item: Item<'_>) {
        if let Some(reported) = &self.reported {
            reported.item(&item);
        }
        if let (Item::Note(Note::Session { id, .. }), Some(identity)) = (&item, &self.identity) {
            identity.lock().unwrap_or_else(PoisonError::into_inner).learn(id);
        }
        if matches!(item, Item::Activity(_)) && !self.shows_activity {
            return;
        }
        if let Item::Note(note) = &item
            && let Some(words) = words_of_note(note)
        {
            return self.remark(&words);
        }
        let shown = match &mut *self.form() {
            Form::Lines(writer) => {
                if let (Item::Note(Note::Session { id, model }), true) = (&item, self.shows_session) {
                    writer.session(id, model);
                }
                writer.item(item);
                writer.flush()
            }
            Form::Live(live) => live.item(&item),
        };
        if shown.is_err() {
            self.canceller.cancel();
        }
    }
}

/// Returns what is said about a note to everyone; what is only worth a look in a terminal is not.
fn words_of_note(note: &Note<'_>) -> Option<String> {
    Some(match note {
        Note::Session { .. } | Note::Connection(_) | Note::UnknownType(_) => return None,
        Note::Notice(words) => format!("the CLI says: {words}"),
        Note::UnknownTool(name) => {
            format!("refused: the agent called {name}, which is not a tool of this adapter")
        }
        Note::QuestionSkipped => {
            "the CLI answered a question of the agent itself; you will be asked instead".to_owned()
        }
        Note::TextMismatch => "the streamed text differs from the text of the result".to_owned(),
        Note::LateExit(exit) => format!("{} after its result; the result counts", exit.words()),
        Note::Recovery(decision) => decision.to_string(),
    })
}

fn words_of(event: &HapEvent<'_>) -> Option<String> {
    Some(match event {
        HapEvent::Turn(_) => return None,
        HapEvent::FollowUp(failure) => {
            format!("the turn ended without asking you ({failure}); reminding the agent")
        }
        HapEvent::Asking(_) => "waiting for you: answer with `cueme answer`, or on the page".to_owned(),
        HapEvent::Answered(Answer::Text(_)) => "you answered; the agent goes on".to_owned(),
        HapEvent::Answered(Answer::Done(_)) => "you ended the run".to_owned(),
        HapEvent::Answered(Answer::Declined(_)) => "you declined; the conversation ends".to_owned(),
        HapEvent::Answered(Answer::Cancelled) => "the question was closed; the conversation ends".to_owned(),
        HapEvent::Forgotten => {
            "warning: the CLI did not continue the chat; the agent has forgotten what was said".to_owned()
        }
        HapEvent::Unproved(why) => {
            format!("note: could not verify that the CLI continued the chat: {why}")
        }
    })
}

/// A terminal that shows text as it comes.
#[derive(Debug)]
struct Live {
    paint: Paint,
    columns: usize,
    is_line_open: bool,
    used: Usage,
}

impl Live {
    fn new() -> Self {
        Self {
            paint: Paint::for_stdout(),
            columns: output::columns(),
            is_line_open: false,
            used: Usage::default(),
        }
    }

    fn item(&mut self, item: &Item<'_>) -> io::Result<()> {
        match item {
            Item::Event(Event::AssistantDelta { content }) => self.text(content),
            Item::Event(Event::ToolCall { name, .. }) => self.line(&self.paint.cyan(&visible_line(name))),
            Item::Event(Event::Usage(usage)) => {
                self.add(*usage);
                Ok(())
            }
            Item::Event(Event::Error(error)) => self.error(error),
            Item::Event(Event::Done(_)) => Ok(()),
            Item::Activity(activity) => self.tool(&activity.data),
            Item::Note(note) => self.note(note),
        }
    }

    fn text(&mut self, content: &str) -> io::Result<()> {
        let mut shown = visible(content);
        if content.ends_with('\n') {
            shown.push('\n');
        }
        self.is_line_open =
            !shown.is_empty() && !shown.ends_with('\n') || self.is_line_open && shown.is_empty();
        self.write(&shown)
    }

    fn tool(&mut self, step: &ActivityData<'_>) -> io::Result<()> {
        let name = visible_line(&step.name);
        let is_well = step.outcome.as_deref() == Some("success");
        let line = match step.phase {
            Phase::Started => {
                let hint = step.hint.as_deref().map(visible_line).unwrap_or_default();
                self.paint
                    .dim(&shorten(&format!("  {name}  {hint}"), self.columns))
            }
            // A tool that did what it should is not worth a second line.
            Phase::Completed if is_well => return Ok(()),
            Phase::Completed => {
                let outcome = step.outcome.as_deref().map(visible_line).unwrap_or_default();
                let code = step
                    .exit_code
                    .map(|code| format!(", exit {code}"))
                    .unwrap_or_default();
                self.paint.yellow(&format!("  {name}: {outcome}{code}"))
            }
        };
        self.line(&line)
    }

    fn note(&mut self, note: &Note<'_>) -> io::Result<()> {
        match note {
            Note::Session { id, model } => {
                let words = format!("chat {}, {}", visible_line(id), visible_line(model));
                self.line(&self.paint.dim(&words))
            }
            Note::Connection(what) => self.line(&self.paint.dim(&visible_line(what))),
            _ => Ok(()),
        }
    }

    fn error(&mut self, error: &ErrorData) -> io::Result<()> {
        let words = format!("{}: {}", error.code, visible(&error.message));
        self.line(&self.paint.red(&words))?;
        match &error.remedy {
            Some(remedy) => self.line(&format!("hint: {remedy}")),
            None => Ok(()),
        }
    }

    fn remark(&mut self, words: &str) {
        // A terminal that is gone is noticed by the next item.
        let _ = self.line(&self.paint.bold(words));
    }

    fn close(&mut self) {
        let Usage {
            prompt_tokens,
            completion_tokens,
            cache_read_tokens,
            ..
        } = self.used;
        let cached = cache_read_tokens.unwrap_or_default();
        let words = format!("tokens: {prompt_tokens} in, {cached} from the cache, {completion_tokens} out");
        let _ = self.line(&self.paint.dim(&words));
    }

    fn add(&mut self, usage: Usage) {
        self.used.prompt_tokens += usage.prompt_tokens;
        self.used.completion_tokens += usage.completion_tokens;
        let cached = self.used.cache_read_tokens.unwrap_or_default();
        self.used.cache_read_tokens = Some(cached + usage.cache_read_tokens.unwrap_or_default());
    }

    /// Writes a line of its own, below text that is not finished.
    fn line(&mut self, line: &str) -> io::Result<()> {
        let open = if self.is_line_open { "\n" } else { "" };
        self.is_line_open = false;
        self.write(&format!("{open}{line}\n"))
    }

    fn write(&self, text: &str) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        stdout.flush()
    }
}
