//! A browser as the broker sees one: signed in, and asking for things.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};

use crate::home::Home;

/// Somebody who may see the page.
pub(crate) struct Visitor {
    pub(crate) address: SocketAddr,
    host: String,
    cookie: String,
}

impl Visitor {
    /// Signs in as a browser does: the link's token is exchanged for a cookie.
    pub(crate) fn to(home: &Home) -> Self {
        let printed = home
            .command()
            .args(["ui", "--print-url"])
            .output()
            .expect("a link");
        let url = String::from_utf8(printed.stdout).expect("a link");
        let (host, path) = url
            .trim()
            .strip_prefix("http://")
            .and_then(|rest| rest.split_once('/'))
            .expect("a link on this machine");
        let address = host.parse().expect("an address");
        let mut stream = TcpStream::connect(address).expect("the page");
        write!(
            stream,
            "GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        )
        .expect("a request");
        let cookie = BufReader::new(stream)
            .lines()
            .map_while(Result::ok)
            .find_map(|line| {
                let (name, value) = line.split_once(':')?;
                let cookie = value.trim().split(';').next()?;
                name.eq_ignore_ascii_case("set-cookie").then(|| cookie.to_owned())
            })
            .expect("a cookie");
        Self {
            address,
            host: host.to_owned(),
            cookie,
        }
    }

    /// Returns the head of a request.
    pub(crate) fn head(&self, path: &str) -> String {
        format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\n\r\n",
            self.host, self.cookie
        )
    }

    /// Asks for something over a connection of its own, and returns all of it.
    pub(crate) fn get(&self, path: &str) -> Vec<u8> {
        let mut stream = TcpStream::connect(self.address).expect("the page");
        stream.write_all(self.head(path).as_bytes()).expect("the page");
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).expect("a status");
        assert!(line.starts_with("HTTP/1.1 200"), "{path}: {line}");
        let mut length = 0;
        while !line.trim().is_empty() {
            line.clear();
            reader.read_line(&mut line).expect("a header");
            let header = line.to_ascii_lowercase();
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().expect("a length");
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).expect("a body");
        body
    }
}
