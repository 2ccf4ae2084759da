//! Settles a question of another program: its answer is checked and rendered once, like an answer given here.

use std::sync::Arc;

use protocol_spec::answer::Question;
use protocol_spec::id::CueId;
use protocol_spec::message::RefusedCue;
use protocol_spec::outcome::Kind;

use super::order::{PastQuestion, content_key};
use cueme_rules::{PastCue, PastEnd};

/// Settles a question under a fresh id.
pub(super) fn settle(question: &PastQuestion, fresh: CueId) -> Result<PastCue, RefusedCue> {
    let (end, ended_at) = match &question.ended {
        None => (PastEnd::LeftOpen, question.asked_at),
        Some(ended) => match &ended.answer {
            None => (
                PastEnd::Closed {
                    reason: ended.reason.clone(),
                },
                ended.at,
            ),
            Some(answer) => {
                // Its choices were recorded as text, so the answer is not checked against a payload.
                let asked = match question.kind {
                    Kind::Cue => Question::Cue(None),
                    Kind::Pause => Question::Pause,
                };
                let checked = answer.clone().check(asked).map_err(|error| RefusedCue {
                    key: question.request,
                    why: error.to_string(),
                })?;
                let end = PastEnd::Answered {
                    text: checked.render().text,
                    answer: Arc::new(checked.answer().clone()),
                };
                (end, ended.at)
            }
        },
    };
    Ok(PastCue {
        request: question.request,
        cue: fresh,
        agent: question.agent.clone(),
        kind: question.kind,
        prompt: Arc::clone(&question.prompt),
        payload: question.payload.clone(),
        content: content_key(question.kind, &question.prompt, question.payload.as_deref()),
        asked_at: question.asked_at,
        end,
        ended_at,
    })
}
