//! HAP in whole conversations: agents that forget, lie, hide and obey, and a human who must be asked.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use adapter_core::config::Config;
use adapter_core::cursor::cli::CliAgent;
use adapter_core::hap::{
    Answer, Confirmable, Confirmation, ConversationEnd, HapEvent, HapOptions, Human, HumanError,
    HumanQuestion, Receipt, ReceiptOutcome, converse,
};
use serde_json::Value;

use crate::fake::{Fake, GRACES};
use adapter_core::contract::Item;

/// A human with prepared answers, and a broker that is a file of nonces.
struct Scripted {
    answers: Vec<Answer>,
    asked: Vec<HumanQuestion>,
    receipts: PathBuf,
    reachable: bool,
    /// Whether the answers to the agent's own cues end the run.
    ends_run: bool,
    /// The number of confirmed answers.
    confirmed: Arc<AtomicUsize>,
}

impl Human for Scripted {
    async fn ask(&mut self, question: HumanQuestion) -> Result<Confirmable<Answer>, HumanError> {
        if !self.reachable {
            return Err(HumanError {
                reason: "no broker".into(),
                command: "cueme cue tidy-otter -".into(),
            });
        }
        self.asked.push(question);
        let word = if self.answers.is_empty() {
            Answer::Declined("enough".into())
        } else {
            self.answers.remove(0)
        };
        let confirmed = Arc::clone(&self.confirmed);
        let confirmation = Confirmation::by(move || {
            confirmed.fetch_add(1, Ordering::SeqCst);
        });
        Ok(Confirmable { word, confirmation })
    }

    async fn receipts(&mut self, nonce: &str) -> Result<Vec<Receipt>, HumanError> {
        let recorded = std::fs::read_to_string(&self.receipts).unwrap_or_default();
        let ours = recorded.lines().filter(|line| *line == nonce);
        let receipt = |line: &str| Receipt {
            nonce: line.into(),
            outcome: ReceiptOutcome::Answered,
            acknowledged: true,
            ends_run: self.ends_run,
        };
        Ok(ours.map(receipt).collect())
    }
}

struct Talk {
    end: ConversationEnd,
    asked: Vec<HumanQuestion>,
    events: Vec<Value>,
    calls: Vec<Value>,
    follow_ups: usize,
    confirmed: usize,
}

impl Talk {
    fn terminals(&self) -> Vec<&str> {
        let kinds = self.events.iter().map(|event| event["type"].as_str().unwrap());
        kinds.filter(|kind| matches!(*kind, "done" | "error")).collect()
    }
}

async fn talk(scenario: &str, answers: Vec<Answer>, reachable: bool) -> Talk {
    talk_with(scenario, answers, reachable, HapOptions::new("tidy-otter")).await
}

async fn talk_with(scenario: &str, answers: Vec<Answer>, reachable: bool, options: HapOptions) -> Talk {
    let fake = Fake::new(scenario);
    let receipts = fake.home.path().join("receipts");
    let fake = fake.env(
        "FAKE_CURSOR_CUE",
        &format!("echo $CUEME_TURN >> {}", receipts.display()),
    );
    let command = env!("CARGO_BIN_EXE_fake-cursor-agent");
    let args = ["-p", "--output-format", "stream-json", "--stream-partial-output"];
    let config =
        serde_json::json!({"models": {"m": {"command": command, "args": args, "promptAsArg": true}}});
    let config = Config::parse(&config.to_string()).unwrap();
    let mut agent = CliAgent::new(Arc::new(config), "m");
    agent.cwd = Some(fake.home.path().to_owned());
    agent.env = fake.env.clone();
    agent.graces = GRACES;
    let mut human = Scripted {
        answers,
        asked: Vec::new(),
        receipts,
        reachable,
        ends_run: !options.once,
        confirmed: Arc::default(),
    };
    let (mut events, mut follow_ups) = (Vec::new(), 0);
    let mut sink = |item: Item<'_>| {
        if let Item::Event(event) = item {
            events.push(serde_json::to_value(event).unwrap());
        }
    };
    let mut watch = |event: HapEvent<'_>| follow_ups += usize::from(matches!(event, HapEvent::FollowUp(_)));
    let end = converse(&mut agent, &mut human, &options, "do it", &mut watch, &mut sink).await;
    fake.nothing_is_left().await;
    Talk {
        end,
        asked: human.asked,
        events,
        calls: fake.calls(),
        follow_ups,
        confirmed: human.confirmed.load(Ordering::SeqCst),
    }
}

fn stop() -> Vec<Answer> {
    vec![Answer::Done(None)]
}

fn once() -> HapOptions {
    HapOptions {
        once: true,
        ..HapOptions::new("tidy-otter")
    }
}

#[tokio::test]
async fn an_answer_that_ends_the_run_ends_it_whatever_the_agent_did_afterwards() {
    for scenario in ["hap_ok", "hap_not_last"] {
        let talk = talk(scenario, vec![], true).await;
        assert_eq!(
            (talk.end.clone(), talk.asked.len(), talk.follow_ups),
            (ConversationEnd::EndedByHuman, 0, 0),
            "{scenario}"
        );
        assert_eq!((talk.terminals(), talk.calls.len()), (vec!["done"], 1));
    }
}

#[tokio::test]
async fn an_agent_that_obeys_is_done_without_another_question_where_once_is_enough() {
    let talk = talk_with("hap_ok", vec![], true, once()).await;
    assert_eq!(
        (talk.end.clone(), talk.asked.len(), talk.follow_ups),
        (ConversationEnd::Asked, 0, 0)
    );
    assert_eq!(talk.terminals(), ["done"]);
    assert_eq!(talk.calls.len(), 1);
    assert!(
        talk.calls[0]["prompt"]
            .as_str()
            .unwrap()
            .contains("cueme cue tidy-otter -"),
        "the rule is in the prompt"
    );
}

