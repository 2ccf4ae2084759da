//! The reasons to notify, so that each channel can select some of them.

use protocol_spec::outcome::{Kind, Origin};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A reason to notify.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// An agent asks.
    Question,
    /// An agent wants to use a tool.
    Approval,
    /// An agent pauses until somebody continues.
    Pause,
}

impl Reason {
    /// All reasons.
    pub const ALL: [Self; 3] = [Self::Question, Self::Approval, Self::Pause];

    /// Returns its name, as it is written in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::Approval => "approval",
            Self::Pause => "pause",
        }
    }

    /// Returns the reason of a question.
    pub fn of(kind: Kind, origin: Origin) -> Self {
        match (origin, kind) {
            (Origin::Approval, _) => Self::Approval,
            (_, Kind::Pause) => Self::Pause,
            (_, Kind::Cue) => Self::Question,
        }
    }
}

/// The selected reasons of a channel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Vec<Reason>")]
pub struct Reasons(Vec<Reason>);

impl Default for Reasons {
    fn default() -> Self {
        Self(Reason::ALL.to_vec())
    }
}

impl Reasons {
    /// Says whether this is one of them.
    pub fn contains(&self, reason: Reason) -> bool {
        self.0.contains(&reason)
    }
}

impl TryFrom<Vec<Reason>> for Reasons {
    type Error = String;

    fn try_from(mut reasons: Vec<Reason>) -> Result<Self, String> {
        if reasons.is_empty() {
            return Err(
                "a channel needs at least one of the reasons question, approval and pause".to_owned(),
            );
        }
        reasons.sort();
        reasons.dedup();
        Ok(Self(reasons))
    }
}
