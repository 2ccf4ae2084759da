//! The rules, one by one. Interleavings of them are the simulation's business.

use std::collections::HashMap;
use std::sync::Arc;

use protocol_spec::answer::Answer;
use protocol_spec::id::{AgentId, CueId, RequestId};
use protocol_spec::message::{
    ACKS_MAX, Collected, DeliveredOutcome, ErrorCode, Failure, Mailbox, PastAgent, Purpose, RefusedCue, Reply,
};
use protocol_spec::outcome::{Kind, Origin, Outcome};
use protocol_spec::time::Timestamp;
use uuid::Uuid;

use super::*;

mod foreign;
mod humans;
mod lines;
mod time;

/// A machine with one agent, and a clock that is set by hand.
struct World {
    machine: Machine,
    agent: AgentId,
    millis: u64,
    drawn: u64,
    /// The question that each call means, as a store knows it.
    calls: HashMap<RequestId, CueId>,
}

impl World {
    fn new() -> Self {
        let mut world = Self {
            machine: Machine::default(),
            agent: AgentId::from_random(1),
            millis: 0,
            drawn: 0,
            calls: HashMap::new(),
        };
        world
            .machine
            .remember_agent(world.agent.clone(), "terminal".parse().unwrap(), 0);
        world
    }

    fn draw(&mut self) -> u64 {
        self.drawn += 1;
        self.drawn
    }

    fn request(&mut self) -> RequestId {
        RequestId(Uuid::from_u128(u128::from(self.draw())))
    }

    fn handle(&mut self, input: Input) -> Vec<Effect> {
        let wall = Timestamp::from_millis(1_800_000_000_000 + i64::try_from(self.millis).unwrap());
        let now = Now {
            wall,
            steady: self.millis,
        };
        let effects = self.machine.handle(now, input);
        for effect in &effects {
            if let Effect::Store(Change::BindRequest { request, cue }) = effect {
                self.calls.insert(*request, *cue);
            }
        }
        effects
    }

    /// Returns the question that a call meant before, while the machine has it.
    fn known(&self, request: RequestId) -> Option<CueId> {
        let known = self.calls.get(&request).copied();
        known.filter(|cue| self.machine.knows(*cue))
    }

    /// Asks with a new call; returns the caller's ticket and its reply.
    fn ask(&mut self, prompt: &str) -> (Ticket, Vec<Reply>) {
        let request = self.request();
        self.ask_as(request, Kind::Cue, prompt, None)
    }

    fn ask_as(
        &mut self,
        request: RequestId,
        kind: Kind,
        prompt: &str,
        payload: Option<&str>,
    ) -> (Ticket, Vec<Reply>) {
        self.ask_from(Origin::Agent, request, kind, prompt, payload)
    }

    fn ask_from(
        &mut self,
        origin: Origin,
        request: RequestId,
        kind: Kind,
        prompt: &str,
        payload: Option<&str>,
    ) -> (Ticket, Vec<Reply>) {
        let ticket = Ticket(self.draw());
        let mut content = [0; 32];
        for (slot, byte) in content
            .iter_mut()
            .zip(prompt.bytes().chain(payload.unwrap_or_default().bytes()))
        {
            *slot = byte;
        }
        let ask = Ask {
            ticket,
            request,
            known: self.known(request),
            cue: CueId::from_random(self.draw()),
            agent: self.agent.clone(),
            kind,
            prompt: prompt.into(),
            payload: payload.map(Arc::from),
            content: ContentKey(content),
            origin,
        };
        let effects = self.handle(Input::Ask(ask));
        (ticket, replies_to(ticket, &effects))
    }

    fn decide(&mut self, cue: CueId, verdict: Verdict, hold_ms: u64) -> (Vec<Effect>, Vec<Reply>) {
        let request = self.request();
        self.decide_as(request, cue, verdict, hold_ms)
    }

    fn decide_as(
        &mut self,
        request: RequestId,
        cue: CueId,
        verdict: Verdict,
        hold_ms: u64,
    ) -> (Vec<Effect>, Vec<Reply>) {
        let ticket = Ticket(self.draw());
        let decide = Decide {
            ticket,
            request,
            cue,
            verdict,
            by: None,
            hold_ms,
            reminder: None,
        };
        let effects = self.handle(Input::Decide(decide));
        let replies = replies_to(ticket, &effects);
        (effects, replies)
    }

