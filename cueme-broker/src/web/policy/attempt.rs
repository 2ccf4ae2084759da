//! Tries a rule on the newest questions, without making it.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;

use crate::machine::{beginning_of, own_answer};
use crate::policy::{Agrees, Trial, WrittenRule, try_rule};
use crate::presence::Presence;
use crate::web::error::ApiError;
use crate::web::extract::Sent;
use crate::web::state::Shared;
use crate::web::view::CueCard;

/// The result of trying a rule on the newest questions.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TrialShown {
    /// The number of questions tried.
    tried: u32,
    fitting: Vec<Fitting>,
}

/// A question that a rule fits.
#[derive(Debug, Serialize, JsonSchema)]
struct Fitting {
    cue: CueCard,
    /// Whether its answer was the real one; absent if there was none, or if the rule answers nothing.
    agrees: Option<bool>,
    /// The beginning of what the human wrote or chose.
    said: Option<String>,
}

/// Tries a rule on the newest questions, without making it.
pub(super) async fn attempt(
    State(web): State<Shared>,
    Sent(rule): Sent<WrittenRule>,
) -> Result<Json<TrialShown>, ApiError> {
    let policy = rule.policy().map_err(ApiError::bad_request)?;
    let presence = Presence::read(web.broker.engine()).await?;
    let trial: Trial = web.read(move |reader| try_rule(reader, &policy)).await?;
    let mut fitting = Vec::with_capacity(trial.fitting.len());
    for (cue, agrees) in trial.fitting {
        let said = cue
            .text
            .as_deref()
            .map(|text| beginning_of(own_answer(text, cue.outcome)));
        let id = cue.cue_id;
        let row = web.read(move |reader| reader.cue_row(id)).await?;
        fitting.extend(row.map(|row| {
            Fitting {
                cue: CueCard::new(row, &presence),
                agrees: match agrees {
                    Agrees::Yes => Some(true),
                    Agrees::No => Some(false),
                    Agrees::Open => None,
                },
                said: said
                    .filter(|said| !said.is_empty())
                    .map(|said| crate::web::markdown::visible(&said).into_owned()),
            }
        }));
    }
    Ok(Json(TrialShown {
        tried: trial.tried,
        fitting,
    }))
}
