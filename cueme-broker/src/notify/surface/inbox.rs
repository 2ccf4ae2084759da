//! The broker as a surface sees it: questions to show, what was shown, and decisions.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use protocol_spec::answer::{Answer, Attachment, Reply as Chosen};
use protocol_spec::id::{CueId, RequestId};
use protocol_spec::message::{CueView, ErrorCode, Failure, Reply};
use protocol_spec::outcome::Outcome;
use protocol_spec::payload::Payload;
use protocol_spec::time::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::sync::mpsc;
use uuid::Uuid;

use super::card::Card;
use super::closing::Closing;
use super::press::{Ambiguous, Meaning, Press, written};
use crate::broker::{Broker, blocking};
use crate::engine::{Order, Work};
use crate::settings::Settings;
use crate::store::{Reader, Records, StoreError};
use crate::web::{NamedFile, keep_file, named_file};

/// How the place is named up to which a surface was read.
const CURSOR_PREFIX: &str = "surface:";

/// How often, and how many times, a message id is looked for that is on its way to the disk: people can be faster.
const LOOK_AGAIN: Duration = Duration::from_millis(50);
const LOOKS_MAX: usize = 40;

/// What one surface knows of the broker.
#[derive(Debug)]
pub(in crate::notify) struct Inbox {
    broker: Arc<Broker>,
    channel: String,
    /// Who may answer, by the id that the medium gives them.
    people: BTreeMap<String, String>,
    preview: bool,
}

/// A question as it stands in a surface; kept until it is withdrawn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::notify) struct Shown {
    /// How the medium calls the message.
    pub(super) message: String,
    /// Whether all of the question is in it.
    #[serde(default)]
    pub(super) whole: bool,
    /// The options that are marked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) marked: Vec<usize>,
    /// What a press has to carry, where the medium does not say who pressed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) token: Option<String>,
}

/// What became of a press or a reply.
#[derive(Debug)]
pub(super) enum Heard {
    /// It decided the question.
    Decided,
    /// It decided an approval: words that are no button refuse it.
    Refused,
    /// It changed what is marked.
    Marked(Box<Card>, Shown),
    /// It changed nothing, because other options are marked than the person saw.
    NotSeen(Box<Card>, Shown),
    /// It changed nothing, and this is why.
    Not(String),
}

/// Somebody who did something, as the medium tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Author {
    /// The chat or channel.
    pub(super) place: String,
    /// The person.
    pub(super) user: String,
    /// What the person calls themselves, if it is told.
    pub(super) name: String,
}

/// What somebody did: an answer under a key that stays the same when the medium repeats it.
#[derive(Debug)]
pub(super) struct Deed<'a> {
    /// Who.
    pub(super) by: &'a str,
    /// The question.
    pub(super) cue: CueId,
    /// The message that was acted on, where the medium tells it.
    pub(super) message: Option<&'a str>,
    /// How the medium calls the event.
    pub(super) key: &'a str,
}

impl Inbox {
    pub(super) fn new(
        broker: Arc<Broker>,
        channel: &str,
        people: &BTreeMap<String, String>,
        preview: bool,
    ) -> Self {
        Self {
            broker,
            channel: channel.to_owned(),
            people: people.clone(),
            preview,
        }
    }

    /// Says whether a person may answer.
    pub(super) fn knows(&self, id: &str) -> bool {
        self.people.contains_key(id)
    }

    /// Returns what a person is called who may answer. For anybody else nothing happens, and the log says who it was.
    pub(super) fn person(&self, id: &str, calls_themselves: &str) -> Option<&str> {
        let known = self.people.get(id).map(String::as_str);
        if known.is_none() {
            // Escaped: a stranger chose the name.
            let name: String = calls_themselves.chars().take(64).collect();
            tracing::warn!(channel = self.channel, user = ?id, ?name, "somebody who is not configured tried to answer; nothing happened");
        }
        known
    }

    /// Describes a question that is still open.
    pub(super) async fn open_card(&self, cue: CueId) -> Option<Card> {
        let (view, card) = self.card(cue).await?;
        (view.outcome == Outcome::Open && !view.damaged).then_some(card)
    }

    /// Describes a question, and how it ended.
    pub(super) async fn ended(&self, cue: CueId) -> Option<(Option<Card>, Closing)> {
        let found = self.read(move |reader| reader.cue(cue)).await?;
        if found.as_ref().is_some_and(|view| view.outcome == Outcome::Open) {
            return None;
        }
        let card = self.card(cue).await.map(|(_, card)| card);
        Some((card, Closing::of(found.as_ref())))
    }

    async fn card(&self, cue: CueId) -> Option<(CueView, Card)> {
        let found = self.read(move |reader| {
            let Some(view) = reader.cue(cue)? else {
                return Ok(None);
            };
            let agent = reader.agent_rows(Some(&view.agent_id))?.pop();
            Ok(agent.map(|agent| (view, agent)))
        });
        let (view, agent) = found.await??;
        let url = self.broker.page_url().map(|url| format!("{url}/#/cue/{cue}"));
        let card = Card::new(&view, &agent, self.preview, url);
        Some((view, card))
    }