#[tokio::test]
async fn an_agent_that_needs_one_reminder_is_reminded_once_in_the_same_chat() {
    let talk = talk_with("hap_repair", vec![], true, once()).await;
    assert_eq!(
        (talk.end.clone(), talk.asked.len(), talk.follow_ups),
        (ConversationEnd::Asked, 0, 1)
    );
    assert_eq!(talk.calls.len(), 2);
    assert!(talk.calls[0]["resume"].is_null() && talk.calls[1]["resume"].is_string());
    assert_ne!(
        talk.calls[0]["env"]["CUEME_TURN"], talk.calls[1]["env"]["CUEME_TURN"],
        "each turn has its own nonce"
    );
}

#[tokio::test]
async fn an_agent_that_never_asks_is_asked_for_by_the_adapter_exactly_once() {
    for scenario in [
        "hap_missing",
        "hap_fake_claim",
        "hap_background",
        "hap_failed",
        "hap_masked",
        "hap_not_last",
    ] {
        let talk = talk_with(scenario, stop(), true, once()).await;
        assert_eq!(talk.end, ConversationEnd::EndedByHuman, "{scenario}");
        assert_eq!((talk.asked.len(), talk.follow_ups), (1, 3), "{scenario}");
        assert_eq!(talk.terminals(), ["done"], "{scenario}");
        assert!(
            talk.asked[0].prompt.contains("All done."),
            "{scenario}: the agent's words reach the human"
        );
    }
}

#[tokio::test]
async fn the_human_s_answer_comes_back_into_the_same_conversation() {
    let answers = vec![
        Answer::Text("also update the docs".into()),
        Answer::Declined("enough".into()),
    ];
    let talk = talk("hap_missing", answers, true).await;
    assert_eq!(talk.end, ConversationEnd::EndedByHuman);
    assert_eq!(talk.asked.len(), 2);
    let next = &talk.calls[4];
    assert!(next["prompt"].as_str().unwrap().contains("also update the docs"));
    assert!(next["resume"].is_string());
    assert_eq!(talk.terminals(), ["done"]);
    assert_eq!(talk.confirmed, 2);
}

#[tokio::test]
async fn an_answer_that_no_turn_took_up_is_not_confirmed() {
    let answers = vec![Answer::Text("also update the docs".into())];
    let talk = talk("hap_refused", answers.clone(), true).await;
    assert!(matches!(talk.end, ConversationEnd::Failed(_)));
    assert_eq!((talk.calls.len(), talk.confirmed), (2, 0));
    let options = HapOptions {
        turns_max: 1,
        ..HapOptions::new("tidy-otter")
    };
    let talk = talk_with("hap_unavailable", answers, true, options).await;
    assert_eq!((talk.end, talk.confirmed), (ConversationEnd::Limit, 0));
}

#[tokio::test]
async fn a_question_the_cli_skipped_becomes_a_choice_for_the_human() {
    let talk = talk("hap_ask", vec![Answer::Text("B".into())], true).await;
    assert_eq!(
        talk.asked[0].payload.as_deref(),
        Some(r#"{"type":"choice","options":["A","B"],"allow_multiple":false}"#)
    );
    assert!(
        talk.calls[1]["prompt"]
            .as_str()
            .unwrap()
            .ends_with("The human answered:\nB")
    );
}

#[tokio::test]
async fn an_agent_without_tools_surfaces_its_command_at_once() {
    let talk = talk("hap_unavailable", stop(), true).await;
    assert_eq!((talk.asked.len(), talk.follow_ups), (1, 0));
    assert!(talk.asked[0].prompt.contains("cueme cue tidy-otter -"));
}

#[tokio::test]
async fn a_human_who_cannot_be_reached_is_an_error_with_the_command() {
    let talk = talk("hap_unavailable", vec![], false).await;
    assert_eq!(talk.terminals(), ["error"]);
    let data = &talk.events.last().unwrap()["data"];
    assert_eq!(data["code"], "HAP_INCOMPLETE");
    assert!(
        data["message"]
            .as_str()
            .unwrap()
            .contains("cueme cue tidy-otter -")
    );
}

#[tokio::test]
async fn a_failed_turn_ends_the_conversation_with_its_error() {
    let talk = talk("quota", vec![], true).await;
    assert_eq!(talk.terminals(), ["error"]);
    assert!(matches!(talk.end, ConversationEnd::Failed(error) if error.code.as_str() == "QUOTA_EXCEEDED"));
    assert_eq!(BTreeMap::from([("asked", talk.asked.len())])["asked"], 0);
}

#[tokio::test]
async fn a_conversation_at_its_limit_is_no_success_because_nobody_heard_the_last_word() {
    let options = HapOptions {
        turns_max: 2,
        ..HapOptions::new("tidy-otter")
    };
    let talk = talk_with("hap_missing", vec![], true, options).await;
    assert_eq!(talk.end, ConversationEnd::Limit);
    assert_eq!(talk.terminals(), ["error"]);
    let data = &talk.events.last().unwrap()["data"];
    assert_eq!(data["code"], "TURN_LIMIT");
    assert!(data["remedy"].as_str().unwrap().contains("--resume latest"));
}

#[tokio::test]
async fn a_cue_through_our_mcp_server_counts_like_one_in_the_shell() {
    let talk = talk_with("hap_mcp", vec![], true, once()).await;
    assert_eq!(
        (talk.end.clone(), talk.asked.len(), talk.follow_ups),
        (ConversationEnd::Asked, 0, 0)
    );
}
