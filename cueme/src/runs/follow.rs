//! Follows a run: the broker reports when its status has to be read again, or the run stopped.

use std::time::Duration;

use protocol_spec::endpoint::Places;
use protocol_spec::message::{RunFollow, RunWoken};

use crate::client::follow_run;

/// The pause before a broker that went away is looked for again; it doubles with each failure.
const PAUSE_MIN: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Follows a run on a thread of its own, across restarts of the broker, until the process ends.
pub(crate) fn follow(places: Places, follow: RunFollow, mut woken: impl FnMut(RunWoken) + Send + 'static) {
    std::thread::spawn(move || {
        let mut pause = PAUSE_MIN;
        loop {
            match follow_run(&places, &follow, &mut woken) {
                Ok(()) => pause = PAUSE_MIN,
                // A broker that cannot do this is no reason to end the run: its status is looked at anyway.
                Err(_) => pause = (pause * 2).min(PAUSE_MAX),
            }
            std::thread::sleep(pause);
        }
    });
}
