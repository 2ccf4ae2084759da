//! Fill in fields.

use super::json::{Members, Node, Value};
use super::read::{check_count, check_distinct, check_label, flag, member, options, text, wrong_type};
use super::{FIELDS_MAX, LABEL_BYTES_MAX, PayloadError};
use crate::text::shorten;

/// A list of fields to fill in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// The fields, in order; never empty, no two labels alike.
    pub fields: Vec<Field>,
}

/// One field of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name, on one line, never blank.
    pub label: String,
    /// The kind of value that it takes.
    pub kind: Kind,
    /// The options; empty means free text.
    pub options: Vec<String>,
    /// Whether several values may be given; false unless written.
    pub allow_multiple: bool,
    /// Whether the form may be sent without it; false unless written.
    pub required: bool,
}

/// The kind of value that a field takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One line of text; the default.
    Text,
    /// Several lines of text.
    Textarea,
    /// A number.
    Number,
    /// Yes or no.
    Boolean,
    /// Text that is never shown again.
    Password,
    /// A day, as `YYYY-MM-DD`.
    Date,
    /// A kind this version does not know; treated as text.
    Other(String),
}

impl Kind {
    /// Returns the kind that is written as `name`.
    pub fn from_name(name: &str) -> Self {
        match name {
            "text" => Self::Text,
            "textarea" => Self::Textarea,
            "number" => Self::Number,
            "boolean" => Self::Boolean,
            "password" => Self::Password,
            "date" => Self::Date,
            other => Self::Other(other.to_owned()),
        }
    }

    /// Returns how it is written.
    pub fn name(&self) -> &str {
        match self {
            Self::Text => "text",
            Self::Textarea => "textarea",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Password => "password",
            Self::Date => "date",
            Self::Other(name) => name,
        }
    }
}

impl Field {
    /// Returns whether its value must never be shown, logged, indexed or kept.
    pub fn is_secret(&self) -> bool {
        self.kind == Kind::Password
    }

    fn read(node: &Node<'_>, path: &str) -> Result<Self, PayloadError> {
        let Value::Object(members) = &node.value else {
            return Err(wrong_type(path, "an object", node, &as_field(node)));
        };
        let options = match member(members, "options") {
            Some(node) => options(node, &format!("{path}.options"))?,
            None => Vec::new(),
        };
        Ok(Self {
            label: label(members, path)?,
            kind: text(members, path, "kind", LABEL_BYTES_MAX)?.map_or(Kind::Text, Kind::from_name),
            options,
            allow_multiple: flag(members, path, "allow_multiple")?,
            required: is_required(members),
        })
    }
}

impl Form {
    pub(super) fn read(members: &Members<'_>) -> Result<Self, PayloadError> {
        let path = "$.fields";
        let hint = || r#"ask for at least one: "fields":[{"label":"Name"}]"#.to_owned();
        let Some(node) = member(members, "fields") else {
            return Err(PayloadError::Missing {
                path: path.into(),
                hint: hint(),
            });
        };
        let Value::Array(nodes) = &node.value else {
            return Err(wrong_type(path, "an array of objects", node, &hint()));
        };
        if nodes.is_empty() {
            return Err(PayloadError::Empty {
                path: path.into(),
                hint: hint(),
            });
        }
        check_count(path, nodes.len(), FIELDS_MAX)?;
        let fields: Vec<Field> = (nodes.iter().enumerate())
            .map(|(i, node)| Field::read(node, &format!("{path}[{i}]")))
            .collect::<Result<_, _>>()?;
        let labels: Vec<&str> = fields.iter().map(|field| field.label.as_str()).collect();
        check_distinct(&labels, |i| format!("{path}[{i}].label"))?;
        Ok(Self { fields })
    }
}

fn label(members: &Members<'_>, path: &str) -> Result<String, PayloadError> {
    let Some(label) = text(members, path, "label", LABEL_BYTES_MAX)? else {
        let hint = r#"name the field: {"label":"Name"}"#.to_owned();
        return Err(PayloadError::Missing {
            path: format!("{path}.label"),
            hint,
        });
    };
    check_label(&format!("{path}.label"), label)?;
    Ok(label.to_owned())
}

/// Returns whether the field must be filled in.
///
/// HAP's own text does not know this key, so anything but a boolean is an unknown key's value: kept, without meaning.
fn is_required(members: &Members<'_>) -> bool {
    matches!(
        member(members, "required"),
        Some(Node {
            value: Value::Bool(true),
            ..
        })
    )
}

/// Says how to write as a field what was written as something else.
fn as_field(node: &Node<'_>) -> String {
    match &node.value {
        Value::String(name) => format!(r#"write {{"label":"{}"}}"#, shorten(name)),
        _ => r#"write an object such as {"label":"Name"}"#.into(),
    }
}
