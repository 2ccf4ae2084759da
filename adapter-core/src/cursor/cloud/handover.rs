//! Sends the human's word once, although the driver of a run may be killed at any moment.
//!
//! Before it sends the word, a driver claims it at the broker with its [`Position`] in the conversation. The driver that comes
//! after it finds the claim, and reads from the conversation whether the word arrived.

use protocol_spec::hex::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::time::Duration;
use tokio::time::sleep;

use super::api::{Conversation, Prompt, RunRef};
use super::error::CloudError;
use super::execute::{Driver, Problem, Stop};

/// The longest pause before the API is asked again whether a word arrived.
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// The position of a conversation before a word is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Position {
    /// The last run, in the generation of the API that starts a new one for each word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run_id: Option<String>,
    /// The number of user messages in the conversation.
    #[serde(default)]
    user_count: usize,
    /// The hash of what is sent, which holds a one-time token.
    prompt_hash: String,
}

impl Position {
    fn new(after: &RunRef, user_count: usize, prompt: &Prompt) -> Self {
        Self {
            run_id: after.run_id.clone(),
            user_count,
            prompt_hash: hash(&prompt.text),
        }
    }

    /// Says whether a conversation has the word that was to be sent, and whether the agent answered it.
    fn find_in(&self, conversation: &Conversation) -> Arrival {
        let users = conversation.messages.iter().enumerate();
        let mut users = users
            .filter(|(_, message)| !message.is_assistant)
            .skip(self.user_count);
        let found = users.find(|(_, message)| hash(&message.text) == self.prompt_hash);
        match found {
            None => Arrival::Missing,
            Some((index, _)) => {
                let later = conversation.messages.iter().skip(index + 1);
                match later.into_iter().any(|message| message.is_assistant) {
                    true => Arrival::Answered,
                    false => Arrival::Unanswered,
                }
            }
        }
    }
}

/// The state of a message that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arrival {
    Missing,
    Unanswered,
    Answered,
}

/// The outcome of sending a message to the agent.
#[derive(Debug)]
pub(super) enum Delivered {
    /// The agent works on them in this run.
    As(RunRef),
    /// Another process sends them.
    ByAnother,
}

