//! Golden trees: what an installation makes of a home and a project folder, and that a removal undoes it.
//!
//! `golden/<runtime>/<scope>-<case>/before` is a tree of `home/` and `project/`, `after` the same tree once installed.
//! `UPDATE_GOLDEN=1` writes `after` anew; read the difference before committing it. The cases that follow from these
//! (line endings, a second install, broken files, removal) are derived here.

// Helpers of a test fail the test by panicking; the lint only exempts the test functions themselves.
#![allow(clippy::unwrap_used)]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    rc::Rc,
};

use runtimes::{
    Language, Runtime,
    install::{
        ApplyError, Extras, Paths, Plan, Problem, Request, Scope, Status, Wish, apply, binary_for, choices,
        plan, plugin, read, status,
    },
};
use tempfile::TempDir;

type Tree = BTreeMap<PathBuf, Vec<u8>>;

const EXECUTABLE: &str = "/opt/cueme/bin/cueme";

/// A machine in a temporary folder, as one runtime sees it.
#[derive(Clone)]
struct Machine {
    folder: Rc<TempDir>,
    runtime: Runtime,
    scope: Scope,
    environment: Vec<(String, String)>,
}

impl Machine {
    fn new(runtime: Runtime, scope: Scope, tree: &Tree) -> Machine {
        let folder = Rc::new(tempfile::tempdir().unwrap());
        for part in ["home", "project"] {
            fs::create_dir(folder.path().join(part)).unwrap();
        }
        for (path, bytes) in tree {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        Machine {
            folder,
            runtime,
            scope,
            environment: Vec::new(),
        }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn with<T>(&self, wish: Wish, work: impl FnOnce(&Request<'_>) -> T) -> T {
        let home = self.folder.path().join("home");
        let mut paths =
            Paths::new(&home, &self.folder.path().join("project")).with_editors(&home.join(".config"));
        apply::notice_spellings(&mut paths);
        let binary = binary_for(self.scope, Path::new(EXECUTABLE));
        work(&Request {
            runtime: self.runtime,
            scope: self.scope,
            paths: &paths,
            binary: &binary,
            environment: &self.environment,
            language: Language::English,
            extras: Extras::default(),
            wish,
        })
    }

    fn run(&self, wish: Wish) -> Plan {
        self.with(wish, |request| {
            let plan = plan::plan(request, &read(request, &self.data()).unwrap());
            apply::apply(request, &plan, &self.data()).unwrap();
            plan
        })
    }

    fn status(&self) -> Status {
        self.with(Wish::Install, |request| {
            status(request, &read(request, &self.data()).unwrap())
        })
    }

    fn forget_record(&self) {
        fs::remove_dir_all(self.data()).unwrap();
    }

    /// Everything below `home` and `project`; an empty folder is listed with a trailing `/`.
    fn tree(&self) -> Tree {
        let mut tree = Tree::new();
        for part in ["home", "project"] {
            collect(&self.folder.path().join(part), Path::new(part), &mut tree);
        }
        tree.retain(|path, _| !matches!(path.to_str(), Some("home/" | "project/")));
        tree
    }
}

fn collect(folder: &Path, name: &Path, tree: &mut Tree) {
    let mut empty = true;
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let entry = entry.unwrap();
        empty = false;
        let name = name.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            collect(&entry.path(), &name, tree);
        } else {
            tree.insert(name, fs::read(entry.path()).unwrap());
        }
    }
    if empty {
        tree.insert(PathBuf::from(format!("{}/", name.display())), Vec::new());
    }
}

struct Case {
    name: String,
    runtime: Runtime,
    scope: Scope,
    before: Tree,
    after_folder: PathBuf,
}

/// Every golden case, and for every runtime and scope the one of a fresh machine.
fn cases() -> Vec<Case> {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut cases = Vec::new();
    for runtime in Runtime::ALL {
        let folder = golden.join(runtime.tag());
        let mut names: Vec<String> = fs::read_dir(&folder)
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.extend(["user-fresh".to_owned(), "project-fresh".to_owned()]);
        names.sort();
        names.dedup();
        for name in names {
            let scope = if name.starts_with("user") {
                Scope::User
            } else {
                Scope::Project
            };
            cases.push(Case {
                before: load(&folder.join(&name).join("before")),
                after_folder: folder.join(&name).join("after"),
                name: format!("{runtime}/{name}"),
                runtime,
                scope,
            });
        }
    }
    cases
}

fn load(folder: &Path) -> Tree {
    let mut tree = Tree::new();
    for part in ["home", "project"] {
        if folder.join(part).exists() {
            collect(&folder.join(part), Path::new(part), &mut tree);
        }
    }
    tree
}

fn shown(tree: &Tree) -> String {
    tree.iter()
        .map(|(path, bytes)| format!("=== {}\n{}\n", path.display(), String::from_utf8_lossy(bytes)))
        .collect()
}

#[track_caller]
fn assert_same(found: &Tree, wanted: &Tree, what: &str) {
    assert!(
        found == wanted,
        "{what}\n--- found\n{}\n--- wanted\n{}",
        shown(found),
        shown(wanted)
    );
}

#[test]
fn an_installation_makes_the_golden_tree() {
    for case in cases() {
        let machine = Machine::new(case.runtime, case.scope, &case.before);
        let plan = machine.run(Wish::Install);
        assert!(plan.refused.is_empty(), "{}: {:?}", case.name, plan.refused);
        let tree = machine.tree();
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            let _ = fs::remove_dir_all(&case.after_folder);
            for (path, bytes) in &tree {
                let path = case.after_folder.join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, bytes).unwrap();
            }
        }
        assert_same(&tree, &load(&case.after_folder), &case.name);
    }
}

