//! A real terminal with a person's hands: a pane of `tmux`.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use crate::home::Home;
use crate::patience::PATIENCE;

/// How often the screen is looked at.
const LOOK: Duration = Duration::from_millis(20);

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
        let terminal = Self {
            directory: tempfile::Builder::new()
                .prefix("cueme-tmux-")
                .tempdir()
                .map_or_else(|error| panic!("{error}"), tempfile::TempDir::keep),
        };
        let quote = |word: &str| format!("'{}'", word.replace('\'', r"'\''"));
        let quoted: Vec<String> = words.iter().map(|word| quote(word)).collect();
        let set: Vec<String> = variables
            .iter()
            .map(|(name, value)| format!("{name}={}", quote(value)))
            .collect();
        // Ctrl-C is for the command alone; the shell lives on to tell how it ended.
        let script = format!(
            "trap : INT; CUEME_HOME='{}' {} '{}' {}; echo \"exit=$?\"; exec sleep 600",
            home.path().display(),
            set.join(" "),
            home.binary().display(),
            quoted.join(" ")
        );
        let size = ["-x", "100", "-y", "40"];
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

    /// Returns what a person sees.
    pub fn screen(&self) -> String {
        let output = self.run(&["capture-pane", "-p"]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Waits until a person sees `text`, and returns the whole screen.
    #[track_caller]
    pub fn sees(&self, text: &str) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let screen = self.screen();
            if screen.contains(text) {
                return screen;
            }
            assert!(
                Instant::now() < deadline,
                "{text:?} is not on the screen:\n{screen}"
            );
            std::thread::sleep(LOOK);
        }
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
