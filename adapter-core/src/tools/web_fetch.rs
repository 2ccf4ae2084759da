//! Fetches a public web page for an agent.
//!
//! The name is resolved once, every address it has must be public, and the connection is pinned to those
//! addresses, so that a second answer of the name server cannot lead elsewhere. Redirects are followed by hand
//! and checked like the first address.

use std::net::SocketAddr;
use std::time::Duration;

use reqwest::{Response, Url, redirect};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::guard::{Text, Tool, ToolError, ToolFuture, ToolOutput, arguments, is_public};
use crate::http;

/// The longest url.
const URL_CHARS_MAX: usize = 8192;
/// The most bytes of a page.
const BODY_BYTES_MAX: usize = 2 * 1024 * 1024;
/// The timeout of one fetch, redirects included.
const FETCH_TIME_MAX: Duration = Duration::from_secs(30);
const REDIRECTS_MAX: usize = 5;

/// The `web_fetch` tool.
#[derive(Debug, Clone, Default)]
pub struct WebFetch {
    /// Addresses, as `host:port`, that the human allowed although they are not public.
    pub allowed: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    url: Text<URL_CHARS_MAX>,
}

impl Tool for WebFetch {
    fn names(&self) -> &[&str] {
        &["web_fetch", "mcp_web_fetch"]
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {"url": {"type": "string", "minLength": 1, "maxLength": URL_CHARS_MAX}},
            "required": ["url"],
            "additionalProperties": false
        })
    }

    fn check(&self, args: &Value) -> Result<(), String> {
        arguments::<Arguments>(args).map(drop)
    }

    fn call<'a>(&'a self, args: &'a Value) -> ToolFuture<'a> {
        Box::pin(async move {
            let Arguments { url: Text(url) } = arguments(args).map_err(ToolError::Failed)?;
            match tokio::time::timeout(FETCH_TIME_MAX, self.fetch(&url)).await {
                Ok(result) => result.map(ToolOutput::from),
                Err(_) => Err(ToolError::Failed(format!(
                    "{url} took longer than {} s",
                    FETCH_TIME_MAX.as_secs()
                ))),
            }
        })
    }
}

impl WebFetch {
    async fn fetch(&self, url: &str) -> Result<String, ToolError> {
        let mut url =
            Url::parse(url).map_err(|error| ToolError::Refused(format!("{url} is no address: {error}")))?;
        for _ in 0..=REDIRECTS_MAX {
            let response = self.get(&url).await?;
            if !response.status().is_redirection() {
                return read(response).await;
            }
            url = target(&url, &response)?;
        }
        Err(ToolError::Failed(format!("more than {REDIRECTS_MAX} redirects")))
    }

    async fn get(&self, url: &Url) -> Result<Response, ToolError> {
        let addresses = self.resolve(url).await?;
        let host = url.host_str().unwrap_or_default();
        let client = http::client()
            .redirect(redirect::Policy::none())
            // A proxy would resolve the name again, and elsewhere.
            .no_proxy()
            .resolve_to_addrs(host, &addresses)
            .user_agent(concat!("cueme/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| failed("could not build the client", &error))?;
        client
            .get(url.clone())
            .send()
            .await
            .map_err(|error| failed("could not fetch the page", &error))
    }

    /// Returns the addresses to connect to, all of which are allowed.
    async fn resolve(&self, url: &Url) -> Result<Vec<SocketAddr>, ToolError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(ToolError::Refused(format!(
                "{}: only http and https are fetched",
                url.scheme()
            )));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(ToolError::Refused("the address carries credentials".to_owned()));
        }
        let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
            return Err(ToolError::Refused("the address has no host".to_owned()));
        };
        let name = host.trim_start_matches('[').trim_end_matches(']');
        let found = tokio::net::lookup_host((name, port)).await;
        let found: Vec<SocketAddr> = found
            .map_err(|error| ToolError::Failed(format!("could not resolve {host}: {error}")))?
            .collect();
        let allowed = self
            .allowed
            .iter()
            .any(|entry| *entry == format!("{host}:{port}"));
        match found.iter().find(|address| !is_public(address.ip())) {
            Some(private) if !allowed => Err(ToolError::Refused(format!(
                "{host} is {}, which is not a public address",
                private.ip()
            ))),
            _ if found.is_empty() => Err(ToolError::Failed(format!("{host} has no address"))),
            _ => Ok(found),
        }
    }
}

