//! Runs one turn of a CLI and sees to it that nothing of it is left behind.
//!
//! A result ends the turn, not the end of the process: the CLI may hang afterwards, and a grandchild may keep its
//! pipe open. There is a deadline for the agent's part of the whole turn and none between two lines, because healthy
//! turns are silent for minutes.

use std::io;
use std::path::Path;
use std::pin::pin;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::cancel::Cancelled;
use super::deadline::deadline;
use super::evidence::Evidence;
use super::fault::Exit;
use super::invocation::{CliSpec, Invocation, Stdin, TurnRequest};
use super::locate::locate;
use super::normalise::{Ending, Normaliser, NormaliserOptions, Sink};
use super::process::{Group, exit_of, is_being_replaced, lead_group};
use super::resume::Resumption;
use crate::contract::{CancelMessage, ErrorCode, ErrorData};
use crate::guard::redact;

/// How many bytes of stdout are read at once.
const READ_BYTES: usize = 64 * 1024;
/// How many bytes of stderr are kept; the end says what went wrong.
const STDERR_BYTES_MAX: usize = 64 * 1024;
/// How often a program that is being replaced is tried again.
const SPAWN_TRIES: u32 = 60;
const SPAWN_PAUSE: Duration = Duration::from_millis(50);

/// How long each step of ending a process may take.
#[derive(Debug, Clone, Copy)]
pub struct Graces {
    /// For leaving by itself after its result, or after closing its stdout.
    pub leave: Duration,
    /// For reading what is left in the pipes of a process that is gone.
    pub drain: Duration,
    /// For answering the `cancel` message.
    pub cancel: Duration,
    /// For answering SIGTERM.
    pub terminate: Duration,
}

impl Default for Graces {
    fn default() -> Self {
        Self {
            leave: Duration::from_secs(5),
            drain: Duration::from_millis(500),
            cancel: Duration::from_secs(2),
            terminate: Duration::from_secs(3),
        }
    }
}

/// What came of one turn.
#[derive(Debug, Clone)]
pub struct TurnReport {
    /// How it ended.
    pub ending: Ending,
    /// What its stream proves.
    pub evidence: Evidence,
    /// How many events were forwarded.
    pub forwarded: u64,
    /// How the process ended; `None` when it never started.
    pub exit: Option<Exit>,
    /// The end of its stderr, without secrets.
    pub stderr: String,
    /// Whether the chat it was told to continue was continued.
    pub resumption: Resumption,
}

/// Runs one turn and gives everything it says to `sink`.
///
/// Dropping the future ends the process and everything it started.
pub async fn run_turn(
    spec: &CliSpec,
    request: &TurnRequest,
    options: NormaliserOptions,
    graces: Graces,
    mut cancelled: Cancelled,
    sink: &mut (dyn Sink + Send),
) -> TurnReport {
    let mut normaliser = Normaliser::new(options);
    let mut running = match start(spec, request).await {
        Ok(running) => running,
        Err(error) => {
            normaliser.abort(error, sink);
            return report(normaliser, None, String::new(), sink);
        }
    };
    let deadline = deadline(spec.deadline, request.human_time.clone());
    let why = running
        .listen(&mut normaliser, deadline, graces, &mut cancelled, sink)
        .await;
    let exit = running.end(why, &request.turn.turn_id, graces).await;
    let stderr = running.stderr.end(graces.drain).await;
    report(normaliser, exit, stderr, sink)
}

fn report(mut normaliser: Normaliser, exit: Option<Exit>, stderr: String, sink: &mut dyn Sink) -> TurnReport {
    let ending = normaliser.finish(exit.unwrap_or(Exit::Code(-1)), &stderr, sink);
    let (evidence, forwarded) = (normaliser.evidence().clone(), normaliser.forwarded());
    TurnReport {
        ending,
        evidence,
        forwarded,
        exit,
        stderr: redact(&stderr).into_owned(),
        resumption: Resumption::NotAsked,
    }
}

/// Why listening stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    /// The turn ended well; the process may leave by itself.
    Ended,
    /// The stream is malformed, too long, or reported an error.
    Failed,
    /// The stream is over.
    Closed,
    /// The deadline passed, or the caller lost interest.
    Stopped,
}

/// A running CLI. The group is declared before the child, so that it is ended first.
#[derive(Debug)]
struct Running {
    group: Group,
    child: Child,
    stdout: Option<ChildStdout>,
    stdin: StdinTask,
    stderr: StderrTask,
    exit: Option<Exit>,
}

