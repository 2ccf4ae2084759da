//! The first generation of the API: one run an agent, webhooks, polling.

use cloud_settings::{ApiGeneration, Secret};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::api::{
    ApiFuture, CloudApi, Conversation, ConversationMessage, Identity, Launch, Prompt, RunRef, RunState,
    Started, StopOutcome,
};
use super::error::CloudError;
use super::http::{Call, HttpClient, RetryPolicy, unexpected};
use super::stream::RunStream;

/// The number of agents that are searched for one whose launch was not answered.
const NEWEST_AGENTS: usize = 10;

/// An agent as the API describes it. Fields we do not know are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CursorAgent {
    /// The id.
    pub id: String,
    /// The name.
    #[serde(default)]
    pub name: Option<String>,
    /// The status, known or not.
    #[serde(default)]
    pub status: String,
    /// The agent's source.
    #[serde(default)]
    pub source: AgentSource,
    /// The agent's target.
    #[serde(default)]
    pub target: AgentTarget,
    /// The agent's summary of its work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// When the agent was launched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// Everything else.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The repository and ref that an agent works on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentSource {
    /// The repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// The branch, tag or commit.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Everything else.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The branch and pull request that an agent creates, and its page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentTarget {
    /// The branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_name: Option<String>,
    /// The pull request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pr_url: Option<String>,
    /// The page that shows the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Whether a pull request is opened at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_create_pr: Option<bool>,
    /// Everything else.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A client of the first generation.
#[derive(Debug)]
pub struct V0Client {
    http: HttpClient,
}

impl V0Client {
    /// Makes a client.
    ///
    /// # Errors
    ///
    /// Fails if the base URL is not one.
    pub fn new(api_key: Secret, base_url: &str, retry: RetryPolicy) -> Result<Self, CloudError> {
        let http = HttpClient::new(api_key, base_url, retry)?;
        Ok(V0Client { http })
    }

    /// Reads an agent.
    ///
    /// # Errors
    ///
    /// Fails as any call does.
    pub async fn agent(&self, agent_id: &str) -> Result<(CursorAgent, Value), CloudError> {
        let call = Call::get(format!("/v0/agents/{}", path_segment(agent_id)));
        let raw: Value = self.http.call(&call).await?;
        let agent: CursorAgent =
            serde_json::from_value(raw.clone()).map_err(|error| unexpected(&call, &error.to_string()))?;
        if agent.status.is_empty() {
            return Err(unexpected(&call, "the agent has no status"));
        }
        Ok((agent, raw))
    }

    async fn send_launch(&self, launch: &Launch) -> Result<Started, CloudError> {
        let mut body = json!({
            "prompt": { "text": launch.prompt.text },
            "source": { "repository": launch.repository, "ref": launch.reference },
            "target": { "autoCreatePr": launch.auto_create_pr },
        });
        if let Some(model) = &launch.model {
            body["model"] = json!(model);
        }
        if let Some(branch) = &launch.branch_name {
            body["target"]["branchName"] = json!(branch);
        }
        let mut secrets: Vec<_> = launch.prompt.secrets.iter().collect();
        if let Some(webhook) = &launch.webhook {
            body["webhook"] = json!({ "url": webhook.url, "secret": webhook.secret.expose() });
            secrets.push(&webhook.secret);
        }
        let call = Call {
            secrets,
            ..Call::post("/v0/agents", body)
        };
        match self.http.call::<CursorAgent>(&call).await {
            Ok(agent) => Ok(started(agent)),
            Err(error) if error.may_have_arrived() => self.find_launched(&launch.prompt).await.ok_or(error),
            Err(error) => Err(error),
        }
    }

    /// Looks for an agent that was launched with this prompt, among the newest.
    async fn find_launched(&self, prompt: &Prompt) -> Option<Started> {
        if !prompt.is_unique() {
            return None;
        }
        let call = Call::get(format!("/v0/agents?limit={NEWEST_AGENTS}"));
        let answer: Value = self.http.call(&call).await.ok()?;
        let agents = answer["agents"].as_array().map(Vec::as_slice).unwrap_or_default();
        for agent in agents.iter().take(NEWEST_AGENTS) {
            let Ok(agent) = serde_json::from_value::<CursorAgent>(agent.clone()) else {
                continue;
            };
            if self.was_told(&agent.id, prompt).await {
                return Some(started(agent));
            }
        }
        None
    }

    /// Tells whether an agent certainly got this prompt.
    async fn was_told(&self, agent_id: &str, prompt: &Prompt) -> bool {
        let conversation = self.read_conversation(agent_id).await;
        prompt.is_unique()
            && conversation.is_ok_and(|conversation| {
                let mut messages = conversation.messages.iter();
                messages.any(|message| !message.is_assistant && message.text == prompt.text)
            })
    }

    async fn send_follow_up(&self, agent_id: &str, prompt: &Prompt) -> Result<Started, CloudError> {
        let path = format!("/v0/agents/{}/followup", path_segment(agent_id));
        let body = json!({ "prompt": { "text": prompt.text } });
        let call = Call {
            secrets: prompt.secrets.iter().collect(),
            ..Call::post(path, body)
        };
        let agent_id = match self.http.call::<IdAnswer>(&call).await {
            Ok(answer) => answer.id,
            Err(error) if error.may_have_arrived() && self.was_told(agent_id, prompt).await => {
                agent_id.to_owned()
            }
            Err(error) => return Err(error),
        };
        Ok(Started {
            run: RunRef {
                agent_id,
                run_id: None,
            },
            url: None,
        })
    }

