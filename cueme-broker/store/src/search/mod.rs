//! Full-text search as every store does it: how texts become words, how words find texts, and whom they recall.
//!
//! Nothing here reads a store. A store has the index, in the form that its database serves best.

mod common_words;
mod recall;
mod snippet;
mod tokens;
mod unicode61;
mod words;

pub use recall::{AgentFacts, Form, Place, Recalled, WordIndex, other_forms_of, recall, stem};
pub use snippet::snippet;
pub use tokens::{fold, tokens};
pub use words::{
    INDEX_BATCH, INDEX_BATCH_BYTES, INDEXED_CHARS_MAX, QUERY_WORDS_MAX, is_unspaced, segment, words,
};
