//! Every reply fits into a line.

use protocol_spec::message::encode_reply;

use super::*;

const MEBIBYTE: usize = 1024 * 1024;

fn fits(reply: Reply) -> bool {
    encode_reply(RequestId(Uuid::nil()), &reply).is_ok()
}

/// Leaves messages as a store does that is older than the limit.
fn remember_messages(world: &mut World, count: usize) {
    for number in 0..count {
        let message = Message {
            request: world.request(),
            text: format!("{number}{}", "\n".repeat(MEBIBYTE - 8)).into(),
            said_at: Timestamp::from_millis(0),
            purpose: Purpose::Note,
            by: None,
        };
        world.machine.remember_message(&world.agent, message);
    }
}

#[test]
fn the_longest_answer_with_all_that_may_wait_fits_into_a_line() {
    let mut world = World::new();
    let control = "\u{1}".repeat(16 * 1024);
    let agent = world.agent.clone();
    world
        .machine
        .remember_wishes(&agent, false, Some(control.as_str().into()));
    let (client, replies) = world.ask("q");
    let cue = asked(&replies);
    for _ in 0..MESSAGES_BYTES_PER_AGENT_MAX / control.len() {
        world.say(&control);
    }
    let longest = "\u{1}".repeat(ANSWER_LINE_BYTES_MAX / 6);
    let (_, refused) = world.answer(cue, &format!("{longest}\u{1}"));
    assert_eq!(failure(&refused).code, ErrorCode::TooLarge);
    let verdict = Verdict::Answer {
        text: longest.clone(),
        answer: Answer {
            text: Some(longest.clone()),
            ..Answer::default()
        },
        redacted: None,
    };
    let (effects, _) = world.decide(cue, verdict, 0);
    let told = told(&replies_to(client, &effects)).clone();
    assert!(told.text.contains(&longest) && told.text.ends_with(&control));
    assert_eq!(world.machine.agent(&agent).unwrap().messages.len(), 0);
    assert!(fits(Reply::Outcome(told)));
}

#[test]
fn messages_wait_up_to_a_limit_of_bytes() {
    let mut world = World::new();
    let (request, text) = (world.request(), "x".repeat(MEBIBYTE));
    world.say_as(request, &text);
    for _ in 1..MESSAGES_BYTES_PER_AGENT_MAX / MEBIBYTE {
        world.say(&text);
    }
    let more = world.request();
    assert_eq!(failure(&world.say_as(more, "y")).code, ErrorCode::Busy);
    assert!(
        matches!(world.say_as(request, &text)[..], [Reply::Said(_)]),
        "sent again it is the same message"
    );
    let reworded = world.edit(QueueEdit::Reword(request, format!("{text}y")));
    assert_eq!(failure(&reworded).code, ErrorCode::Busy);
    let reworded = world.edit(QueueEdit::Reword(request, "shorter".to_owned()));
    assert!(matches!(reworded[..], [Reply::Queue(_)]), "{reworded:?}");
}

#[test]
fn more_messages_than_fit_into_a_line_come_one_outcome_after_the_other() {
    let mut world = World::new();
    remember_messages(&mut world, 40);
    let mut seen = 0;
    for number in 0..40 {
        let (client, replies) = world.ask(&format!("q{number}"));
        let (effects, _) = world.answer(asked(&replies), "yes");
        let mut replies = replies_to(client, &effects);
        let Some(Reply::Outcome(told)) = replies.pop() else {
            break;
        };
        for line in told.text.lines().filter(|line| line.parse::<u32>().is_ok()) {
            assert_eq!(line, seen.to_string());
            seen += 1;
        }
        world.ack(told.cue_id);
        assert!(fits(Reply::Outcome(told)));
    }
    assert_eq!(seen, 40, "all of them came, the oldest first");
}

#[test]
fn more_outcomes_than_fit_into_a_line_come_one_mailbox_after_the_other() {
    let mut world = World::new();
    let long = "\n".repeat(12 * MEBIBYTE);
    let cues = ["a", "b", "c", "d"].map(|prompt| {
        let (client, replies) = world.ask(prompt);
        world.leave(client);
        asked(&replies)
    });
    for cue in cues {
        world.answer(cue, &long);
    }
    let (_, replies) = world.ask("e");
    let first = mailbox(&replies).clone();
    let questions =
        |told: &[DeliveredOutcome]| told.iter().map(|told| told.question.clone()).collect::<Vec<_>>();
    assert_eq!(questions(&first.earlier), ["a", "b"]);
    for told in &first.earlier {
        world.ack(told.cue_id);
    }
    assert!(fits(Reply::Mailbox(first)));
    let request = world.request();
    let second = collect(&mut world, request, false);
    assert_eq!(questions(&second.earlier), ["c", "d"]);
    assert!(second.earlier.iter().all(|told| told.repeat_of.is_none()));
    assert!(fits(Reply::Collected(second)));
}

#[test]
fn no_reply_hands_over_more_than_can_be_acknowledged_at_once() {
    let mut world = World::new();
    for number in 0..LIVE_CUES_PER_AGENT_MAX {
        let (client, _) = world.ask(&format!("q{number}"));
        world.leave(client);
    }
    let open: Vec<CueId> = world.machine.live_cues().map(|(id, _)| id).collect();
    for cue in open {
        world.answer(cue, "yes");
    }
    world.say("and this");
    let request = world.request();
    let first = collect(&mut world, request, false);
    assert_eq!(first.earlier.len(), ACKS_MAX);
    assert!(first.messages.is_none());
    for told in first.earlier {
        world.ack(told.cue_id);
    }
    let request = world.request();
    assert_eq!(collect(&mut world, request, false).earlier.len(), 1);
}
