//! One HTTP request at a time, with any head one likes: what a browser, a program or an attacker would send.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

use crate::patience::PATIENCE;

/// The timeout of connecting.
const CONNECT_PATIENCE: Duration = Duration::from_secs(10);

/// A client of the page.
#[derive(Debug, Clone, Copy)]
pub struct Http {
    port: u16,
}

/// A response.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status.
    pub status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Http {
    /// Speaks to this port of this machine.
    pub fn new(port: u16) -> Self {
        Self { port }
    }

    /// Returns the name of the page's host as it should be.
    pub fn host(self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Returns the page's own origin.
    pub fn origin(self) -> String {
        format!("http://{}", self.host())
    }

    /// Opens a connection and says nothing yet.
    #[track_caller]
    pub fn connect(self) -> TcpStream {
        let address = SocketAddr::from(([127, 0, 0, 1], self.port));
        let stream = TcpStream::connect_timeout(&address, CONNECT_PATIENCE)
            .unwrap_or_else(|error| panic!("could not connect to the page: {error}"));
        stream
            .set_read_timeout(Some(PATIENCE))
            .unwrap_or_else(|error| panic!("{error}"));
        stream
    }

    /// Sends exactly these bytes as a whole request, and reads the answer; `None` when none came.
    #[track_caller]
    pub fn send_raw(self, request: &[u8]) -> Option<Answer> {
        let mut stream = self.connect();
        // The server may close the connection before it has read everything.
        let _ = stream.write_all(request);
        Answer::read(&mut BufReader::new(stream))
    }

    /// Sends a request with these headers and no others but its length.
    #[track_caller]
    pub fn send(self, method: &str, target: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let length = Some(body.len()).filter(|length| *length > 0 || method != "GET");
        let mut head = head(method, target, headers, length);
        head.extend_from_slice(body);
        self.send_raw(&head)
            .unwrap_or_else(|| panic!("no answer to {method} {target}"))
    }

    /// Sends a head alone: the body follows, or never comes.
    #[track_caller]
    pub fn send_head(
        self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        length: Option<usize>,
    ) -> TcpStream {
        let mut stream = self.connect();
        stream
            .write_all(&head(method, target, headers, length))
            .unwrap_or_else(|error| panic!("could not send: {error}"));
        stream
    }

    /// Reads a page as a browser that carries this cookie.
    #[track_caller]
    pub fn get(self, target: &str, cookie: Option<&str>) -> Answer {
        let host = self.host();
        let mut headers = vec![("host", host.as_str())];
        headers.extend(cookie.map(|cookie| ("cookie", cookie)));
        self.send("GET", target, &headers, b"")
    }

    /// Follows a one-time link and returns the cookie it is exchanged for.
    #[track_caller]
    pub fn sign_in(self, link: &str) -> String {
        let token = link.rsplit('/').next().unwrap_or_default();
        let answer = self.get(&format!("/login/{token}"), None);
        let cookie = answer
            .header("set-cookie")
            .and_then(|cookie| cookie.split(';').next());
        cookie
            .unwrap_or_else(|| panic!("not signed in: {answer:?}"))
            .to_owned()
    }
}

/// Writes the head of a request that closes its connection.
pub fn head(method: &str, target: &str, headers: &[(&str, &str)], length: Option<usize>) -> Vec<u8> {
    let mut head = format!("{method} {target} HTTP/1.1\r\nconnection: close\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    if let Some(length) = length {
        head.push_str(&format!("content-length: {length}\r\n"));
    }
    head.push_str("\r\n");
    head.into_bytes()
}

impl Answer {
    /// Reads an answer to its end, a stream of events only to its beginning: it has no end. `None` when the connection
    /// ended before one was complete.
    pub fn read(reader: &mut impl BufRead) -> Option<Self> {
        let status = read_line(reader)?.split(' ').nth(1)?.parse().ok()?;
        let mut headers = Vec::new();
        loop {
            let line = read_line(reader)?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':')?;
            headers.push((name.to_lowercase(), value.trim().to_owned()));
        }
        let mut answer = Self {
            status,
            headers,
            body: Vec::new(),
        };
        if answer.header("content-type") != Some("text/event-stream") {
            // A reset after the answer is as good as an end.
            let _ = reader.read_to_end(&mut answer.body);
        }
        Some(answer)
    }

    /// Returns a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Says whether another origin's script is allowed anything by it.
    pub fn has_cors(&self) -> bool {
        self.headers
            .iter()
            .any(|(name, _)| name.starts_with("access-control-"))
    }

    /// Returns the body.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// Makes sure of the status, and returns the body, which may be empty, as JSON.
    #[track_caller]
    pub fn ok(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        if self.body.is_empty() {
            Value::Null
        } else {
            self.json()
        }
    }

    /// Makes sure that it is a refusal with this status and code, and returns what is said about it.
    #[track_caller]
    pub fn refused(&self, status: u16, code: &str) -> Value {
        let body = self.ok(status);
        assert_eq!(body["error"]["code"], code, "{body}");
        body["error"].clone()
    }

    /// Returns the body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Returns the body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }
}

fn read_line(reader: &mut impl BufRead) -> Option<String> {
    let mut line = Vec::new();
    let count = reader.read_until(b'\n', &mut line).ok()?;
    (count > 0).then(|| String::from_utf8_lossy(&line).trim_end().to_owned())
}
