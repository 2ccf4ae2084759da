//! Drives a conversation in which no turn ends without the human being asked.
//!
//! A turn that does not pass the gate is followed up, a few times; then, and after a turn that passes, the adapter asks
//! the human itself and gives the answer to the agent as its next turn. The run is over when the human ends it: by an
//! answer that says so, by a decline, or once from the start; else at a limit or with an error, and always with exactly
//! one terminal event. An answer counts as delivered when the agent has begun to
//! work on it; until then it is one that the agent missed. A chat that was not continued is no longer the one
//! that was led: the human is asked at once, and the agent is told again what it is about.

use std::future::Future;

use uuid::Uuid;

use super::gate::{Failure, Verdict, judge};
use super::human::{
    Answer, Confirmable, Confirmation, Human, HumanError, HumanQuestion, Receipt, ReceiptOutcome,
    without_tags,
};
use super::preamble::{answered, follow_up, told_again, with_preamble};
use super::question::forms_of;
use crate::contract::{
    AskQuestion, Done, Ending, ErrorCode, ErrorData, Event, Evidence, Item, Note, Resumption, Sink,
    TurnReport,
};

/// The most follow-up turns in a row before the adapter asks the human itself.
const FOLLOW_UPS_MAX: u32 = 3;
/// The most turns of one conversation.
const TURNS_MAX: u32 = 200;

/// Runs the turns of one agent.
pub trait Agent: Send {
    /// Runs one turn; `nonce` goes into the agent's environment.
    fn turn(
        &mut self,
        prompt: &str,
        resume: Option<&str>,
        nonce: &str,
        sink: &mut (dyn Sink + Send),
    ) -> impl Future<Output = TurnReport> + Send;
}

/// The options of a conversation.
#[derive(Debug, Clone)]
pub struct HapOptions {
    /// The agent, as the broker knows it.
    pub agent_id: String,
    /// The most follow-up turns in a row.
    pub follow_ups_max: u32,
    /// The most turns.
    pub turns_max: u32,
    /// The chat that the first turn continues.
    pub resume: Option<String>,
    /// Whether the first turn that ends with an answered cue ends the conversation.
    pub once: bool,
}

impl HapOptions {
    /// Returns the usual limits for this agent.
    pub fn new(agent_id: impl Into<String>) -> Self {
        Self {
            agent_id: agent_id.into(),
            follow_ups_max: FOLLOW_UPS_MAX,
            turns_max: TURNS_MAX,
            resume: None,
            once: false,
        }
    }
}

/// The end of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConversationEnd {
    /// The agent's last act was a cue the human answered, and once was enough.
    Asked,
    /// The human ended it.
    EndedByHuman,
    /// The limit of turns was reached.
    Limit,
    /// It failed.
    Failed(ErrorData),
}

