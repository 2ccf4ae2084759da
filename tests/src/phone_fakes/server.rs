//! Serves a stand-in on a thread of its own, so that plain tests can use it.

use std::net::{SocketAddr, TcpListener};

use axum::Router;
use tokio::sync::oneshot;

/// A running server. Stops when dropped.
#[derive(Debug)]
pub(super) struct Server {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
}

impl Server {
    /// Serves on a port of the system's choice.
    pub(super) fn start(routes: Router) -> Self {
        Self::start_with(routes, std::future::pending::<()>())
    }

    /// Starts a server with a task that runs beside it.
    pub(super) fn start_with(routes: Router, beside: impl Future<Output = ()> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.set_nonblocking(true).expect("a listener");
        let address = listener.local_addr().expect("an address");
        let (stop, stopped) = oneshot::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
                tokio::select! {
                    _ = axum::serve(listener, routes) => {}
                    () = beside => {}
                    _ = stopped => {}
                }
            });
        });
        Self {
            address,
            stop: Some(stop),
        }
    }

    /// Returns where it is.
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // It may have ended by itself.
            let _ = stop.send(());
        }
    }
}
