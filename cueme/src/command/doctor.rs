//! `cueme doctor`: does everything work, and if not, what to do.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use cueme_broker::config::Config;
use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;
use protocol_spec::message::{Checked, Nothing, Request, Status};
use protocol_spec::version::{PROGRAM, PROTOCOL};
use protocol_spec::visible::quoted;
use runtimes::Runtime;
use runtimes::install::Status as Installation;

mod report;
mod shared;

use self::report::{Finding, Report};
use super::init::{Connection, Machine, all_connections};
use super::sandbox::Sandbox;
use super::store::in_force;
use crate::cli::DoctorArgs;
use crate::client::{call, expect_reply};
use crate::display::counted;
use crate::environment;
use crate::error::CliError;

/// Less free space than this is worth a warning, in bytes.
const FREE_BYTES_MIN: u64 = 100 * 1024 * 1024;
/// A question that takes longer than this from asking to acknowledgement is worth a warning.
const ROUND_TRIP_MAX: Duration = Duration::from_millis(500);

pub(super) fn run(args: &DoctorArgs) -> Result<Exit, CliError> {
    let mut report = Report::new();
    report.add(Finding::ok(
        "program",
        format!("cueme {PROGRAM}, protocol {PROTOCOL}"),
    ))?;
    let places = match environment::places() {
        Ok(places) => places,
        Err(error) => {
            report.add(Finding::fail(
                "places",
                error.to_string(),
                "set HOME or CUEME_HOME",
            ))?;
            return Ok(report.exit());
        }
    };
    report.add(check_config(&places))?;
    let status = reach_broker(&places, &mut report)?;
    let shared = match in_force(&places) {
        Ok(shared) => shared,
        Err(error) => {
            report.add(Finding::fail(
                "store",
                error.to_string(),
                "correct `store` or CUEME_STORE",
            ))?;
            None
        }
    };
    for (name, path, mode) in private_paths(&places) {
        if shared.is_none() || path != places.database() {
            report.add(check_private(name, &path, mode))?;
        }
    }
    for finding in shared.iter().flat_map(shared::check_server) {
        report.add(finding)?;
    }
    report.add(check_space(&places))?;
    if let Some(status) = status {
        check_status(&status, &mut report)?;
        report.add(check_database(&places))?;
    }
    for finding in check_runtimes() {
        report.add(finding)?;
    }
    if !args.quick {
        report.add(time_question(&places))?;
    }
    Ok(report.exit())
}

fn check_config(places: &Places) -> Finding {
    let path = places.config.display();
    match Config::load(&places.config) {
        Ok(_) if places.config.exists() => Finding::ok("configuration", path.to_string()),
        Ok(_) => Finding::ok("configuration", format!("none at {path}; the defaults apply")),
        Err(error) => Finding::fail("configuration", error.to_string(), format!("correct {path}")),
    }
}

fn reach_broker(places: &Places, report: &mut Report) -> Result<Option<Status>, CliError> {
    let started = Instant::now();
    let reply = call(places, &Request::Status(Nothing {})).and_then(|reply| expect_reply!(reply, Status));
    match reply {
        Ok(status) => {
            let took = started.elapsed();
            let socket = places.socket();
            report.add(Finding::ok(
                "socket",
                format!("{} answers ({})", socket.display(), millis(took)),
            ))?;
            Ok(Some(status))
        }
        Err(error) => {
            let text = error.to_string();
            let (found, hint) = text
                .split_once("\nhint: ")
                .unwrap_or((&text, "run `cueme broker run` to watch it"));
            report.add(Finding::fail("broker", found.trim_start_matches("error: "), hint))?;
            Ok(None)
        }
    }
}

