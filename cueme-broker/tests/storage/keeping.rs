//! Drafts, files, settings, devices and tokens are kept as they were given.

use cueme_broker::engine::{DiskReserve, Work};
use cueme_store::{Device, Draft, DraftPlace, Pass, Records, StoreError, Token, Upload};
use protocol_spec::answer::{Answer, Attachment};
use protocol_spec::id::CueId;
use protocol_spec::message::TokenScope;
use protocol_spec::time::Timestamp;

use crate::{Little, WALL_MS};

use crate::place::{AnyPlace, on_every_store};

on_every_store!(
    a_draft_is_not_overwritten_by_who_has_not_seen_it,
    drafts_of_settled_questions_are_thrown_away,
    a_file_belongs_to_the_answer_that_carries_it_until_that_is_taken_back,
    a_file_that_two_answers_carry_survives_the_undo_of_one,
    files_that_nothing_carries_go_after_a_while,
    what_humans_chose_is_kept_by_name,
    browsers_come_in_until_they_are_locked_out,
    a_link_works_once_and_until_it_expires,
    a_token_opens_what_it_was_made_for_until_it_is_revoked,
);

fn write<T: Send>(broker: &mut Little, with: impl Fn(&dyn Records) -> Result<T, StoreError> + Send) -> T {
    let now = broker.now;
    broker.core.write(now, DiskReserve::Keep, with).unwrap()
}

const fn at(milliseconds: i64) -> Timestamp {
    Timestamp::from_millis(milliseconds)
}

fn a_draft_is_not_overwritten_by_who_has_not_seen_it(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let agent = broker.join();
    let cue = broker.ask(&agent);
    let place = DraftPlace::cue(cue);
    let reader = crate::open_reader(database);
    let draft = |rev, body: &str, by: Option<&str>, millis| Draft {
        rev,
        body: body.into(),
        by: by.map(str::to_owned),
        at: at(millis),
    };
    assert_eq!(reader.draft(&place).unwrap(), None);
    let mut keep = |base, body: &str, millis| {
        write(&mut broker, |store| {
            store.keep_draft(&place, base, body, Some("phone"), at(millis))
        })
    };
    let first = draft(1, "a", Some("phone"), 1);
    assert_eq!(keep(0, "a", 1), Ok(first.clone()));
    assert_eq!(keep(0, "b", 2), Err(first.clone()));
    assert_eq!(reader.draft(&place).unwrap(), Some(first));
    let second = draft(2, "b", Some("phone"), 3);
    assert_eq!(keep(1, "b", 3), Ok(second.clone()));
    assert_eq!(reader.draft(&place).unwrap(), Some(second));
    // A sent text becomes the draft, replacing any other.
    let sent = write(&mut broker, |store| store.keep_sent(&place, "c", None, at(4)));
    assert_eq!(sent, draft(3, "c", None, 4));
    assert_eq!(reader.draft(&DraftPlace::agent(&agent)).unwrap(), None);
    write(&mut broker, |store| store.drop_draft(&place));
    assert_eq!(reader.draft(&place).unwrap(), None);
}

fn drafts_of_settled_questions_are_thrown_away(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let agent = broker.join();
    let [open, settled] = ["Open?", "Settled?"].map(|prompt| broker.ask_this(&agent, prompt));
    broker.answer(settled, "yes", 0);
    broker.acknowledge(settled);
    let places = [
        DraftPlace::cue(open),
        DraftPlace::cue(settled),
        DraftPlace::agent(&agent),
    ];
    write(&mut broker, |store| {
        for place in &places {
            store.keep_sent(place, "begun", None, at(1))?;
        }
        store.drop_settled_drafts()
    });
    let reader = crate::open_reader(database);
    let is_kept = places.map(|place| reader.draft(&place).unwrap().is_some());
    assert_eq!(is_kept, [true, false, true]);
}