    fn answer(&mut self, cue: CueId, text: &str) -> (Vec<Effect>, Vec<Reply>) {
        self.decide(cue, answer(text), 0)
    }

    fn say(&mut self, text: &str) -> RequestId {
        let request = self.request();
        let replies = self.say_as(request, text);
        assert!(matches!(replies[..], [Reply::Said(_)]), "{replies:?}");
        request
    }

    fn say_as(&mut self, request: RequestId, text: &str) -> Vec<Reply> {
        self.say_for(Purpose::Note, request, text)
    }

    fn queue(&mut self, text: &str) -> RequestId {
        let request = self.request();
        let replies = self.say_for(Purpose::QueuedAnswer, request, text);
        assert!(matches!(replies[..], [Reply::Said(_)]), "{replies:?}");
        request
    }

    fn say_for(&mut self, purpose: Purpose, request: RequestId, text: &str) -> Vec<Reply> {
        let ticket = Ticket(self.draw());
        let say = Say {
            ticket,
            request,
            agent: self.agent.clone(),
            text: text.into(),
            purpose,
            by: Some("ada".into()),
        };
        let effects = self.handle(Input::Say(say));
        replies_to(ticket, &effects)
    }

    /// Ends a wait; returns how many have ended since the last sign of a human, and whether to give up.
    fn rest(&mut self, cue: CueId) -> (u32, bool) {
        let ticket = Ticket(self.draw());
        let effects = self.handle(Input::Rest { ticket, cue });
        match &replies_to(ticket, &effects)[..] {
            [Reply::Rested(rested)] => (rested.rounds, rested.give_up),
            other => panic!("{other:?}"),
        }
    }

    fn ack(&mut self, cue: CueId) -> Vec<Reply> {
        let ticket = Ticket(self.draw());
        let effects = self.handle(Input::Ack {
            ticket,
            cues: vec![cue],
            nonce: None,
        });
        replies_to(ticket, &effects)
    }

    fn leave(&mut self, ticket: Ticket) {
        self.handle(Input::Gone { ticket });
    }

    fn pass(&mut self, millis: u64) -> Vec<Effect> {
        self.millis += millis;
        self.handle(Input::Tick)
    }
}

fn answer(text: &str) -> Verdict {
    Verdict::Answer {
        text: text.into(),
        answer: Answer::default(),
        redacted: None,
    }
}

fn replies_to(ticket: Ticket, effects: &[Effect]) -> Vec<Reply> {
    effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Reply { to, reply } if *to == ticket => Some((**reply).clone()),
            _ => None,
        })
        .collect()
}

fn asked(replies: &[Reply]) -> CueId {
    match replies {
        [Reply::Asked(asked), ..] => asked.cue_id,
        other => panic!("not asked: {other:?}"),
    }
}

fn told(replies: &[Reply]) -> &DeliveredOutcome {
    match replies.last() {
        Some(Reply::Outcome(told)) => told,
        other => panic!("no outcome: {other:?}"),
    }
}

fn mailbox(replies: &[Reply]) -> &Mailbox {
    match replies {
        [Reply::Mailbox(mailbox)] => mailbox,
        other => panic!("no mailbox: {other:?}"),
    }
}

fn failure(replies: &[Reply]) -> &Failure {
    match replies {
        [Reply::Error(failure)] => failure,
        other => panic!("no failure: {other:?}"),
    }
}

#[test]
fn a_waiting_client_is_handed_the_answer_and_settles_it() {
    let mut world = World::new();
    let (client, replies) = world.ask("q");
    let cue = asked(&replies);
    let (effects, _) = world.answer(cue, "yes");
    assert_eq!(told(&replies_to(client, &effects)).text, "yes");
    assert!(matches!(&world.ack(cue)[..], [Reply::Acked(acked)] if acked.cue_ids == [cue]));
    world.leave(client);
    assert!(!world.machine.knows(cue), "a settled question is forgotten");
}

#[test]
fn nothing_is_said_about_a_change_before_it_is_to_be_stored() {
    let mut world = World::new();
    let (client, replies) = world.ask("q");
    let (effects, _) = world.answer(asked(&replies), "yes");
    let place = |wanted: &dyn Fn(&Effect) -> bool| effects.iter().position(wanted).unwrap();
    let stored = place(&|effect| matches!(effect, Effect::Store(Change::Decide { .. })));
    let said = place(&|effect| matches!(effect, Effect::Reply { to, .. } if *to == client));
    assert!(stored < said);
}