#[test]
fn every_runtime_has_the_cases_that_matter() {
    let names: Vec<String> = cases().into_iter().map(|case| case.name).collect();
    for runtime in Runtime::ALL
        .into_iter()
        .filter(|runtime| *runtime != Runtime::Terminal)
    {
        for case in [
            "user-fresh",
            "project-fresh",
            "user-foreign",
            "user-outdated",
            "project-comments",
        ] {
            assert!(
                names.contains(&format!("{runtime}/{case}")),
                "{runtime} lacks {case}"
            );
        }
    }
}

#[test]
fn a_second_installation_changes_nothing() {
    for case in cases() {
        let machine = Machine::new(case.runtime, case.scope, &case.before);
        machine.run(Wish::Install);
        assert!(machine.run(Wish::Install).edits.is_empty(), "{}", case.name);
        machine.forget_record();
        assert!(
            machine.run(Wish::Install).edits.is_empty(),
            "{} without its record",
            case.name
        );
    }
}

#[test]
fn a_removal_restores_every_byte_and_every_folder() {
    for case in cases()
        .into_iter()
        .filter(|case| !case.name.ends_with("outdated"))
    {
        let machine = Machine::new(case.runtime, case.scope, &case.before);
        machine.run(Wish::Install);
        machine.run(Wish::Install);
        machine.run(Wish::Remove);
        assert_same(&machine.tree(), &case.before, &case.name);
        assert!(machine.run(Wish::Remove).edits.is_empty(), "{}", case.name);
    }
}

#[test]
fn a_removal_of_what_an_older_version_wrote_leaves_nothing_of_ours() {
    for case in cases().into_iter().filter(|case| case.name.ends_with("outdated")) {
        for updated in [false, true] {
            let machine = Machine::new(case.runtime, case.scope, &case.before);
            if updated {
                machine.run(Wish::Install);
            }
            machine.run(Wish::Remove);
            assert!(
                !shown(&machine.tree()).contains("cueme"),
                "{}: {}",
                case.name,
                shown(&machine.tree())
            );
            assert_eq!(machine.status(), Status::NotInstalled, "{}", case.name);
        }
    }
}

