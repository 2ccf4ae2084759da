//! Process groups and signals: everything here that depends on the platform.
//!
//! Each CLI leads a group of its own, so that whatever it started can be ended with it. Windows has no such
//! groups and is not supported yet.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::process::Command;

use crate::contract::Exit;

/// Makes the command the leader of a new process group.
pub(crate) fn lead_group(command: &mut Command) {
    command.process_group(0);
}

/// Returns how a process ended.
pub(crate) fn exit_of(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Code(-1),
    }
}

/// A process group that is ended when this value is dropped.
#[derive(Debug)]
pub(crate) struct Group(Option<Pid>);

impl Group {
    /// Takes charge of the group that this process leads.
    pub(crate) fn of(leader: Option<u32>) -> Self {
        Self(
            leader
                .and_then(|id| i32::try_from(id).ok())
                .and_then(Pid::from_raw),
        )
    }

    /// Asks every process of the group to end.
    pub(crate) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Ends every process of the group.
    pub(crate) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Reports whether any process of the group is left.
    pub(crate) fn is_alive(&self) -> bool {
        self.0.is_some_and(|group| test_kill_process_group(group).is_ok())
    }

    fn signal(&self, signal: Signal) {
        let Some(group) = self.0 else { return };
        match kill_process_group(group, signal) {
            // A group without processes is the wanted state.
            Ok(()) | Err(rustix::io::Errno::SRCH) => {}
            Err(error) => tracing::debug!(%error, "could not signal process group"),
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}