#[test]
fn an_agent_that_reconnects_gets_the_answer_it_missed() {
    let mut world = World::new();
    let (client, replies) = world.ask("q");
    let cue = asked(&replies);
    world.leave(client);
    world.answer(cue, "late");
    let (_, replies) = world.ask("q");
    assert_eq!(asked(&replies), cue);
    assert_eq!(
        (told(&replies).text.as_str(), told(&replies).repeat_of),
        ("late", None)
    );
}

#[test]
fn an_answer_handed_over_but_not_acknowledged_comes_again_marked() {
    let mut world = World::new();
    let (client, replies) = world.ask("q");
    let cue = asked(&replies);
    world.answer(cue, "yes");
    world.leave(client);
    let (_, replies) = world.ask("q");
    assert_eq!(told(&replies).text, "yes");
    assert!(told(&replies).repeat_of.is_some());
}

#[test]
fn the_same_words_after_the_acknowledgement_are_a_new_question() {
    let mut world = World::new();
    let (_, replies) = world.ask("q");
    let first = asked(&replies);
    world.answer(first, "yes");
    world.ack(first);
    let (_, replies) = world.ask("q");
    assert_ne!(asked(&replies), first);
    assert_eq!(replies.len(), 1, "nobody has answered it");
}

#[test]
fn a_retry_of_a_call_means_the_question_of_that_call_even_when_it_is_open_twice_over() {
    let mut world = World::new();
    let request = world.request();
    let (_, replies) = world.ask_as(request, Kind::Cue, "q", None);
    let (_, again) = world.ask_as(request, Kind::Cue, "q", None);
    assert_eq!(asked(&replies), asked(&again));
    let (_, other) = world.ask_as(request, Kind::Cue, "something else", None);
    assert_eq!(failure(&other).code, ErrorCode::BadRequest);
}

#[test]
fn two_clients_on_one_question_both_hear_the_answer_and_one_acknowledgement_counts() {
    let mut world = World::new();
    let (one, replies) = world.ask("q");
    let (two, again) = world.ask("q");
    let cue = asked(&replies);
    let is_again = |replies: &[Reply]| matches!(replies, [Reply::Asked(asked)] if asked.again);
    assert!(!is_again(&replies) && is_again(&again));
    let (effects, _) = world.answer(cue, "yes");
    for client in [one, two] {
        assert_eq!(told(&replies_to(client, &effects)).repeat_of, None);
    }
    assert!(matches!(&world.ack(cue)[..], [Reply::Acked(acked)] if acked.cue_ids == [cue]));
    assert!(matches!(&world.ack(cue)[..], [Reply::Acked(acked)] if acked.cue_ids.is_empty()));
}

#[test]
fn two_requests_for_the_same_approval_are_two_questions() {
    let mut world = World::new();
    let mut approve = |origin| {
        let request = world.request();
        let (_, replies) = world.ask_from(origin, request, Kind::Cue, "May Bash run?", Some("{}"));
        asked(&replies)
    };
    let (one, two) = (approve(Origin::Approval), approve(Origin::Approval));
    let three = approve(Origin::Agent);
    assert!(one != two && two != three && one != three);
    assert_eq!(approve(Origin::Agent), three, "an agent's own question is joined");
}

#[test]
fn two_turns_that_waited_for_one_outcome_each_have_a_receipt() {
    let mut world = World::new();
    let (_, replies) = world.ask("q");
    let cue = asked(&replies);
    world.answer(cue, "yes");
    let mut receipt = |nonce: &str| {
        let effects = world.handle(Input::Ack {
            ticket: Ticket(99),
            cues: vec![cue],
            nonce: Some(nonce.into()),
        });
        effects.into_iter().find_map(|effect| match effect {
            Effect::Store(Change::Acknowledge { nonce, .. }) => nonce,
            Effect::Store(Change::AddReceipt { nonce, .. }) => Some(nonce),
            _ => None,
        })
    };
    assert_eq!(receipt("turn-1").as_deref(), Some("turn-1"));
    assert_eq!(receipt("turn-2").as_deref(), Some("turn-2"));
}

