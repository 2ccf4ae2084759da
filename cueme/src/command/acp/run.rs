//! The process of the agent, its pipes, and the end of them.

use std::io::{self, Read, Stdout};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use adapter_core::hap::TURN_ENV;
use clap::Args;
use protocol_spec::exit::Exit;
use rustix::event::{PollFd, PollFlags};
use rustix::process::{Pid, Signal, kill_process_group};
use uuid::Uuid;

use super::inbox::{Answered, Asking, Inbox, warn};
use super::lines::{LINE_BYTES_MAX, LineWriter, each_line};
use super::proxy::{Action, InboxQuestion, Key, Proxy};
use crate::client::Signals;
use crate::environment;
use crate::error::CliError;

/// Hooks of the agent stay silent: the proxy asks in their place.
const HOOKS_OFF: (&str, &str) = ("CUEME_HOOKS", "off");
/// The timeout of an agent's exit after its stdin was closed, and again after SIGTERM.
const LEAVE_MAX: Duration = Duration::from_secs(3);
/// The timeout for closing open questions.
const SETTLE_MAX: Duration = Duration::from_secs(5);
/// Why questions are closed at the end.
const EDITOR_CLOSED: &str = "the editor closed";
const AGENT_ENDED: &str = "the agent's program ended";

/// Arguments of `acp`.
#[derive(Debug, Args)]
pub(crate) struct AcpArgs {
    /// The agent's command and its arguments, after `--`
    #[arg(value_name = "COMMAND", required = true, last = true)]
    command: Vec<String>,
}

/// Why the connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Editor,
    Agent,
    Stopped,
}

/// The state that the threads share.
struct Shared {
    proxy: Mutex<Proxy>,
    inbox: Inbox,
    agent: LineWriter<ChildStdin>,
    editor: LineWriter<Stdout>,
}

pub(crate) fn run(args: &AcpArgs) -> Result<Exit, CliError> {
    let nonce = Uuid::new_v4().simple().to_string();
    let mut child = start(&args.command, &nonce)?;
    let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(CliError::new(Exit::Io, "the agent has no pipes"));
    };
    let shared = Arc::new(Shared {
        proxy: Mutex::new(Proxy::new(environment::own_paths())),
        inbox: Inbox::new(environment::places()?, nonce),
        agent: LineWriter::new(stdin),
        editor: LineWriter::new(io::stdout()),
    });
    let (ended, end) = mpsc::channel();
    stop_on_signal(ended.clone())?;
    read_editor(Arc::clone(&shared), ended.clone());
    read_agent(Arc::clone(&shared), stdout, ended);
    Ok(finish(&shared, &mut child, &end))
}

fn start(words: &[String], nonce: &str) -> Result<Child, CliError> {
    let (program, args) = words
        .split_first()
        .ok_or_else(|| CliError::usage("the agent's command is missing"))?;
    Command::new(program)
        .args(args)
        .env(TURN_ENV, nonce)
        .env(HOOKS_OFF.0, HOOKS_OFF.1)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|error| {
            CliError::new(Exit::NotFound, format!("could not start {program}: {error}"))
                .with_hint("give the full path of the agent, such as `cueme acp -- /usr/bin/agent acp`")
        })
}

fn read_editor(shared: Arc<Shared>, ended: Sender<End>) {
    thread::spawn(move || {
        let read = |line: &[u8]| {
            let actions = shared.rules().editor_line(line);
            shared.apply(actions, |shared| shared.agent.write(line))
        };
        // An agent that is gone is noticed by its own reader.
        let result = each_line(io::stdin().lock(), &shared.agent, read, too_long);
        let end = if result.is_ok() { End::Editor } else { End::Agent };
        let _ = ended.send(end);
    });
}

fn read_agent(shared: Arc<Shared>, stdout: ChildStdout, ended: Sender<End>) {
    thread::spawn(move || {
        let end = pass_agent(&shared, stdout);
        let _ = ended.send(end);
    });
}

fn pass_agent(shared: &Arc<Shared>, stdout: impl Read) -> End {
    let mut is_editor_gone = false;
    let read = |line: &[u8]| {
        let actions = shared.rules().agent_line(line);
        let passed = shared.apply(actions, |shared| shared.editor.write(line));
        is_editor_gone = passed.is_err();
        passed
    };
    // Ends when the agent closes its stdout, or nobody reads ours.
    let _ = each_line(stdout, &shared.editor, read, too_long);
    if is_editor_gone { End::Editor } else { End::Agent }
}

