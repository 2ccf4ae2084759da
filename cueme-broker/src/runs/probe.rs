//! Proves that an address leads to this broker: a path that only this broker can answer, for a minute.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use protocol_spec::hex::hex;
use protocol_spec::message::{ErrorCode, Failure, PublicProbe, PublicProbed};

use crate::broker::Broker;

/// The path of a probe, without its nonce.
pub(crate) const HEALTH_PATH: &str = "/api/health/";

const TTL: Duration = Duration::from_secs(60);
/// The most probes at once; beyond that, the oldest is forgotten.
const PROBES_MAX: usize = 16;
const PUBLIC_URL_BYTES_MAX: usize = 2_048;
const NONCE_BYTES: usize = 16;

/// The probes of the last minute.
#[derive(Debug, Default)]
pub(crate) struct Probes {
    known: Mutex<VecDeque<Probe>>,
}

#[derive(Debug)]
struct Probe {
    nonce: String,
    proof: String,
    public_url: String,
    made: Instant,
}

impl Probes {
    /// Returns the response to a nonce, if this broker made it.
    pub(crate) fn proof(&self, nonce: &str) -> Option<String> {
        let known = self.recent();
        let probe = known.iter().find(|probe| probe.nonce == nonce)?;
        Some(probe.proof.clone())
    }

    /// Returns the addresses being probed.
    pub(crate) fn public_urls(&self) -> Vec<String> {
        self.recent()
            .iter()
            .map(|probe| probe.public_url.clone())
            .collect()
    }

    fn add(&self, probe: Probe) {
        let mut known = self.recent();
        if known.len() >= PROBES_MAX {
            known.pop_front();
        }
        known.push_back(probe);
    }

    fn recent(&self) -> MutexGuard<'_, VecDeque<Probe>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|probe| probe.made.elapsed() < TTL);
        known
    }
}

impl Broker {
    /// Allows an address to be probed, and returns the expected response.
    pub(crate) fn probe_public(&self, probe: PublicProbe) -> Result<PublicProbed, Failure> {
        if probe.public_url.len() > PUBLIC_URL_BYTES_MAX {
            let message = format!("the address is longer than {PUBLIC_URL_BYTES_MAX} bytes");
            return Err(Failure::new(ErrorCode::TooLarge, message));
        }
        let (nonce, proof) = (random()?, random()?);
        let probed = PublicProbed {
            listens_on: self.public_address().map(|address| address.to_string()),
            path: format!("{HEALTH_PATH}{nonce}"),
            proof: proof.clone(),
        };
        self.probes().add(Probe {
            nonce,
            proof,
            public_url: probe.public_url,
            made: Instant::now(),
        });
        Ok(probed)
    }
}

fn random() -> Result<String, Failure> {
    let mut bytes = [0; NONCE_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| {
        Failure::new(
            ErrorCode::Internal,
            format!("could not draw a random number: {error}"),
        )
    })?;
    Ok(hex(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_newest_probes_are_known_and_each_by_its_own_nonce() {
        let probes = Probes::default();
        for number in 0..=PROBES_MAX {
            probes.add(Probe {
                nonce: format!("n{number}"),
                proof: format!("p{number}"),
                public_url: "https://broker.example".into(),
                made: Instant::now(),
            });
        }
        assert_eq!(probes.proof("n0"), None);
        assert_eq!(probes.proof("n1").as_deref(), Some("p1"));
        assert_eq!(probes.proof("p1"), None);
        assert_eq!(probes.public_urls().len(), PROBES_MAX);
    }
}