#[test]
fn a_session_is_given_only_to_an_agent_that_has_joined() {
    let mut world = World::new();
    let mut bind = |agent: AgentId| {
        let ticket = Ticket(99);
        let effects = world.handle(Input::Bind {
            ticket,
            agent,
            session: "s-1".into(),
        });
        replies_to(ticket, &effects)
    };
    let known = AgentId::from_random(1);
    assert!(
        matches!(&bind(known.clone())[..], [Reply::Joined(joined)] if joined.agent_id == known && joined.again)
    );
    assert_eq!(
        failure(&bind(AgentId::from_random(2))).code,
        ErrorCode::UnknownAgent
    );
}

#[test]
fn a_question_is_decided_once_and_the_same_decision_is_confirmed() {
    let mut world = World::new();
    let (_, replies) = world.ask("q");
    let cue = asked(&replies);
    let request = world.request();
    let (_, first) = world.decide_as(request, cue, answer("yes"), 0);
    let (_, retry) = world.decide_as(request, cue, answer("yes"), 0);
    assert!(matches!(
        (&first[..], &retry[..]),
        ([Reply::Decided(_)], [Reply::Decided(_)])
    ));
    let (effects, other) = world.answer(cue, "no");
    assert_eq!(failure(&other).code, ErrorCode::AlreadyDecided);
    assert_eq!(effects.len(), 1, "a refused decision changes nothing");
}

#[test]
fn an_answer_to_an_earlier_question_is_not_the_answer_to_the_next() {
    let mut world = World::new();
    let (client, replies) = world.ask("first");
    let first = asked(&replies);
    world.leave(client);
    world.answer(first, "to the first");
    let (_, replies) = world.ask("second");
    let mail = mailbox(&replies);
    assert_eq!(mail.earlier.len(), 1);
    assert_eq!(
        (mail.earlier[0].cue_id, mail.earlier[0].question.as_str()),
        (first, "first")
    );
    assert_ne!(mail.cue_id, first);
    world.ack(first);
    let (_, replies) = world.ask("second");
    assert_eq!(
        asked(&replies),
        mail.cue_id,
        "the new question is open and waited for"
    );
    assert_eq!(replies.len(), 1);
}

#[test]
fn an_outcome_that_another_client_is_printing_is_not_taken_for_missed() {
    let mut world = World::new();
    let (_, replies) = world.ask("first");
    world.answer(asked(&replies), "yes");
    let (_, replies) = world.ask("second");
    asked(&replies);
}

#[test]
fn a_note_closes_no_question_and_stands_above_the_next_answer() {
    let mut world = World::new();
    world.say("do it carefully");
    world.say("and tell me");
    let (client, replies) = world.ask("q");
    assert_eq!(replies.len(), 1, "a note answers nothing");
    let (effects, _) = world.answer(asked(&replies), "yes");
    let replies = replies_to(client, &effects);
    let text = &told(&replies).text;
    assert!(
        text.starts_with("[note, written at the same moment as this question, ")
            && text.contains("]\ndo it carefully\n\n[note, ")
            && text.ends_with("]\nand tell me\n\n[answer]\nyes"),
        "{text}"
    );
    world.ack(told(&replies).cue_id);
    let (client, replies) = world.ask("next");
    let (effects, _) = world.answer(asked(&replies), "plain");
    assert_eq!(
        told(&replies_to(client, &effects)).text,
        "plain",
        "a note is delivered once"
    );
}

#[test]
fn labels_tell_whether_a_note_was_written_before_or_after_the_question() {
    let mut world = World::new();
    world.say("early");
    world.pass(3 * 60_000);
    let (client, replies) = world.ask("q");
    world.pass(2 * 60_000);
    world.say("late");
    let (effects, _) = world.answer(asked(&replies), "yes");
    let replies = replies_to(client, &effects);
    let labels: Vec<&str> = told(&replies)
        .text
        .lines()
        .filter_map(|line| line.strip_prefix("[note, written ")?.split_once(" this question"))
        .map(|(order, _)| order)
        .collect();
    assert_eq!(labels, ["3 min before", "2 min after"]);
}

