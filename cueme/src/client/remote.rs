//! Reaching a broker elsewhere: an HTTP request that becomes a connection which speaks the socket's protocol.
//!
//! Plain HTTP goes to the loopback interface alone, or through SSH, because a token is sent with it.

use std::io::{self, ErrorKind, Read};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::{Duration, Instant};

use adapter_core::http::choose_cryptography;
use protocol_spec::exit::Exit;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use rustls_platform_verifier::ConfigVerifierExt;
use url::{Host, Url};

use super::link::{Side, Target};
use super::ssh::{Tunnel, run_there};
use super::stream::{Connection, Stream};
use super::wait::backoff;
use crate::error::CliError;

/// The timeout of connecting, the handshake and the broker's first message together.
const CONNECT_WAIT_MAX: Duration = Duration::from_secs(20);
/// The most attempts to connect while a proxy finds no broker; the pauses between them add up to some seconds.
const CONNECTS_MAX: u32 = 8;
/// The longest answer of a broker or proxy that is read, in bytes.
const HEAD_BYTES_MAX: usize = 16 * 1024;

/// Connects to a broker elsewhere.
pub(super) fn connect(target: &Target) -> Result<Connection, CliError> {
    let away = |error: io::Error| {
        let message = format!("could not reach the broker at {}: {error}", target.name());
        CliError::no_broker(message)
            .with_hint("check the address with `cueme link --status`, and that the broker runs")
    };
    let mut greeted = greet(target);
    if let (Err(_), Some(destination)) = (&greeted, &target.ssh) {
        // After a long idle time there may be no broker; any verb starts it.
        run_there(destination, &["token", "list"])?;
        greeted = greet(target);
    }
    let (stream, head, first) = greeted.map_err(away)?;
    match status_of(&head) {
        Some(101) => Ok(Connection { stream, first }),
        status => Err(refused(target, status)),
    }
}

/// Sends the handshake; returns the head of the response, and the bytes after it.
fn greet(target: &Target) -> io::Result<(Stream, Vec<u8>, Vec<u8>)> {
    let deadline = Instant::now() + CONNECT_WAIT_MAX;
    let mut stream = open(target, deadline)?;
    let greeted = stream
        .write_all(request(target).as_bytes())
        .and_then(|()| read_head(&mut stream, deadline));
    match greeted {
        Ok((head, first)) => {
            set_patience(&stream, None)?;
            Ok((stream, head, first))
        }
        Err(error) => Err(match &mut stream {
            Stream::Tunnel(tunnel) => tunnel.complaint().map_or(error, io::Error::other),
            _ => error,
        }),
    }
}

/// Connects once, to see whether the broker takes the token; where a proxy finds no broker at first, some seconds long.
pub(crate) fn check(target: &Target) -> Result<(), CliError> {
    patiently(|| connect(target)).map(drop)
}

/// Connects again for some seconds while a proxy finds no broker.
pub(super) fn patiently(connect: impl Fn() -> Result<Connection, CliError>) -> Result<Connection, CliError> {
    for attempt in 1..CONNECTS_MAX {
        match connect() {
            Err(error) if error.is_of_proxy() && !error.is_usage() => {
                std::thread::sleep(backoff(attempt + 1))
            }
            result => return result,
        }
    }
    connect()
}

fn open(target: &Target, deadline: Instant) -> io::Result<Stream> {
    let url = &target.url;
    if let Some(destination) = &target.ssh {
        let port = url.port_or_known_default().unwrap_or(80);
        let tunnel = Tunnel::open(destination, &format!("{}:{port}", host_of(url)))?;
        tunnel.stream.set_read_timeout(Some(CONNECT_WAIT_MAX))?;
        return Ok(Stream::Tunnel(tunnel));
    }
    let tcp = dial(url, deadline)?;
    tcp.set_nodelay(true)?;
    let left = deadline.saturating_duration_since(Instant::now());
    tcp.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
    tcp.set_write_timeout(Some(CONNECT_WAIT_MAX))?;
    if url.scheme() == "http" {
        return Ok(Stream::Plain(tcp));
    }
    let name = match url.host() {
        Some(Host::Domain(name)) => ServerName::try_from(name.to_owned()).map_err(io::Error::other)?,
        Some(Host::Ipv4(address)) => ServerName::from(std::net::IpAddr::from(address)),
        Some(Host::Ipv6(address)) => ServerName::from(std::net::IpAddr::from(address)),
        None => return Err(ErrorKind::InvalidInput.into()),
    };
    choose_cryptography();
    let config = ClientConfig::with_platform_verifier().map_err(io::Error::other)?;
    let session = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
    Ok(Stream::Tls(Box::new(StreamOwned::new(session, tcp))))
}

