//! The `tool_call` object of the stream: which tool, with which arguments, and how it ended.
//!
//! The object is a map: the tool sits under the key that ends in `ToolCall` and holds an object, and metadata
//! sits beside it, in any order. It is read in one pass, because results can be hundreds of kilobytes.

use std::borrow::Cow;

use serde::de::{Deserialize, Deserializer, MapAccess};
use serde_json::value::RawValue;

use super::object::{Entries, Object, skip};
use super::scalar::Scalar;

const KEY_SUFFIX: &str = "ToolCall";
/// The key of a legacy call, whose name stands inside.
pub(crate) const FUNCTION_KEY: &str = "function";
/// The outcome of a call that ended without saying how.
pub(crate) const OUTCOME_UNKNOWN: &str = "unknown";
/// The outcome of a call that did what it should.
pub(crate) const OUTCOME_SUCCESS: &str = "success";
const OUTCOME_FAILURE: &str = "failure";
const OUTCOME_ERROR: &str = "error";

/// The content of a `tool_call` object.
#[derive(Debug, Default)]
pub(crate) struct ToolObject<'a> {
    /// The tool's key, for example `shellToolCall`, and what it holds.
    pub(crate) tool: Option<(Cow<'a, str>, ToolBody<'a>)>,
    /// The legacy `function` object.
    pub(crate) function: Option<ToolBody<'a>>,
    /// The tool's body in the flat shape, which has no key.
    pub(crate) flat: ToolBody<'a>,
    /// The call's id, where the line itself has none.
    pub(crate) call_id: Scalar<'a>,
}

/// The content of the object under the tool's key.
#[derive(Debug, Default)]
pub(crate) struct ToolBody<'a> {
    pub(crate) name: Scalar<'a>,
    /// `args`, or `arguments` in the legacy shape; absent when a call was rejected.
    pub(crate) args: Option<&'a RawValue>,
    pub(crate) result: Option<ToolResult<'a>>,
    /// `result` as it was written.
    pub(crate) raw_result: Option<&'a RawValue>,
}

/// The result of a call.
#[derive(Debug, Default)]
pub(crate) struct ToolResult<'a> {
    variant: Option<Cow<'a, str>>,
    detail: Detail<'a>,
    pub(crate) is_background: Option<bool>,
}

/// The few fields of a result variant that are reported.
#[derive(Debug, Default)]
struct Detail<'a> {
    exit_code: Scalar<'a>,
    reason: Scalar<'a>,
    error_message: Scalar<'a>,
    is_error: bool,
}

impl ToolResult<'_> {
    /// Returns the outcome: the variant's name, except that a success which failed is not one.
    pub(crate) fn outcome(&self) -> &str {
        match self.variant.as_deref() {
            None => OUTCOME_UNKNOWN,
            Some(OUTCOME_SUCCESS) if self.exit_code().is_some_and(|code| code != 0) => OUTCOME_FAILURE,
            Some(OUTCOME_SUCCESS) if self.detail.is_error => OUTCOME_ERROR,
            Some(variant) => variant,
        }
    }

    pub(crate) fn exit_code(&self) -> Option<i64> {
        self.detail.exit_code.as_i64()
    }

    /// Returns why it was rejected or failed.
    pub(crate) fn reason(&self) -> Option<&str> {
        self.detail
            .reason
            .non_empty()
            .or_else(|| self.detail.error_message.non_empty())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for ToolObject<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Object::deserialize(deserializer)?.0.unwrap_or_default())
    }
}

impl<'de: 'a, 'a> Entries<'de> for ToolObject<'a> {
    fn entry<A: MapAccess<'de>>(&mut self, key: Cow<'de, str>, map: &mut A) -> Result<(), A::Error> {
        if key.ends_with(KEY_SUFFIX) && self.tool.is_none() {
            let Object(body) = map.next_value()?;
            self.tool = body.map(|body| (key, body));
            return Ok(());
        }
        match &*key {
            FUNCTION_KEY => self.function = map.next_value::<Object<ToolBody<'de>>>()?.0,
            "toolCallId" => self.call_id = map.next_value()?,
            _ => return self.flat.entry(key, map),
        }
        Ok(())
    }
}

impl<'de: 'a, 'a> Entries<'de> for ToolBody<'a> {
    fn entry<A: MapAccess<'de>>(&mut self, key: Cow<'de, str>, map: &mut A) -> Result<(), A::Error> {
        match &*key {
            "args" | "arguments" => self.args = Some(map.next_value()?),
            "result" => {
                let raw: &'de RawValue = map.next_value()?;
                let Object(result) = serde_json::from_str(raw.get()).map_err(serde::de::Error::custom)?;
                (self.result, self.raw_result) = (result, Some(raw));
            }
            "name" => self.name = map.next_value()?,
            _ => skip(map)?,
        }
        Ok(())
    }
}

