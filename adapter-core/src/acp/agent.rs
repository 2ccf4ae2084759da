//! An agent that is driven over ACP: one process and one prompt a turn.
//!
//! A question that the agent asks in a turn is answered in the same turn. A chat is continued by loading it in a new
//! process, so no process of an agent runs between two turns.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    CancelNotification, ClientCapabilities, ElicitationCapabilities, ElicitationFormCapabilities,
    ElicitationUrlCapabilities, Implementation, InitializeRequest, LoadSessionRequest, NewSessionRequest,
    PromptRequest,
};
use agent_client_protocol::v1::{ConnectionTo, Dispatch, Responder};
use agent_client_protocol::{
    Agent as AgentRole, Client, Error, Handled, UntypedMessage, is_connection_terminated,
    is_incoming_transport_closed,
};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use protocol_spec::message::DeliveredOutcome;
use runtimes::shell::agent_call::is_agent_call;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::question::AcpQuestion;
use super::transport::transport;
use super::update::Updates;
use crate::contract::{
    Done, Ending, ErrorCode, ErrorData, Event, Exit, FINISH_STOP, Item, Note, Resumption, Sink, TurnReport,
};
use crate::cursor::cli::{classify, exit_error};
use crate::guard::redact;
use crate::hap::{Agent, Confirmable, HumanError, TURN_ENV};
use crate::process::{Cancelled, Graces, Group, HumanTime, Start, StderrTask, deadline, exit_of};

/// The timeout of the agent's reply to `initialize`.
const HELLO_MAX: Duration = Duration::from_secs(30);
/// The capacity of the queue of unread messages.
const MESSAGES_MAX: usize = 256;
/// The error by which an agent says that nobody is logged in.
const AUTH_REQUIRED: i32 = -32000;
/// Cursor's way to log in with the account of the CLI.
const CURSOR_LOGIN: &str = "cursor_login";

/// The future of the answers to all forms of a question.
pub type Answering<'a> =
    Pin<Box<dyn Future<Output = Result<Confirmable<Vec<DeliveredOutcome>>, HumanError>> + Send + 'a>>;

/// Asks the human what an agent asks inside of its turn.
pub trait AcpHuman: Send + Sync + fmt::Debug {
    /// Asks every form of a question, as long as it takes; returns what became of each.
    fn ask<'a>(&'a self, question: &'a AcpQuestion) -> Answering<'a>;
}

/// An agent that speaks ACP.
#[derive(Debug)]
pub struct AcpAgent {
    /// The program.
    pub command: String,
    /// Its arguments, which make it speak ACP.
    pub args: Vec<String>,
    /// The directory it works in.
    pub cwd: PathBuf,
    /// Added to the environment.
    pub env: BTreeMap<String, String>,
    /// The timeout of a turn, without the human's time.
    pub deadline: Duration,
    /// Whether its tools run without asking.
    pub force: bool,
    /// Whether its tools are reported.
    pub activity: bool,
    /// Whether their inputs and outputs are reported too.
    pub details: bool,
    /// The paths of this program, which the agent may always call.
    pub own_programs: Vec<String>,
    /// Answers in the turn; without one, every question is closed.
    pub human: Option<Arc<dyn AcpHuman>>,
    /// Knows how long the human takes.
    pub human_time: Option<Arc<dyn HumanTime>>,
    /// The timeout of each step of ending a process.
    pub graces: Graces,
    /// Stops the running turn.
    pub cancelled: Cancelled,
}

impl Agent for AcpAgent {
    async fn turn(
        &mut self,
        prompt: &str,
        resume: Option<&str>,
        nonce: &str,
        sink: &mut (dyn Sink + Send),
    ) -> TurnReport {
        let mut env = self.env.clone();
        env.insert(TURN_ENV.to_owned(), nonce.to_owned());
        let mut turn = Turn {
            agent: self,
            updates: Updates::new(self.activity, self.details),
            resumption: Resumption::NotAsked,
        };
        let report = turn.run(&env, prompt, resume, sink).await;
        match &report.ending {
            Ending::Done(done) => sink.item(Item::Event(Event::Done(done.clone()))),
            Ending::Error(error) => sink.item(Item::Event(Event::Error(error.clone()))),
        }
        report
    }
}

/// A message of the agent.
enum Incoming {
    Request(Box<(UntypedMessage, Responder)>),
    Notification(UntypedMessage),
}

struct Turn<'a> {
    agent: &'a AcpAgent,
    updates: Updates,
    resumption: Resumption,
}

