//! Returns one question whole.

use axum::Json;
use axum::extract::State;
use protocol_spec::answer::Attachment;
use protocol_spec::id::CueId;
use protocol_spec::message::CueView;
use protocol_spec::outcome::Outcome;

use super::files::files_of;
use crate::policy::{Policy, stopped};
use crate::precedent::{COMPARED_MAX, Sought, usable};
use crate::presence::Presence;
use crate::store::{DraftPlace, Reader, StoreError};
use crate::web::error::ApiError;
use crate::web::extract::At;
use crate::web::state::{Shared, Web};
use crate::web::upload::upload_url;
use crate::web::view::{AttachmentShown, Cue, PART_BYTES, Precedent};

/// Returns one question whole.
pub(super) async fn cue(State(web): State<Shared>, At(id): At<CueId>) -> Result<Json<Cue>, ApiError> {
    web.broker.engine().human_seen();
    whole(&web, id).await?.map(Json).ok_or_else(ApiError::unknown_cue)
}

/// Reads one question whole.
async fn whole(web: &Web, id: CueId) -> Result<Option<Cue>, ApiError> {
    let presence = Presence::read(web.broker.engine()).await?;
    let policies = web.broker.policies();
    web.read(move |reader| {
        let Some(cue) = reader.cue(id)? else {
            return Ok(None);
        };
        let precedent = precedent(reader, &cue)?;
        let mut shown = show(reader, cue, &presence, &policies, PART_BYTES)?;
        shown.precedent = precedent;
        Ok(Some(shown))
    })
    .await
}

/// Finds a human's answer to the question of this project that is most similar to an open one; the newest of equals.
fn precedent(reader: &dyn Reader, cue: &CueView) -> Result<Option<Precedent>, StoreError> {
    if cue.outcome != Outcome::Open {
        return Ok(None);
    }
    let Some(sought) = Sought::new(cue) else {
        return Ok(None);
    };
    let mut best: Option<(f64, CueView)> = None;
    reader.answered_in_project(&cue.project_dir, COMPARED_MAX, &mut |past| {
        if let Some(resemblance) = sought.resemblance(&past)
            && best.as_ref().is_none_or(|(most, _)| resemblance > *most)
        {
            best = Some((resemblance, past));
        }
        true
    })?;
    Ok(best.and_then(|(_, past)| {
        let payload_of = |cue: &CueView| cue.payload.as_deref().map(|payload| payload.get().to_owned());
        let is_same = past.prompt == cue.prompt && payload_of(&past) == payload_of(cue);
        usable(&past).map(|answer| Precedent::new(past, answer, is_same))
    }))
}

/// Shows a question with its draft, its files, and the rule that leaves it to a human.
pub(super) fn show(
    reader: &dyn Reader,
    cue: CueView,
    presence: &Presence,
    policies: &[Policy],
    bytes_max: usize,
) -> Result<Cue, StoreError> {
    let draft = if cue.is_answerable() {
        reader.draft(&DraftPlace::cue(cue.cue_id))?
    } else {
        None
    };
    let attach = |attachment| attachment_shown(reader, attachment);
    let stopped = stopped(reader, &cue, policies)?;
    let files = files_of(reader, &cue)?;
    let mut shown = Cue::new(cue, presence, bytes_max, draft, stopped, attach);
    shown.files = files;
    Ok(shown)
}

fn attachment_shown(reader: &dyn Reader, attachment: Attachment) -> AttachmentShown {
    // A file that came from elsewhere, or cannot be looked up now, is still listed by name.
    let upload = reader.upload_at(&attachment.path).ok().flatten();
    AttachmentShown {
        url: upload.as_ref().map(|upload| upload_url(&upload.upload_id)),
        bytes: upload.as_ref().map(|upload| upload.bytes),
        upload_id: upload.map(|upload| upload.upload_id),
        path: attachment.path,
        name: attachment.name,
        media_type: attachment.media_type,
    }
}
