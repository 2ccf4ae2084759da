//! The processes above a hook: the host, and the shells through which it started the hook.
//!
//! A host that is killed cannot stop its hooks, and a shell between them keeps waiting for them. So a hook that waits
//! watches all of them.

use std::time::Duration;

use rustix::process::{Pid, getppid};

/// The polling interval for the parent, where the system cannot report the end of a process.
const PARENT_PERIOD: Duration = Duration::from_secs(1);

/// The processes above this one when the watch began.
#[derive(Debug)]
pub(super) struct Lineage {
    parent: Option<Pid>,
    /// Handles that become readable when their process ends; empty where there are none.
    #[cfg(target_os = "linux")]
    handles: Vec<rustix::fd::OwnedFd>,
}

impl Lineage {
    /// Returns the processes up to the first that is no shell.
    pub(super) fn of_this_process() -> Self {
        Self {
            parent: getppid(),
            #[cfg(target_os = "linux")]
            handles: linux::handles(),
        }
    }

    /// Tells whether the parent is this process; another one takes over a process whose parent has ended.
    pub(super) fn begins_with(&self, pid: i32) -> bool {
        self.parent == Pid::from_raw(pid)
    }

    /// Blocks until one of them is gone.
    pub(super) fn wait_until_broken(self) {
        #[cfg(target_os = "linux")]
        if getppid() == self.parent && linux::wait_for_one(&self.handles) {
            return;
        }
        while getppid() == self.parent {
            std::thread::sleep(PARENT_PERIOD);
        }
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::fd::OwnedFd;
    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    use crate::process_tree;

    pub(super) fn handles() -> Vec<OwnedFd> {
        let mut handles = Vec::new();
        for process in process_tree::ancestors() {
            let opened = Pid::from_raw(process.pid).map(|pid| pidfd_open(pid, PidfdFlags::empty()));
            let Some(Ok(handle)) = opened else {
                break;
            };
            handles.push(handle);
            if !process.is_shell() {
                break;
            }
        }
        handles
    }

    /// Waits until a process ends; false where the system gives no handles.
    pub(super) fn wait_for_one(handles: &[OwnedFd]) -> bool {
        if handles.is_empty() {
            return false;
        }
        let mut polled: Vec<PollFd<'_>> = handles
            .iter()
            .map(|handle| PollFd::new(handle, PollFlags::IN))
            .collect();
        loop {
            match poll(&mut polled, None) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => return true,
                Err(_) => return false,
            }
        }
    }
}
