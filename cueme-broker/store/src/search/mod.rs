//! Full-text search shared by all stores: splitting texts into words, finding texts by words, and recalling agents.
//!
//! Nothing here reads a store. Each store has the index, in the form that suits its database.

mod common_words;
mod recall;
mod snippet;
mod tokens;
mod unicode61;
mod words;

pub use recall::{AgentFacts, Form, Occurrence, Recalled, WordIndex, other_forms_of, recall, stem};
pub use snippet::snippet;
pub use tokens::{fold, tokens};
pub use words::{
    INDEX_BATCH, INDEX_BATCH_BYTES, INDEXED_CHARS_MAX, QUERY_WORDS_MAX, is_unspaced, segment, words,
};
