//! Whether agents and webhooks find the way back to the broker: the address is fetched, and this broker must answer.

use std::time::Duration;

use adapter_core::cursor::cloud::{Check, Level};
use adapter_core::http::client;
use protocol_spec::endpoint::Places;
use protocol_spec::message::{PublicProbe, PublicProbed, Request};
use serde_json::Value;

use crate::client::{call, expect_reply};
use crate::error::CliError;

const FETCH_TIME_MAX: Duration = Duration::from_secs(15);
const ANSWER_BYTES_MAX: usize = 64 << 10;

/// Asks the broker what to expect at an address.
pub(super) fn probe(places: &Places, public_url: String) -> Result<PublicProbed, CliError> {
    let request = Request::PublicProbe(PublicProbe { public_url });
    expect_reply!(call(places, &request)?, PublicProbe)
}

/// Fetches the address as an agent elsewhere would. From this machine, so a firewall may still be in the way.
pub(super) async fn check_way_back(places: &Places, public_url: String) -> Check {
    let probed = match tokio::task::block_in_place(|| probe(places, public_url.clone())) {
        Ok(probed) => probed,
        Err(error) => {
            return bad(
                "cursor_cloud_broker_unreachable",
                format!("the broker cannot be asked for its public listener: {error}"),
                "run `cueme broker status`",
            );
        }
    };
    let Some(listens_on) = &probed.listens_on else {
        return bad(
            "cursor_cloud_listener_missing",
            "the broker does not listen for agents elsewhere: public_listen is not set, or its address is taken"
                .to_owned(),
            "set public_listen = \"127.0.0.1:7443\" in the configuration, point the public URL at it, and run `cueme broker restart`",
        );
    };
    match fetch(&format!("{public_url}{}", probed.path)).await {
        Ok(body) if body["proof"] == probed.proof.as_str() => Check {
            code: "cursor_cloud_public_url_reaches_broker",
            level: Level::Ok,
            message: format!("{public_url} leads to this broker, which listens on {listens_on}"),
            hint: None,
        },
        Ok(_) => bad(
            "cursor_cloud_public_url_elsewhere",
            format!(
                "publicUrl {public_url} leads to something other than this broker, which listens on {listens_on}"
            ),
            "point the tunnel or the proxy at that address",
        ),
        Err(reason) => bad(
            "cursor_cloud_public_url_unreachable",
            format!(
                "publicUrl {public_url} does not lead to this broker, which listens on {listens_on}: {reason}"
            ),
            "start the tunnel or the proxy, and point it at that address",
        ),
    }
}

async fn fetch(url: &str) -> Result<Value, String> {
    let told = |error: adapter_core::http::Error| error.without_url().to_string();
    let client = client().timeout(FETCH_TIME_MAX).build().map_err(told)?;
    let mut response = client.get(url).send().await.map_err(told)?;
    let status = response.status();
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(told)? {
        if body.len() + chunk.len() > ANSWER_BYTES_MAX {
            return Err(format!("the answer is longer than {ANSWER_BYTES_MAX} bytes"));
        }
        body.extend_from_slice(&chunk);
    }
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    if status.is_success() {
        return Ok(body);
    }
    let reason = body["error"]["message"].as_str().unwrap_or("no reason given");
    Err(format!("status {}: {reason}", status.as_u16()))
}

fn bad(code: &'static str, message: String, hint: &'static str) -> Check {
    Check {
        code,
        level: Level::Error,
        message,
        hint: Some(hint),
    }
}
