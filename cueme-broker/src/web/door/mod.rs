//! Admission: the user of the peer, the Host and Origin of the request, and its credentials.
//!
//! All of it happens before a request is routed, so that an unauthorized visitor learns nothing about the routes.

mod address;
mod failures;
mod guard;
mod keys;
mod login;
mod machine;
mod outside;
mod peer_user;
mod refresh;
mod secret;
mod socket_table;

pub(super) use address::{Peer, Site, Source, comes_from, is_opened_by_person, own_host};
pub(super) use guard::{
    Admitted, Refused, Visitor, Who, admit, another_user, bearer, cookie, unauthenticated,
};
pub(super) use keys::Keys;
pub(super) use login::{login, login_token, sign_in_page};
pub(super) use machine::{link_code, link_machine};
pub(super) use outside::{admit_outside, outsider};
pub(super) use peer_user::PeerUsers;
