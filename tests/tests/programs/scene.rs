//! One host in an empty home with cueme connected to it, a scripted model, and a human.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cueme_tests::model_server::{ModelServer, Play, Step};
use cueme_tests::{Client, Editor, Home, Manners, PATIENCE, Run, Terminal, within};
use protocol_spec::id::CueId;
use protocol_spec::message::CueView;
use rustix::process::{Pid, Signal};
use serde_json::{Value, json};

use crate::hosts::Host;
use crate::programs::Programs;

/// The timeout of one run of a program when nothing waits on purpose; the machine may be busy.
const RUN_MAX: Duration = Duration::from_secs(120);
/// Nothing beyond the loopback interface is reached: this port refuses.
const NOWHERE: &str = "http://127.0.0.1:9";

/// The stage of one scenario. Everything that runs on it ends with it.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) home: Home,
    pub(crate) host: &'static Host,
    pub(crate) model: ModelServer,
    programs: &'static Programs,
    user: PathBuf,
    project: PathBuf,
    bin: PathBuf,
    variables: Vec<(&'static str, &'static str)>,
}

/// The human's reaction to a question.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rule<'a> {
    /// Found in the prompt of the question.
    pub(crate) about: &'a str,
    /// The arguments after `cueme answer <id>`.
    pub(crate) answer: &'a [&'a str],
}

/// The end of a run, and its events.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) run: Option<Run>,
    /// The questions in the order they were seen.
    pub(crate) asked: Vec<CueView>,
    pub(crate) play: Play,
    /// Requests of the host that took no part in the script.
    aside: Vec<String>,
}

impl Ran {
    /// Describes the run for a failure.
    pub(crate) fn story(&self) -> String {
        let asked: Vec<String> = self
            .asked
            .iter()
            .map(|cue| format!("{:?} by {:?} of {}", cue.prompt, cue.origin, cue.agent_id))
            .collect();
        let told: Vec<String> = self
            .play
            .told()
            .iter()
            .skip(1)
            .map(|text| shortened(text))
            .collect();
        let run = self.run.as_ref().map_or_else(
            || "it did not end".to_owned(),
            |run| format!("exit {:?}\n{}\n{}", run.code, run.stdout, shortened(&run.stderr)),
        );
        format!(
            "\n  asked: {asked:#?}\n  told: {told:#?}\n  aside: {:#?}\n  failures: {:#?}\n  run: {run}",
            self.aside,
            self.play.failures()
        )
    }

    /// Says whether the model was told this in answer to its step with this number.
    pub(crate) fn told(&self, step: usize, text: &str) -> bool {
        self.play
            .told()
            .get(step + 1)
            .is_some_and(|told| told.contains(text))
    }

    /// Returns the questions that a hook asked.
    pub(crate) fn by_hook(&self) -> Vec<&CueView> {
        let hooks = |cue: &&CueView| cue.origin == protocol_spec::outcome::Origin::Hook;
        self.asked.iter().filter(hooks).collect()
    }
}

fn shortened(text: &str) -> String {
    let count = text.chars().count();
    if count <= 1500 {
        return text.to_owned();
    }
    let head: String = text.chars().take(500).collect();
    let tail: String = text.chars().skip(count - 1000).collect();
    format!("{head}\n[…]\n{tail}")
}

impl Scene {
    /// Sets up an empty home and connects cueme with a plain `cueme init <host> --yes`.
    pub(crate) fn connected(programs: &'static Programs, host: &'static Host) -> Self {
        let scene = Self::empty(programs, host);
        scene.init(&["--yes"]);
        scene
    }

