//! An agent joins.

use protocol_spec::message::{Failure, Join};

use super::Next;
use crate::engine::Work;
use crate::socket::check::{check_names, check_session};

pub(in crate::socket) fn join(join: Join) -> Result<Next, Failure> {
    check_join(join).map(Next::Submit)
}

pub(in crate::socket) fn check_join(join: Join) -> Result<Work, Failure> {
    check_names(&[&join.project_dir, &join.terminal])?;
    join.session.as_ref().map_or(Ok(()), check_session)?;
    Ok(Work::Join {
        runtime: join.runtime,
        project_dir: join.project_dir,
        terminal: join.terminal,
        session: join.session,
    })
}
