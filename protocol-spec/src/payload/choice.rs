//! Pick from a list.

use super::PayloadError;
use super::json::Members;
use super::read::{flag, member, options};

/// A list of options to pick from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The options, in order; never empty, none blank, no two alike.
    pub options: Vec<String>,
    /// Whether several may be picked; false unless written.
    pub allow_multiple: bool,
}

impl Choice {
    pub(super) fn read(members: &Members<'_>) -> Result<Self, PayloadError> {
        let hint = || r#"offer at least one: "options":["Continue","Stop"]"#.to_owned();
        let Some(node) = member(members, "options") else {
            return Err(PayloadError::Missing {
                path: "$.options".into(),
                hint: hint(),
            });
        };
        let options = options(node, "$.options")?;
        if options.is_empty() {
            return Err(PayloadError::Empty {
                path: "$.options".into(),
                hint: hint(),
            });
        }
        Ok(Self {
            options,
            allow_multiple: flag(members, "$", "allow_multiple")?,
        })
    }
}
