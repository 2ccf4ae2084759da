//! Press one of two buttons.

use super::json::Members;
use super::read::{check_distinct, check_label, text};
use super::{LABEL_BYTES_MAX, PayloadError, TEXT_BYTES_MAX};
use crate::text::is_blank;

/// The confirming button's label when none is written.
pub const CONFIRM_LABEL: &str = "Confirm";

/// The other button's label when none is written.
pub const CANCEL_LABEL: &str = "Cancel";

/// A question with two buttons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confirm {
    /// The text to confirm, if the prompt does not say it already.
    pub text: Option<String>,
    /// The label of the button that confirms.
    pub confirm_label: String,
    /// The label of the button that does not; there always is one, so that a person can say no.
    pub cancel_label: String,
}

impl Confirm {
    pub(super) fn read(members: &Members<'_>) -> Result<Self, PayloadError> {
        let text = text(members, "$", "text", TEXT_BYTES_MAX)?.filter(|text| !is_blank(text));
        let confirm_label = button(members, "confirm_label", CONFIRM_LABEL)?;
        let cancel_label = button(members, "cancel_label", CANCEL_LABEL)?;
        check_distinct(&[&confirm_label, &cancel_label], |i| {
            ["$.confirm_label", "$.cancel_label"][i].to_owned()
        })?;
        Ok(Self {
            text: text.map(str::to_owned),
            confirm_label,
            cancel_label,
        })
    }
}

fn button(members: &Members<'_>, key: &str, default: &str) -> Result<String, PayloadError> {
    let Some(label) = text(members, "$", key, LABEL_BYTES_MAX)? else {
        return Ok(default.to_owned());
    };
    check_label(&format!("$.{key}"), label)?;
    Ok(label.to_owned())
}