fn dial(url: &Url, deadline: Instant) -> io::Result<TcpStream> {
    let mut last = io::Error::new(ErrorKind::NotFound, "the name has no address");
    for address in addresses(url)? {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        match TcpStream::connect_timeout(&address, left) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Returns the addresses of a broker: with plain HTTP, those of this machine alone, whatever its name resolves to.
pub(crate) fn addresses(url: &Url) -> io::Result<Vec<SocketAddr>> {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let port = url.port_or_known_default().unwrap_or(443);
    let found = (host, port).to_socket_addrs()?;
    safe_addresses(url, found)
}

fn safe_addresses(url: &Url, found: impl Iterator<Item = SocketAddr>) -> io::Result<Vec<SocketAddr>> {
    let (safe, open): (Vec<_>, Vec<_>) =
        found.partition(|address| url.scheme() == "https" || address.ip().to_canonical().is_loopback());
    match open.first() {
        Some(address) if safe.is_empty() => Err(io::Error::new(
            ErrorKind::PermissionDenied,
            format!(
                "plain HTTP is for the loopback interface only, and the name leads to {}",
                address.ip()
            ),
        )),
        _ => Ok(safe),
    }
}

fn set_patience(stream: &Stream, patience: Option<Duration>) -> io::Result<()> {
    match stream {
        Stream::Local(_) => Ok(()),
        Stream::Plain(stream) => stream.set_read_timeout(patience),
        Stream::Tunnel(tunnel) => tunnel.stream.set_read_timeout(patience),
        Stream::Tls(stream) => stream.sock.set_read_timeout(patience),
    }
}

fn host_of(url: &Url) -> &str {
    url.host_str().unwrap_or_default()
}

fn request(target: &Target) -> String {
    let host = match target.url.port() {
        Some(port) => format!("{}:{port}", host_of(&target.url)),
        None => host_of(&target.url).to_owned(),
    };
    let base = target.url.path().trim_end_matches('/');
    let path = match target.side {
        Side::Agent => "api/v1/hap/connect",
        Side::Human => "api/v1/connect",
    };
    format!(
        "GET {base}/{path} HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: cueme\r\n\
         Authorization: Bearer {}\r\nUser-Agent: cueme/{}\r\n\r\n",
        target.token.expose(),
        protocol_spec::version::PROGRAM
    )
}

/// Reads up to the end of the head; returns it and the bytes after it.
fn read_head(stream: &mut Stream, deadline: Instant) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let mut head = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let count = match stream {
            Stream::Local(stream) => stream.read(&mut piece),
            Stream::Plain(stream) => stream.read(&mut piece),
            Stream::Tunnel(tunnel) => tunnel.stream.read(&mut piece),
            Stream::Tls(stream) => stream.read(&mut piece),
        }?;
        if count == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        head.extend_from_slice(&piece[..count]);
        if let Some(end) = head.windows(4).position(|window| window == b"\r\n\r\n") {
            let first = head.split_off(end + 4);
            return Ok((head, first));
        }
        if head.len() > HEAD_BYTES_MAX {
            return Err(io::Error::new(
                ErrorKind::InvalidData,
                "the answer is not HTTP of a broker",
            ));
        }
        if Instant::now() >= deadline {
            return Err(ErrorKind::TimedOut.into());
        }
    }
}

fn status_of(head: &[u8]) -> Option<u16> {
    let line = head.split(|byte| *byte == b'\r').next()?;
    let line = std::str::from_utf8(line).ok()?;
    let mut words = line.split(' ');
    words.next().filter(|version| version.starts_with("HTTP/1."))?;
    words.next()?.parse().ok()
}

/// Tells refusals that stay (exit 2: a wrong token, no broker there) from a broker that is away for now (exit 69).
fn refused(target: &Target, status: Option<u16>) -> CliError {
    let url = target.name();
    match status {
        Some(401) => {
            CliError::usage(format!("the broker at {url} does not know this token")).with_hint(format!(
                "ask the human to run `cueme link {url}` on this machine, or set CUEME_TOKEN to a new token"
            ))
        }
        Some(403) => {
            let (whose, scope) = match target.side {
                Side::Agent => ("agents'", "join"),
                Side::Human => ("a human's", "human"),
            };
            CliError::usage(format!("the broker at {url} does not accept this token for {whose} calls")).with_hint(format!(
                "use a token of scope `{scope}`; the broker's `[web] url` or `[web] hosts` has to name this address"
            ))
        }
        Some(404 | 426) => CliError::usage(format!(
            "there is no cueme broker at {url} that accepts connections"
        ))
        .with_hint(
            "check the address; a proxy in front of it has to forward the headers `Connection` and `Upgrade`",
        )
        .said_by_proxy(),
        Some(429) => CliError::new(
            Exit::StillOpen,
            format!("the broker at {url} received too many wrong tokens"),
        )
        .with_hint("run the same command again in a minute"),
        Some(status) => {
            let error = CliError::no_broker(format!("the broker at {url} answered with HTTP {status}"))
                .with_hint("run the same command again in a moment");
            match status {
                502..=504 => error.said_by_proxy(),
                _ => error,
            }
        }
        None => CliError::no_broker(format!("{url} does not answer like a broker"))
            .with_hint("check the address with `cueme link --status`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_connects_to_addresses_of_this_machine_alone() {
        let addresses = [
            "203.0.113.7:80",
            "127.0.0.1:80",
            "[::ffff:127.0.0.1]:80",
            "[2001:db8::1]:80",
        ];
        let addresses = addresses.map(|address| address.parse::<SocketAddr>().unwrap());
        let (plain, tls) = (
            "http://localhost".parse().unwrap(),
            "https://localhost".parse().unwrap(),
        );
        assert_eq!(
            safe_addresses(&plain, addresses.into_iter()).unwrap(),
            addresses[1..3]
        );
        assert_eq!(safe_addresses(&tls, addresses.into_iter()).unwrap(), addresses);
        let refused = safe_addresses(&plain, addresses[..1].iter().copied()).unwrap_err();
        assert!(refused.to_string().contains("203.0.113.7"), "{refused}");
    }

    #[test]
    fn the_status_is_read_from_the_first_line_alone() {
        assert_eq!(
            status_of(b"HTTP/1.1 101 Switching Protocols\r\nX: 1\r\n\r\n"),
            Some(101)
        );
        assert_eq!(status_of(b"HTTP/1.0 502 Bad Gateway\r\n\r\n"), Some(502));
        assert_eq!(status_of(b"SSH-2.0-OpenSSH\r\n\r\n"), None);
        assert_eq!(status_of(b"\xff\xfe\r\n\r\n"), None);
    }
}