    /// Reads a file that an open question names. It goes no further than the question's words.
    pub(super) async fn named_file(&self, cue: CueId, number: usize) -> Option<NamedFile> {
        if !self.preview {
            return None;
        }
        let found = self.read(move |reader| match reader.cue(cue)? {
            Some(view) if view.outcome == Outcome::Open => named_file(reader, &view, number),
            _ => Ok(None),
        });
        found.await.flatten()
    }

    /// Claims a question for this surface; returns whether it is ours to show.
    pub(super) async fn claim(&self, cue: CueId) -> bool {
        let channel = self.channel.clone();
        let claimed = self.write(move |store, now| store.claim_notice(cue, &channel, now));
        claimed.await == Some(true)
    }

    /// Keeps what is shown; returns whether the question is still claimed.
    pub(super) async fn keep(&self, cue: CueId, shown: &Shown) -> bool {
        let channel = self.channel.clone();
        let reference = serde_json::to_string(shown).unwrap_or_default();
        let kept = self.write(move |store, _| store.keep_reference(cue, &channel, &reference));
        kept.await == Some(true)
    }

    /// Forgets what was shown.
    pub(super) async fn forget(&self, cue: CueId) {
        let channel = self.channel.clone();
        self.write(move |store, _| store.forget_notice(cue, &channel))
            .await;
    }

    /// Returns what is shown of a question; `Some(None)` when it is claimed and nothing more is known.
    pub(super) async fn shown(&self, cue: CueId) -> Option<Option<Shown>> {
        let channel = self.channel.clone();
        let notice = self.read(move |reader| reader.notice(cue, &channel)).await??;
        Some(notice.reference.as_deref().and_then(parse_shown))
    }

