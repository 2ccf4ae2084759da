//! All live state survives a restart.

use std::path::Path;

use cueme_broker::engine::{DiskReserve, Order, Work};
use cueme_rules::{Amendment, QueueEdit, Ticket};
use cueme_store::{HistoryQuery, StoreError};
use protocol_spec::answer::{self, Answer, FieldAnswer};
use protocol_spec::id::{AgentId, CueId, RequestId};
use protocol_spec::message::{DeliveredOutcome, Purpose, Reply};
use protocol_spec::outcome::{Kind, Origin, Outcome};
use protocol_spec::time::Timestamp;
use uuid::Uuid;

use crate::{Little, WALL_MS};

use crate::place::{AnyPlace, on_every_store};

on_every_store!(
    messages_wait_in_their_order_and_as_they_were_reworded,
    an_answer_that_is_taken_back_gives_the_messages_back_that_went_into_it,
    what_a_human_wants_of_an_agent_is_remembered,
    a_call_that_is_repeated_means_its_question_and_the_answer_is_marked_as_told_before,
    a_conversation_finds_its_agent_again,
    whoever_waited_when_the_storage_failed_is_told_all_the_same,
    what_was_left_behind_before_a_restart_is_superseded_after_it,
    a_message_that_was_delivered_is_not_left_again_by_the_same_call,
    a_queued_answer_survives_a_restart_and_its_question_counts_as_unread,
    since_when_nobody_listens_survives_a_restart,
);

impl Little {
    /// Leaves a note, and returns its key.
    fn leave(&mut self, agent: &AgentId, text: &str) -> RequestId {
        self.leave_for(Purpose::Note, agent, text)
    }

    fn leave_for(&mut self, purpose: Purpose, agent: &AgentId, text: &str) -> RequestId {
        let key = RequestId(Uuid::new_v4());
        let work = Work::Say {
            agent: agent.clone(),
            text: text.into(),
            purpose,
            by: Some("phone".into()),
        };
        self.say_as(key, work);
        key
    }

    /// Carries out what ends with an outcome, and returns that.
    fn told(&mut self, work: Work) -> DeliveredOutcome {
        self.told_as(RequestId(Uuid::new_v4()), work)
    }

    fn told_as(&mut self, request: RequestId, work: Work) -> DeliveredOutcome {
        let replies = self.say_as(request, work);
        let outcome = replies.iter().find_map(|(_, reply)| match &**reply {
            Reply::Outcome(told) => Some(told.clone()),
            _ => None,
        });
        outcome.unwrap_or_else(|| panic!("{replies:?}"))
    }
}

fn plain(agent: &AgentId, prompt: &str) -> Work {
    Work::ask(agent.clone(), Kind::Cue, prompt.into(), None, Origin::Agent)
}

fn messages_wait_in_their_order_and_as_they_were_reworded(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let agent = broker.join();
    let [one, two, three] = ["one", "two", "three"].map(|text| broker.leave(&agent, text));
    for edit in [
        QueueEdit::Reorder(vec![three, one, two]),
        QueueEdit::Reword(one, "first".into()),
        QueueEdit::Delete(two),
    ] {
        let agent = agent.clone();
        broker.say(Work::EditQueue { agent, edit });
    }
    broker.leave(&agent, "four");
    let waiting = || {
        let rows = crate::open_reader(database).messages(&agent).unwrap();
        rows.into_iter()
            .map(|row| (row.request, row.text, row.by, row.at))
            .collect::<Vec<_>>()
    };
    let before = waiting();
    let texts: Vec<&str> = before.iter().map(|(_, text, ..)| text.as_str()).collect();
    assert_eq!(texts, ["three", "first", "four"]);
    let told = (
        three,
        "three".to_owned(),
        Some("phone".to_owned()),
        Timestamp::from_millis(WALL_MS),
    );
    assert_eq!(before[0], told);
    drop(broker);
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let cue = broker.ask(&agent);
    broker.answer(cue, "8080", 0);
    let text = broker.told(Work::Attach(cue)).text;
    let places: Vec<_> = texts.iter().map(|message| text.find(message)).collect();
    assert!(places.iter().all(Option::is_some), "{text}");
    assert!(places.is_sorted(), "{text}");
    assert!(!text.contains("two"), "{text}");
    assert_eq!(waiting(), []);
}

