//! The second generation of the API: an agent with runs, each with a stream of events.

use cloud_settings::{ApiGeneration, Secret};

use serde_json::{Value, json};
use uuid::Uuid;

use super::api::{
    ApiFuture, CloudApi, Conversation, ConversationMessage, Identity, Launch, Prompt, RunRef, RunState,
    Started, StopOutcome,
};
use super::error::{CloudError, RequestContext};
use super::http::{Call, HttpClient, RetryPolicy, unexpected};
use super::stream::RunStream;
use super::v0::path_segment;

/// A client of the second generation.
#[derive(Debug)]
pub struct V1Client {
    http: HttpClient,
}

impl V1Client {
    /// Makes a client.
    ///
    /// # Errors
    ///
    /// Fails if the base URL is not one.
    pub fn new(api_key: Secret, base_url: &str, retry: RetryPolicy) -> Result<Self, CloudError> {
        let http = HttpClient::new(api_key, base_url, retry)?;
        Ok(V1Client { http })
    }

    /// Creates an agent under an id of our own, so that a request whose answer was lost can be made again.
    async fn send_launch(&self, launch: &Launch) -> Result<Started, CloudError> {
        let agent_id = format!("bc-{}", Uuid::new_v4());
        let mut body = json!({
            "agentId": agent_id,
            "prompt": { "text": launch.prompt.text },
            "repos": [{ "url": launch.repository, "startingRef": launch.reference }],
            "autoCreatePR": launch.auto_create_pr,
        });
        if let Some(model) = &launch.model {
            body["model"] = json!({ "id": model });
        }
        let call = Call {
            secrets: launch.prompt.secrets.iter().collect(),
            is_idempotent: true,
            ..Call::post("/v1/agents", body)
        };
        let answer = self.http.call::<Value>(&call).await;
        let started = answer.and_then(|answer| {
            Ok(Started {
                run: run_ref(&call, &answer["run"])?,
                url: text(&answer["agent"]["url"]),
            })
        });
        let error = match started {
            Ok(started) => return Ok(started),
            // The id is ours alone: a conflict means that an earlier attempt arrived.
            Err(error) if error.api().is_some_and(|api| api.has_code("agent_id_conflict")) => error,
            Err(error) if error.may_have_arrived() => error,
            Err(error) => return Err(error),
        };
        match self.read_latest_run(&agent_id).await {
            Ok(run) => Ok(Started { run, url: None }),
            Err(_) => Err(CloudError::Unanswered {
                agent_id,
                reason: error.to_string(),
            }),
        }
    }

    async fn send_follow_up(&self, after: &RunRef, prompt: &Prompt) -> Result<Started, CloudError> {
        let path = format!("/v1/agents/{}/runs", path_segment(&after.agent_id));
        let body = json!({ "prompt": { "text": prompt.text } });
        let call = Call {
            secrets: prompt.secrets.iter().collect(),
            ..Call::post(path, body)
        };
        let answer = self.http.call::<Value>(&call).await;
        let run = match answer.and_then(|answer| run_ref(&call, &answer["run"])) {
            Ok(run) => run,
            // An agent has one run at a time: a newer one than that before is ours.
            Err(error) if error.may_have_arrived() => match self.read_latest_run(&after.agent_id).await {
                Ok(latest) if latest.run_id != after.run_id => latest,
                Ok(_) | Err(_) => return Err(error),
            },
            Err(error) => return Err(error),
        };
        Ok(Started { run, url: None })
    }

    async fn read_latest_run(&self, agent_id: &str) -> Result<RunRef, CloudError> {
        let call = Call::get(format!("/v1/agents/{}", path_segment(agent_id)));
        let agent: Value = self.http.call(&call).await?;
        match text(&agent["latestRunId"]) {
            Some(run_id) => Ok(RunRef {
                agent_id: agent_id.to_owned(),
                run_id: Some(run_id),
            }),
            None => Err(unexpected(&call, "the agent has no run")),
        }
    }

    async fn read_state(&self, run: &RunRef) -> Result<RunState, CloudError> {
        let call = Call::get(run_path(run)?);
        let raw: Value = self.http.call(&call).await?;
        let status = text(&raw["status"]).ok_or_else(|| unexpected(&call, "the run has no status"))?;
        let branch = &raw["git"]["branches"][0];
        Ok(RunState {
            status,
            name: None,
            repository: text(&branch["repoUrl"]),
            branch_name: text(&branch["branch"]),
            pr_url: text(&branch["prUrl"]),
            url: None,
            summary: text(&raw["result"]),
            raw,
        })
    }