#[test]
fn a_queued_answer_answers_the_next_plain_question_and_says_that_nobody_saw_it() {
    let mut world = World::new();
    let first = world.queue("go on");
    world.queue("and stop after that");
    world.pass(3 * 60_000);
    let (_, replies) = world.ask("q");
    let outcome = told(&replies).clone();
    assert!(
        outcome
            .text
            .starts_with("[the human has not seen this question: an answer queued 3 min before it, "),
        "{}",
        outcome.text
    );
    assert!(outcome.text.ends_with("]\ngo on"), "{}", outcome.text);
    assert_eq!(
        outcome.answer.and_then(|answer| answer.text).as_deref(),
        Some("go on")
    );
    assert_eq!(outcome.by.as_deref(), Some("ada"));
    world.ack(outcome.cue_id);
    assert!(
        world
            .machine
            .agent(&world.agent)
            .unwrap()
            .messages
            .iter()
            .all(|left| left.request != first)
    );
    world.say("mind the budget");
    let (_, replies) = world.ask("next");
    let text = &told(&replies).text;
    assert!(
        text.starts_with("[the human has not seen this question"),
        "{text}"
    );
    assert!(
        text.contains("]\nmind the budget\n\n[queued answer]\nand stop after that"),
        "one queued answer for each question, notes above it: {text}"
    );
    world.ack(told(&replies).cue_id);
    let (_, replies) = world.ask("more");
    assert_eq!(replies.len(), 1, "the queue is empty");
}

#[test]
fn a_queued_answer_never_approves_chooses_or_continues() {
    for (kind, payload, origin) in [
        (Kind::Cue, None, Origin::Approval),
        (Kind::Cue, Some("{}"), Origin::Approval),
        (Kind::Cue, Some("{}"), Origin::Agent),
        (Kind::Pause, None, Origin::Agent),
    ] {
        let mut world = World::new();
        world.queue("yes");
        let request = world.request();
        let (client, replies) = world.ask_from(origin, request, kind, "rm -rf /?", payload);
        assert_eq!(replies.len(), 1, "{kind:?} {payload:?} {origin:?}");
        let (effects, _) = world.answer(asked(&replies), "no");
        let replies = replies_to(client, &effects);
        assert_eq!(
            told(&replies).text,
            "no",
            "it waits for a question that it may answer"
        );
        world.ack(told(&replies).cue_id);
        let (_, replies) = world.ask("q");
        assert!(told(&replies).text.ends_with("]\nyes"), "{replies:?}");
    }
}

#[test]
fn a_note_does_not_vanish_behind_a_yes_that_only_the_runtime_hears() {
    let mut world = World::new();
    world.say("mind the budget");
    let request = world.request();
    let (client, replies) = world.ask_from(Origin::Approval, request, Kind::Cue, "ls", Some("{}"));
    let (effects, _) = world.answer(asked(&replies), "yes");
    let replies = replies_to(client, &effects);
    assert_eq!(told(&replies).text, "yes");
    world.ack(told(&replies).cue_id);
    let (client, replies) = world.ask("q");
    let (effects, _) = world.answer(asked(&replies), "go");
    assert!(
        told(&replies_to(client, &effects))
            .text
            .contains("mind the budget")
    );
}

#[test]
fn a_secret_is_gone_with_the_first_acknowledgement_for_a_late_waiter_too() {
    let mut world = World::new();
    let (_, replies) = world.ask("q");
    let cue = asked(&replies);
    let verdict = Verdict::Answer {
        text: "Key: s3cret".into(),
        answer: Answer {
            text: Some("s3cret".into()),
            ..Answer::default()
        },
        redacted: Some(("Key: [redacted]".into(), Answer::default())),
    };
    world.decide(cue, verdict, 0);
    world.ack(cue);
    // The first client is still connected, so the machine remembers the question.
    let late = Ticket(world.draw());
    let effects = world.handle(Input::Attach { ticket: late, cue });
    let replies = replies_to(late, &effects);
    let outcome = told(&replies);
    assert_eq!(outcome.text, "Key: [redacted]");
    assert!(!format!("{outcome:?}").contains("s3cret"), "{outcome:?}");
}

#[test]
fn a_queued_answer_does_not_answer_a_question_that_is_open_and_is_not_collected() {
    let mut world = World::new();
    let (_, replies) = world.ask("q");
    world.queue("later");
    assert_eq!(replies.len(), 1);
    let request = world.request();
    assert!(collect(&mut world, request, false).messages.is_none());
    let (_, again) = world.ask("q");
    assert_eq!((asked(&again), again.len()), (asked(&replies), 1));
}

