//! The terminal while it is ours. However the program ends, it is left as it was.

use std::io::{self, Stdout, Write};

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use rustix::process::{Signal, getpid, kill_process};

/// The terminal in raw mode, on its other screen; dropping it brings back the first one.
#[derive(Debug)]
pub(super) struct Screen {
    pub(super) terminal: Terminal<CrosstermBackend<Stdout>>,
    has_mouse: bool,
}

impl Screen {
    /// Takes the terminal over. A panic of any thread gives it back before it is reported, and ends the program.
    pub(super) fn enter() -> io::Result<Self> {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            leave();
            report(panic);
            std::process::exit(101);
        }));
        take()?;
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout()));
        if terminal.is_err() {
            leave();
        }
        Ok(Self {
            terminal: terminal?,
            has_mouse: false,
        })
    }

    /// Says whether the mouse is ours.
    pub(super) fn has_mouse(&self) -> bool {
        self.has_mouse
    }

    /// Takes the mouse over, or gives it back to the terminal, which selects text with it.
    pub(super) fn set_mouse(&mut self, is_ours: bool) -> io::Result<()> {
        self.has_mouse = is_ours;
        if is_ours {
            execute!(io::stdout(), EnableMouseCapture)
        } else {
            execute!(io::stdout(), DisableMouseCapture)
        }
    }

    /// Gives the terminal back while `work` uses it.
    pub(super) fn lend<T>(&mut self, work: impl FnOnce() -> T) -> io::Result<T> {
        leave();
        let result = work();
        take()?;
        // A terminal that knows nothing of what was drawn draws all of it.
        self.terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        if self.has_mouse {
            self.set_mouse(true)?;
        }
        Ok(result)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        leave();
    }
}

/// Stops this program until the shell brings it back, as Ctrl-Z does.
pub(super) fn suspend() {
    // The terminal's job control decides; without a shell nothing stops.
    let _ = kill_process(getpid(), Signal::TSTP);
}

fn take() -> io::Result<()> {
    enable_raw_mode()?;
    let entered = execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste);
    if entered.is_err() {
        leave();
    }
    entered
}

/// Undoes everything. Each step is tried even if one before it failed: a terminal that is gone needs none of them.
fn leave() {
    let mut stdout = io::stdout();
    let _ = execute!(
        stdout,
        DisableMouseCapture,
        DisableBracketedPaste,
        LeaveAlternateScreen,
        Show
    );
    let _ = stdout.flush();
    let _ = disable_raw_mode();
}
