//! Admission at the listener for agents elsewhere. Cookies and humans' tokens open nothing there.

use crate::callback::{AgentAction, JwtError, authorise};
use axum::http::StatusCode;
use axum::http::request::Parts;
use cloud_settings::{PUBLIC_URL_VARIABLE, RUN_HEADER};
use protocol_spec::id::AgentId;
use protocol_spec::message::TokenScope;
use protocol_spec::time::Timestamp;

use super::address::{Peer, Source, comes_from, own_host};
use super::guard::{Visitor, Who, bearer, expired, minted_token, wrong_key, wrong_scope};
use crate::broker::Broker;
use crate::config::WebConfig;
use crate::store::Token;
use crate::web::error::ApiError;
use crate::web::state::Web;

/// Admits a request. One without credentials is admitted anonymously, which opens only the public routes.
pub(in crate::web) async fn admit_outside(
    web: &Web,
    parts: &Parts,
    peer: Peer,
) -> Result<Option<Visitor>, ApiError> {
    let hosts = public_hosts(&web.broker);
    let Some(host) = own_host(parts, peer, &hosts) else {
        return Err(forbidden("this host name is not served here")
            .with_hint("add the name to `[public] hosts` in the broker's configuration"));
    };
    if comes_from(parts, host, &hosts) == Source::Elsewhere {
        return Err(forbidden("the request comes from another page").with_hint(
            "if a tunnel changes `Origin`, add its value to `[public] origins` in the broker's configuration",
        ));
    }
    let Some(bearer) = bearer(parts) else {
        return Ok(None);
    };
    let who = match minted_token(web, bearer).await? {
        Some(token) => match token.scope {
            TokenScope::Join | TokenScope::Agent => Who::Agent(token),
            TokenScope::Human => return Err(wrong_scope(token.scope)),
        },
        None => Who::Run(run_token(web, parts, bearer, peer).await?),
    };
    Ok(Some(Visitor(who)))
}

/// Refuses a request without credentials.
pub(in crate::web) fn outsider() -> ApiError {
    ApiError::new(
        StatusCode::UNAUTHORIZED,
        "unauthenticated",
        "this needs the token of a run",
    )
    .with_hint(
        "exchange the one-time token of your prompt first, and send what you get as `Authorization: Bearer`",
    )
}

/// Returns the identity behind the token of a run: its agent alone, for as long as the run goes on.
async fn run_token(web: &Web, parts: &Parts, bearer: &str, peer: Peer) -> Result<Token, ApiError> {
    let claims = match web.broker.claims_of(bearer) {
        Ok(claims) => claims,
        Err(JwtError::Expired) => return Err(expired("the token has expired")),
        Err(_) => return Err(wrong_key(web, peer)),
    };
    let agent: AgentId = claims.sub.parse().map_err(|_| wrong_key(web, peer))?;
    let action = AgentAction::Ask {
        agent_id: agent.as_str(),
    };
    authorise(&claims, action).map_err(|error| forbidden(&error.to_string()))?;
    let named = parts.headers.get(RUN_HEADER).and_then(|run| run.to_str().ok());
    if named.map(str::trim) != Some(claims.run.as_str()) {
        return Err(forbidden("the token is for another run than the request names")
            .with_hint(format!("send `{RUN_HEADER}` with the run's id")));
    }
    let (broker, run, of) = (web.broker.clone(), claims.run.clone(), agent.clone());
    if !web.read(move |_| broker.is_run_open(&run, &of)).await? {
        return Err(expired("the run is over"));
    }
    Ok(Token {
        token_id: claims.jti,
        hash: [0; 32],
        scope: TokenScope::Agent,
        agent: Some(agent),
        name: Some(format!("run {}", claims.run)),
        created_at: Timestamp::from_millis(claims.iat.saturating_mul(1_000)),
        expires_at: None,
        used_at: None,
    })
}

/// Returns the names of this listener: those configured, and those that agents of open runs were given.
fn public_hosts(broker: &Broker) -> WebConfig {
    let config = broker.config();
    let mut hosts = config.public.clone();
    let variable = |name: &str| std::env::var(name).ok().filter(|_| name == PUBLIC_URL_VARIABLE);
    let configured = config.cloud.public_url(&variable).ok();
    let of_runs = broker.followers().public_urls();
    let tried = broker.probes().public_urls();
    for url in configured.into_iter().chain(of_runs).chain(tried) {
        let sent_to = WebConfig {
            url: Some(url),
            ..WebConfig::default()
        };
        hosts.hosts.extend(sent_to.url_host().map(str::to_owned));
    }
    hosts
}

fn forbidden(message: &str) -> ApiError {
    ApiError::new(StatusCode::FORBIDDEN, "forbidden", message)
}
