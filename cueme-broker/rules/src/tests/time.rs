//! The effects of time on questions and answers.

use super::*;

const TEN_MINUTES: u64 = 600_000;

#[test]
fn a_question_is_left_behind_ten_minutes_after_the_last_client_left() {
    let mut world = World::new();
    let (one, replies) = world.ask("old");
    let (two, _) = world.ask("old");
    let old = asked(&replies);
    world.leave(one);
    world.ask("new");
    let waiting = |world: &World| world.machine.waiting(old).unwrap();
    assert!(!world.machine.is_waiting(one) && world.machine.is_waiting(two));
    assert_eq!((waiting(&world).clients, waiting(&world).detached_at), (1, None));
    world.pass(1000);
    world.leave(two);
    assert_eq!(waiting(&world).clients, 0);
    assert_eq!(
        waiting(&world).detached_at,
        Some(Timestamp::from_millis(1_800_000_001_000))
    );
    world.pass(TEN_MINUTES - 1);
    assert!(matches!(world.machine.cue(old).unwrap().state, State::Open));
    world.pass(1);
    assert!(matches!(world.machine.cue(old).unwrap().state, State::Superseded));
}

#[test]
fn the_ten_minutes_begin_again_when_somebody_came_back() {
    let mut world = World::new();
    let (client, replies) = world.ask("old");
    let old = asked(&replies);
    world.leave(client);
    world.ask("new");
    world.pass(1000);
    let (client, _) = world.ask("old");
    world.pass(1000);
    world.leave(client);
    world.pass(TEN_MINUTES - 2000);
    assert!(matches!(world.machine.cue(old).unwrap().state, State::Open));
    assert_eq!(world.machine.next_due(), Some(TEN_MINUTES + 2000));
    world.pass(2000);
    assert!(matches!(world.machine.cue(old).unwrap().state, State::Superseded));
}

#[test]
fn an_answer_is_held_for_ten_minutes_at_most_and_says_until_when() {
    let mut world = World::new();
    let (client, replies) = world.ask("q");
    world.pass(7);
    let (_, replies) = world.decide(asked(&replies), answer("yes"), u64::MAX);
    let [Reply::Decided(decided)] = &replies[..] else {
        panic!("{replies:?}")
    };
    assert_eq!(
        (decided.released_at, decided.handed_to),
        (Some(Timestamp::from_millis(1_800_000_600_007)), 1)
    );
    assert_eq!(world.machine.next_due(), Some(TEN_MINUTES + 7));
    assert!(replies_to(client, &world.pass(TEN_MINUTES - 1)).is_empty());
    assert_eq!(told(&replies_to(client, &world.pass(1))).text, "yes");
}

#[test]
fn a_decision_that_was_taken_back_does_not_release_the_next_one_early() {
    let mut world = World::new();
    let (client, replies) = world.ask("q");
    let cue = asked(&replies);
    world.decide(cue, answer("hasty"), 5000);
    world.pass(1000);
    world.handle(Input::Undo {
        ticket: Ticket(99),
        cue,
    });
    world.decide(cue, answer("considered"), 5000);
    assert!(replies_to(client, &world.pass(4000)).is_empty());
    assert_eq!(world.machine.next_due(), Some(6000));
    assert_eq!(told(&replies_to(client, &world.pass(1000))).text, "considered");
}

#[test]
fn a_reminder_of_an_answer_that_was_taken_back_leaves_the_question_open() {
    let mut world = World::new();
    let (client, replies) = world.ask("q");
    let cue = asked(&replies);
    world.leave(client);
    world.decide(cue, answer("hasty"), TEN_MINUTES);
    world.handle(Input::Undo {
        ticket: Ticket(99),
        cue,
    });
    world.pass(TEN_MINUTES);
    assert!(matches!(world.machine.cue(cue).unwrap().state, State::Open));
}
