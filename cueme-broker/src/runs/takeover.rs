//! Takes over cloud runs without a driver.
//!
//! The agent keeps working and costs money, and its human must still be asked. The broker does not know the runtime's
//! API: it starts this same program as `cueme cloud watch`, which ends when the broker does.

use std::collections::HashMap;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use protocol_spec::id::RunId;
use protocol_spec::message::{ErrorCode, Failure, Run, RunEvent, RunKind, RunReport};
use tokio::process::{Child, Command};

use super::followers::until_change;
use super::spawn::last_words;
use crate::broker::{Broker, wall_clock};

/// The status of a run whose agent keeps working without a driver.
const UNATTENDED: &str = "UNATTENDED";
/// The time that a driver may be away before its run is taken over: it comes back by itself after a restart of the
/// broker.
const DRIVER_ABSENCE_MAX: Duration = Duration::from_secs(3);
/// The time that a driver of an earlier broker may be away.
const ABSENCE_AT_START_MAX: Duration = Duration::from_secs(10);
/// The backoff after an attempt that did not last; it doubles with each further one.
const PAUSE_MIN: Duration = Duration::from_secs(5);
const PAUSE_MAX: Duration = Duration::from_secs(600);
/// The time that a run must have had a driver for earlier attempts to be forgotten.
const LASTING: Duration = Duration::from_secs(60);
/// The most runs that are watched at once.
const RUNS_MAX: usize = 32;
/// The shortest time between two checks of the list.
const DEBOUNCE: Duration = Duration::from_millis(200);

/// Takes over every cloud run without a driver, for as long as the broker lives.
pub(crate) async fn watch_orphaned_runs(broker: Arc<Broker>) {
    let mut changes = broker.followers().changes();
    let mut runs: HashMap<RunId, OrphanedRun> = HashMap::new();
    let mut absence_max = ABSENCE_AT_START_MAX;
    loop {
        let next = check_all(&broker, &mut runs, absence_max).await;
        absence_max = DRIVER_ABSENCE_MAX;
        if !until_change(&mut changes, next).await {
            return;
        }
        tokio::time::sleep(DEBOUNCE).await;
        while changes.try_recv().is_ok() {}
    }
}

/// A cloud run that has not ended, and whether it lacks a driver.
#[derive(Debug)]
struct OrphanedRun {
    /// The time since which it has, or lacks, a driver.
    since: Instant,
    is_driven: bool,
    attempts: u32,
    /// When it is taken over.
    due: Instant,
}

impl OrphanedRun {
    fn new(is_driven: bool, now: Instant, absence_max: Duration) -> Self {
        Self {
            since: now,
            is_driven,
            attempts: 0,
            due: now + absence_max,
        }
    }

    /// Records whether the run has a driver; says whether to take it over now.
    fn is_due(&mut self, is_driven: bool, now: Instant) -> bool {
        if is_driven != self.is_driven {
            if self.is_driven && now - self.since >= LASTING {
                self.attempts = 0;
            }
            self.due = now + DRIVER_ABSENCE_MAX.max(pause(self.attempts));
            (self.since, self.is_driven) = (now, is_driven);
        }
        if is_driven || now < self.due {
            return false;
        }
        self.attempts = self.attempts.saturating_add(1);
        self.due = now + pause(self.attempts);
        true
    }
}

fn pause(attempts: u32) -> Duration {
    match attempts {
        0 => Duration::ZERO,
        attempts => PAUSE_MIN
            .saturating_mul(1 << (attempts - 1).min(16))
            .min(PAUSE_MAX),
    }
}

/// Checks all open runs once; returns when to check again, if some of them lack a driver.
async fn check_all(
    broker: &Arc<Broker>,
    runs: &mut HashMap<RunId, OrphanedRun>,
    absence_max: Duration,
) -> Option<Instant> {
    let open = match broker.read(|reader| reader.open_cloud_runs(RUNS_MAX)).await {
        Ok(open) => open,
        Err(failure) => {
            tracing::warn!(%failure, "could not list runs without a driver");
            return Some(Instant::now() + PAUSE_MIN);
        }
    };
    runs.retain(|run, _| open.iter().any(|row| row.run_id == *run));
    for run in open {
        let (now, is_driven) = (Instant::now(), broker.followers().has(run.run_id));
        let orphan = runs
            .entry(run.run_id)
            .or_insert_with(|| OrphanedRun::new(is_driven, now, absence_max));
        if orphan.is_due(is_driven, now) {
            let run_id = run.run_id;
            if let Err(failure) = take_over_or_say(broker, run).await {
                tracing::warn!(%failure, %run_id, "could not take over a cloud run");
            }
        }
    }
    let left = runs.values().filter(|orphan| !orphan.is_driven);
    left.map(|orphan| orphan.due).min()
}

