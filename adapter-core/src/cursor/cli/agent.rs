//! A configured agent: its model, its profiles and fallbacks, and the tools it may call.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use protocol_spec::visible::quoted;
use serde_json::Value;
use uuid::Uuid;

use super::invocation::{CliSpec, TurnRequest};
use super::recover::Decision;
use super::resume::ResumeProof;
use super::run::run_turn;
use crate::config::Config;
use crate::contract::{
    CallKind, CallRecord, Ending, ErrorCode, ErrorData, Event, Evidence, Item, Message, Note, Resumption,
    ShellCommand, Sink, Turn, TurnReport,
};
use crate::cursor::chats::ChatsRoot;
use crate::guard::{Registry, ToolError};
use crate::hap::{Confirmation, is_work};
use crate::process::{Cancelled, Graces, HumanTime};

/// The tool that runs commands.
const EXEC: &str = "exec";
/// The name under which the gate knows tools that we run.
const OUR_SERVER: &str = "cueme";
/// The most rounds of tool calls in one turn.
const TOOL_ROUNDS_MAX: u32 = 16;

/// An agent that can be given turns.
#[derive(Debug)]
pub struct CliAgent {
    /// The models and profiles.
    pub config: Arc<Config>,
    /// The model to use, by its name in the configuration.
    pub model: String,
    /// The directory in which the CLI runs.
    pub cwd: Option<PathBuf>,
    /// Added to the environment.
    pub env: BTreeMap<String, String>,
    /// The tools that are executed for a custom CLI.
    pub tools: Registry,
    /// The model to name on the command line, instead of what the CLI used last.
    pub model_flag: Option<String>,
    /// Whether the CLI may run every tool without asking.
    pub force: bool,
    /// More arguments for Cursor's CLI, such as `--sandbox enabled`.
    pub extra_args: Vec<String>,
    /// Arguments of the turn that continues no chat by its id, such as `--continue`.
    pub opening_args: Vec<String>,
    /// Whether the CLI's own tools are reported.
    pub activity: bool,
    /// Whether arguments and results of those tools are reported too.
    pub details: bool,
    /// The directory in which the CLI keeps its chats, to prove that one was continued.
    pub chats: Option<ChatsRoot>,
    /// The timeout of each step of ending a process.
    pub graces: Graces,
    /// Stops the running turn.
    pub cancelled: Cancelled,
    /// Knows how long the human takes, which is no time of the turn.
    pub human_time: Option<Arc<dyn HumanTime>>,
    /// The conversation so far, which a custom CLI is sent in full.
    messages: Vec<Message>,
}

impl CliAgent {
    /// Builds an agent that uses this model.
    pub fn new(config: Arc<Config>, model: impl Into<String>) -> Self {
        Self {
            config,
            model: model.into(),
            cwd: None,
            env: BTreeMap::new(),
            tools: Registry::default(),
            model_flag: None,
            force: true,
            extra_args: Vec::new(),
            opening_args: Vec::new(),
            activity: false,
            details: false,
            chats: None,
            graces: Graces::default(),
            cancelled: Cancelled::never(),
            human_time: None,
            messages: Vec::new(),
        }
    }

    /// Runs one turn, and looks whether it continued the chat it was told to.
    ///
    /// The sink gets exactly one terminal event, and a note for every decision.
    pub async fn turn(
        &mut self,
        prompt: &str,
        resume: Option<&str>,
        env: &BTreeMap<String, String>,
        sink: &mut (dyn Sink + Send),
    ) -> TurnReport {
        let (chats, cwd) = (self.chats.clone(), self.cwd.clone());
        let cwd = cwd.unwrap_or_else(|| PathBuf::from("."));
        // A custom CLI is sent the whole conversation and has nothing to remember.
        let told = resume.filter(|_| self.spec(&self.model).is_some_and(|spec| spec.prompt_as_arg));
        let proof = match (told, &chats) {
            (Some(chat), Some(root)) => Some(ResumeProof::begin(root, chat, &cwd)),
            _ => None,
        };
        let mut report = self.attempt(prompt, resume, env, sink).await;
        let session = report.evidence.session_id.as_deref();
        report.resumption = match proof {
            _ if told.is_some() && session.is_some() && session != told => Resumption::Forgotten,
            Some(proof) => proof.conclude(),
            None => Resumption::NotAsked,
        };
        report
    }

