//! The token a cloud agent holds for the length of one run.
//!
//! There is one algorithm, one issuer and one audience: a token names its agent, its run and its scope, and everything
//! else is refused.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;
use thiserror::Error;

use super::webhook::hmac_sha256;

/// The issuer of tokens.
pub const ISSUER: &str = "cueme";
/// The audience of tokens.
pub const AUDIENCE: &str = "cueme-agent-api";
/// The scope of a run's token: to ask, to read the answers to one's own questions, and to read skills.
pub const SCOPE_HAP: &str = "hap";

/// The header of every token.
const HEADER: &str = r#"{"alg":"HS256","typ":"JWT"}"#;
const TOKEN_BYTES_MAX: usize = 4 << 10;
const KEY_BYTES: usize = 32;

/// The key that signs tokens.
#[derive(Clone)]
pub struct SigningKey([u8; KEY_BYTES]);

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(cloud_settings::REDACTED)
    }
}

impl SigningKey {
    /// Uses these bytes.
    pub fn new(bytes: [u8; KEY_BYTES]) -> Self {
        SigningKey(bytes)
    }
}

/// The claims of a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// The issuer.
    pub iss: String,
    /// The audience.
    pub aud: String,
    /// The agent.
    pub sub: String,
    /// The run.
    pub run: String,
    /// The scopes, separated by blanks.
    pub scope: String,
    /// When it was issued, in seconds since 1970.
    pub iat: i64,
    /// When it expires, in seconds since 1970.
    pub exp: i64,
    /// Its own id.
    pub jti: String,
}

/// The reason for refusing a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum JwtError {
    /// It is not a token of ours.
    #[error("the token is not valid")]
    Invalid,
    /// It has expired.
    #[error("the token has expired")]
    Expired,
    /// It is for another audience.
    #[error("the token is for another audience")]
    Audience,
    /// Its scope does not allow the action.
    #[error("the token does not allow this")]
    Scope,
}

/// An action of an agent at the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentAction<'a> {
    /// To ask a human, or to wait for one, as this agent.
    Ask {
        /// The agent.
        agent_id: &'a str,
    },
    /// To read this agent's questions and answers.
    ReadAgent {
        /// The agent.
        agent_id: &'a str,
    },
    /// To read skills.
    ReadSkills,
    /// To answer a question, which is for humans.
    Answer,
}

/// Signs a token.
pub fn sign_token(key: &SigningKey, claims: &Claims) -> String {
    let claims = serde_json::to_string(claims).unwrap_or_default();
    let signed = format!(
        "{}.{}",
        URL_SAFE_NO_PAD.encode(HEADER),
        URL_SAFE_NO_PAD.encode(claims)
    );
    let signature = URL_SAFE_NO_PAD.encode(hmac_sha256(&key.0, signed.as_bytes()));
    format!("{signed}.{signature}")
}

/// Verifies a token and returns its claims.
///
/// # Errors
///
/// Fails if the token is not ours, has expired, or is for another audience.
pub fn verify_token(key: &SigningKey, token: &str, now_sec: i64) -> Result<Claims, JwtError> {
    if token.len() > TOKEN_BYTES_MAX {
        return Err(JwtError::Invalid);
    }
    let (signed, signature) = token.rsplit_once('.').ok_or(JwtError::Invalid)?;
    let given = URL_SAFE_NO_PAD.decode(signature).map_err(|_| JwtError::Invalid)?;
    let is_equal: bool = given.ct_eq(&hmac_sha256(&key.0, signed.as_bytes())).into();
    if !is_equal {
        return Err(JwtError::Invalid);
    }
    let (header, claims) = signed.split_once('.').ok_or(JwtError::Invalid)?;
    let header = URL_SAFE_NO_PAD.decode(header).map_err(|_| JwtError::Invalid)?;
    // The header is a constant, so there is no algorithm to negotiate.
    if header != HEADER.as_bytes() {
        return Err(JwtError::Invalid);
    }
    let claims = URL_SAFE_NO_PAD.decode(claims).map_err(|_| JwtError::Invalid)?;
    let claims: Claims = serde_json::from_slice(&claims).map_err(|_| JwtError::Invalid)?;
    if claims.iss != ISSUER {
        return Err(JwtError::Invalid);
    }
    if claims.aud != AUDIENCE {
        return Err(JwtError::Audience);
    }
    if now_sec >= claims.exp {
        return Err(JwtError::Expired);
    }
    Ok(claims)
}