fn too_long() {
    warn(&format!(
        "a line has more than {LINE_BYTES_MAX} bytes; it is passed on, and nothing in it reaches the inbox"
    ));
}

impl Shared {
    fn rules(&self) -> MutexGuard<'_, Proxy> {
        self.proxy.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does what was decided about a line.
    fn apply(
        self: &Arc<Self>,
        actions: Vec<Action>,
        pass: impl Fn(&Self) -> io::Result<()>,
    ) -> io::Result<()> {
        for action in actions {
            match action {
                Action::Pass => pass(self)?,
                Action::ToAgent(line) => self.agent.write(&line)?,
                Action::ToEditor(line) => self.editor.write(&line)?,
                Action::Ask(key, asked) => self.ask(key, asked),
                Action::Withdraw(key, reason) => self.inbox.withdraw(&key, reason),
            }
        }
        Ok(())
    }

    /// Asks beside everything else.
    fn ask(self: &Arc<Self>, key: Key, asked: InboxQuestion) {
        let Some(asking) = self.inbox.prepare(&key) else {
            return;
        };
        let shared = Arc::clone(self);
        thread::spawn(move || shared.wait(&key, &asked, &asking));
    }

    fn wait(self: &Arc<Self>, key: &Key, asked: &InboxQuestion, asking: &Asking) {
        let Some(answered) = self.inbox.ask(key, asked, asking) else {
            return;
        };
        let actions = self.rules().inbox_answer(key, &answered.reply);
        self.deliver(actions, answered);
    }

    /// Gives an answer of the inbox to the agent; one that came too late is confirmed too, because the human has decided.
    fn deliver(self: &Arc<Self>, actions: Vec<Action>, answered: Answered) {
        match self.apply(actions, |_| Ok(())) {
            Ok(()) => self.inbox.confirm(answered),
            Err(error) => warn(&format!("could not send the agent an answer: {error}")),
        }
    }
}

/// Waits for the end of either side, and leaves nothing behind.
fn finish(shared: &Shared, child: &mut Child, end: &Receiver<End>) -> Exit {
    let end = end.recv().unwrap_or(End::Agent);
    let reason = if end == End::Agent {
        AGENT_ENDED
    } else {
        EDITOR_CLOSED
    };
    let open = shared.rules().close();
    for key in &open {
        shared.inbox.withdraw(key, reason);
    }
    if end == End::Stopped {
        signal(child, Signal::TERM);
    }
    shared.agent.close();
    let status = leave(child);
    shared.inbox.settle(SETTLE_MAX);
    match (end, status) {
        (End::Agent, Some(status)) if !status.success() => {
            warn(&format!("the agent ended: {status}"));
            Exit::NotFound
        }
        _ => Exit::Done,
    }
}

/// Lets the agent leave by itself, and ends it and all it started if it does not.
fn leave(child: &mut Child) -> Option<ExitStatus> {
    let status = exited_within(child, LEAVE_MAX).or_else(|| {
        signal(child, Signal::TERM);
        exited_within(child, LEAVE_MAX)
    });
    signal(child, Signal::KILL);
    status.or_else(|| child.wait().ok())
}

fn exited_within(child: &mut Child, wait_max: Duration) -> Option<ExitStatus> {
    let end = Instant::now() + wait_max;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < end => thread::sleep(Duration::from_millis(10)),
            Ok(None) | Err(_) => return None,
        }
    }
}

fn signal(child: &Child, signal: Signal) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // Fails when all of them have ended.
        let _ = kill_process_group(group, signal);
    }
}

/// Ends the connection when this program is asked to stop.
fn stop_on_signal(ended: Sender<End>) -> Result<(), CliError> {
    let (signals, switch) = Signals::catch_with_switch()
        .map_err(|error| CliError::new(Exit::Io, format!("could not listen for signals: {error}")))?;
    thread::spawn(move || {
        // The switch is kept: without it the pipe would be closed, which looks like a signal.
        let _switch = switch;
        let mut pipe = [PollFd::new(&signals, PollFlags::IN)];
        while rustix::event::poll(&mut pipe, None).is_err() {}
        let _ = ended.send(End::Stopped);
    });
    Ok(())
}
