//! Reads the tag-block envelope.