/// Decides whether a token allows an action.
///
/// # Errors
///
/// Fails if it does not.
pub fn authorise(claims: &Claims, action: AgentAction<'_>) -> Result<(), JwtError> {
    let has_scope = claims.scope.split(' ').any(|scope| scope == SCOPE_HAP);
    let is_allowed = match action {
        AgentAction::Ask { agent_id } | AgentAction::ReadAgent { agent_id } => agent_id == claims.sub,
        AgentAction::ReadSkills => true,
        AgentAction::Answer => false,
    };
    if has_scope && is_allowed {
        Ok(())
    } else {
        Err(JwtError::Scope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims() -> Claims {
        Claims {
            iss: ISSUER.to_owned(),
            aud: AUDIENCE.to_owned(),
            sub: "calm-otter".to_owned(),
            run: "run-7".to_owned(),
            scope: SCOPE_HAP.to_owned(),
            iat: 1_000,
            exp: 2_000,
            jti: "j".to_owned(),
        }
    }

    fn key() -> SigningKey {
        SigningKey::new([7; 32])
    }

    #[test]
    fn a_token_says_what_was_signed() {
        let token = sign_token(&key(), &claims());
        assert_eq!(verify_token(&key(), &token, 1_500), Ok(claims()));
        assert_eq!(token.split('.').count(), 3);
    }

    #[test]
    fn audience_expiry_and_key_are_checked() {
        let token = sign_token(&key(), &claims());
        assert_eq!(verify_token(&key(), &token, 2_000), Err(JwtError::Expired));
        assert_eq!(
            verify_token(&SigningKey::new([8; 32]), &token, 1_500),
            Err(JwtError::Invalid)
        );
        let other = sign_token(
            &key(),
            &Claims {
                aud: "elsewhere".to_owned(),
                ..claims()
            },
        );
        assert_eq!(verify_token(&key(), &other, 1_500), Err(JwtError::Audience));
        let foreign = sign_token(
            &key(),
            &Claims {
                iss: "elsewhere".to_owned(),
                ..claims()
            },
        );
        assert_eq!(verify_token(&key(), &foreign, 1_500), Err(JwtError::Invalid));
    }

    #[test]
    fn a_token_that_was_changed_anywhere_is_refused() {
        let token = sign_token(&key(), &claims());
        for position in 0..token.len() {
            let mut changed = token.clone().into_bytes();
            changed[position] = if changed[position] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            assert_eq!(
                verify_token(&key(), &changed, 1_500),
                Err(JwtError::Invalid),
                "{changed}"
            );
        }
        let no_signature = {
            let header = URL_SAFE_NO_PAD.encode(r#"{"alg":"none","typ":"JWT"}"#);
            format!("{header}.{}.", token.split('.').nth(1).unwrap())
        };
        for token in [
            "",
            ".",
            "..",
            "a.b.c",
            no_signature.as_str(),
            "x".repeat(5_000).as_str(),
        ] {
            assert_eq!(verify_token(&key(), token, 1_500), Err(JwtError::Invalid));
        }
    }

    #[test]
    fn a_header_with_another_algorithm_is_refused_even_if_it_is_signed() {
        let header = URL_SAFE_NO_PAD.encode(r#"{"alg":"none","typ":"JWT"}"#);
        let body = URL_SAFE_NO_PAD.encode(serde_json::to_string(&claims()).unwrap());
        let signed = format!("{header}.{body}");
        let signature = URL_SAFE_NO_PAD.encode(hmac_sha256(&[7; 32], signed.as_bytes()));
        assert_eq!(
            verify_token(&key(), &format!("{signed}.{signature}"), 1_500),
            Err(JwtError::Invalid)
        );
    }

    #[test]
    fn an_agents_token_reads_no_other_agent_and_answers_nothing() {
        let own = "calm-otter";
        assert_eq!(authorise(&claims(), AgentAction::Ask { agent_id: own }), Ok(()));
        assert_eq!(
            authorise(&claims(), AgentAction::ReadAgent { agent_id: own }),
            Ok(())
        );
        assert_eq!(authorise(&claims(), AgentAction::ReadSkills), Ok(()));
        for action in [
            AgentAction::Ask { agent_id: "x" },
            AgentAction::ReadAgent { agent_id: "x" },
            AgentAction::Answer,
        ] {
            assert_eq!(authorise(&claims(), action), Err(JwtError::Scope));
        }
        let unscoped = Claims {
            scope: "other".to_owned(),
            ..claims()
        };
        assert_eq!(
            authorise(&unscoped, AgentAction::ReadSkills),
            Err(JwtError::Scope)
        );
    }
}
