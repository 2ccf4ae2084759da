//! Payloads: kept text, defaults, and error messages.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;
use protocol_spec::payload::{
    Kind, LABEL_BYTES_MAX, OPTION_BYTES_MAX, PAYLOAD_BYTES_MAX, Payload, PayloadError, Shape, TEXT_BYTES_MAX,
};

fn parse(json: &str) -> Payload {
    Payload::parse(json).unwrap()
}

/// Returns the error message and the hint for a mistake.
fn said(json: &str) -> (String, String) {
    let error = Payload::parse(json).unwrap_err();
    (error.to_string(), error.hint())
}

#[test]
fn defaults_are_filled_at_the_end_and_everything_else_stays_as_spelled() {
    let cases = [
        (
            r#"{ "x": 1.50e+3, "type": "choice", "options": ["a b", "\u0062"] }"#,
            r#"{"x":1.50e+3,"type":"choice","options":["a b","\u0062"],"allow_multiple":false}"#,
        ),
        (
            r#"{"type":"confirm","text":"t"}"#,
            r#"{"type":"confirm","text":"t","confirm_label":"Confirm","cancel_label":"Cancel"}"#,
        ),
        (
            r#"{"cancel_label":null,"type":"confirm","confirm_label":"Go"}"#,
            r#"{"cancel_label":"Cancel","type":"confirm","confirm_label":"Go"}"#,
        ),
        (
            "{\"type\":\"form\",\n\"fields\":[{\"label\":\"L\",\"z\":{\"a\" : 18446744073709551617}},\n{\"kind\":\"date\",\"label\":\"D\"}],\"\\u0061\":0}",
            r#"{"type":"form","fields":[{"label":"L","z":{"a":18446744073709551617},"kind":"text","allow_multiple":false,"required":false},{"kind":"date","label":"D","allow_multiple":false,"required":false}],"\u0061":0}"#,
        ),
    ];
    for (written, normal) in cases {
        assert_eq!(parse(written).normalised(), normal);
        assert_eq!(parse(normal).normalised(), normal, "the normal form is its own");
    }
}

#[test]
fn a_payload_is_kept_exactly_as_written() {
    let json = "{\n  \"type\" : \"confirm\",\r\n \"n\": 1.00 }";
    let payload = parse(&format!(" \n{json}\t"));
    assert_eq!(payload.written(), json);
}

