//! The database is copied while it is in use.

use std::path::PathBuf;
use std::sync::Arc;

use protocol_spec::message::{BackedUp, Backup, ErrorCode, Failure, Reply};

use super::Next;
use crate::broker::Broker;

pub(in crate::socket) async fn backup(broker: &Arc<Broker>, backup: Backup) -> Result<Next, Failure> {
    let path = PathBuf::from(&backup.path);
    if !path.is_absolute() {
        let message = format!("{} is not an absolute path", path.display());
        return Err(Failure::new(ErrorCode::BadRequest, message));
    }
    let report = broker.read(move |reader| reader.back_up(&path)).await?;
    Ok(Next::Reply(Reply::BackedUp(BackedUp {
        path: backup.path,
        bytes: report.bytes,
        cues: report.cues,
    })))
}
