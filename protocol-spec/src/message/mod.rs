//! The messages between client and broker: a request line, and the lines that answer it.
//!
//! Every line is `{"v":1,"id":…,"op"|"re":…,"body":{…}}`. The id is the client's; each line that answers a request
//! carries it. Bodies are read only once the operation is known, so a large prompt is never buffered twice.

mod fit;
mod import;
mod line;
mod reply;
mod request;
mod run;
mod view;

pub use fit::{CONTENT_BYTES_MAX, LINE_BYTES_PER_BYTE_MAX, line_bytes};
pub use import::*;
pub use line::{LineError, decode_reply, decode_request, encode_reply, encode_request};
pub use reply::*;
pub use request::*;
pub use run::*;
pub use view::*;

/// The longest message a human may leave, and the longest reason, in bytes.
pub const MESSAGE_BYTES_MAX: usize = 1024 * 1024;
/// The longest path or name that is kept, in bytes.
pub const NAME_BYTES_MAX: usize = 4096;
/// The most questions one acknowledgement may name, and the most outcomes one reply hands over.
pub const ACKS_MAX: usize = 256;
/// The longest mark of a turn, in bytes: every receipt keeps it.
pub const NONCE_BYTES_MAX: usize = 256;