    /// Makes a conversation of the last word, which is all that this generation keeps beside the stream.
    async fn read_conversation(&self, run: &RunRef) -> Result<Conversation, CloudError> {
        let state = self.read_state(run).await?;
        let last_word = state.summary.map(|text| ConversationMessage {
            id: run.run_id.clone().unwrap_or_default(),
            is_assistant: true,
            text,
        });
        Ok(Conversation {
            messages: last_word.into_iter().collect(),
            raw: state.raw,
        })
    }

    async fn send_stop(&self, run: &RunRef) -> Result<StopOutcome, CloudError> {
        let call = Call::stop(format!("{}/cancel", run_path(run)?));
        match self.http.call::<Value>(&call).await {
            Ok(_) => Ok(StopOutcome::Stopped),
            Err(error) if error.api().is_some_and(|api| api.has_code("run_not_cancellable")) => {
                Ok(StopOutcome::AlreadyOver)
            }
            Err(error) => Err(error),
        }
    }

    async fn open_events(&self, run: &RunRef, after: Option<&str>) -> Result<Option<RunStream>, CloudError> {
        let path = format!("{}/stream", run_path(run)?);
        let response = self.http.open_stream(&path, after).await?;
        Ok(Some(RunStream::new(
            response,
            RequestContext {
                method: "GET".to_owned(),
                path,
            },
        )))
    }
}

impl CloudApi for V1Client {
    fn generation(&self) -> ApiGeneration {
        ApiGeneration::V1
    }

    fn launch<'a>(&'a self, launch: &'a Launch) -> ApiFuture<'a, Started> {
        Box::pin(self.send_launch(launch))
    }

    fn follow_up<'a>(&'a self, after: &'a RunRef, prompt: &'a Prompt) -> ApiFuture<'a, Started> {
        Box::pin(self.send_follow_up(after, prompt))
    }

    fn latest_run<'a>(&'a self, agent_id: &'a str) -> ApiFuture<'a, RunRef> {
        Box::pin(self.read_latest_run(agent_id))
    }

    fn state<'a>(&'a self, run: &'a RunRef) -> ApiFuture<'a, RunState> {
        Box::pin(self.read_state(run))
    }

    fn conversation<'a>(&'a self, run: &'a RunRef) -> ApiFuture<'a, Conversation> {
        Box::pin(self.read_conversation(run))
    }

    fn stop<'a>(&'a self, run: &'a RunRef) -> ApiFuture<'a, StopOutcome> {
        Box::pin(self.send_stop(run))
    }

    fn events<'a>(&'a self, run: &'a RunRef, after: Option<&'a str>) -> ApiFuture<'a, Option<RunStream>> {
        Box::pin(self.open_events(run, after))
    }

    fn me(&self) -> ApiFuture<'_, Identity> {
        Box::pin(async { self.http.call(&Call::get("/v1/me")).await })
    }

    fn models(&self) -> ApiFuture<'_, Vec<String>> {
        Box::pin(async {
            let answer: Value = self.http.call(&Call::get("/v1/models")).await?;
            let models = answer["items"].as_array().or_else(|| answer["models"].as_array());
            let name = |item: &Value| text(&item["id"]).or_else(|| text(item));
            Ok(models
                .map(Vec::as_slice)
                .unwrap_or_default()
                .iter()
                .filter_map(name)
                .collect())
        })
    }

    fn repositories(&self) -> ApiFuture<'_, Vec<String>> {
        Box::pin(self.http.repositories("/v1/repositories"))
    }
}

fn run_path(run: &RunRef) -> Result<String, CloudError> {
    let run_id = run
        .run_id
        .as_deref()
        .ok_or(CloudError::Unsupported("a run without an id"))?;
    Ok(format!(
        "/v1/agents/{}/runs/{}",
        path_segment(&run.agent_id),
        path_segment(run_id)
    ))
}

fn run_ref(call: &Call<'_>, run: &Value) -> Result<RunRef, CloudError> {
    match (text(&run["agentId"]), text(&run["id"])) {
        (Some(agent_id), Some(run_id)) => Ok(RunRef {
            agent_id,
            run_id: Some(run_id),
        }),
        _ => Err(unexpected(call, "there is no run in it")),
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}
