//! The stored data of a conversation, from which a later run continues it.

use cloud_settings::{ApiGeneration, repository_key};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::api::RunRef;

/// A conversation that can be continued.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// The cloud agent.
    pub agent_id: String,
    /// The repository it works on.
    pub repository: String,
    /// Its latest run, where the API has runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The generation of the API that knows it.
    #[serde(default)]
    pub api: ApiGeneration,
}

impl Session {
    /// Tells whether the conversation is about this repository and can be continued by this API.
    pub fn matches(&self, repository: &str, generation: ApiGeneration) -> bool {
        let same = repository_key(&self.repository) == repository_key(repository);
        same && repository_key(repository).is_some() && self.api == generation
    }

    /// Returns the latest run.
    pub fn run(&self) -> RunRef {
        RunRef {
            agent_id: self.agent_id.clone(),
            run_id: self.run_id.clone(),
        }
    }

    /// Returns the id to show to people.
    pub fn display_id(&self) -> &str {
        &self.agent_id
    }
}

/// Writes a session.
pub fn encode_session(session: &Session) -> Value {
    serde_json::json!({
        "agentId": session.agent_id,
        "repository": session.repository,
        "runId": session.run_id,
        "api": session.api,
    })
}

/// Reads a session in any of the forms it has been written in; none if it is not one.
pub fn decode_session(value: &Value) -> Option<Session> {
    let text = |keys: &[&str]| {
        let found = keys.iter().find_map(|key| value[*key].as_str());
        found
            .map(str::trim)
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    };
    let agent_id = text(&["agentId", "cursorAgentId", "agent_id", "sessionId"])?;
    let first_repository = || {
        let first = &value["repos"][0];
        first["url"]
            .as_str()
            .or_else(|| first.as_str())
            .map(str::to_owned)
    };
    let run_id = text(&["runId", "latestRunId", "run_id"]);
    Some(Session {
        agent_id,
        repository: text(&["repository"]).or_else(first_repository)?,
        api: match value["api"].as_str() {
            Some("v1") => ApiGeneration::V1,
            Some(_) => ApiGeneration::V0,
            // Only the second generation has runs.
            None if run_id.is_some() => ApiGeneration::V1,
            None => ApiGeneration::V0,
        },
        run_id,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn session() -> Session {
        Session {
            agent_id: "bc-1".to_owned(),
            repository: "https://github.com/acme/site".to_owned(),
            run_id: Some("run-1".to_owned()),
            api: ApiGeneration::V1,
        }
    }

    #[test]
    fn session_codec_round_trip() {
        for session in [
            session(),
            Session {
                run_id: None,
                api: ApiGeneration::V0,
                ..session()
            },
        ] {
            assert_eq!(decode_session(&encode_session(&session)), Some(session));
        }
    }

    #[test]
    fn normalises_legacy_and_current_session_ids() {
        let current = json!({"agentId": "bc-1", "repository": "https://github.com/acme/site"});
        let legacy = json!({"cursorAgentId": " bc-1 ", "repos": [{"url": "https://github.com/acme/site"}]});
        assert_eq!(decode_session(&current), decode_session(&legacy));
        let with_run = json!({"cursorAgentId": "bc-1", "latestRunId": "run-1", "repository": "r"});
        assert_eq!(decode_session(&with_run).unwrap().api, ApiGeneration::V1);
    }

    #[test]
    fn drops_invalid_session_payloads_and_exposes_the_display_id() {
        for payload in [
            json!(null),
            json!([]),
            json!({"agentId": " "}),
            json!({"agentId": "a"}),
            json!("bc-1"),
        ] {
            assert_eq!(decode_session(&payload), None, "{payload}");
        }
        assert_eq!(session().display_id(), "bc-1");
    }

    #[test]
    fn a_session_is_continued_only_for_its_own_repository() {
        let session = session();
        assert!(session.matches("https://github.com/Acme/site.git", ApiGeneration::V1));
        assert!(!session.matches("https://github.com/acme/other", ApiGeneration::V1));
        assert!(!session.matches("https://github.com/acme/site", ApiGeneration::V0));
        assert!(!session.matches("", ApiGeneration::V1));
    }
}