#[test]
fn a_removal_restores_the_same_contents_even_without_a_record() {
    for case in cases()
        .into_iter()
        .filter(|case| !case.name.ends_with("outdated"))
    {
        let machine = Machine::new(case.runtime, case.scope, &case.before);
        machine.run(Wish::Install);
        if !machine.data().exists() {
            continue;
        }
        machine.forget_record();
        machine.run(Wish::Remove);
        let mut left = machine.tree();
        left.retain(|path, _| !path.to_str().unwrap().ends_with('/'));
        assert_eq!(
            left.keys().collect::<Vec<_>>(),
            case.before.keys().collect::<Vec<_>>(),
            "{}",
            case.name
        );
        // Blocks of the original cueme were replaced, and only the record knew them.
        let is_original = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains("_AGENT_PROTO_BEGIN");
        for (path, bytes) in left.iter().filter(|(path, _)| !is_original(&case.before[*path])) {
            // Where people lay their JSON out by hand, commas and blanks may move, and an object that was empty before
            // us goes with our entry; nothing else may change.
            let squeezed = |bytes: &[u8]| {
                String::from_utf8_lossy(bytes)
                    .replace([' ', '\n', ','], "")
                    .replace("\"mcpServers\":{}", "")
            };
            assert_eq!(
                squeezed(bytes),
                squeezed(&case.before[path]),
                "{} {}",
                case.name,
                path.display()
            );
            if !case.name.ends_with("comments") {
                assert_eq!(bytes, &case.before[path], "{} {}", case.name, path.display());
            }
        }
    }
}

#[test]
fn a_removal_after_an_edit_takes_out_only_what_is_ours() {
    for case in cases()
        .into_iter()
        .filter(|case| case.name.ends_with("user-foreign"))
    {
        let machine = Machine::new(case.runtime, case.scope, &case.before);
        machine.run(Wish::Install);
        let rule = machine
            .tree()
            .into_keys()
            .find(|path| matches!(path.extension(), Some(ext) if ext == "md"));
        let Some(rule) = rule.filter(|path| case.before.contains_key(path)) else {
            continue;
        };
        let path = machine.folder.path().join(&rule);
        let edited = [fs::read(&path).unwrap(), b"\nAdded later.\n".to_vec()].concat();
        fs::write(&path, edited).unwrap();
        machine.run(Wish::Remove);
        let left = String::from_utf8(fs::read(&path).unwrap()).unwrap();
        let before = String::from_utf8(case.before[&rule].clone()).unwrap();
        assert!(
            left.contains("Added later.") && left.starts_with(before.trim_end()),
            "{}: {left:?}",
            case.name
        );
        assert!(!left.contains("cueme"), "{}: {left:?}", case.name);
    }
}

#[test]
fn what_opencode_adds_to_a_file_of_ours_goes_with_it() {
    let machine = Machine::new(Runtime::Opencode, Scope::User, &Tree::new());
    machine.run(Wish::Install);
    let path = machine.folder.path().join("home/.config/opencode/opencode.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(
        &path,
        text.replacen('{', "{\n  \"$schema\": \"https://opencode.ai/config.json\",", 1),
    )
    .unwrap();
    assert_eq!(machine.status(), Status::Installed);
    machine.run(Wish::Remove);
    assert_same(&machine.tree(), &Tree::new(), "after the removal");
}

#[test]
fn line_endings_of_windows_stay() {
    let windows = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace('\n', "\r\n").into_bytes();
    for case in cases().into_iter().filter(|case| !case.name.ends_with("fresh")) {
        let is_ours = |path: &Path| path.ends_with("cueme.rules") || path.ends_with("cueme.js");
        let before: Tree = case
            .before
            .iter()
            .map(|(path, bytes)| {
                (
                    path.clone(),
                    if is_ours(path) {
                        bytes.clone()
                    } else {
                        windows(bytes)
                    },
                )
            })
            .collect();
        let machine = Machine::new(case.runtime, case.scope, &before);
        machine.run(Wish::Install);
        let golden = load(&case.after_folder);
        for (path, bytes) in machine.tree() {
            let has_lines = before.get(&path).is_some_and(|bytes| bytes.contains(&b'\n'));
            if has_lines && !is_ours(&path) {
                assert_eq!(
                    String::from_utf8_lossy(&bytes),
                    String::from_utf8_lossy(&windows(&golden[&path])),
                    "{} {}",
                    case.name,
                    path.display()
                );
            }
        }
        machine.run(Wish::Remove);
        if !case.name.ends_with("outdated") {
            assert_same(&machine.tree(), &before, &case.name);
        }
    }
}