#[test]
fn a_payload_travels_on_one_line_and_arrives_equal() {
    let payload = parse("{\n\"type\":\"confirm\",\r\n\"n\":1e400,\"b\":12345678901234567890123}");
    let line = serde_json::to_string(&payload).unwrap();
    assert_eq!(
        line,
        "{ \"type\":\"confirm\",  \"n\":1e400,\"b\":12345678901234567890123}"
    );
    let back: Payload = serde_json::from_str(&line).unwrap();
    assert_eq!(back, payload);
    assert_eq!(back.written(), line);
    assert_ne!(
        parse(r#"{"type":"confirm","n":1}"#),
        parse(r#"{"type":"confirm","n":1.0}"#)
    );
    assert_ne!(
        parse(r#"{"type":"confirm","n":"a b"}"#),
        parse(r#"{"type":"confirm","n":"ab"}"#)
    );
}

#[test]
fn an_invalid_payload_is_not_deserialised() {
    let error = serde_json::from_str::<Payload>(r#"{"type":"choice"}"#).unwrap_err();
    assert!(error.to_string().starts_with("$.options is missing"), "{error}");
}

#[test]
fn a_form_knows_its_kinds_and_secrets() {
    let payload = parse(
        r#"{"type":"form","fields":[
            {"label":"a"},{"label":"b","kind":"textarea"},{"label":"c","kind":"number","required":true},
            {"label":"d","kind":"boolean"},{"label":"e","kind":"password"},{"label":"f","kind":"date"},
            {"label":"g","kind":"slider","options":["x"],"allow_multiple":true,"required":"no"}]}"#,
    );
    let Shape::Form(form) = payload.shape() else {
        panic!("a form")
    };
    let kinds: Vec<&str> = form.fields.iter().map(|field| field.kind.name()).collect();
    assert_eq!(
        kinds,
        [
            "text", "textarea", "number", "boolean", "password", "date", "slider"
        ]
    );
    let secrets: Vec<bool> = form.fields.iter().map(|field| field.is_secret()).collect();
    assert_eq!(secrets, [false, false, false, false, true, false, false]);
    assert!(form.fields[2].required && !form.fields[6].required);
    assert_eq!(form.fields[6].kind, Kind::Other("slider".into()));
}

#[test]
fn a_blank_confirm_text_is_none() {
    let payload = parse(r#"{"type":"confirm","text":" "}"#);
    assert!(matches!(payload.shape(), Shape::Confirm(confirm) if confirm.text.is_none()));
}

#[test]
fn mistakes_are_explained_with_their_path_and_what_to_write() {
    let cases = [
        (
            r#"{"type":"choice","options":[1]}"#,
            "$.options[0] must be a string, found a number 1",
            "\"1\"",
        ),
        (
            r#"{"type":"choice","options":[{"id":"a","label":"Alpha"}]}"#,
            "$.options[0] must be a string, found an object",
            "write its label alone: \"Alpha\"",
        ),
        (
            r#"{"type":"choice","options":"a"}"#,
            "$.options must be an array of strings, found a string \"a\"",
            r#""options":["a"]"#,
        ),
        (
            r#"{"type":"choice","options":["a"],"allow_multiple":"false"}"#,
            "$.allow_multiple must be true or false, found a string \"false\"",
            "without quotes",
        ),
        (
            r#"{"type":"form","fields":["Name"]}"#,
            "$.fields[0] must be an object, found a string \"Name\"",
            r#"write {"label":"Name"}"#,
        ),
        (r#"{"type":"Form"}"#, "found \"Form\"", r#"write "type":"form""#),
        (
            r#"{"type":"confirm","cancel_label":""}"#,
            "$.cancel_label is blank",
            "what the person should see",
        ),
        (
            r#"{"type":"form","fields":[{"label":"A"},{"label":"B","options":["x","y","x"]}]}"#,
            "$.fields[1].options[2] repeats $.fields[1].options[0]: \"x\"",
            "different",
        ),
        (
            r#"{"type":"confirm","a":{"b":1,"b":2}}"#,
            "$.a.b is written twice",
            "keep one",
        ),
        (
            "{\"type\":\"confirm\",}",
            "not valid JSON at line 1 column 19: ",
            "trailing commas",
        ),
        (
            r#"{"type":"confirm","text":"\ud83d"}"#,
            "$.text has a broken escape",
            "both halves",
        ),
    ];
    for (json, message, hint) in cases {
        let (said, advised) = said(json);
        assert!(said.contains(message), "{said:?} for {json}");
        assert!(advised.contains(hint), "{advised:?} for {json}");
    }
}

#[test]
fn everything_has_a_limit() {
    let long = |bytes: usize| "a".repeat(bytes);
    let cases = [
        (
            format!(r#"{{"type":"confirm","x":"{}"}}"#, long(PAYLOAD_BYTES_MAX)),
            "payload_too_large",
        ),
        (
            format!(
                r#"{{"type":"choice","options":["{}"]}}"#,
                long(OPTION_BYTES_MAX + 1)
            ),
            "payload_too_long",
        ),
        (
            format!(r#"{{"type":"confirm","text":"{}"}}"#, long(TEXT_BYTES_MAX + 1)),
            "payload_too_long",
        ),
        (
            format!(
                r#"{{"type":"confirm","confirm_label":"{}"}}"#,
                long(LABEL_BYTES_MAX + 1)
            ),
            "payload_too_long",
        ),
        (
            format!(
                r#"{{"type":"form","fields":[{{"label":"{}"}}]}}"#,
                long(LABEL_BYTES_MAX + 1)
            ),
            "payload_too_long",
        ),
        (
            format!(
                r#"{{"type":"confirm","x":{}"#,
                "[".repeat(500_000) + &"]".repeat(500_000) + "}"
            ),
            "payload_too_deep",
        ),
        (
            format!(r#"{{"type":"form","fields":[{}]}}"#, vec!["{}"; 201].join(",")),
            "payload_too_many",
        ),
    ];
    for (json, kind) in cases {
        assert_eq!(Payload::parse(&json).unwrap_err().kind(), kind, "{}", &json[..60]);
    }
    assert!(
        Payload::parse(&format!(
            r#"{{"type":"choice","options":["{}"]}}"#,
            long(OPTION_BYTES_MAX)
        ))
        .is_ok()
    );
}

#[test]
fn a_hostile_key_cannot_disturb_the_message() {
    let error = Payload::parse("{\"type\":\"confirm\",\"\\u202e\\n\":{\"a\":1,\"a\":2}}").unwrap_err();
    assert_eq!(error.to_string(), r#"$["\u{202e}"].a is written twice"#);
    assert!(matches!(error, PayloadError::DuplicateKey { .. }));
}

/// JSON of any shape, with the keys that matter more often than chance would have them.
fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        prop::sample::select(vec!["choice", "confirm", "form", "a", " ", "", "text"]).prop_map(Into::into),
        any::<String>().prop_map(Into::into),
    ];
    let keys = vec![
        "type",
        "options",
        "fields",
        "label",
        "kind",
        "text",
        "allow_multiple",
        "confirm_label",
        "x y",
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            prop::collection::vec((prop::sample::select(keys.clone()), inner), 0..6)
                .prop_map(|members| members.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()),
        ]
    })
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in any::<String>()) {
        let _ = Payload::parse(&text);
    }

    #[test]
    fn whatever_is_accepted_keeps_its_meaning_in_its_normal_form(json in any_json()) {
        if let Ok(payload) = Payload::parse(&json.to_string()) {
            let normal = Payload::parse(&payload.normalised()).unwrap();
            prop_assert_eq!(normal.shape(), payload.shape());
            prop_assert_eq!(normal.normalised(), payload.normalised());
        }
    }

    #[test]
    fn any_distinct_options_are_kept_in_order(options in prop::collection::hash_set("[a-z\"\\\\好]{1,8}", 1..8)) {
        let options: Vec<String> = options.into_iter().collect();
        let payload = parse(&serde_json::json!({ "options": options, "type": "choice" }).to_string());
        prop_assert!(matches!(payload.shape(), Shape::Choice(choice) if choice.options == options));
    }
}
