//! Starts the driver of a run, for a human at the page: this same program, as a process of its own.
//!
//! It outlives the broker and reports like any other driver. The broker only watches for an end that it could not
//! report itself.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use protocol_spec::id::RunId;
use protocol_spec::message::{ErrorCode, Failure, RUN_TEXT_BYTES_MAX, Run, RunEnd, RunKind, RunReport};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::takeover::leave_unattended;
use crate::broker::Broker;

/// The variable that names the run in the driver's environment.
pub(crate) const RUN_VARIABLE: &str = "CUEME_RUN_ID";
/// The part of a failed process's output that is kept, in bytes.
const COMPLAINT_BYTES_MAX: usize = RUN_TEXT_BYTES_MAX / 2;
const PIECE_BYTES: usize = 4096;
/// The timeout for stopping an agent in the cloud.
const STOP_TIME_MAX: Duration = Duration::from_secs(60);

/// A run that is to be started.
#[derive(Debug)]
pub(crate) struct Started {
    /// The run as it is shown until it reports itself.
    pub(crate) run: Run,
    /// The arguments of this program.
    pub(crate) arguments: Vec<String>,
    /// Its standard input.
    pub(crate) input: String,
}

/// Starts a run.
pub(crate) async fn start_run(broker: &Arc<Broker>, started: Started) -> Result<RunId, Failure> {
    let Started {
        run,
        arguments,
        input,
    } = started;
    let run_id = run.run_id;
    broker
        .report_run(RunReport {
            run: run.clone(),
            events: Vec::new(),
        })
        .await?;
    let spawned = Command::new(broker.executable())
        .args(arguments)
        .env(RUN_VARIABLE, run_id.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn();
    match spawned {
        Ok(child) => {
            tokio::spawn(attend(Arc::clone(broker), run, child, input));
            Ok(run_id)
        }
        Err(error) => {
            let reason = format!("could not start {}: {error}", broker.executable().display());
            fail(broker, run, reason.clone()).await;
            Err(Failure::new(ErrorCode::Internal, reason))
        }
    }
}

/// Waits for the end of a process, and reports it if the process did not.
async fn attend(broker: Arc<Broker>, run: Run, mut child: Child, input: String) {
    if let Some(mut stdin) = child.stdin.take() {
        // A process that ended already reports the reason below.
        let _ = stdin.write_all(input.as_bytes()).await;
    }
    let complaint = match child.stderr.take() {
        Some(stderr) => last_words(stderr).await,
        None => String::new(),
    };
    let status = child.wait().await;
    let kept = broker.reader().one_run(run.run_id).ok().flatten();
    if let Some(row) = kept.filter(|row| row.run.end.is_none()) {
        let reason = match (complaint.trim(), status) {
            ("", Ok(status)) => format!("it ended without a word ({status})"),
            ("", Err(error)) => format!("it could not be waited for: {error}"),
            (complaint, _) => complaint.to_owned(),
        };
        match (row.run.kind, &row.run.session) {
            (RunKind::Cloud, Some(_)) => leave_unattended(&broker, row.run, &reason).await,
            (RunKind::Cloud, None) | (RunKind::Local, _) => fail(&broker, run, reason).await,
        }
    }
}

/// Stops the agent of a run without a driver, by `cueme cloud stop`.
pub(crate) async fn stop_in_cloud(broker: &Arc<Broker>, run: Run) -> Result<(), Failure> {
    let refused = |message: String| Failure::new(ErrorCode::NotFound, message);
    let Some(session) = run.session.clone().filter(|_| run.kind == RunKind::Cloud) else {
        return Err(refused("nobody drives this run any more".into()));
    };
    let stopping = Command::new(broker.executable())
        .args(["cloud", "stop", "--json", &run.run_id.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .output();
    let hint = format!("run `cueme cloud stop {session}` where the key is set");
    let output = match timeout(STOP_TIME_MAX, stopping).await {
        Ok(Ok(output)) => output,
        Ok(Err(error)) => return Err(refused(format!("it could not be stopped: {error}")).with_hint(hint)),
        Err(_) => return Err(refused("it could not be stopped in time".into()).with_hint(hint)),
    };
    // The command reports the end: also of a run whose agent does not exist any more, which it cannot stop.
    let kept = broker.reader().one_run(run.run_id).ok().flatten();
    if kept.is_some_and(|row| row.run.end.is_some()) {
        return Ok(());
    }
    let complaint = last_words(output.stderr.as_slice()).await;
    Err(refused(format!("it could not be stopped: {}", complaint.trim())).with_hint(hint))
}

async fn fail(broker: &Arc<Broker>, run: Run, reason: String) {
    let failed = Run {
        status: "FAILED".to_owned(),
        end: Some(RunEnd::Failed),
        error: Some(reason),
        ..run
    };
    report(broker, failed).await;
}

async fn report(broker: &Arc<Broker>, run: Run) {
    let report = RunReport {
        run,
        events: Vec::new(),
    };
    if let Err(failure) = broker.report_run(report).await {
        tracing::error!(%failure, "the end of what drives a run could not be kept");
    }
}

/// Returns the end of a process's output.
pub(super) async fn last_words(mut stderr: impl AsyncReadExt + Unpin) -> String {
    let mut kept: Vec<u8> = Vec::new();
    let mut piece = [0; PIECE_BYTES];
    while let Ok(count @ 1..) = stderr.read(&mut piece).await {
        kept.extend_from_slice(&piece[..count]);
        let extra = kept.len().saturating_sub(COMPLAINT_BYTES_MAX);
        kept.drain(..extra);
    }
    String::from_utf8_lossy(&kept).into_owned()
}
