//! `cueme link user@host`: the same verbs through `ssh`, here a script of that name that behaves like it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use cueme_tests::{Client, Home, Run, envelope, eventually};
use rustix::process::{Pid, Signal, kill_process};

/// A fake `ssh`: it connects to an address, or runs a command. Each call writes down its process.
const SSH: &str = r#"#!/usr/bin/env bash
echo $$ >> "PLACE/processes"
[ -e "PLACE/away" ] && { echo "ssh: connect to host devbox port 22: No route to host" >&2; exit 255; }
while [ $# -gt 0 ]; do
    case "$1" in
        -W) address=$2; shift 2 ;;
        --) destination=$2; shift 2; break ;;
        *) shift ;;
    esac
done
[ "$destination" = ada@devbox ] || { echo "ssh: Could not resolve hostname" >&2; exit 255; }
if [ -n "$address" ]; then
    exec python3 -c '
import os, socket, sys, threading
try:
    there = socket.create_connection((sys.argv[1], int(sys.argv[2])))
except OSError as error:
    sys.exit("stdio forwarding failed: %s" % error)
def pass_on():
    while data := os.read(0, 65536):
        there.sendall(data)
    os._exit(0)
threading.Thread(target=pass_on, daemon=True).start()
while data := there.recv(65536):
    os.write(1, data)
' "${address%:*}" "${address##*:}"
fi
export CUEME_HOME="BROKER" PATH="TOOLS:$PATH"
exec sh -c "$*"
"#;

/// A machine whose `ssh` leads to the machine of a broker.
struct Machine {
    home: Home,
    place: PathBuf,
}

impl Machine {
    fn beside(broker: &Home) -> Option<Self> {
        if Command::new("python3").arg("--version").output().is_err() {
            cueme_tests::not_run_without("python3");
            return None;
        }
        let home = Home::new();
        let place = home.scratch().join("ssh");
        fs::create_dir(&place).unwrap();
        let tools = broker.binary().parent().unwrap().to_owned();
        let script = SSH
            .replace("PLACE", &place.display().to_string())
            .replace("BROKER", &broker.path().display().to_string())
            .replace("TOOLS", &tools.display().to_string());
        let path = place.join("ssh");
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        Some(Self { home, place })
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.home.command(words);
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", self.place.display()));
        command
    }

    #[track_caller]
    fn run(&self, words: &[&str]) -> Run {
        Client::start(&mut self.command(words), b"").finish()
    }

    fn start_cue(&self, agent: &str, prompt: &str) -> Client {
        let mut command = self.command(&["cue", agent, "-"]);
        Client::start(&mut command, envelope(prompt, None).as_bytes())
    }

    /// Kills every `ssh` that runs, as a network that goes away does.
    fn cut(&self) -> usize {
        let file = self.place.join("processes");
        let processes = fs::read_to_string(&file).unwrap();
        fs::write(&file, "").unwrap();
        let killed = processes
            .lines()
            .filter_map(|line| Pid::from_raw(line.parse().ok()?))
            .filter(|process| kill_process(*process, Signal::KILL).is_ok());
        killed.count()
    }
}

fn agent_in(joined: &Run) -> String {
    let id = joined
        .printed(0)
        .lines()
        .find_map(|line| line.strip_prefix("agent_id="));
    id.unwrap().to_owned()
}

#[test]
fn over_ssh_nothing_is_asked_and_everything_is_the_same() {
    let broker = Home::new();
    let Some(machine) = Machine::beside(&broker) else {
        return;
    };
    let linked = machine.run(&["link", "ada@devbox", "--human", "--name", "laptop of ada's"]);
    assert_eq!(linked.printed(0), "linked to ada@devbox\n");
    let kept = fs::metadata(machine.home.path().join("link.json")).unwrap();
    assert_eq!(kept.permissions().mode() & 0o777, 0o600);
    assert!(broker.ok(&["token", "list"]).contains("laptop of ada's"));
    let agent = agent_in(&machine.run(&["join", "patient"]));
    let asking = machine.start_cue(&agent, "Over SSH?");
    let cue = broker.wait_for("Over SSH?", 1);
    machine.run(&["answer", &cue, "yes"]).printed(0);
    assert!(asking.finish().printed(0).starts_with("yes\n"));
    eventually("the acknowledgement", || {
        (broker.delivery(&cue) == "acknowledged").then_some(())
    });
    assert!(machine.home.brokers().is_empty(), "no broker is started here");
    let status = machine.run(&["link", "--status"]);
    assert!(
        status.printed(0).contains("ada@devbox (agents and human)"),
        "{status:?}"
    );
    machine.run(&["link", "--remove"]).printed(0);
    assert_eq!(machine.cut(), 0, "no ssh is left behind");
}

#[test]
fn a_wait_over_ssh_outlives_its_connection_and_the_broker() {
    let broker = Home::new();
    let Some(machine) = Machine::beside(&broker) else {
        return;
    };
    machine.run(&["link", "ada@devbox"]).printed(0);
    let agent = agent_in(&machine.run(&["join", "patient"]));
    let asking = machine.start_cue(&agent, "Still there?");
    let cue = broker.wait_for("Still there?", 1);
    // The network goes away, and comes back.
    let away = machine.place.join("away");
    fs::write(&away, "").unwrap();
    assert_eq!(machine.cut(), 1, "one ssh for one call");
    broker.wait_for("Still there?", 0);
    machine
        .run(&["join", "patient"])
        .refused(69, &["ada@devbox", "No route to host"]);
    fs::remove_file(&away).unwrap();
    assert_eq!(broker.wait_for("Still there?", 1), cue);
    // Only the waiting call itself starts the broker there again.
    let running = broker.broker_pid();
    broker.kill_broker();
    eventually("another broker runs there", || {
        broker.brokers().into_iter().find(|pid| *pid != running)
    });
    assert_eq!(broker.wait_for("Still there?", 1), cue);
    broker.ok(&["answer", &cue, "yes"]);
    assert!(asking.finish().printed(0).starts_with("yes\n"));
}

#[test]
fn what_ssh_cannot_do_is_told_with_its_own_words() {
    let broker = Home::new();
    let Some(machine) = Machine::beside(&broker) else {
        return;
    };
    machine
        .run(&["link", "ada@elsewhere"])
        .refused(69, &["Could not resolve hostname", "without a question"]);
    machine
        .run(&["link", "ada@devbox", "--code", "abc"])
        .refused(2, &["no code is needed"]);
    machine.run(&["link", "-oProxyCommand=x@y"]).refused(2, &[]);
    machine.run(&["link", "--status"]).printed(1);
}
