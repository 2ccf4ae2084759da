//! The transport of a session: the local socket, or a connection to a remote broker.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use rustls::{ClientConnection, StreamOwned};

use super::ssh::Tunnel;

/// A connection to a broker.
#[derive(Debug)]
pub(crate) enum Stream {
    /// The socket of this user's broker.
    Local(UnixStream),
    /// A broker on the loopback interface, or behind a tunnel of the person's own that ends there.
    Plain(TcpStream),
    /// A broker elsewhere, over SSH.
    Tunnel(Tunnel),
    /// A broker elsewhere.
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

/// A connection and what was read of it already.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(super) stream: Stream,
    pub(super) first: Vec<u8>,
}

impl From<UnixStream> for Connection {
    fn from(stream: UnixStream) -> Self {
        Self {
            stream: Stream::Local(stream),
            first: Vec::new(),
        }
    }
}

impl Stream {
    pub(super) fn is_remote(&self) -> bool {
        !matches!(self, Self::Local(_))
    }

    /// Says whether a read returns at once although the socket has nothing: TLS decrypts whole records.
    pub(super) fn has_buffered(&mut self) -> bool {
        match self {
            Self::Local(_) | Self::Plain(_) | Self::Tunnel(_) => false,
            // An error is met again, and told, by the read.
            Self::Tls(stream) => stream
                .conn
                .process_new_packets()
                .map_or(true, |state| state.plaintext_bytes_to_read() > 0),
        }
    }

    /// Reads what is there, once the socket is readable; `WouldBlock` where that was no data of ours.
    pub(super) fn read_ready(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Local(stream) => stream.read(buffer),
            Self::Plain(stream) => stream.read(buffer),
            Self::Tunnel(tunnel) => tunnel.stream.read(buffer),
            Self::Tls(stream) => {
                // A record of TLS itself makes the socket readable and says nothing to us.
                stream.sock.set_nonblocking(true)?;
                let read = stream.read(buffer);
                stream.sock.set_nonblocking(false)?;
                read
            }
        }
    }

    pub(super) fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Local(stream) => stream.write_all(bytes),
            Self::Plain(stream) => stream.write_all(bytes),
            Self::Tunnel(tunnel) => tunnel.stream.write_all(bytes),
            Self::Tls(stream) => stream.write_all(bytes).and_then(|()| stream.flush()),
        }
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Local(stream) => stream.as_fd(),
            Self::Plain(stream) => stream.as_fd(),
            Self::Tunnel(tunnel) => tunnel.stream.as_fd(),
            Self::Tls(stream) => stream.sock.as_fd(),
        }
    }
}
