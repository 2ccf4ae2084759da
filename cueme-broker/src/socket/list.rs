//! Sends lists: one line per item, then `end`, so that no list is too long for a line.

use protocol_spec::id::RequestId;
use protocol_spec::message::{CueView, End, ErrorCode, Failure, Reply};
use tokio::sync::mpsc;

use super::connection::{Connection, Ended};
use crate::broker::blocking;
use crate::presence::Presence;
use crate::store::{Reader, StoreError};

/// The number of items that are read ahead of the caller.
const READ_AHEAD: usize = 16;

/// Sends one question, or says that there is none.
pub(super) async fn one(
    connection: &mut Connection,
    id: RequestId,
    missing: Failure,
    find: impl FnOnce(&dyn Reader) -> Result<Option<CueView>, StoreError> + Send + 'static,
) -> Result<(), Ended> {
    let Some(presence) = presence(connection, id).await? else {
        return Ok(());
    };
    match connection.broker.read(find).await {
        Ok(Some(cue)) => connection.send(id, &shown(&presence, cue)).await,
        Ok(None) => connection.fail(id, missing).await,
        Err(failure) => connection.fail(id, failure).await,
    }
}

/// Sends questions.
pub(super) async fn cues(
    connection: &mut Connection,
    id: RequestId,
    read: impl FnOnce(&dyn Reader, &mut dyn FnMut(CueView) -> bool) -> Result<bool, StoreError> + Send + 'static,
) -> Result<(), Ended> {
    let Some(presence) = presence(connection, id).await? else {
        return Ok(());
    };
    list(connection, id, read, move |cue| shown(&presence, cue)).await
}

/// Reads items on a thread of its own and sends each as it comes.
pub(super) async fn list<T: Send + 'static>(
    connection: &mut Connection,
    id: RequestId,
    read: impl FnOnce(&dyn Reader, &mut dyn FnMut(T) -> bool) -> Result<bool, StoreError> + Send + 'static,
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

fn shown(presence: &Presence, mut cue: CueView) -> Reply {
    cue.fit();
    Reply::Cue(Box::new(presence.complete(cue)))
}

/// Reads the presence; `None` when the caller was told that the broker stops.
pub(super) async fn presence(connection: &mut Connection, id: RequestId) -> Result<Option<Presence>, Ended> {
    match Presence::read(connection.broker.engine()).await {
        Ok(presence) => Ok(Some(presence)),
        Err(error) => connection.fail(id, error.into()).await.map(|()| None),
    }
}
