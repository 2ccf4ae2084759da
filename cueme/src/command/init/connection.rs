//! One runtime in one scope: how it stands, and the request that changes it.

use runtimes::install::{
    ApplyError, Extras, PartStatus, Request, Role, Scope, Snapshot, Status, Wish, binary_for, choices,
    part_status, read, remarks, status,
};
use runtimes::{Language, Runtime};

use super::Machine;

/// The choices a person has about an installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Variant {
    pub(super) language: Language,
    pub(super) extras: Extras,
}

/// A runtime in a scope.
#[derive(Debug)]
pub(in crate::command) struct Connection<'a> {
    pub(in crate::command) runtime: Runtime,
    pub(in crate::command) scope: Scope,
    machine: &'a Machine,
    binary: String,
}

impl<'a> Connection<'a> {
    pub(super) fn new(machine: &'a Machine, runtime: Runtime, scope: Scope) -> Self {
        Self {
            runtime,
            scope,
            machine,
            binary: binary_for(scope, &machine.executable),
        }
    }

    pub(super) fn request(&self, variant: Variant, wish: Wish) -> Request<'_> {
        Request {
            runtime: self.runtime,
            scope: self.scope,
            paths: &self.machine.paths,
            binary: &self.binary,
            environment: &self.machine.environment,
            language: variant.language,
            extras: variant.extras,
            wish,
        }
    }

    pub(super) fn read(&self, request: &Request<'_>) -> Result<Snapshot, ApplyError> {
        read(request, &self.machine.places.data_dir)
    }

    /// Tells how it stands.
    pub(in crate::command) fn status(&self) -> Result<Status, ApplyError> {
        if self.installed_variant()?.is_some() {
            return Ok(Status::Installed);
        }
        let request = self.request(VARIANTS[0], Wish::Install);
        Ok(status(&request, &self.read(&request)?))
    }

    /// Tells how each of its parts stands.
    pub(super) fn parts(&self) -> Result<[PartStatus; Role::ALL.len()], ApplyError> {
        let variant = self.chosen_variant()?.unwrap_or(VARIANTS[0]);
        let request = self.request(variant, Wish::Install);
        let snapshot = self.read(&request)?;
        Ok(Role::ALL.map(|role| part_status(role, &request, &snapshot)))
    }

    /// Returns what a person should know of it.
    pub(super) fn remarks(&self) -> Vec<String> {
        remarks(&self.request(VARIANTS[0], Wish::Install))
    }

    /// Finds out what was chosen when it was installed, even if that was by an older version.
    pub(super) fn chosen_variant(&self) -> Result<Option<Variant>, ApplyError> {
        if let Some(variant) = self.installed_variant()? {
            return Ok(Some(variant));
        }
        let request = self.request(VARIANTS[0], Wish::Install);
        let chosen = choices(&request, &self.read(&request)?);
        Ok(chosen.map(|(language, extras)| Variant { language, extras }))
    }

    /// Finds the variant that is installed and current: an installation is so in any language and with any extras.
    fn installed_variant(&self) -> Result<Option<Variant>, ApplyError> {
        for variant in VARIANTS {
            let request = self.request(variant, Wish::Install);
            if status(&request, &self.read(&request)?) == Status::Installed {
                return Ok(Some(variant));
            }
        }
        Ok(None)
    }
}

/// Lists every connection that could be, in the order they are shown.
pub(in crate::command) fn all_connections(machine: &Machine) -> Vec<Connection<'_>> {
    Runtime::ALL
        .into_iter()
        // A plain terminal has no files.
        .filter(|runtime| *runtime != Runtime::Terminal)
        .flat_map(|runtime| {
            [Scope::User, Scope::Project].map(|scope| Connection::new(machine, runtime, scope))
        })
        .collect()
}

const VARIANTS: [Variant; 8] = [
    variant(Language::English, false, false),
    variant(Language::Chinese, false, false),
    variant(Language::English, false, true),
    variant(Language::Chinese, false, true),
    variant(Language::English, true, false),
    variant(Language::Chinese, true, false),
    variant(Language::English, true, true),
    variant(Language::Chinese, true, true),
];

const fn variant(language: Language, approvals: bool, questions: bool) -> Variant {
    Variant {
        language,
        extras: Extras { approvals, questions },
    }
}
