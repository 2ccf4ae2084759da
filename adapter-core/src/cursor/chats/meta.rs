//! The metadata row of a chat store.
//!
//! Only what we use is taken out of it. The row also holds a key for encrypted blobs, which must not travel
//! any further than this file.

use jiff::Timestamp;
use serde_json::Value;

/// The metadata that a store holds about its chat.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChatMeta {
    /// The chat's id.
    pub agent_id: Option<String>,
    /// The blob that the conversation starts from; none in a chat that was created and not used.
    pub root_blob_id: Option<String>,
    /// The title.
    pub name: Option<String>,
    /// The agent's mode.
    pub mode: Option<String>,
    /// Creation, in milliseconds since 1970.
    pub created_at: Option<i64>,
    /// The model that answered last.
    pub model: Option<String>,
    /// Whether the chat belongs to a sub-agent.
    pub is_subagent: bool,
}

/// Reads the value of the metadata row: JSON in hexadecimal, or plain JSON as some versions wrote it.
pub(super) fn parse_meta(value: &[u8]) -> Result<ChatMeta, String> {
    let value = value.trim_ascii();
    let json = if value.first() == Some(&b'{') {
        serde_json::from_slice::<Value>(value)
    } else {
        let bytes = unhex(value).ok_or("neither JSON nor hexadecimal")?;
        serde_json::from_slice::<Value>(&bytes)
    };
    let json = json.map_err(|error| format!("not JSON ({error})"))?;
    if !json.is_object() {
        return Err("not a JSON object".to_owned());
    }
    Ok(ChatMeta {
        agent_id: non_empty(&json["agentId"]),
        root_blob_id: non_empty(&json["latestRootBlobId"]),
        name: non_empty(&json["name"]),
        mode: non_empty(&json["mode"]),
        created_at: milliseconds(&json["createdAt"]),
        model: non_empty(&json["lastUsedModel"]),
        is_subagent: !json["subagentInfo"].is_null(),
    })
}

fn non_empty(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Reads a time that is a number, a number in quotes or a date in quotes, depending on who wrote it.
fn milliseconds(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number
            .as_i64()
            .or_else(|| number.as_f64().map(|float| float as i64)),
        Value::String(text) => {
            let text = text.trim();
            text.parse()
                .ok()
                .or_else(|| text.parse::<Timestamp>().ok().map(Timestamp::as_millisecond))
        }
        _ => None,
    }
}

/// Decodes hexadecimal in either case.
pub(super) fn unhex(text: &[u8]) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs
        .iter()
        .map(|&[high, low]| Some(digit(high)? << 4 | digit(low)?))
        .collect()
}

/// Returns the value of one hexadecimal digit.
#[inline]
pub(super) fn digit(byte: u8) -> Option<u8> {
    let value = DIGIT_VALUES[usize::from(byte)];
    (value < 16).then_some(value)
}

/// The value of each byte as a digit, and 255 for bytes that are none. A store has two digits for each byte of
/// each id, so they are looked up rather than worked out.
static DIGIT_VALUES: [u8; 256] = {
    let mut values = [255; 256];
    let mut value = 0;
    while value < 16 {
        values[b"0123456789abcdef"[value] as usize] = value as u8;
        values[b"0123456789ABCDEF"[value] as usize] = value as u8;
        value += 1;
    }
    values
};

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str =
        r#"{"agentId":"a","latestRootBlobId":"","name":"n","createdAt":"17","blobEncryptionKey":"secret"}"#;

    fn hexed(text: &str) -> String {
        text.bytes().map(|byte| format!("{byte:02X}")).collect()
    }

    #[test]
    fn hexadecimal_and_plain_json_mean_the_same() {
        let plain = parse_meta(PLAIN.as_bytes()).unwrap();
        assert_eq!(parse_meta(hexed(PLAIN).as_bytes()).unwrap(), plain);
        assert_eq!(plain.agent_id.as_deref(), Some("a"));
        assert_eq!(plain.root_blob_id, None, "an empty root is no root");
        assert_eq!(plain.created_at, Some(17));
    }

    #[test]
    fn the_blob_key_goes_no_further() {
        assert!(!format!("{:?}", parse_meta(PLAIN.as_bytes()).unwrap()).contains("secret"));
    }

    #[test]
    fn creation_times_of_every_spelling_are_milliseconds() {
        for spelling in [
            "1790000000000",
            "1790000000000.0",
            "\"1790000000000\"",
            "\"2026-09-21T14:13:20Z\"",
        ] {
            let meta = parse_meta(format!("{{\"createdAt\":{spelling}}}").as_bytes()).unwrap();
            assert_eq!(meta.created_at, Some(1_790_000_000_000), "{spelling}");
        }
    }

    #[test]
    fn nonsense_is_an_error_that_says_what_it_is_not() {
        for (value, reason) in [
            ("zz", "neither"),
            ("7b7", "neither"),
            ("7b", "not JSON"),
            ("5b5d", "object"),
        ] {
            assert!(
                parse_meta(value.as_bytes()).unwrap_err().contains(reason),
                "{value}"
            );
        }
    }
}
