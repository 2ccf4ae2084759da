//! The content of a notification.

use serde::Serialize;

/// A waiting question, as a notification shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Notice {
    /// The question.
    pub cue_id: String,
    /// Its agent.
    pub agent_id: String,
    /// The name that a human gave the agent, or its id.
    pub agent: String,
    /// The agent's runtime.
    pub runtime: String,
    /// The last part of the directory it works in.
    pub project: String,
    /// The beginning of the question, unless it must not leave the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// Whether characters that cannot be seen are spelled out in these texts, as `⟨U+202E⟩`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub spelled_out: bool,
    /// When it was asked.
    pub asked_at: String,
    /// The link to answer it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

impl Notice {
    /// Returns a notice that says it is a test.
    pub fn test() -> Self {
        Self {
            cue_id: "test".to_owned(),
            agent_id: "test".to_owned(),
            agent: "A test of cueme".to_owned(),
            runtime: "test".to_owned(),
            project: String::new(),
            question: Some("This channel works. No question waits.".to_owned()),
            spelled_out: false,
            asked_at: String::new(),
            url: None,
        }
    }

    /// Returns the line above.
    pub fn title(&self) -> String {
        if self.project.is_empty() {
            format!("{} waits for you", self.agent)
        } else {
            format!("{} ({}) waits for you", self.agent, self.project)
        }
    }

    /// Returns the line below.
    pub fn body(&self) -> &str {
        self.question.as_deref().unwrap_or("A question is open.")
    }

    /// Returns all of it as plain text.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n{}", self.title(), self.body());
        if let Some(url) = &self.url {
            text.push('\n');
            text.push_str(url);
        }
        text
    }
}
