//! Runs the Cursor agent CLI.
