//! The reasons for refusing a payload, with the JSON path and a hint.

/// The reason for refusing a payload.
///
/// Displays as one lowercase fragment that names the JSON path; [`PayloadError::hint`] says what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PayloadError {
    /// More bytes than [`PAYLOAD_BYTES_MAX`](super::PAYLOAD_BYTES_MAX).
    #[error("$ has {bytes} bytes of JSON, at most {max} are allowed")]
    TooLarge {
        /// The size, in bytes.
        bytes: usize,
        /// The maximum size, in bytes.
        max: usize,
    },
    /// Text that is not JSON.
    #[error("not valid JSON at line {line} column {column}: {message}")]
    Syntax {
        /// The line within the JSON, counted from one.
        line: usize,
        /// The column, counted in bytes from one.
        column: usize,
        /// The JSON reader's error message.
        message: String,
    },
    /// A string with an escape that is no character, such as half of a surrogate pair.
    #[error("{path} has a broken escape: {message}")]
    BrokenEscape {
        /// The path of the string, or of the object that has it as a key.
        path: String,
        /// The JSON reader's error message.
        message: String,
    },
    /// Nesting deeper than [`PAYLOAD_DEPTH_MAX`](super::PAYLOAD_DEPTH_MAX).
    #[error("{path} is nested deeper than {max} levels")]
    TooDeep {
        /// The path of the value that is nested too deeply.
        path: String,
        /// The deepest level allowed.
        max: usize,
    },
    /// A key that an object has twice: which of both counts would be a guess.
    #[error("{path} is written twice")]
    DuplicateKey {
        /// The path of the key.
        path: String,
    },
    /// Something other than an object.
    #[error("$ must be a JSON object or null, found {found}")]
    NotAnObject {
        /// The JSON type found.
        found: &'static str,
    },
    /// A key that must be there.
    #[error("{path} is missing")]
    Missing {
        /// The path of the key.
        path: String,
        /// The value to write.
        hint: String,
    },
    /// A value of the wrong JSON type.
    #[error("{path} must be {expected}, found {found}")]
    WrongType {
        /// The path of the value.
        path: String,
        /// The expected type.
        expected: &'static str,
        /// The value found, truncated.
        found: String,
        /// The value to write.
        hint: String,
    },
    /// A `type` that HAP does not define.
    #[error("$.type must be \"choice\", \"confirm\" or \"form\", found \"{found}\"")]
    UnknownType {
        /// The given type, truncated.
        found: String,
        /// The value to write.
        hint: String,
    },
    /// A list that must not be empty.
    #[error("{path} is empty")]
    Empty {
        /// The path of the list.
        path: String,
        /// The value to write.
        hint: String,
    },
    /// Text that must be readable and is not.
    #[error("{path} is blank")]
    Blank {
        /// The path of the text.
        path: String,
        /// The value to write.
        hint: String,
    },
    /// A label of more than one line.
    #[error("{path} has a line break")]
    LineBreak {
        /// The path of the label.
        path: String,
    },
    /// An option, label or button occurs twice.
    #[error("{path} repeats {first}: \"{value}\"")]
    Duplicate {
        /// The path of the second.
        path: String,
        /// The path of the first.
        first: String,
        /// The text of both, truncated.
        value: String,
    },
    /// A list above its limit.
    #[error("{path} has {count} entries, at most {max} are allowed")]
    TooMany {
        /// The path of the list.
        path: String,
        /// The number of entries.
        count: usize,
        /// The maximum number of entries.
        max: usize,
    },
    /// Text above its limit.
    #[error("{path} has {bytes} bytes, at most {max} are allowed")]
    TooLong {
        /// The path of the text.
        path: String,
        /// The size, in bytes.
        bytes: usize,
        /// The maximum size, in bytes.
        max: usize,
    },
}

impl PayloadError {
    /// Returns the JSON path to look at, `$` when it is the whole payload.
    pub fn path(&self) -> &str {
        match self {
            Self::TooLarge { .. } | Self::Syntax { .. } | Self::NotAnObject { .. } => "$",
            Self::UnknownType { .. } => "$.type",
            Self::BrokenEscape { path, .. }
            | Self::TooDeep { path, .. }
            | Self::DuplicateKey { path }
            | Self::Missing { path, .. }
            | Self::WrongType { path, .. }
            | Self::Empty { path, .. }
            | Self::Blank { path, .. }
            | Self::LineBreak { path }
            | Self::Duplicate { path, .. }
            | Self::TooMany { path, .. }
            | Self::TooLong { path, .. } => path,
        }
    }

    /// Returns a hint on how to fix the payload.
    pub fn hint(&self) -> String {
        match self {
            Self::TooLarge { .. } | Self::TooLong { .. } => {
                "keep payloads short; put long material into the prompt or into a file".into()
            }
            Self::Syntax { .. } => {
                r#"write one JSON object with quoted keys and no trailing commas, such as {"type":"confirm","text":"Continue?"}, or leave the block out"#.into()
            }
            Self::BrokenEscape { .. } => "write the character itself, or both halves of its \\u escape".into(),
            Self::TooDeep { .. } => "flatten it; a payload needs three levels".into(),
            Self::DuplicateKey { .. } => "keep one of the two".into(),
            Self::NotAnObject { .. } => {
                r#"write an object such as {"type":"choice","options":["Continue","Stop"]}, or leave the block out"#.into()
            }
            Self::LineBreak { .. } => "keep it on one line and put the explanation into the prompt".into(),
            Self::Duplicate { .. } => "make them different, or the answer could mean either".into(),
            Self::TooMany { .. } => "offer fewer, or ask in several steps".into(),
            Self::Missing { hint, .. }
            | Self::WrongType { hint, .. }
            | Self::UnknownType { hint, .. }
            | Self::Empty { hint, .. }
            | Self::Blank { hint, .. } => hint.clone(),
        }
    }

    /// Returns a short, stable name of the variant, for programs and test vectors.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "payload_too_large",
            Self::Syntax { .. } => "payload_syntax",
            Self::BrokenEscape { .. } => "payload_broken_escape",
            Self::TooDeep { .. } => "payload_too_deep",
            Self::DuplicateKey { .. } => "payload_duplicate_key",
            Self::NotAnObject { .. } => "payload_not_an_object",
            Self::Missing { .. } => "payload_missing",
            Self::WrongType { .. } => "payload_wrong_type",
            Self::UnknownType { .. } => "payload_unknown_type",
            Self::Empty { .. } => "payload_empty",
            Self::Blank { .. } => "payload_blank",
            Self::LineBreak { .. } => "payload_line_break",
            Self::Duplicate { .. } => "payload_duplicate",
            Self::TooMany { .. } => "payload_too_many",
            Self::TooLong { .. } => "payload_too_long",
        }
    }
}
