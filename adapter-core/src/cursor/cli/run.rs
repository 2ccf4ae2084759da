//! Runs one turn of a CLI and sees to it that nothing of it is left behind.
//!
//! A result ends the turn, not the end of the process: the CLI may hang afterwards, and a grandchild may keep its
//! pipe open. There is a deadline for the agent's part of the whole turn and none between two lines, because healthy
//! turns are silent for minutes.

use std::pin::pin;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};

use super::invocation::{CliSpec, Stdin, TurnRequest};
use super::normalise::{Normaliser, NormaliserOptions};
use crate::contract::{CancelMessage, Ending, ErrorCode, ErrorData, Exit, Resumption, Sink, TurnReport};
use crate::guard::redact;
use crate::process::{Cancelled, Graces, Group, Start, StderrTask, deadline, exit_of};

/// The size of the read buffer for stdout, in bytes.
const READ_BYTES: usize = 64 * 1024;

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
    let stdin = if invocation.stdin == Stdin::Closed {
        Stdio::null()
    } else {
        Stdio::piped()
    };
    let start = Start {
        command: &spec.command,
        args: &invocation.args,
        env: &request.env,
        cwd: request.cwd.as_deref(),
    };
    let mut child = start.spawn(stdin).await?;
    Ok(Running {
        group: Group::of(child.id()),
        stdout: child.stdout.take(),
        stdin: StdinTask::start(child.stdin.take(), invocation.stdin),
        stderr: StderrTask::start(child.stderr.take()),
        child,
        exit: None,
    })
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
