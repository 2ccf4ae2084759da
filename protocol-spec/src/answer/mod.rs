//! A human's answer: checked against the question and rendered for the agent.
//!
//! Clients send an [`Answer`]. [`Answer::check`] checks it against the [`Question`] and returns a [`Checked`] answer,
//! the only kind that can be rendered.
//!
//! ```
//! use protocol_spec::answer::{Answer, Question, Reply};
//! use protocol_spec::payload::Payload;
//!
//! let payload = Payload::parse(r#"{"type":"choice","options":["Continue","Stop"]}"#)?;
//! let reply = Reply::Choice { selected: vec!["Stop".into()], other: None };
//! let answer = Answer { text: Some("Tests are red.".into()), reply: Some(reply), ..Answer::default() };
//!
//! let rendered = answer.check(Question::Cue(Some(&payload)))?.render();
//! assert_eq!(rendered.text, "Stop\n\nTests are red.");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod model;

mod check;
mod consent;
mod error;
mod form;
mod render;
mod suggest;
mod value;

pub use check::{Checked, Picked, Question};
pub use consent::{NO, YES, consent};
pub use error::AnswerError;
pub use form::check_one_field;
pub use model::{
    ANSWER_BYTES_MAX, ATTACHMENT_PATH_BYTES_MAX, ATTACHMENTS_MAX, Answer, Attachment, FieldAnswer, Reply,
};
pub use render::{REDACTED, Redacted, Rendered, without_attachments, without_end};
