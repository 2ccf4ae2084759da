//! Allows an address to be probed, and returns the expected response.

use protocol_spec::message::{Failure, PublicProbe, Reply};

use super::Next;
use crate::broker::Broker;

pub(in crate::socket) fn public_probe(broker: &Broker, probe: PublicProbe) -> Result<Next, Failure> {
    Ok(Next::Reply(Reply::PublicProbe(broker.probe_public(probe)?)))
}
