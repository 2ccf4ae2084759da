//! Refuses agents and questions that are not of the token.

use protocol_spec::id::{AgentId, CueId};

use crate::socket::{check_own_agent, check_own_cues};
use crate::store::Token;
use crate::web::door::{Visitor, Who, unauthenticated};
use crate::web::error::ApiError;
use crate::web::extract::Named;
use crate::web::state::Web;

pub(super) fn token_of(visitor: &Visitor) -> Result<&Token, ApiError> {
    match &visitor.0 {
        Who::Agent(token) | Who::Run(token) => Ok(token),
        Who::Device(_) | Who::Human(_) => Err(unauthenticated()),
    }
}

/// Returns the agent, if the token may act for it; other agents do not exist for it.
pub(super) async fn own_agent(web: &Web, visitor: &Visitor, agent: &str) -> Result<AgentId, ApiError> {
    let agent = AgentId::named(agent)?;
    check_own_agent(&web.broker, token_of(visitor)?, &agent).await?;
    Ok(agent)
}

pub(super) async fn own_cue(web: &Web, visitor: &Visitor, cue: CueId) -> Result<(), ApiError> {
    Ok(check_own_cues(&web.broker, token_of(visitor)?, &[cue]).await?)
}
