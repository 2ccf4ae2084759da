//! Properties of the envelope: no input panics, both readings agree, and a rendered envelope parses back.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use proptest::prelude::*;
use protocol_spec::envelope::{self, RenderError};
use support::naive;

/// Pieces that envelopes are made of, well formed and not.
fn piece() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "<cueme_prompt>",
        "</cueme_prompt>",
        "<cueme_payload>",
        "</cueme_payload>",
        "<cueme_prompt>\n",
        "</cueme_prompt>\n",
        "\n<cueme_payload>\n",
        "\n</cueme_payload>\n",
        "<cueme_foo>",
        "\n",
        "\r\n",
        "\r",
        " ",
        "\t",
        "\u{a0}",
        "\u{200b}",
        "\0",
        "好",
        "null",
        "{",
        "{\"type\":\"confirm\"}",
        "{\"type\":\"choice\",\n\"options\":[\"a\"]}",
    ]);
    prop_oneof![8 => known.prop_map(str::to_owned), 1 => any::<String>()]
}

fn soup() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..24).prop_map(|pieces| pieces.concat())
}

/// Envelopes that are well formed more often than not.
fn nearly_envelope() -> impl Strategy<Value = String> {
    (soup(), soup(), soup(), any::<bool>()).prop_map(|(prompt, payload, outside, payload_first)| {
        let prompt = format!("<cueme_prompt>\n{prompt}\n</cueme_prompt>\n");
        let payload = format!("<cueme_payload>\n{payload}\n</cueme_payload>\n");
        let outside: String = outside.chars().filter(|c| c.is_whitespace()).collect();
        if payload_first {
            payload + &outside + "\n" + &prompt
        } else {
            prompt + &outside + "\n" + &payload
        }
    })
}

fn compare_both(text: &str) {
    naive::compare(text, false, &envelope::parse_cue(text));
    naive::compare(text, true, &envelope::parse_pause(text));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(text) = envelope::decode(&bytes) {
            compare_both(&text);
        }
    }

    #[test]
    fn both_readings_of_a_soup_of_tags_agree(text in soup()) {
        compare_both(&text);
    }

    #[test]
    fn both_readings_of_a_likely_envelope_agree(text in nearly_envelope()) {
        compare_both(&text);
    }

    #[test]
    fn whatever_is_rendered_parses_back(prompt in soup(), label in "\\PC{1,20}", with_payload in any::<bool>()) {
        let json = serde_json::json!({ "type": "choice", "options": [format!("o{label}")] }).to_string();
        let payload = with_payload.then_some(json.as_str());
        match envelope::render(&prompt, payload) {
            Ok(text) => {
                let back = envelope::parse_cue(&text).unwrap();
                let lines: Vec<&str> = prompt.split('\n').map(|line| line.trim_end_matches('\r')).collect();
                prop_assert_eq!(back.prompt, lines.join("\n"));
                prop_assert_eq!(back.payload.as_ref().map(|payload| payload.written()), payload);
            }
            Err(error) => {
                // A prompt that cannot be rendered cannot be parsed from an envelope either.
                let text = format!("<cueme_prompt>\n{prompt}\n</cueme_prompt>\n");
                let same = envelope::parse_cue(&text).is_ok_and(|back| back.prompt == prompt);
                prop_assert!(!same, "{} but it reads back", error);
            }
        }
    }

    #[test]
    fn utf16_reads_like_utf8(text in any::<String>()) {
        let little: Vec<u8> = [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
        let big: Vec<u8> = [0xfe, 0xff].into_iter().chain(text.encode_utf16().flat_map(u16::to_be_bytes)).collect();
        prop_assert_eq!(envelope::decode(&little).unwrap(), text.as_str());
        prop_assert_eq!(envelope::decode(&big).unwrap(), text.as_str());
    }
}

#[test]
fn a_prompt_without_crlf_is_not_copied() {
    let text = "<cueme_prompt>\na\rb\n</cueme_prompt>\n";
    assert!(matches!(
        envelope::parse_cue(text).unwrap().prompt,
        std::borrow::Cow::Borrowed("a\rb")
    ));
    assert!(matches!(
        envelope::decode(text.as_bytes()).unwrap(),
        std::borrow::Cow::Borrowed(_)
    ));
}

#[test]
fn a_prompt_that_would_end_its_block_is_not_rendered() {
    let error = envelope::render("see\n  </cueme_prompt>\r\nend", None).unwrap_err();
    assert_eq!(
        error,
        RenderError::ClosesBlock {
            line: 2,
            tag: "</cueme_prompt>"
        }
    );
    assert_eq!(
        envelope::render("\u{200b}\n", None),
        Err(RenderError::BlankPrompt)
    );
    assert!(matches!(
        envelope::render("x", Some("[]")),
        Err(RenderError::Payload(_))
    ));
    assert_eq!(
        envelope::render("x", Some(" null ")).unwrap(),
        "<cueme_prompt>\nx\n</cueme_prompt>\n"
    );
}

/// A tag mentioned again and again on one line must not make reading quadratic.
#[test]
fn a_megabyte_of_mentioned_tags_is_read_at_once() {
    let line = "</cueme_prompt> ".repeat(200_000) + "x";
    let text = format!("<cueme_prompt>\n{line}\n</cueme_prompt>\n");
    assert_eq!(envelope::parse_cue(&text).unwrap().prompt, line);
    assert!(envelope::parse_cue(&text[..text.len() - 16]).is_err());
}

#[test]
fn a_prompt_has_a_limit() {
    let text = |bytes: usize| format!("<cueme_prompt>\n{}\n</cueme_prompt>\n", "a".repeat(bytes));
    assert!(envelope::parse_cue(&text(envelope::PROMPT_BYTES_MAX)).is_ok());
    let error = envelope::parse_cue(&text(envelope::PROMPT_BYTES_MAX + 1)).unwrap_err();
    assert_eq!(error.kind(), "prompt_too_large");
    let error = envelope::render(&"a".repeat(envelope::PROMPT_BYTES_MAX + 1), None).unwrap_err();
    assert!(matches!(error, RenderError::PromptTooLarge { .. }));
}
