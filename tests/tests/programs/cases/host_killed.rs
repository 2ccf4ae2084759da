//! The host dies while its stop hook waits: nothing of ours runs on, and the inbox says that nobody listens.

use std::time::Duration;

use cueme_tests::model_server::Step;
use cueme_tests::{Signal, eventually, within};

use crate::hosts::Host;
use crate::programs::Programs;
use crate::scene::{Running, Scene};
use crate::verdict::{Row, Rows};

/// A hook whose host is gone has ended by then.
const ORPHAN_MAX: Duration = Duration::from_secs(15);

pub(super) fn play(programs: &'static Programs, host: &'static Host) -> Vec<Row> {
    let mut rows = Rows::of(host.tag);
    for (case, signal) in [
        (
            "host killed while its hook waits: no process is left",
            Signal::KILL,
        ),
        (
            "host told to end while its hook waits: no process is left",
            Signal::TERM,
        ),
    ] {
        rows.add(case, no_orphan(programs, host, signal));
    }
    rows.done()
}

fn no_orphan(programs: &'static Programs, host: &'static Host, signal: Signal) -> Result<(), String> {
    let scene = Scene::connected(programs, host);
    scene
        .model
        .play("scenario-orphan", vec![Step::say("The parser is renamed.")]);
    let running = scene.start("scenario-orphan");
    // A host that ends by itself meanwhile leaves nothing behind either.
    let is_waiting = || {
        let cues = scene.home.open_cues();
        (cues.iter().any(|cue| cue.waiting > 0) || !running.client.is_running()).then_some(())
    };
    eventually("a hook that waits, or the end of the host", is_waiting);
    running.client.signal(signal);
    left_nothing(&scene, &running)
}

/// Waits until the host has ended and nothing of its home runs on.
pub(super) fn left_nothing(scene: &Scene, running: &Running) -> Result<(), String> {
    let mut last = String::new();
    let is_clean = within(ORPHAN_MAX, || {
        let left = scene.left_behind();
        let is_watched = scene.home.open_cues().iter().any(|cue| cue.waiting > 0);
        let is_running = running.client.is_running();
        last = format!("the host runs: {is_running}, left behind: {left:#?}, a client waits: {is_watched}");
        (!is_running && left.is_empty() && !is_watched).then_some(())
    });
    is_clean.ok_or(last)
}
