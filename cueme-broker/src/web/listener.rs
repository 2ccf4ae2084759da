//! Binds the sockets of the page and of agents elsewhere.

use std::io;
use std::net::SocketAddr;
use std::path::Path;

use protocol_spec::endpoint::Places;
use tokio::net::{TcpListener, TcpStream};

/// The page's socket, or that of agents elsewhere.
#[derive(Debug)]
pub(crate) struct WebListener {
    listener: TcpListener,
    address: SocketAddr,
}

impl WebListener {
    /// Binds `wanted`, or the port of last time on this machine alone, or a new one.
    pub(crate) async fn bind(places: &Places, wanted: Option<SocketAddr>) -> io::Result<Self> {
        let port_file = places.data_dir.join("web.port");
        let listener = match wanted {
            Some(address) => TcpListener::bind(address).await?,
            None => bind_again(&port_file).await?,
        };
        let address = listener.local_addr()?;
        if wanted.is_none() {
            store_port(&port_file, address.port());
        }
        if !address.ip().is_loopback() {
            tracing::warn!(
                %address,
                "the page can be reached from other machines, by signed-in devices only; what they send can be read on the \
                 way: put TLS in front (for example `caddy reverse-proxy --from cue.example.org --to {address}`) and set \
                 `[web] url` to that address"
            );
        }
        Ok(Self { listener, address })
    }

    /// Binds where agents elsewhere come in.
    pub(crate) async fn bind_public(wanted: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(wanted).await?;
        let address = listener.local_addr()?;
        if !address.ip().is_loopback() {
            tracing::warn!(
                %address,
                "agents' tokens can be read on the way to this address: put a proxy or a tunnel with TLS in front, let it \
                 alone reach the port, and set `[public] url` to its address"
            );
        }
        Ok(Self { listener, address })
    }

    /// Waits for a connection.
    pub(super) async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        self.listener.accept().await
    }

    /// Returns where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

async fn bind_again(port_file: &Path) -> io::Result<TcpListener> {
    let last: Option<u16> = std::fs::read_to_string(port_file)
        .ok()
        .and_then(|text| text.trim().parse().ok());
    if let Some(port) = last {
        match TcpListener::bind(("127.0.0.1", port)).await {
            Ok(listener) => return Ok(listener),
            Err(error) => {
                tracing::warn!(port, %error, "the last port of the page is in use; using another");
            }
        }
    }
    TcpListener::bind(("127.0.0.1", 0)).await
}

fn store_port(file: &Path, port: u16) {
    if let Err(error) = std::fs::write(file, port.to_string()) {
        tracing::warn!(%error, path = %file.display(), "the page's port could not be kept");
    }
}