#[test]
fn a_human_is_pointed_to_the_question_that_somebody_waits_for() {
    let mut world = World::new();
    let said = |replies: &[Reply]| match replies {
        [Reply::Said(said)] => (said.open_cue, said.waiting),
        other => panic!("{other:?}"),
    };
    let (one, replies) = world.ask("first");
    let first = asked(&replies);
    world.leave(one);
    let request = world.request();
    assert_eq!(said(&world.say_as(request, "hm")), (Some(first), 0));
    let (_, replies) = world.ask("second");
    let request = world.request();
    assert_eq!(said(&world.say_as(request, "hm")), (Some(asked(&replies)), 1));
}

#[test]
fn a_message_waits_above_the_answer_to_a_payload_or_a_pause() {
    for (kind, payload) in [(Kind::Cue, Some("{}")), (Kind::Pause, None)] {
        let mut world = World::new();
        world.say("by the way");
        let request = world.request();
        let (client, replies) = world.ask_as(request, kind, "q", payload);
        assert_eq!(replies.len(), 1, "the message does not answer it");
        let (effects, _) = world.answer(asked(&replies), "yes");
        let replies = replies_to(client, &effects);
        let text = &told(&replies).text;
        assert!(
            text.find("by the way").unwrap() < text.find("yes").unwrap(),
            "{text}"
        );
    }
}

#[test]
fn a_refusal_is_the_first_line_and_a_cancellation_keeps_messages_waiting() {
    let mut world = World::new();
    world.say("by the way");
    let request = world.request();
    let (client, replies) = world.ask_as(request, Kind::Cue, "q", Some("{}"));
    let cue = asked(&replies);
    let (effects, _) = world.decide(cue, Verdict::Cancel { reason: None }, 0);
    let replies = replies_to(client, &effects);
    assert_eq!(told(&replies).outcome, Outcome::Cancelled);
    world.ack(cue);
    let request = world.request();
    let (client, replies) = world.ask_as(request, Kind::Cue, "r", Some("{}"));
    let (effects, _) = world.decide(
        asked(&replies),
        Verdict::Decline {
            reason: Some("no time".into()),
        },
        0,
    );
    let replies = replies_to(client, &effects);
    assert!(
        told(&replies).text.starts_with("declined: no time\n"),
        "{}",
        told(&replies).text
    );
    assert!(told(&replies).text.contains("by the way"));
}

#[test]
fn a_held_answer_can_be_taken_back_until_it_is_released() {
    let mut world = World::new();
    world.say("by the way");
    let request = world.request();
    let (client, replies) = world.ask_as(request, Kind::Cue, "q", Some("{}"));
    let cue = asked(&replies);
    let (effects, _) = world.decide(cue, answer("hasty"), 5000);
    assert!(replies_to(client, &effects).is_empty(), "held back");
    let undo = Ticket(world.draw());
    let effects = world.handle(Input::Undo { ticket: undo, cue });
    assert!(matches!(replies_to(undo, &effects)[..], [Reply::Undone(_)]));
    world.decide(cue, answer("considered"), 5000);
    assert_eq!(world.machine.next_due(), Some(5000));
    let effects = world.pass(5000);
    let replies = replies_to(client, &effects);
    let text = &told(&replies).text;
    assert!(
        text.contains("by the way") && text.ends_with("considered") && !text.contains("hasty"),
        "{text}"
    );
    let effects = world.handle(Input::Undo { ticket: undo, cue });
    assert_eq!(
        failure(&replies_to(undo, &effects)).code,
        ErrorCode::AlreadyReleased
    );
}

#[test]
fn a_question_left_alone_is_superseded_by_a_later_one_and_reopened_by_asking_again() {
    let mut world = World::new();
    let (client, replies) = world.ask("old");
    let old = asked(&replies);
    world.leave(client);
    world.pass(SUPERSEDED_AFTER_MS * 2);
    assert_eq!(world.machine.counts().open, 1, "nothing else was asked");
    world.ask("new");
    world.pass(0);
    assert_eq!(
        world.machine.counts().open,
        1,
        "the old one was alone for long enough"
    );
    let (_, replies) = world.ask("old");
    assert_eq!(asked(&replies), old);
    assert_eq!(world.machine.counts().open, 2);
}

#[test]
fn a_superseded_question_can_still_be_answered() {
    let mut world = World::new();
    let (client, replies) = world.ask("old");
    let old = asked(&replies);
    world.leave(client);
    let (waiting, _) = world.ask("new");
    world.pass(SUPERSEDED_AFTER_MS);
    let (_, replies) = world.answer(old, "after all");
    assert!(matches!(&replies[..], [Reply::Decided(decided)] if decided.handed_to == 0));
    world.leave(waiting);
    let (_, replies) = world.ask("newest");
    assert_eq!(mailbox(&replies).earlier[0].text, "after all");
}

