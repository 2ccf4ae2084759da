//! Drives Cursor's cloud agents.