fn upload(name: &str, bytes: u64) -> Upload {
    Upload {
        upload_id: name.into(),
        path: format!("/files/{name}"),
        name: format!("{name}.png"),
        media_type: "image/png".into(),
        bytes,
        cue_ids: Vec::new(),
    }
}

fn answer_with_file(broker: &mut Little, cue: CueId, path: &str) {
    let answer = Answer {
        attachments: vec![Attachment {
            path: path.into(),
            name: None,
            media_type: None,
        }],
        ..Answer::default()
    };
    broker.say(Work::Answer {
        cue,
        answer,
        by: None,
        hold_ms: 5000,
    });
}

fn a_file_belongs_to_the_answer_that_carries_it_until_that_is_taken_back(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let agent = broker.join();
    let cue = broker.ask(&agent);
    let reader = crate::open_reader(database);
    assert_eq!(reader.upload_bytes().unwrap(), 0);
    let file = upload("one", 7);
    write(&mut broker, |store| store.add_upload(&file, at(1)));
    // Noted once more it stays what it was.
    let other = Upload {
        bytes: 9,
        ..file.clone()
    };
    write(&mut broker, |store| {
        store.note_uploads(&[other.clone(), upload("two", 5)], at(1))
    });
    assert_eq!(reader.upload("one").unwrap(), Some(file.clone()));
    assert_eq!(reader.upload_at("/files/one").unwrap(), Some(file.clone()));
    assert_eq!(reader.upload("/files/one").unwrap(), None);
    assert_eq!(reader.upload_bytes().unwrap(), 12);
    answer_with_file(&mut broker, cue, &file.path);
    let carried = Upload {
        cue_ids: vec![cue.to_string()],
        ..file.clone()
    };
    assert_eq!(reader.upload("one").unwrap(), Some(carried));
    assert!(!write(&mut broker, |store| store.drop_upload("one")));
    broker.say(Work::Undo(cue));
    assert_eq!(reader.upload("one").unwrap(), Some(file));
    assert!(write(&mut broker, |store| store.drop_upload("one")));
    assert!(!write(&mut broker, |store| store.drop_upload("one")));
    assert_eq!(reader.upload_bytes().unwrap(), 5);
}

fn a_file_that_two_answers_carry_survives_the_undo_of_one(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let agent = broker.join();
    let (first, second) = (broker.ask_this(&agent, "One?"), broker.ask_this(&agent, "Two?"));
    let file = upload("shared", 7);
    write(&mut broker, |store| store.add_upload(&file, at(1)));
    answer_with_file(&mut broker, first, &file.path);
    answer_with_file(&mut broker, second, &file.path);
    broker.say(Work::Undo(second));
    assert!(!write(&mut broker, |store| store.drop_upload("shared")));
    let gone = write(&mut broker, |store| store.drop_stray_uploads(at(9)));
    assert_eq!(gone, Vec::<String>::new(), "the first answer still names it");
    broker.say(Work::Undo(first));
    let gone = write(&mut broker, |store| store.drop_stray_uploads(at(9)));
    assert_eq!(gone, [file.path]);
}

fn files_that_nothing_carries_go_after_a_while(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let agent = broker.join();
    let cue = broker.ask(&agent);
    write(&mut broker, |store| {
        store.add_upload(&upload("carried", 1), at(1))?;
        store.add_upload(&upload("stray", 1), at(1))?;
        store.add_upload(&upload("recent", 1), at(2))
    });
    answer_with_file(&mut broker, cue, "/files/carried");
    let drop_stray = |broker: &mut Little| write(broker, |store| store.drop_stray_uploads(at(2)));
    assert_eq!(drop_stray(&mut broker), ["/files/stray"]);
    assert!(drop_stray(&mut broker).is_empty());
    broker.pass(5000);
    broker.say(Work::Tick);
    broker.acknowledge(cue);
    let later = Timestamp::from_millis(WALL_MS + 6000);
    write(&mut broker, |store| store.purge_some(later));
    assert_eq!(drop_stray(&mut broker), ["/files/carried"]);
}