fn an_answer_that_is_taken_back_gives_the_messages_back_that_went_into_it(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let agent = broker.join();
    let cue = broker.ask(&agent);
    broker.leave(&agent, "mind the gap");
    broker.answer(cue, "8080", 5000);
    let waiting = || crate::open_reader(database).messages(&agent).unwrap().len();
    assert_eq!(waiting(), 0);
    drop(broker);
    let mut broker = Little::open(database, WALL_MS).unwrap();
    broker.say(Work::Undo(cue));
    assert_eq!(waiting(), 1);
    broker.answer(cue, "8081", 0);
    let text = broker.told(Work::Attach(cue)).text;
    assert!(text.contains("mind the gap") && text.contains("8081"), "{text}");
}

fn what_a_human_wants_of_an_agent_is_remembered(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let agent = broker.join();
    let amendment = Amendment {
        name: Some(Some("Otter".into())),
        pinned: Some(true),
        archived: Some(true),
        standing: Some(Some("be brief".into())),
    };
    let work = Work::Amend {
        agent: agent.clone(),
        amendment,
    };
    broker.say(work);
    drop(broker);
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let reader = crate::open_reader(database);
    let wishes = || {
        let row = reader.agent_rows(Some(&agent)).unwrap().swap_remove(0);
        (row.name, row.pinned, row.archived, row.standing)
    };
    let (name, standing) = (Some("Otter".to_owned()), Some("be brief".to_owned()));
    assert_eq!(wishes(), (name.clone(), true, true, standing.clone()));
    // It is in sight again as soon as it asks.
    let cue = broker.ask(&agent);
    assert_eq!(wishes(), (name, true, false, standing));
    broker.answer(cue, "8080", 0);
    let text = broker.told(Work::Attach(cue)).text;
    assert!(text.contains("be brief"), "{text}");
}

fn a_call_that_is_repeated_means_its_question_and_the_answer_is_marked_as_told_before(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let agent = broker.join();
    let call = RequestId(Uuid::new_v4());
    let asked = |replies: Vec<(_, Box<Reply>)>| match *replies.into_iter().next().unwrap().1 {
        Reply::Asked(asked) => asked.cue_id,
        other => panic!("{other:?}"),
    };
    let cue = asked(broker.say_as(call, plain(&agent, "Which port?")));
    drop(broker);
    let mut broker = Little::open(database, WALL_MS).unwrap();
    assert_eq!(asked(broker.say_as(call, plain(&agent, "Which port?"))), cue);
    broker.answer(cue, "8080", 0);
    drop(broker);
    // It was delivered and not acknowledged.
    let mut broker = Little::open(database, WALL_MS + 1).unwrap();
    let told = broker.told(plain(&agent, "Which port?"));
    assert_eq!(
        (told.cue_id, told.outcome, told.repeat_of, told.decided_at),
        (
            cue,
            Outcome::Answered,
            Some(Timestamp::from_millis(WALL_MS)),
            Timestamp::from_millis(WALL_MS)
        )
    );
    broker.acknowledge(cue);
    drop(broker);
    // Once it has arrived, only the same call still means it.
    let mut broker = Little::open(database, WALL_MS + 2).unwrap();
    assert_ne!(broker.ask(&agent), cue);
    assert_eq!(broker.told_as(call, plain(&agent, "Which port?")).cue_id, cue);
}

fn a_conversation_finds_its_agent_again(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let join = |broker: &mut Little, session: &str| {
        let work = Work::Join {
            runtime: "cursor".parse().unwrap(),
            project_dir: "/p".into(),
            terminal: "sh".into(),
            session: Some(session.into()),
        };
        match &*broker.say(work)[0].1 {
            Reply::Joined(joined) => joined.agent_id.clone(),
            other => panic!("{other:?}"),
        }
    };
    let [one, two] = ["chat-1", "chat-2"].map(|session| join(&mut broker, session));
    assert_ne!(one, two);
    drop(broker);
    let mut broker = Little::open(database, WALL_MS).unwrap();
    assert_eq!(join(&mut broker, "chat-1"), one);
    let bind = Work::Bind {
        agent: two.clone(),
        session: "chat-1".into(),
    };
    broker.say(bind);
    assert_eq!(join(&mut broker, "chat-1"), two);
    let reader = crate::open_reader(database);
    assert_eq!(reader.session_of_agent(&two).unwrap().as_deref(), Some("chat-1"));
    assert_eq!(reader.session_of_agent(&one).unwrap(), None);
}

