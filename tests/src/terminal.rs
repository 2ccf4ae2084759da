//! A real terminal with a person's hands: a pane of `tmux`.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Output};

use crate::home::Home;
use cueme_test_kit::{PATIENCE, within};

/// A terminal in which one command runs.
#[derive(Debug)]
pub struct Terminal {
    directory: PathBuf,
}

impl Terminal {
    /// Says whether there is a `tmux` to make terminals with.
    pub fn is_available() -> bool {
        Command::new("tmux")
            .arg("-V")
            .output()
            .is_ok_and(|output| output.status.success())
    }

    /// Opens a terminal of 100 by 40 and runs a command of `cueme` in it; its exit code is shown at the end.
    #[track_caller]
    pub fn open(home: &Home, words: &[&str]) -> Self {
        Self::open_with(home, &[], words)
    }

    /// Opens a terminal as [`open`](Self::open) does; the command has these variables too.
    #[track_caller]
    pub fn open_with(home: &Home, variables: &[(&str, &str)], words: &[&str]) -> Self {
        let mut command = Command::new(home.binary());
        command
            .args(words)
            .env("CUEME_HOME", home.path())
            .envs(variables.iter().copied());
        Self::running(&command)
    }

    /// Opens the same terminal and runs a prepared command, with its arguments, environment and directory.
    #[track_caller]
    pub fn running(command: &Command) -> Self {
        Self::sized(command, 100, 40)
    }

    /// Opens a terminal of this many columns and rows, as [`running`](Self::running) does.
    #[track_caller]
    pub fn sized(command: &Command, columns: u16, rows: u16) -> Self {
        let terminal = Self {
            directory: tempfile::Builder::new()
                .prefix("cueme-tmux-")
                .tempdir()
                .map_or_else(|error| panic!("{error}"), tempfile::TempDir::keep),
        };
        // Ctrl-C is for the command alone; the shell lives on to tell how it ended.
        let script = format!(
            "trap : INT; {}; echo \"exit=$?\"; exec sleep 600",
            shell_line(command)
        );
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let size = ["-x", &columns, "-y", &rows];
        let output = terminal
            .tmux()
            .args(["-f", "/dev/null", "new-session", "-d"])
            .args(size)
            .args(["env", "LANG=C.UTF-8", "sh", "-c", &script])
            .output();
        let output = output.unwrap_or_else(|error| panic!("could not run tmux: {error}"));
        assert!(output.status.success(), "{output:?}");
        terminal
    }

    /// Types some text.
    pub fn types(&self, text: &str) {
        self.run(&["send-keys", "-l", text]);
    }

    /// Presses a key by its name, such as `Enter` or `C-c`.
    pub fn press(&self, key: &str) {
        self.run(&["send-keys", key]);
    }

    /// Pastes some text, as a terminal does that was asked to bracket it.
    pub fn pastes(&self, text: &str) {
        self.run(&["set-buffer", "--", text]);
        self.run(&["paste-buffer", "-p"]);
    }

    /// Gives the terminal another size.
    pub fn resize(&self, columns: u16, rows: u16) {
        let (columns, rows) = (columns.to_string(), rows.to_string());
        self.run(&["resize-window", "-x", &columns, "-y", &rows]);
    }

    /// Returns a property of the terminal as `tmux` knows it, such as `alternate_on`.
    pub fn property(&self, name: &str) -> String {
        let output = self.run(&["display-message", "-p", &format!("#{{{name}}}")]);
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Returns what a person sees.
    pub fn screen(&self) -> String {
        let output = self.run(&["capture-pane", "-p"]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Returns what a person sees, with the escape sequences that paint it.
    pub fn painted(&self) -> String {
        let output = self.run(&["capture-pane", "-p", "-e"]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Waits until a person sees `text`, and returns the whole screen.
    #[track_caller]
    pub fn sees(&self, text: &str) -> String {
        let seen = within(PATIENCE, || {
            Some(self.screen()).filter(|screen| screen.contains(text))
        });
        seen.unwrap_or_else(|| panic!("{text:?} is not on the screen:\n{}", self.screen()))
    }

    fn run(&self, words: &[&str]) -> Output {
        self.tmux()
            .args(words)
            .output()
            .unwrap_or_else(|error| panic!("could not run tmux: {error}"))
    }

    fn tmux(&self) -> Command {
        let mut command = Command::new("tmux");
        command
            .arg("-u")
            .arg("-S")
            .arg(self.directory.join("s"))
            .env_remove("TMUX");
        command
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.run(&["kill-server"]);
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// Writes a command as a shell reads it.
fn shell_line(command: &Command) -> String {
    let mut words = Vec::new();
    if let Some(directory) = command.get_current_dir() {
        words.push(format!("cd {} &&", quoted(directory.as_os_str())));
    }
    words.push("env".to_owned());
    let envs = || command.get_envs();
    let unset = envs().filter(|(_, value)| value.is_none());
    words.extend(unset.map(|(name, _)| format!("-u {}", name.to_string_lossy())));
    let set = envs().filter_map(|(name, value)| Some((name, value?)));
    words.extend(set.map(|(name, value)| format!("{}={}", name.to_string_lossy(), quoted(value))));
    words.push(quoted(command.get_program()));
    words.extend(command.get_args().map(quoted));
    words.join(" ")
}

fn quoted(word: &OsStr) -> String {
    format!("'{}'", word.to_string_lossy().replace('\'', r"'\''"))
}
