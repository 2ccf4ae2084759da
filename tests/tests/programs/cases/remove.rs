//! `cueme init --remove` leaves the home as it was, byte for byte, after the host itself has written to it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use cueme_tests::model_server::Step;

use crate::hosts::Host;
use crate::programs::Programs;
use crate::scene::Scene;
use crate::verdict::{Row, Rows};

pub(super) fn play(programs: &'static Programs, host: &'static Host) -> Vec<Row> {
    let scene = Scene::empty(programs, host);
    // The host makes its own files first, as on a machine where it was used before.
    scene.run("scenario-before", vec![Step::say("Hello.")], &[]);
    let before = tree(scene.user());
    scene.init(&["--yes"]);
    let connected = tree(scene.user());
    scene.init(&["--remove", "--yes"]);
    let after = tree(scene.user());
    let mut rows = Rows::of(host.tag);
    let different: Vec<_> = before
        .keys()
        .chain(after.keys())
        .filter(|path| before.get(*path) != after.get(*path))
        .collect();
    let holds = different.is_empty() && connected != before;
    rows.check("`--remove` restores every byte", holds, || {
        format!("different: {different:#?}")
    });
    rows.done()
}

/// Every file of a home, apart from what hosts log and cache.
fn tree(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_symlink() || path.ends_with(".cache") {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else {
                files.insert(path.clone(), fs::read(&path).unwrap_or_default());
            }
        }
    }
    files
}
