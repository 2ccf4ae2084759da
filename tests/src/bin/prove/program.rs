//! The programs that a run tested, and the state of the sources that they were built from. An outcome says nothing
//! about other programs.

use std::path::Path;
use std::process::Command;

use serde::{Deserialize, Serialize};

/// The programs that made an outcome.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Program {
    /// Digests of `cueme` and of this program; nothing where they could not be read.
    digests: Vec<String>,
    /// The commit the sources are at, with a + when they were changed since.
    commit: Option<String>,
}

impl Program {
    /// Looks at what will be run.
    pub(crate) fn look() -> Self {
        let own = std::env::current_exe().ok();
        let digests: Option<Vec<String>> = [Some(cueme_tests::cueme().to_owned()), own]
            .into_iter()
            .map(|path| digest(&path?))
            .collect();
        Self {
            digests: digests.unwrap_or_default(),
            commit: commit(),
        }
    }

    /// Says whether these are the same programs, to the byte; those that could not be read are never the same.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        !self.digests.is_empty() && self.digests == other.digests
    }

    /// Returns the commit, or a word for not knowing it.
    pub(crate) fn commit(&self) -> &str {
        self.commit.as_deref().unwrap_or("unknown")
    }
}

/// Another program counts: without optimisation this one would take seconds for it.
fn digest(path: &Path) -> Option<String> {
    let output = Command::new("sha256sum").arg(path).output().ok()?;
    let line = String::from_utf8(output.stdout).ok()?;
    line.split_whitespace().next().map(str::to_owned)
}

fn commit() -> Option<String> {
    let hash = git(&["rev-parse", "--short", "HEAD"])?;
    // Text about the program does not change the program, and the figures least of all.
    let changed = git(&["status", "--porcelain", "--", ":/", ":(top,exclude)*.md"])?;
    let mark = if changed.is_empty() { "" } else { "+" };
    Some(format!("{hash}{mark}"))
}

fn git(words: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .args(words)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Program {
        /// Returns programs with these digests.
        pub(crate) fn with_digests(digests: &[&str]) -> Self {
            Self {
                digests: digests.iter().map(ToString::to_string).collect(),
                commit: None,
            }
        }
    }

    #[test]
    fn only_the_same_programs_are_the_same_and_unknown_ones_never() {
        let program = Program::with_digests;
        assert!(program(&["a", "b"]).is_same(&program(&["a", "b"])));
        assert!(!program(&["a", "b"]).is_same(&program(&["a", "c"])));
        assert!(!program(&[]).is_same(&program(&[])));
        let own = std::env::current_exe().unwrap_or_default();
        assert!(digest(&own).is_some_and(|digest| digest.len() == 64));
        assert_eq!(digest(Path::new("/nothing/is/here")), None);
    }
}
