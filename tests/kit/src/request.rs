//! Requests as an agent and a human make them most of the time.

use protocol_spec::answer::Answer;
use protocol_spec::id::CueId;
use protocol_spec::message::{Ack, Ask, GiveAnswer, Join, Request};
use protocol_spec::outcome::{Kind, Origin};

/// Registers an agent of a runtime that works in a directory.
pub fn join(runtime: &str, project_dir: &str) -> Request {
    Request::Join(Join {
        runtime: runtime
            .parse()
            .unwrap_or_else(|_| panic!("not a runtime: {runtime}")),
        project_dir: project_dir.to_owned(),
        terminal: "zsh".to_owned(),
        session: None,
    })
}

/// Asks in words alone.
pub fn ask(agent: &str, prompt: &str) -> Request {
    Request::Ask(Ask {
        agent_id: agent.parse().unwrap_or_else(|_| panic!("not an agent: {agent}")),
        kind: Kind::Cue,
        prompt: prompt.to_owned(),
        payload: None,
        origin: Origin::Agent,
        nonce: None,
    })
}

/// Answers in words alone.
pub fn answer(cue: &str, text: &str) -> Request {
    Request::Answer(GiveAnswer {
        cue: cue.to_owned(),
        answer: Answer {
            text: Some(text.to_owned()),
            ..Answer::default()
        },
        by: None,
        hold_ms: 0,
    })
}

/// Acknowledges one outcome.
pub fn ack(cue: CueId) -> Request {
    Request::Ack(Ack {
        cue_ids: vec![cue],
        nonce: None,
    })
}
