//! The addresses that the broker pushes to. A browser sends the address, so it could name a service of this network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

/// The longest address.
const ENDPOINT_BYTES_MAX: usize = 2048;

/// The endpoint of a subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Endpoint {
    pub(super) url: Url,
    /// Whether the configuration names its service, so that its address may be private.
    pub(super) is_private: bool,
}

/// Reads an address: `https` on its usual port, and public, unless the configuration names the service.
pub(super) fn parse_endpoint(text: &str, private_services: &[String]) -> Result<Endpoint, String> {
    if text.len() > ENDPOINT_BYTES_MAX {
        return Err(format!("the endpoint is longer than {ENDPOINT_BYTES_MAX} bytes"));
    }
    let url = Url::parse(text).map_err(|error| format!("the endpoint is no address: {error}"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err("the endpoint holds credentials".to_owned());
    }
    let is_private = private_services
        .iter()
        .filter_map(|service| Url::parse(service).ok())
        .any(|service| service.origin() == url.origin());
    let is_reachable = match url.host() {
        Some(Host::Domain(_)) => true,
        Some(Host::Ipv4(ip)) => is_private || is_public(ip.into()),
        Some(Host::Ipv6(ip)) => is_private || is_public(ip.into()),
        None => false,
    };
    if !is_reachable {
        return Err("the endpoint is an address of a private network".to_owned());
    }
    let is_loopback = match url.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        Some(Host::Domain(_)) | None => false,
    };
    match (url.scheme(), url.port()) {
        ("https", None) => {}
        ("https", Some(_)) if is_private => {}
        ("http", _) if is_private && is_loopback => {}
        ("https", Some(_)) => return Err("the endpoint uses an unusual port".to_owned()),
        _ => return Err("the endpoint does not use https".to_owned()),
    }
    Ok(Endpoint { url, is_private })
}

/// Resolves names to public addresses alone: a name can be changed to point into this network at any time.
#[derive(Debug)]
pub(super) struct PublicOnly;

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let public: Vec<SocketAddr> = found.filter(|address| is_public(address.ip())).collect();
            if public.is_empty() {
                return Err("the name leads to no public address".into());
            }
            Ok(Box::new(public.into_iter()) as Addrs)
        })
    }
}

/// Says whether an address is reachable over the internet.
fn is_public(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [first, second, third, _] = ip.octets();
    let is_shared = first == 100 && (64..128).contains(&second);
    let is_protocol = (first, second, third) == (192, 0, 0);
    let is_benchmark = first == 198 && (18..20).contains(&second);
    !(first == 0
        || first >= 224
        || ip.is_private()
        || ip.is_loopback()
        || ip.is_link_local()
        || ip.is_documentation()
        || is_shared
        || is_protocol
        || is_benchmark)
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    let segments = ip.segments();
    if segments[..6] == [0x64, 0xff9b, 0, 0, 0, 0] {
        // NAT64: an IPv4 address in its last half.
        let [.., a, b, c, d] = ip.octets();
        return is_public_v4(Ipv4Addr::new(a, b, c, d));
    }
    let is_global = segments[0] & 0xe000 == 0x2000;
    let is_tunnel = segments[0] == 0x2002 || segments[..2] == [0x2001, 0];
    let is_documentation = segments[..2] == [0x2001, 0xdb8] || segments[0] == 0x3fff;
    is_global && !is_tunnel && !is_documentation
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_addresses_are_pushed_to() {
        for public in [
            "8.8.8.8",
            "2a00:1450:4001:81b::200a",
            "64:ff9b::808:808",
            "::ffff:8.8.8.8",
        ] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
        for private in [
            "0.0.0.0",
            "10.0.0.1",
            "100.64.0.1",
            "127.0.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "192.0.0.8",
            "192.168.1.1",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001:0:1::1",
            "2001:db8::1",
            "fc00::1",
            "fe80::1",
            "ff02::1",
        ] {
            assert!(!is_public(private.parse().unwrap()), "{private}");
        }
    }

    #[test]
    fn an_endpoint_is_https_and_public_unless_the_configuration_names_its_service() {
        let own = [
            "https://push.lan:8443".to_owned(),
            "http://127.0.0.1:9".to_owned(),
        ];
        for right in [
            "https://fcm.googleapis.com/fcm/send/abc",
            "https://push.lan:8443/a",
            "http://127.0.0.1:9/a",
        ] {
            assert!(parse_endpoint(right, &own).is_ok(), "{right}");
        }
        let long = format!("https://a.example/{}", "x".repeat(ENDPOINT_BYTES_MAX));
        for wrong in [
            "",
            "ftp://a.example/x",
            "http://fcm.googleapis.com/x",
            "https://push.lan:8444/a",
            "https://a.example:8443/x",
            "https://127.0.0.1/x",
            "https://2130706433/x",
            "https://0x7f.1/x",
            "https://[::1]/x",
            "https://[::ffff:10.0.0.1]/x",
            "https://169.254.169.254/latest",
            "https://user@fcm.googleapis.com/x",
            "http://127.0.0.1:10/a",
            "data:text/plain,x",
            &long,
        ] {
            assert!(parse_endpoint(wrong, &own).is_err(), "{wrong}");
        }
        let far = ["http://push.lan".to_owned()];
        assert!(
            parse_endpoint("http://push.lan/x", &far).is_err(),
            "http is for loopback"
        );
    }
}