#[test]
fn the_status_tells_what_is_installed() {
    for case in cases()
        .into_iter()
        .filter(|case| case.runtime != Runtime::Terminal)
    {
        let machine = Machine::new(case.runtime, case.scope, &case.before);
        let expected = if case.name.ends_with("outdated") {
            Status::Outdated
        } else {
            Status::NotInstalled
        };
        assert_eq!(machine.status(), expected, "{}", case.name);
        machine.run(Wish::Install);
        assert_eq!(machine.status(), Status::Installed, "{}", case.name);
    }
}

#[test]
fn a_file_that_cannot_be_parsed_is_refused_and_left_alone() {
    for case in cases()
        .into_iter()
        .filter(|case| case.name.ends_with("user-foreign"))
    {
        for (broken, _) in case
            .before
            .iter()
            .filter(|(path, _)| matches!(path.extension(), Some(ext) if ext == "json"))
        {
            let mut before = case.before.clone();
            before.insert(broken.clone(), b"{\n  \"a\": 1,\n  \"b\": [}\n".to_vec());
            let machine = Machine::new(case.runtime, case.scope, &before);
            let plan = machine.run(Wish::Install);
            let [refusal] = plan.refused.as_slice() else {
                panic!("{}: {:?}", case.name, plan.refused)
            };
            assert!(refusal.path.ends_with(broken), "{}", case.name);
            assert!(
                matches!(
                    refusal.why,
                    Problem::Syntax {
                        line: 3,
                        column: 9,
                        ..
                    }
                ),
                "{:?}",
                refusal.why
            );
            assert_eq!(machine.tree()[broken], before[broken]);
            assert!(matches!(machine.status(), Status::Broken { .. }));
            machine.run(Wish::Remove);
            assert_same(&machine.tree(), &before, &case.name);
        }
    }
}

#[test]
fn two_runtimes_that_read_the_same_rule_file_do_not_disturb_each_other() {
    for pair in [
        (Runtime::Codex, Runtime::Opencode),
        (Runtime::Vscode, Runtime::CopilotCli),
    ] {
        let first = Machine::new(pair.0, Scope::Project, &Tree::new());
        let second = Machine {
            runtime: pair.1,
            ..first.clone()
        };
        first.run(Wish::Install);
        second.run(Wish::Install);
        assert_eq!(
            (first.status(), second.status()),
            (Status::Installed, Status::Installed)
        );
        first.run(Wish::Remove);
        assert_eq!(second.status(), Status::Installed);
        second.run(Wish::Remove);
        assert_same(&second.tree(), &Tree::new(), "after both are removed");
    }
}

#[test]
fn a_file_that_changed_after_the_plan_is_not_written() {
    let machine = Machine::new(Runtime::Cursor, Scope::User, &Tree::new());
    let result = machine.with(Wish::Install, |request| {
        let plan = plan::plan(request, &read(request, &machine.data()).unwrap());
        let path = machine.folder.path().join("home/.cursor/hooks.json");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "{}").unwrap();
        apply::apply(request, &plan, &machine.data())
    });
    assert!(matches!(result, Err(ApplyError::Changed { .. })), "{result:?}");
    assert_eq!(machine.tree().len(), 1);
}

