//! Drives a conversation in which no turn ends without the human being asked.
//!
//! A turn that passes the gate is done. One that does not is followed up, a few times; then the adapter asks the
//! human itself and gives the answer to the agent as its next turn. It ends when the human says so, at a limit, or
//! with an error, and always with exactly one terminal event.

use std::future::Future;

use uuid::Uuid;

use super::gate::{Failure, Verdict, judge};
use super::human::{Answer, Human, HumanError, HumanQuestion, Receipt, ends_conversation};
use super::preamble::{follow_up, with_preamble};
use super::question::{payload_of, prompt_of};
use crate::contract::{Done, ErrorCode, ErrorData, Event};
use crate::cursor::cli::{Ending, Evidence, Item, Sink, TurnReport};

/// The most follow-up turns in a row before the adapter asks the human itself.
const FOLLOW_UPS_MAX: u32 = 3;
/// The most turns of one conversation.
const TURNS_MAX: u32 = 200;
/// The finish reason at the limit of turns.
const FINISH_LIMIT: &str = "limit";

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

/// How a conversation is led.
#[derive(Debug, Clone)]
pub struct HapOptions {
    /// The agent, as the broker knows it.
    pub agent_id: String,
    /// The most follow-up turns in a row.
    pub follow_ups_max: u32,
    /// The most turns.
    pub turns_max: u32,
}

impl HapOptions {
    /// Returns the usual limits for this agent.
    pub fn new(agent_id: impl Into<String>) -> Self {
        Self {
            agent_id: agent_id.into(),
            follow_ups_max: FOLLOW_UPS_MAX,
            turns_max: TURNS_MAX,
        }
    }
}

/// How a conversation ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConversationEnd {
    /// The agent's last act was a cue the human answered.
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
    /// The CLI continued another chat than it was told to.
    ResumedElsewhere,
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
        session: None,
        follow_ups: 0,
    };
    let mut prompt = prompt.to_owned();
    for number in 1..=options.turns_max {
        (talk.watch)(HapEvent::Turn(number));
        let nonce = Uuid::new_v4().simple().to_string();
        let report = talk.turn(agent, &prompt, &nonce).await;
        if let Ending::Error(error) = report.ending {
            talk.sink.item(Item::Event(Event::Error(error.clone())));
            return ConversationEnd::Failed(error);
        }
        match talk.after(human, &report.evidence, &nonce).await {
            Ok(Next::Prompt(next)) => prompt = next,
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
    talk.sink.item(Item::Event(Event::Done(Done {
        finish_reason: FINISH_LIMIT.to_owned(),
        truncated: false,
    })));
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
    Prompt(String),
    End(ConversationEnd),
}

struct Conversation<'a> {
    options: &'a HapOptions,
    watch: &'a mut (dyn FnMut(HapEvent<'_>) + Send),
    sink: &'a mut (dyn Sink + Send),
    session: Option<String>,
    follow_ups: u32,
}

impl Conversation<'_> {
    async fn turn<A: Agent>(&mut self, agent: &mut A, prompt: &str, nonce: &str) -> TurnReport {
        let prompt = with_preamble(&self.options.agent_id, prompt);
        let resume = self.session.clone();
        let mut held = WithoutEnd(self.sink);
        let report = agent.turn(&prompt, resume.as_deref(), nonce, &mut held).await;
        let session = report.evidence.session_id.clone();
        if resume.is_some() && session.is_some() && session != resume {
            (self.watch)(HapEvent::ResumedElsewhere);
        }
        self.session = session.or(resume);
        report
    }

    /// Decides what follows a turn that ended well.
    async fn after<H: Human>(
        &mut self,
        human: &mut H,
        evidence: &Evidence,
        nonce: &str,
    ) -> Result<Next, HumanError> {
        let receipts: Vec<Receipt> = human.receipts(nonce).await?;
        let failure = match judge(evidence, &receipts) {
            Verdict::Passed => return Ok(Next::End(ConversationEnd::Asked)),
            Verdict::Failed(failure) => failure,
        };
        if let Failure::QuestionsSkipped(asked) = &failure {
            let question = HumanQuestion {
                prompt: asked.iter().map(prompt_of).collect::<Vec<_>>().join("\n\n"),
                payload: asked.first().filter(|_| asked.len() == 1).and_then(payload_of),
                nonce: nonce.to_owned(),
            };
            return self.ask(human, question).await;
        }
        let may_follow_up = !matches!(failure, Failure::ToolsUnavailable(_)) && self.session.is_some();
        if may_follow_up && self.follow_ups < self.options.follow_ups_max {
            self.follow_ups += 1;
            (self.watch)(HapEvent::FollowUp(&failure));
            return Ok(Next::Prompt(follow_up(&self.options.agent_id, &failure)));
        }
        let prompt = last_resort(evidence, &failure);
        self.ask(
            human,
            HumanQuestion {
                prompt,
                payload: None,
                nonce: nonce.to_owned(),
            },
        )
        .await
    }

    async fn ask<H: Human>(&mut self, human: &mut H, question: HumanQuestion) -> Result<Next, HumanError> {
        (self.watch)(HapEvent::Asking(&question));
        let answer = human.ask(question).await?;
        (self.watch)(HapEvent::Answered(&answer));
        self.follow_ups = 0;
        Ok(match answer {
            Answer::Text(text) if !ends_conversation(&text) => {
                Next::Prompt(format!("The human answered:\n{text}"))
            }
            Answer::Text(_) | Answer::Declined(_) | Answer::Cancelled => {
                Next::End(ConversationEnd::EndedByHuman)
            }
        })
    }
}

/// Says for the agent what it did not say itself.
fn last_resort(evidence: &Evidence, failure: &Failure) -> String {
    let text = evidence.final_text.trim();
    let text = if text.is_empty() {
        "(the agent said nothing)"
    } else {
        text
    };
    match failure {
        Failure::ToolsUnavailable(Some(command)) => {
            format!("{text}\n\n[the agent cannot run tools; it asks for: {command}]")
        }
        _ => format!("{text}\n\n[asked by the adapter, because the agent ended without asking: {failure}]"),
    }
}

/// Holds back the end of a turn, which is not the end of the conversation.
struct WithoutEnd<'a>(&'a mut (dyn Sink + Send));

impl Sink for WithoutEnd<'_> {
    fn item(&mut self, item: Item<'_>) {
        let is_end = matches!(&item, Item::Event(event) if event.is_terminal());
        if !is_end {
            self.0.item(item);
        }
    }
}
