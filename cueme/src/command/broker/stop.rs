//! `cueme broker stop`: end the broker that is running.

use std::time::{Duration, Instant};

use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;
use protocol_spec::message::{Nothing, Request};

use crate::client::{call_running, connect, expect_reply};
use crate::error::CliError;
use crate::output;

/// The timeout of a broker's shutdown.
const STOP_WAIT_MAX: Duration = Duration::from_secs(15);
/// The polling interval during the shutdown.
const STOP_LOOK: Duration = Duration::from_millis(20);

pub(super) fn run(places: &Places) -> Result<Exit, CliError> {
    match stop(places)? {
        Some(pid) => {
            output::print_line(&format!(
                "stopped the broker (pid {pid}); agents that wait start a new one"
            ))?;
            Ok(Exit::Done)
        }
        None => {
            output::print_line("no broker is running")?;
            Ok(Exit::NotFound)
        }
    }
}

/// Stops the broker and waits until it is gone; returns its pid, or `None` when none was running.
pub(in crate::command) fn stop(places: &Places) -> Result<Option<u32>, CliError> {
    let Some(reply) = call_running(places, &Request::Stop(Nothing {}))? else {
        return Ok(None);
    };
    let pid = expect_reply!(reply, Stopping)?.pid;
    let deadline = Instant::now() + STOP_WAIT_MAX;
    while is_alive(pid) {
        if Instant::now() >= deadline {
            return Err(
                CliError::new(Exit::Io, format!("the broker (pid {pid}) did not stop")).with_hint(format!(
                    "end it with `kill {pid}`; nothing that was acknowledged is lost"
                )),
            );
        }
        // Somebody else's process cannot be waited for.
        std::thread::sleep(STOP_LOOK);
    }
    // Looked at once more so that a socket left behind is noticed here and not by the next caller.
    connect(places)?;
    Ok(Some(pid))
}

fn is_alive(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok() && !is_zombie(pid))
}

/// A broker whose parent does not collect it has ended all the same.
fn is_zombie(pid: rustix::process::Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    stat.is_ok_and(|stat| {
        stat.rsplit_once(')')
            .is_some_and(|(_, rest)| rest.trim_start().starts_with('Z'))
    })
}
