//! Clients of other people's servers.

use reqwest::ClientBuilder;
pub use reqwest::redirect::Policy;
pub use reqwest::{Client, Error};
use rustls::crypto::ring;

/// Begins an HTTP client with the program's own cryptography.
pub fn client() -> ClientBuilder {
    choose_cryptography();
    Client::builder()
}

/// Chooses what secures the connections of this process; to be called before a client is built by other means.
///
/// Ring runs nothing before `main`, so it costs an agent that only asks a question nothing.
pub fn choose_cryptography() {
    // An error means that another caller has installed the same provider already.
    let _ = ring::default_provider().install_default();
}
