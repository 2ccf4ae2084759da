//! The request for an installation: the runtime, the scope, and the paths on this machine.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    path::{Path, PathBuf},
};

use crate::{
    Language, Runtime,
    facts::{Base, BasedPath, Scoped},
};

/// The name that finds cueme on a search path.
const PROGRAM: &str = "cueme";

/// Whom an installation is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Everything this user does.
    User,
    /// One project folder, whose files may be shared with others.
    Project,
}

impl Scope {
    /// Picks the value of this scope.
    pub(super) fn of<T: Copy>(self, scoped: &Scoped<T>) -> Option<T> {
        match self {
            Scope::User => scoped.user,
            Scope::Project => scoped.project,
        }
    }

    /// Returns the word that command lines and records use.
    pub fn word(self) -> &'static str {
        match self {
            Scope::User => "user",
            Scope::Project => "project",
        }
    }
}

/// Whether to put cueme in or take it out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// Install, or bring up to date.
    Install,
    /// Take out everything that cueme put in.
    Remove,
}

/// Optional parts of an installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Extras {
    /// Ask the human through cueme before the runtime runs a tool that needs permission.
    pub approvals: bool,
    /// Route the runtime's own question tool through cueme.
    pub questions: bool,
}

/// One installation, asked for.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// The runtime to connect.
    pub runtime: Runtime,
    /// Whom it is for.
    pub scope: Scope,
    /// The paths on this machine.
    pub paths: &'a Paths,
    /// The path of our program in the files; see [`binary_for`].
    pub binary: &'a str,
    /// The variables that say where our broker is, as they are set here; see [`Request::environment`].
    pub environment: &'a [(String, String)],
    /// The language of the rule.
    pub language: Language,
    /// The optional parts.
    pub extras: Extras,
    /// In or out.
    pub wish: Wish,
}

impl Request<'_> {
    /// Returns the variables that hooks and MCP servers must run with to find our broker.
    ///
    /// Hosts pass a selection of their own environment on, or none. A project's files are shared between machines, so
    /// they name no folder of this one.
    pub(super) fn environment(&self) -> &[(String, String)] {
        match self.scope {
            Scope::User => self.environment,
            Scope::Project => &[],
        }
    }
}

/// Returns how files of this scope should name our program.
///
/// A user's files name it by its absolute path, because editors started from a desktop do not have the shell's search
/// path. A project's files are shared between machines, so they use the bare name.
pub fn binary_for(scope: Scope, executable: &Path) -> String {
    match scope {
        Scope::User => executable.to_string_lossy().into_owned(),
        Scope::Project => PROGRAM.to_owned(),
    }
}

/// The paths on this machine.
#[derive(Debug, Clone)]
pub struct Paths {
    home: PathBuf,
    config: PathBuf,
    editors: PathBuf,
    project: PathBuf,
    /// Folders that an environment variable moves, by variable.
    moved: BTreeMap<&'static str, PathBuf>,
    /// Files that exist where a runtime accepts more than one name.
    used: BTreeSet<PathBuf>,
}

impl Paths {
    /// Makes the paths of a machine without special settings, below one home folder.
    pub fn new(home: &Path, project: &Path) -> Paths {
        Paths {
            config: home.join(".config"),
            editors: editors_folder(home, None),
            home: home.to_owned(),
            project: project.to_owned(),
            moved: BTreeMap::new(),
            used: BTreeSet::new(),
        }
    }

    /// Puts the folder of desktop editors' profiles somewhere else.
    #[must_use]
    pub fn with_editors(self, editors: &Path) -> Paths {
        Paths {
            editors: editors.to_owned(),
            ..self
        }
    }