    async fn read_state(&self, agent_id: &str) -> Result<RunState, CloudError> {
        let (agent, raw) = self.agent(agent_id).await?;
        Ok(RunState {
            status: agent.status,
            name: agent.name,
            repository: agent.source.repository,
            branch_name: agent.target.branch_name,
            pr_url: agent.target.pr_url,
            url: agent.target.url,
            summary: agent.summary,
            raw,
        })
    }

    async fn read_conversation(&self, agent_id: &str) -> Result<Conversation, CloudError> {
        let call = Call::get(format!("/v0/agents/{}/conversation", path_segment(agent_id)));
        let raw: Value = self.http.call(&call).await?;
        let items = raw["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
        let messages = items
            .iter()
            .enumerate()
            .filter_map(|(index, item)| conversation_message(index, item));
        Ok(Conversation {
            messages: messages.collect(),
            raw: raw.clone(),
        })
    }

    async fn send_stop(&self, agent_id: &str) -> Result<StopOutcome, CloudError> {
        let call = Call::stop(format!("/v0/agents/{}/stop", path_segment(agent_id)));
        match self.http.call::<Value>(&call).await {
            Ok(_) => Ok(StopOutcome::Stopped),
            // The agent is not running, which is what was asked for.
            Err(error) if error.api().is_some_and(|api| api.status == 409) => Ok(StopOutcome::AlreadyOver),
            Err(error) => Err(error),
        }
    }
}

impl CloudApi for V0Client {
    fn generation(&self) -> ApiGeneration {
        ApiGeneration::V0
    }

    fn launch<'a>(&'a self, launch: &'a Launch) -> ApiFuture<'a, Started> {
        Box::pin(self.send_launch(launch))
    }

    fn follow_up<'a>(&'a self, after: &'a RunRef, prompt: &'a Prompt) -> ApiFuture<'a, Started> {
        Box::pin(self.send_follow_up(&after.agent_id, prompt))
    }

    fn latest_run<'a>(&'a self, agent_id: &'a str) -> ApiFuture<'a, RunRef> {
        Box::pin(async move {
            let (agent, _) = self.agent(agent_id).await?;
            Ok(RunRef {
                agent_id: agent.id,
                run_id: None,
            })
        })
    }

    fn state<'a>(&'a self, run: &'a RunRef) -> ApiFuture<'a, RunState> {
        Box::pin(self.read_state(&run.agent_id))
    }

    fn conversation<'a>(&'a self, run: &'a RunRef) -> ApiFuture<'a, Conversation> {
        Box::pin(self.read_conversation(&run.agent_id))
    }

    fn stop<'a>(&'a self, run: &'a RunRef) -> ApiFuture<'a, StopOutcome> {
        Box::pin(self.send_stop(&run.agent_id))
    }

    fn events<'a>(&'a self, _: &'a RunRef, _: Option<&'a str>) -> ApiFuture<'a, Option<RunStream>> {
        Box::pin(async { Ok(None) })
    }

    fn me(&self) -> ApiFuture<'_, Identity> {
        Box::pin(async { self.http.call(&Call::get("/v0/me")).await })
    }

    fn models(&self) -> ApiFuture<'_, Vec<String>> {
        Box::pin(async {
            let answer: Value = self.http.call(&Call::get("/v0/models")).await?;
            let models = answer["models"].as_array().map(Vec::as_slice).unwrap_or_default();
            Ok(models
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect())
        })
    }

    fn repositories(&self) -> ApiFuture<'_, Vec<String>> {
        Box::pin(self.http.repositories("/v0/repositories"))
    }
}

fn started(agent: CursorAgent) -> Started {
    Started {
        run: RunRef {
            agent_id: agent.id,
            run_id: None,
        },
        url: agent.target.url,
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct IdAnswer {
    pub(super) id: String,
}

/// Reads a message; the API names the speaker in its type.
fn conversation_message(index: usize, item: &Value) -> Option<ConversationMessage> {
    let is_assistant = match item["type"].as_str()? {
        "assistant_message" => true,
        "user_message" => false,
        _ => return None,
    };
    Some(ConversationMessage {
        id: item["id"]
            .as_str()
            .map_or_else(|| format!("#{index}"), str::to_owned),
        is_assistant,
        text: item["text"].as_str().unwrap_or_default().to_owned(),
    })
}

/// Escapes an id for use in a path, so that it cannot name another path.
pub(super) fn path_segment(id: &str) -> String {
    let mut out = String::with_capacity(id.len());
    for byte in id.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_cannot_leave_its_place_in_a_path() {
        assert_eq!(path_segment("bc-12_a"), "bc-12_a");
        assert_eq!(path_segment("../me?x#y"), "%2E%2E%2Fme%3Fx%23y");
    }

    #[test]
    fn fields_we_do_not_know_are_kept() {
        let raw = json!({
            "id": "bc_1", "name": "n", "status": "HIBERNATED", "source": {"repository": "r", "prUrl": "p"},
            "target": {"url": "u", "openAsCursorGithubApp": true}, "filesChanged": 3,
        });
        let agent: CursorAgent = serde_json::from_value(raw.clone()).unwrap();
        assert_eq!(agent.extra["filesChanged"], 3);
        assert_eq!(serde_json::to_value(&agent).unwrap(), raw);
    }
}