async fn start(spec: &CliSpec, request: &TurnRequest) -> Result<Running, ErrorData> {
    let invocation = spec.invocation(request).map_err(|error| {
        ErrorData::new(
            ErrorCode::Config,
            format!("could not write the turn as JSON: {error}"),
        )
    })?;
    if let Some(cwd) = request.cwd.as_deref().filter(|cwd| !cwd.is_dir()) {
        let message = format!("the working directory {} does not exist", cwd.display());
        return Err(ErrorData::new(ErrorCode::Config, message));
    }
    let path = request
        .env
        .get("PATH")
        .map(std::ffi::OsString::from)
        .or_else(|| std::env::var_os("PATH"));
    let program = locate(&spec.command, path.as_deref()).ok_or_else(|| {
        ErrorData::new(
            ErrorCode::CommandNotFound,
            format!("{}: command not found", spec.command),
        )
    })?;
    let mut child = spawn(&program, &invocation, request)
        .await
        .map_err(|error| spawn_error(&program, &error))?;
    Ok(Running {
        group: Group::of(child.id()),
        stdout: child.stdout.take(),
        stdin: StdinTask::start(child.stdin.take(), invocation.stdin),
        stderr: StderrTask::start(child.stderr.take()),
        child,
        exit: None,
    })
}

async fn spawn(program: &Path, invocation: &Invocation, request: &TurnRequest) -> io::Result<Child> {
    let mut command = Command::new(program);
    command
        .args(&invocation.args)
        .envs(&request.env)
        .kill_on_drop(true);
    command.stdin(if invocation.stdin == Stdin::Closed {
        Stdio::null()
    } else {
        Stdio::piped()
    });
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(cwd) = &request.cwd {
        command.current_dir(cwd);
    }
    lead_group(&mut command);
    let mut tries = 0;
    loop {
        match command.spawn() {
            // The CLI updates itself; for a moment its file cannot be run.
            Err(error) if is_being_replaced(&error) && tries < SPAWN_TRIES => tries += 1,
            result => return result,
        }
        sleep(SPAWN_PAUSE).await;
    }
}

fn spawn_error(program: &Path, error: &io::Error) -> ErrorData {
    let code = match error.kind() {
        io::ErrorKind::NotFound => ErrorCode::CommandNotFound,
        io::ErrorKind::PermissionDenied => ErrorCode::PermissionDenied,
        _ => ErrorCode::Spawn,
    };
    ErrorData::new(code, format!("could not start {}: {error}", program.display()))
}

impl Running {
    /// Reads stdout until the turn is over, one way or another.
    async fn listen(
        &mut self,
        normaliser: &mut Normaliser,
        deadline: impl Future<Output = ()>,
        graces: Graces,
        cancelled: &mut Cancelled,
        sink: &mut (dyn Sink + Send),
    ) -> Why {
        let Some(mut stdout) = self.stdout.take() else {
            return Why::Closed;
        };
        let mut buffer = vec![0; READ_BYTES];
        let mut deadline = pin!(deadline);
        let mut drained_at = Instant::now();
        let why = loop {
            tokio::select! {
                biased;
                () = cancelled.wait() => {
                    normaliser.abort(ErrorData::new(ErrorCode::Cancelled, "the turn was cancelled"), sink);
                    break Why::Stopped;
                }
                () = &mut deadline => {
                    normaliser.abort(ErrorData::new(ErrorCode::Timeout, "the turn took longer than its deadline"), sink);
                    break Why::Stopped;
                }
                read = stdout.read(&mut buffer) => match read {
                    Ok(0) | Err(_) => break Why::Closed,
                    Ok(count) if normaliser.feed(&buffer[..count], sink) => {
                        break if matches!(normaliser.ending(), Some(Ending::Done(_))) { Why::Ended } else { Why::Failed };
                    }
                    Ok(_) => {}
                },
                status = self.child.wait(), if self.exit.is_none() => {
                    self.exit = Some(status.map_or(Exit::Code(-1), exit_of));
                    drained_at = Instant::now() + graces.drain;
                }
                // The process is gone and somebody else holds its pipe.
                () = sleep_until(drained_at), if self.exit.is_some() => break Why::Closed,
            }
        };
        self.stdout = Some(stdout);
        why
    }

