//! The events that the adapter writes for watchers of a cloud run, one JSON object per line.
//!
//! Cursor's cloud has no stream of its own that all generations share, so the adapter makes one: `init`,
//! `status`, `user`, `assistant`, `tool` (where the API tells of tools), `result`.

use cloud_settings::ApiGeneration;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Takes events as they happen.
pub trait EventSink: Send {
    /// Takes one event. A sink that cannot take it any more must not stop the run.
    fn emit(&mut self, event: &CloudEvent);
}

impl<F: FnMut(&CloudEvent) + Send> EventSink for F {
    fn emit(&mut self, event: &CloudEvent) {
        self(event);
    }
}

/// One event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum CloudEvent {
    /// A run was started, continued or found again.
    Init {
        /// Always `cursor_cloud`.
        runtime: String,
        /// The cloud agent.
        agent_id: String,
        /// The run, where the API has runs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run_id: Option<String>,
        /// The generation of the API.
        #[serde(default)]
        api: ApiGeneration,
        /// The repository.
        repository: String,
        /// Whether an earlier conversation is continued.
        #[serde(default)]
        resumed: bool,
        /// The model that was asked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// The page that shows the agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        url: Option<String>,
    },
    /// The run has another status than before.
    Status {
        /// The cloud agent.
        agent_id: String,
        /// The status as the API spells it, or one of ours in lower case.
        status: String,
        /// More about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<String>,
    },
    /// Something was said to the agent.
    User {
        /// The words.
        text: String,
    },
    /// The agent said something.
    Assistant {
        /// The words.
        text: String,
    },
    /// A tool was started or is done.
    Tool {
        /// The id that ties start and end together.
        call_id: String,
        /// The tool.
        name: String,
        /// The status of the call.
        status: String,
    },
    /// The run is over.
    Result {
        /// The cloud agent; none if there never was one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent_id: Option<String>,
        /// The last status.
        status: String,
        /// Whether the run did not succeed.
        is_error: bool,
        /// Why not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error_message: Option<String>,
        /// The API's error with its whole body, if it is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<Box<Value>>,
        /// The agent's last text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// The branch.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branch_name: Option<String>,
        /// The pull request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pr_url: Option<String>,
        /// The page that shows the agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        url: Option<String>,
    },
}

impl CloudEvent {
    /// Returns the event as one line without its end.
    pub fn line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// A line of a transcript: an event, or anything else that was written there.
#[derive(Debug, Clone, PartialEq)]
pub enum TranscriptLine {
    /// An event.
    Event(CloudEvent),
    /// Something else.
    Stdout(String),
}

/// Reads a line that was written earlier.
pub fn parse_line(line: &str) -> TranscriptLine {
    match serde_json::from_str(line.trim()) {
        Ok(event) => TranscriptLine::Event(event),
        Err(_) => TranscriptLine::Stdout(line.to_owned()),
    }
}

/// Returns an event as a person reads it in a terminal, without colours.
pub fn format_event(event: &CloudEvent) -> String {
    let shown = match event {
        CloudEvent::Init {
            agent_id,
            repository,
            resumed,
            url,
            ..
        } => {
            let verb = if *resumed { "continuing" } else { "launched" };
            let page = url.as_ref().map(|url| format!("\n{url}")).unwrap_or_default();
            format!("{verb} {agent_id} on {repository}{page}")
        }
        CloudEvent::Status { status, detail, .. } => match detail {
            Some(detail) => format!("status: {status} ({detail})"),
            None => format!("status: {status}"),
        },
        CloudEvent::User { text } => format!("you: {text}"),
        CloudEvent::Assistant { text } => text.clone(),
        CloudEvent::Tool { name, status, .. } => format!("tool: {name} ({status})"),
        CloudEvent::Result {
            status,
            is_error,
            error_message,
            branch_name,
            pr_url,
            ..
        } => {
            let mut lines = vec![match (is_error, error_message) {
                (true, Some(message)) => format!("FAILED: {message}"),
                (true, None) => format!("FAILED: {status}"),
                (false, _) => format!("done: {status}"),
            }];
            lines.extend(branch_name.as_ref().map(|branch| format!("branch: {branch}")));
            lines.extend(pr_url.as_ref().map(|url| format!("pull request: {url}")));
            lines.join("\n")
        }
    };
    // A cloud agent's words must not steer the terminal they are shown in.
    shown
        .chars()
        .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
        .collect()
}

/// Removes secrets from an event.
pub(super) fn redacted(event: &CloudEvent, redactor: &cloud_settings::Redactor) -> CloudEvent {
    let Ok(mut value) = serde_json::to_value(event) else {
        return event.clone();
    };
    redactor.json(&mut value);
    serde_json::from_value::<CloudEvent>(value).unwrap_or_else(|_| event.clone())
}

/// Returns what a result event says, for a raw JSON value of one.
pub fn result_text(event: &Value) -> Option<&str> {
    event["errorMessage"].as_str().or_else(|| event["text"].as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn parses_init_and_status() {
        let init = json!({"type": "init", "runtime": "cursor_cloud", "agentId": "bc-1", "repository": "r"});
        let TranscriptLine::Event(CloudEvent::Init {
            agent_id, resumed, ..
        }) = parse_line(&init.to_string())
        else {
            panic!("not an init event");
        };
        assert_eq!((agent_id.as_str(), resumed), ("bc-1", false));
        let status = CloudEvent::Status {
            agent_id: "bc-1".into(),
            status: "RUNNING".into(),
            detail: None,
        };
        assert_eq!(
            status.line(),
            r#"{"type":"status","agentId":"bc-1","status":"RUNNING"}"#
        );
        assert_eq!(parse_line(&status.line()), TranscriptLine::Event(status));
    }

    #[test]
    fn assistant_and_tool_lifecycle() {
        for status in ["running", "completed"] {
            let tool = CloudEvent::Tool {
                call_id: "c".into(),
                name: "Read".into(),
                status: status.into(),
            };
            assert_eq!(parse_line(&tool.line()), TranscriptLine::Event(tool.clone()));
            assert_eq!(format_event(&tool), format!("tool: Read ({status})"));
        }
        let words = CloudEvent::Assistant {
            text: "done\u{1b}[2J\nbye".into(),
        };
        assert_eq!(format_event(&words), "done[2J\nbye");
    }

    #[test]
    fn a_standalone_tool_result_is_shown_as_it_came() {
        let line = r#"{"type":"tool_result","callId":"c"}"#;
        assert_eq!(parse_line(line), TranscriptLine::Stdout(line.to_owned()));
    }

    #[test]
    fn result_events_and_unknown_lines_as_stdout() {
        let result = json!({"type": "result", "status": "ERROR", "isError": true, "errorMessage": "no"});
        let TranscriptLine::Event(event) = parse_line(&result.to_string()) else {
            panic!("not an event")
        };
        assert_eq!(format_event(&event), "FAILED: no");
        assert_eq!(result_text(&result), Some("no"));
        for line in ["plain words", "{\"type\":\"later\"}", "{broken", ""] {
            assert_eq!(parse_line(line), TranscriptLine::Stdout(line.to_owned()));
        }
    }
}
