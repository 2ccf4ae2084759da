//! The list below each runtime in `runtimes.md` is what `cueme init` writes and says for it.
//!
//! `UPDATE_DOCS=1 cargo test -p cueme-tests --test docs runtimes` writes the lists anew.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use runtimes::install::{Extras, Paths, Request, Scope, Snapshot, Wish, plan};
use runtimes::{Language, Runtime};

use crate::markdown::root;

const UPDATE: &str = "UPDATE_DOCS";
const END: &str = "<!-- /from init -->\n";

/// Returns the list of one runtime: how to connect it, its files in a home that is empty, remarks and limits.
fn list(runtime: Runtime) -> String {
    let paths = Paths::new(Path::new("~"), Path::new(".")).with_editors(Path::new("~/.config"));
    let request = Request {
        runtime,
        scope: Scope::User,
        paths: &paths,
        binary: "cueme",
        environment: &[],
        language: Language::English,
        extras: Extras::default(),
        wish: Wish::Install,
    };
    let snapshot = Snapshot {
        files: BTreeMap::new(),
        record: None,
        claimed: BTreeSet::new(),
    };
    let plan = plan(&request, &snapshot);
    let how = match runtime.facts().checked {
        Some(version) => format!("checked with {version}"),
        None => "documented".to_owned(),
    };
    let mut lines = vec![format!("`cueme init {runtime}` ({how})\n")];
    lines.extend(
        plan.edits
            .iter()
            .map(|edit| format!("- `{}`: {}", edit.path.display(), edit.why)),
    );
    let limits = runtime.limits().iter().map(|limit| limit.reason.to_owned());
    lines.extend(
        plan.notes
            .into_iter()
            .chain(limits)
            .map(|note| format!("- Note: {note}")),
    );
    lines.join("\n") + "\n"
}

#[test]
fn the_files_and_remarks_of_each_runtime_are_those_of_init() {
    let path = root().join("cueme/docs/runtimes.md");
    let mut text = fs::read_to_string(&path).unwrap();
    for runtime in Runtime::ALL {
        let begin = format!("<!-- from init: {runtime} -->\n");
        let (before, rest) = text
            .split_once(&begin)
            .unwrap_or_else(|| panic!("runtimes.md has no place for {runtime}: {begin}"));
        let (written, after) = rest.split_once(END).unwrap();
        let list = list(runtime);
        if std::env::var_os(UPDATE).is_some() {
            text = format!("{before}{begin}{list}{END}{after}");
        } else {
            assert_eq!(
                written, list,
                "run this test with {UPDATE}=1 to write runtimes.md anew"
            );
        }
    }
    if std::env::var_os(UPDATE).is_some() {
        fs::write(&path, text).unwrap();
    }
}