    /// Runs one turn, under other profiles and models where that can help.
    async fn attempt(
        &mut self,
        prompt: &str,
        resume: Option<&str>,
        env: &BTreeMap<String, String>,
        sink: &mut (dyn Sink + Send),
    ) -> TurnReport {
        let mut attempts = self.config.attempts(&self.model);
        let known = self.messages.len();
        loop {
            let attempt = attempts.current().clone();
            let Some(mut spec) = self.spec(&attempt.model) else {
                return no_model(&attempt.model, sink);
            };
            if spec.prompt_as_arg && resume.is_none() {
                spec.args.extend(self.opening_args.iter().cloned());
            }
            let mut full_env = self.env.clone();
            full_env.extend(
                self.config
                    .profile_env(&attempt.profile, |name| self.variable(name)),
            );
            full_env.extend(env.clone());
            self.messages.push(Message::user(prompt));
            let (report, end) = self.rounds(&spec, resume, &full_env, sink).await;
            if let Ending::Error(error) = &report.ending {
                let decision = attempts.next(&error.code, report.forwarded);
                tracing::warn!(%decision, "turn failed");
                sink.item(Item::Note(Note::Recovery(&decision.to_string())));
                let goes_on = match decision {
                    Decision::GiveUp { .. } => false,
                    Decision::Retry { after, .. } => self.pause(after).await,
                    Decision::RotateProfile { .. } | Decision::FallBack { .. } => true,
                };
                if goes_on {
                    self.messages.truncate(known);
                    continue;
                }
            }
            if let Some(end) = end {
                sink.item(Item::Event(end));
            }
            return report;
        }
    }

    /// Waits; returns whether it may go on afterwards.
    async fn pause(&mut self, after: Duration) -> bool {
        tokio::select! {
            () = self.cancelled.wait() => false,
            () = tokio::time::sleep(after) => true,
        }
    }

    fn spec(&self, model: &str) -> Option<CliSpec> {
        let mut spec = self.config.spec(model)?;
        spec.force = self.force;
        // The name was given for the model it was given with; a fallback has its own.
        spec.model = self.model_flag.clone().filter(|_| model == self.model);
        if spec.prompt_as_arg {
            spec.args.extend(self.extra_args.iter().cloned());
        }
        Some(spec)
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.env.get(name).cloned().or_else(|| std::env::var(name).ok())
    }

    /// Runs the CLI, and again with the results while it calls our tools; returns the end that was held back.
    async fn rounds(
        &mut self,
        spec: &CliSpec,
        resume: Option<&str>,
        env: &BTreeMap<String, String>,
        sink: &mut (dyn Sink + Send),
    ) -> (TurnReport, Option<Event<'static>>) {
        let mut executed = None;
        let mut confirmation = Confirmation::default();
        for _ in 0..TOOL_ROUNDS_MAX {
            let mut options = spec.normaliser();
            options.activity = self.activity;
            options.details = self.details;
            options.registered = self.tools.names();
            let turn = Turn {
                turn_id: Uuid::new_v4().to_string(),
                messages: self.messages.clone(),
                tools: self.tools.specs(),
            };
            let request = TurnRequest {
                turn,
                resume: resume.map(str::to_owned),
                cwd: self.cwd.clone(),
                env: env.clone(),
                human_time: self.human_time.clone(),
            };
            let mut round = Round {
                sink,
                calls: Vec::new(),
                text: String::new(),
                end: None,
                confirmation: std::mem::take(&mut confirmation),
            };
            let mut report = run_turn(
                spec,
                &request,
                options,
                self.graces,
                self.cancelled.clone(),
                &mut round,
            )
            .await;
            if let Ending::Done(_) = report.ending {
                round.confirmation.give_once();
            }
            let Round {
                calls, text, mut end, ..
            } = round;
            if !spec.prompt_as_arg {
                explain_custom(&mut report.ending, end.as_mut());
            }
            let again = !spec.prompt_as_arg && !calls.is_empty() && matches!(report.ending, Ending::Done(_));
            if !text.is_empty() {
                self.messages.push(Message::assistant(text));
            }
            if !again {
                // The stream of the last round does not contain the calls that we executed for the CLI.
                report.evidence.last_call = report.evidence.last_call.or(executed);
                return (report, end);
            }
            (executed, confirmation) = self.execute(calls).await;
        }
        let message = format!("the agent called tools in more than {TOOL_ROUNDS_MAX} rounds");
        failed(ErrorData::new(ErrorCode::ToolLimit, message))
    }

