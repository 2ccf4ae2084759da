//! One line: version, id, operation and body.

use std::borrow::Cow;

use crate::visible::quoted;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use thiserror::Error;

use super::{Reply, Request};
use crate::frame::{self, FrameError};
use crate::id::RequestId;
use crate::scan;
use crate::version::PROTOCOL;

/// Declares an enum of operations whose bodies are read only once the name is known.
macro_rules! operations {
    (
        $(#[$meta:meta])*
        pub enum $name:ident, $tag:literal {
            $($(#[$doc:meta])* $variant:ident($body:ty) = $wire:literal,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, serde::Serialize)]
        #[serde(tag = $tag, content = "body")]
        #[allow(clippy::large_enum_variant, reason = "lines are handled one at a time, never in bulk")]
        pub enum $name {
            $($(#[$doc])* #[serde(rename = $wire)] $variant($body),)*
        }

        impl $name {
            /// Every name there is on the wire.
            pub const NAMES: &'static [&'static str] = &[$($wire),*];

            /// Returns the operation's name on the wire.
            pub fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => $wire,)* }
            }

            pub(super) fn decode(name: &str, body: &str) -> Option<Result<Self, serde_json::Error>> {
                match name {
                    $($wire => Some(serde_json::from_str(body).map(Self::$variant)),)*
                    _ => None,
                }
            }
        }
    };
}
pub(super) use operations;

/// The reason why a line is not a message.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LineError {
    /// Not JSON, or not the shape of a line.
    #[error("not a message: {0}")]
    Malformed(String),
    /// Another generation of the protocol.
    #[error("protocol version {found} is not supported; this program uses {PROTOCOL}")]
    Version {
        /// The version on the line.
        found: u32,
        /// The id to answer to.
        id: RequestId,
    },
    /// An operation this program does not know.
    #[error("unknown operation {}", quoted(.name))]
    Unknown {
        /// The operation.
        name: String,
        /// The id to answer to.
        id: RequestId,
    },
    /// The operation is known, but its body is invalid.
    #[error("the body of {} is wrong: {why}", quoted(.name))]
    Body {
        /// The operation.
        name: String,
        /// The problem with the body.
        why: String,
        /// The id to answer to.
        id: RequestId,
    },
}

impl LineError {
    /// Returns the id of the request, where the line had one.
    pub fn id(&self) -> Option<RequestId> {
        match self {
            Self::Malformed(_) => None,
            Self::Version { id, .. } | Self::Unknown { id, .. } | Self::Body { id, .. } => Some(*id),
        }
    }
}

/// Encodes a request as one line.
pub fn encode_request(id: RequestId, request: &Request) -> Result<Vec<u8>, FrameError> {
    frame::encode(&Outgoing {
        v: PROTOCOL,
        id,
        message: request,
    })
}

/// Encodes a reply as one line.
pub fn encode_reply(id: RequestId, reply: &Reply) -> Result<Vec<u8>, FrameError> {
    frame::encode(&Outgoing {
        v: PROTOCOL,
        id,
        message: reply,
    })
}

/// Reads a request line.
pub fn decode_request(line: &[u8]) -> Result<(RequestId, Request), LineError> {
    let head: RequestHead<'_> = parse(line)?;
    let (id, name) = (head.id, head.op);
    finish(head.v, id, &name, |body| Request::decode(&name, body), head.body)
}

/// Reads a reply line.
pub fn decode_reply(line: &[u8]) -> Result<(RequestId, Reply), LineError> {
    let head: ReplyHead<'_> = parse(line)?;
    let (id, name) = (head.id, head.re);
    finish(head.v, id, &name, |body| Reply::decode(&name, body), head.body)
}

#[derive(Serialize)]
struct Outgoing<'a, M> {
    v: u32,
    id: RequestId,
    #[serde(flatten)]
    message: &'a M,
}

#[derive(Deserialize)]
struct RequestHead<'a> {
    v: u32,
    id: RequestId,
    #[serde(borrow)]
    op: Cow<'a, str>,
    #[serde(borrow, default)]
    body: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ReplyHead<'a> {
    v: u32,
    id: RequestId,
    #[serde(borrow)]
    re: Cow<'a, str>,
    #[serde(borrow, default)]
    body: Option<&'a RawValue>,
}

fn parse<'a, T: Deserialize<'a>>(line: &'a [u8]) -> Result<T, LineError> {
    let text = scan::utf8(line).ok_or_else(|| LineError::Malformed("not UTF-8".into()))?;
    serde_json::from_str(text).map_err(|error| LineError::Malformed(error.to_string()))
}

fn finish<M>(
    version: u32,
    id: RequestId,
    name: &str,
    decode: impl FnOnce(&str) -> Option<Result<M, serde_json::Error>>,
    body: Option<&RawValue>,
) -> Result<(RequestId, M), LineError> {
    if version != PROTOCOL {
        return Err(LineError::Version { found: version, id });
    }
    match decode(body.map_or("{}", RawValue::get)) {
        Some(Ok(message)) => Ok((id, message)),
        Some(Err(error)) => Err(LineError::Body {
            name: name.to_owned(),
            why: error.to_string(),
            id,
        }),
        None => Err(LineError::Unknown {
            name: name.to_owned(),
            id,
        }),
    }
}
