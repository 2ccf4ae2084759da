//! Answers as the JSON they are stored as.

use std::sync::Arc;

use protocol_spec::answer::Answer;

use crate::StoreError;

/// Writes an answer as it is stored.
pub fn answer_json(answer: Option<&Answer>) -> Result<Option<String>, StoreError> {
    answer
        .map(serde_json::to_string)
        .transpose()
        .map_err(|error| StoreError::BadValue {
            what: "an answer",
            value: error.to_string(),
        })
}

/// Reads an answer as it was stored.
pub fn parse_answer(json: Option<&str>) -> Result<Option<Arc<Answer>>, StoreError> {
    json.map(|json| serde_json::from_str(json).map(Arc::new))
        .transpose()
        .map_err(|error| StoreError::BadValue {
            what: "an answer",
            value: error.to_string(),
        })
}
