//! Lists: one line per item, then `end`, so that no list is too long for a line.

use protocol_spec::id::RequestId;
use protocol_spec::message::{AgentView, CueView, End, ErrorCode, Failure, History, Reply};
use tokio::sync::mpsc;

use super::connection::{Connection, Ended};
use super::dispatch::{find_agent, find_cue, read, stopping};
use crate::broker::blocking;
use crate::listening::Listening;
use crate::store::{HistoryQuery, Reader, StoreError};

/// How many items are read ahead of the caller.
const READ_AHEAD: usize = 16;
/// How many questions a history has unless told otherwise.
const HISTORY_DEFAULT: u32 = 50;
/// How many questions a history has at most.
const HISTORY_MAX: u32 = 10_000;

/// Lists the open questions.
pub(super) async fn inbox(connection: &mut Connection, id: RequestId) -> Result<(), Ended> {
    connection.broker.engine().human_seen();
    cues(connection, id, |reader, visit| {
        reader.inbox(visit).map(|()| false)
    })
    .await
}

/// Lists the questions that a queued answer answered and no human has looked at.
pub(super) async fn unseen(connection: &mut Connection, id: RequestId) -> Result<(), Ended> {
    connection.broker.engine().human_seen();
    cues(connection, id, |reader, visit| {
        reader.unseen(visit).map(|()| false)
    })
    .await
}

/// Lists past and present questions.
pub(super) async fn history(
    connection: &mut Connection,
    id: RequestId,
    history: History,
) -> Result<(), Ended> {
    connection.broker.engine().human_seen();
    let agent = match &history.agent {
        Some(prefix) => match find_agent(connection, prefix).await {
            Ok(agent) => Some(agent),
            Err(failure) => return connection.fail(id, failure).await,
        },
        None => None,
    };
    if history.search.is_some() {
        connection.broker.engine().catch_up().await.ok();
    }
    let query = HistoryQuery {
        agent,
        search: history.search,
        before: history.before,
        limit: history.limit.unwrap_or(HISTORY_DEFAULT).min(HISTORY_MAX),
    };
    cues(connection, id, move |reader, visit| reader.history(&query, visit)).await
}

/// Lists the agents.
pub(super) async fn agents(connection: &mut Connection, id: RequestId) -> Result<(), Ended> {
    let Some(listening) = listening(connection, id).await? else {
        return Ok(());
    };
    list(
        connection,
        id,
        |reader, visit: &mut dyn FnMut(AgentView) -> bool| reader.agents(visit).map(|()| false),
        move |mut agent| {
            agent.waiting = listening.agent(&agent.agent_id);
            Reply::Agent(Box::new(agent))
        },
    )
    .await
}

/// Shows one question whole, and notes that a human has looked at it.
pub(super) async fn seen(connection: &mut Connection, id: RequestId, prefix: &str) -> Result<(), Ended> {
    if let Ok(cue) = find_cue(connection, prefix).await {
        // A question that could not be marked is merely listed once more.
        let _ = connection
            .broker
            .engine()
            .write(move |store, _| store.mark_seen(cue))
            .await;
    }
    show(connection, id, prefix).await
}

/// Shows one question whole.
pub(super) async fn show(connection: &mut Connection, id: RequestId, prefix: &str) -> Result<(), Ended> {
    connection.broker.engine().human_seen();
    let cue = match find_cue(connection, prefix).await {
        Ok(cue) => cue,
        Err(failure) => return connection.fail(id, failure).await,
    };
    one(
        connection,
        id,
        Failure::new(ErrorCode::UnknownCue, format!("there is no question {cue}"))
            .with_hint("`cueme inbox` lists the open questions, `cueme history` the others"),
        move |reader| reader.cue(cue),
    )
    .await
}

/// Returns the last answer an agent was given.
pub(super) async fn last(connection: &mut Connection, id: RequestId, prefix: &str) -> Result<(), Ended> {
    let agent = match find_agent(connection, prefix).await {
        Ok(agent) => agent,
        Err(failure) => return connection.fail(id, failure).await,
    };
    let missing = Failure::new(
        ErrorCode::UnknownCue,
        format!("agent {agent} has not been answered yet"),
    )
    .with_hint("`cueme inbox` lists what agents ask");
    one(connection, id, missing, move |reader| {
        reader.last_answered(&agent)
    })
    .await
}

async fn one(
    connection: &mut Connection,
    id: RequestId,
    missing: Failure,
    find: impl FnOnce(&Reader) -> Result<Option<CueView>, StoreError> + Send + 'static,
) -> Result<(), Ended> {
    let Some(listening) = listening(connection, id).await? else {
        return Ok(());
    };
    match read(connection, find).await {
        Ok(Some(cue)) => connection.send(id, &shown(&listening, cue)).await,
        Ok(None) => connection.fail(id, missing).await,
        Err(failure) => connection.fail(id, failure).await,
    }
}

async fn cues(
    connection: &mut Connection,
    id: RequestId,
    read: impl FnOnce(&Reader, &mut dyn FnMut(CueView) -> bool) -> Result<bool, StoreError> + Send + 'static,
) -> Result<(), Ended> {
    let Some(listening) = listening(connection, id).await? else {
        return Ok(());
    };
    list(connection, id, read, move |cue| shown(&listening, cue)).await
}

/// Reads items on a thread of its own and sends each as it comes.
async fn list<T: Send + 'static>(
    connection: &mut Connection,
    id: RequestId,
    read: impl FnOnce(&Reader, &mut dyn FnMut(T) -> bool) -> Result<bool, StoreError> + Send + 'static,
    show: impl Fn(T) -> Reply,
) -> Result<(), Ended> {
    let (sender, mut items) = mpsc::channel(READ_AHEAD);
    let broker = std::sync::Arc::clone(&connection.broker);
    let reading = tokio::spawn(blocking(move || {
        // A caller that has left needs no more items.
        read(broker.reader(), &mut |item| sender.blocking_send(item).is_ok())
    }));
    while let Some(item) = items.recv().await {
        connection.send(id, &show(item)).await?;
    }
    match reading.await {
        Ok(Ok(more)) => connection.send(id, &Reply::End(End { more })).await,
        Ok(Err(failure)) => connection.fail(id, failure).await,
        Err(error) => {
            connection
                .fail(id, Failure::new(ErrorCode::Internal, error.to_string()))
                .await
        }
    }
}

fn shown(listening: &Listening, mut cue: CueView) -> Reply {
    cue.fit();
    Reply::Cue(Box::new(listening.complete(cue)))
}

async fn listening(connection: &mut Connection, id: RequestId) -> Result<Option<Listening>, Ended> {
    match Listening::look(connection.broker.engine()).await {
        Ok(listening) => Ok(Some(listening)),
        Err(error) => connection.fail(id, stopping(&error)).await.map(|()| None),
    }
}
