//! The rules of the proxy: a line or an answer in, actions out. No I/O and no clock.
//!
//! A question is open in the editor and in the inbox at once. The first answer takes it out of `open`; the other place
//! is withdrawn, and later messages about it are dropped.

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::PathBuf;

use adapter_core::acp::{AcpQuestion, ToolCalls};
use protocol_spec::message::DeliveredOutcome;
use protocol_spec::truncate::tail;
use runtimes::shell::agent_call::is_agent_call;
use serde_json::{Value, json};
use uuid::Uuid;

use super::message::{Message, notification, request, response, text};

/// The most sessions that are followed; the oldest is forgotten.
const SESSIONS_MAX: usize = 64;
/// The most requests of either side that wait for a reply.
const REQUESTS_MAX: usize = 1024;
/// The size of the end of an agent's text that the human reads.
const WORDS_BYTES_MAX: usize = 64 * 1024;
/// The most prompts of the editor that wait for a turn which the inbox began.
const HELD_MAX: usize = 16;

/// The human has answered in the editor.
const DECIDED_IN_EDITOR: &str = "the human decided in the editor";
/// The human goes on in the editor.
const CONTINUED_IN_EDITOR: &str = "the human continued in the editor";
/// The agent takes its question back.
const WITHDRAWN_BY_AGENT: &str = "the agent withdrew this";

/// A question that is open in both places.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// A request of the agent, by its id as JSON.
    Request(String),
    /// The end of a turn, by a number of its own.
    Turn(u64),
}

/// An action of the proxy.
#[derive(Debug, PartialEq)]
pub(super) enum Action {
    /// Writes the line to the other side, byte by byte.
    Pass,
    /// Writes a line to the agent.
    ToAgent(Vec<u8>),
    /// Writes a line to the editor.
    ToEditor(Vec<u8>),
    /// Asks in the inbox.
    Ask(Key, InboxQuestion),
    /// Closes a question of the inbox.
    Withdraw(Key, &'static str),
}

/// A question for the inbox, and its origin.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct InboxQuestion {
    pub(super) session: String,
    pub(super) folder: Option<PathBuf>,
    pub(super) about: About,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum About {
    /// A request of the agent.
    Question(AcpQuestion),
    /// A turn that ended, with the agent's last words.
    TurnEnd(String),
}

/// The outcome of a question in the inbox.
#[derive(Debug)]
pub(super) enum InboxReply {
    /// The outcome of each form of a request.
    Outcomes(Vec<DeliveredOutcome>),
    /// The next instruction to the agent.
    Next(String),
    /// Nothing that the agent needs to hear.
    Nothing,
}

#[derive(Debug, Default)]
struct Session {
    folder: Option<PathBuf>,
    turn: Turn,
    words: String,
    /// Prompts of the editor that wait for the end of our turn.
    held: VecDeque<Vec<u8>>,
    /// The open question about the end of its last turn.
    asked: Option<u64>,
}

#[derive(Debug, Default, PartialEq)]
enum Turn {
    #[default]
    None,
    Editors,
    Ours,
}

/// A request of the editor whose reply the proxy needs.
#[derive(Debug)]
enum Pending {
    NewSession(Option<PathBuf>),
    Prompt(String),
}

/// The state of one connection.
#[derive(Debug, Default)]
pub(super) struct Proxy {
    calls: ToolCalls,
    /// Oldest first.
    sessions: VecDeque<(String, Session)>,
    /// Requests of the editor, and prompts of ours, by their ids.
    pending: HashMap<String, Pending>,
    open: HashMap<Key, InboxQuestion>,
    /// Requests of the agent that the inbox answered, whose replies by the editor are dropped.
    answered: HashSet<String>,
    turns: u64,
    own_programs: Vec<String>,
}

impl Proxy {
    /// Describes a connection before its first message; `own_programs` are the paths of this program.
    pub(super) fn new(own_programs: Vec<String>) -> Self {
        Self {
            own_programs,
            ..Self::default()
        }
    }

    /// Decides what follows a line of the editor.
    pub(super) fn editor_line(&mut self, line: &[u8]) -> Vec<Action> {
        match Message::read(line) {
            Some(Message::Request { id, method, params }) => self.editor_asks(&id, &method, &params, line),
            Some(Message::Response { id, .. }) => self.editor_answers(&id),
            Some(Message::Notification { method, params }) if method == "session/cancel" => {
                let mut actions = self.end_question(text(&params, "sessionId"));
                actions.push(Action::Pass);
                actions
            }
            Some(Message::Notification { .. }) | None => vec![Action::Pass],
        }
    }