    /// Makes the paths that the environment names, or `None` when it names no home folder.
    pub fn from_environment(variable: impl Fn(&str) -> Option<OsString>, project: &Path) -> Option<Paths> {
        let folder = |name: &str| {
            variable(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let home = folder("HOME").or_else(|| folder("USERPROFILE"))?;
        let mut paths = Paths::new(&home, project);
        if let Some(config) = folder("XDG_CONFIG_HOME") {
            paths.config.clone_from(&config);
            paths.editors = editors_folder(&home, Some(&config));
        }
        if cfg!(windows)
            && let Some(roaming) = folder("APPDATA")
        {
            paths.editors = roaming;
        }
        paths.moved = Runtime::ALL
            .into_iter()
            .filter_map(|runtime| runtime.facts().user_root.variable)
            .filter_map(|name| folder(name).map(|path| (name, path)))
            .collect();
        Some(paths)
    }

    /// Says that a file exists that a runtime reads under another name than its usual one.
    pub fn mark_used(&mut self, path: &Path) {
        self.used.insert(path.to_owned());
    }

    /// Tells whether that was said of this file.
    pub(super) fn is_used(&self, path: &Path) -> bool {
        self.used.contains(path)
    }

    /// Returns the project folder.
    pub fn project(&self) -> &Path {
        &self.project
    }

    /// Returns where a place of this runtime is on this machine.
    pub fn resolve(&self, runtime: Runtime, place: BasedPath) -> PathBuf {
        match place.base {
            Base::Project => below(&self.project, place.path),
            Base::Config => below(&self.config, place.path),
            Base::Editors => below(&self.editors, place.path),
            Base::UserRoot => below(&self.user_root(runtime), place.path),
            Base::Home => below(&self.home_of(runtime, place), place.path),
        }
    }

    fn user_root(&self, runtime: Runtime) -> PathBuf {
        let root = &runtime.facts().user_root;
        let moved = root.variable.and_then(|name| self.moved.get(name));
        moved
            .cloned()
            .unwrap_or_else(|| self.resolve(runtime, root.default))
    }

    /// Claude Code keeps `.claude.json` beside its folder, but inside it once the folder was moved.
    fn home_of(&self, runtime: Runtime, place: BasedPath) -> PathBuf {
        let moved = self.moved.get("CLAUDE_CONFIG_DIR");
        match moved {
            Some(root) if runtime == Runtime::ClaudeCode && place.path == ".claude.json" => root.clone(),
            _ => self.home.clone(),
        }
    }
}

fn editors_folder(home: &Path, config: Option<&Path>) -> PathBuf {
    if cfg!(target_os = "macos") {
        home.join("Library/Application Support")
    } else if cfg!(windows) {
        home.join("AppData/Roaming")
    } else {
        config.map_or_else(|| home.join(".config"), Path::to_owned)
    }
}

fn below(base: &Path, path: &str) -> PathBuf {
    if path.is_empty() {
        base.to_owned()
    } else {
        base.join(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &'static [(&'static str, &'static str)]) -> impl Fn(&str) -> Option<OsString> {
        |name| {
            pairs
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| OsString::from(value))
        }
    }

    #[test]
    fn a_moved_settings_folder_is_followed() {
        let paths = Paths::from_environment(
            environment(&[
                ("HOME", "/home/ana"),
                ("CLAUDE_CONFIG_DIR", "/srv/claude"),
                ("CODEX_HOME", ""),
            ]),
            Path::new("/p"),
        )
        .unwrap();
        let user = |runtime: Runtime| {
            let facts = runtime.facts();
            (
                paths.resolve(runtime, facts.hooks.value.user.unwrap()),
                paths.resolve(runtime, facts.mcp.value.user.unwrap()),
            )
        };
        assert_eq!(
            user(Runtime::ClaudeCode),
            (
                "/srv/claude/settings.json".into(),
                "/srv/claude/.claude.json".into()
            )
        );
        assert_eq!(
            user(Runtime::Codex),
            (
                "/home/ana/.codex/hooks.json".into(),
                "/home/ana/.codex/config.toml".into()
            )
        );
    }

    #[test]
    fn without_a_home_there_are_no_paths() {
        assert!(Paths::from_environment(environment(&[]), Path::new("/p")).is_none());
    }

    #[test]
    fn shared_files_name_the_program_without_a_path() {
        let executable = Path::new("/home/ana/.cargo/bin/cueme");
        assert_eq!(binary_for(Scope::User, executable), "/home/ana/.cargo/bin/cueme");
        assert_eq!(binary_for(Scope::Project, executable), "cueme");
    }
}
