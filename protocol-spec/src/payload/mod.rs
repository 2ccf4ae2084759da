//! Choice, confirm and form.
