//! `cueme update`: shows how to update this installation. It changes nothing; the package manager does.

use std::path::{Path, PathBuf};

use protocol_spec::exit::Exit;
use toml_edit::DocumentMut;
use url::Url;

use crate::environment;
use crate::error::CliError;
use crate::output;

pub(super) fn run() -> Result<Exit, CliError> {
    let path = environment::executable()
        .map_err(|error| CliError::new(Exit::Io, format!("could not find this program: {error}")))?;
    // A link in a `bin` directory leads to the package.
    let path = path.canonicalize().unwrap_or(path);
    let origin = Origin::of(&path, Path::exists);
    let reinstall = match origin {
        Origin::Cargo => cargo_record(&path).and_then(|record| reinstall(&record)),
        _ => None,
    };
    output::print(&format!(
        "cueme {} at {}\ninstalled by: {}\nto update: {}\nthen: cueme broker restart\n",
        env!("CARGO_PKG_VERSION"),
        path.display(),
        origin.name(),
        reinstall.as_deref().unwrap_or(origin.command()),
    ))?;
    Ok(Exit::Done)
}

/// The file in which cargo records the programs it has installed, beside their folder.
const CARGO_RECORD: &str = ".crates.toml";

/// The installer of this program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Homebrew,
    Nix,
    Npm,
    Pipx,
    UvTool,
    Pip,
    Cargo,
    /// With the command that builds the same profile.
    Clone(&'static str),
    Deb,
    Rpm,
    Archive,
}

impl Origin {
    /// Detects it by the path of the program and by the records of package managers around it.
    fn of(program: &Path, exists: impl Fn(&Path) -> bool) -> Self {
        let has = |part: &str| program.to_string_lossy().contains(part);
        let prefix = program.parent().and_then(Path::parent);
        let beside = |record: &str| prefix.is_some_and(|prefix| exists(&prefix.join(record)));
        let is_system = program.starts_with("/usr/bin");
        if has("/Cellar/") {
            Self::Homebrew
        } else if program.starts_with("/nix/store") {
            Self::Nix
        } else if has("/node_modules/") {
            Self::Npm
        } else if has("/pipx/venvs/") {
            Self::Pipx
        } else if has("/uv/tools/") {
            Self::UvTool
        } else if beside("pyvenv.cfg") || python_records(prefix).any(|record| exists(&record)) {
            Self::Pip
        } else if let Some(command) = build_of_clone(program) {
            Self::Clone(command)
        } else if beside(CARGO_RECORD) {
            Self::Cargo
        } else if is_system && exists(Path::new("/var/lib/dpkg/info/cueme.list")) {
            Self::Deb
        } else if is_system && rpm_databases().iter().any(|database| exists(database)) {
            Self::Rpm
        } else {
            Self::Archive
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Homebrew => "Homebrew",
            Self::Nix => "Nix",
            Self::Npm => "npm",
            Self::Pipx => "pipx",
            Self::UvTool => "uv",
            Self::Pip => "pip",
            Self::Cargo => "cargo",
            Self::Clone(_) => "a build in a clone",
            Self::Deb => "dpkg",
            Self::Rpm => "rpm",
            Self::Archive => "hand (no package manager)",
        }
    }

    fn command(self) -> &'static str {
        match self {
            Self::Homebrew => "brew upgrade cueme",
            Self::Nix => "nix profile upgrade cueme",
            Self::Npm => "npm install --global cueme@latest",
            Self::Pipx => "pipx upgrade cueme",
            Self::UvTool => "uv tool upgrade cueme",
            Self::Pip => "pip install --upgrade cueme",
            Self::Cargo => "cargo install --locked cueme",
            Self::Clone(command) => command,
            Self::Deb => "download the .deb of the new release, and run: sudo apt install ./cueme_*.deb",
            Self::Rpm => "download the .rpm of the new release, and run: sudo rpm --upgrade cueme-*.rpm",
            Self::Archive => "unpack the archive of the new release over the old one",
        }
    }
}

/// Returns how a program in the target directory of a clone is built, by the folder of its profile.
fn build_of_clone(program: &Path) -> Option<&'static str> {
    const BUILDS: [(&str, &str); 3] = [
        ("debug", "git pull && cargo build"),
        ("release", "git pull && cargo build --release"),
        ("dist", "git pull && cargo build --profile dist"),
    ];
    let folder = program.parent()?;
    let is_target = folder.ancestors().skip(1).any(|above| above.ends_with("target"));
    let build = BUILDS.iter().find(|(profile, _)| folder.ends_with(profile));
    build.filter(|_| is_target).map(|(_, command)| *command)
}

/// Reads what cargo records of the programs beside this one.
fn cargo_record(program: &Path) -> Option<String> {
    std::fs::read_to_string(program.parent()?.parent()?.join(CARGO_RECORD)).ok()
}