async fn take_over_or_say(broker: &Arc<Broker>, run: Run) -> Result<(), Failure> {
    if run.status != UNATTENDED {
        leave_unattended(broker, run.clone(), "its driver is gone").await;
    }
    take_over(broker, &run).await
}

/// Starts a driver for a run without one.
pub(crate) async fn take_over(broker: &Arc<Broker>, run: &Run) -> Result<(), Failure> {
    let refused = |message: String| Failure::new(ErrorCode::NotFound, message);
    let Some(session) = run.session.as_deref().filter(|_| run.kind == RunKind::Cloud) else {
        return Err(refused(
            "the run has no agent in the cloud that could be watched".into(),
        ));
    };
    if run.end.is_some() || broker.followers().has(run.run_id) {
        return Err(refused("the run is over, or somebody drives it".into()));
    }
    let variable = |name: &str| std::env::var(name).ok();
    if let Err(error) = broker.config().cloud.api_key(&variable) {
        return Err(refused(format!("the broker cannot watch the run: {error}"))
            .with_hint(format!("run `cueme cloud watch {session}` where the key is set")));
    }
    let spawned = Command::new(broker.executable())
        .args(arguments(broker, run))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn();
    let child = spawned.map_err(|error| {
        let message = format!("could not start {}: {error}", broker.executable().display());
        Failure::new(ErrorCode::Internal, message)
    })?;
    tracing::info!(run = %run.run_id, session, "the broker watches a run that nobody drives");
    tokio::spawn(supervise(Arc::clone(broker), run.run_id, child));
    Ok(())
}

/// The broker itself keeps the webhook secret of the run, so the new driver needs none.
fn arguments(broker: &Broker, run: &Run) -> Vec<String> {
    let mut words: Vec<String> = ["cloud", "watch", "--json", "--while-stdin-open", "--no-webhooks"]
        .map(str::to_owned)
        .into();
    if run.agent_id.is_none() {
        words.push("--no-hap".to_owned());
    }
    if let Some(url) = broker.followers().callbacks(run.run_id).public_url {
        words.push(format!("--public-url={url}"));
    }
    words.push(run.run_id.to_string());
    words
}

/// Waits for the end of a driver that the broker started, and reports one that left the run open.
async fn supervise(broker: Arc<Broker>, run_id: RunId, mut child: Child) {
    // Held until the driver ends: the driver detects by it that the broker is gone.
    let _stdin = child.stdin.take();
    let complaint = match child.stderr.take() {
        Some(stderr) => last_words(stderr).await,
        None => String::new(),
    };
    // Only its end matters.
    let _ = child.wait().await;
    let kept = broker.reader().one_run(run_id).ok().flatten();
    if let Some(row) = kept.filter(|row| row.run.end.is_none() && row.run.status != UNATTENDED) {
        let reason = match complaint.trim() {
            "" => "the broker could not watch it",
            complaint => complaint,
        };
        leave_unattended(&broker, row.run, reason).await;
    }
}

/// Keeps the run of a cloud agent open: the agent keeps working without a driver.
pub(super) async fn leave_unattended(broker: &Arc<Broker>, run: Run, reason: &str) {
    let session = run.session.clone().unwrap_or_default();
    let error = format!("nobody follows it: {reason}; `cueme cloud watch {session}` takes over");
    let event = RunEvent {
        at: wall_clock(),
        what: "status".to_owned(),
        text: format!("{UNATTENDED}: {reason}"),
    };
    let unattended = Run {
        status: UNATTENDED.to_owned(),
        error: Some(error),
        ..run
    };
    let report = RunReport {
        run: unattended,
        events: vec![event],
    };
    if let Err(failure) = broker.report_run(report).await {
        tracing::error!(%failure, "could not record that a run has no driver");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_taken_over_after_a_while_and_ever_more_seldom_when_that_does_not_last() {
        let start = Instant::now();
        let after = |ms: u64| start + Duration::from_millis(ms);
        let mut orphan = OrphanedRun::new(true, start, DRIVER_ABSENCE_MAX);
        assert!(!orphan.is_due(true, after(100)));
        assert!(!orphan.is_due(false, after(1_000)), "it may come back");
        assert!(!orphan.is_due(true, after(2_000)));
        assert!(!orphan.is_due(false, after(3_000)));
        assert!(orphan.is_due(false, after(6_100)));
        assert!(!orphan.is_due(false, after(6_200)));
        assert!(orphan.is_due(false, after(11_200)));
        assert!(!orphan.is_due(false, after(20_000)), "the pause has doubled");
        assert!(!orphan.is_due(true, after(21_000)));
        assert!(!orphan.is_due(false, after(90_000)), "it was driven for long");
        assert!(orphan.is_due(false, after(93_100)));
        assert_eq!(pause(40), PAUSE_MAX);
    }
}
