//! The database is checked.

use std::sync::Arc;

use protocol_spec::message::{Checked, Failure, Reply};

use super::Next;
use crate::broker::Broker;

pub(in crate::socket) async fn check(broker: &Arc<Broker>) -> Result<Next, Failure> {
    let report = broker.read(|reader| reader.check()).await?;
    Ok(Next::Reply(Reply::Checked(Checked {
        problems: report.problems,
        schema: report.schema,
        bytes: report.bytes,
        cues: report.cues,
    })))
}
