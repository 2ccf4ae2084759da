//! Serves the stand-in for Cursor's cloud API until it is killed.
//!
//! `cloud-fake [ADDRESS]` prints `base_url=…` and `api_key=…`, one a line, when it is ready. A script can be set
//! with `POST /_fake/script`, and `GET /_fake/log` returns every request.

use std::net::SocketAddr;

use cueme_tests::cloud_fake::{API_KEY, FakeCloud, Script};

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let address = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let address: SocketAddr = address.parse().map_err(std::io::Error::other)?;
    let fake = FakeCloud::start_on(address, Script::default()).await?;
    println!("base_url={}\napi_key={API_KEY}", fake.base_url());
    std::future::pending::<()>().await;
    Ok(())
}
