//! Draws a state. Nothing here changes it.

mod style;

mod help;
mod list;
mod parts;

mod draw;

#[cfg(test)]
pub(super) mod tests;

pub(super) use draw::draw;
pub(super) use style::Style;
