//! Answers: whether they fit a question, and the text that the agent reads.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;
use protocol_spec::answer::{
    ANSWER_BYTES_MAX, ATTACHMENTS_MAX, Answer, AnswerError, Attachment, FieldAnswer, Question, REDACTED,
    Reply,
};
use protocol_spec::payload::Payload;

fn payload(json: &str) -> Payload {
    Payload::parse(json).unwrap()
}

fn choice() -> Payload {
    payload(r#"{"type":"choice","options":["prod","staging","dev"]}"#)
}

fn several() -> Payload {
    payload(r#"{"type":"choice","options":["prod","staging","dev"],"allow_multiple":true}"#)
}

fn form() -> Payload {
    payload(
        r#"{"type":"form","fields":[
            {"label":"Env","options":["prod","staging"],"required":true},
            {"label":"Tags","options":["a","b","c, d"],"allow_multiple":true},
            {"label":"Count","kind":"number"},
            {"label":"Dry run","kind":"boolean"},
            {"label":"Day","kind":"date"},
            {"label":"Note","kind":"textarea"},
            {"label":"Token","kind":"password"}]}"#,
    )
}

fn text(text: &str) -> Answer {
    Answer {
        text: Some(text.into()),
        ..Answer::default()
    }
}

fn reply(reply: Reply) -> Answer {
    Answer {
        reply: Some(reply),
        ..Answer::default()
    }
}

fn select(selected: &[&str]) -> Answer {
    reply(Reply::Choice {
        selected: selected.iter().map(|s| (*s).to_owned()).collect(),
        other: None,
    })
}

fn field(label: &str, values: &[&str]) -> FieldAnswer {
    FieldAnswer {
        label: label.into(),
        values: values.iter().map(|v| (*v).to_owned()).collect(),
        other: None,
    }
}

fn fill(fields: Vec<FieldAnswer>) -> Answer {
    reply(Reply::Form { fields })
}

fn file(path: &str) -> Attachment {
    Attachment {
        path: path.into(),
        name: None,
        media_type: None,
    }
}

/// Returns the text that the agent reads.
fn read(answer: Answer, payload: Option<&Payload>) -> String {
    answer.check(Question::Cue(payload)).unwrap().render().text
}

fn refused(answer: Answer, payload: Option<&Payload>) -> AnswerError {
    answer.check(Question::Cue(payload)).unwrap_err()
}

