//! A real PostgreSQL server for tests: a cluster of its own in a temporary directory, on a free port.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use tempfile::TempDir;

use crate::tls::Certificate;
use crate::{PATIENCE, eventually, free_port, not_run_without, within};

/// The directory in which Debian has each version.
const VERSIONS: &str = "/usr/lib/postgresql";
/// The user that runs the server if the test is root: PostgreSQL refuses to run as root.
const UNPRIVILEGED: &str = "postgres";
/// The superuser of the cluster.
const USER: &str = "cueme";
/// Waits until its standard input ends, as it does when the test process is gone in whatever way; then it removes everything.
const WATCHDOG: &str =
    r#"cat > /dev/null; "$0" -D "$1/data" -m immediate stop > /dev/null 2>&1; rm -rf "$1""#;

/// What a session prints after its statements.
const DONE: &str = "-- done";

/// A running server, with trust for everybody on the loopback interface.
#[derive(Debug)]
pub struct Server {
    programs: PathBuf,
    directory: PathBuf,
    port: u16,
    is_root: bool,
    /// Ends, with the server, when this is closed.
    watchdog: Child,
    _life: Option<ChildStdin>,
    databases: AtomicU32,
}

impl Server {
    /// Returns the server that all tests of this process share; without PostgreSQL there is none, and a test ends early.
    pub fn start() -> Option<&'static Self> {
        static SHARED: OnceLock<Option<Server>> = OnceLock::new();
        SHARED.get_or_init(|| Self::own(&[])).as_ref()
    }

    /// Starts a server for one test, with lines for its configuration.
    ///
    /// # Panics
    ///
    /// Panics when the server does not start.
    pub fn own(settings: &[&str]) -> Option<Self> {
        let Some(programs) = programs() else {
            not_run_without("PostgreSQL");
            return None;
        };
        let server = Self::prepare(programs);
        server.initialise(settings);
        server.restart();
        Some(server)
    }

    /// Makes the place of a server.
    fn prepare(programs: PathBuf) -> Self {
        let directory = TempDir::with_prefix("cueme-pg-").unwrap().keep();
        let is_root = fs::metadata(&directory).unwrap().uid() == 0;
        if is_root {
            give_to_unprivileged(&directory);
        }
        let (watchdog, life) = watch(&programs, &directory, is_root);
        Self {
            programs,
            directory,
            port: free_port(),
            is_root,
            watchdog,
            _life: Some(life),
            databases: AtomicU32::new(0),
        }
    }

    /// Creates an empty database and returns its URL.
    ///
    /// # Panics
    ///
    /// Panics when the server refuses.
    pub fn database(&self) -> String {
        let name = format!("t{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.run(&self.url("postgres"), &format!("CREATE DATABASE {name}"));
        self.url(&name)
    }

    /// Returns the URL of a database.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://{USER}@127.0.0.1:{}/{database}", self.port)
    }

    /// Returns the port on the loopback interface.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Runs statements with `psql` and returns what it prints: rows on lines, values between `|`.
    ///
    /// # Panics
    ///
    /// Panics when a statement fails.
    pub fn run(&self, url: &str, sql: &str) -> String {
        let mut command = self.psql(url);
        output_of(command.args(["-c", sql])).trim_end().to_owned()
    }

    /// Opens a connection that stays open until it is dropped.
    ///
    /// # Panics
    ///
    /// Panics when `psql` does not start.
    pub fn session(&self, url: &str) -> Session {
        let mut command = self.psql(url);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        Session {
            child,
            input,
            output: BufReader::new(output),
        }
    }

    fn psql(&self, url: &str) -> Command {
        let mut command = Command::new(self.programs.join("psql"));
        command.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", url]);
        command
    }

    /// Starts the server again after [`stop`](Self::stop).
    ///
    /// # Panics
    ///
    /// Panics when it does not start.
    pub fn restart(&self) {
        let log = self.directory.join("log");
        let start = || {
            let mut command = self.command("pg_ctl");
            command.args(["-w", "-s", "-l"]).arg(&log).arg("start");
            let started = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
            started.unwrap().success().then_some(())
        };
        // After a kill, processes of the one before may hold its memory for a moment.
        within(PATIENCE, start).unwrap_or_else(|| {
            let said = fs::read_to_string(&log).unwrap_or_default();
            panic!("PostgreSQL did not start: {said}")
        });
    }

    /// Stops the server; `immediate` is a crash, which the next start recovers from.
    ///
    /// # Panics
    ///
    /// Panics when it does not stop.
    pub fn stop(&self, mode: &str) {
        let mut command = self.command("pg_ctl");
        output_of(command.args(["-w", "-s", "-m", mode, "stop"]));
    }

    /// Kills it as a power switch does: no process of it ends in order.
    ///
    /// # Panics
    ///
    /// Panics when it does not run.
    pub fn kill(&self) {
        let file = fs::read_to_string(self.directory.join("data/postmaster.pid")).unwrap();
        let first = file.lines().next().unwrap();
        let children = Command::new("pgrep").args(["-P", first]).output().unwrap();
        let children = String::from_utf8_lossy(&children.stdout).into_owned();
        // Some of the children may have ended by themselves.
        let mut command = Command::new("kill");
        let _ = command.arg("-KILL").arg(first).args(children.lines()).output();
    }

    /// Starts another server that follows this one, as a standby that may lag behind.
    ///
    /// # Panics
    ///
    /// Panics when it does not start.
    pub fn standby(&self) -> Self {
        let standby = Self::prepare(self.programs.clone());
        let mut command = standby.command("pg_basebackup");
        let port = self.port.to_string();
        output_of(command.args([
            "-R",
            "-X",
            "stream",
            "-c",
            "fast",
            "-h",
            "127.0.0.1",
            "-p",
            &port,
            "-U",
            USER,
        ]));
        standby.configure(&[]);
        standby.restart();
        self.wait_for_standby();
        standby
    }

    /// Waits until a standby has everything.
    ///
    /// # Panics
    ///
    /// Panics when that does not come.
    pub fn wait_for_standby(&self) {
        let sql = "SELECT bool_and(replay_lsn = pg_current_wal_lsn()) FROM pg_stat_replication";
        eventually("the standby has everything", || {
            (self.run(&self.url("postgres"), sql) == "t").then_some(())
        });
    }

    /// Lets this standby hear nothing of its primary any more.
    ///
    /// # Panics
    ///
    /// Panics when it goes on to hear.
    pub fn stop_following(&self) {
        let url = self.url("postgres");
        self.run(&url, "ALTER SYSTEM SET primary_conninfo = ''");
        self.run(&url, "SELECT pg_reload_conf()");
        eventually("the standby is alone", || {
            (self.run(&url, "SELECT count(*) FROM pg_stat_wal_receiver") == "0").then_some(())
        });
    }

    /// Makes this standby a primary.
    ///
    /// # Panics
    ///
    /// Panics when it does not become one.
    pub fn promote(&self) {
        let mut command = self.command("pg_ctl");
        output_of(command.args(["-w", "-s", "promote"]));
    }

    /// Lets a user in with a password alone, which it gets here.
    ///
    /// # Panics
    ///
    /// Panics when the server refuses.
    pub fn add_user(&self, name: &str, password: &str) {
        let path = self.directory.join("data/pg_hba.conf");
        let lines = fs::read_to_string(&path).unwrap();
        fs::write(
            &path,
            format!("host all {name} 127.0.0.1/32 scram-sha-256\n{lines}"),
        )
        .unwrap();
        let create =
            format!("CREATE ROLE {name} SUPERUSER LOGIN PASSWORD '{password}'; SELECT pg_reload_conf()");
        self.run(&self.url("postgres"), &create);
    }

    /// Starts the server again as a standby without a primary, which can only be read.
    ///
    /// # Panics
    ///
    /// Panics when it does not start.
    pub fn become_standby(&self) {
        self.stop("fast");
        fs::write(self.directory.join("data/standby.signal"), "").unwrap();
        self.restart();
    }

    /// Starts the server again with TLS, by a certificate.
    ///
    /// # Panics
    ///
    /// Panics when it does not start.
    pub fn use_tls(&self, Certificate { certificate, key }: &Certificate) {
        self.stop("fast");
        let data = self.directory.join("data");
        for (from, name) in [(certificate, "server.crt"), (key, "server.key")] {
            let to = data.join(name);
            fs::copy(from, &to).unwrap();
            // The server refuses a key that others could read.
            fs::set_permissions(&to, fs::Permissions::from_mode(0o600)).unwrap();
            if self.is_root {
                output_of(Command::new("chown").arg(UNPRIVILEGED).arg(&to));
            }
        }
        let path = data.join("postgresql.conf");
        let lines = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("{lines}ssl = on\n")).unwrap();
        self.restart();
    }

    fn initialise(&self, settings: &[&str]) {
        let mut command = self.command("initdb");
        command.args([
            "--no-sync",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale",
            "C.UTF-8",
            "-U",
            USER,
        ]);
        output_of(&mut command);
        self.configure(settings);
    }

    /// Adds what is its own to the configuration; the last line counts.
    fn configure(&self, settings: &[&str]) {
        let path = self.directory.join("data/postgresql.conf");
        let mut lines = fs::read_to_string(&path).unwrap();
        let socket = self.directory.display();
        lines.push_str(&format!(
            "\nlisten_addresses = '127.0.0.1'\nport = {}\nunix_socket_directories = '{socket}'\nmax_connections = 200\n",
            self.port
        ));
        for line in settings {
            lines.push_str(line);
            lines.push('\n');
        }
        fs::write(&path, lines).unwrap();
    }

    fn command(&self, program: &str) -> Command {
        let mut command = as_unprivileged(&self.programs.join(program), self.is_root);
        command.arg("-D").arg(self.directory.join("data"));
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self._life.take());
        let _ = self.watchdog.wait();
    }
}