#[cfg(unix)]
#[test]
fn permissions_are_kept_and_links_of_a_user_followed() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let tree = Tree::from([("home/dotfiles/hooks.json".into(), b"{}\n".to_vec())]);
    let machine = Machine::new(Runtime::Cursor, Scope::User, &tree);
    let real = machine.folder.path().join("home/dotfiles/hooks.json");
    let link = machine.folder.path().join("home/.cursor/hooks.json");
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink(&real, &link).unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    machine.run(Wish::Install);
    assert!(link.is_symlink());
    assert!(
        fs::read_to_string(&real)
            .unwrap()
            .contains("cueme hook cursor stop")
    );
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    machine.run(Wish::Remove);
    assert_eq!(fs::read_to_string(&real).unwrap(), "{}\n");
}

#[cfg(unix)]
#[test]
fn a_link_out_of_a_project_is_refused() {
    let machine = Machine::new(Runtime::Cursor, Scope::Project, &Tree::new());
    let outside = machine.folder.path().join("home");
    std::os::unix::fs::symlink(&outside, machine.folder.path().join("project/.cursor")).unwrap();
    let result = machine.with(Wish::Install, |request| {
        let plan = plan::plan(request, &read(request, &machine.data()).unwrap());
        apply::apply(request, &plan, &machine.data())
    });
    assert!(
        matches!(result, Err(ApplyError::LinkOutside { .. })),
        "{result:?}"
    );
    assert!(fs::read_dir(outside).unwrap().next().is_none());
}

#[test]
fn an_installed_runtime_is_detected_by_its_program_or_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let (home, bin) = (folder.path().join("home"), folder.path().join("bin"));
    fs::create_dir_all(home.join(".codex")).unwrap();
    fs::create_dir_all(&bin).unwrap();
    fs::write(bin.join("gemini"), "").unwrap();
    let paths = Paths::new(&home, folder.path());
    assert_eq!(
        apply::detect(&paths, &[bin]),
        [Runtime::Codex, Runtime::GeminiCli]
    );
}

#[test]
fn what_was_chosen_is_known_again_even_from_an_outdated_installation() {
    let extras = |approvals, questions| Extras { approvals, questions };
    for (runtime, extras) in [
        (Runtime::Cursor, extras(true, false)),
        (Runtime::ClaudeCode, extras(true, false)),
        (Runtime::ClaudeCode, extras(false, true)),
        (Runtime::Codex, extras(true, true)),
        (Runtime::Codex, extras(false, true)),
        (Runtime::GeminiCli, extras(false, false)),
    ] {
        for language in [Language::English, Language::Chinese] {
            let machine = Machine::new(runtime, Scope::User, &Tree::new());
            machine.with(Wish::Install, |usual| {
                let request = Request {
                    language,
                    extras,
                    ..usual.clone()
                };
                let plan = plan::plan(&request, &read(&request, &machine.data()).unwrap());
                apply::apply(&request, &plan, &machine.data()).unwrap();
            });
            // An older version wrote the rule in other words and lay elsewhere.
            for (path, bytes) in machine.tree() {
                let text = String::from_utf8(bytes).unwrap();
                let old = text
                    .replace(EXECUTABLE, "/old/bin/cueme")
                    .replace("TOOLS_UNAVAILABLE", "NO_TOOLS");
                fs::write(machine.folder.path().join(path), old).unwrap();
            }
            assert_eq!(machine.status(), Status::Outdated, "{runtime} {extras:?}");
            let chosen = machine.with(Wish::Install, |request| {
                choices(request, &read(request, &machine.data()).unwrap())
            });
            assert_eq!(chosen, Some((language, extras)), "{runtime}");
        }
    }
    let machine = Machine::new(Runtime::Cursor, Scope::User, &Tree::new());
    let nothing = machine.with(Wish::Install, |request| {
        choices(request, &read(request, &machine.data()).unwrap())
    });
    assert_eq!(nothing, None);
}

