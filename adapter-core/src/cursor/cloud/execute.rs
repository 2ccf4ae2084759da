//! Drives a cloud run from its prompt to its result.
//!
//! ```text
//! start ─ launch, or drain and follow up ─▶ wait ─ finished ─▶ gate ─ a human's word ─▶ follow up ─▶ wait …
//!                                            │                  └ none wanted ─▶ result
//!                                            └ failed, too late, cancelled ─▶ stop ─▶ result
//! ```

mod ending;

use cloud_settings::{ApiGeneration, CloudSettings, Redactor};
use serde_json::Value;
use tokio::time::{Instant, timeout};

use super::api::{CloudApi, Launch, Prompt, RunRef, RunState, Started};
use super::error::{CloudError, CursorApiError};
use super::event::{CloudEvent, EventSink, redacted};
use super::gate::{CallbackIssuer, HumanGate, HumanWord};
use super::handover::Delivered;
use super::http::RetryPolicy;
use super::prompt::{compose_prompt, render_template};
use super::result::ExecutionResult;
use super::session::Session;
use super::signal::{Cancellation, RunSignals};
use super::status::{Phase, phase};
use super::v0::V0Client;
use super::v1::V1Client;
use super::wait::Transcript;
use crate::hap::Confirmable;

/// The tag of this runtime.
pub const RUNTIME: &str = "cursor_cloud";
/// The most turns one call drives; each further one costs a human's word.
const TURNS_MAX: usize = 1_000;

/// Connects to the API that the settings name.
///
/// # Errors
///
/// Fails if the base URL is not one.
pub fn connect(settings: &CloudSettings, retry: RetryPolicy) -> Result<Box<dyn CloudApi>, CloudError> {
    let key = settings.api_key.clone();
    Ok(match settings.generation {
        ApiGeneration::V0 => Box::new(V0Client::new(key, &settings.base_url, retry)?),
        ApiGeneration::V1 => Box::new(V1Client::new(key, &settings.base_url, retry)?),
    })
}

/// Everything a run stands on.
#[derive(Debug, Clone, Copy)]
pub struct CloudRun<'a> {
    /// The API.
    pub api: &'a dyn CloudApi,
    /// The configuration.
    pub settings: &'a CloudSettings,
    /// Wakes the wait.
    pub signals: &'a RunSignals,
    /// Ends the wait.
    pub cancellation: &'a Cancellation,
    /// Gives turns the means to call back; without it, prompts do not mention the callback.
    pub callbacks: Option<&'a dyn CallbackIssuer>,
    /// Makes sure that runs end with a human's answer.
    pub gate: Option<&'a dyn HumanGate>,
}

/// The action to perform.
#[derive(Debug, Clone)]
pub enum RunRequest {
    /// Say these words, in the earlier conversation if there is one that fits.
    Say {
        /// The words.
        words: String,
        /// The earlier conversation.
        session: Option<Session>,
    },
    /// Wait for a run that an earlier process started.
    Attach {
        /// The run.
        session: Session,
    },
}

/// Drives a run to its end. The result is also written as the last event.
pub async fn execute(run: CloudRun<'_>, request: &RunRequest, sink: &mut dyn EventSink) -> ExecutionResult {
    let mut driver = Driver::new(run, sink);
    let ending = driver.drive(request).await;
    driver.finish(ending).await
}

/// Why a run does not go on.
#[derive(Debug)]
pub(super) enum Stop {
    /// It was ended from outside.
    Cancelled,
    /// It took too long.
    TimedOut,
    /// Something is wrong.
    Failed(Problem),
}

/// The reason of a failure.
#[derive(Debug)]
pub(super) struct Problem {
    message: String,
    /// The API's error, with its body.
    report: Option<Value>,
    /// Whether the API says that there is no such agent or run.
    is_gone: bool,
}

impl Problem {
    pub(super) fn new(message: String) -> Self {
        Problem {
            message,
            report: None,
            is_gone: false,
        }
    }
}

impl From<CloudError> for Stop {
    fn from(error: CloudError) -> Self {
        Stop::Failed(Problem {
            message: error.to_string(),
            report: error.api().map(CursorApiError::report),
            is_gone: error.api().is_some_and(|api| api.is_not_found()),
        })
    }
}

/// One run being driven.
pub(super) struct Driver<'a> {
    pub(super) run: CloudRun<'a>,
    sink: &'a mut dyn EventSink,
    redactor: Redactor,
    deadline: Option<Instant>,
    current: Option<RunRef>,
    url: Option<String>,
    pub(super) state: Option<RunState>,
    pub(super) transcript: Transcript,
    seen_status: Option<String>,
    /// The claim of another process whose word was looked for.
    pub(super) settled_claim: Option<String>,
}

