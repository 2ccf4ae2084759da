//! Opens the socket and accepts connections, even when the process runs out of descriptors.

use std::fs::File;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use protocol_spec::frame::Splitter;
use protocol_spec::id::RequestId;
use protocol_spec::message::{ErrorCode, Failure, Reply, encode_reply};
use tokio::net::{TcpStream, UnixListener, UnixStream};
use uuid::Uuid;

use super::caller::{Caller, Remote};
use super::refusals::Refusals;
use super::room::{Room, Share};
use super::stream::Stream;
use super::{CONNECTIONS_MAX, connection};
use crate::broker::Broker;
use crate::file_id::FileId;

/// The pause of accepting when the system has no descriptors left.
const EXHAUSTED_PAUSE: Duration = Duration::from_millis(20);

/// The most callers that are turned away before connections that are served get a turn.
const TURNED_AWAY_AT_ONCE: usize = 64;

/// The broker's socket; removed when dropped.
#[derive(Debug)]
pub(crate) struct Listener {
    listener: UnixListener,
    path: PathBuf,
    /// The identity of the socket at the path when it was bound.
    socket: Option<FileId>,
}

impl Listener {
    /// Binds the socket, taking over a stale one. Only the holder of the broker's lock may call this.
    pub(crate) fn bind(path: &Path) -> io::Result<Self> {
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        // The mask makes the socket private from its first moment; the mode is set again for systems that ignore it.
        let mask = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o177));
        let bound = UnixListener::bind(path);
        rustix::process::umask(mask);
        let listener = bound?;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
        Ok(Self {
            listener,
            path: path.to_owned(),
            socket: FileId::of(path),
        })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // There may be another directory at our path by now, with the socket of another broker.
        if FileId::of(&self.path) == self.socket {
            // It does not matter if it is gone already.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Accepts connections until the broker is asked to stop. The caller that asked may come again at once, and must not
/// reach this broker.
pub(crate) async fn accept(listener: Arc<Listener>, broker: Arc<Broker>) {
    let served = Arc::new(AtomicUsize::new(0));
    let room = Arc::<Room>::default();
    // A reserved descriptor, used to turn a caller away when all others are taken.
    let mut spare = File::open("/dev/null").ok();
    let mut refusals = Refusals::default();
    let stopped = broker.stopped();
    tokio::pin!(stopped);
    loop {
        let accepted = tokio::select! {
            biased;
            _ = &mut stopped => return,
            () = refusals.due() => {
                refusals.report();
                continue;
            }
            accepted = listener.listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => admit(stream, &broker, &served, &room, &mut refusals),
            Err(error) => {
                tracing::warn!(%error, "could not accept a connection");
                drop(spare.take());
                turn_away_some(&listener.listener).await;
                tokio::time::sleep(EXHAUSTED_PAUSE).await;
                spare = File::open("/dev/null").ok();
            }
        }
    }
}

fn admit(
    stream: UnixStream,
    broker: &Arc<Broker>,
    served: &Arc<AtomicUsize>,
    room: &Arc<Room>,
    refusals: &mut Refusals,
) {
    let user = stream.peer_cred().ok().map(|peer| peer.uid());
    if user != Some(broker.uid()) {
        return refusals.note(user);
    }
    if served.load(Ordering::Relaxed) >= CONNECTIONS_MAX {
        return turn_away(&stream, "too many connections");
    }
    served.fetch_add(1, Ordering::Relaxed);
    let (broker, served, share) = (
        Arc::clone(broker),
        Arc::clone(served),
        Share::of(Arc::clone(room)),
    );
    let stream = Stream::Local(stream);
    tokio::spawn(async move {
        broker.connection_opened();
        connection::serve(
            stream,
            Caller::Local,
            Splitter::default(),
            Arc::clone(&broker),
            share,
        )
        .await;
        broker.connection_closed();
        served.fetch_sub(1, Ordering::Relaxed);
    });
}

/// Serves a connection that a program elsewhere has upgraded; `first` are the bytes already read.
///
/// The web side limits how many there are.
pub(crate) async fn serve_remote(stream: TcpStream, remote: Remote, first: Vec<u8>) {
    static ROOM: LazyLock<Arc<Room>> = LazyLock::new(Arc::default);
    let broker = Arc::clone(remote.web.broker());
    broker.connection_opened();
    let mut splitter = Splitter::default();
    splitter.push(&first);
    drop(first);
    let (caller, share) = (Caller::Remote(Box::new(remote)), Share::of(Arc::clone(&ROOM)));
    connection::serve(
        Stream::Remote(stream),
        caller,
        splitter,
        Arc::clone(&broker),
        share,
    )
    .await;
    broker.connection_closed();
}

/// Turns away all callers that are queued, one after the other through the reserved descriptor.
async fn turn_away_some(listener: &UnixListener) {
    for _ in 0..TURNED_AWAY_AT_ONCE {
        match tokio::time::timeout(Duration::ZERO, listener.accept()).await {
            Ok(Ok((stream, _))) => turn_away(&stream, "the broker has no file descriptors left"),
            Ok(Err(_)) | Err(_) => return,
        }
    }
}

/// Tells a caller to retry later, without waiting until it reads that.
fn turn_away(stream: &UnixStream, why: &str) {
    let failure = Failure::new(ErrorCode::Busy, why).with_hint("run the same command again in a moment");
    if let Ok(line) = encode_reply(RequestId(Uuid::nil()), &Reply::Error(failure)) {
        // The socket's buffer is empty, so this succeeds unless the caller is gone.
        let _ = stream.try_write(&line);
    }
}