fn check_status(status: &Status, report: &mut Report) -> Result<(), CliError> {
    let running = format!(
        "version {}, pid {}, {}",
        status.version, status.pid, status.executable
    );
    report.add(if status.version == PROGRAM {
        Finding::ok("broker", running)
    } else {
        Finding::warn(
            "broker",
            format!("{running}; this program is {PROGRAM}"),
            "run `cueme broker restart`",
        )
    })?;
    if let Some(error) = &status.storage_error {
        report.add(Finding::fail(
            "storage",
            error.clone(),
            "free space or correct the permissions; the broker recovers by itself",
        ))?;
    }
    if let Some(error) = &status.config_error {
        report.add(Finding::warn(
            "broker's configuration",
            error.clone(),
            "correct it; the last valid one stays in use",
        ))?;
    }
    Ok(())
}

/// The files that no other user may read, and their permissions.
fn private_paths(places: &Places) -> Vec<(&'static str, std::path::PathBuf, u32)> {
    let mut paths = vec![("data directory", places.data_dir.clone(), 0o700)];
    if places.socket_dir != places.data_dir {
        paths.push(("socket directory", places.socket_dir.clone(), 0o700));
    }
    paths.push(("log directory", places.log_dir.clone(), 0o700));
    paths.push(("database file", places.database(), 0o600));
    paths.push(("socket file", places.socket(), 0o600));
    paths
}

fn check_private(what: &'static str, path: &Path, mode: u32) -> Finding {
    let shown = path.display();
    let found = match std::fs::metadata(path) {
        Ok(found) => found,
        Err(error) => return Finding::warn(what, format!("{shown}: {error}"), "a running broker creates it"),
    };
    if found.uid() != environment::uid() {
        let found = format!("{shown} belongs to user {}", found.uid());
        return Finding::fail(what, found, "set CUEME_HOME to a directory of your own");
    }
    let open = found.permissions().mode() & 0o777;
    if open & 0o077 != 0 {
        let found = format!("{shown} can be used by others (mode {open:o})");
        return Finding::fail(what, found, format!("chmod {mode:o} {shown}"));
    }
    Finding::ok(what, format!("{shown} is yours alone"))
}

fn check_space(places: &Places) -> Finding {
    match rustix::fs::statvfs(&places.data_dir) {
        Ok(found) => {
            let free = found.f_bavail.saturating_mul(found.f_frsize);
            let words = format!("{} MiB free", free / (1024 * 1024));
            if free < FREE_BYTES_MIN {
                Finding::warn("disk", words, "free some space; without it nobody can be asked")
            } else {
                Finding::ok("disk", words)
            }
        }
        Err(error) => Finding::warn(
            "disk",
            error.to_string(),
            format!("look at {}", places.data_dir.display()),
        ),
    }
}

fn check_database(places: &Places) -> Finding {
    const REMEDY: &str = "run `cueme restore <a backup>`; keep a copy of the file";
    match call(places, &Request::Check(Nothing {})).and_then(|reply| expect_reply!(reply, Checked)) {
        Ok(Checked {
            problems,
            schema,
            bytes,
            cues,
        }) => match problems.first() {
            None => Finding::ok(
                "database",
                format!(
                    "sound, schema {schema}, {}, {} KiB",
                    counted(cues, "question"),
                    bytes.div_ceil(1024)
                ),
            ),
            Some(problem) => Finding::fail(
                "database",
                format!("{}: {problem}", counted(problems.len(), "problem")),
                REMEDY,
            ),
        },
        Err(error) => Finding::fail("database", error.to_string(), REMEDY),
    }
}

/// Says of each runtime on this machine how it is connected.
fn check_runtimes() -> Vec<Finding> {
    let machine = match Machine::find() {
        Ok(machine) => machine,
        Err(error) => return vec![Finding::warn("runtimes", error.to_string(), "set HOME")],
    };
    let found = machine.runtimes();
    let connections = all_connections(&machine);
    connections
        .chunks(2)
        .filter_map(|pair| check_runtime(pair, &found))
        .collect()
}