/// Returns the call that installs from the same source again, where cargo's record names a path or a repository.
fn reinstall(record: &str) -> Option<String> {
    let record: DocumentMut = record.parse().ok()?;
    let mut installed = record.get("v1")?.as_table()?.iter();
    let source = installed.find_map(|(package, _)| {
        let (_, source) = package.strip_prefix("cueme ")?.split_once(" (")?;
        source.strip_suffix(')').map(str::to_owned)
    })?;
    if let Some(url) = source.strip_prefix("path+") {
        let path = Url::parse(url).ok()?.to_file_path().ok()?;
        return command(&["--path", path.to_str()?]);
    }
    let mut url = Url::parse(source.strip_prefix("git+")?).ok()?;
    // A branch moves; a tag and a commit would install the same again.
    let branch = url.query_pairs().find(|(key, _)| key == "branch");
    let branch = branch.map(|(_, name)| name.into_owned());
    url.set_query(None);
    url.set_fragment(None);
    match branch {
        Some(branch) => command(&["--git", url.as_str(), "--branch", &branch, "cueme"]),
        None => command(&["--git", url.as_str(), "cueme"]),
    }
}

fn command(source: &[&str]) -> Option<String> {
    let words = ["cargo", "install", "--locked"].into_iter();
    shlex::try_join(words.chain(source.iter().copied())).ok()
}

/// Returns where pip records this version outside of a virtual environment: the installing Python has one of these numbers.
fn python_records(prefix: Option<&Path>) -> impl Iterator<Item = PathBuf> {
    let record = concat!("cueme-", env!("CARGO_PKG_VERSION"), ".dist-info");
    prefix.into_iter().flat_map(move |prefix| {
        let folder = move |minor| prefix.join(format!("lib/python3.{minor}"));
        (8..30).flat_map(move |minor| {
            ["site-packages", "dist-packages"].map(|packages| folder(minor).join(packages).join(record))
        })
    })
}

fn rpm_databases() -> [&'static Path; 2] {
    [Path::new("/usr/lib/sysimage/rpm"), Path::new("/var/lib/rpm")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_tells_who_put_the_program_there() {
        for (program, record, origin) in [
            ("/opt/homebrew/Cellar/cueme/0.2.0/bin/cueme", "", Origin::Homebrew),
            ("/nix/store/abc-cueme-0.2.0/bin/cueme", "", Origin::Nix),
            ("/usr/lib/node_modules/cueme/bin/cueme", "", Origin::Npm),
            (
                "/home/ada/.local/share/pipx/venvs/cueme/bin/cueme",
                "",
                Origin::Pipx,
            ),
            (
                "/home/ada/.local/share/uv/tools/cueme/bin/cueme",
                "",
                Origin::UvTool,
            ),
            (
                "/home/ada/venv/bin/cueme",
                "/home/ada/venv/pyvenv.cfg",
                Origin::Pip,
            ),
            (
                "/usr/local/bin/cueme",
                concat!(
                    "/usr/local/lib/python3.13/dist-packages/cueme-",
                    env!("CARGO_PKG_VERSION"),
                    ".dist-info"
                ),
                Origin::Pip,
            ),
            (
                "/home/ada/.cargo/bin/cueme",
                "/home/ada/.cargo/.crates.toml",
                Origin::Cargo,
            ),
            (
                "/home/ada/cueme/target/release/cueme",
                "",
                Origin::Clone("git pull && cargo build --release"),
            ),
            (
                "/home/ada/cueme/target/x86_64-unknown-linux-gnu/dist/cueme",
                "",
                Origin::Clone("git pull && cargo build --profile dist"),
            ),
            ("/home/ada/release/cueme", "", Origin::Archive),
            ("/usr/bin/cueme", "/var/lib/dpkg/info/cueme.list", Origin::Deb),
            ("/usr/bin/cueme", "/var/lib/rpm", Origin::Rpm),
            ("/usr/local/bin/cueme", "/var/lib/rpm", Origin::Archive),
            ("/home/ada/bin/cueme", "", Origin::Archive),
        ] {
            let found = Origin::of(Path::new(program), |path| path == Path::new(record));
            assert_eq!(found, origin, "{program}");
        }
    }

    #[test]
    fn a_program_of_cargo_is_installed_again_from_its_source() {
        let of = |source: &str| {
            let record = format!(
                "[v1]\n\"cuemela 1.0.0 (path+file:///x)\" = [\"cuemela\"]\n\"cueme 0.2.0 ({source})\" = [\"cueme\"]\n"
            );
            reinstall(&record)
        };
        let cases = [
            (
                "path+file:///home/ada/cueme/cueme",
                Some("--path /home/ada/cueme/cueme"),
            ),
            (
                "path+file:///home/ada/my%20clone/cueme",
                Some("--path '/home/ada/my clone/cueme'"),
            ),
            (
                "git+https://example.org/cueme.git#0123abc",
                Some("--git https://example.org/cueme.git cueme"),
            ),
            (
                "git+ssh://git@example.org/cueme?branch=main#0123abc",
                Some("--git ssh://git@example.org/cueme --branch main cueme"),
            ),
            (
                "git+https://example.org/cueme?tag=v0.2.0#0123abc",
                Some("--git https://example.org/cueme cueme"),
            ),
            ("registry+https://github.com/rust-lang/crates.io-index", None),
        ];
        for (source, command) in cases {
            let command = command.map(|source| format!("cargo install --locked {source}"));
            assert_eq!(of(source), command, "{source}");
        }
        assert_eq!(reinstall("not a record"), None);
    }
}
