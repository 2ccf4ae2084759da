//! The addresses of the page, and the addresses that a request may use.

use std::net::{IpAddr, SocketAddr};

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, header};

use crate::config::WebConfig;

/// The header with which a browser reports the origin of a request.
const FETCH_SITE: &str = "sec-fetch-site";

/// The two ends of a connection.
#[derive(Debug, Clone, Copy)]
pub(in crate::web) struct Peer {
    /// The address of the peer.
    pub(in crate::web) remote: SocketAddr,
    /// Our address that it connected to.
    pub(in crate::web) local: SocketAddr,
}

/// The addresses of the page.
#[derive(Debug, Clone, Copy)]
pub(in crate::web) struct Site {
    /// The address that the broker listens on.
    pub(in crate::web) address: SocketAddr,
}

impl Site {
    /// Returns the address for this machine's own browsers.
    pub(in crate::web) fn local_url(self) -> String {
        let ip = self.address.ip();
        let reachable = match ip {
            IpAddr::V4(v4) if v4.is_unspecified() => IpAddr::from([127, 0, 0, 1]),
            IpAddr::V6(v6) if v6.is_unspecified() => IpAddr::V6(std::net::Ipv6Addr::LOCALHOST),
            ip => ip,
        };
        format!("http://{}", SocketAddr::new(reachable, self.address.port()))
    }

    /// Returns the address for other devices, if there is one.
    pub(in crate::web) fn remote_url(self, config: &WebConfig) -> Option<String> {
        if let Some(url) = &config.url {
            return Some(url.trim_end_matches('/').to_owned());
        }
        if let Some(host) = config.hosts.first() {
            return Some(format!("http://{host}"));
        }
        let ip = self.address.ip();
        let ip = if ip.is_unspecified() {
            outward_address()?
        } else {
            ip
        };
        (!ip.is_loopback()).then(|| format!("http://{}", SocketAddr::new(ip, self.address.port())))
    }
}

impl Site {
    /// Says whether only programs of this machine connect to the page, each for its own user.
    ///
    /// A proxy, a tunnel or another device connects for others: with a further name or a listener beyond this machine,
    /// the user on the other end of a connection does not identify the visitor.
    pub(in crate::web) fn is_for_this_machine_alone(self, config: &WebConfig) -> bool {
        let is_loopback = self.address.ip().to_canonical().is_loopback();
        is_loopback && config.url.is_none() && config.hosts.is_empty()
    }
}

/// Returns the address of this machine in the network. Nothing is sent.
fn outward_address() -> Option<IpAddr> {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").ok()?;
    // An address of the range for documentation: only the routing table is consulted.
    socket.connect("192.0.2.1:9").ok()?;
    socket.local_addr().ok().map(|address| address.ip())
}

/// Returns the host that a request is addressed to, if it is one of ours.
///
/// A numeric address is ours when the connection reached us there: no name was resolved, so DNS rebinding is
/// impossible.
pub(in crate::web) fn own_host<'a>(parts: &'a Parts, peer: Peer, config: &WebConfig) -> Option<&'a str> {
    let host = only(&parts.headers, &header::HOST)?;
    // The absolute form names the host twice; both must be ours, and the same.
    if let Some(authority) = parts.uri.authority()
        && authority.as_str() != host
    {
        return None;
    }
    is_own(host, peer, config).then_some(host)
}

fn is_own(host: &str, peer: Peer, config: &WebConfig) -> bool {
    let port = peer.local.port();
    let configured = config.hosts.iter().map(String::as_str).chain(config.url_host());
    if configured.into_iter().any(|own| own.eq_ignore_ascii_case(host)) {
        return true;
    }
    // Compared literally: no browser writes an equivalent form such as `127.0.0.1:07000`.
    if peer.local.to_string() == host {
        return true;
    }
    if !peer.local.ip().is_loopback() {
        return false;
    }
    [
        format!("localhost:{port}"),
        format!("127.0.0.1:{port}"),
        format!("[::1]:{port}"),
    ]
    .iter()
    .any(|own| own.eq_ignore_ascii_case(host))
}

