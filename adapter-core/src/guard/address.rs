//! The network addresses that an agent may make us visit.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Reports whether an address belongs to the public internet.
///
/// Everything else is refused: an agent that fetches a page must not be able to reach this machine, its network or
/// a cloud's metadata service, under any spelling of the address.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let reserved = matches!(
        (a, b, c),
        (0 | 10 | 127 | 240..=255, _, _)
            | (100, 64..=127, _)
            | (172, 16..=31, _)
            | (198, 18 | 19, _)
            | (169, 254, _)
            | (192, 168, _)
            | (192, 0, 0 | 2)
            | (198, 51, 100)
            | (203, 0, 113)
            | (192, 88, 99)
    );
    !reserved && !address.is_multicast()
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(inner) = embedded_v4(address) {
        return is_public_v4(inner);
    }
    let [first, second, ..] = address.segments();
    // Only 2000::/3 is global unicast; parts of it are set aside.
    let global = first & 0xe000 == 0x2000;
    let documentation = (first == 0x2001 && second == 0x0db8) || (first & 0xfff0 == 0x3ff0);
    let special = first == 0x2001 && second < 0x0200;
    global && !documentation && !special
}

/// Returns the IPv4 address inside a mapped, translated or 6to4 address.
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let low = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Ipv4Addr::new(a, b, c, d)
    };
    match (a, b, c, d, e, f) {
        (0, 0, 0, 0, 0, 0 | 0xffff) | (0x64, 0xff9b, 0, 0, 0, 0) => Some(low(g, h)),
        (0x2002, ..) => Some(low(b, c)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_this_machine_its_network_and_its_cloud_are_not_public() {
        let refused = [
            "127.0.0.1",
            "0.0.0.0",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "192.0.2.1",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "fe80::1",
            "fc00::1",
            "fd12::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "::127.0.0.1",
            "64:ff9b::a00:1",
            "2002:7f00:1::",
            "2001:db8::1",
            "2001::1",
            "fec0::1",
            "100::1",
        ];
        for address in refused {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn addresses_of_the_internet_are_public() {
        for address in [
            "1.1.1.1",
            "172.32.0.1",
            "100.128.0.1",
            "2606:4700::1111",
            "::ffff:8.8.8.8",
            "2a00:1450::1",
        ] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }
}
