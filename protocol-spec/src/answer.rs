//! What a human answered.
