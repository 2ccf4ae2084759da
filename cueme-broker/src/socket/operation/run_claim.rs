//! A driver claims the lead of a run.

use protocol_spec::message::{Failure, Reply, RunClaim};

use super::Next;
use crate::broker::Broker;

pub(in crate::socket) async fn run_claim(broker: &Broker, claim: RunClaim) -> Result<Next, Failure> {
    Ok(Next::Reply(Reply::RunClaimed(broker.claim_run(claim).await?)))
}