fn target(url: &Url, response: &Response) -> Result<Url, ToolError> {
    let location = response
        .headers()
        .get("location")
        .and_then(|value| value.to_str().ok());
    let location = location.ok_or_else(|| ToolError::Failed("a redirect without a target".to_owned()))?;
    url.join(location)
        .map_err(|error| ToolError::Refused(format!("redirect to {location}: {error}")))
}

/// Reads a body up to the limit; a longer one is cut and says so.
pub(super) async fn read(mut response: Response) -> Result<String, ToolError> {
    let status = response.status();
    let mut body = Vec::new();
    let mut cut = false;
    while let Some(chunk) = response
        .chunk()
        .await
        .map_err(|error| failed("could not read the page", &error))?
    {
        let room = BODY_BYTES_MAX - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() > room {
            cut = true;
            break;
        }
    }
    let mut text = String::from_utf8_lossy(&body).into_owned();
    if cut {
        text.push_str("\n[cut: the page is larger than the limit]");
    }
    if status.is_success() {
        Ok(text)
    } else {
        Err(ToolError::Failed(format!("the server answered {status}: {text}")))
    }
}

pub(super) fn failed(what: &str, error: &reqwest::Error) -> ToolError {
    let mut message = format!("{what}: {error}");
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        message.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    ToolError::Failed(message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    async fn serve(answer: String) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut request = [0; 4096];
                let _ = stream.read(&mut request).await;
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        address
    }

    async fn fetch(tool: &WebFetch, url: &str) -> Result<String, ToolError> {
        tool.call(&json!({ "url": url })).await.map(|output| output.text)
    }

    #[tokio::test]
    async fn private_addresses_are_refused_in_every_spelling() {
        let tool = WebFetch::default();
        for url in [
            "http://127.0.0.1/",
            "http://localhost/",
            "http://[::1]/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://[::ffff:127.0.0.1]/",
            "http://169.254.169.254/latest/meta-data",
            "http://10.0.0.1/",
            "http://0/",
        ] {
            let error = fetch(&tool, url).await.unwrap_err();
            assert!(matches!(error, ToolError::Refused(_)), "{url}: {error}");
        }
    }

    #[tokio::test]
    async fn other_schemes_and_credentials_are_refused() {
        let tool = WebFetch::default();
        for url in [
            "file:///etc/passwd",
            "ftp://example.org/",
            "gopher://x/",
            "http://u:p@example.org/",
            "nonsense",
        ] {
            assert!(
                matches!(fetch(&tool, url).await, Err(ToolError::Refused(_))),
                "{url}"
            );
        }
    }

    #[tokio::test]
    async fn an_allowed_address_is_fetched_and_its_redirect_to_a_private_one_is_not() {
        let page =
            serve("HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello".into()).await;
        let tool = WebFetch {
            allowed: vec![page.clone()],
        };
        assert_eq!(fetch(&tool, &format!("http://{page}/")).await.unwrap(), "hello");
        let moved = format!(
            "HTTP/1.1 302 Found\r\nlocation: http://{page}/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        );
        let door = serve(moved).await;
        let tool = WebFetch {
            allowed: vec![door.clone()],
        };
        assert!(matches!(
            fetch(&tool, &format!("http://{door}/")).await,
            Err(ToolError::Refused(_))
        ));
    }

    #[tokio::test]
    async fn a_page_above_the_limit_is_cut_and_an_error_page_is_an_error() {
        let length = BODY_BYTES_MAX + 1000;
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
        let page = serve(head + &"x".repeat(length)).await;
        let tool = WebFetch {
            allowed: vec![page.clone()],
        };
        let text = fetch(&tool, &format!("http://{page}/")).await.unwrap();
        assert!(text.len() < length && text.ends_with("larger than the limit]"));
        let page =
            serve("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".into()).await;
        let tool = WebFetch {
            allowed: vec![page.clone()],
        };
        assert!(
            fetch(&tool, &format!("http://{page}/"))
                .await
                .unwrap_err()
                .to_string()
                .contains("404")
        );
    }
}