impl<'a> Driver<'a> {
    fn new(run: CloudRun<'a>, sink: &'a mut dyn EventSink) -> Self {
        let mut redactor = Redactor::default();
        redactor.add(&run.settings.api_key);
        run.settings
            .webhook_secret
            .iter()
            .for_each(|secret| redactor.add(secret));
        Driver {
            run,
            sink,
            redactor,
            deadline: None,
            current: None,
            url: None,
            state: None,
            transcript: Transcript::default(),
            seen_status: None,
            settled_claim: None,
        }
    }

    async fn drive(&mut self, request: &RunRequest) -> Result<RunState, Stop> {
        self.restart_deadline();
        let mut run = match request {
            RunRequest::Say { words, session } => self.start(words, session.as_ref()).await?,
            RunRequest::Attach { session } => self.attach(session).await?,
        };
        let mut is_last = false;
        for _ in 0..TURNS_MAX {
            let state = self.wait(&run).await?;
            if phase(&state.status) != Phase::Succeeded {
                return Ok(state);
            }
            self.settle(&run).await;
            if is_last {
                return Ok(state);
            }
            if let Some(next) = self.wait_for_lead(&run).await? {
                run = next;
                continue;
            }
            if let Some(next) = self.follow_predecessor(&run).await? {
                run = next;
                continue;
            }
            let Confirmable { word, confirmation } = self.human_word(&run).await?;
            let words = match word {
                HumanWord::Continue(words) => words,
                HumanWord::Done(Some(words)) => {
                    is_last = true;
                    words
                }
                HumanWord::Done(None) => {
                    confirmation.give();
                    return Ok(state);
                }
            };
            if self.run.gate.is_some_and(HumanGate::is_led_elsewhere) {
                // Another process leads since the question was asked. The word stays unconfirmed, so it gets it.
                is_last = false;
                continue;
            }
            match self.deliver(&run, &words, true).await? {
                Delivered::As(next) => run = next,
                Delivered::ByAnother => {
                    is_last = false;
                    continue;
                }
            }
            confirmation.give();
        }
        Err(Stop::Failed(Problem::new(format!(
            "the conversation has more than {TURNS_MAX} turns"
        ))))
    }

    /// Waits while another process speaks with the human. Returns the run that it started, or none once the human is ours
    /// to ask or has ended the run.
    async fn wait_for_lead(&mut self, run: &RunRef) -> Result<Option<RunRef>, Stop> {
        let Some(gate) = self.run.gate.filter(|gate| gate.is_led_elsewhere()) else {
            return Ok(None);
        };
        self.deadline = None;
        self.emit_status(
            &run.agent_id,
            "led_elsewhere",
            Some("another process asks you for this run"),
        );
        let signal = self.run.signals.listen(&run.agent_id);
        let api = self.run.api;
        while gate.is_led_elsewhere() && !self.guarded(gate.is_over(run)).await? {
            let pause = self.run.settings.poll_interval;
            self.guarded(async {
                tokio::select! {
                    () = signal.woken() => {}
                    () = tokio::time::sleep(pause) => {}
                }
            })
            .await?;
            // A run that cannot be read now is read again in the next round.
            let Ok(latest) = self.guarded(api.latest_run(&run.agent_id)).await? else {
                continue;
            };
            let state = self.guarded(api.state(&latest)).await?;
            let is_active = state.is_ok_and(|state| phase(&state.status) == Phase::Active);
            if latest != *run || is_active {
                self.join_run(latest.clone(), true);
                return Ok(Some(latest));
            }
        }
        Ok(None)
    }

    /// Goes on with a run that another process started; `saw_activity` says that its status is known to be its own.
    pub(super) fn join_run(&mut self, run: RunRef, saw_activity: bool) {
        self.transcript.expect_new_turn();
        if saw_activity {
            self.transcript.saw_activity();
        }
        self.current = Some(run);
        self.restart_deadline();
    }

