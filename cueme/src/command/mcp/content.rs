//! The result of a tool: the text that the command prints, the same as data, and pictures as pictures.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use protocol_spec::answer::Answer;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

use crate::agent_output::{Form, Rested};
use crate::client::{Receipt, Waited};
use crate::error::CliError;

/// The largest picture that is put into a result; the path of a larger one stands in the text.
const PICTURE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Returns a success.
pub(super) fn said(text: String, structured: Value) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(structured);
    result
}

/// Returns a failure that the agent can read.
pub(super) fn failed(error: &CliError) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(error.to_string())])
}

/// Returns that nobody has answered yet.
pub(super) fn still_open() -> CallToolResult {
    let rested = Rested::unknown();
    said(Form::Text.rested(&rested), data(&Form::Json.rested(&rested)))
}

/// Returns how a wait ended, and what confirms that the agent knows.
pub(super) fn told(waited: Waited) -> (CallToolResult, Option<Receipt>) {
    match waited {
        Waited::Outcome(told, receipt) => {
            let mut result = said(Form::Text.outcome(&told), data(&Form::Json.outcome(&told)));
            if let Some(answer) = &told.answer {
                result.content.extend(pictures(answer));
            }
            (result, Some(receipt))
        }
        Waited::Mailbox(mailbox, receipt) => {
            let language = receipt.language();
            let text = Form::Text.mailbox(&mailbox, language);
            (
                said(text, data(&Form::Json.mailbox(&mailbox, language))),
                Some(receipt),
            )
        }
        Waited::Rested(rested) => {
            let text = Form::Text.rested(&rested);
            (said(text, data(&Form::Json.rested(&rested))), None)
        }
        Waited::Stopped(..) => (still_open(), None),
    }
}

fn data(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|_| json!({}))
}

/// A picture that cannot be read is left out: its path is in the text.
fn pictures(answer: &Answer) -> Vec<ContentBlock> {
    answer
        .attachments
        .iter()
        .filter_map(|attachment| {
            let media_type = attachment.media_type.as_deref()?;
            if !media_type.starts_with("image/") {
                return None;
            }
            let length = std::fs::metadata(&attachment.path).ok()?.len();
            if length > PICTURE_BYTES_MAX {
                return None;
            }
            let bytes = std::fs::read(&attachment.path).ok()?;
            Some(ContentBlock::image(STANDARD.encode(bytes), media_type))
        })
        .collect()
}