fn whoever_waited_when_the_storage_failed_is_told_all_the_same(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let agent = broker.join();
    let cue = broker.ask(&agent);
    let client = Ticket(broker.tickets);
    let failed: Result<(), StoreError> = broker.core.write(broker.now, DiskReserve::Keep, |_| {
        Err(StoreError::NoSpace {
            path: "/cueme.db".into(),
        })
    });
    assert!(failed.is_err());
    assert_eq!(broker.core.machine().counts().waiting, 1);
    let answer = Answer {
        text: Some("8080".into()),
        ..Answer::default()
    };
    let replies = broker.say(Work::Answer {
        cue,
        answer,
        by: None,
        hold_ms: 0,
    });
    let is_told =
        |(ticket, reply): &(Ticket, Box<Reply>)| *ticket == client && matches!(**reply, Reply::Outcome(_));
    assert!(replies.iter().any(is_told), "{replies:?}");
}

#[test]
fn whoever_left_while_the_storage_failed_does_not_wait_when_it_works_again() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("cueme.db");
    let mut broker = Little::open(&database, WALL_MS).unwrap();
    let agent = broker.join();
    let cue = broker.ask(&agent);
    let client = Ticket(broker.tickets);
    let other = broker.join();
    broker.ask(&other);
    // A directory in the place of the file cannot be opened.
    let aside = directory.path().join("aside.db");
    std::fs::rename(&database, &aside).unwrap();
    std::fs::create_dir(&database).unwrap();
    let replies = broker.say(Work::Say {
        agent: agent.clone(),
        text: "hello".into(),
        purpose: Purpose::Note,
        by: None,
    });
    assert!(matches!(*replies[0].1, Reply::Error(_)), "{replies:?}");
    let gone = Order {
        ticket: client,
        request: RequestId(Uuid::nil()),
        work: Work::Gone,
    };
    broker.core.carry_out(broker.now, [gone]);
    std::fs::remove_dir(&database).unwrap();
    std::fs::rename(&aside, &database).unwrap();
    broker.join();
    assert!(!broker.core.machine().is_waiting(client));
    assert_eq!(
        broker.core.machine().counts().waiting,
        1,
        "only the other one waits"
    );
    // So the answer is kept for the next caller.
    broker.answer(cue, "8080", 0);
    let replies = broker.say(Work::ask(
        agent,
        Kind::Cue,
        "Another?".into(),
        None,
        Origin::Agent,
    ));
    assert!(matches!(*replies[0].1, Reply::Mailbox(_)), "{replies:?}");
}

const SECRET: &str = "correct-horse-battery";

/// Asks for a password and answers with one; returns the question.
pub(crate) fn answer_with_secret(broker: &mut Little) -> CueId {
    const PAYLOAD: &str = r#"{"type":"form","fields":[{"label":"Key","kind":"password"}]}"#;
    let agent = broker.join();
    let work = Work::ask(
        agent,
        Kind::Cue,
        "Key?".into(),
        Some(PAYLOAD.into()),
        Origin::Agent,
    );
    let Reply::Asked(asked) = &*broker.say(work)[0].1 else {
        panic!("not asked")
    };
    let field = FieldAnswer {
        label: "Key".into(),
        values: vec![SECRET.into()],
        other: None,
    };
    let answer = Answer {
        reply: Some(answer::Reply::Form { fields: vec![field] }),
        ..Answer::default()
    };
    let (cue, by, hold_ms) = (asked.cue_id, None, 0);
    broker.say(Work::Answer {
        cue,
        answer,
        by,
        hold_ms,
    });
    cue
}

/// Says whether the secret stands in one of the files of a directory.
pub(crate) fn is_on_disk(directory: &Path) -> bool {
    let files = std::fs::read_dir(directory).unwrap();
    files
        .map(|file| std::fs::read(file.unwrap().path()).unwrap())
        .any(|bytes| {
            bytes
                .windows(SECRET.len())
                .any(|window| window == SECRET.as_bytes())
        })
}

#[test]
fn a_secret_is_nowhere_on_the_disk_once_the_agent_has_it() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("cueme.db");
    let mut broker = Little::open(&database, WALL_MS).unwrap();
    let cue = answer_with_secret(&mut broker);
    let is_on_disk = || is_on_disk(directory.path());
    assert!(broker.told(Work::Attach(cue)).text.contains(SECRET));
    assert!(is_on_disk(), "until then it must not be lost");
    broker.acknowledge(cue);
    assert!(!is_on_disk());
}

