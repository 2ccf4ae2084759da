//! The files that `cueme init` writes for each runtime, for the page: the plan of init in an empty home.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use cueme_broker::guide::{GuideFile, RuntimeGuide};
use runtimes::install::{Extras, Paths, Request, Scope, Snapshot, Wish, plan};
use runtimes::{Language, Runtime};

/// Tells how each runtime is connected.
pub(super) fn guide() -> Vec<RuntimeGuide> {
    let offered = Runtime::ALL
        .into_iter()
        .filter(|runtime| *runtime != Runtime::Terminal);
    offered.map(guide_of).collect()
}

fn guide_of(runtime: Runtime) -> RuntimeGuide {
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
    let empty = Snapshot {
        files: BTreeMap::new(),
        record: None,
        claimed: BTreeSet::new(),
    };
    let edits = plan(&request, &empty).edits;
    RuntimeGuide {
        runtime: runtime.to_string(),
        name: runtime.facts().display_name.to_owned(),
        command: format!("cueme init {runtime}"),
        files: edits
            .into_iter()
            .map(|edit| GuideFile {
                path: edit.path.display().to_string(),
                what: edit.why,
                roles: edit
                    .roles
                    .into_iter()
                    .map(|role| role.name().to_owned())
                    .collect(),
            })
            .collect(),
    }
}
