//! Input and output: keys, signals and the broker become events of one queue, and one loop handles them.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;
use protocol_spec::message::{AgentView, Nothing, Reply, Request};
use ratatui::crossterm::event as terminal_event;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::screen::{Screen, suspend};
use super::state::{CallPurpose, Command, Event, Inbox, State};
use super::view::{Style, draw};
use crate::client::{Watched, call, expect_reply, list, watch};
use crate::command::{RECONNECT_PAUSE, listed};
use crate::dialogue::edit;
use crate::display::{Paint, now};
use crate::environment;
use crate::error::CliError;

/// The refresh interval of the times on the screen.
const TICK: Duration = Duration::from_secs(1);
/// The pause before retrying a broker that could not be reached or started.
const FAILED_PAUSE: Duration = Duration::from_secs(2);

/// An input of the loop.
#[derive(Debug)]
enum Input {
    Event(Event),
    /// A terminal event. The reader pauses until it is handled, so that an external editor gets its own keys.
    Terminal(Event),
    /// The program has to end.
    Stop(Exit),
}

/// Runs the inbox until the person leaves it.
pub(crate) fn run(places: &Places, has_mouse: bool) -> Result<Exit, CliError> {
    // Read before the screen is taken, so that the error of an unreachable broker stays in the terminal.
    let first = read_inbox(places)?;
    let (sender, receiver) = mpsc::channel();
    watch_signals(&sender)?;
    let mut screen = Screen::enter().map_err(|error| broken(&error))?;
    screen.set_mouse(has_mouse).map_err(|error| broken(&error))?;
    let resume_reader = watch_terminal(&sender);
    watch_broker(places, &sender);
    let _ = sender.send(Input::Event(Event::Inbox(first)));
    let exit = serve(places, &mut screen, (&sender, &receiver), &resume_reader);
    drop(screen);
    exit
}

fn serve(
    places: &Places,
    screen: &mut Screen,
    (sender, receiver): (&Sender<Input>, &Receiver<Input>),
    resume_reader: &Sender<()>,
) -> Result<Exit, CliError> {
    let size = screen.terminal.size().map_err(|error| broken(&error))?;
    let mut state = State::new(environment::user(), (size.width, size.height), now());
    state.set_mouse(screen.has_mouse());
    let style = Style {
        has_colours: !Paint::is_unwanted(),
    };
    loop {
        let drawn = screen.terminal.draw(|frame| draw(frame, &state, style));
        drawn.map_err(|error| broken(&error))?;
        // A test sees that the terminal is given back; no released program has this.
        if cfg!(debug_assertions) && environment::variable("CUEME_TEST_TUI_PANIC").is_some() {
            panic!("asked to panic by CUEME_TEST_TUI_PANIC");
        }
        let mut input = match receiver.recv_timeout(TICK) {
            Ok(input) => Some(input),
            Err(RecvTimeoutError::Timeout) => Some(Input::Event(Event::Tick)),
            Err(RecvTimeoutError::Disconnected) => return Ok(Exit::Done),
        };
        // All events that have arrived meanwhile are drawn at once.
        while let Some(taken) = input {
            let (event, is_terminal) = match taken {
                Input::Event(event) => (event, false),
                Input::Terminal(event) => (event, true),
                Input::Stop(exit) => return Ok(exit),
            };
            for command in state.handle(event, now()) {
                match command {
                    Command::Quit => return Ok(Exit::Done),
                    Command::Call(about, request) => spawn_call(places, about, request, sender),
                    Command::Mouse(is_ours) => screen.set_mouse(is_ours).map_err(|error| broken(&error))?,
                    Command::Suspend => screen.lend(suspend).map_err(|error| broken(&error))?,
                    Command::Edit(text) => {
                        let edited = screen.lend(|| edit(&text)).map_err(|error| broken(&error))?;
                        let _ = sender.send(Input::Event(Event::Edited(edited)));
                    }
                }
            }
            if is_terminal {
                // The send fails if the reader has ended; it has sent `Stop`.
                let _ = resume_reader.send(());
            }
            input = receiver.try_recv().ok();
        }
    }
}