/// Says whether a request comes from our own page, from no page at all, or from another one.
pub(in crate::web) fn comes_from(parts: &Parts, host: &str, config: &WebConfig) -> Source {
    let site = parts.headers.get(FETCH_SITE).map(|site| site.as_bytes());
    let mode = parts.headers.get("sec-fetch-mode").map(|mode| mode.as_bytes());
    match site {
        Some(b"same-origin") | None => {}
        // Typed by the person, or opened by another program.
        Some(b"none") => {}
        // A link on another page may lead here; it carries no cookie.
        Some(_) if mode == Some(b"navigate") && is_safe(parts) => return Source::Nowhere,
        Some(_) => return Source::Elsewhere,
    }
    if !parts.headers.contains_key(header::ORIGIN) {
        return Source::Nowhere;
    }
    match only(&parts.headers, &header::ORIGIN) {
        Some(origin) if is_origin_of(origin, host) || is_listed(origin, config) => Source::OurPage,
        Some(_) | None => Source::Elsewhere,
    }
}

/// Says whether no page caused this request: the person typed the address, or another program opened it.
pub(in crate::web) fn is_opened_by_person(headers: &HeaderMap) -> bool {
    only(headers, &HeaderName::from_static(FETCH_SITE)) == Some("none")
}

/// The source of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::web) enum Source {
    /// Our own page, according to the browser.
    OurPage,
    /// Unknown: no browser, or a plain navigation.
    Nowhere,
    /// Another page.
    Elsewhere,
}

fn is_origin_of(origin: &str, host: &str) -> bool {
    let authority = origin
        .strip_prefix("http://")
        .or_else(|| origin.strip_prefix("https://"));
    authority.is_some_and(|authority| authority.eq_ignore_ascii_case(host))
}

fn is_listed(origin: &str, config: &WebConfig) -> bool {
    let is_it = |own: &String| own.trim_end_matches('/').eq_ignore_ascii_case(origin);
    !origin.is_empty() && config.origins.iter().any(is_it)
}

pub(super) fn is_safe(parts: &Parts) -> bool {
    parts.method == axum::http::Method::GET || parts.method == axum::http::Method::HEAD
}