    /// Sets up an empty home.
    pub(crate) fn empty(programs: &'static Programs, host: &'static Host) -> Self {
        let home = Home::new();
        let [user, project, bin, tmp] =
            ["user", "project", "bin", "tmp"].map(|name| home.scratch().join(name));
        for folder in [&user, &project, &bin, &tmp] {
            fs::create_dir_all(folder).unwrap_or_else(|error| panic!("{error}"));
        }
        std::os::unix::fs::symlink(home.binary(), bin.join("cueme"))
            .unwrap_or_else(|error| panic!("{error}"));
        // Shells that a host starts as login shells read it; a person has `cueme` on the search path there too.
        let profile = format!("export PATH=\"{}:$PATH\"\n", bin.display());
        fs::write(user.join(".profile"), profile).unwrap_or_else(|error| panic!("{error}"));
        if let Some((path, content)) = host.settings {
            let file = user.join(path);
            let folder = file.parent().unwrap_or(&user);
            fs::create_dir_all(folder).unwrap_or_else(|error| panic!("{error}"));
            fs::write(&file, content).unwrap_or_else(|error| panic!("{error}"));
        }
        Self {
            home,
            host,
            model: ModelServer::start(),
            programs,
            user,
            project,
            bin,
            variables: Vec::new(),
        }
    }

    /// Sets a variable for the host.
    #[must_use]
    pub(crate) fn with_variable(mut self, name: &'static str, value: &'static str) -> Self {
        self.variables.push((name, value));
        self
    }

    /// Returns the home folder of the person.
    pub(crate) fn user(&self) -> &Path {
        &self.user
    }

    /// Returns the folder the host works in.
    pub(crate) fn project(&self) -> &Path {
        &self.project
    }

    /// Opens the host's window, as somebody who has answered what it asks at its first start.
    pub(crate) fn window(&self) -> Terminal {
        let project = self.project.display().to_string();
        match self.host.tag {
            "claude_code" => self.edit_json(".claude.json", |settings| {
                settings["hasCompletedOnboarding"] = json!(true);
                settings["theme"] = json!("dark");
                settings["projects"][&project]["hasTrustDialogAccepted"] = json!(true);
            }),
            "codex" => {
                let file = self.user.join(".codex/config.toml");
                let settings = fs::read_to_string(&file).unwrap_or_default();
                let trusted = format!("{settings}\n[projects.{project:?}]\ntrust_level = \"trusted\"\n");
                fs::write(&file, trusted).unwrap_or_else(|error| panic!("{error}"));
            }
            _ => {}
        }
        let mut command = self.host.window(self.programs, &self.model.url());
        self.furnish(&mut command);
        let terminal = Terminal::running(&command);
        terminal.sees(self.host.ready.unwrap_or_default());
        terminal
    }

