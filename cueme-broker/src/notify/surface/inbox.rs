//! The broker's interface for a surface: questions to show, messages shown, and decisions.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use protocol_spec::answer::{Answer, Attachment, Reply as Chosen};
use protocol_spec::id::{CueId, RequestId};
use protocol_spec::message::{CueView, ErrorCode};
use protocol_spec::outcome::Outcome;
use protocol_spec::payload::Payload;
use protocol_spec::time::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::card::Card;
use super::closing::Closing;
use super::press::{Ambiguous, Meaning, Press, written};
use crate::attachments::{NamedFile, keep_file, named_file};
use crate::broker::Broker;
use crate::engine::Work;
use crate::settings::Settings;
use crate::store::{Pass, Reader, Records, StoreError};

/// The prefix of the setting with a surface's read cursor.
const CURSOR_PREFIX: &str = "surface:";

/// The interval and the number of retries when looking for a message id that is being stored: people can be faster.
const LOOK_AGAIN: Duration = Duration::from_millis(50);
const LOOKS_MAX: usize = 40;

/// A surface's access to the broker.
#[derive(Debug)]
pub(in crate::notify) struct Inbox {
    broker: Arc<Broker>,
    channel: String,
    /// The people who may answer, by the id that the medium gives them.
    people: BTreeMap<String, String>,
    preview: bool,
}

/// A question as a surface shows it; stored until it is withdrawn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::notify) struct Shown {
    /// The medium's id of the message.
    pub(super) message: String,
    /// Whether it shows the whole question.
    #[serde(default)]
    pub(super) whole: bool,
    /// The options that are marked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) marked: Vec<usize>,
    /// The token that a press has to carry, if the medium does not identify the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) token: Option<String>,
}

/// The result of a press or a reply.
#[derive(Debug)]
pub(super) enum Heard {
    /// It decided the question.
    Decided,
    /// It decided an approval: words that are no button refuse it.
    Refused,
    /// It changed the marked options.
    Marked(Box<Card>, Shown),
    /// It changed nothing, because the marked options are not those that the person saw.
    NotSeen(Box<Card>, Shown),
    /// It changed nothing, for this reason.
    Not(String),
}

/// The person who acted, as reported by the medium.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Author {
    /// The chat or channel.
    pub(super) place: String,
    /// The person.
    pub(super) user: String,
    /// The name that the person uses, if the medium reports it.
    pub(super) name: String,
}

/// A person's action: an answer with a key that stays the same when the medium repeats it.
#[derive(Debug)]
pub(super) struct Deed<'a> {
    /// The name of the person.
    pub(super) by: &'a str,
    /// The question.
    pub(super) cue: CueId,
    /// The message that was acted on, if the medium reports it.
    pub(super) message: Option<&'a str>,
    /// The medium's id of the event.
    pub(super) key: &'a str,
    /// The pass of the person, if it is one of this broker.
    pub(super) pass: Option<Pass>,
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

    /// Returns the name of a person who may answer. For other people nothing happens, and the log names them.
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

    /// Reads a file that an open question names. It is shown only where the question's text is.
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

    /// Stores the shown message; returns whether the question is still claimed.
    pub(super) async fn keep(&self, cue: CueId, shown: &Shown) -> bool {
        let channel = self.channel.clone();
        let reference = serde_json::to_string(shown).unwrap_or_default();
        let kept = self.write(move |store, _| store.keep_reference(cue, &channel, &reference));
        kept.await == Some(true)
    }

    /// Forgets the shown message.
    pub(super) async fn forget(&self, cue: CueId) {
        let channel = self.channel.clone();
        self.write(move |store, _| store.forget_notice(cue, &channel))
            .await;
    }

    /// Returns the shown message of a question; `Some(None)` when it is claimed and nothing more is known.
    pub(super) async fn shown(&self, cue: CueId) -> Option<Option<Shown>> {
        let channel = self.channel.clone();
        let notice = self.read(move |reader| reader.notice(cue, &channel)).await??;
        Some(notice.reference.as_deref().and_then(parse_shown))
    }

    /// Finds the question with a matching message.
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

    /// Returns the shown message of a question that a person acts on, unless they act on another message.
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

    /// Returns the read cursor of the surface.
    pub(super) async fn cursor(&self) -> Option<String> {
        let name = format!("{CURSOR_PREFIX}{}", self.channel);
        self.read(move |reader| reader.setting(&name)).await?
    }

    /// Stores the read cursor of the surface.
    pub(super) async fn set_cursor(&self, cursor: String) {
        let name = format!("{CURSOR_PREFIX}{}", self.channel);
        self.write(move |store, _| store.set(&name, &cursor)).await;
    }

    /// Ends the subscription of the device behind this surface.
    pub(super) async fn unsubscribe(&self) {
        let name = self.channel.clone();
        self.write(move |store, _| store.set(&name, "null")).await;
        self.broker.push().changed();
    }

    /// Stores a file.
    pub(super) async fn keep_file(&self, name: &str, bytes: &[u8]) -> Result<Attachment, String> {
        let upload = keep_file(&self.broker, name, bytes)
            .await
            .map_err(|error| error.to_string())?;
        Ok(Attachment {
            path: upload.path,
            name: Some(upload.name),
            media_type: Some(upload.media_type),
        })
    }

    /// Handles a press. `marked` are the marked options, if the medium reports them.
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

    /// Handles a reply.
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
        let engine = self.broker.engine();
        engine.human_seen();
        let called = engine
            .call(deed.pass.clone(), None, self.request(deed), work)
            .await;
        match called.unwrap_or_else(|error| Err(error.into())) {
            Ok(_) => Heard::Decided,
            Err(failure) if failure.code == ErrorCode::AlreadyDecided => self.not_open(deed.cue).await,
            Err(failure) => Heard::Not(failure.message),
        }
    }

    /// Says why a question takes no answer any more.
    async fn not_open(&self, cue: CueId) -> Heard {
        let found = self.read(move |reader| reader.cue(cue)).await.flatten();
        let closing = Closing::of(found.as_ref());
        Heard::Not(if self.preview {
            closing.line
        } else {
            closing.wordless
        })
    }

    /// Returns the permanent key of a decision: the same event, repeated, is one decision.
    fn request(&self, deed: &Deed<'_>) -> RequestId {
        // Another bot under the same name numbers its events from the start.
        let digest = Sha256::digest(format!("{}\0{}\0{}", self.channel, deed.cue, deed.key));
        RequestId::from_digest(digest.into())
    }

    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&dyn Reader) -> Result<T, StoreError> + Send + 'static,
    ) -> Option<T> {
        self.broker
            .read(read)
            .await
            .inspect_err(
                |failure| tracing::warn!(channel = self.channel, %failure, "a question could not be read"),
            )
            .ok()
    }

    /// Writes through the engine. A write before sending a question may use the disk reserve: without it, no human
    /// could answer it here.
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

/// Generates an unguessable key.
pub(super) fn random_key() -> String {
    Uuid::new_v4().simple().to_string()
}
