//! Actions of humans other than answers, and the rendering of their messages.

use super::*;

impl World {
    pub(super) fn edit(&mut self, edit: QueueEdit) -> Vec<Reply> {
        let ticket = Ticket(self.draw());
        let agent = self.agent.clone();
        let effects = self.handle(Input::EditQueue { ticket, agent, edit });
        replies_to(ticket, &effects)
    }
}

#[test]
fn whatever_a_human_does_starts_the_rounds_anew() {
    type Act = fn(&mut World);
    let acts: [(&str, Act); 4] = [
        ("say", |world| {
            world.say("soon");
        }),
        ("edit", |world| {
            world.edit(QueueEdit::Reorder(Vec::new()));
        }),
        ("decide", |world| {
            world.answer(CueId::from_random(99), "no such question");
        }),
        ("undo", |world| {
            let cue = CueId::from_random(99);
            world.handle(Input::Undo {
                ticket: Ticket(99),
                cue,
            });
        }),
    ];
    for (name, act) in acts {
        let mut world = World::new();
        let request = world.request();
        let (_, replies) = world.ask_as(request, Kind::Pause, "q", None);
        let cue = asked(&replies);
        assert_eq!((world.rest(cue).0, world.rest(cue).0), (1, 2));
        act(&mut world);
        assert_eq!(world.rest(cue).0, 1, "{name}");
    }
}

#[test]
fn messages_are_reworded_reordered_and_taken_back_until_the_agent_has_them() {
    let mut world = World::new();
    let [one, two, three] = ["one", "two", "three"].map(|text| world.say(text));
    let order = |replies: &[Reply]| match replies {
        [Reply::Queue(queue)] => queue.messages.clone(),
        other => panic!("{other:?}"),
    };
    let reordered = world.edit(QueueEdit::Reorder(vec![three, one, two]));
    assert_eq!(order(&reordered), [three, one, two]);
    for wrong in [vec![one, two], vec![one, one, two], vec![one, two, three, one]] {
        assert_eq!(
            failure(&world.edit(QueueEdit::Reorder(wrong))).code,
            ErrorCode::Stale
        );
    }
    let taken_back = world.edit(QueueEdit::Delete(two));
    assert_eq!(order(&taken_back), [three, one]);
    world.edit(QueueEdit::Reword(three, "third".into()));
    world.edit(QueueEdit::Reword(one, "first".into()));
    let (client, replies) = world.ask("q");
    let (effects, _) = world.answer(asked(&replies), "yes");
    let replies = replies_to(client, &effects);
    let text = &told(&replies).text;
    assert!(
        text.contains("]\nthird\n") && text.ends_with("]\nfirst\n\n[answer]\nyes"),
        "{text}"
    );
    for edit in [QueueEdit::Delete(one), QueueEdit::Reword(one, "late".into())] {
        assert_eq!(failure(&world.edit(edit)).code, ErrorCode::NotFound);
    }
}

#[test]
fn a_message_sent_twice_is_one_and_too_many_are_refused() {
    let mut world = World::new();
    let said = |replies: &[Reply]| match replies {
        [Reply::Said(said)] => (said.queued, said.open_cue),
        other => panic!("{other:?}"),
    };
    let request = world.request();
    let (_, replies) = world.ask_as(request, Kind::Pause, "q", None);
    let open = Some(asked(&replies));
    let key = world.request();
    assert_eq!(said(&world.say_as(key, "once")), (1, open));
    assert_eq!(said(&world.say_as(key, "once")), (1, open));
    for _ in 1..MESSAGES_PER_AGENT_MAX {
        world.say("more");
    }
    let another = world.request();
    let refused = world.say_as(another, "too much");
    assert_eq!(failure(&refused).code, ErrorCode::Busy);
    assert_eq!(
        said(&world.say_as(key, "once")).0 as usize,
        MESSAGES_PER_AGENT_MAX
    );
    world.agent = AgentId::from_random(77);
    assert_eq!(
        failure(&world.say_as(key, "hello?")).code,
        ErrorCode::UnknownAgent
    );
}