    fn edit_json(&self, path: &str, edit: impl FnOnce(&mut Value)) {
        let file = self.user.join(path);
        let text = fs::read_to_string(&file).unwrap_or_else(|_| "{}".to_owned());
        let mut settings: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}"));
        edit(&mut settings);
        fs::write(&file, settings.to_string()).unwrap_or_else(|error| panic!("{error}"));
    }

    /// Runs `cueme init` for the host.
    pub(crate) fn init(&self, words: &[&str]) -> String {
        let mut command = Command::new(self.bin.join("cueme"));
        command.args(["init", self.host.tag]).args(words);
        self.furnish(&mut command);
        Client::start(&mut command, b"").finish().printed(0).to_owned()
    }

    /// Gives a command the environment of this home and nothing else.
    pub(crate) fn furnish(&self, command: &mut Command) {
        let path = std::env::var("PATH").unwrap_or_default();
        let own: Vec<_> = command
            .get_envs()
            .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
            .collect();
        command
            .env_clear()
            .env("PATH", format!("{}:{path}", self.bin.display()))
            .env("HOME", &self.user)
            .env("XDG_CONFIG_HOME", self.user.join(".config"))
            .env("XDG_DATA_HOME", self.user.join(".local/share"))
            .env("XDG_STATE_HOME", self.user.join(".local/state"))
            .env("XDG_CACHE_HOME", self.user.join(".cache"))
            .env("CUEME_HOME", self.home.path())
            // Codex does without its helpers when its home is below the folder for temporary files.
            .env("TMPDIR", self.home.scratch().join("tmp"))
            .env("USER", "tester")
            .env("SHELL", "/bin/bash")
            .env("TERM", "xterm-256color")
            .env("LANG", "C.UTF-8")
            .env("TZ", "UTC")
            .env("HTTPS_PROXY", NOWHERE)
            .env("HTTP_PROXY", NOWHERE)
            .env("NO_PROXY", "127.0.0.1,localhost")
            .envs(self.variables.iter().copied())
            .envs(own)
            .current_dir(&self.project);
    }

    /// Runs the host without a window to its end, with a human who follows these rules and declines the rest.
    pub(crate) fn run(&self, marker: &str, steps: Vec<Step>, rules: &[Rule<'_>]) -> Ran {
        self.run_with(marker, steps, Human::new(self, rules))
    }

    /// Runs the host as [`run`](Self::run) does; before each answer the broker is killed the hard way.
    pub(crate) fn run_killing_brokers(&self, marker: &str, steps: Vec<Step>, rules: &[Rule<'_>]) -> Ran {
        let mut human = Human::new(self, rules);
        human.kills_brokers = true;
        self.run_with(marker, steps, human)
    }

    /// Runs the host as [`run`](Self::run) does; the human takes so long before each answer.
    pub(crate) fn run_slowly(
        &self,
        marker: &str,
        steps: Vec<Step>,
        rules: &[Rule<'_>],
        wait: Duration,
    ) -> Ran {
        let mut human = Human::new(self, rules);
        human.thinks = wait;
        self.run_with(marker, steps, human)
    }

    /// Runs two sessions at once; returns whether both have ended, and how many questions there were.
    pub(crate) fn run_together(&self, markers: [&str; 2], rules: &[Rule<'_>]) -> (bool, usize) {
        let mut running = markers.map(|marker| self.start(marker));
        let mut human = Human::new(self, rules);
        let is_over = within(RUN_MAX, || {
            human.look();
            let all_ended = running.iter_mut().all(|one| one.client.ended().is_some());
            all_ended.then_some(())
        });
        (is_over.is_some(), human.asked.len())
    }

    /// Returns the command lines of what still runs in this home, apart from the broker.
    pub(crate) fn left_behind(&self) -> Vec<String> {
        let brokers = self.home.brokers();
        let processes = cueme_tests::processes_with("HOME", &self.user);
        let others = processes.into_iter().filter(|pid| !brokers.contains(pid));
        others
            .map(|pid| {
                let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
                format!("{pid}: {}", String::from_utf8_lossy(&line).replace('\0', " "))
            })
            .collect()
    }

    fn run_with(&self, marker: &str, steps: Vec<Step>, mut human: Human<'_>) -> Ran {
        let play = self.model.play(marker, steps);
        let mut running = self.start(marker);
        let run = within(RUN_MAX + human.thinks, || {
            human.look();
            running.client.ended()
        });
        let requests = self.model.requests();
        let aside = requests.iter().filter(|request| !request.played);
        Ran {
            run,
            asked: human.asked,
            play,
            aside: aside.map(|request| request.summary()).collect(),
        }
    }

    /// Starts the host without a window, in a process group of its own that ends with the returned value.
    pub(crate) fn start(&self, marker: &str) -> Running {
        let prompt = format!("{marker}: do as the script says.");
        let command = self.host.headless(self.programs, &self.model.url(), &prompt);
        self.start_as(command)
    }

    /// Starts the host's server as [`start`](Self::start) does.
    pub(crate) fn serve(&self) -> Running {
        self.start_as(self.host.server(self.programs, &self.model.url()))
    }

    /// Starts the adapter by which editors speak to the host.
    pub(crate) fn acp(&self) -> Editor {
        let mut command = self.host.acp_adapter(self.programs, &self.model.url());
        self.furnish(&mut command);
        Editor::start(command.stderr(Stdio::null()), Manners::Refuses)
    }

    /// Starts the host's ACP agent behind our proxy, in an editor in front of which nobody sits.
    pub(crate) fn proxied(&self) -> Editor {
        let agent = self.host.acp_agent(self.programs, &self.model.url());
        let mut command = Command::new(self.home.binary());
        command
            .args(["acp", "--"])
            .arg(agent.get_program())
            .args(agent.get_args());
        for (name, value) in agent.get_envs() {
            command.env(name, value.unwrap_or_default());
        }
        self.furnish(&mut command);
        Editor::start(command.stderr(Stdio::null()), Manners::Waits)
    }

    /// Starts a run of ours whose CLI is the host's ACP agent, whatever it is told.
    pub(crate) fn driven(&self, prompt: &str) -> Running {
        let agent = self.host.acp_agent(self.programs, &self.model.url());
        let quoted = |word: &std::ffi::OsStr| format!("'{}'", word.to_string_lossy());
        let words: Vec<String> = std::iter::once(agent.get_program())
            .chain(agent.get_args())
            .map(quoted)
            .collect();
        let cli = self.bin.join("agent");
        std::fs::write(&cli, format!("#!/bin/sh\nexec {}\n", words.join(" "))).expect("a script");
        std::fs::set_permissions(&cli, std::fs::Permissions::from_mode(0o755)).expect("a script that runs");
        let mut command = Command::new(self.home.binary());
        command.args(["agent", "run", "--via", "acp", prompt]);
        for (name, value) in agent.get_envs() {
            command.env(name, value.unwrap_or_default());
        }
        command.current_dir(self.project());
        self.start_as(command)
    }

    fn start_as(&self, mut command: Command) -> Running {
        self.furnish(&mut command);
        command.process_group(0);
        Running {
            client: Client::start(&mut command, b""),
        }
    }
}

/// A host that runs; its process group is killed at the end.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) client: Client,
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(group) = i32::try_from(self.client.pid()).ok().and_then(Pid::from_raw) {
            // Fails when all of them have ended.
            let _ = rustix::process::kill_process_group(group, Signal::KILL);
        }
    }
}

/// Answers by rules, once per question, and declines everything else.
#[derive(Debug)]
pub(crate) struct Human<'a> {
    scene: &'a Scene,
    rules: &'a [Rule<'a>],
    kills_brokers: bool,
    thinks: Duration,
    seen: Vec<(CueId, Instant)>,
    /// A rule holds for one question: what an agent says later may repeat its words.
    used: Vec<usize>,
    pub(crate) asked: Vec<CueView>,
}

