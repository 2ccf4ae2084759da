//! The caller of a connection, and its permissions.
//!
//! A process of the same user may do everything. A token allows what its scope says: a human's verbs, or the verbs of
//! its own agents. The broker itself is operated from its own machine alone.

use std::sync::Arc;

use protocol_spec::id::{AgentId, CueId, RequestId};
use protocol_spec::message::{
    ACKS_MAX, ErrorCode, Failure, Join, Joined, Recall, Reply, Request, TokenScope,
};

use super::check::check_session;
use super::operation::{join, recall};
use crate::broker::Broker;
use crate::engine::Work;
use crate::store::{Pass, Reader, StoreError, Token};
use crate::web::Web;

/// The caller of a connection.
#[derive(Debug)]
pub(crate) enum Caller {
    /// A process of the same user on this machine.
    Local,
    /// A program that presented a token.
    Remote(Box<Remote>),
}

/// A program elsewhere.
#[derive(Debug)]
pub(crate) struct Remote {
    pub(crate) web: Arc<Web>,
    pub(crate) token: Token,
}

/// The result of a request's authorization.
pub(super) enum Admitted {
    /// It is carried out like that of any caller.
    Request(Box<Request>),
    /// It was answered already, because the reply depends on the caller.
    Reply(Box<Reply>),
}

impl Caller {
    /// Says whether the token of the caller was revoked.
    pub(super) fn is_revoked(&self) -> bool {
        match self {
            Self::Local => false,
            Self::Remote(remote) => !remote.web.has_token(&remote.token),
        }
    }

    /// Returns the pass of the caller, unless it is a process of this machine.
    pub(super) fn pass(&self) -> Option<Pass> {
        match self {
            Self::Local => None,
            Self::Remote(remote) => Some(Pass::Token(remote.token.token_id.clone())),
        }
    }

    /// Says whether silence means that the caller is gone: programs elsewhere send something now and then.
    pub(super) fn is_remote(&self) -> bool {
        matches!(self, Self::Remote(_))
    }

    /// Authorizes a request and adds the caller's name to it, or refuses it.
    pub(super) async fn admit(&self, broker: &Arc<Broker>, request: Request) -> Result<Admitted, Failure> {
        let Self::Remote(remote) = self else {
            return Ok(Admitted::Request(Box::new(request)));
        };
        if self.is_revoked() {
            return Err(revoked());
        }
        match (request, remote.token.scope) {
            (request @ Request::Hello(_), _) => Ok(Admitted::Request(Box::new(request))),
            (request, TokenScope::Human) => as_human(&remote.token, request),
            (request, TokenScope::Join | TokenScope::Agent) => as_agent(broker, &remote.token, request).await,
        }
    }
}

/// A human reads and decides; the token's name is the author of its decisions.
fn as_human(token: &Token, mut request: Request) -> Result<Admitted, Failure> {
    let by = match &mut request {
        Request::Answer(give) if !give.answer.attachments.is_empty() => {
            return Err(
                forbidden("files are attached where the broker runs").with_hint("attach them on the page")
            );
        }
        Request::Answer(give) => Some(&mut give.by),
        Request::Decline(decline) => Some(&mut decline.by),
        Request::Cancel(cancel) => Some(&mut cancel.by),
        Request::Say(say) => Some(&mut say.by),
        Request::Undo(_)
        | Request::Inbox(_)
        | Request::Unseen(_)
        | Request::Agents(_)
        | Request::History(_)
        | Request::Show(_)
        | Request::Seen(_)
        | Request::Last(_)
        | Request::Watch(_) => None,
        other => return Err(not_for(other.name(), "a human")),
    };
    if let Some(by) = by {
        by.clone_from(&token.name);
    }
    Ok(Admitted::Request(Box::new(request)))
}

