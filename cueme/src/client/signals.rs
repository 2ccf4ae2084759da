//! Signals that ask a waiting client to stop.

use std::ffi::c_int;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use protocol_spec::exit::Exit;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// A request to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    Interrupt,
    Terminate,
}

impl Signal {
    /// Returns how a call ends that was asked to stop like this.
    pub(crate) fn exit(self) -> Exit {
        match self {
            Self::Interrupt => Exit::Interrupted,
            Self::Terminate => Exit::Terminated,
        }
    }
}

/// Records signals, and wakes a poll for them: no thread, no timer.
#[derive(Debug)]
pub(crate) struct Signals {
    caught: Arc<AtomicUsize>,
    wake: UnixStream,
}

const NONE: usize = 0;
const INTERRUPT: usize = 1;
const TERMINATE: usize = 2;

impl Signals {
    /// Catches SIGINT and SIGTERM from here on.
    pub(crate) fn catch() -> io::Result<Self> {
        let (signals, switch) = Self::by_switch()?;
        switch.register(&[(SIGINT, INTERRUPT), (SIGTERM, TERMINATE)])?;
        Ok(signals)
    }

    /// Catches SIGINT, SIGTERM and SIGHUP from here on, and makes a switch that stops the same wait.
    ///
    /// A wait that has to close its question when a terminal goes away must survive SIGHUP.
    pub(crate) fn catch_with_switch() -> io::Result<(Self, Switch)> {
        let (signals, switch) = Self::by_switch()?;
        switch.register(&[(SIGINT, INTERRUPT), (SIGTERM, TERMINATE), (SIGHUP, TERMINATE)])?;
        Ok((signals, switch))
    }

    /// Makes signals that only the returned switch gives, for a wait that is one of several in a process.
    pub(crate) fn by_switch() -> io::Result<(Self, Switch)> {
        let caught = Arc::new(AtomicUsize::new(NONE));
        let (wake, write) = UnixStream::pair()?;
        let switch = Switch {
            caught: Arc::clone(&caught),
            write,
        };
        Ok((Self { caught, wake }, switch))
    }

    /// Returns the signal that was caught, if one was.
    pub(super) fn caught(&self) -> Option<Signal> {
        match self.caught.load(Ordering::SeqCst) {
            INTERRUPT => Some(Signal::Interrupt),
            TERMINATE => Some(Signal::Terminate),
            _ => None,
        }
    }
}

/// Stops one wait.
#[derive(Debug)]
pub(crate) struct Switch {
    caught: Arc<AtomicUsize>,
    write: UnixStream,
}

impl Switch {
    /// Lets these signals stop the wait too.
    fn register(&self, signals: &[(c_int, usize)]) -> io::Result<()> {
        for (signal, mark) in signals {
            // The mark is set before the pipe is written: handlers run in the order they were registered.
            signal_hook::flag::register_usize(*signal, Arc::clone(&self.caught), *mark)?;
            signal_hook::low_level::pipe::register(*signal, self.write.try_clone()?)?;
        }
        Ok(())
    }

    /// Stops it; doing so twice changes nothing.
    pub(crate) fn stop(&self) {
        self.caught.store(INTERRUPT, Ordering::SeqCst);
        // A pipe that is full or closed has woken the wait already.
        let _ = (&self.write).write(&[0]);
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }
}