    /// Starts the first turn: in the earlier conversation if that fits and still exists, else in a new one.
    async fn start(&mut self, words: &str, session: Option<&Session>) -> Result<RunRef, Stop> {
        let settings = self.run.settings;
        let words = render_template(
            &settings.prompt_template,
            &[
                ("prompt", words),
                ("repository", &settings.repository),
                ("ref", &settings.reference),
            ],
        );
        let generation = self.run.api.generation();
        if let Some(session) = session.filter(|session| session.matches(&settings.repository, generation)) {
            match self.resume(session, &words).await {
                Err(Resume::Gone) => {}
                Err(Resume::Stop(stop)) => return Err(stop),
                Ok(run) => return Ok(run),
            }
        }
        self.launch(&words).await
    }

    /// Starts an agent. One whose start was not answered may run and cost money: it is started again only if the human says so.
    async fn launch(&mut self, words: &str) -> Result<RunRef, Stop> {
        loop {
            let error = match self.send_launch(words).await? {
                Ok(started) => return self.begin(started, false, words),
                Err(error) => error,
            };
            let may_run = error.may_have_arrived();
            let stop = unheard(error);
            let Stop::Failed(problem) = &stop else {
                return Err(stop);
            };
            let message = self.redactor.text(&problem.message);
            match self.run.gate.filter(|_| may_run) {
                Some(gate) => {
                    // A human may take longer than any run.
                    self.deadline = None;
                    self.emit_status("unknown", "launch_unanswered", Some(&message));
                    if !self.guarded(gate.start_again(&message)).await?.unwrap_or(false) {
                        return Err(stop);
                    }
                    self.restart_deadline();
                }
                None => return Err(stop),
            }
        }
    }

    async fn send_launch(&mut self, words: &str) -> Result<Result<Started, CloudError>, Stop> {
        let settings = self.run.settings;
        let launch = Launch {
            repository: settings.repository.clone(),
            reference: settings.reference.clone(),
            model: settings.model.clone(),
            auto_create_pr: settings.auto_create_pr,
            branch_name: settings.branch_name.clone(),
            prompt: self.prompt(words)?,
            webhook: settings.webhook(),
        };
        let api = self.run.api;
        self.start_call(api.launch(&launch)).await
    }

    /// Continues an earlier conversation, after its current run has ended.
    async fn resume(&mut self, session: &Session, words: &str) -> Result<RunRef, Resume> {
        let api = self.run.api;
        let latest = match self.guarded(api.latest_run(&session.agent_id)).await? {
            Ok(latest) => latest,
            Err(error) if error.api().is_some_and(|api| api.is_not_found()) => return Err(Resume::Gone),
            Err(error) => return Err(Resume::Stop(error.into())),
        };
        let state = self.guarded(api.state(&latest)).await?.map_err(Stop::from)?;
        if phase(&state.status) == Phase::Active {
            self.emit_status(
                &latest.agent_id,
                "draining",
                Some("an earlier run is still going on"),
            );
            self.current = Some(latest.clone());
            self.wait(&latest).await?;
        }
        self.mark_conversation(&latest).await?;
        match self.deliver(&latest, words, false).await? {
            Delivered::As(run) => Ok(run),
            Delivered::ByAnother => Err(Resume::Stop(Stop::Cancelled)),
        }
    }

    /// Sends words once; the outer error ends the run.
    pub(super) async fn follow_up(
        &mut self,
        after: &RunRef,
        words: &str,
        prompt: &Prompt,
    ) -> Result<Result<RunRef, CloudError>, Stop> {
        let api = self.run.api;
        self.transcript.expect_new_turn();
        match self.start_call(api.follow_up(after, prompt)).await? {
            Ok(started) => self.begin(started, true, words).map(Ok),
            Err(error) => Ok(Err(error)),
        }
    }

    async fn attach(&mut self, session: &Session) -> Result<RunRef, Stop> {
        // Known from the start: a run that cannot be found at the moment is not over.
        self.current = Some(session.run());
        let run = match (self.run.api.generation(), &session.run_id) {
            (ApiGeneration::V1, None) => {
                let api = self.run.api;
                self.guarded(api.latest_run(&session.agent_id)).await??
            }
            _ => session.run(),
        };
        self.begin(Started { run, url: None }, true, "")
    }

    /// Notes that a turn was started.
    fn begin(&mut self, started: Started, resumed: bool, words: &str) -> Result<RunRef, Stop> {
        self.url = started.url.or(self.url.take());
        self.current = Some(started.run.clone());
        self.seen_status = None;
        self.emit(&CloudEvent::Init {
            runtime: RUNTIME.to_owned(),
            agent_id: started.run.agent_id.clone(),
            run_id: started.run.run_id.clone(),
            api: self.run.api.generation(),
            repository: self.run.settings.repository.clone(),
            resumed,
            model: self.run.settings.model.clone(),
            url: self.url.clone(),
        });
        // The first generation tells the user's words back in its conversation; the second does not.
        if started.run.run_id.is_some() && !words.is_empty() {
            self.emit(&CloudEvent::User {
                text: words.to_owned(),
            });
        }
        Ok(started.run)
    }