/// An agent speaks for itself: other agents, and their questions, do not exist for it.
async fn as_agent(broker: &Arc<Broker>, token: &Token, request: Request) -> Result<Admitted, Failure> {
    match &request {
        Request::Join(_) | Request::Recall(_) => {}
        Request::Bind(bind) => check_own_agent(broker, token, &bind.agent_id).await?,
        Request::Ask(ask) => check_own_agent(broker, token, &ask.agent_id).await?,
        Request::Collect(collect) => check_own_agent(broker, token, &collect.agent_id).await?,
        Request::Attach(attach) => check_own_cues(broker, token, &[attach.cue_id]).await?,
        Request::Rest(rest) => check_own_cues(broker, token, &[rest.cue_id]).await?,
        Request::File(file) => check_own_cues(broker, token, &[file.cue_id]).await?,
        // A longer one is refused as it is.
        Request::Ack(ack) if ack.cue_ids.len() > ACKS_MAX => {}
        Request::Ack(ack) => check_own_cues(broker, token, &ack.cue_ids).await?,
        other => return Err(not_for(other.name(), "an agent")),
    }
    let reply = match request {
        Request::Join(body) => Reply::Joined(join_with(broker, token, body).await?),
        Request::Recall(body) => recall_own(broker, token, body).await?,
        Request::Bind(mut bind) => {
            check_session(&bind.session)?;
            bind.session = session_of(token, &bind.session);
            return Ok(Admitted::Request(Box::new(Request::Bind(bind))));
        }
        other => return Ok(Admitted::Request(Box::new(other))),
    };
    Ok(Admitted::Reply(Box::new(reply)))
}

/// Registers an agent, which belongs to the token from then on.
pub(crate) async fn join_with(broker: &Arc<Broker>, token: &Token, body: Join) -> Result<Joined, Failure> {
    if token.scope != TokenScope::Join {
        return Err(forbidden("this token acts for one agent and cannot join another"));
    }
    let mut work = join::check_join(body)?;
    if let Work::Join { session, .. } = &mut work {
        *session = session.take().map(|session| session_of(token, &session));
    }
    let pass = Pass::Token(token.token_id.clone());
    let called = broker
        .engine()
        .call(Some(pass), None, RequestId(uuid::Uuid::now_v7()), work);
    match called.await?? {
        Reply::Joined(joined) => Ok(joined),
        other => {
            let message = format!("the engine replied \"{}\"", other.name());
            Err(Failure::new(ErrorCode::Internal, message))
        }
    }
}

/// Sessions of different tokens are different sessions.
fn session_of(token: &Token, session: &str) -> String {
    format!("{}:{session}", token.token_id)
}

async fn recall_own(broker: &Arc<Broker>, token: &Token, body: Recall) -> Result<Reply, Failure> {
    broker.engine().catch_up().await.ok();
    let token = token.clone();
    let found = broker.read(move |reader| {
        reader.recall_among(&body.hints, body.project_dir.as_deref(), &|agent| {
            owns(reader, &token, agent)
        })
    });
    Ok(Reply::Recalled(recall::recalled(found.await?)))
}

/// Refuses an agent of another token, with the same message as for one that does not exist.
pub(crate) async fn check_own_agent(
    broker: &Arc<Broker>,
    token: &Token,
    agent: &AgentId,
) -> Result<(), Failure> {
    let (token, agent) = (token.clone(), agent.clone());
    if broker.read(move |reader| owns(reader, &token, &agent)).await? {
        Ok(())
    } else {
        Err(
            Failure::new(ErrorCode::UnknownAgent, "this token has no such agent")
                .with_hint("join first, or use the token of that agent"),
        )
    }
}

/// Refuses questions of other agents in the same way.
pub(crate) async fn check_own_cues(
    broker: &Arc<Broker>,
    token: &Token,
    cues: &[CueId],
) -> Result<(), Failure> {
    let (token, wanted) = (token.clone(), cues.to_vec());
    let is_own = broker.read(move |reader| {
        for cue in wanted {
            let is_own = match reader.agent_of_cue(cue)? {
                Some(agent) => owns(reader, &token, &agent)?,
                None => false,
            };
            if !is_own {
                return Ok(false);
            }
        }
        Ok(true)
    });
    if is_own.await? {
        Ok(())
    } else {
        Err(Failure::new(
            ErrorCode::UnknownCue,
            "this token has no such question",
        ))
    }
}

/// Says whether a token may act for an agent.
pub(crate) fn owns(reader: &dyn Reader, token: &Token, agent: &AgentId) -> Result<bool, StoreError> {
    match token.scope {
        TokenScope::Agent => Ok(token.agent.as_ref() == Some(agent)),
        TokenScope::Join => Ok(reader.token_of_agent(agent)?.as_deref() == Some(token.token_id.as_str())),
        TokenScope::Human => Ok(false),
    }
}

fn not_for(operation: &str, whom: &str) -> Failure {
    forbidden(&format!("the token of {whom} does not allow `{operation}`"))
        .with_hint("run it where the broker runs, or use a token of another scope")
}

fn revoked() -> Failure {
    forbidden("the token was revoked").with_hint("run `cueme link` again")
}

fn forbidden(message: &str) -> Failure {
    Failure::new(ErrorCode::Forbidden, message)
}
