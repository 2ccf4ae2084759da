//! The protocol itself, as a prompt and as resources.

use protocol_spec::visible::quoted;
use rmcp::ErrorData;
use rmcp::model::{
    GetPromptRequestParams, GetPromptResult, Prompt, PromptArgument, PromptMessage, ReadResourceResult,
    Resource, ResourceContents, Role,
};
use runtimes::{Language, Runtime, protocol};
use serde_json::Value;

const PROMPT: &str = "hap";
const MEDIA_TYPE: &str = "text/markdown";
/// The resources: address, name, language.
const RESOURCES: [(&str, &str, Language); 2] = [
    ("cueme://protocol/en", "hap-en", Language::English),
    ("cueme://protocol/zh", "hap-zh", Language::Chinese),
];

pub(super) fn prompts() -> Vec<Prompt> {
    let arguments = vec![
        PromptArgument::new("runtime")
            .with_description("Where the agent runs: cursor, claude_code, codex …")
            .with_required(false),
        PromptArgument::new("language")
            .with_description("en or zh")
            .with_required(false),
    ];
    vec![
        Prompt::new(PROMPT, Some("How to ask the human, and when"), Some(arguments))
            .with_title("Human agent protocol"),
    ]
}

pub(super) fn prompt(request: &GetPromptRequestParams) -> Result<GetPromptResult, ErrorData> {
    if request.name != PROMPT {
        return Err(ErrorData::invalid_params(
            format!("there is no prompt {}", quoted(&request.name)),
            None,
        ));
    }
    let given = |name: &str| {
        let arguments = request.arguments.as_ref()?;
        arguments.get(name).and_then(Value::as_str)
    };
    let runtime = match given("runtime") {
        None => None,
        Some(tag) => Some(
            Runtime::from_tag(tag)
                .ok_or_else(|| ErrorData::invalid_params(format!("unknown runtime {}", quoted(tag)), None))?,
        ),
    };
    let language = match given("language") {
        None => Language::English,
        Some(name) => name
            .parse::<Language>()
            .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?,
    };
    let message = PromptMessage::new_text(Role::User, protocol(runtime, language));
    Ok(GetPromptResult::new(vec![message]))
}

pub(super) fn resources() -> Vec<Resource> {
    RESOURCES
        .iter()
        .map(|(uri, name, _)| {
            Resource::new(*uri, *name)
                .with_title("Human agent protocol")
                .with_mime_type(MEDIA_TYPE)
        })
        .collect()
}

pub(super) fn resource(uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let (_, _, language) = RESOURCES
        .iter()
        .find(|(known, _, _)| *known == uri)
        .ok_or_else(|| {
            ErrorData::resource_not_found(format!("there is no resource {}", quoted(uri)), None)
        })?;
    let contents = ResourceContents::text(protocol(None, *language), uri).with_mime_type(MEDIA_TYPE);
    Ok(ReadResourceResult::new(vec![contents]))
}