    /// Finds the question that is shown in such a way.
    pub(super) async fn find(&self, matches: impl Fn(&Shown) -> bool) -> Option<CueId> {
        for _ in 0..LOOKS_MAX {
            let channel = self.channel.clone();
            let notices = self.read(move |reader| reader.notices_on(&channel)).await?;
            let is_complete = notices.iter().all(|notice| notice.reference.is_some());
            let found = notices.into_iter().find_map(|notice| {
                let shown = notice.reference.as_deref().and_then(parse_shown)?;
                matches(&shown).then_some(notice.cue)
            });
            if found.is_some() || is_complete {
                return found;
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        None
    }

    /// Returns what is shown of a question that somebody acts on, unless they act on another message than the one that shows it.
    async fn acted_on(&self, deed: &Deed<'_>) -> Option<Shown> {
        for _ in 0..LOOKS_MAX {
            if let Some(shown) = self.shown(deed.cue).await? {
                let is_this = deed.message.is_none_or(|message| message == shown.message);
                return is_this.then_some(shown);
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        None
    }

    /// Returns the place up to which the surface was read.
    pub(super) async fn cursor(&self) -> Option<String> {
        let name = format!("{CURSOR_PREFIX}{}", self.channel);
        self.read(move |reader| reader.setting(&name)).await?
    }

    /// Keeps the place up to which the surface was read.
    pub(super) async fn set_cursor(&self, cursor: String) {
        let name = format!("{CURSOR_PREFIX}{}", self.channel);
        self.write(move |store, _| store.set(&name, &cursor)).await;
    }

    /// Ends the subscription of the device that this surface is.
    pub(super) async fn unsubscribe(&self) {
        let name = self.channel.clone();
        self.write(move |store, _| store.set(&name, "null")).await;
        self.broker.push().changed();
    }

    /// Takes a file in.
    pub(super) async fn keep_file(&self, name: &str, bytes: &[u8]) -> Result<Attachment, String> {
        let upload = keep_file(&self.broker, name, bytes).await?;
        Ok(Attachment {
            path: upload.path,
            name: Some(upload.name),
            media_type: Some(upload.media_type),
        })
    }

    /// Somebody pressed a button. `marked` is what the medium says is marked, where it knows.
    pub(super) async fn pressed(&self, deed: &Deed<'_>, press: Press, marked: Option<Vec<usize>>) -> Heard {
        let Some(mut shown) = self.acted_on(deed).await else {
            return self.not_open(deed.cue).await;
        };
        let Some((view, card)) = self.card(deed.cue).await else {
            return Heard::Not("There is no such question.".to_owned());
        };
        let payload = payload_of(&view);
        let marked = marked.unwrap_or_else(|| shown.marked.clone());
        match press.meaning(view.kind, payload.as_ref(), &marked) {
            None => Heard::Not("This question has no such button.".to_owned()),
            Some(Meaning::NothingMarked) => Heard::Not("Choose something first.".to_owned()),
            Some(Meaning::NotSeen) => Heard::NotSeen(Box::new(card), shown),
            Some(Meaning::Mark(marked)) => {
                shown.marked = marked;
                if view.outcome == Outcome::Open && self.keep(deed.cue, &shown).await {
                    Heard::Marked(Box::new(card), shown)
                } else {
                    self.not_open(deed.cue).await
                }
            }
            Some(Meaning::Decide(answer)) => self.decide(deed, answer, &shown, &card).await,
        }
    }

    /// Somebody wrote a reply.
    pub(super) async fn replied(&self, deed: &Deed<'_>, text: &str, attachments: Vec<Attachment>) -> Heard {
        let Some(shown) = self.acted_on(deed).await else {
            return self.not_open(deed.cue).await;
        };
        let Some((view, card)) = self.card(deed.cue).await else {
            return Heard::Not("There is no such question.".to_owned());
        };
        match written(text, attachments, view.kind, payload_of(&view).as_ref()) {
            Ok(answer) => {
                let is_words = answer.reply.is_none();
                match self.decide(deed, answer, &shown, &card).await {
                    Heard::Decided if is_words && card.is_code => Heard::Refused,
                    heard => heard,
                }
            }
            Err(Ambiguous) => Heard::Not(
                "That is the number of one option and the name of another. Press its button, or write more."
                    .to_owned(),
            ),
        }
    }

    async fn decide(&self, deed: &Deed<'_>, answer: Answer, shown: &Shown, card: &Card) -> Heard {
        let may_be_consent = match &answer.reply {
            Some(Chosen::Confirm { confirmed }) => *confirmed,
            Some(Chosen::Choice { .. }) => card.asks_consent(),
            _ => false,
        };
        if may_be_consent && !shown.whole {
            if self.open_card(deed.cue).await.is_none() {
                return self.not_open(deed.cue).await;
            }
            let place = card.url.as_deref().unwrap_or("the page");
            return Heard::Not(format!(
                "This question was not shown whole here. Read it, and decide, at {place}"
            ));
        }
        let hold_ms = self
            .read(Settings::read)
            .await
            .map_or(0, |settings| settings.hold_ms());
        let work = Work::Answer {
            cue: deed.cue,
            answer,
            by: Some(deed.by.to_owned()),
            hold_ms,
        };
        self.broker.engine().human_seen();
        match self.order(self.request(deed), work).await {
            Ok(()) => Heard::Decided,
            Err(failure) if failure.code == ErrorCode::AlreadyDecided => self.not_open(deed.cue).await,
            Err(failure) => Heard::Not(failure.message),
        }
    }

    /// Says why a question takes no answer here any more.
    async fn not_open(&self, cue: CueId) -> Heard {
        let found = self.read(move |reader| reader.cue(cue)).await.flatten();
        let closing = Closing::of(found.as_ref());
        Heard::Not(if self.preview {
            closing.line
        } else {
            closing.wordless
        })
    }

    /// Makes the permanent key of a decision: the same event, heard twice, is one decision.
    fn request(&self, deed: &Deed<'_>) -> RequestId {
        // Another bot under the same name counts its events anew.
        let digest = Sha256::digest(format!("{}\0{}\0{}", self.channel, deed.cue, deed.key));
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest[..16]);
        RequestId(uuid::Builder::from_custom_bytes(bytes).into_uuid())
    }

    async fn order(&self, request: RequestId, work: Work) -> Result<(), Failure> {
        let engine = self.broker.engine();
        let (sender, mut replies) = mpsc::unbounded_channel();
        let order = Order {
            ticket: engine.ticket(),
            request,
            work,
        };
        let stopping = || Failure::new(ErrorCode::Busy, "the broker is stopping");
        engine.order(order, sender).map_err(|_| stopping())?;
        match replies.recv().await.map(|line| *line.reply) {
            Some(Reply::Error(failure)) => Err(failure),
            Some(_) => Ok(()),
            None => Err(stopping()),
        }
    }

    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&dyn Reader) -> Result<T, StoreError> + Send + 'static,
    ) -> Option<T> {
        let broker = Arc::clone(&self.broker);
        blocking(move || read(broker.reader()))
            .await
            .inspect_err(
                |failure| tracing::warn!(channel = self.channel, %failure, "a question could not be read"),
            )
            .ok()
    }

    /// Writes through the engine. Sending a question is worth the reserve: nobody could answer it here otherwise.
    async fn write<T: Send + 'static>(
        &self,
        write: impl Fn(&dyn Records, Timestamp) -> Result<T, StoreError> + Send + 'static,
    ) -> Option<T> {
        let written = self.broker.engine().write_even_if_full(write).await.ok()?;
        written
            .inspect_err(
                |error| tracing::warn!(channel = self.channel, %error, "could not keep what was sent"),
            )
            .ok()
    }
}

fn payload_of(view: &CueView) -> Option<Payload> {
    let payload = view.payload.as_deref()?;
    Payload::parse(payload.get()).ok()
}

fn parse_shown(reference: &str) -> Option<Shown> {
    serde_json::from_str(reference).ok()
}

/// Makes a key that nobody can guess.
pub(super) fn random_key() -> String {
    Uuid::new_v4().simple().to_string()
}