fn what_humans_chose_is_kept_by_name(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let reader = crate::open_reader(database);
    assert_eq!(reader.setting("theme").unwrap(), None);
    for value in ["\"dark\"", "\"light\""] {
        write(&mut broker, |store| store.set("theme", value));
        assert_eq!(reader.setting("theme").unwrap().as_deref(), Some(value));
    }
}

fn browsers_come_in_until_they_are_locked_out(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let mut phone = Device {
        device_id: "d1".into(),
        hash: [1; 32],
        name: "phone".into(),
        created_at: at(1),
        seen_at: at(2),
    };
    let desk = Device {
        device_id: "d2".into(),
        hash: [2; 32],
        name: "desk".into(),
        created_at: at(3),
        seen_at: at(3),
    };
    let reader = crate::open_reader(database);
    write(&mut broker, |store| {
        store.add_device(&phone)?;
        store.add_device(&desk)
    });
    assert_eq!(reader.devices().unwrap(), [phone.clone(), desk.clone()]);
    (phone.name, phone.seen_at) = ("pocket".into(), at(9));
    write(&mut broker, |store| {
        store.rename_device("d1", "pocket")?;
        store.touch_device("d1", at(9))
    });
    assert_eq!(reader.devices().unwrap(), [phone, desk.clone()]);
    write(&mut broker, |store| store.drop_device("d1"));
    assert_eq!(reader.devices().unwrap(), [desk]);
}

fn a_link_works_once_and_until_it_expires(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    write(&mut broker, |store| {
        store.add_link(&[1; 32], Some("phone"), at(10))?;
        store.add_link(&[2; 32], None, at(11))
    });
    let mut used = |number, now| write(&mut broker, |store| store.use_link(&[number; 32], at(now)));
    assert_eq!(used(1, 10), None);
    assert_eq!(used(3, 10), None);
    assert_eq!(used(2, 10), Some(None));
    assert_eq!(used(2, 10), None);
}

fn a_token_opens_what_it_was_made_for_until_it_is_revoked(database: &AnyPlace) {
    let mut broker = Little::open(database, WALL_MS).unwrap();
    let agent = broker.join();
    let tokens = [
        Token {
            token_id: "t1".into(),
            hash: [1; 32],
            scope: TokenScope::Agent,
            agent: Some(agent.clone()),
            name: Some("cloud".into()),
            created_at: at(1),
            expires_at: Some(at(10)),
            used_at: None,
        },
        Token {
            token_id: "t2".into(),
            hash: [2; 32],
            scope: TokenScope::Join,
            agent: None,
            name: None,
            created_at: at(2),
            expires_at: None,
            used_at: None,
        },
    ];
    let reader = crate::open_reader(database);
    write(&mut broker, |store| {
        tokens.iter().try_for_each(|token| store.add_token(token))
    });
    assert_eq!(reader.tokens().unwrap(), tokens);
    assert_eq!(reader.token_of_agent(&agent).unwrap(), None);
    for token in ["t2", "t1"] {
        write(&mut broker, |store| store.note_joined_with(&agent, token));
        assert_eq!(reader.token_of_agent(&agent).unwrap().as_deref(), Some("t2"));
    }
    let mut is_valid = |token: &str, now| {
        write(&mut broker, |store| {
            store.is_valid(&Pass::Token(token.into()), at(now))
        })
    };
    assert!(is_valid("t1", 9) && !is_valid("t1", 10), "it expires");
    assert!(is_valid("t2", i64::MAX / 2), "it never expires");
    assert!(!is_valid("t3", 9), "there is no such token");
    write(&mut broker, |store| store.touch_token("t1", at(7)));
    assert_eq!(reader.tokens().unwrap()[0].used_at, Some(at(7)));
    write(&mut broker, |store| store.drop_token("t1"));
    assert_eq!(reader.tokens().unwrap(), tokens[1..]);
}
