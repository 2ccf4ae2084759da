//! Look-ups that were announced for a batch, made together instead of one round trip each.

use std::collections::HashMap;

use cueme_store::{LookUps, Pass, StoreError, parse_id};
use protocol_spec::id::{CueId, RequestId};
use protocol_spec::time::Timestamp;
use tokio_postgres::Row;
use tokio_postgres::types::FromSqlOwned;
use uuid::Uuid;

use crate::fault::Fault;
use crate::statements::{Returned, Step, params};
use crate::text::Text;

/// The announced look-ups, and the results that hold until the transaction ends.
#[derive(Debug, Default)]
pub(crate) struct Found {
    expected: LookUps,
    requests: HashMap<RequestId, Option<CueId>>,
    /// The expiry of credentials that are there.
    passes: HashMap<Pass, Option<Option<Timestamp>>>,
}

impl Found {
    /// Adds look-ups for the next statements.
    pub(crate) fn expect(&mut self, mut look_ups: LookUps) {
        look_ups
            .requests
            .retain(|request| !self.requests.contains_key(request));
        look_ups.passes.retain(|pass| !self.passes.contains_key(pass));
        self.expected.requests.append(&mut look_ups.requests);
        self.expected.passes.append(&mut look_ups.passes);
    }

    /// Returns the statements that make the announced look-ups.
    pub(crate) fn steps(&self) -> Vec<Step> {
        let LookUps { requests, passes } = &self.expected;
        let mut steps = Vec::new();
        if !requests.is_empty() {
            let requests: Vec<Uuid> = requests.iter().map(|request| request.0).collect();
            steps.push(Step::Prepared(
                "SELECT request_id, cue_id FROM requests JOIN cues USING (seq) WHERE request_id = ANY($1)",
                params![requests],
            ));
        }
        if !passes.is_empty() {
            let (mut devices, mut tokens) = (Vec::new(), Vec::new());
            for pass in passes {
                match pass {
                    Pass::Device(id) => devices.push(id.clone()),
                    Pass::Token(id) => tokens.push(id.clone()),
                }
            }
            steps.push(Step::Prepared(
                "SELECT true, device_id, NULL::bigint FROM devices WHERE device_id = ANY($1)
                 UNION ALL SELECT false, token_id, expires_at FROM tokens WHERE token_id = ANY($2)",
                params![devices, tokens],
            ));
        }
        steps
    }

    /// Keeps the results of those statements.
    pub(crate) fn find(&mut self, returned: Vec<Returned>) -> Result<(), StoreError> {
        let LookUps { requests, passes } = std::mem::take(&mut self.expected);
        let mut returned = returned.into_iter();
        if !requests.is_empty() {
            self.requests
                .extend(requests.into_iter().map(|request| (request, None)));
            for row in returned.next().unwrap_or_default().rows {
                let cue = parse_id(value(&row, 1)?)?;
                self.requests.insert(RequestId(value(&row, 0)?), Some(cue));
            }
        }
        if !passes.is_empty() {
            self.passes.extend(passes.into_iter().map(|pass| (pass, None)));
            for row in returned.next().unwrap_or_default().rows {
                let id = value::<Text>(&row, 1)?.0;
                let pass = match value(&row, 0)? {
                    true => Pass::Device(id),
                    false => Pass::Token(id),
                };
                let expires_at: Option<i64> = value(&row, 2)?;
                self.passes
                    .insert(pass, Some(expires_at.map(Timestamp::from_millis)));
            }
        }
        Ok(())
    }

    /// Records that a call belongs to a question from now on.
    pub(crate) fn note_request(&mut self, request: RequestId, cue: CueId) {
        self.requests.insert(request, Some(cue));
    }

    /// Returns the question of a call, if that was looked up.
    pub(crate) fn request(&self, request: RequestId) -> Option<Option<CueId>> {
        self.requests.get(&request).copied()
    }

    /// Says whether a credential is valid, if it was looked up.
    pub(crate) fn is_valid(&self, pass: &Pass, at: Timestamp) -> Option<bool> {
        let expiry = self.passes.get(pass)?;
        Some(expiry.is_some_and(|expires_at| expires_at.is_none_or(|expires_at| expires_at > at)))
    }

    /// Forgets all results: the transaction ends, or may change them.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }
}

fn value<T: FromSqlOwned>(row: &Row, column: usize) -> Result<T, StoreError> {
    Ok(row.try_get(column).map_err(Fault::from)?)
}