#[test]
fn a_question_that_somebody_waits_for_is_never_superseded() {
    let mut world = World::new();
    world.ask("old");
    world.ask("new");
    world.pass(SUPERSEDED_AFTER_MS * 10);
    assert_eq!(world.machine.counts().open, 2);
}

#[test]
fn a_human_is_away_after_an_hour_however_many_waits_fit_into_it() {
    const WAITS: u32 = 450;
    let mut world = World::new();
    let (_, replies) = world.ask("q");
    let cue = asked(&replies);
    for rounds in 1..=WAITS {
        assert_eq!(world.rest(cue), (rounds, false));
        world.pass((AWAY_AFTER_MS - 1) / u64::from(WAITS));
    }
    world.pass(AWAY_AFTER_MS / u64::from(WAITS));
    assert_eq!(world.rest(cue), (WAITS + 1, true));
    world.handle(Input::HumanSeen);
    assert_eq!(world.rest(cue), (1, false));
    world.pass(AWAY_AFTER_MS - 1);
    assert_eq!(world.rest(cue), (2, false));
    world.pass(1);
    assert_eq!(world.rest(cue), (3, true));
}

#[test]
fn an_agent_cannot_have_more_open_questions_than_the_limit() {
    let mut world = World::new();
    for number in 0..LIVE_CUES_PER_AGENT_MAX {
        asked(&world.ask(&format!("q{number}")).1);
    }
    assert_eq!(failure(&world.ask("one more").1).code, ErrorCode::Busy);
    asked(&world.ask("q7").1);
}

#[test]
fn what_was_never_decided_cannot_be_acknowledged() {
    let mut world = World::new();
    let (_, replies) = world.ask("q");
    let cue = asked(&replies);
    assert_eq!(failure(&world.ack(cue)).code, ErrorCode::BadRequest);
    assert_eq!(
        failure(&world.ack(CueId::from_random(99_999))).code,
        ErrorCode::UnknownCue
    );
}

#[test]
fn a_stranger_is_told_how_to_get_an_id() {
    let mut world = World::new();
    world.agent = AgentId::from_random(77);
    let (_, replies) = world.ask("q");
    assert_eq!(failure(&replies).code, ErrorCode::UnknownAgent);
    assert!(failure(&replies).hint.as_ref().unwrap().contains("cueme recall"));
}

fn collect(world: &mut World, request: RequestId, close: bool) -> Collected {
    let ticket = Ticket(world.draw());
    let collect = Collect {
        ticket,
        request,
        known: world.known(request),
        cue: CueId::from_random(world.draw()),
        content: ContentKey([9; 32]),
        agent: world.agent.clone(),
        close: close.then(|| "typed here".to_owned()),
    };
    let effects = world.handle(Input::Collect(collect));
    match replies_to(ticket, &effects).pop() {
        Some(Reply::Collected(collected)) => collected,
        other => panic!("nothing collected: {other:?}"),
    }
}

#[test]
fn messages_are_collected_once_and_repeated_until_they_are_acknowledged() {
    let mut world = World::new();
    world.say("use the staging key");
    world.say("and be quick");
    let request = world.request();
    let first = collect(&mut world, request, false).messages.unwrap();
    assert!(
        first.text.contains("use the staging key\n\n[a note"),
        "{}",
        first.text
    );
    assert_eq!(first.repeat_of, None);
    // The same call sent again means the same delivery.
    let again = collect(&mut world, request, false).messages.unwrap();
    assert_eq!((again.cue_id, again.text), (first.cue_id, first.text.clone()));
    // Another call gets it again, as an outcome that was delivered and not acknowledged.
    let request = world.request();
    let other = collect(&mut world, request, false);
    assert!(other.messages.is_none());
    assert_eq!(other.earlier[0].cue_id, first.cue_id);
    assert!(other.earlier[0].repeat_of.is_some());
    world.ack(first.cue_id);
    let request = world.request();
    let nothing = collect(&mut world, request, false);
    assert!(nothing.messages.is_none() && nothing.earlier.is_empty());
    let counts = world.machine.counts();
    assert_eq!((counts.undelivered, counts.open), (0, 0));
}