/// Returns the value of the front matter that a file starts with, if it starts with one.
fn front_matter(text: &str) -> Option<saphyr::YamlOwned> {
    use saphyr::LoadableYamlNode;

    let (yaml, _) = text.strip_prefix("---\n")?.split_once("\n---\n").unwrap();
    let mut documents =
        saphyr::YamlOwned::load_from_str(yaml).unwrap_or_else(|error| panic!("{error}: {yaml}"));
    assert_eq!(documents.len(), 1, "{yaml}");
    documents.pop()
}

#[test]
fn every_front_matter_is_yaml_with_the_member_that_its_runtime_looks_for() {
    let mut seen = 0;
    for runtime in Runtime::ALL {
        for scope in [Scope::User, Scope::Project] {
            let machine = Machine::new(runtime, scope, &Tree::new());
            machine.run(Wish::Install);
            for (path, bytes) in machine.tree() {
                let Some(yaml) = front_matter(&String::from_utf8_lossy(&bytes)) else {
                    continue;
                };
                let member = match runtime {
                    Runtime::Cursor => "alwaysApply",
                    Runtime::Windsurf => "trigger",
                    Runtime::Kiro => "inclusion",
                    Runtime::Vscode => "applyTo",
                    other => panic!("{other} has a front matter: {}", path.display()),
                };
                assert!(
                    yaml.as_mapping_get(member).is_some(),
                    "{}: {yaml:?}",
                    path.display()
                );
                seen += 1;
            }
        }
    }
    assert!(seen >= 6, "only {seen} front matters");
    let machine = Machine::new(Runtime::ClaudeCode, Scope::User, &Tree::new());
    let files = machine.with(Wish::Install, |request| plugin(request, "1.0.0").unwrap());
    let skill = files.iter().find(|(path, _)| path.ends_with("SKILL.md")).unwrap();
    let yaml = front_matter(&skill.1).unwrap();
    for member in ["name", "description"] {
        assert!(yaml.as_mapping_get(member).is_some(), "{yaml:?}");
    }
}

#[test]
fn what_moves_our_broker_stands_in_every_hook_and_mcp_entry_of_the_user() {
    const FOLDER: &str = "/srv/my cueme";
    for runtime in Runtime::ALL
        .into_iter()
        .filter(|runtime| !matches!(runtime, Runtime::AgentsMd | Runtime::Terminal))
    {
        let mut before = Tree::new();
        before.insert("home/.config/amp/settings.json".into(), b"{}\n".to_vec());
        let mut machine = Machine::new(runtime, Scope::User, &before);
        machine.environment = vec![("CUEME_HOME".to_owned(), FOLDER.to_owned())];
        machine.run(Wish::Install);
        assert_eq!(machine.status(), Status::Installed, "{runtime}");
        let mut entries = 0;
        for (path, bytes) in machine.tree() {
            let text = String::from_utf8(bytes).unwrap();
            let calls = text.matches(&format!("hook {runtime} ")).count();
            let named = text.matches(&format!("CUEME_HOME={FOLDER}")).count();
            // Copilot CLI has each command twice, once for each shell.
            assert_eq!(calls, named, "{}", path.display());
            let servers = text.matches("\"mcp\"]").count() + text.matches("\n      \"mcp\"\n").count();
            if servers > 0 || path.ends_with("plugins/cueme.js") {
                assert!(
                    text.contains(&format!("\"CUEME_HOME\": \"{FOLDER}\""))
                        || text.contains(&format!("\"CUEME_HOME\":\"{FOLDER}\""))
                        || text.contains(&format!("CUEME_HOME = \"{FOLDER}\"")),
                    "{}:\n{text}",
                    path.display()
                );
                entries += 1;
            }
        }
        assert!(entries > 0, "{runtime}");
        machine.run(Wish::Remove);
        assert_same(&machine.tree(), &before, runtime.tag());
        let mut shared = Machine::new(runtime, Scope::Project, &Tree::new());
        shared.environment.clone_from(&machine.environment);
        shared.run(Wish::Install);
        assert!(!shown(&shared.tree()).contains("CUEME_HOME"), "{runtime}");
    }
}
