//! Two brokers with one store: a decision at one of them reaches the callers that wait at the other.

use super::*;

/// Returns the machine as another broker loads it from the store, without waiting callers.
fn stored(world: &World, elsewhere: u32) -> Machine {
    let mut machine = Machine::default();
    let agent = world.machine.agent(&world.agent).unwrap();
    machine.remember_agent(agent.id.clone(), agent.runtime.clone(), agent.newest);
    machine.remember_wishes(&agent.id, agent.is_archived, agent.standing.clone());
    for message in &agent.messages {
        machine.remember_message(&agent.id, message.clone());
    }
    for (id, cue) in agent.cues() {
        let cue = Cue {
            here: 0,
            elsewhere,
            detached: (elsewhere == 0).then_some((0, Timestamp::from_millis(0))),
            ..cue.clone()
        };
        machine.remember(id, cue);
    }
    machine
}

fn take_in(world: &mut World, loaded: Machine) -> Vec<Effect> {
    let now = Now {
        wall: Timestamp::from_millis(1_800_000_000_000),
        steady: world.millis,
    };
    let agent = world.agent.clone();
    world.machine.replace(now, &[agent], loaded)
}

/// Two brokers that both know one question; a caller waits for it at the first.
fn two_brokers() -> (World, World, CueId, Ticket) {
    let mut here = World::new();
    let (ticket, replies) = here.ask("Which port?");
    let cue = asked(&replies);
    let mut there = World::new();
    // Requests of the two are told apart.
    there.drawn = 1000;
    let loaded = stored(&here, 1);
    take_in(&mut there, loaded);
    (here, there, cue, ticket)
}

#[test]
fn what_is_answered_at_one_broker_is_handed_to_who_waits_at_the_other_and_once() {
    let (mut here, mut there, cue, ticket) = two_brokers();
    let (_, decided) = there.answer(cue, "8080");
    assert!(
        matches!(&decided[..], [Reply::Decided(decided)] if decided.handed_to == 1),
        "{decided:?}"
    );
    let loaded = stored(&there, 0);
    let effects = take_in(&mut here, loaded);
    let told = replies_to(ticket, &effects);
    assert!(
        matches!(&told[..], [Reply::Outcome(told)] if told.text == "8080" && told.repeat_of.is_none()),
        "{told:?}"
    );
    assert!(
        effects
            .iter()
            .any(|effect| matches!(effect, Effect::Store(Change::Hand { cue: handed }) if *handed == cue)),
        "{effects:?}"
    );
    // Another change of the same agent delivers nothing again.
    let loaded = stored(&here, 0);
    let effects = take_in(&mut here, loaded);
    assert!(replies_to(ticket, &effects).is_empty(), "{effects:?}");
}

#[test]
fn an_answer_that_can_be_taken_back_is_held_at_every_broker() {
    let (mut here, mut there, cue, ticket) = two_brokers();
    let verdict = Verdict::Answer {
        text: "8080".into(),
        answer: Answer::default(),
        redacted: None,
    };
    there.decide(cue, verdict, 5_000);
    let loaded = stored(&there, 0);
    let effects = take_in(&mut here, loaded);
    assert!(replies_to(ticket, &effects).is_empty(), "{effects:?}");
    // Either of them can release it when it is due; here it is this one.
    here.millis += 5_000;
    let effects = here.handle(Input::Tick);
    let told = replies_to(ticket, &effects);
    assert!(matches!(&told[..], [Reply::Outcome(_)]), "{told:?}");
}

#[test]
fn somebody_who_waits_elsewhere_keeps_a_question_from_being_left_behind() {
    let (here, mut there, cue, _) = two_brokers();
    assert_eq!(there.machine.waiting(cue).map(|waiting| waiting.clients), Some(1));
    // The agent asks something else through the other broker, and the caller keeps waiting for the first question.
    let (ticket, _) = there.ask("Which host?");
    there.handle(Input::Gone { ticket });
    there.millis += SUPERSEDED_AFTER_MS + 1;
    there.handle(Input::Tick);
    assert!(matches!(there.machine.cue(cue).unwrap().state, State::Open));
    // Its broker died with all of its callers.
    let loaded = stored(&here, 0);
    let effects = take_in(&mut there, loaded);
    assert!(
        effects
            .iter()
            .any(|effect| matches!(effect, Effect::Presence { waiting: 0, .. })),
        "{effects:?}"
    );
}

#[test]
fn an_agent_that_is_gone_elsewhere_is_gone_here() {
    let (mut here, _, cue, ticket) = two_brokers();
    take_in(&mut here, Machine::default());
    assert!(!here.machine.knows(cue) && !here.machine.is_waiting(ticket));
    assert!(!here.machine.has_agent(&here.agent));
}

#[test]
fn agents_that_nobody_changed_stay_as_they_are() {
    let (mut here, _, cue, ticket) = two_brokers();
    let now = Now {
        wall: Timestamp::from_millis(0),
        steady: 0,
    };
    let effects = here
        .machine
        .replace(now, &[AgentId::from_random(7)], Machine::default());
    assert!(effects.is_empty(), "{effects:?}");
    assert!(here.machine.knows(cue) && here.machine.is_waiting(ticket));
}