    /// Decides what follows a line of the agent.
    pub(super) fn agent_line(&mut self, line: &[u8]) -> Vec<Action> {
        match Message::read(line) {
            Some(Message::Request { id, method, params }) => self.agent_asks(&id, &method, &params),
            Some(Message::Response { id, result }) => self.agent_answers(&id, &result),
            Some(Message::Notification { method, params }) => self.agent_tells(&method, &params),
            None => vec![Action::Pass],
        }
    }

    /// Decides what follows an answer of the inbox; nothing, when the editor was first.
    pub(super) fn inbox_answer(&mut self, key: &Key, heard: &InboxReply) -> Vec<Action> {
        let Some(asked) = self.open.remove(key) else {
            return Vec::new();
        };
        match (key, asked.about, heard) {
            (Key::Request(id), About::Question(question), InboxReply::Outcomes(told)) => {
                let result = question.result(told, &self.calls);
                self.answer_agent(id, &result)
            }
            (Key::Turn(_), About::TurnEnd(_), InboxReply::Next(words)) => {
                self.begin_turn(&asked.session, words)
            }
            _ => {
                if let Some(session) = self.session(&asked.session) {
                    session.asked = None;
                }
                Vec::new()
            }
        }
    }

    /// Takes every open question out; nobody is asked any more.
    pub(super) fn close(&mut self) -> Vec<Key> {
        self.open.drain().map(|(key, _)| key).collect()
    }

    fn editor_asks(&mut self, id: &Value, method: &str, params: &Value, line: &[u8]) -> Vec<Action> {
        let folder = text(params, "cwd").map(PathBuf::from);
        let session = text(params, "sessionId");
        match (method, session) {
            ("session/new", _) => self.remember(id, Pending::NewSession(folder)),
            ("session/load" | "session/resume", Some(session)) => self.known(session).folder = folder,
            ("session/prompt", Some(session)) => return self.editor_prompts(id, session, line),
            _ => {}
        }
        vec![Action::Pass]
    }

    fn editor_prompts(&mut self, id: &Value, session: &str, line: &[u8]) -> Vec<Action> {
        let known = self.known(session);
        if known.turn == Turn::Ours && known.held.len() < HELD_MAX {
            known.held.push_back(line.to_vec());
            self.remember(id, Pending::Prompt(session.to_owned()));
            return Vec::new();
        }
        known.turn = Turn::Editors;
        known.words.clear();
        let mut actions = self.end_question(Some(session));
        self.remember(id, Pending::Prompt(session.to_owned()));
        actions.push(Action::Pass);
        actions
    }

    fn editor_answers(&mut self, id: &Value) -> Vec<Action> {
        let id = id.to_string();
        if self.answered.remove(&id) {
            return Vec::new();
        }
        let key = Key::Request(id);
        match self.open.remove(&key) {
            Some(_) => vec![Action::Withdraw(key, DECIDED_IN_EDITOR), Action::Pass],
            None => vec![Action::Pass],
        }
    }

    fn agent_asks(&mut self, id: &Value, method: &str, params: &Value) -> Vec<Action> {
        let session = text(params, "sessionId")
            .or_else(|| self.running())
            .unwrap_or_default()
            .to_owned();
        let folder = self.session(&session).and_then(|session| session.folder.clone());
        let Some(question) = AcpQuestion::read(method, params, &self.calls, folder.as_deref()) else {
            return vec![Action::Pass];
        };
        let is_ours = question
            .command()
            .is_some_and(|command| is_agent_call(command, &self.own_programs));
        // An agent needs no permission to ask a human.
        if let Some(allowed) = question.allow_once().filter(|_| is_ours) {
            return vec![Action::ToAgent(line_of(&response(id, &allowed)))];
        }
        if self.open.len() >= REQUESTS_MAX {
            return vec![Action::Pass];
        }
        let key = Key::Request(id.to_string());
        let asked = InboxQuestion {
            session,
            folder,
            about: About::Question(question),
        };
        self.open.insert(key.clone(), asked.clone());
        vec![Action::Pass, Action::Ask(key, asked)]
    }

    fn agent_answers(&mut self, id: &Value, result: &Value) -> Vec<Action> {
        match self.pending.remove(&id.to_string()) {
            Some(Pending::NewSession(folder)) => {
                if let Some(session) = text(result, "sessionId") {
                    self.known(session).folder = folder;
                }
                vec![Action::Pass]
            }
            Some(Pending::Prompt(session)) => self.end_turn(&session, result),
            None => vec![Action::Pass],
        }
    }

    fn agent_tells(&mut self, method: &str, params: &Value) -> Vec<Action> {
        if method == "$/cancel_request" {
            let key = Key::Request(params.get("requestId").cloned().unwrap_or_default().to_string());
            return match self.open.remove(&key) {
                Some(_) => vec![Action::Withdraw(key, WITHDRAWN_BY_AGENT), Action::Pass],
                None => vec![Action::Pass],
            };
        }
        if let (Some(session), Some(update)) = (text(params, "sessionId"), params.get("update")) {
            self.calls.learn(update);
            let said = text(update, "sessionUpdate") == Some("agent_message_chunk");
            if let Some(words) = update
                .get("content")
                .and_then(|content| text(content, "text"))
                .filter(|_| said)
            {
                self.known(session).say(words);
            }
        }
        vec![Action::Pass]
    }