impl<'de: 'a, 'a> Entries<'de> for ToolResult<'a> {
    fn entry<A: MapAccess<'de>>(&mut self, key: Cow<'de, str>, map: &mut A) -> Result<(), A::Error> {
        if key == "isBackground" {
            self.is_background = map.next_value::<Scalar<'de>>()?.as_bool();
        } else if self.variant.is_some() {
            skip(map)?;
        } else if let Object(Some(detail)) = map.next_value()? {
            // A sibling that is no object is metadata, not a variant.
            self.variant = Some(key);
            self.detail = detail;
        }
        Ok(())
    }
}

impl<'de: 'a, 'a> Entries<'de> for Detail<'a> {
    fn entry<A: MapAccess<'de>>(&mut self, key: Cow<'de, str>, map: &mut A) -> Result<(), A::Error> {
        match &*key {
            "exitCode" => self.exit_code = map.next_value()?,
            "reason" => self.reason = map.next_value()?,
            "errorMessage" | "error" => self.error_message = map.next_value()?,
            "isError" => self.is_error = map.next_value::<Scalar<'de>>()?.is_true(),
            _ => skip(map)?,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> ToolObject<'_> {
        serde_json::from_str(json).unwrap()
    }

    fn outcome(result: &str) -> String {
        let json = format!(r#"{{"shellToolCall":{{"result":{result}}}}}"#);
        let object = read(&json);
        object.tool.unwrap().1.result.unwrap().outcome().to_owned()
    }

    #[test]
    fn the_tool_is_found_among_its_metadata_in_any_order() {
        let orders = [
            r#"{"shellToolCall":{"args":{"command":"ls"}},"hookAdditionalContexts":[],"toolCallId":"c","startedAtMs":"1"}"#,
            r#"{"startedAtMs":"1","toolCallId":"c","hookAdditionalContexts":[{"a":1}],"shellToolCall":{"args":{"command":"ls"}}}"#,
            r#"{"lastToolCall":"c0","weirdToolCall":null,"shellToolCall":{"args":{"command":"ls"}}}"#,
        ];
        for json in orders {
            let (key, body) = read(json).tool.unwrap();
            assert_eq!(key, "shellToolCall");
            assert_eq!(body.args.unwrap().get(), r#"{"command":"ls"}"#);
        }
    }

    #[test]
    fn a_rejected_call_needs_no_arguments() {
        let (_, body) = read(r#"{"shellToolCall":{"result":{"rejected":{"reason":"no"}}}}"#)
            .tool
            .unwrap();
        assert!(body.args.is_none());
        assert_eq!(body.result.unwrap().reason(), Some("no"));
    }

    #[test]
    fn every_outcome_is_the_variant_except_a_success_that_failed() {
        let cases = [
            (r#"{"success":{"exitCode":0},"isBackground":false}"#, "success"),
            (r#"{"isBackground":true,"success":{"exitCode":0}}"#, "success"),
            (r#"{"success":{"exitCode":2}}"#, "failure"),
            (r#"{"success":{"exitCode":"2"}}"#, "failure"),
            (r#"{"success":{"content":[],"isError":true}}"#, "error"),
            (r#"{"failure":{"exitCode":1}}"#, "failure"),
            (r#"{"timeout":{}}"#, "timeout"),
            (r#"{"rejected":{"reason":""}}"#, "rejected"),
            (r#"{"spawnError":{"error":"x"}}"#, "spawnError"),
            (r#"{"permissionDenied":{}}"#, "permissionDenied"),
            (r#"{"error":{"errorMessage":"File not found"}}"#, "error"),
            (r#"{"futureVariant":{}}"#, "futureVariant"),
            (r#"{}"#, "unknown"),
        ];
        for (result, expected) in cases {
            assert_eq!(outcome(result), expected, "{result}");
        }
    }

    #[test]
    fn legacy_shapes_are_read() {
        let object = read(r#"{"function":{"name":"web_fetch","arguments":"{\"url\":\"u\"}"}}"#);
        assert_eq!(object.function.unwrap().name.as_str(), Some("web_fetch"));
        let object = read(r#"{"name":"web_search","args":{"query":"q"}}"#);
        assert_eq!(object.flat.name.as_str(), Some("web_search"));
        assert_eq!(object.flat.args.unwrap().get(), r#"{"query":"q"}"#);
    }
}
