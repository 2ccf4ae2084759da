//! Converts the original's rows to our records.
//!
//! Texts of the original become typed values: a confirm of the variant `pause` is a pause, an empty answer to
//! a question is no answer, times without a zone are local ones.

use std::collections::BTreeMap;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use protocol_spec::answer::{Answer, Attachment, Reply};
use protocol_spec::id::{AgentId, IdError, RequestId, RuntimeTag};
use protocol_spec::message::{PastAgent, PastCue, PastEnd};
use protocol_spec::outcome::Kind;
use protocol_spec::payload::Payload;
use protocol_spec::time::Timestamp;
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::source::{SourceAgent, SourceCue, SourceResponse};

/// The runtime and terminal of an agent that nothing is known of.
const UNKNOWN: &str = "unknown";
const EMPTY_ANSWER: &str = "the answer was empty";
const NO_ANSWER: &str = "no answer was recorded";
const UNREADABLE_ANSWER: &str = "its answer could not be read";

/// A question of ours, and what had to be left out of it.
#[derive(Debug)]
pub(super) struct Translated {
    pub(super) cue: PastCue,
    pub(super) remarks: Vec<String>,
}

/// Translates the agents; those whose id we cannot keep are left out, with the reason.
pub(super) fn agents(found: Vec<SourceAgent>) -> (Vec<PastAgent>, BTreeMap<String, String>) {
    let (mut agents, mut refused) = (Vec::new(), BTreeMap::new());
    for agent in found {
        match translate_agent(&agent) {
            Ok(translated) => agents.push(translated),
            Err(why) => {
                refused.insert(agent.agent_id, why);
            }
        }
    }
    (agents, refused)
}

fn translate_agent(agent: &SourceAgent) -> Result<PastAgent, String> {
    let agent_id: AgentId = agent
        .agent_id
        .parse()
        .map_err(|error: IdError| error.to_string())?;
    let times: Vec<Timestamp> = agent.times.iter().filter_map(|text| parse_time(text)).collect();
    let (Some(joined_at), Some(seen_at)) = (times.iter().min(), times.iter().max()) else {
        return Err("no time of any activity is known".to_owned());
    };
    Ok(PastAgent {
        agent_id,
        runtime: runtime(agent.runtime.as_deref().unwrap_or(UNKNOWN))?,
        project_dir: agent.project_dir.clone().unwrap_or_default(),
        terminal: agent.terminal.clone().unwrap_or_else(|| UNKNOWN.to_owned()),
        name: agent.name.clone(),
        joined_at: *joined_at,
        seen_at: *seen_at,
    })
}

fn runtime(tag: &str) -> Result<RuntimeTag, String> {
    let corrected = match tag.parse() {
        Ok(tag) => return Ok(tag),
        Err(IdError::Runtime { corrected, .. }) => corrected,
        Err(_) => None,
    };
    corrected
        .as_deref()
        .unwrap_or(UNKNOWN)
        .parse()
        .map_err(|error: IdError| error.to_string())
}

/// Returns the permanent key of a question: the same for every import of it.
pub(super) fn key(cue: &SourceCue) -> RequestId {
    let name = match &cue.request_id {
        Some(id) => id.clone(),
        None => format!("row {} of {}", cue.row, cue.created_at.as_deref().unwrap_or("-")),
    };
    let agent = cue.agent_id.as_deref().unwrap_or_default();
    let digest = Sha256::digest(format!("original cueme\n{agent}\n{name}").as_bytes());
    RequestId::from_digest(digest.into())
}