#[test]
fn text_answers_every_question_verbatim() {
    let words = "  no,\n\nfirst fix \r the tests\n";
    let confirm = payload(r#"{"type":"confirm"}"#);
    for payload in [None, Some(&choice()), Some(&confirm), Some(&form())] {
        assert_eq!(read(text(words), payload), words);
    }
    assert_eq!(text(words).check(Question::Pause).unwrap().render().text, words);
}

#[test]
fn chosen_options_come_one_a_line_in_the_order_offered() {
    assert_eq!(read(select(&["dev", "prod"]), Some(&several())), "prod\ndev");
    let checked = select(&["dev", "prod"])
        .check(Question::Cue(Some(&several())))
        .unwrap();
    assert_eq!(checked.answer(), &select(&["prod", "dev"]));
}

#[test]
fn an_option_of_several_lines_cannot_look_like_several_options() {
    let lines = payload(r#"{"type":"choice","options":["a\nb","a","b"],"allow_multiple":true}"#);
    assert_eq!(read(select(&["a\nb"]), Some(&lines)), "a\n  b");
    assert_eq!(read(select(&["a", "b"]), Some(&lines)), "a\nb");
}

#[test]
fn an_option_that_was_not_offered_is_refused_with_the_nearest_one() {
    let error = refused(select(&["Stagin"]), Some(&choice()));
    assert_eq!(error.to_string(), "choice: \"Stagin\" was not offered");
    assert_eq!(
        error.hint(),
        "did you mean \"staging\"? offered: \"prod\", \"staging\", \"dev\"; anything else can be given as other text"
    );
}

#[test]
fn another_wish_is_given_as_other_text() {
    let other = |selected: &[&str], other: &str| {
        let selected = selected.iter().map(|s| (*s).to_owned()).collect();
        reply(Reply::Choice {
            selected,
            other: Some(other.into()),
        })
    };
    assert_eq!(
        read(other(&[], "the new\ncluster"), Some(&choice())),
        "the new\ncluster"
    );
    assert_eq!(
        read(other(&["dev"], "and mine"), Some(&several())),
        "dev\n\nand mine"
    );
    assert_eq!(
        refused(other(&["dev"], "and mine"), Some(&choice())).kind(),
        "too_many_values"
    );

    let checked = other(&[], " prod ")
        .check(Question::Cue(Some(&choice())))
        .unwrap();
    assert_eq!(
        checked.answer(),
        &select(&["prod"]),
        "an other text that spells an option is that option"
    );
}

#[test]
fn several_options_need_leave() {
    let error = refused(select(&["prod", "dev"]), Some(&choice()));
    assert_eq!(
        error,
        AnswerError::TooManyValues {
            place: "choice".into(),
            count: 2
        }
    );
    assert_eq!(
        refused(select(&["dev", "dev"]), Some(&several())).kind(),
        "repeated_value"
    );
}

#[test]
fn a_confirm_reads_as_the_label_pressed() {
    let asked = payload(r#"{"type":"confirm","confirm_label":"Drop it"}"#);
    assert_eq!(
        read(reply(Reply::Confirm { confirmed: true }), Some(&asked)),
        "Drop it"
    );
    assert_eq!(
        read(reply(Reply::Confirm { confirmed: false }), Some(&asked)),
        "Cancel"
    );
}

#[test]
fn an_answer_that_ends_the_run_says_so_below_its_words_or_alone() {
    let words = Answer {
        text: Some("push it".into()),
        ends_run: true,
        ..Answer::default()
    };
    assert_eq!(
        read(words, None),
        "push it\n\n[the human ends the run with this answer: do what it says, then finish without asking again]"
    );
    let bare = Answer {
        ends_run: true,
        ..Answer::default()
    };
    let asked = payload(r#"{"type":"choice","options":["A"]}"#);
    assert_eq!(
        read(bare.clone(), Some(&asked)),
        "[the human ends the run: finish now, without asking again]"
    );
    assert_eq!(serde_json::to_string(&bare).unwrap(), r#"{"ends_run":true}"#);
}

#[test]
fn text_beside_a_button_and_files_are_all_kept() {
    let asked = payload(r#"{"type":"confirm"}"#);
    let answer = Answer {
        text: Some("but wait\nfor Ann".into()),
        reply: Some(Reply::Confirm { confirmed: false }),
        attachments: vec![file("/tmp/a b.png"), file("/tmp/c")],
        ends_run: false,
    };
    assert_eq!(
        read(answer, Some(&asked)),
        "Cancel\n\nbut wait\nfor Ann\n\nattachments:\n/tmp/a b.png\n/tmp/c"
    );
    let alone = Answer {
        attachments: vec![file("/x")],
        ..Answer::default()
    };
    assert_eq!(read(alone, None), "attachments:\n/x");
}

#[test]
fn a_form_reads_as_label_and_value_lines_in_the_order_of_the_form() {
    let answer = fill(vec![
        field("Dry run", &["Yes"]),
        field("Count", &[" 1e3 "]),
        field("Tags", &["b", "a"]),
        field("Day", &["2024-02-29"]),
        field("Note", &["one, two"]),
        field("Env", &["prod"]),
    ]);
    assert_eq!(
        read(answer, Some(&form())),
        "Env: prod\nTags: a, b\nCount: 1e3\nDry run: true\nDay: 2024-02-29\nNote: one, two"
    );
}

#[test]
fn values_that_would_be_ambiguous_on_one_line_stand_below_their_label() {
    let tags = |values: &[&str]| {
        read(
            fill(vec![field("Env", &["prod"]), field("Tags", values)]),
            Some(&form()),
        )
    };
    assert_eq!(tags(&["a", "c, d"]), "Env: prod\nTags:\n  - a\n  - c, d");
    assert_eq!(tags(&["c, d"]), "Env: prod\nTags:\n  - c, d");

    let note = fill(vec![
        field("Env", &["prod"]),
        field("Note", &["first\nEnv: staging"]),
    ]);
    assert_eq!(
        read(note, Some(&form())),
        "Env: prod\nNote:\n  first\n  Env: staging"
    );
}

#[test]
fn a_field_takes_another_value_as_other_text() {
    let mut env = field("Env", &[]);
    env.other = Some("qa".into());
    assert_eq!(read(fill(vec![env]), Some(&form())), "Env: qa");
    assert_eq!(
        refused(fill(vec![field("Env", &["qa"])]), Some(&form())).kind(),
        "not_offered"
    );
}

#[test]
fn fields_must_fit_the_form() {
    let env = || field("Env", &["prod"]);
    let cases = [
        (vec![field("Env", &[" "])], "missing_field"),
        (vec![field("Env", &[])], "missing_field"),
        (vec![field("Count", &["1"])], "missing_field"),
        (vec![env(), env()], "repeated_field"),
        (vec![env(), field("Cuont", &["1"])], "unknown_field"),
        (vec![env(), field("Count", &["many"])], "wrong_value"),
        (vec![env(), field("Dry run", &["perhaps"])], "wrong_value"),
        (vec![env(), field("Day", &["2023-02-29"])], "wrong_value"),
        (vec![env(), field("Count", &["1", "2"])], "too_many_values"),
    ];
    for (fields, kind) in cases {
        let error = refused(fill(fields.clone()), Some(&form()));
        assert_eq!(error.kind(), kind, "{fields:?}: {error}");
        assert!(!error.hint().is_empty());
    }
    let error = refused(fill(vec![env(), field("Cuont", &["1"])]), Some(&form()));
    assert!(
        error.hint().starts_with("did you mean \"Count\"?"),
        "{}",
        error.hint()
    );
}

#[test]
fn optional_fields_may_be_left_out_or_empty() {
    let answer = fill(vec![
        field("Env", &["prod"]),
        field("Note", &[" "]),
        field("Count", &[]),
    ]);
    let checked = answer.check(Question::Cue(Some(&form()))).unwrap();
    assert_eq!(checked.answer(), &fill(vec![field("Env", &["prod"])]));
}

#[test]
fn a_secret_is_told_to_the_agent_and_to_nobody_else() {
    let answer = Answer {
        text: Some("careful".into()),
        ..fill(vec![
            field("Env", &["prod"]),
            field("Token", &["  s3cret\nline  "]),
        ])
    };
    let rendered = answer.check(Question::Cue(Some(&form()))).unwrap().render();
    assert_eq!(
        rendered.text,
        "Env: prod\nToken:\n    s3cret\n  line  \n\ncareful"
    );
    let redacted = rendered.redacted.unwrap();
    assert_eq!(redacted.text, "Env: prod\nToken: [redacted]\n\ncareful");
    let json = serde_json::to_string(&redacted.answer).unwrap();
    assert!(json.contains(REDACTED) && !json.contains("s3cret"), "{json}");
}

#[test]
fn nothing_is_redacted_where_there_is_no_secret() {
    let rendered = fill(vec![field("Env", &["prod"]), field("Token", &[""])]);
    assert_eq!(
        rendered
            .check(Question::Cue(Some(&form())))
            .unwrap()
            .render()
            .redacted,
        None
    );
    assert_eq!(
        text("x")
            .check(Question::Cue(Some(&form())))
            .unwrap()
            .render()
            .redacted,
        None
    );
}

#[test]
fn an_error_never_repeats_a_secret() {
    let pin =
        payload(r#"{"type":"form","fields":[{"label":"Pin","kind":"password","options":["1111","2222"]}]}"#);
    for values in [vec!["1112"], vec!["1111", "1111"], vec!["1111", "2222"]] {
        let error = refused(fill(vec![field("Pin", &values)]), Some(&pin));
        let said = error.to_string();
        assert!(!said.contains("111"), "{said}");
        assert!(!error.hint().contains("did you mean"), "{}", error.hint());
    }
}

#[test]
fn silence_is_not_consent() {
    let confirm = payload(r#"{"type":"confirm"}"#);
    assert_eq!(refused(Answer::default(), None), AnswerError::Empty);
    assert_eq!(refused(text(" \n\u{200b}"), Some(&confirm)), AnswerError::Empty);
    assert_eq!(refused(select(&[]), Some(&several())), AnswerError::Empty);
    assert_eq!(
        Answer::default().check(Question::Pause).unwrap_err(),
        AnswerError::Empty
    );
    let optional = payload(r#"{"type":"form","fields":[{"label":"Note"}]}"#);
    assert_eq!(refused(fill(vec![]), Some(&optional)), AnswerError::Empty);
}

#[test]
fn an_empty_choice_beside_text_is_just_the_text() {
    let answer = Answer {
        text: Some("neither".into()),
        ..select(&[])
    };
    assert_eq!(
        answer.check(Question::Cue(Some(&choice()))).unwrap().answer(),
        &text("neither")
    );
}

#[test]
fn a_pause_continues() {
    for pressed in [Reply::Continue, Reply::Confirm { confirmed: true }] {
        let checked = reply(pressed).check(Question::Pause).unwrap();
        assert_eq!(checked.answer(), &reply(Reply::Continue));
        assert_eq!(checked.render().text, "Continue");
    }
    assert_eq!(
        reply(Reply::Confirm { confirmed: false })
            .check(Question::Pause)
            .unwrap_err()
            .kind(),
        "wrong_reply"
    );
}

#[test]
fn a_reply_must_be_of_the_questions_type() {
    let error = refused(reply(Reply::Confirm { confirmed: true }), Some(&choice()));
    assert_eq!(error.to_string(), "reply: confirm does not answer a choice");
    assert_eq!(error.hint(), "reply with choice, or write text");
    assert_eq!(
        refused(select(&["x"]), None).hint(),
        "it has no options: write text"
    );
    assert_eq!(
        refused(reply(Reply::Continue), Some(&form())).kind(),
        "wrong_reply"
    );
}

#[test]
fn attachments_are_absolute_paths_on_one_line() {
    for path in ["a.png", "./a.png", "~/a.png", "", "/tmp/a\nb"] {
        let answer = Answer {
            attachments: vec![file("/ok"), file(path)],
            ..Answer::default()
        };
        let error = refused(answer, None);
        assert!(error.to_string().starts_with("attachment 2: "), "{error}");
    }
    let many = Answer {
        attachments: vec![file("/ok"); ATTACHMENTS_MAX + 1],
        ..Answer::default()
    };
    assert_eq!(refused(many, None).kind(), "too_many_attachments");
    let long = Answer {
        attachments: vec![file(&format!("/{}", "a".repeat(5000)))],
        ..Answer::default()
    };
    assert_eq!(refused(long, None).kind(), "bad_attachment");
}

#[test]
fn an_answer_has_a_size() {
    assert_eq!(
        refused(text(&"a".repeat(ANSWER_BYTES_MAX + 1)), None).kind(),
        "too_large"
    );
}

#[test]
fn the_json_of_an_answer_is_as_documented() {
    let cases = [
        (text("hi"), r#"{"text":"hi"}"#),
        (select(&["a"]), r#"{"reply":{"type":"choice","selected":["a"]}}"#),
        (
            reply(Reply::Choice {
                selected: vec![],
                other: Some("b".into()),
            }),
            r#"{"reply":{"type":"choice","selected":[],"other":"b"}}"#,
        ),
        (
            reply(Reply::Confirm { confirmed: false }),
            r#"{"reply":{"type":"confirm","confirmed":false}}"#,
        ),
        (
            fill(vec![field("L", &["v"])]),
            r#"{"reply":{"type":"form","fields":[{"label":"L","values":["v"]}]}}"#,
        ),
        (reply(Reply::Continue), r#"{"reply":{"type":"continue"}}"#),
        (
            Answer {
                attachments: vec![Attachment {
                    name: Some("n".into()),
                    media_type: Some("image/png".into()),
                    ..file("/p")
                }],
                ..Answer::default()
            },
            r#"{"attachments":[{"path":"/p","name":"n","media_type":"image/png"}]}"#,
        ),
    ];
    for (answer, json) in cases {
        assert_eq!(serde_json::to_string(&answer).unwrap(), json);
        assert_eq!(serde_json::from_str::<Answer>(json).unwrap(), answer);
    }
    let checked = text("hi").check(Question::Pause).unwrap();
    assert_eq!(serde_json::to_string(&checked).unwrap(), r#"{"text":"hi"}"#);
}

#[test]
fn an_answer_with_a_key_nobody_knows_is_refused_rather_than_cut() {
    for json in [
        r#"{"txt":"hi"}"#,
        r#"{"reply":{"type":"choice","select":["a"]}}"#,
        r#"{"reply":{"type":"form","fields":[{"label":"L","value":"v"}]}}"#,
    ] {
        assert!(serde_json::from_str::<Answer>(json).is_err(), "{json}");
    }
}

proptest! {
    #[test]
    fn what_is_checked_once_is_checked_for_good(
        selected in prop::sample::subsequence(vec!["prod", "staging", "dev"], 0..=3),
        other in prop::option::of("[a-z ]{0,6}"),
        words in prop::option::of("\\PC{0,12}"),
    ) {
        let selected = selected.into_iter().rev().map(str::to_owned).collect();
        let answer = Answer { text: words, ..reply(Reply::Choice { selected, other }) };
        let asked = several();
        if let Ok(checked) = answer.check(Question::Cue(Some(&asked))) {
            let again = checked.answer().clone().check(Question::Cue(Some(&asked))).unwrap();
            prop_assert_eq!(again.render(), checked.render());
            prop_assert_eq!(again, checked);
        }
    }

    #[test]
    fn a_value_never_looks_like_another_field(value in "[a-zE:, \\n]{1,30}") {
        let answer = fill(vec![field("Env", &["prod"]), field("Note", &[&value])]);
        let rendered = read(answer, Some(&form()));
        let labelled = rendered.lines().filter(|line| !line.starts_with("  ")).count();
        prop_assert!(labelled <= 2, "{:?}", rendered);
    }
}
