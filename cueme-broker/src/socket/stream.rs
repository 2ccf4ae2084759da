//! The transport of a connection: the local socket, or a connection that a program elsewhere has upgraded.

use std::io;

use tokio::io::AsyncWriteExt;
use tokio::net::{TcpStream, UnixStream};

/// The bytes of one connection.
#[derive(Debug)]
pub(crate) enum Stream {
    /// A process of the same user on this machine.
    Local(UnixStream),
    /// A program elsewhere, admitted by its token.
    Remote(TcpStream),
}

impl Stream {
    pub(super) async fn readable(&self) -> io::Result<()> {
        match self {
            Self::Local(stream) => stream.readable().await,
            Self::Remote(stream) => stream.readable().await,
        }
    }

    pub(super) fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Local(stream) => stream.try_read(buffer),
            Self::Remote(stream) => stream.try_read(buffer),
        }
    }

    pub(super) async fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Local(stream) => stream.write_all(bytes).await,
            Self::Remote(stream) => stream.write_all(bytes).await,
        }
    }
}
