//! The local user on the other end of a connection.
//!
//! Cookies ignore ports: a browser sends the page's cookie to every port of this machine, also to another user's
//! server. So credentials alone are not enough; the kernel knows the owner of the socket on the other end.
//!
//! This module finds the user and decides what follows; [`super::socket_table`] queries the kernel.

use std::net::SocketAddr;
use std::sync::Once;
use std::time::Duration;

use super::address::Peer;
use super::socket_table::{Ends, KernelTable, Socket, TableError, proc_find};

/// The user who has all rights anyway, and whose programs forward ports into containers and virtual machines.
const ROOT: u32 = 0;
/// The time until our end of a connection learns that the other is closed.
const NEWS_PATIENCE: Duration = Duration::from_millis(20);

/// The user on the other end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::web) enum PeerUser {
    /// This user.
    Known(u32),
    /// None: a closed socket has no owner, and is listed with root's number.
    Gone,
    /// A user whose socket is not one of this kernel's, on an open connection: hosts of virtual machines do that.
    Elsewhere,
    /// The kernel does not tell.
    Untold,
}

impl PeerUser {
    /// Says whether they may use the page of `own`.
    pub(in crate::web) fn is_welcome(self, own: u32) -> bool {
        match self {
            Self::Known(user) => user == own || user == ROOT,
            Self::Gone => false,
            Self::Elsewhere | Self::Untold => true,
        }
    }
}

/// Finds the user on the other end.
#[derive(Debug)]
pub(in crate::web) struct PeerUsers {
    kernel: KernelTable,
    warning: Once,
}

impl PeerUsers {
    /// Opens the kernel's interface.
    pub(in crate::web) fn new() -> Self {
        Self {
            kernel: KernelTable::open(),
            warning: Once::new(),
        }
    }

    /// Returns the user on the other end of a connection within this machine.
    pub(in crate::web) async fn find(&self, peer: Peer) -> PeerUser {
        let found = self.look(peer).await;
        if found == PeerUser::Untold {
            self.warning.call_once(|| {
                tracing::warn!(
                    "this system does not tell which user is on the other end of a connection; whoever has a token or a \
                     cookie of the page is served"
                );
            });
        }
        found
    }

    async fn look(&self, peer: Peer) -> PeerUser {
        let theirs = Ends {
            own: canonical(peer.remote),
            other: canonical(peer.local),
        };
        match self.kernel.find(theirs) {
            Ok(Some(socket)) => owner(socket),
            Ok(None) => {
                tokio::time::sleep(NEWS_PATIENCE).await;
                self.kernel
                    .find(theirs.turned())
                    .map_or(PeerUser::Gone, without_other_end)
            }
            // Reading it may take long.
            Err(_) => tokio::task::spawn_blocking(move || read(theirs))
                .await
                .unwrap_or(PeerUser::Gone),
        }
    }
}

/// Finds the user in the text tables of the kernel.
fn read(theirs: Ends) -> PeerUser {
    match proc_find(theirs) {
        Ok(Some(socket)) => owner(socket),
        Ok(None) => {
            std::thread::sleep(NEWS_PATIENCE);
            proc_find(theirs.turned()).map_or(PeerUser::Gone, without_other_end)
        }
        Err(TableError::Missing) => PeerUser::Untold,
        // Such as no descriptors left: a visitor that can cause it must not be admitted because of it.
        Err(TableError::Failed) => PeerUser::Gone,
    }
}

fn owner(socket: Socket) -> PeerUser {
    if socket.has_owner() {
        PeerUser::Known(socket.user)
    } else {
        PeerUser::Gone
    }
}

fn without_other_end(ours: Option<Socket>) -> PeerUser {
    match ours {
        Some(ours) if ours.is_established() => PeerUser::Elsewhere,
        Some(_) | None => PeerUser::Gone,
    }
}

/// Converts an IPv4-mapped IPv6 address to IPv4.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    fn own_user() -> u32 {
        rustix::process::getuid().as_raw()
    }

    /// Connects within this machine; `None` where that address does not exist.
    fn connect(to: &str) -> Option<(TcpStream, TcpStream, Peer)> {
        let listener = TcpListener::bind(to).ok()?;
        let client = TcpStream::connect(listener.local_addr().ok()?).ok()?;
        let (server, remote) = listener.accept().ok()?;
        let local = server.local_addr().ok()?;
        Some((client, server, Peer { remote, local }))
    }

    #[tokio::test]
    async fn the_user_of_a_connection_is_found_and_one_that_was_closed_has_none() {
        let users = PeerUsers::new();
        for address in ["127.0.0.1:0", "[::1]:0", "[::ffff:127.0.0.1]:0"] {
            let Some((client, _server, peer)) = connect(address) else {
                continue;
            };
            assert_eq!(users.find(peer).await, PeerUser::Known(own_user()), "{address}");
            drop(client);
            assert_eq!(users.find(peer).await, PeerUser::Gone, "{address}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_kernel_that_cannot_be_asked_is_read() {
        let (client, _server, peer) = connect("127.0.0.1:0").unwrap();
        let theirs = Ends {
            own: peer.remote,
            other: peer.local,
        };
        assert_eq!(read(theirs), PeerUser::Known(own_user()));
        drop(client);
        assert_eq!(read(theirs), PeerUser::Gone);
    }

    #[tokio::test]
    async fn a_connection_that_was_broken_off_belongs_to_nobody() {
        let users = PeerUsers::new();
        let (client, _server, peer) = connect("127.0.0.1:0").unwrap();
        rustix::net::sockopt::set_socket_linger(&client, Some(Duration::ZERO)).unwrap();
        drop(client);
        assert_eq!(users.find(peer).await, PeerUser::Gone);
    }

    #[test]
    fn only_ourselves_and_root_are_welcome() {
        assert!(PeerUser::Known(1000).is_welcome(1000));
        assert!(PeerUser::Known(ROOT).is_welcome(1000));
        assert!(!PeerUser::Known(1001).is_welcome(1000));
        assert!(!PeerUser::Known(1000).is_welcome(ROOT));
        assert!(!PeerUser::Gone.is_welcome(1000));
        assert!(PeerUser::Elsewhere.is_welcome(1000));
        assert!(PeerUser::Untold.is_welcome(1000));
    }

    #[test]
    fn without_the_other_end_only_a_connection_that_goes_on_has_somebody() {
        let ours = |state| {
            Some(Socket {
                user: 1000,
                inode: 7,
                state,
            })
        };
        assert_eq!(without_other_end(ours(1)), PeerUser::Elsewhere);
        assert_eq!(without_other_end(ours(8)), PeerUser::Gone);
        assert_eq!(without_other_end(None), PeerUser::Gone);
    }
}
