//! A driver reports its run.

use std::sync::Arc;

use protocol_spec::message::{Failure, Reply, RunReport};

use super::Next;
use crate::broker::Broker;

pub(in crate::socket) async fn run_report(broker: &Arc<Broker>, report: RunReport) -> Result<Next, Failure> {
    Ok(Next::Reply(Reply::RunNoted(broker.report_run(report).await?)))
}