/// Returns a header that occurs exactly once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    if values.next().is_some() {
        return None;
    }
    first.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::Request;

    fn peer() -> Peer {
        Peer {
            remote: "127.0.0.1:50000".parse().unwrap(),
            local: "127.0.0.1:7000".parse().unwrap(),
        }
    }

    fn parts(uri: &str, headers: &[(&str, &str)]) -> Parts {
        let mut request = Request::builder().uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap().into_parts().0
    }

    #[test]
    fn only_our_own_names_are_hosts() {
        let config = WebConfig {
            hosts: vec!["cue.example.org".into()],
            url: Some("https://inbox.example.org/".into()),
            ..WebConfig::default()
        };
        for host in [
            "127.0.0.1:7000",
            "localhost:7000",
            "LOCALHOST:7000",
            "[::1]:7000",
            "cue.example.org",
            "inbox.example.org",
        ] {
            assert!(
                own_host(&parts("/", &[("host", host)]), peer(), &config).is_some(),
                "{host}"
            );
        }
        for host in [
            "evil.test",
            "evil.test:7000",
            "127.0.0.1.evil.test:7000",
            "localhost.:7000",
            "localhost",
            "127.0.0.1",
            "127.0.0.1:7001",
            "0.0.0.0:7000",
            "[::]:7000",
            "[::ffff:127.0.0.1]:7000",
            "user@127.0.0.1:7000",
            "127.1:7000",
            "127.0.0.1:07000",
            "2130706433:7000",
            "",
            "127.0.0.1:7000,evil.test",
            "cue.example.org:7000",
            "cue.example.org.",
            " 127.0.0.1:7000",
            "192.168.1.5:7000",
        ] {
            assert!(
                own_host(&parts("/", &[("host", host)]), peer(), &config).is_none(),
                "{host}"
            );
        }
        assert!(own_host(&parts("/", &[]), peer(), &config).is_none());
        let twice = parts("/", &[("host", "127.0.0.1:7000"), ("host", "127.0.0.1:7000")]);
        assert!(own_host(&twice, peer(), &config).is_none());
        let absolute = parts("http://evil.test/", &[("host", "127.0.0.1:7000")]);
        assert!(own_host(&absolute, peer(), &config).is_none());
    }

    #[test]
    fn an_address_in_digits_is_ours_where_the_connection_reached_us() {
        let lan = Peer {
            remote: "192.168.1.9:50000".parse().unwrap(),
            local: "192.168.1.5:7000".parse().unwrap(),
        };
        let config = WebConfig::default();
        assert!(own_host(&parts("/", &[("host", "192.168.1.5:7000")]), lan, &config).is_some());
        assert!(own_host(&parts("/", &[("host", "localhost:7000")]), lan, &config).is_none());
    }

    #[test]
    fn the_page_is_for_this_machine_alone_until_somebody_speaks_for_others() {
        let site = |address: &str| Site {
            address: address.parse().unwrap(),
        };
        let config = WebConfig::default();
        for own in ["127.0.0.1:7000", "[::1]:7000", "[::ffff:127.0.0.1]:7000"] {
            assert!(site(own).is_for_this_machine_alone(&config), "{own}");
        }
        for open in ["0.0.0.0:7000", "[::]:7000", "192.168.1.5:7000"] {
            assert!(!site(open).is_for_this_machine_alone(&config), "{open}");
        }
        let proxied = WebConfig {
            url: Some("https://cue.example.org".into()),
            ..WebConfig::default()
        };
        let named = WebConfig {
            hosts: vec!["box:7000".into()],
            ..WebConfig::default()
        };
        assert!(!site("127.0.0.1:7000").is_for_this_machine_alone(&proxied));
        assert!(!site("127.0.0.1:7000").is_for_this_machine_alone(&named));
    }

    #[test]
    fn other_pages_are_told_from_our_own() {
        let host = "127.0.0.1:7000";
        let config = WebConfig::default();
        let of = |headers: &[(&str, &str)]| comes_from(&parts("/", headers), host, &config);
        assert_eq!(of(&[]), Source::Nowhere);
        assert_eq!(of(&[("origin", "http://127.0.0.1:7000")]), Source::OurPage);
        for origin in [
            "http://127.0.0.1:7001",
            "null",
            "http://evil.test",
            "http://127.0.0.1:7000.evil.test",
            "file://",
            "",
        ] {
            assert_eq!(of(&[("origin", origin)]), Source::Elsewhere, "{origin}");
        }
        assert_eq!(of(&[("sec-fetch-site", "cross-site")]), Source::Elsewhere);
        assert_eq!(of(&[("sec-fetch-site", "same-site")]), Source::Elsewhere);
        assert_eq!(
            of(&[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")]),
            Source::Nowhere
        );
    }

    #[test]
    fn an_origin_that_a_tunnel_writes_is_ours_where_it_is_listed_and_the_browser_agrees() {
        let host = "name-7000.app.github.dev";
        let config = WebConfig {
            hosts: vec![host.into()],
            origins: vec!["http://localhost:7000/".into(), String::new()],
            ..WebConfig::default()
        };
        let of = |headers: &[(&str, &str)]| comes_from(&parts("/", headers), host, &config);
        let rewritten = ("origin", "http://localhost:7000");
        assert_eq!(of(&[rewritten]), Source::OurPage);
        assert_eq!(of(&[rewritten, (FETCH_SITE, "same-origin")]), Source::OurPage);
        assert_eq!(of(&[rewritten, (FETCH_SITE, "cross-site")]), Source::Elsewhere);
        for origin in ["http://localhost:7001", "https://localhost:7000", "null", ""] {
            assert_eq!(of(&[("origin", origin)]), Source::Elsewhere, "{origin}");
        }
    }

    #[test]
    fn only_the_browser_says_that_no_page_led_here() {
        let of = |headers: &[(&str, &str)]| is_opened_by_person(&parts("/", headers).headers);
        assert!(of(&[(FETCH_SITE, "none")]));
        for site in ["same-origin", "same-site", "cross-site", ""] {
            assert!(!of(&[(FETCH_SITE, site)]), "{site}");
        }
        assert!(!of(&[]));
        assert!(!of(&[(FETCH_SITE, "none"), (FETCH_SITE, "cross-site")]));
    }
}