impl Turn<'_> {
    async fn run(
        &mut self,
        env: &BTreeMap<String, String>,
        prompt: &str,
        resume: Option<&str>,
        sink: &mut (dyn Sink + Send),
    ) -> TurnReport {
        let agent = self.agent;
        let start = Start {
            command: &agent.command,
            args: &agent.args,
            env,
            cwd: Some(&agent.cwd),
        };
        let mut child = match start.spawn(Stdio::piped()).await {
            Ok(child) => child,
            Err(error) => return self.report(Err(error), None, String::new()),
        };
        let group = Group::of(child.id());
        let mut stderr = StderrTask::start(child.stderr.take());
        let said = match (child.stdin.take(), child.stdout.take()) {
            (Some(stdin), Some(stdout)) => {
                let (sender, incoming) = mpsc::channel(MESSAGES_MAX);
                let client = Client.v1().on_receive_dispatch(
                    async move |message: Dispatch, _| queue(&sender, message).await,
                    agent_client_protocol::on_receive_dispatch!(),
                );
                let is_gone = Arc::<AtomicBool>::default();
                let transport = transport(stdin, stdout, Arc::clone(&is_gone));
                let talk = client.connect_with(transport, async |agent| {
                    Ok(self.talk(&agent, incoming, prompt, resume, sink).await)
                });
                let said = talk.await.unwrap_or_else(|error| Err(error_of(&error)));
                // A write that fails may be noticed before the end of what the agent writes.
                said.map_err(|error| match is_gone.load(Ordering::Relaxed) {
                    true if error.code == ErrorCode::Protocol => {
                        ErrorData::new(ErrorCode::CliExit, error.message)
                    }
                    _ => error,
                })
            }
            _ => Err(ErrorData::new(ErrorCode::Spawn, "the agent has no pipes")),
        };
        // Its stdin is closed: a healthy agent leaves by itself.
        let exit = match timeout(agent.graces.leave, child.wait()).await {
            Ok(status) => status.ok().map(exit_of),
            Err(_) => {
                group.terminate();
                match timeout(agent.graces.terminate, child.wait()).await {
                    Ok(status) => status.ok().map(exit_of),
                    Err(_) => {
                        group.kill();
                        child.wait().await.ok().map(exit_of)
                    }
                }
            }
        };
        drop(group);
        let stderr = stderr.end(agent.graces.drain).await;
        self.report(said, exit, stderr)
    }

    fn report(&mut self, said: Result<Done, ErrorData>, exit: Option<Exit>, stderr: String) -> TurnReport {
        let ending = match said {
            Ok(done) => Ending::Done(done),
            // An agent that died says why on stderr, and the protocol only that it is gone.
            Err(error) if error.code == ErrorCode::CliExit => {
                Ending::Error(exit_error(exit.unwrap_or(Exit::Code(-1)), &stderr, ""))
            }
            Err(error) => Ending::Error(error),
        };
        TurnReport {
            ending,
            evidence: std::mem::take(&mut self.updates.evidence),
            forwarded: self.updates.forwarded,
            exit,
            stderr: redact(&stderr).into_owned(),
            resumption: std::mem::take(&mut self.resumption),
        }
    }

    async fn talk(
        &mut self,
        agent: &ConnectionTo<AgentRole>,
        mut incoming: mpsc::Receiver<Incoming>,
        prompt: &str,
        resume: Option<&str>,
        sink: &mut (dyn Sink + Send),
    ) -> Result<Done, ErrorData> {
        let mut cancelled = self.agent.cancelled.clone();
        let mut deadline = pin!(deadline(self.agent.deadline, self.agent.human_time.clone()));
        let session = {
            let begin = self.begin(agent, &mut incoming, resume);
            tokio::select! {
                biased;
                () = cancelled.wait() => return Err(stopped()),
                () = &mut deadline => return Err(too_long()),
                session = begin => session?,
            }
        };
        let (id, model) = &session;
        sink.item(Item::Note(Note::Session { id, model }));
        self.updates.evidence.session_id = Some(id.clone());
        self.updates.evidence.model = Some(model.clone()).filter(|model| !model.is_empty());
        let request = PromptRequest::new(id.clone(), vec![prompt.to_owned().into()]);
        let mut reply = pin!(send(agent, "session/prompt", &request));
        let mut questions = FuturesUnordered::new();
        let mut stop = None;
        loop {
            tokio::select! {
                biased;
                () = cancelled.wait(), if stop.is_none() => stop = Some(stopped()),
                () = &mut deadline, if stop.is_none() => stop = Some(too_long()),
                Some(message) = incoming.recv() => match message {
                    Incoming::Notification(message) => {
                        if message.method() == "session/update" {
                            self.updates.take(message.params(), sink);
                        }
                    }
                    Incoming::Request(request) => {
                        let (message, responder) = *request;
                        if let Some((question, responder)) = self.receive(&message, responder)? {
                            questions.push(self.ask(question, responder));
                        }
                    }
                },
                Some((question, responder, heard)) = questions.next() => {
                    self.answer(&question, responder, heard)?;
                }
                result = &mut reply => return finish(result),
            }
            if let Some(error) = &stop {
                // The agent may still tell how far it came, but not for long.
                let cancel = CancelNotification::new(id.clone());
                let _ = agent.send_notification(cancel);
                let _ = timeout(self.agent.graces.cancel, &mut reply).await;
                return Err(error.clone());
            }
        }
    }

    /// Says hello, and makes or loads the session; returns its id and its model.
    async fn begin(
        &mut self,
        agent: &ConnectionTo<AgentRole>,
        incoming: &mut mpsc::Receiver<Incoming>,
        resume: Option<&str>,
    ) -> Result<(String, String), ErrorData> {
        let hello = InitializeRequest::new(ProtocolVersion::V1)
            .client_capabilities(capabilities())
            .client_info(Implementation::new("cueme", env!("CARGO_PKG_VERSION")));
        let hello = timeout(HELLO_MAX, send(agent, "initialize", &hello)).await;
        let hello = hello
            .map_err(|_| ErrorData::new(ErrorCode::Timeout, "the agent did not answer `initialize`"))?
            .map_err(|error| error_of(&error))?;
        let can_load = hello.pointer("/agentCapabilities/loadSession") == Some(&Value::Bool(true));
        if let Some(id) = resume {
            // The agent repeats the whole chat while it loads; the repetition is dropped.
            let load = LoadSessionRequest::new(id.to_owned(), self.agent.cwd.clone());
            if can_load && let Ok(loaded) = set_up(agent, &hello, "session/load", &load, incoming).await {
                self.resumption = Resumption::Continued;
                return Ok((id.to_owned(), model_of(&loaded)));
            }
            self.resumption = Resumption::Forgotten;
        }
        let new = NewSessionRequest::new(self.agent.cwd.clone());
        let made = set_up(agent, &hello, "session/new", &new, incoming)
            .await
            .map_err(|error| error_of(&error))?;
        let id = made.get("sessionId").and_then(Value::as_str);
        let id =
            id.ok_or_else(|| ErrorData::new(ErrorCode::Protocol, "the agent made a session without an id"))?;
        Ok((id.to_owned(), model_of(&made)))
    }

    /// Answers a request that needs no human; returns one that does.
    fn receive(
        &self,
        message: &UntypedMessage,
        responder: Responder,
    ) -> Result<Option<(AcpQuestion, Responder)>, ErrorData> {
        let (method, params) = (message.method(), message.params());
        let folder = Some(self.agent.cwd.as_path());
        let Some(question) = AcpQuestion::read(method, params, &self.updates.calls, folder) else {
            let is_notice = method.starts_with("cursor/");
            let replied = if is_notice {
                responder.respond(json!({}))
            } else if method == "session/request_permission" {
                responder.respond(json!({"outcome": {"outcome": "cancelled"}}))
            } else {
                responder.respond_with_error(Error::method_not_found())
            };
            return replied.map(|()| None).map_err(|error| error_of(&error));
        };
        let is_own = |command: &str| is_agent_call(command, &self.agent.own_programs);
        let is_allowed = self.agent.force || question.command().is_some_and(is_own);
        match question.allow_once().filter(|_| is_allowed) {
            Some(allowed) => responder
                .respond(allowed)
                .map(|()| None)
                .map_err(|error| error_of(&error)),
            None => Ok(Some((question, responder))),
        }
    }

    /// Asks the human while the agent goes on.
    fn ask(
        &self,
        question: AcpQuestion,
        responder: Responder,
    ) -> impl Future<Output = (AcpQuestion, Responder, Option<Confirmable<Vec<DeliveredOutcome>>>)> + Send + use<>
    {
        let human = self.agent.human.clone();
        async move {
            let heard = match &human {
                Some(human) => human.ask(&question).await,
                None => Ok(Confirmable::unconfirmed(Vec::new())),
            };
            let heard = heard
                .inspect_err(|error| tracing::warn!(%error, "a question of the agent could not be asked"))
                .ok();
            (question, responder, heard)
        }
    }

    /// Gives the agent what the human decided.
    fn answer(
        &self,
        question: &AcpQuestion,
        responder: Responder,
        heard: Option<Confirmable<Vec<DeliveredOutcome>>>,
    ) -> Result<(), ErrorData> {
        let (told, confirmation) =
            heard.map_or_else(Default::default, |heard| (heard.word, heard.confirmation));
        responder
            .respond(question.result(&told, &self.updates.calls))
            .map_err(|error| error_of(&error))?;
        confirmation.give();
        Ok(())
    }
}

