//! The broker's automatic actions are stored, and counted.

use cueme_broker::engine::{DiskReserve, Work};
use cueme_store::{Notified, POLICY_PREFIX, Records, StoreError};
use protocol_spec::id::CueId;
use protocol_spec::time::Timestamp;

use crate::{Little, WALL_MS};

use crate::place::{AnyPlace, on_every_store};

on_every_store!(
    open_questions_and_answers_of_rules_are_unread_until_they_were_seen_or_taken_back,
    a_rule_tries_a_question_once_and_its_uses_are_counted,
    answers_of_rules_in_a_row_are_counted_back_to_the_last_of_a_human,
    what_was_sent_is_known_until_it_is_taken_back,
);

fn open_questions_and_answers_of_rules_are_unread_until_they_were_seen_or_taken_back(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let agent = broker.join();
    let reader = crate::open_reader(database);
    let rule = format!("{POLICY_PREFIX}tests");
    let unread = || reader.agent_rows(Some(&agent)).unwrap()[0].unread;
    let [first, second, third] =
        ["first?", "second?", "third?"].map(|prompt| broker.ask_this(&agent, prompt));
    assert_eq!(unread(), 3);
    broker.answer(first, "by a human", 0);
    assert_eq!(unread(), 2);
    broker.answer_by(second, "by a rule", 5000, Some(rule.clone()));
    assert_eq!(unread(), 2);
    broker.say(Work::Undo(second));
    broker.answer(second, "by a human", 0);
    assert_eq!(unread(), 1);
    broker.answer_by(third, "by a rule", 0, Some(rule.clone()));
    assert_eq!(unread(), 1);
    broker
        .core
        .write(broker.now, DiskReserve::Keep, |store| {
            store.mark_read(&agent, i64::MAX)
        })
        .unwrap();
    assert_eq!(unread(), 0);
}

fn a_rule_tries_a_question_once_and_its_uses_are_counted(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let agent = broker.join();
    let [first, second] = ["first?", "second?"].map(|prompt| broker.ask_this(&agent, prompt));
    let reader = crate::open_reader(database);
    let mut claim = |cue: CueId, at: i64| {
        let claimed = broker.core.write(broker.now, DiskReserve::Keep, |store| {
            store.claim_for_policy(cue, "tests", Timestamp::from_millis(at))
        });
        claimed.unwrap()
    };
    assert_eq!(reader.policy_use("tests").unwrap(), (0, None));
    assert!(!reader.is_claimed(first).unwrap());
    assert!(claim(first, 7));
    assert!(!claim(first, 8));
    assert!(claim(second, 9));
    assert!(reader.is_claimed(first).unwrap());
    assert_eq!(
        reader.policy_use("tests").unwrap(),
        (2, Some(Timestamp::from_millis(9)))
    );
    assert_eq!(reader.policy_use("others").unwrap(), (0, None));
}

fn answers_of_rules_in_a_row_are_counted_back_to_the_last_of_a_human(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let (agent, other) = (broker.join(), broker.join());
    let reader = crate::open_reader(database);
    let in_a_row = || reader.automatic_in_a_row(&agent).unwrap();
    let rule = || Some(format!("{POLICY_PREFIX}tests"));
    for (by, expected) in [(rule(), 1), (rule(), 2), (None, 0), (rule(), 1)] {
        let cue = broker.ask(&agent);
        broker.answer_by(cue, "yes", 0, by);
        broker.acknowledge(cue);
        assert_eq!(in_a_row(), expected);
    }
    let cue = broker.ask(&other);
    broker.answer_by(cue, "yes", 0, rule());
    assert_eq!(in_a_row(), 1);
}

fn what_was_sent_is_known_until_it_is_taken_back(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let agent = broker.join();
    let cue = broker.ask(&agent);
    let reader = crate::open_reader(database);
    let sent = |reference: Option<&str>| Notified {
        cue,
        channel: "phone".into(),
        reference: reference.map(str::to_owned),
    };
    let mut write = |change: &(dyn Fn(&dyn Records) -> Result<bool, StoreError> + Sync)| {
        let written = broker
            .core
            .write(broker.now, DiskReserve::Keep, |store| change(store));
        written.unwrap()
    };
    let claim = |store: &dyn Records| store.claim_notice(cue, "phone", Timestamp::from_millis(1));
    assert!(write(&claim));
    assert!(!write(&claim), "only one claims it");
    assert_eq!(reader.notified().unwrap(), [sent(None)]);
    assert!(write(&|store| store.keep_reference(cue, "phone", "17")));
    assert_eq!(reader.notices_on("phone").unwrap(), [sent(Some("17"))]);
    assert_eq!(reader.notice(cue, "desk").unwrap(), None);
    write(&|store| store.forget_notice(cue, "phone").map(|()| true));
    assert!(
        !write(&|store| store.keep_reference(cue, "phone", "18")),
        "what is withdrawn stays so"
    );
    assert_eq!(reader.notified().unwrap(), []);
}