    /// Ends the process, gently where that is due, and everything it started.
    async fn end(&mut self, why: Why, turn_id: &str, graces: Graces) -> Option<Exit> {
        let drain = self.stdout.take().map(|stdout| tokio::spawn(discard(stdout)));
        let patient = match why {
            Why::Ended | Why::Closed => {
                self.stdin.close();
                self.left_within(graces.leave).await
            }
            Why::Stopped if self.stdin.cancel(turn_id) => self.left_within(graces.cancel).await,
            Why::Stopped | Why::Failed => self.exit.is_some(),
        };
        if !patient {
            self.group.terminate();
            if !self.left_within(graces.terminate).await {
                self.group.kill();
                self.exit = self.child.wait().await.ok().map(exit_of);
            }
        }
        if self.group.is_alive() {
            self.group.kill();
        }
        self.stdin.abort();
        if let Some(drain) = drain {
            drain.abort();
        }
        self.exit
    }

    async fn left_within(&mut self, grace: Duration) -> bool {
        if self.exit.is_none()
            && let Ok(status) = timeout(grace, self.child.wait()).await
        {
            self.exit = Some(status.map_or(Exit::Code(-1), exit_of));
        }
        self.exit.is_some()
    }
}

/// Reads a pipe to its end, so that the writer never blocks on it.
async fn discard(mut stdout: ChildStdout) {
    let mut buffer = vec![0; READ_BYTES];
    while stdout.read(&mut buffer).await.is_ok_and(|count| count > 0) {}
}

/// Writes stdin beside everything else, because the CLI may write before it reads.
///
/// A broken pipe is no error here: the process knows better why it left.
#[derive(Debug)]
struct StdinTask {
    /// Tells the writer what to do after the input: send a last line, or only close.
    last: Option<oneshot::Sender<Option<String>>>,
    task: Option<JoinHandle<()>>,
    cancellable: bool,
}

impl StdinTask {
    fn start(stdin: Option<ChildStdin>, input: Stdin) -> Self {
        let cancellable = matches!(input, Stdin::Turn(_));
        let (sender, receiver) = oneshot::channel();
        let task = stdin.map(|stdin| tokio::spawn(write_stdin(stdin, input, receiver)));
        Self {
            last: Some(sender),
            task,
            cancellable,
        }
    }

    fn close(&mut self) {
        if let Some(last) = self.last.take() {
            let _ = last.send(None);
        }
    }

    /// Sends the cancel message; returns whether this CLI can hear it.
    fn cancel(&mut self, turn_id: &str) -> bool {
        let message = serde_json::to_string(&CancelMessage {
            turn_id: turn_id.to_owned(),
        })
        .ok();
        match self.last.take() {
            Some(last) if self.cancellable => last.send(message).is_ok(),
            _ => false,
        }
    }

    fn abort(&mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
        }
    }
}

impl Drop for StdinTask {
    fn drop(&mut self) {
        self.abort();
    }
}

async fn write_stdin(mut stdin: ChildStdin, input: Stdin, last: oneshot::Receiver<Option<String>>) {
    let (text, keep_open) = match input {
        Stdin::Closed => return,
        Stdin::Prompt(text) => (text, false),
        Stdin::Turn(text) => (text, true),
    };
    if stdin.write_all(text.as_bytes()).await.is_err() || stdin.flush().await.is_err() || !keep_open {
        return;
    }
    if let Ok(Some(line)) = last.await {
        let _ = stdin.write_all(format!("{line}\n").as_bytes()).await;
    }
}

/// Reads stderr to its end and keeps the last part of it.
#[derive(Debug)]
struct StderrTask {
    tail: Arc<Mutex<Vec<u8>>>,
    task: Option<JoinHandle<()>>,
}

impl StderrTask {
    fn start(stderr: Option<ChildStderr>) -> Self {
        let tail = Arc::new(Mutex::new(Vec::new()));
        let task = stderr.map(|stderr| tokio::spawn(keep_tail(stderr, Arc::clone(&tail))));
        Self { tail, task }
    }

    /// Returns what was kept; waits no longer than this for more.
    async fn end(&mut self, grace: Duration) -> String {
        if let Some(mut task) = self.task.take()
            && timeout(grace, &mut task).await.is_err()
        {
            task.abort();
        }
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&tail).into_owned()
    }
}

impl Drop for StderrTask {
    fn drop(&mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
        }
    }
}

async fn keep_tail(mut stderr: ChildStderr, tail: Arc<Mutex<Vec<u8>>>) {
    let mut buffer = vec![0; READ_BYTES];
    while let Ok(count) = stderr.read(&mut buffer).await {
        if count == 0 {
            return;
        }
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend_from_slice(&buffer[..count]);
        let excess = tail.len().saturating_sub(STDERR_BYTES_MAX);
        tail.drain(..excess);
    }
}