    /// Executes calls one after the other; each result becomes a message of the next round. Returns the last of them, and
    /// what confirms that the agent has the results.
    async fn execute(&mut self, calls: Vec<Call>) -> (Option<CallRecord>, Confirmation) {
        let (mut last, mut confirmation) = (None, Confirmation::default());
        for call in calls {
            let result = self.tools.call(&call.name, &call.args).await;
            last = Some(call.record(result.as_ref().map(|output| output.text.as_str())));
            let text = match result {
                Ok(output) => {
                    confirmation.add(output.confirmation);
                    output.text
                }
                Err(error) => format!("error: {error}"),
            };
            self.messages.push(Message::tool(call.name, text));
        }
        (last, confirmation)
    }
}

/// The steps to try when a custom CLI fails without a reason.
const CUSTOM_DEBUG_STEPS: &str = "pipe one turn into the command by hand: echo '{\"type\":\"turn\",\"turnId\":\"1\",\
\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}],\"tools\":[]}' | COMMAND; if it prints no JSON lines, it does not read its turn \
from stdin or does not flush; if it is Cursor's own CLI, set promptAsArg to true";

/// Gives the failure of a custom CLI the remedy of its own invocation style.
fn explain_custom(ending: &mut Ending, end: Option<&mut Event<'static>>) {
    let explain = |error: &mut ErrorData| {
        if matches!(error.code, ErrorCode::NoOutput | ErrorCode::CliExit) {
            error.remedy = Some(CUSTOM_DEBUG_STEPS.to_owned());
        }
    };
    if let Ending::Error(error) = ending {
        explain(error);
    }
    if let Some(Event::Error(error)) = end {
        explain(error);
    }
}

fn no_model(model: &str, sink: &mut dyn Sink) -> TurnReport {
    let message = format!("there is no enabled model {} in the configuration", quoted(model));
    let (report, end) = failed(ErrorData::new(ErrorCode::Config, message));
    if let Some(end) = end {
        sink.item(Item::Event(end));
    }
    report
}

fn failed(error: ErrorData) -> (TurnReport, Option<Event<'static>>) {
    let end = Some(Event::Error(error.clone()));
    let ending = Ending::Error(error);
    (
        TurnReport {
            ending,
            evidence: Evidence::default(),
            forwarded: 0,
            exit: None,
            stderr: String::new(),
            resumption: Resumption::NotAsked,
        },
        end,
    )
}

struct Call {
    name: String,
    args: Value,
}

impl Call {
    /// Describes the call for the gate.
    fn record(&self, result: Result<&str, &ToolError>) -> CallRecord {
        let what = match self.args["command"].as_str() {
            Some(command) if self.name == EXEC => CallKind::Shell(ShellCommand {
                command: command.to_owned(),
                parsed: None,
            }),
            _ => CallKind::Mcp {
                tool: self.name.clone(),
                server: OUR_SERVER.to_owned(),
            },
        };
        let exit_code = result
            .ok()
            .and_then(|text| text.lines().next()?.strip_prefix("exit ")?.parse().ok());
        CallRecord {
            key: self.name.clone(),
            outcome: if result.is_ok() { "success" } else { "failure" }.to_owned(),
            exit_code: exit_code.filter(|_| self.name == EXEC),
            is_background: false,
            what,
        }
    }
}

/// Passes a round on, remembers its calls, and holds its end back.
struct Round<'a> {
    sink: &'a mut (dyn Sink + Send),
    calls: Vec<Call>,
    text: String,
    end: Option<Event<'static>>,
    /// Given once the agent works on the results of its last calls.
    confirmation: Confirmation,
}

impl Sink for Round<'_> {
    fn item(&mut self, item: Item<'_>) {
        if is_work(&item) {
            self.confirmation.give_once();
        }
        match &item {
            Item::Event(event) if event.is_terminal() => {
                self.end = Some(event.clone().into_owned());
                return;
            }
            Item::Event(Event::AssistantDelta { content }) => self.text.push_str(content),
            Item::Event(Event::ToolCall { name, args }) => {
                self.remember(name, serde_json::from_str(args.get()).ok())
            }
            Item::Note(Note::UnknownTool(name)) => self.remember(&Cow::Borrowed(*name), None),
            Item::Event(_) | Item::Activity(_) | Item::Note(_) => {}
        }
        self.sink.item(item);
    }
}

impl Round<'_> {
    fn remember(&mut self, name: &str, args: Option<Value>) {
        self.calls.push(Call {
            name: name.to_owned(),
            args: args.unwrap_or_default(),
        });
    }
}
