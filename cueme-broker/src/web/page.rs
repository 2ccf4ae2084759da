//! The page's interface for the rest of the broker: its address, sign-in links, and tokens.

use std::sync::Arc;
use std::time::Duration;

use protocol_spec::id::AgentId;
use protocol_spec::message::{Failure, TokenMade, TokenScope, WebLinked};

use super::door::{Keys, Site};
use super::page_events::{Notice, PageEvents};
use crate::config::WebConfig;
use crate::store::Token;

/// The page as the rest of the broker knows it.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    pub(super) keys: Arc<Keys>,
    pub(super) page_events: Arc<PageEvents>,
    pub(super) site: Site,
}

impl Page {
    /// Returns its address for browsers of this machine.
    pub(crate) fn local_url(&self) -> String {
        self.site.local_url()
    }

    /// Returns its address for humans, for other devices if that is possible.
    pub(crate) fn url(&self, config: &WebConfig) -> String {
        self.site.remote_url(config).unwrap_or_else(|| self.local_url())
    }

    /// Makes a link that signs one browser of this machine in.
    pub(crate) async fn make_link(&self, name: Option<String>) -> Result<WebLinked, Failure> {
        let (secret, expires_at) = self.keys.make_link(name).await?;
        Ok(WebLinked {
            url: format!("{}/login/{}", self.local_url(), secret.expose()),
            expires_at,
        })
    }

    /// Makes a token for a program.
    pub(crate) async fn mint(
        &self,
        config: &WebConfig,
        scope: TokenScope,
        agent: Option<AgentId>,
        name: Option<String>,
        life: Option<Duration>,
    ) -> Result<TokenMade, Failure> {
        let (token, secret) = self.keys.mint(scope, agent, name, life).await?;
        self.page_events.notice(Notice::devices());
        Ok(TokenMade {
            token_id: token.token_id,
            token: secret.expose().to_owned(),
            url: format!("{}/api/v1", self.url(config)),
            expires_at: token.expires_at,
        })
    }

    /// Lists the tokens of programs, oldest first.
    pub(crate) async fn tokens(&self) -> Result<Vec<Token>, Failure> {
        self.keys.refresh().await?;
        Ok(self.keys.tokens())
    }

    /// Revokes a token; returns whether there was one.
    pub(crate) async fn revoke_token(&self, token_id: &str) -> Result<bool, Failure> {
        let is_revoked = self.keys.revoke_token(token_id).await?;
        self.page_events.notice(Notice::devices());
        Ok(is_revoked)
    }
}