/// Translates a question whose files have been copied.
pub(super) fn cue(cue: &SourceCue, attachments: Vec<Attachment>) -> Result<Translated, String> {
    let agent_id = cue
        .agent_id
        .as_deref()
        .ok_or("no agent asked it")?
        .parse()
        .map_err(|error: IdError| error.to_string())?;
    let prompt = cue.prompt.clone().ok_or("it has no prompt")?;
    let asked_at = cue
        .created_at
        .as_deref()
        .and_then(parse_time)
        .ok_or("it has no readable time")?;
    let mut remarks = Vec::new();
    let kind = kind(cue.payload.as_deref());
    let payload = match kind {
        Kind::Pause => None,
        Kind::Cue => payload(cue.payload.as_deref(), &mut remarks),
    };
    let ended = match &cue.response {
        Some(response) => Some(end(kind, response, attachments, asked_at, &mut remarks)),
        None if cue.status.as_deref() == Some("PENDING") || cue.status.is_none() => None,
        None => Some(PastEnd {
            answer: None,
            reason: Some(NO_ANSWER.to_owned()),
            at: cue.updated_at.as_deref().and_then(parse_time).unwrap_or(asked_at),
        }),
    };
    let cue = PastCue {
        key: key(cue),
        agent_id,
        kind,
        prompt,
        payload,
        asked_at,
        ended,
    };
    Ok(Translated { cue, remarks })
}

/// The original asks for a pause with a confirm of a kind of its own.
fn kind(payload: Option<&str>) -> Kind {
    let variant = payload
        .and_then(|text| serde_json::from_str::<Value>(text).ok())
        .and_then(|payload| Some(payload.get("variant")?.as_str()? == "pause"));
    match variant {
        Some(true) => Kind::Pause,
        Some(false) | None => Kind::Cue,
    }
}

/// The original checks no payload; one that is none of ours cannot be shown, and the question is worth more.
fn payload(written: Option<&str>, remarks: &mut Vec<String>) -> Option<Box<RawValue>> {
    let written = written.filter(|text| !matches!(text.trim(), "" | "null"))?;
    let parsed = Payload::parse(written)
        .map_err(|error| error.to_string())
        .and_then(|payload| {
            RawValue::from_string(payload.written().to_owned()).map_err(|error| error.to_string())
        });
    match parsed {
        Ok(payload) => Some(payload),
        Err(why) => {
            remarks.push(format!("its payload was left out: {why}"));
            None
        }
    }
}

fn end(
    kind: Kind,
    response: &SourceResponse,
    attachments: Vec<Attachment>,
    asked_at: Timestamp,
    remarks: &mut Vec<String>,
) -> PastEnd {
    let at = response
        .created_at
        .as_deref()
        .and_then(parse_time)
        .unwrap_or(asked_at);
    let closed = |reason: Option<&str>| PastEnd {
        answer: None,
        reason: reason.map(str::to_owned),
        at,
    };
    if response.is_cancelled {
        return closed(None);
    }
    let Some(text) = answer_text(response.json.as_deref()) else {
        remarks.push(UNREADABLE_ANSWER.to_owned());
        return closed(Some(UNREADABLE_ANSWER));
    };
    let text = (!text.trim().is_empty()).then_some(text);
    let is_silent = text.is_none() && attachments.is_empty();
    let reply = match kind {
        Kind::Pause if is_silent => Some(Reply::Continue),
        Kind::Cue if is_silent => return closed(Some(EMPTY_ANSWER)),
        Kind::Pause | Kind::Cue => None,
    };
    PastEnd {
        answer: Some(Answer {
            text,
            reply,
            attachments,
            ends_run: false,
        }),
        reason: None,
        at,
    }
}

fn answer_text(json: Option<&str>) -> Option<String> {
    let value: Value = serde_json::from_str(json?).ok()?;
    let text = value.as_object()?.get("text");
    Some(text.and_then(Value::as_str).unwrap_or_default().to_owned())
}