/// A connection that stays open: for a transaction, or for more statements than processes could be started for.
#[derive(Debug)]
pub struct Session {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Session {
    /// Runs statements, and returns what they print once they are done.
    ///
    /// # Panics
    ///
    /// Panics when a statement fails.
    pub fn run(&mut self, sql: &str) -> String {
        self.begin(sql);
        self.end()
    }

    /// Sends statements, without waiting for them.
    ///
    /// # Panics
    ///
    /// Panics when the connection is lost.
    pub fn begin(&mut self, sql: &str) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{sql}\n;\nSELECT '{DONE}';").unwrap();
        input.flush().unwrap();
    }

    /// Waits for the statements that were sent, and returns what they print.
    ///
    /// # Panics
    ///
    /// Panics when one of them failed.
    pub fn end(&mut self) -> String {
        let mut printed = String::new();
        loop {
            let mut line = String::new();
            let bytes = self.output.read_line(&mut line).unwrap();
            assert!(bytes > 0, "a statement failed after: {printed}");
            if line.trim_end() == DONE {
                return printed.trim_end().to_owned();
            }
            printed.push_str(&line);
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

/// Finds the newest installed version.
fn programs() -> Option<PathBuf> {
    let mut versions: Vec<(u32, PathBuf)> = fs::read_dir(VERSIONS)
        .ok()?
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let number = entry.file_name().to_str()?.parse().ok()?;
            Some((number, entry.path().join("bin")))
        })
        .filter(|(_, path)| path.join("initdb").exists())
        .collect();
    versions.sort();
    versions.pop().map(|(_, path)| path)
}

fn give_to_unprivileged(directory: &Path) {
    fs::set_permissions(directory, fs::Permissions::from_mode(0o755)).unwrap();
    output_of(Command::new("chown").arg(UNPRIVILEGED).arg(directory));
}

fn watch(programs: &Path, directory: &Path, is_root: bool) -> (Child, ChildStdin) {
    let mut command = as_unprivileged(Path::new("sh"), is_root);
    command
        .args(["-c", WATCHDOG])
        .arg(programs.join("pg_ctl"))
        .arg(directory);
    // A group of its own: a Ctrl-C in the terminal is for the test, and this has to outlive it.
    command.process_group(0).current_dir("/").stdin(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let life = child.stdin.take().unwrap();
    (child, life)
}

fn as_unprivileged(program: &Path, is_root: bool) -> Command {
    let mut command = if is_root {
        let mut command = Command::new("setpriv");
        command
            .args(["--reuid", UNPRIVILEGED, "--regid", UNPRIVILEGED, "--clear-groups"])
            .arg(program);
        command
    } else {
        Command::new(program)
    };
    command.current_dir("/").env("LC_ALL", "C.UTF-8");
    command
}

fn output_of(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_has_empty_databases_and_leaves_nothing_behind() {
        let Some(server) = Server::own(&[]) else { return };
        let (first, second) = (server.database(), server.database());
        assert_ne!(first, second);
        server.run(&first, "CREATE TABLE t (n int); INSERT INTO t VALUES (1), (2)");
        assert_eq!(server.run(&first, "SELECT sum(n), count(*) FROM t"), "3|2");
        assert_eq!(server.run(&first, "SHOW fsync"), "on");
        let mut session = server.session(&first);
        session.run("BEGIN; INSERT INTO t VALUES (3)");
        assert_eq!(session.run("SELECT n FROM t ORDER BY n"), "1\n2\n3");
        session.run("ROLLBACK");
        drop(session);
        server.stop("immediate");
        server.restart();
        assert_eq!(server.run(&first, "SELECT count(*) FROM t"), "2");
        let directory = server.directory.clone();
        drop(server);
        assert!(!directory.exists());
    }
}
