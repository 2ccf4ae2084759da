//! Takes answers in the terminal in which an agent is driven.
//!
//! The dialogue of `cueme answer` runs as a program of its own, so that it can be withdrawn at any moment: when the page
//! answers first, it is ended and the terminal is as it was before.

use std::io::{self, IsTerminal};
use std::process::{Child, Command};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use protocol_spec::endpoint::Places;
use protocol_spec::id::{AgentId, CueId};
use protocol_spec::message::CueView;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

use super::view::View;
use crate::client::{Watched, watch};
use crate::command::inbox;
use crate::environment;
use crate::error::CliError;

/// The polling interval for an end of the dialogue.
const TICK: Duration = Duration::from_millis(100);

/// Takes answers until it is dropped.
#[derive(Debug)]
pub(super) struct TerminalAnswers {
    dialogues: Arc<Mutex<Dialogues>>,
}

/// The dialogue that runs now, and what was asked before.
#[derive(Debug)]
struct Dialogues {
    dialogue: Option<(CueId, Child)>,
    /// The open questions of the agent, oldest first.
    open: Vec<CueId>,
    /// Questions that were dealt with here.
    left: Vec<CueId>,
    before: Option<Termios>,
    is_over: bool,
}

impl TerminalAnswers {
    /// Begins, where a person sits at a terminal.
    pub(super) fn begin(places: &Places, agent: &AgentId, view: &View) -> Option<Self> {
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return None;
        }
        let dialogues = Arc::new(Mutex::new(Dialogues {
            dialogue: None,
            open: Vec::new(),
            left: Vec::new(),
            before: tcgetattr(io::stdin()).ok(),
            is_over: false,
        }));
        let (shared, places, agent, view) = (
            Arc::clone(&dialogues),
            places.clone(),
            agent.clone(),
            view.clone(),
        );
        thread::spawn(move || {
            // If the broker goes away, the next call starts it again.
            while !lock(&shared).is_over {
                let looked = watch(&places, Some(TICK), |watched| {
                    // Between two events only the dialogue can have ended.
                    if !matches!(watched, Watched::Tick) {
                        let open = open_questions(&places, &agent)?;
                        lock(&shared).open = open;
                    }
                    lock(&shared).look(&view);
                    Ok(())
                });
                if looked.is_err() {
                    thread::sleep(TICK);
                }
            }
        });
        Some(Self { dialogues })
    }
}

impl Drop for TerminalAnswers {
    fn drop(&mut self) {
        let mut dialogues = lock(&self.dialogues);
        dialogues.is_over = true;
        dialogues.end_dialogue();
    }
}

impl Dialogues {
    /// Begins the dialogue of a question that is open, and ends that of one that is not.
    fn look(&mut self, view: &View) {
        if self.is_over {
            return;
        }
        if let Some((cue, child)) = &mut self.dialogue {
            let cue = *cue;
            let is_open = self.open.contains(&cue);
            match child.try_wait() {
                Ok(None) if is_open => return,
                Ok(None) => {
                    self.end_dialogue();
                    view.remark("answered elsewhere");
                }
                // The event that it was answered may come a moment later; it is not asked here again either way.
                Ok(Some(status)) => {
                    self.end_dialogue();
                    self.left.push(cue);
                    if !status.success() {
                        view.remark(&format!(
                            "left open: answer with `cueme answer {cue}`, or on the page"
                        ));
                    }
                }
                Err(_) => self.end_dialogue(),
            }
        }
        let next = self.open.iter().copied().find(|cue| !self.left.contains(cue));
        self.dialogue = next.and_then(|cue| Some((cue, dialogue(cue)?)));
    }

    fn end_dialogue(&mut self) {
        if let Some((_, mut child)) = self.dialogue.take() {
            // Fails when it has ended already.
            let _ = child.kill();
            let _ = child.wait();
            if let Some(before) = &self.before {
                let _ = tcsetattr(io::stdin(), OptionalActions::Now, before);
            }
        }
    }
}

/// Returns the open questions of the agent, oldest first.
fn open_questions(places: &Places, agent: &AgentId) -> Result<Vec<CueId>, CliError> {
    let mut open: Vec<CueView> = inbox::open_cues(places)?;
    open.retain(|cue| cue.agent_id == *agent && cue.is_answerable());
    open.sort_by_key(|cue| cue.asked_at);
    Ok(open.into_iter().map(|cue| cue.cue_id).collect())
}

fn dialogue(cue: CueId) -> Option<Child> {
    let program = environment::executable().ok()?;
    Command::new(program)
        .args(["answer", &cue.to_string()])
        .spawn()
        .ok()
}

fn lock(dialogues: &Mutex<Dialogues>) -> MutexGuard<'_, Dialogues> {
    dialogues.lock().unwrap_or_else(PoisonError::into_inner)
}