impl Driver<'_> {
    /// Sends words to the agent, across outages of any length, and once.
    ///
    /// `is_claimed` is set for a human's word, which other processes of this run get too.
    pub(super) async fn deliver(
        &mut self,
        after: &RunRef,
        words: &str,
        is_claimed: bool,
    ) -> Result<Delivered, Stop> {
        let mut pause = self.run.settings.poll_interval;
        loop {
            let prompt = self.prompt(words)?;
            let position = Position::new(after, self.transcript.user_count(), &prompt);
            if is_claimed && !self.claim(&position).await? {
                return Ok(Delivered::ByAnother);
            }
            self.restart_deadline();
            let error = match self.follow_up(after, words, &prompt).await? {
                Ok(run) => return Ok(Delivered::As(run)),
                Err(error) if error.is_transient() || error.is_foreign() => error,
                Err(error) => return Err(error.into()),
            };
            let detail = format!("{error}; your words are kept, sending them again");
            self.emit_status(&after.agent_id, "unreachable", Some(&detail));
            if error.may_have_arrived() {
                let (latest, arrival) = self.arrival(after, &position).await?;
                if arrival != Arrival::Missing {
                    self.join_run(latest.clone(), false);
                    return Ok(Delivered::As(latest));
                }
            }
            self.guarded(sleep(pause)).await?;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// Claims the word that is about to be sent. A refusal takes a while, so that nobody asks for it in a busy loop.
    async fn claim(&mut self, position: &Position) -> Result<bool, Stop> {
        let Some(gate) = self.run.gate else {
            return Ok(true);
        };
        let position = serde_json::to_string(position).unwrap_or_default();
        let is_granted = self.guarded(gate.claim(&position)).await?.map_err(incomplete)?;
        if !is_granted {
            self.guarded(sleep(self.run.settings.poll_interval)).await?;
        }
        Ok(is_granted)
    }

    /// Looks for the word that another process was about to send, and confirms it if it arrived. Returns the run that the
    /// agent works on because of it.
    pub(super) async fn follow_predecessor(&mut self, run: &RunRef) -> Result<Option<RunRef>, Stop> {
        let Some(gate) = self.run.gate else {
            return Ok(None);
        };
        let left = self.guarded(gate.left_by_another()).await?.map_err(incomplete)?;
        let Some(left) = left.filter(|left| self.settled_claim.as_ref() != Some(left)) else {
            return Ok(None);
        };
        // A claim in another form is of a program that we do not know; its word comes again.
        let Ok(position) = serde_json::from_str::<Position>(&left) else {
            return Ok(None);
        };
        let (latest, arrival) = self.arrival(run, &position).await?;
        self.settled_claim = Some(left);
        if arrival == Arrival::Missing {
            return Ok(None);
        }
        self.emit_status(
            &run.agent_id,
            "sent_already",
            Some("the agent has your last answer from a process that is gone"),
        );
        self.guarded(gate.confirm_left()).await?.map_err(incomplete)?;
        if arrival == Arrival::Answered {
            // The agent's last words may be newer than those that this process has read.
            self.settle(run).await;
            return Ok(None);
        }
        self.join_run(latest.clone(), false);
        Ok(Some(latest))
    }

    /// Asks the API, for as long as it takes: a word that is sent on suspicion may be sent twice.
    async fn arrival(&mut self, run: &RunRef, position: &Position) -> Result<(RunRef, Arrival), Stop> {
        let mut pause = self.run.settings.poll_interval;
        loop {
            match self.guarded(self.look_for(run, position)).await? {
                Ok(found) => return Ok(found),
                Err(error) if error.is_transient() || error.is_foreign() => {
                    let detail = format!("{error}; the run is kept, looking again");
                    self.emit_status(&run.agent_id, "unreachable", Some(&detail));
                }
                Err(error) => return Err(error.into()),
            }
            self.guarded(sleep(pause)).await?;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    async fn look_for(&self, run: &RunRef, position: &Position) -> Result<(RunRef, Arrival), CloudError> {
        let api = self.run.api;
        let Some(after) = &position.run_id else {
            let conversation = api.conversation(run).await?;
            return Ok((run.clone(), position.find_in(&conversation)));
        };
        let latest = api.latest_run(&run.agent_id).await?;
        if latest.run_id.as_ref() == Some(after) {
            return Ok((latest, Arrival::Missing));
        }
        // The run that this process follows is over.
        let arrival = if latest == *run {
            Arrival::Answered
        } else {
            Arrival::Unanswered
        };
        Ok((latest, arrival))
    }
}

fn incomplete(reason: String) -> Stop {
    Stop::Failed(Problem::new(format!("HAP_INCOMPLETE: {reason}")))
}

fn hash(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::super::api::ConversationMessage;
    use super::*;

    #[test]
    fn a_word_is_found_only_where_it_was_to_be_sent() {
        let conversation = |texts: &[(bool, &str)]| Conversation {
            messages: texts
                .iter()
                .enumerate()
                .map(|(index, (is_assistant, text))| ConversationMessage {
                    id: index.to_string(),
                    is_assistant: *is_assistant,
                    text: (*text).to_owned(),
                })
                .collect(),
            raw: serde_json::Value::Null,
        };
        let run = RunRef {
            agent_id: "bc_1".into(),
            run_id: None,
        };
        let position = Position::new(&run, 2, &Prompt::new("go on"));
        let before = [
            (false, "fix it"),
            (true, "done"),
            (false, "go on"),
            (true, "I went on"),
        ];
        assert_eq!(position.find_in(&conversation(&before)), Arrival::Missing);
        let sent = [&before[..], &[(false, "go on")]].concat();
        assert_eq!(position.find_in(&conversation(&sent)), Arrival::Unanswered);
        let answered = [&sent[..], &[(true, "again")]].concat();
        assert_eq!(position.find_in(&conversation(&answered)), Arrival::Answered);
        let another = [&before[..], &[(false, "go on, please")]].concat();
        assert_eq!(position.find_in(&conversation(&another)), Arrival::Missing);
    }
}
