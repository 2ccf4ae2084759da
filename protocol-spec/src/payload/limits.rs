//! The size limits of a payload.
//!
//! A person reads and answers it, so the limits are generous for people and small for machines.

/// The most bytes of JSON a payload may have.
pub const PAYLOAD_BYTES_MAX: usize = 1024 * 1024;

/// The deepest nesting a payload may have; the object itself is the first level.
pub const PAYLOAD_DEPTH_MAX: usize = 32;

/// The most options of a choice or of a form field.
pub const OPTIONS_MAX: usize = 500;

/// The most fields of a form.
pub const FIELDS_MAX: usize = 200;

/// The most bytes of one option.
pub const OPTION_BYTES_MAX: usize = 4 * 1024;

/// The most bytes of a field's or a button's label.
pub const LABEL_BYTES_MAX: usize = 1024;

/// The most bytes of a confirm's text.
pub const TEXT_BYTES_MAX: usize = 64 * 1024;