/// A step of the loop, for people who watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HapEvent<'a> {
    /// A turn begins.
    Turn(u32),
    /// The gate stays shut; the agent is told.
    FollowUp(&'a Failure),
    /// The adapter asks the human.
    Asking(&'a HumanQuestion),
    /// The human said this.
    Answered(&'a Answer),
    /// The CLI did not continue the chat: the agent has forgotten what was said.
    Forgotten,
    /// It is unknown whether the CLI continued the chat, and why; sent once.
    Unproved(&'a str),
}

/// Leads a conversation from the first prompt to its end.
pub async fn converse<A: Agent, H: Human>(
    agent: &mut A,
    human: &mut H,
    options: &HapOptions,
    prompt: &str,
    watch: &mut (dyn FnMut(HapEvent<'_>) + Send),
    sink: &mut (dyn Sink + Send),
) -> ConversationEnd {
    let mut talk = Conversation {
        options,
        watch,
        sink,
        task: prompt,
        session: options.resume.clone(),
        follow_ups: 0,
        unasked: None,
        is_forgotten: false,
        is_unproved_told: false,
    };
    let mut said = Said::reminder(prompt.to_owned());
    for number in 1..=options.turns_max {
        (talk.watch)(HapEvent::Turn(number));
        let nonce = Uuid::new_v4().simple().to_string();
        let is_last = said.is_last;
        let report = talk.turn(agent, said, &nonce).await;
        if let Ending::Error(error) = report.ending {
            talk.sink.item(Item::Event(Event::Error(error.clone())));
            return ConversationEnd::Failed(error);
        }
        let next = if is_last {
            Ok(Next::End(ConversationEnd::EndedByHuman))
        } else {
            talk.after(human, &report.evidence, &nonce).await
        };
        match next {
            Ok(Next::Say(next)) => said = next,
            Ok(Next::End(end)) => {
                talk.sink.item(Item::Event(Event::Done(Done::default())));
                return end;
            }
            Err(error) => {
                let error = unreachable_human(&error);
                talk.sink.item(Item::Event(Event::Error(error.clone())));
                return ConversationEnd::Failed(error);
            }
        }
    }
    // The last message, a reminder or the human's answer, no longer reaches the agent.
    let message = format!(
        "the conversation reached its limit of {} turns",
        options.turns_max
    );
    let error = ErrorData::new(ErrorCode::TurnLimit, message);
    talk.sink.item(Item::Event(Event::Error(error)));
    ConversationEnd::Limit
}

fn unreachable_human(error: &HumanError) -> ErrorData {
    let message = format!(
        "the human could not be asked: {}; run: {}",
        error.reason, error.command
    );
    ErrorData::new(ErrorCode::HapIncomplete, message)
}

enum Next {
    Say(Said),
    End(ConversationEnd),
}

/// The prompt of a turn, and the confirmation that the agent has it.
struct Said {
    prompt: String,
    confirmation: Confirmation,
    /// Whether the human ended the run with these words: no human is asked after the turn.
    is_last: bool,
}

impl Said {
    /// Returns words of which no human waits to hear that they arrived.
    fn reminder(prompt: String) -> Self {
        Self {
            prompt,
            confirmation: Confirmation::default(),
            is_last: false,
        }
    }
}

struct Conversation<'a> {
    options: &'a HapOptions,
    watch: &'a mut (dyn FnMut(HapEvent<'_>) + Send),
    sink: &'a mut (dyn Sink + Send),
    /// The task that the agent got first.
    task: &'a str,
    session: Option<String>,
    follow_ups: u32,
    /// The agent's text in the turn that first ended without asking, while it is reminded.
    unasked: Option<String>,
    /// Whether the agent knows nothing of what was said before its last turn.
    is_forgotten: bool,
    is_unproved_told: bool,
}

impl Conversation<'_> {
    async fn turn<A: Agent>(&mut self, agent: &mut A, said: Said, nonce: &str) -> TurnReport {
        let prompt = with_preamble(&self.options.agent_id, &said.prompt);
        let resume = self.session.clone();
        let mut delivery = DeliverySink {
            sink: self.sink,
            confirmation: said.confirmation,
        };
        let report = agent.turn(&prompt, resume.as_deref(), nonce, &mut delivery).await;
        if let Ending::Done(_) = report.ending {
            delivery.confirmation.give_once();
        }
        self.look_at(&report.resumption);
        self.session = report.evidence.session_id.clone().or(resume);
        report
    }

    /// Says what the store proves about the chat.
    fn look_at(&mut self, resumption: &Resumption) {
        self.is_forgotten = *resumption == Resumption::Forgotten;
        match resumption {
            Resumption::Forgotten => (self.watch)(HapEvent::Forgotten),
            Resumption::Unproved(why) if !self.is_unproved_told => {
                self.is_unproved_told = true;
                (self.watch)(HapEvent::Unproved(why));
            }
            Resumption::Unproved(_) | Resumption::Continued | Resumption::NotAsked => {}
        }
    }

    /// Decides what follows a turn that ended well.
    async fn after<H: Human>(
        &mut self,
        human: &mut H,
        evidence: &Evidence,
        nonce: &str,
    ) -> Result<Next, HumanError> {
        let receipts: Vec<Receipt> = human.receipts(nonce).await?;
        if human.has_ended() || has_ended(&receipts) {
            return Ok(Next::End(ConversationEnd::EndedByHuman));
        }
        let failure = match judge(evidence, &receipts) {
            Verdict::Passed if self.options.once => return Ok(Next::End(ConversationEnd::Asked)),
            Verdict::Passed => {
                let prompt = after_answer(&self.said(evidence));
                return self.ask_next(human, prompt, evidence, nonce).await;
            }
            Verdict::Failed(failure) => failure,
        };
        if let Failure::QuestionsSkipped(asked) = &failure {
            return self.ask_all(human, asked, evidence, nonce).await;
        }
        let can_hear = !matches!(failure, Failure::ToolsUnavailable(_)) && self.session.is_some();
        // A reminder means nothing to an agent that has forgotten its work.
        let may_follow_up = can_hear && !self.is_forgotten;
        if may_follow_up && self.follow_ups < self.options.follow_ups_max {
            self.follow_ups += 1;
            self.unasked
                .get_or_insert_with(|| without_tags(&evidence.final_text));
            (self.watch)(HapEvent::FollowUp(&failure));
            let prompt = follow_up(&self.options.agent_id, &failure);
            return Ok(Next::Say(Said::reminder(prompt)));
        }
        let prompt = last_resort(&self.said(evidence), &failure, self.is_forgotten);
        self.ask_next(human, prompt, evidence, nonce).await
    }

    /// Asks the human what follows.
    async fn ask_next<H: Human>(
        &mut self,
        human: &mut H,
        prompt: String,
        evidence: &Evidence,
        nonce: &str,
    ) -> Result<Next, HumanError> {
        let question = HumanQuestion {
            prompt,
            payload: None,
            nonce: nonce.to_owned(),
        };
        let heard = self.ask(human, question).await?;
        Ok(self.next_of(heard, evidence))
    }

    /// Asks the human the agent's unseen questions, all of them before the agent goes on.
    async fn ask_all<H: Human>(
        &mut self,
        human: &mut H,
        asked: &[AskQuestion],
        evidence: &Evidence,
        nonce: &str,
    ) -> Result<Next, HumanError> {
        let (mut told, mut confirmation) = (Vec::new(), Confirmation::default());
        for (prompt, payload) in forms_of(asked) {
            let question = HumanQuestion {
                prompt,
                payload,
                nonce: nonce.to_owned(),
            };
            let heard = self.ask(human, question).await?;
            match heard.word {
                Answer::Text(text) => {
                    told.push(text);
                    confirmation.add(heard.confirmation);
                }
                Answer::Done(text) => {
                    told.extend(text);
                    confirmation.add(heard.confirmation);
                    let word = Answer::Done((!told.is_empty()).then(|| told.join("\n")));
                    return Ok(self.next_of(Confirmable { word, confirmation }, evidence));
                }
                // Earlier answers stay undelivered: the agent does not get them here.
                Answer::Declined(_) | Answer::Cancelled => return Ok(self.next_of(heard, evidence)),
            }
        }
        let word = Answer::Text(told.join("\n"));
        Ok(self.next_of(Confirmable { word, confirmation }, evidence))
    }

    async fn ask<H: Human>(
        &mut self,
        human: &mut H,
        question: HumanQuestion,
    ) -> Result<Confirmable<Answer>, HumanError> {
        (self.watch)(HapEvent::Asking(&question));
        let heard = human.ask(question).await?;
        (self.watch)(HapEvent::Answered(&heard.word));
        self.follow_ups = 0;
        self.unasked = None;
        Ok(heard)
    }

    /// Returns what the human has not read of the agent: the words of the turn that first ended without asking, and the
    /// last ones.
    fn said(&self, evidence: &Evidence) -> String {
        let last = without_tags(&evidence.final_text);
        match self
            .unasked
            .as_deref()
            .filter(|first| !first.is_empty() && *first != last)
        {
            Some(first) if last.is_empty() => first.to_owned(),
            Some(first) => format!("{first}\n\n[and after it was reminded to ask]\n{last}"),
            None if last.is_empty() => "(the agent said nothing)".to_owned(),
            None => last,
        }
    }

    /// Decides what follows the human's word.
    fn next_of(&self, heard: Confirmable<Answer>, evidence: &Evidence) -> Next {
        let Confirmable { word, confirmation } = heard;
        let (text, is_last) = match word {
            Answer::Text(text) => (text, false),
            Answer::Done(Some(text)) => (text, true),
            Answer::Done(None) | Answer::Declined(_) | Answer::Cancelled => {
                // A word that ends the conversation is meant for whoever leads it, and has arrived.
                confirmation.give();
                return Next::End(ConversationEnd::EndedByHuman);
            }
        };
        let prompt = if self.is_forgotten {
            told_again(self.task, &evidence.final_text, &text)
        } else {
            answered(&text)
        };
        Next::Say(Said {
            prompt,
            confirmation,
            is_last,
        })
    }
}

/// Says whether the human ended the run in this turn: by any answer that says so, or by declining the last question.
fn has_ended(receipts: &[Receipt]) -> bool {
    let is_declined = |receipt: &Receipt| receipt.outcome == ReceiptOutcome::Declined;
    receipts.iter().any(|receipt| receipt.ends_run) || receipts.last().is_some_and(is_declined)
}

/// Asks what follows a turn that ended after an answer.
fn after_answer(said: &str) -> String {
    format!(
        "{said}\n\n[the agent ended its turn after your answer: say what it should do next, or end the run]"
    )
}

/// Says for the agent what it did not say itself.
fn last_resort(text: &str, failure: &Failure, is_forgotten: bool) -> String {
    match failure {
        Failure::ToolsUnavailable(Some(command)) => {
            format!("{text}\n\n[the agent cannot run tools; it asks for: {command}]")
        }
        _ if is_forgotten => format!(
            "{text}\n\n[asked by the adapter: Cursor did not continue the chat, so the agent has forgotten what was \
said before; your answer goes to it together with the task]"
        ),
        _ => format!("{text}\n\n[asked by the adapter, because the agent ended without asking: {failure}]"),
    }
}

/// Holds back the end of a turn, which is not the end of the conversation, and confirms what the agent works on.
struct DeliverySink<'a> {
    sink: &'a mut (dyn Sink + Send),
    confirmation: Confirmation,
}

impl Sink for DeliverySink<'_> {
    fn item(&mut self, item: Item<'_>) {
        if is_work(&item) {
            self.confirmation.give_once();
        }
        let is_end = matches!(&item, Item::Event(event) if event.is_terminal());
        if !is_end {
            self.sink.item(item);
        }
    }
}

/// Says whether only an agent that has its prompt does this. A CLI names its chat before it has reached anyone.
pub(crate) fn is_work(item: &Item<'_>) -> bool {
    match item {
        Item::Event(event) => !event.is_terminal(),
        Item::Activity(_) => true,
        Item::Note(note) => matches!(note, Note::UnknownTool(_) | Note::QuestionSkipped),
    }
}
