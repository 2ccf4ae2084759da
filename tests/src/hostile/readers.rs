//! Every reader of foreign bytes, each with a property that holds for all inputs. A reader that breaks its property
//! panics.
//!
//! `cargo fuzz` drives them, `prove r5` does with chance alone, and a test replays what fuzzing kept.

use adapter_core::cursor::cli::{ReplayOptions, replay};
use axum::http::request::Parts;
use axum::http::{Request, header};
use cueme_broker::config::WebConfig;
use cueme_broker::edge;
use protocol_spec::envelope as hap;
use protocol_spec::frame::Splitter;
use protocol_spec::message::{decode_reply, decode_request, encode_reply, encode_request};
use protocol_spec::payload::Payload;

/// The envelope's rules read a second time, as plainly as can be.
#[path = "naive.rs"]
mod naive;
/// Compares shown text with its source.
#[path = "visible.rs"]
pub mod visible;

/// A reader, and the name of its corpus.
pub type Reader = (&'static str, fn(&[u8]));

/// All of them.
pub const READERS: [Reader; 6] = [
    ("envelope", envelope),
    ("payload", payload),
    ("frame", frame),
    ("stream", stream),
    ("edge", edge),
    ("markdown", markdown),
];

/// Reads any bytes as an envelope, and holds the outcome against the naive reading.
pub fn envelope(bytes: &[u8]) {
    let Ok(text) = hap::decode(bytes) else { return };
    naive::compare(&text, false, &hap::parse_cue(&text));
    naive::compare(&text, true, &hap::parse_pause(&text));
}

/// Reads any text as a payload; what is accepted keeps its meaning in its normal form and on the wire.
pub fn payload(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let Ok(payload) = Payload::parse(text) else {
        return;
    };
    let normal = Payload::parse(&payload.normalised()).expect("the normal form is valid");
    assert_eq!(normal.shape(), payload.shape());
    assert_eq!(normal.normalised(), payload.normalised());
    let line = payload.one_line();
    assert!(!line.contains('\n'));
    assert_eq!(Payload::parse(&line).expect("the wire form is valid"), payload);
}

/// Splits any bytes into lines: the same ones regardless of the pieces they come in. A line that decodes as a message
/// is encoded as a line that decodes to the same.
pub fn frame(bytes: &[u8]) {
    let Some((cut, bytes)) = bytes.split_first() else {
        return;
    };
    let mut whole = Splitter::default();
    whole.push(bytes);
    let mut pieces = Splitter::default();
    for piece in bytes.chunks(usize::from(*cut).max(1)) {
        pieces.push(piece);
        while let Ok(Some(line)) = pieces.next_line() {
            assert_eq!(whole.next_line(), Ok(Some(line)));
            message(line);
        }
    }
    assert_eq!(whole.next_line(), Ok(None));
}

fn message(line: &[u8]) {
    if let Ok((id, request)) = decode_request(line) {
        let again = encode_request(id, &request).expect("what was read can be written");
        let (_, read) = decode_request(again.trim_ascii_end()).expect("what was written can be read");
        assert_eq!(encode_request(id, &read).expect("twice"), again);
    }
    if let Ok((id, reply)) = decode_reply(line) {
        let again = encode_reply(id, &reply).expect("what was read can be written");
        assert!(decode_reply(again.trim_ascii_end()).is_ok());
    }
}

/// Replays any bytes as the stream of an agent's process: the turn ends.
pub fn stream(bytes: &[u8]) {
    replay(bytes, std::io::sink(), ReplayOptions::default()).expect("a sink takes everything");
}

/// Reads any bytes as the head of a request to the page: only a head that says so to the letter counts as from our own
/// host, or our own page.
pub fn edge(bytes: &[u8]) {
    let Some(parts) = head(bytes) else { return };
    let config = WebConfig {
        hosts: vec!["cue.example.org".into()],
        origins: Vec::new(),
        url: Some("https://inbox.example.org/".into()),
    };
    let names = [
        "127.0.0.1:7000",
        "localhost:7000",
        "[::1]:7000",
        "cue.example.org",
        "inbox.example.org",
    ];
    let local = ([127, 0, 0, 1], 7000).into();
    let head = edge::head(&parts, local, &config, "cueme");
    if let Some(host) = head.host {
        assert_eq!(parts.headers.get_all(header::HOST).iter().count(), 1);
        assert!(names.contains(&host.to_ascii_lowercase().as_str()), "{host}");
        assert!(parts.uri.authority().is_none_or(|named| named == host));
    }
    if head.is_our_page {
        let host = head.host.expect("our page is on our host").to_ascii_lowercase();
        let origin = parts.headers[header::ORIGIN].to_str().expect("an origin is text");
        let origin = origin.to_ascii_lowercase();
        assert!(
            origin == format!("http://{host}") || origin == format!("https://{host}"),
            "{origin}"
        );
        let site = parts.headers.get("sec-fetch-site").map(|site| site.as_bytes());
        assert!(matches!(site, None | Some(b"none" | b"same-origin")));
    }
    if let Some(cookie) = head.cookie {
        assert!(!cookie.contains(';'));
    }
    assert!(head.bearer.is_none() || parts.headers.contains_key(header::AUTHORIZATION));
    edge::queries(&parts.uri);
}

/// Returns the head as the page's server would hand it on, if it would.
fn head(bytes: &[u8]) -> Option<Parts> {
    let mut headers = [httparse::EMPTY_HEADER; 32];
    let mut read = httparse::Request::new(&mut headers);
    read.parse(bytes).ok().filter(httparse::Status::is_complete)?;
    let mut request = Request::builder().method(read.method?).uri(read.path?);
    for header in read.headers {
        request = request.header(header.name, header.value);
    }
    request.body(()).ok().map(|request| request.into_parts().0)
}

/// Renders any text as Markdown: nothing in it becomes a script, a handler or an address that runs, and nothing but marks
/// is left out.
pub fn markdown(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let shown = edge::markdown(text);
    visible::check(text, &visible::text_of(&shown.html), shown.hides_marks)
        .unwrap_or_else(|missing| panic!("{missing}"));
    for tag in tags(&shown.html) {
        let name = tag.trim_start_matches('/').split([' ', '/']).next();
        assert!(name.is_some_and(|name| TAGS.contains(&name)), "<{tag}>");
        for attribute in attributes(tag) {
            assert!(ATTRIBUTES.contains(&attribute.0), "<{tag}>");
            let address = attribute.1.to_ascii_lowercase();
            assert!(
                attribute.0 != "href" || SCHEMES.iter().any(|scheme| address.starts_with(scheme)),
                "<{tag}>"
            );
        }
    }
}

/// The tags that the page may use to draw a text. A copy on purpose: the test notices a list that grew there.
const TAGS: [&str; 26] = [
    "a",
    "blockquote",
    "br",
    "code",
    "del",
    "em",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "li",
    "ol",
    "p",
    "pre",
    "span",
    "strong",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
];
const ATTRIBUTES: [&str; 6] = ["class", "href", "rel", "start", "target", "title"];
const SCHEMES: [&str; 3] = ["http:", "https:", "mailto:"];

/// Returns the insides of all tags, as a browser would find them.
fn tags(html: &str) -> Vec<&str> {
    let mut tags = Vec::new();
    let mut rest = html;
    while let Some((_, after)) = rest.split_once('<') {
        let mut is_quoted = false;
        let end = after.find(|letter| {
            is_quoted ^= letter == '"';
            letter == '>' && !is_quoted
        });
        let end = end.expect("a tag ends");
        tags.push(&after[..end]);
        rest = &after[end + 1..];
    }
    tags
}

/// Returns the names and values of a tag's attributes.
fn attributes(tag: &str) -> Vec<(&str, &str)> {
    let mut attributes = Vec::new();
    let mut parts = tag.split('"');
    while let (Some(before), Some(value)) = (parts.next(), parts.next()) {
        let name = before.rsplit(' ').next().unwrap_or_default();
        attributes.push((name.trim_end_matches('='), value));
    }
    attributes
}
