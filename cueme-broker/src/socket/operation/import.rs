//! Reads records of another program: everything is checked against our limits before the engine sees it.

use std::path::Path;
use std::sync::Arc;

use protocol_spec::answer::Attachment;
use protocol_spec::envelope::PROMPT_BYTES_MAX;
use protocol_spec::hex::hex;
use protocol_spec::message::{
    ErrorCode, Failure, IMPORT_RECORDS_MAX, Import, PastAgent, PastCue, PastEnd, RefusedCue,
};
use protocol_spec::outcome::Kind;
use protocol_spec::payload::Payload;
use sha2::{Digest, Sha256};

use super::Next;
use crate::broker::Broker;
use crate::engine::{PastQuestion, Work, storage_failure};
use crate::socket::check::{check_message, check_names};
use crate::store::Upload;

/// The bytes of a digest that name a file.
const FILE_KEY_BYTES: usize = 16;

/// Reads a request; an error in a single question refuses that question only.
pub(in crate::socket) async fn import(broker: &Arc<Broker>, import: Import) -> Result<Next, Failure> {
    let records = import.agents.len() + import.cues.len();
    if records > IMPORT_RECORDS_MAX {
        return Err(Failure::new(
            ErrorCode::TooLarge,
            format!("{records} records are more than {IMPORT_RECORDS_MAX}"),
        )
        .with_hint("send them in several requests"));
    }
    import.agents.iter().try_for_each(check_agent)?;
    let (mut cues, mut refused) = (Vec::with_capacity(import.cues.len()), Vec::new());
    for cue in import.cues {
        let key = cue.key;
        match read_cue(cue) {
            Ok(question) => cues.push(question),
            Err(why) => refused.push(RefusedCue { key, why }),
        }
    }
    note_files(broker, &cues).await?;
    Ok(Next::Submit(Work::Import {
        agents: import.agents,
        cues,
        refused,
    }))
}

fn check_agent(agent: &PastAgent) -> Result<(), Failure> {
    let name = agent.name.clone().unwrap_or_default();
    check_names(&[&agent.project_dir, &agent.terminal, &name])
}

fn read_cue(cue: PastCue) -> Result<PastQuestion, String> {
    if cue.prompt.trim().is_empty() {
        return Err("the prompt is empty".to_owned());
    }
    if cue.prompt.len() > PROMPT_BYTES_MAX {
        return Err(format!("the prompt is longer than {PROMPT_BYTES_MAX} bytes"));
    }
    let payload = match (&cue.payload, cue.kind) {
        (None, _) => None,
        (Some(_), Kind::Pause) => return Err("a pause takes no payload".to_owned()),
        (Some(written), Kind::Cue) => {
            let payload = Payload::parse(written.get()).map_err(|error| format!("payload: {error}"))?;
            Some(Arc::from(payload.written()))
        }
    };
    let reason = cue.ended.as_ref().and_then(|ended| ended.reason.as_deref());
    check_message(reason).map_err(|failure| failure.message)?;
    Ok(PastQuestion {
        request: cue.key,
        agent: cue.agent_id,
        kind: cue.kind,
        prompt: cue.prompt.into(),
        payload,
        asked_at: cue.asked_at,
        ended: cue.ended,
    })
}

/// Registers files in the broker's directory of attachments, so that the page shows them and they are deleted with
/// their questions.
async fn note_files(broker: &Arc<Broker>, cues: &[PastQuestion]) -> Result<(), Failure> {
    let folder = broker.places().attachments();
    let uploads: Vec<Upload> = cues
        .iter()
        .filter_map(|cue| cue.ended.as_ref())
        .flat_map(attachments)
        .filter(|attachment| Path::new(&attachment.path).parent() == Some(folder.as_path()))
        .filter_map(upload)
        .collect();
    if uploads.is_empty() {
        return Ok(());
    }
    let noted = broker
        .engine()
        .write(move |store, at| store.note_uploads(&uploads, at))
        .await;
    noted?.map_err(|error| storage_failure(&error))
}

fn attachments(ended: &PastEnd) -> &[Attachment] {
    ended
        .answer
        .as_ref()
        .map(|answer| answer.attachments.as_slice())
        .unwrap_or_default()
}

/// Describes a file; `None` if there is none.
fn upload(attachment: &Attachment) -> Option<Upload> {
    let bytes = std::fs::metadata(&attachment.path).ok()?.len();
    let key = Sha256::digest(attachment.path.as_bytes());
    Some(Upload {
        upload_id: hex(&key[..FILE_KEY_BYTES]),
        path: attachment.path.clone(),
        name: attachment.name.clone().unwrap_or_else(|| "file".to_owned()),
        media_type: attachment
            .media_type
            .clone()
            .unwrap_or_else(|| "application/octet-stream".to_owned()),
        bytes,
        cue_ids: Vec::new(),
    })
}
