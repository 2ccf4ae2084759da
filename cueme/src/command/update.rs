//! `cueme update`: shows how to update this installation. It changes nothing; the package manager does.

use std::path::{Path, PathBuf};

use protocol_spec::exit::Exit;

use crate::environment;
use crate::error::CliError;
use crate::output;

pub(super) fn run() -> Result<Exit, CliError> {
    let path = environment::executable()
        .map_err(|error| CliError::new(Exit::Io, format!("could not find this program: {error}")))?;
    // A link in a `bin` directory leads to the package.
    let path = path.canonicalize().unwrap_or(path);
    let origin = Origin::of(&path, Path::exists);
    output::print(&format!(
        "cueme {} at {}\ninstalled by: {}\nto update: {}\nthen: cueme broker restart\n",
        env!("CARGO_PKG_VERSION"),
        path.display(),
        origin.name(),
        origin.command(),
    ))?;
    Ok(Exit::Done)
}

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
    Clone,
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
        } else if has("/target/debug/") || has("/target/release/") {
            Self::Clone
        } else if beside(".crates.toml") {
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
            Self::Clone => "a build in a clone",
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
            Self::Clone => "git pull && cargo build --release",
            Self::Deb => "download the .deb of the new release, and run: sudo apt install ./cueme_*.deb",
            Self::Rpm => "download the .rpm of the new release, and run: sudo rpm --upgrade cueme-*.rpm",
            Self::Archive => "unpack the archive of the new release over the old one",
        }
    }
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
            ("/home/ada/cueme/target/release/cueme", "", Origin::Clone),
            ("/usr/bin/cueme", "/var/lib/dpkg/info/cueme.list", Origin::Deb),
            ("/usr/bin/cueme", "/var/lib/rpm", Origin::Rpm),
            ("/usr/local/bin/cueme", "/var/lib/rpm", Origin::Archive),
            ("/home/ada/bin/cueme", "", Origin::Archive),
        ] {
            let found = Origin::of(Path::new(program), |path| path == Path::new(record));
            assert_eq!(found, origin, "{program}");
        }
    }
}