fn what_was_left_behind_before_a_restart_is_superseded_after_it(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let agent = broker.join();
    let [old, new] = ["Old?", "New?"].map(|prompt| broker.ask_this(&agent, prompt));
    drop(broker);
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let reader = crate::open_reader(database);
    let outcomes = || [old, new].map(|cue| reader.cue(cue).unwrap().unwrap().outcome);
    broker.pass(599_999);
    broker.say(Work::Tick);
    assert_eq!(outcomes(), [Outcome::Open, Outcome::Open]);
    broker.pass(1);
    broker.say(Work::Tick);
    assert_eq!(outcomes(), [Outcome::Superseded, Outcome::Open]);
}

fn a_message_that_was_delivered_is_not_left_again_by_the_same_call(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let (agent, other) = (broker.join(), broker.join());
    let key = broker.leave_for(Purpose::QueuedAnswer, &agent, "mind the gap");
    let told = broker.told(plain(&agent, "Which port?"));
    broker.acknowledge(told.cue_id);
    for (agent, is_said) in [(&agent, true), (&other, false)] {
        let work = Work::Say {
            agent: agent.clone(),
            text: "mind the gap".into(),
            purpose: Purpose::Note,
            by: None,
        };
        let replies = broker.say_as(key, work);
        assert_eq!(matches!(*replies[0].1, Reply::Said(_)), is_said, "{replies:?}");
        assert!(crate::open_reader(database).messages(agent).unwrap().is_empty());
    }
}

fn a_queued_answer_survives_a_restart_and_its_question_counts_as_unread(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let agent = broker.join();
    broker.leave_for(Purpose::QueuedAnswer, &agent, "go on");
    broker.leave(&agent, "mind the gap");
    drop(broker);
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let reader = crate::open_reader(database);
    let purposes: Vec<_> = reader
        .messages(&agent)
        .unwrap()
        .iter()
        .map(|row| row.purpose)
        .collect();
    assert_eq!(purposes, [Purpose::QueuedAnswer, Purpose::Note]);
    let told = broker.told(plain(&agent, "Which port?"));
    assert!(
        told.text.starts_with("[the human has not seen this question"),
        "{}",
        told.text
    );
    let row = reader.cue_row(told.cue_id).unwrap().unwrap();
    assert!(row.from_queue && row.by.as_deref() == Some("phone"), "{row:?}");
    let unread = reader.agent_rows(Some(&agent)).unwrap()[0].unread;
    assert_eq!(unread, 1, "nobody has seen that question");
    assert!(reader.cue(told.cue_id).unwrap().unwrap().from_queue);
}

fn since_when_nobody_listens_survives_a_restart(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let agent = broker.join();
    let cue = broker.ask(&agent);
    let client = Ticket(broker.tickets);
    let gone = Order {
        ticket: client,
        request: RequestId(Uuid::nil()),
        work: Work::Gone,
    };
    let now = broker.now;
    broker.core.carry_out(now, [gone]);
    drop(broker);
    let mut broker = Little::open(database, WALL_MS + 600_000).unwrap();
    let since = |broker: &Little| broker.core.machine().waiting(cue).unwrap().detached_at;
    assert_eq!(since(&broker), Some(Timestamp::from_millis(WALL_MS)));
    broker.say(Work::Attach(cue));
    assert_eq!(since(&broker), None);
    drop(broker);
    let broker = Little::open(database, WALL_MS + 900_000).unwrap();
    if database.is_shared() {
        assert!(
            since(&broker).is_some(),
            "the others noticed that the broker ended"
        );
        return;
    }
    assert_eq!(
        since(&broker),
        Some(Timestamp::from_millis(WALL_MS + 900_000)),
        "somebody listened until the broker ended"
    );
}

#[test]
fn a_secret_is_gone_when_it_is_acknowledged_while_a_slow_reader_lists_the_past() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("cueme.db");
    let mut broker = Little::open(&database, WALL_MS).unwrap();
    let agent = broker.join();
    let cue = answer_with_secret(&mut broker);
    broker.ask_this(&agent, "Newest?");
    broker.told(Work::Attach(cue));
    let query = HistoryQuery {
        search: None,
        agent: None,
        before: None,
        limit: 10,
    };
    let mut visited = 0;
    let reader = crate::open_reader(&database);
    reader
        .history(&query, &mut |_| {
            // The reader has the newest question and takes its time.
            if visited == 0 {
                broker.acknowledge(cue);
                assert!(!is_on_disk(directory.path()));
            }
            visited += 1;
            true
        })
        .unwrap();
    assert_eq!(visited, 2);
}
