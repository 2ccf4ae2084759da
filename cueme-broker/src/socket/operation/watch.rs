//! Streams events, without gaps.

use protocol_spec::id::RequestId;
use protocol_spec::message::{Lagged, Reply, Watch};
use tokio::sync::broadcast::error::RecvError;

use crate::socket::connection::{Connection, Ended};
use crate::store::Reader;

/// The past events that are read at once.
const PAGE: u32 = 500;

/// Sends events until the caller leaves. The connection serves nothing else from here on.
pub(in crate::socket) async fn watch(
    connection: &mut Connection,
    id: RequestId,
    watch: Watch,
) -> Result<(), Ended> {
    connection.flush().await?;
    // Subscribed before the past is read, so that nothing falls in between.
    let mut events = connection.broker.engine().events();
    let mut records = connection.broker.engine().foreign_records();
    let find = |reader: &dyn Reader| Ok((reader.history_id()?, reader.newest_event()?));
    let (mut history, newest) = match connection.broker.read(find).await {
        Ok(found) => found,
        Err(failure) => return connection.fail(id, failure).await,
    };
    let mut last = watch.after.unwrap_or(newest);
    if last > newest {
        // The caller has seen a database that was restored, or failed over, since.
        last = newest;
        connection.send(id, &Reply::Lagged(Lagged { newest })).await?;
    }
    loop {
        let page = match connection
            .broker
            .read(move |reader| reader.events_after(last, PAGE))
            .await
        {
            Ok(page) => page,
            Err(failure) => return connection.fail(id, failure).await,
        };
        let Some(newest) = page.last().and_then(|event| event.id) else {
            break;
        };
        last = newest;
        for event in page {
            connection.send(id, &Reply::Event(event)).await?;
        }
    }
    loop {
        tokio::select! {
            // A replacement is told before the events after it.
            biased;
            _ = records.changed() => {
                // A database that was restored, or failed over, has another history: the numbers that were sent mean other events.
                let found = connection.broker.read(find).await;
                let (now, newest) = found.unwrap_or_else(|_| (history.clone(), last));
                if newest < last || now != history {
                    (history, last) = (now, newest);
                    connection.send(id, &Reply::Lagged(Lagged { newest })).await?;
                }
            }
            events = events.recv() => match events {
                Ok(events) => {
                    for event in events.iter().filter(|event| event.id.is_none_or(|id| id > last)) {
                        connection.send(id, &Reply::Event(event.clone())).await?;
                    }
                }
                Err(RecvError::Lagged(_)) => {
                    let newest = connection.broker.read(|reader| reader.newest_event()).await.unwrap_or(last);
                    last = newest;
                    connection.send(id, &Reply::Lagged(Lagged { newest })).await?;
                }
                Err(RecvError::Closed) => return Err(Ended::Gone),
            },
            ready = connection.stream.readable() => {
                ready?;
                drain(connection)?;
            }
        }
    }
}

/// Waits until the caller leaves; anything it still sends is ignored.
pub(super) fn drain(connection: &Connection) -> Result<(), Ended> {
    let mut ignored = [0; 256];
    match connection.stream.try_read(&mut ignored) {
        Ok(0) => Err(Ended::Gone),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => Ok(()),
        Err(error) => Err(error.into()),
    }
}