    pub(super) fn prompt(&mut self, words: &str) -> Result<Prompt, Stop> {
        let callback = match self.run.callbacks {
            Some(issuer) => Some(
                issuer
                    .issue()
                    .map_err(|reason| Stop::Failed(Problem::new(reason)))?,
            ),
            None => None,
        };
        if let Some(callback) = &callback {
            self.redactor.add(&callback.bootstrap_token);
        }
        Ok(compose_prompt(words, callback.as_ref()))
    }

    /// Returns what a human wants next. Without a human the run ends here.
    async fn human_word(&mut self, run: &RunRef) -> Result<Confirmable<HumanWord>, Stop> {
        let Some(gate) = self.run.gate else {
            return Ok(Confirmable::unconfirmed(HumanWord::Done(None)));
        };
        // A human may take longer than any run.
        self.deadline = None;
        if self.guarded(gate.is_over(run)).await? {
            return Ok(Confirmable::unconfirmed(HumanWord::Done(None)));
        }
        self.emit_status(&run.agent_id, "awaiting_human", Some("the agent ended its turn"));
        let last_word = self
            .transcript
            .last_word()
            .unwrap_or("The agent ended its turn.")
            .to_owned();
        let heard = self.guarded(gate.cue(&last_word)).await?;
        heard.map_err(|reason| Stop::Failed(Problem::new(format!("HAP_INCOMPLETE: {reason}"))))
    }

    pub(super) fn restart_deadline(&mut self) {
        self.deadline = self.run.settings.timeout.map(|timeout| Instant::now() + timeout);
    }

    /// Waits for something, but not beyond the end of the run.
    pub(super) async fn guarded<T>(&self, work: impl Future<Output = T>) -> Result<T, Stop> {
        let deadline = async {
            match self.deadline {
                Some(deadline) => tokio::time::sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            // A completed call takes precedence, so that a deadline at the same moment never loses a result.
            biased;
            done = work => Ok(done),
            () = self.run.cancellation.cancelled() => Err(Stop::Cancelled),
            () = deadline => Err(Stop::TimedOut),
        }
    }

    /// Makes a call that starts something. If the run ends meanwhile, the call is given some time to report what it
    /// started, because an unknown run cannot be stopped.
    async fn start_call(
        &mut self,
        call: impl Future<Output = Result<Started, CloudError>>,
    ) -> Result<Result<Started, CloudError>, Stop> {
        let mut call = std::pin::pin!(call);
        let stop = match self.guarded(&mut call).await {
            Ok(outcome) => return Ok(outcome),
            Err(stop) => stop,
        };
        if let Ok(Ok(started)) = timeout(self.run.settings.grace, call).await {
            self.current = Some(started.run);
        }
        Err(stop)
    }

    pub(super) fn emit(&mut self, event: &CloudEvent) {
        self.sink.emit(&redacted(event, &self.redactor));
    }

    pub(super) fn emit_status(&mut self, agent_id: &str, status: &str, detail: Option<&str>) {
        self.emit(&CloudEvent::Status {
            agent_id: agent_id.to_owned(),
            status: status.to_owned(),
            detail: detail.map(str::to_owned),
        });
    }

    /// Tells of a status, unless it is the one told of last.
    pub(super) fn note_status(&mut self, agent_id: &str, status: &str) {
        if self.seen_status.as_deref() != Some(status) {
            self.seen_status = Some(status.to_owned());
            self.emit_status(agent_id, status, None);
        }
    }
}

/// Describes a start that failed. One whose answer was lost may have been taken, and costs money unseen.
fn unheard(error: CloudError) -> Stop {
    let may_have_arrived = error.may_have_arrived();
    let mut stop = Stop::from(error);
    if let Stop::Failed(problem) = &mut stop
        && may_have_arrived
    {
        problem.message.push_str(
            "; it may have been taken nevertheless: look at https://cursor.com/agents before you start it again",
        );
    }
    stop
}

/// Why an earlier conversation is not continued.
enum Resume {
    /// It does not exist any more.
    Gone,
    /// The run is over.
    Stop(Stop),
}

impl From<Stop> for Resume {
    fn from(stop: Stop) -> Self {
        Resume::Stop(stop)
    }
}