async fn queue(sender: &mpsc::Sender<Incoming>, message: Dispatch) -> Result<Handled<Dispatch>, Error> {
    let message = match message {
        Dispatch::Request(message, responder) => Incoming::Request(Box::new((message, responder))),
        Dispatch::Notification(message) => Incoming::Notification(message),
        response @ Dispatch::Response(..) => {
            return Ok(Handled::No {
                message: response,
                retry: false,
            });
        }
    };
    // A turn that is over reads no more.
    let _ = sender.send(message).await;
    Ok(Handled::Yes)
}

async fn send(
    agent: &ConnectionTo<AgentRole>,
    method: &str,
    params: &impl serde::Serialize,
) -> Result<Value, Error> {
    let request = UntypedMessage::new(method, params)?;
    agent.send_request(request).block_task().await
}

/// Creates or loads a session, and logs in if the agent requires it. Messages of the agent meanwhile are dropped.
async fn set_up(
    agent: &ConnectionTo<AgentRole>,
    hello: &Value,
    method: &str,
    params: &impl serde::Serialize,
    incoming: &mut mpsc::Receiver<Incoming>,
) -> Result<Value, Error> {
    let work = async {
        match send(agent, method, params).await {
            Err(error) if i32::from(error.code) == AUTH_REQUIRED && offers_login(hello) => {
                send(agent, "authenticate", &json!({"methodId": CURSOR_LOGIN})).await?;
                send(agent, method, params).await
            }
            result => result,
        }
    };
    let mut work = pin!(work);
    let result = loop {
        tokio::select! {
            result = &mut work => break result,
            Some(_) = incoming.recv() => {}
        }
    };
    // Messages are queued in their order, so all of these came before the reply.
    while incoming.try_recv().is_ok() {}
    result
}

