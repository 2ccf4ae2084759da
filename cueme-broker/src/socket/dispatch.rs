//! Dispatches each request to its operation.

use protocol_spec::id::RequestId;
use protocol_spec::message::{ErrorCode, Failure, Reply, Request, Stopping, Welcome};
use protocol_spec::version;

use super::WAITS_PER_CONNECTION_MAX;
use super::connection::{Connection, Ended, Wait};
use super::operation::*;
use crate::broker::StopReason;
use crate::engine::{Order, Work};
use crate::machine::Ticket;

/// Carries out one request.
pub(super) async fn dispatch(
    connection: &mut Connection,
    id: RequestId,
    request: Request,
) -> Result<(), Ended> {
    let broker = &connection.broker;
    let next = match request {
        Request::Hello(_) => Ok(Next::Reply(welcome())),
        // Agents.
        Request::Join(body) => join::join(body),
        Request::Bind(body) => bind::bind(body),
        Request::Ask(body) => ask::ask(body),
        Request::Attach(body) => attach::attach(&body),
        Request::Ack(body) => ack::ack(body),
        Request::Rest(body) => Ok(rest::rest(&body)),
        Request::Collect(body) => collect::collect(body),
        Request::Recall(body) => recall::recall(broker, body).await,
        Request::Receipts(body) => receipts::receipts(broker, body).await,
        Request::File(body) => file::file(broker, body).await,
        // Humans.
        Request::Answer(body) => answer::answer(broker, body).await,
        Request::Decline(body) => decline::decline(broker, body).await,
        Request::Cancel(body) => cancel::cancel(broker, body).await,
        Request::Undo(body) => undo::undo(broker, body).await,
        Request::Say(body) => say::say(broker, body).await,
        Request::Amend(body) => amend::amend(broker, body).await,
        Request::Inbox(_) => return inbox::inbox(connection, id).await,
        Request::Unseen(_) => return unseen::unseen(connection, id).await,
        Request::Agents(_) => return agents::agents(connection, id).await,
        Request::History(body) => return history::history(connection, id, body).await,
        Request::Show(body) => return show::show(connection, id, &body.cue).await,
        Request::Seen(body) => return seen::seen(connection, id, &body.cue).await,
        Request::Last(body) => return last::last(connection, id, &body.agent).await,
        Request::Watch(body) => return watch::watch(connection, id, body).await,
        // Operation.
        Request::Status(_) => status::status(broker).await,
        Request::Stop(_) => Ok(Next::Stop(StopReason::Asked)),
        Request::Retire(body) => broker.retire(&body).map(|()| Next::Stop(StopReason::Retired)),
        Request::Check(_) => check::check(broker).await,
        Request::Backup(body) => backup::backup(broker, body).await,
        Request::Purge(body) => purge::purge(broker, body).await,
        Request::Import(body) => import::import(broker, body).await,
        Request::WebLink(body) => link::link(broker, body).await,
        Request::Token(body) => token::token(broker, body).await,
        Request::Tokens(_) => tokens::tokens(broker).await,
        Request::RevokeToken(body) => revoke_token::revoke_token(broker, &body.token).await,
        // Runs.
        Request::RunReport(body) => run_report::run_report(broker, *body).await,
        Request::RunFollow(body) => return follow::follow(connection, id, body).await,
        Request::RunClaim(body) => run_claim::run_claim(broker, body).await,
        Request::Runs(body) => return runs::runs(connection, id, body).await,
        Request::Bootstrap(body) => bootstrap::bootstrap(broker, body).await,
        Request::PublicProbe(body) => public_probe::public_probe(broker, body),
    };
    let handed_in = match next {
        Ok(Next::Reply(reply)) => return connection.send(id, &reply).await,
        Ok(Next::Stop(reason)) => {
            let pid = std::process::id();
            connection.send(id, &Reply::Stopping(Stopping { pid })).await?;
            connection.broker.stop(reason);
            return Ok(());
        }
        Ok(Next::Submit(work)) => submit(connection, id, work),
        Ok(Next::Wait(work)) => wait(connection, id, work),
        Err(failure) => Err(failure),
    };
    match handed_in {
        Ok(()) => Ok(()),
        Err(failure) => connection.fail(id, failure).await,
    }
}

pub(super) fn welcome() -> Reply {
    Reply::Welcome(Welcome {
        version: version::PROGRAM.to_owned(),
        protocol: version::PROTOCOL,
        pid: std::process::id(),
    })
}

/// Submits work to the engine, which replies.
fn submit(connection: &Connection, id: RequestId, work: Work) -> Result<(), Failure> {
    hand_in(connection, connection.broker.engine().ticket(), id, work)
}

/// Submits work whose outcome the caller waits for.
fn wait(connection: &mut Connection, id: RequestId, work: Work) -> Result<(), Failure> {
    if connection.waits.len() >= WAITS_PER_CONNECTION_MAX {
        let message = format!("{WAITS_PER_CONNECTION_MAX} waits on one connection");
        return Err(Failure::new(ErrorCode::Busy, message).with_hint("open another connection"));
    }
    let ticket = connection.broker.engine().ticket();
    hand_in(connection, ticket, id, work)?;
    // Few callers wait for more than one question at once.
    connection.waits.reserve_exact(1);
    connection.waits.push(Wait {
        call: id,
        ticket,
        cue: None,
        told: None,
    });
    Ok(())
}

fn hand_in(connection: &Connection, ticket: Ticket, id: RequestId, work: Work) -> Result<(), Failure> {
    let order = Order {
        ticket,
        request: id,
        work,
    };
    connection
        .broker
        .engine()
        .order(connection.caller.pass(), None, order, connection.sender.clone())
        .map_err(Failure::from)
}