/// Reads a time with a zone, or one without as local time.
fn parse_time(text: &str) -> Option<Timestamp> {
    if let Ok(time) = text.trim().parse() {
        return Some(time);
    }
    let local: DateTime = text.trim().parse().ok()?;
    let zoned = local.to_zoned(TimeZone::system()).ok()?;
    Some(Timestamp::from_millis(zoned.timestamp().as_millisecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(payload: Option<&str>, response: Option<SourceResponse>) -> SourceCue {
        SourceCue {
            row: 1,
            request_id: Some("req_0123456789ab".to_owned()),
            agent_id: Some("tavilron".to_owned()),
            prompt: Some("Go on?".to_owned()),
            payload: payload.map(str::to_owned),
            status: Some("PENDING".to_owned()),
            created_at: Some("2025-12-01T20:00:00.250+08:00".to_owned()),
            updated_at: None,
            response,
        }
    }

    fn answered(json: &str, is_cancelled: bool) -> Option<SourceResponse> {
        Some(SourceResponse {
            json: Some(json.to_owned()),
            is_cancelled,
            created_at: Some("2025-12-01T20:01:00.000+08:00".to_owned()),
            files: Vec::new(),
        })
    }

    #[test]
    fn an_answer_keeps_its_words_and_times_their_instant() {
        let translated = cue(&asked(None, answered(r#"{"text":"yes\n"}"#, false)), Vec::new()).unwrap();
        assert_eq!(translated.cue.asked_at.to_string(), "2025-12-01T12:00:00.250Z");
        let ended = translated.cue.ended.unwrap();
        assert_eq!(ended.at.to_string(), "2025-12-01T12:01:00.000Z");
        assert_eq!(ended.answer.unwrap().text.as_deref(), Some("yes\n"));
    }

    #[test]
    fn a_pause_is_known_by_its_payload_and_continued_by_silence() {
        let payload = r#"{"type":"confirm","variant":"pause","confirm_label":"Continue","cancel_label":""}"#;
        let translated = cue(
            &asked(Some(payload), answered(r#"{"text":""}"#, false)),
            Vec::new(),
        )
        .unwrap();
        assert_eq!(translated.cue.kind, Kind::Pause);
        assert!(translated.cue.payload.is_none() && translated.remarks.is_empty());
        let answer = translated.cue.ended.unwrap().answer.unwrap();
        assert_eq!(answer.reply, Some(Reply::Continue));
    }

    #[test]
    fn silence_is_no_answer_and_neither_is_what_cannot_be_read() {
        for (json, is_cancelled, reason) in [
            (r#"{"text":"  "}"#, false, Some(EMPTY_ANSWER)),
            ("[broken", false, Some(UNREADABLE_ANSWER)),
            (r#"{"text":""}"#, true, None),
        ] {
            let translated = cue(&asked(None, answered(json, is_cancelled)), Vec::new()).unwrap();
            let ended = translated.cue.ended.unwrap();
            assert_eq!((ended.answer, ended.reason.as_deref()), (None, reason), "{json}");
        }
    }

    #[test]
    fn a_payload_that_is_none_of_ours_is_left_out_and_said() {
        let translated = cue(&asked(Some(r#"{"type":"riddle"}"#), None), Vec::new()).unwrap();
        assert!(translated.cue.payload.is_none());
        assert_eq!(translated.remarks.len(), 1, "{:?}", translated.remarks);
        assert!(translated.cue.ended.is_none());
        let kept = r#"{"type":"choice","options":["a","b"],"weight":1.50}"#;
        let translated = cue(&asked(Some(kept), None), Vec::new()).unwrap();
        assert_eq!(translated.cue.payload.unwrap().get(), kept);
    }

    #[test]
    fn a_row_without_an_agent_a_prompt_or_a_time_is_refused() {
        let whole = || asked(None, None);
        for broken in [
            SourceCue {
                agent_id: None,
                ..whole()
            },
            SourceCue {
                agent_id: Some("Not An Id".to_owned()),
                ..whole()
            },
            SourceCue {
                prompt: None,
                ..whole()
            },
            SourceCue {
                created_at: Some("yesterday".to_owned()),
                ..whole()
            },
        ] {
            assert!(cue(&broken, Vec::new()).is_err(), "{broken:?}");
        }
    }

    #[test]
    fn a_time_without_a_zone_is_local() {
        assert!(parse_time("2025-12-01 20:00:00.123456").is_some());
        assert_eq!(parse_time("soon"), None);
    }
}
