//! The tag-block envelope an agent writes on stdin.
//!
//! [`decode`] turns bytes into text, [`parse_cue`] and [`parse_pause`] turn text into an [`Envelope`], and
//! [`render`] writes one. What a payload may say is not decided here but in [`crate::payload`].
//!
//! ```
//! use protocol_spec::envelope;
//!
//! let stdin = b"<cueme_prompt>\r\nShip it?\r\n</cueme_prompt>\r\n";
//! let text = envelope::decode(stdin)?;
//! let envelope = envelope::parse_cue(&text)?;
//! assert_eq!(envelope.prompt, "Ship it?");
//! assert!(envelope.payload.is_none());
//! # Ok::<(), envelope::EnvelopeError>(())
//! ```

mod parse;

mod classify;
mod encoding;
mod error;
mod grammar;
mod render;
mod tag;

pub use encoding::decode;
pub use error::EnvelopeError;
pub use parse::{Envelope, PROMPT_BYTES_MAX, parse_cue, parse_pause};
pub use render::{RenderError, render};
