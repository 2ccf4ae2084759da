//! The three shapes of a payload.

use super::json::{Members, Value};
use super::read::{member, wrong_type};
use super::{Choice, Confirm, Form, PayloadError};
use crate::text::shorten;

/// The shape of a payload, with every default filled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Pick from a list.
    Choice(Choice),
    /// Press one of two buttons.
    Confirm(Confirm),
    /// Fill in fields.
    Form(Form),
}

impl Shape {
    /// Returns the `type` it is written with.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Choice(_) => "choice",
            Self::Confirm(_) => "confirm",
            Self::Form(_) => "form",
        }
    }
}

/// Reads the shape out of the payload's object.
pub(super) fn read_shape(members: &Members<'_>) -> Result<Shape, PayloadError> {
    let Some(node) = member(members, "type") else {
        return Err(PayloadError::Missing {
            path: "$.type".into(),
            hint: TYPES.into(),
        });
    };
    let Value::String(name) = &node.value else {
        return Err(wrong_type("$.type", "a string", node, TYPES));
    };
    match name.as_str() {
        "choice" => Choice::read(members).map(Shape::Choice),
        "confirm" => Confirm::read(members).map(Shape::Confirm),
        "form" => Form::read(members).map(Shape::Form),
        _ => Err(PayloadError::UnknownType {
            found: shorten(name),
            hint: meant(name),
        }),
    }
}

const TYPES: &str = r#"add "type":"choice", "type":"confirm" or "type":"form""#;

fn meant(name: &str) -> String {
    let lower = name.trim().to_ascii_lowercase();
    match lower.as_str() {
        "choice" | "confirm" | "form" => format!(r#"write "type":"{lower}""#),
        _ => r#"write "choice" to offer options, "confirm" for yes or no, "form" for several values"#.into(),
    }
}
