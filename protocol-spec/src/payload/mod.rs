//! The payload of a question: choice, confirm or form.
//!
//! [`Payload`] keeps the JSON that the agent wrote and, beside it, the [`Shape`] it means with every default filled.
//! Unknown keys are kept and given no meaning, so that newer agents work with older brokers.

mod parse;
mod shape;

mod choice;
mod confirm;
mod error;
mod form;
mod json;
mod limits;
mod normalise;
mod read;
mod schema;

pub use choice::Choice;
pub use confirm::{CANCEL_LABEL, CONFIRM_LABEL, Confirm};
pub use error::PayloadError;
pub use form::{Field, Form, Kind};
pub use limits::{
    FIELDS_MAX, LABEL_BYTES_MAX, OPTION_BYTES_MAX, OPTIONS_MAX, PAYLOAD_BYTES_MAX, PAYLOAD_DEPTH_MAX,
    TEXT_BYTES_MAX,
};
pub use parse::Payload;
pub use schema::schema;
pub use shape::Shape;
