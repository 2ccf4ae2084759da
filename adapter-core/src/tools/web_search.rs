//! Searches the web for an agent, at the endpoint the human chose.

use std::time::Duration;

use reqwest::Url;
use serde::Deserialize;
use serde_json::{Value, json};

use super::web_fetch::{failed, read};
use crate::guard::{Text, Tool, ToolError, ToolFuture, ToolOutput, arguments};
use crate::http;

/// The longest query.
const QUERY_CHARS_MAX: usize = 2048;
/// The timeout of one search.
const SEARCH_TIME_MAX: Duration = Duration::from_secs(20);
/// The placeholder of the query in an endpoint.
const QUERY_MARK: &str = "{query}";

/// The `web_search` tool.
///
/// The endpoint comes from the configuration, never from the agent, so it may be on this machine.
#[derive(Debug, Clone, Default)]
pub struct WebSearch {
    /// The address; `{query}` in it is replaced, else the query becomes the parameter `q`.
    pub endpoint: Option<String>,
    /// Sent as a bearer token.
    pub token: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    query: Text<QUERY_CHARS_MAX>,
}

impl Tool for WebSearch {
    fn names(&self) -> &[&str] {
        &["web_search", "mcp_web_search"]
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {"query": {"type": "string", "minLength": 1, "maxLength": QUERY_CHARS_MAX}},
            "required": ["query"],
            "additionalProperties": false
        })
    }

    fn check(&self, args: &Value) -> Result<(), String> {
        arguments::<Arguments>(args).map(drop)
    }

    fn call<'a>(&'a self, args: &'a Value) -> ToolFuture<'a> {
        Box::pin(async move {
            let Arguments { query: Text(query) } = arguments(args).map_err(ToolError::Failed)?;
            let url = self.url(&query)?;
            let client = http::client().timeout(SEARCH_TIME_MAX).build();
            let client = client.map_err(|error| failed("could not build the client", &error))?;
            let mut request = client.get(url);
            if let Some(token) = &self.token {
                request = request.bearer_auth(token);
            }
            read(
                request
                    .send()
                    .await
                    .map_err(|error| failed("could not search", &error))?,
            )
            .await
            .map(ToolOutput::from)
        })
    }
}

impl WebSearch {
    fn url(&self, query: &str) -> Result<Url, ToolError> {
        let endpoint = self.endpoint.as_deref().ok_or_else(|| {
            ToolError::Failed("no search endpoint: set tools.webSearch.endpoint in openclaw.json".to_owned())
        })?;
        let mut url = Url::parse(&endpoint.replace(QUERY_MARK, "cueme-query"))
            .map_err(|error| ToolError::Failed(format!("tools.webSearch.endpoint is no address: {error}")))?;
        if !endpoint.contains(QUERY_MARK) {
            url.query_pairs_mut().append_pair("q", query);
            return Ok(url);
        }
        // Encoding by the address parser, in the place the mark stood.
        let mut encoder = url.clone();
        encoder.query_pairs_mut().clear().append_pair("q", query);
        let encoded = encoder
            .query()
            .unwrap_or_default()
            .trim_start_matches("q=")
            .replace('+', "%20");
        Url::parse(&endpoint.replace(QUERY_MARK, &encoded))
            .map_err(|error| ToolError::Failed(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(endpoint: &str, query: &str) -> String {
        WebSearch {
            endpoint: Some(endpoint.into()),
            token: None,
        }
        .url(query)
        .unwrap()
        .to_string()
    }

    #[test]
    fn the_query_goes_where_the_endpoint_says_and_stays_one_value() {
        assert_eq!(
            url("https://s.example/search", "a b&c"),
            "https://s.example/search?q=a+b%26c"
        );
        assert_eq!(
            url("https://s.example/?format=json", "x"),
            "https://s.example/?format=json&q=x"
        );
        assert_eq!(
            url("https://s.example/{query}/json", "a b/c?d"),
            "https://s.example/a%20b%2Fc%3Fd/json"
        );
    }

    #[tokio::test]
    async fn without_an_endpoint_the_error_says_what_to_set() {
        let error = WebSearch::default()
            .call(&json!({"query": "x"}))
            .await
            .unwrap_err();
        assert!(error.to_string().contains("tools.webSearch.endpoint"));
    }
}
