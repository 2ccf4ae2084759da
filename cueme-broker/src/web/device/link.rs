//! Makes a link that signs one device in.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::web::error::ApiError;
use crate::web::extract::{Input, Sent};
use crate::web::qr;
use crate::web::state::{Shared, Web};
use crate::web::view::When;

/// The name of a new device.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LinkBody {
    name: Option<String>,
}

impl Input for LinkBody {}

/// A link that signs one device in.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Link {
    url: String,
    svg: Option<String>,
    expires_at: When,
    hint: Option<String>,
}

/// Makes a link for another device.
pub(super) async fn link(
    State(web): State<Shared>,
    Sent(body): Sent<LinkBody>,
) -> Result<Json<Link>, ApiError> {
    let (secret, expires_at) = web.keys.make_link(body.name).await?;
    let remote = web.site.remote_url(&web.broker.config().web);
    let hint = remote.is_none().then(|| unreachable_hint(&web));
    let url = format!(
        "{}/login/{}",
        remote.unwrap_or_else(|| web.site.local_url()),
        secret.expose()
    );
    Ok(Json(Link {
        svg: qr::draw(&url),
        url,
        expires_at: expires_at.into(),
        hint,
    }))
}

fn unreachable_hint(web: &Web) -> String {
    format!(
        "only this machine can open the link: set `listen = \"0.0.0.0:{}\"` in the configuration and restart the broker, or put TLS \
         in front and set `[web] url`",
        web.site.address.port()
    )
}
