//! The page's parsers of external input, without a broker behind them, for fuzzing.

use std::net::SocketAddr;

use axum::extract::Query;
use axum::http::Uri;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use super::door::{Peer, Source, bearer, comes_from, cookie, own_host};
use super::events::EventsQuery;
use super::runs::ChatQuery;
use crate::config::WebConfig;
use crate::web::cue::{PartQuery, SearchQuery, TimelineQuery};
use crate::web::hap::WaitQuery;
use crate::web::upload::UploadQuery;

/// The fields that the door reads in the head of a request.
#[derive(Debug)]
pub struct Head<'a> {
    /// The host it speaks to, if that is one of ours.
    pub host: Option<&'a str>,
    /// Whether it says that it comes from our own page.
    pub is_our_page: bool,
    /// The token it carries.
    pub bearer: Option<&'a str>,
    /// The cookie it carries.
    pub cookie: Option<&'a str>,
}

/// Reads a head as the door does.
pub fn head<'a>(parts: &'a Parts, local: SocketAddr, config: &WebConfig, cookie_name: &str) -> Head<'a> {
    let peer = Peer { remote: local, local };
    let host = own_host(parts, peer, config);
    Head {
        host,
        is_our_page: host.is_some_and(|host| comes_from(parts, host, config) == Source::OurPage),
        bearer: bearer(parts),
        cookie: cookie(parts, cookie_name),
    }
}

/// Parses a query as each of the handlers does; returns how many of them accept it.
pub fn queries(uri: &Uri) -> usize {
    [
        understands::<TimelineQuery>,
        understands::<PartQuery>,
        understands::<SearchQuery>,
        understands::<EventsQuery>,
        understands::<WaitQuery>,
        understands::<UploadQuery>,
        understands::<ChatQuery>,
    ]
    .into_iter()
    .filter(|understands| understands(uri))
    .count()
}

fn understands<T: DeserializeOwned>(uri: &Uri) -> bool {
    Query::<T>::try_from_uri(uri).is_ok()
}

/// A text as the page shows it.
#[derive(Debug)]
pub struct Shown {
    /// Sanitised HTML.
    pub html: String,
    /// Whether the page says that marks of the source are left out, and offers the source.
    pub hides_marks: bool,
}

/// Renders an agent's Markdown as the page shows it.
pub fn markdown(source: &str) -> Shown {
    let rendered = super::markdown::render(source);
    Shown {
        html: rendered.html,
        hides_marks: rendered.hides_marks,
    }
}