#[test]
fn collecting_closes_what_was_left_behind_and_leaves_what_is_waited_for() {
    let mut world = World::new();
    let (gone, replies) = world.ask("left behind");
    let left = asked(&replies);
    world.leave(gone);
    let (_, replies) = world.ask("waited for");
    let waited = asked(&replies);
    let request = world.request();
    let kept = collect(&mut world, request, false);
    assert!(kept.earlier.is_empty(), "nothing is closed unless it is wished");
    let request = world.request();
    let collected = collect(&mut world, request, true);
    let told: Vec<(CueId, Outcome)> = collected
        .earlier
        .iter()
        .map(|told| (told.cue_id, told.outcome))
        .collect();
    assert_eq!(told, [(left, Outcome::Cancelled)]);
    assert!(matches!(world.machine.cue(waited).unwrap().state, State::Open));
}

#[test]
fn nobody_is_woken_for_a_question_that_was_left_but_not_left_behind() {
    let mut world = World::new();
    let (gone, replies) = world.ask("left");
    let left = asked(&replies);
    world.leave(gone);
    assert_eq!(world.machine.next_due(), None);
    world.ask("asked since");
    assert_eq!(world.machine.next_due(), Some(SUPERSEDED_AFTER_MS));
    world.pass(SUPERSEDED_AFTER_MS);
    assert!(matches!(
        world.machine.cue(left).unwrap().state,
        State::Superseded
    ));
}

#[test]
fn only_questions_without_a_payload_are_plain() {
    let mut world = World::new();
    let (_, replies) = world.ask("plain");
    let plain = asked(&replies);
    let request = world.request();
    let (_, replies) = world.ask_as(
        request,
        Kind::Cue,
        "with",
        Some(r#"{"type":"confirm","text":"?"}"#),
    );
    let with_payload = asked(&replies);
    let unknown = CueId::from_random(world.draw());
    let is_plain = |cue| world.machine.plain_question(cue).is_some();
    assert!(is_plain(plain) && !is_plain(with_payload) && !is_plain(unknown));
}

fn past(world: &mut World, agent: &AgentId, end: PastEnd) -> PastCue {
    PastCue {
        request: world.request(),
        cue: CueId::from_random(world.draw()),
        agent: agent.clone(),
        kind: Kind::Cue,
        prompt: "Which?".into(),
        payload: None,
        content: ContentKey([1; 32]),
        asked_at: Timestamp::from_millis(1),
        end,
        ended_at: Timestamp::from_millis(2),
    }
}

#[test]
fn imported_questions_are_never_live_and_their_agents_are_known() {
    let mut world = World::new();
    let agent: AgentId = "tavilron".parse().unwrap();
    let described = PastAgent {
        agent_id: agent.clone(),
        runtime: "cursor".parse().unwrap(),
        project_dir: "/p".into(),
        terminal: "zsh".into(),
        name: None,
        joined_at: Timestamp::from_millis(1),
        seen_at: Timestamp::from_millis(2),
    };
    let ticket = Ticket(world.draw());
    let stranger: AgentId = "nobody".parse().unwrap();
    let known = CueId::from_random(77);
    let closed = || PastEnd::Closed { reason: None };
    let cues = vec![
        (past(&mut world, &agent, PastEnd::LeftOpen), Known::No),
        (past(&mut world, &agent, closed()), Known::LeftOpen(known)),
        (
            past(&mut world, &agent, PastEnd::LeftOpen),
            Known::LeftOpen(known),
        ),
        (past(&mut world, &agent, closed()), Known::Whole),
        (past(&mut world, &stranger, closed()), Known::No),
    ];
    let effects = world.handle(Input::Import(Import {
        ticket,
        agents: vec![described.clone(), described],
        cues,
        refused: vec![RefusedCue {
            key: RequestId(Uuid::nil()),
            why: "its prompt is too long".into(),
        }],
    }));
    let replies = replies_to(ticket, &effects);
    let [Reply::Imported(imported)] = &replies[..] else {
        panic!("{replies:?}")
    };
    let counts = (imported.agents, imported.cues, imported.ended, imported.known);
    assert_eq!((counts, imported.refused.len()), ((1, 1, 1, 2), 2));
    assert!(world.machine.has_agent(&agent));
    assert_eq!(
        world.machine.counts().open + world.machine.counts().undelivered,
        0
    );
    let written = effects
        .iter()
        .filter(|effect| matches!(effect, Effect::Store(_)))
        .count();
    assert_eq!(written, 3, "an agent, a question, an end");
}