    /// Ends a turn: the editor's reply passes, ours does not, and a turn that ended by itself becomes a question.
    fn end_turn(&mut self, session: &str, result: &Value) -> Vec<Action> {
        let is_silent = text(result, "stopReason") == Some("end_turn");
        self.turns += 1;
        let number = self.turns;
        let (key, known) = (Key::Turn(number), self.known(session));
        let was_ours = std::mem::take(&mut known.turn) == Turn::Ours;
        let mut actions = if was_ours { Vec::new() } else { vec![Action::Pass] };
        if let Some(held) = known.held.pop_front() {
            known.turn = Turn::Editors;
            known.words.clear();
            actions.push(Action::ToAgent(held));
            return actions;
        }
        if is_silent {
            let asked = InboxQuestion {
                session: session.to_owned(),
                folder: known.folder.clone(),
                about: About::TurnEnd(std::mem::take(&mut known.words)),
            };
            known.asked = Some(number);
            self.open.insert(key.clone(), asked.clone());
            actions.push(Action::Ask(key, asked));
        }
        actions
    }

    /// Gives the agent the human's words, and shows them in the editor.
    fn begin_turn(&mut self, session: &str, words: &str) -> Vec<Action> {
        let id = format!("cueme-{}", Uuid::new_v4());
        self.remember(&json!(id), Pending::Prompt(session.to_owned()));
        let known = self.known(session);
        (known.turn, known.asked) = (Turn::Ours, None);
        known.words.clear();
        let content = json!({"type": "text", "text": words});
        let shown = json!({"sessionId": session, "update": {"sessionUpdate": "user_message_chunk", "content": content}});
        let prompt = json!({"sessionId": session, "prompt": [content]});
        vec![
            Action::ToEditor(line_of(&notification("session/update", &shown))),
            Action::ToAgent(line_of(&request(&id, "session/prompt", &prompt))),
        ]
    }

    /// Gives the agent its reply, and takes the request back from the editor, which may ignore that.
    fn answer_agent(&mut self, id: &str, result: &Value) -> Vec<Action> {
        let value: Value = serde_json::from_str(id).unwrap_or_default();
        if self.answered.len() < REQUESTS_MAX {
            self.answered.insert(id.to_owned());
        }
        vec![
            Action::ToAgent(line_of(&response(&value, result))),
            Action::ToEditor(line_of(&notification(
                "$/cancel_request",
                &json!({"requestId": value}),
            ))),
        ]
    }

    /// Closes the question about the end of a session's last turn.
    fn end_question(&mut self, session: Option<&str>) -> Vec<Action> {
        let asked = session.and_then(|session| self.session(session)?.asked.take());
        let key = asked.map(Key::Turn).filter(|key| self.open.contains_key(key));
        let Some(key) = key else { return Vec::new() };
        self.open.remove(&key);
        vec![Action::Withdraw(key, CONTINUED_IN_EDITOR)]
    }

    fn remember(&mut self, id: &Value, pending: Pending) {
        if self.pending.len() < REQUESTS_MAX {
            self.pending.insert(id.to_string(), pending);
        }
    }

    /// Returns the session whose turn runs, for requests that do not name one.
    fn running(&self) -> Option<&str> {
        let running = self
            .sessions
            .iter()
            .rev()
            .find(|(_, session)| session.turn != Turn::None);
        running.map(|(id, _)| id.as_str())
    }

    fn session(&mut self, id: &str) -> Option<&mut Session> {
        let found = self.sessions.iter_mut().find(|(known, _)| known == id);
        found.map(|(_, session)| session)
    }

    fn known(&mut self, id: &str) -> &mut Session {
        let place = match self.sessions.iter().position(|(known, _)| known == id) {
            Some(place) => place,
            None => {
                if self.sessions.len() == SESSIONS_MAX {
                    self.sessions.pop_front();
                }
                self.sessions.push_back((id.to_owned(), Session::default()));
                self.sessions.len() - 1
            }
        };
        &mut self.sessions[place].1
    }
}

impl Session {
    fn say(&mut self, words: &str) {
        self.words.push_str(words);
        if self.words.len() > 2 * WORDS_BYTES_MAX {
            self.words = tail(&self.words, WORDS_BYTES_MAX).to_owned();
        }
    }
}

fn line_of(message: &Value) -> Vec<u8> {
    format!("{message}\n").into_bytes()
}