impl<'a> Human<'a> {
    pub(crate) fn new(scene: &'a Scene, rules: &'a [Rule<'a>]) -> Self {
        Self {
            scene,
            rules,
            kills_brokers: false,
            thinks: Duration::ZERO,
            seen: Vec::new(),
            used: Vec::new(),
            asked: Vec::new(),
        }
    }

    /// Looks until this is so, or for as long as a slow machine may need.
    pub(crate) fn looks_until(&mut self, is_so: impl Fn(&Self) -> bool) {
        within(PATIENCE * 2, || {
            self.look();
            is_so(self).then_some(())
        });
    }

    /// Deals with the questions that somebody waits for.
    pub(crate) fn look(&mut self) {
        for cue in self.scene.home.open_cues() {
            let is_known = self.asked.iter().any(|known| known.cue_id == cue.cue_id);
            if is_known || cue.waiting == 0 {
                continue;
            }
            let first = self.seen.iter().find(|(known, _)| *known == cue.cue_id);
            let since = first.map_or_else(Instant::now, |(_, since)| *since);
            if first.is_none() {
                self.seen.push((cue.cue_id, since));
            }
            if since.elapsed() < self.thinks {
                continue;
            }
            let id = cue.cue_id.to_string();
            let mut rules = self.rules.iter().enumerate();
            let rule =
                rules.find(|(index, rule)| cue.prompt.contains(rule.about) && !self.used.contains(index));
            self.used.extend(rule.map(|(index, _)| index));
            let rule = rule.map(|(_, rule)| rule);
            let mut words = vec![if rule.is_some() { "answer" } else { "decline" }, id.as_str()];
            words.extend(rule.map_or(&[] as &[&str], |rule| rule.answer));
            if self.kills_brokers {
                self.scene.home.kill_broker();
            }
            // A question that was settled meanwhile is no failure.
            self.scene.home.run(&words);
            self.asked.push(cue);
        }
    }
}