/// Turns the signals that end a program into an orderly end.
fn watch_signals(sender: &Sender<Input>) -> Result<(), CliError> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(|error| broken(&error))?;
    let sender = sender.clone();
    thread::spawn(move || {
        for signal in signals.forever() {
            let exit = if signal == SIGINT {
                Exit::Interrupted
            } else {
                Exit::Terminated
            };
            if sender.send(Input::Stop(exit)).is_err() {
                return;
            }
        }
    });
    Ok(())
}

/// Reads the terminal, one event at a time; the next one is read when the returned sender says so.
fn watch_terminal(sender: &Sender<Input>) -> Sender<()> {
    let (resume_reader, gate) = mpsc::channel();
    let sender = sender.clone();
    thread::spawn(move || {
        loop {
            let event = match terminal_event::read() {
                Ok(terminal_event::Event::Key(key)) => Event::Key(key),
                Ok(terminal_event::Event::Mouse(mouse)) => Event::Mouse(mouse),
                Ok(terminal_event::Event::Paste(text)) => Event::Paste(text),
                Ok(terminal_event::Event::Resize(columns, rows)) => Event::Resize(columns, rows),
                Ok(_) => continue,
                // The terminal is gone.
                Err(_) => {
                    let _ = sender.send(Input::Stop(Exit::Terminated));
                    return;
                }
            };
            if sender.send(Input::Terminal(event)).is_err() || gate.recv().is_err() {
                return;
            }
        }
    });
    resume_reader
}

/// Reads the inbox anew whenever the broker tells of a change; comes back by itself when the broker does.
fn watch_broker(places: &Places, sender: &Sender<Input>) {
    let (places, sender) = (places.clone(), sender.clone());
    thread::spawn(move || {
        loop {
            let watched = watch(&places, None, |watched| {
                if !matches!(watched, Watched::Tick) {
                    let inbox = read_inbox(&places)?;
                    let _ = sender.send(Input::Event(Event::Inbox(inbox)));
                }
                Ok(())
            });
            let (why, pause) = match watched {
                Ok(()) => ("the broker went away".to_owned(), RECONNECT_PAUSE),
                Err(error) => (words_of(&error), FAILED_PAUSE),
            };
            if sender.send(Input::Event(Event::Lost(why))).is_err() {
                return;
            }
            thread::sleep(pause);
        }
    });
}

fn read_inbox(places: &Places) -> Result<Inbox, CliError> {
    let mut agents: Vec<AgentView> = Vec::new();
    list(places, &Request::Agents(Nothing {}), |reply| {
        let agent = *expect_reply!(reply, Agent)?;
        agents.extend((!agent.archived).then_some(agent));
        Ok(())
    })?;
    Ok(Inbox {
        cues: listed(places, &Request::Inbox(Nothing {}))?,
        unseen: listed(places, &Request::Unseen(Nothing {}))?,
        agents,
    })
}

/// Makes a call on a thread of its own, so that the screen never waits for the broker.
fn spawn_call(places: &Places, about: CallPurpose, request: Request, sender: &Sender<Input>) {
    let (places, sender) = (places.clone(), sender.clone());
    thread::spawn(move || {
        let result = make_call(&places, &request).map_err(|error| words_of(&error));
        let _ = sender.send(Input::Event(Event::Reply(about, result)));
    });
}

fn make_call(places: &Places, request: &Request) -> Result<Vec<Reply>, CliError> {
    if !matches!(request, Request::History(_)) {
        return call(places, request).map(|reply| vec![reply]);
    }
    let mut replies = Vec::new();
    list(places, request, |reply| {
        replies.push(reply);
        Ok(())
    })?;
    Ok(replies)
}

/// Returns an error on one line.
fn words_of(error: &CliError) -> String {
    let text = error.to_string();
    text.trim_start_matches("error: ").replace("\nhint: ", "; ")
}

fn broken(error: &std::io::Error) -> CliError {
    CliError::new(Exit::Io, format!("could not talk to the terminal: {error}"))
}