#[test]
fn an_acknowledged_outcome_takes_no_other_with_it() {
    let mut world = World::new();
    let cues = ["first", "second"].map(|prompt| {
        let (client, replies) = world.ask(prompt);
        world.leave(client);
        asked(&replies)
    });
    for cue in cues {
        world.answer(cue, "yes");
    }
    world.ack(cues[0]);
    let request = world.request();
    let collected = collect(&mut world, request, false);
    let missed: Vec<CueId> = collected.earlier.iter().map(|told| told.cue_id).collect();
    assert_eq!(missed, cues[1..]);
    assert!(collected.closed.is_empty());
}

#[test]
fn a_hook_that_asks_in_the_agents_place_gives_way_to_the_human() {
    let mut world = World::new();
    let request = world.request();
    let (waiting, replies) = world.ask_from(Origin::Hook, request, Kind::Cue, "for the agent", None);
    let hooks = asked(&replies);
    let (_, replies) = world.ask("by the agent");
    asked(&replies);
    world.leave(waiting);
    let request = world.request();
    let (_, replies) = world.ask_from(Origin::Hook, request, Kind::Cue, "still waiting", None);
    let waited = asked(&replies);
    let request = world.request();
    let collected = collect(&mut world, request, true);
    // The question that the hook left needs no delivery; the hook that still waits gets its outcome at once.
    assert_eq!(collected.closed, [hooks]);
    assert!(collected.earlier.is_empty(), "{collected:?}");
    let is_cancelled = |cue: CueId| {
        let cue = world.machine.cue(cue).unwrap();
        cue.state
            .decision()
            .is_some_and(|made| made.outcome == Outcome::Cancelled)
    };
    assert!(is_cancelled(hooks) && is_cancelled(waited));
}

#[test]
fn a_reminder_goes_below_a_decision_and_not_below_a_cancellation() {
    for (verdict, is_reminded) in [
        (answer("yes"), true),
        (Verdict::Decline { reason: None }, true),
        (Verdict::Cancel { reason: None }, false),
    ] {
        let mut world = World::new();
        let (client, replies) = world.ask("q");
        let decide = Decide {
            ticket: Ticket(99),
            request: world.request(),
            cue: asked(&replies),
            verdict,
            by: None,
            hold_ms: 0,
            reminder: Some("ask again".into()),
        };
        let effects = world.handle(Input::Decide(decide));
        let replies = replies_to(client, &effects);
        let reminder = told(&replies).reminder.as_deref();
        assert_eq!(reminder, is_reminded.then_some("ask again"));
    }
}

#[test]
fn the_beginning_of_a_prompt_is_its_first_line_that_says_something() {
    assert_eq!(beginning_of("\n  \n  Which\u{7} port? \nmore"), "Which port?");
    assert_eq!(beginning_of(""), "");
    let exact = "é".repeat(80);
    assert_eq!(beginning_of(&exact), exact);
    assert_eq!(beginning_of(&format!("{exact}é")), format!("{exact}…"));
}

#[test]
fn only_an_acknowledgement_that_removes_a_secret_erases() {
    let is_erasure = |effect: &Effect| matches!(effect, Effect::Store(change) if change.erases());
    for (redacted, erases) in [(None, false), (Some(("***".into(), Answer::default())), true)] {
        let mut world = World::new();
        let (_, replies) = world.ask("q");
        let cue = asked(&replies);
        let verdict = Verdict::Answer {
            text: "hush".into(),
            answer: Answer::default(),
            redacted,
        };
        let (effects, _) = world.decide(cue, verdict, 0);
        assert!(!effects.iter().any(is_erasure));
        let effects = world.handle(Input::Ack {
            ticket: Ticket(99),
            cues: vec![cue],
            nonce: None,
        });
        assert_eq!(effects.iter().any(is_erasure), erases);
    }
}
