//! A human answers.

use std::io;
use std::sync::Arc;

use protocol_spec::answer::Answer;
use protocol_spec::message::{ErrorCode, Failure, GiveAnswer};

use super::{Next, find_cue};
use crate::attachments::keep_file;
use crate::broker::Broker;
use crate::engine::Work;
use crate::socket::check::check_by;

pub(in crate::socket) async fn answer(broker: &Arc<Broker>, give: GiveAnswer) -> Result<Next, Failure> {
    let cue = find_cue(broker, &give.cue).await?;
    check_by(give.by.as_ref())?;
    let mut answer = give.answer;
    if broker.engine().is_shared() {
        take_in_files(broker, &mut answer).await?;
    }
    Ok(Next::Submit(Work::Answer {
        cue,
        answer,
        by: give.by,
        hold_ms: give.hold_ms,
    }))
}

/// Copies files of this machine into the store, because the agent may be at another broker.
async fn take_in_files(broker: &Arc<Broker>, answer: &mut Answer) -> Result<(), Failure> {
    for file in &mut answer.attachments {
        let known = file.path.clone();
        if broker
            .read(move |reader| reader.upload_at(&known))
            .await?
            .is_some()
        {
            continue;
        }
        let refused = |why: String| {
            let message = format!("the file {} cannot be attached: {why}", file.path);
            Failure::new(ErrorCode::InvalidAnswer, message)
        };
        let path = file.path.clone();
        let bytes = tokio::task::spawn_blocking(move || std::fs::read(path)).await;
        let bytes = bytes
            .map_err(io::Error::other)
            .and_then(|bytes| bytes)
            .map_err(|error| refused(error.to_string()))?;
        let name = file.name.clone().unwrap_or_else(|| {
            let last = std::path::Path::new(&file.path).file_name();
            last.map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default()
        });
        let upload = keep_file(broker, &name, &bytes)
            .await
            .map_err(|error| refused(error.to_string()))?;
        file.media_type.get_or_insert(upload.media_type);
        file.name.get_or_insert(upload.name);
        file.path = upload.path;
    }
    Ok(())
}
