//! Questions that an agent asks with a question tool of its runtime.

use serde::{Deserialize, Serialize};

/// One AskQuestion call.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AskQuestion {
    /// The call this belongs to.
    #[serde(skip_deserializing)]
    pub call_id: String,
    /// The heading over all questions.
    pub title: String,
    /// The questions.
    pub questions: Vec<Question>,
}

/// One question with its options.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Question {
    /// The agent's name for it.
    pub id: String,
    /// The question's text.
    pub prompt: String,
    /// The options.
    pub options: Vec<QuestionOption>,
    /// Whether several may be chosen.
    pub allow_multiple: bool,
}

/// One option.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct QuestionOption {
    /// The agent's name for it.
    pub id: String,
    /// The text that the human reads.
    pub label: String,
}

impl AskQuestion {
    /// Reports whether both are one call, or ask the very same.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let one_call = !self.call_id.is_empty() && self.call_id == other.call_id;
        one_call || (&self.title, &self.questions) == (&other.title, &other.questions)
    }
}