/// Describes one runtime, for the user and for this project; `None` when it has nothing to do with this machine.
fn check_runtime(scopes: &[Connection<'_>], found: &[Runtime]) -> Option<Finding> {
    let runtime = scopes.first()?.runtime;
    let what = runtime.tag();
    let mut connected = Vec::new();
    for connection in scopes {
        let scope = connection.scope.word();
        let again = format!("run `cueme init {runtime} --{scope}`");
        match connection.status() {
            Ok(Installation::NotInstalled) => {}
            Ok(Installation::Installed) => connected.push(scope),
            Ok(Installation::Outdated) => {
                return Some(Finding::warn(what, format!("outdated ({scope})"), again));
            }
            Ok(Installation::Broken { why }) => {
                let first = why.first().map_or_else(String::new, |first| {
                    format!(": {}: {}", first.path.display(), first.why)
                });
                let remedy = format!("correct that file, then {again}");
                return Some(Finding::warn(
                    what,
                    format!("cannot be read ({scope}){first}"),
                    remedy,
                ));
            }
            Err(error) => return Some(Finding::warn(what, error.to_string(), again)),
        }
    }
    if !connected.is_empty() {
        return Some(Finding::ok(what, format!("connected ({})", connected.join(", "))));
    }
    found.contains(&runtime).then(|| {
        Finding::ok(
            what,
            format!("found, not connected; `cueme init {runtime}` connects it"),
        )
    })
}

/// Asks and answers a real question on the same disk, in a broker of its own, so that no human is disturbed.
fn time_question(places: &Places) -> Finding {
    match try_question(&places.data_dir) {
        Ok(took) if took > ROUND_TRIP_MAX => Finding::warn(
            "question",
            format!("answered after {}", millis(took)),
            "the machine or its disk is slow",
        ),
        Ok(took) => Finding::ok(
            "question",
            format!("answer given, printed and acknowledged in {}", millis(took)),
        ),
        Err(error) => Finding::fail(
            "question",
            error.to_string(),
            "run `cueme demo` to see where it fails",
        ),
    }
}

/// Returns the time from giving an answer until the asking process has printed it, acknowledged it and ended.
fn try_question(directory: &Path) -> Result<Duration, CliError> {
    let sandbox = Sandbox::inside(directory)?;
    let joined = sandbox.run(&["join", "doctor"])?;
    let agent = joined
        .lines()
        .find_map(|line| line.strip_prefix("agent_id="))
        .unwrap_or_default();
    let envelope = "<cueme_prompt>\nIs anybody there?\n</cueme_prompt>\n";
    let (waiting, cue) = sandbox.ask(&["cue", agent, "-"], Some(envelope))?;
    let started = Instant::now();
    sandbox.run(&["answer", &cue, "yes"])?;
    let (text, code) = waiting
        .finish()
        .map_err(|error| CliError::new(Exit::Io, format!("could not read the answer: {error}")))?;
    let took = started.elapsed();
    if code == Some(0) && text.starts_with("yes") {
        Ok(took)
    } else {
        Err(CliError::new(
            Exit::Io,
            format!(
                "the asking process printed {} and {}",
                quoted(&text),
                code.map_or("was ended by a signal".to_owned(), |code| format!(
                    "exited with {code}"
                ))
            ),
        ))
    }
}

fn millis(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::display::Grade;
    use std::fs::Permissions;

    #[test]
    fn a_directory_that_others_may_enter_is_a_problem_with_a_remedy() {
        let home = tempfile::tempdir().unwrap();
        std::fs::set_permissions(home.path(), Permissions::from_mode(0o755)).unwrap();
        let finding = check_private("data directory", home.path(), 0o700);
        assert!(matches!(finding.grade, Grade::Fail));
        assert!(finding.remedy.unwrap().starts_with("chmod 700 "));
        std::fs::set_permissions(home.path(), Permissions::from_mode(0o700)).unwrap();
        assert!(matches!(
            check_private("data directory", home.path(), 0o700).grade,
            Grade::Ok
        ));
    }
}