fn offers_login(hello: &Value) -> bool {
    let methods = hello.get("authMethods").and_then(Value::as_array);
    methods.is_some_and(|methods| methods.iter().any(|method| method["id"] == CURSOR_LOGIN))
}

fn capabilities() -> ClientCapabilities {
    let elicitation = ElicitationCapabilities::new()
        .form(ElicitationFormCapabilities::new())
        .url(ElicitationUrlCapabilities::new());
    ClientCapabilities::new().elicitation(elicitation)
}

fn model_of(session: &Value) -> String {
    let model = session.pointer("/models/currentModelId").and_then(Value::as_str);
    model.unwrap_or_default().to_owned()
}

fn finish(result: Result<Value, Error>) -> Result<Done, ErrorData> {
    let reply = result.map_err(|error| error_of(&error))?;
    match reply.get("stopReason").and_then(Value::as_str) {
        Some("end_turn") => Ok(Done {
            finish_reason: FINISH_STOP.to_owned(),
            ..Done::default()
        }),
        Some("cancelled") => Err(stopped()),
        Some(reason) => Ok(Done {
            finish_reason: reason.to_owned(),
            ..Done::default()
        }),
        None => Err(ErrorData::new(
            ErrorCode::Protocol,
            "the agent ended its turn without a reason",
        )),
    }
}

fn stopped() -> ErrorData {
    ErrorData::new(ErrorCode::Cancelled, "the turn was cancelled")
}

fn too_long() -> ErrorData {
    ErrorData::new(ErrorCode::Timeout, "the turn took longer than its deadline")
}

/// Describes an error of the agent, or of the connection to it.
fn error_of(error: &Error) -> ErrorData {
    let details = error
        .data
        .as_ref()
        .map(|data| format!(" {data}"))
        .unwrap_or_default();
    let words = redact(&format!("{}{details}", error.message)).into_owned();
    let code = match i32::from(error.code) {
        AUTH_REQUIRED => ErrorCode::ModelAuth,
        _ if is_gone(error) => ErrorCode::CliExit,
        _ => classify(&words).unwrap_or(ErrorCode::Protocol),
    };
    ErrorData::new(code, words)
}

/// Tells whether the agent closed the connection before it replied.
fn is_gone(error: &Error) -> bool {
    is_connection_terminated(error) || is_incoming_transport_closed(error)
}
