//! What each operation does: agents' and humans' words go to the engine, reading happens beside it.

use std::path::{Path, PathBuf};

use protocol_spec::envelope::PROMPT_BYTES_MAX;
use protocol_spec::id::{AgentId, CueId, RequestId};
use protocol_spec::message::{
    ACKS_MAX, Ack, Acked, Ask, BackedUp, Checked, ErrorCode, Failure, MESSAGE_BYTES_MAX, MintToken,
    NAME_BYTES_MAX, Purged, Recalled, ReceiptList, Reply, Request, Stopping, WebLink, Welcome,
};
use protocol_spec::payload::Payload;
use protocol_spec::version;

use super::WAITS_PER_CONNECTION_MAX;
use super::connection::{Connection, Ended, Wait};
use super::{import, list, runs, watch};
use crate::broker::{StopReason, blocking};
use crate::engine::{EngineError, Order, Work};
use crate::machine::Ticket;
use crate::store::Recollection;

/// Carries out one request.
pub(super) async fn dispatch(
    connection: &mut Connection,
    id: RequestId,
    request: Request,
) -> Result<(), Ended> {
    let done = match request {
        Request::Hello(_) => connection.send(id, &welcome()).await.map(Ok)?,
        Request::Join(join) => match check_names(&[&join.project_dir, &join.terminal])
            .and_then(|()| join.session.as_ref().map_or(Ok(()), check_session))
        {
            Ok(()) => submit(
                connection,
                id,
                Work::Join {
                    runtime: join.runtime,
                    project_dir: join.project_dir,
                    terminal: join.terminal,
                    session: join.session,
                },
            ),
            Err(failure) => Err(failure),
        },
        Request::Bind(bind) => match check_session(&bind.session) {
            Ok(()) => submit(
                connection,
                id,
                Work::Bind {
                    agent: bind.agent_id,
                    session: bind.session,
                },
            ),
            Err(failure) => Err(failure),
        },
        Request::Ask(ask) => match check_ask(ask) {
            Ok(work) => wait(connection, id, work),
            Err(failure) => Err(failure),
        },
        Request::Attach(attach) => wait(connection, id, Work::Attach(attach.cue_id)),
        Request::Ack(ack) if ack.cue_ids.is_empty() => connection
            .send(id, &Reply::Acked(Acked { cue_ids: Vec::new() }))
            .await
            .map(Ok)?,
        Request::Ack(ack) => check_ack(ack).and_then(|work| submit(connection, id, work)),
        Request::Rest(rest) => submit(connection, id, Work::Rest(rest.cue_id)),
        Request::Recall(recall) => {
            connection.broker.engine().catch_up().await.ok();
            let found = read(connection, move |reader| {
                reader.recall(&recall.hints, recall.project_dir.as_deref())
            });
            match found.await {
                Ok(found) => connection
                    .send(id, &Reply::Recalled(recalled(found)))
                    .await
                    .map(Ok)?,
                Err(failure) => Err(failure),
            }
        }
        Request::Receipts(receipts) => {
            match read(connection, move |reader| reader.receipts(&receipts.nonce)).await {
                Ok(receipts) => connection
                    .send(id, &Reply::Receipts(ReceiptList { receipts }))
                    .await
                    .map(Ok)?,
                Err(failure) => Err(failure),
            }
        }
        Request::Inbox(_) => return list::inbox(connection, id).await,
        Request::Agents(_) => return list::agents(connection, id).await,
        Request::History(history) => return list::history(connection, id, history).await,
        Request::Unseen(_) => return list::unseen(connection, id).await,
        Request::Show(show) => return list::show(connection, id, &show.cue).await,
        Request::Seen(seen) => return list::seen(connection, id, &seen.cue).await,
        Request::Last(last) => return list::last(connection, id, &last.agent).await,
        Request::Watch(watch) => return watch::watch(connection, id, watch).await,
        Request::Answer(give) => {
            with_cue(connection, id, &give.cue, |cue| {
                check_by(give.by.as_ref())?;
                Ok(Work::Answer {
                    cue,
                    answer: give.answer,
                    by: give.by,
                    hold_ms: give.hold_ms,
                })
            })
            .await
        }
        Request::Decline(decline) => {
            with_cue(connection, id, &decline.cue, |cue| {
                check_message(decline.reason.as_deref())?;
                check_by(decline.by.as_ref())?;
                Ok(Work::Decline {
                    cue,
                    reason: decline.reason,
                    by: decline.by,
                })
            })
            .await
        }
        Request::Cancel(cancel) => {
            with_cue(connection, id, &cancel.cue, |cue| {
                check_message(cancel.reason.as_deref())?;
                check_by(cancel.by.as_ref())?;
                Ok(Work::Cancel {
                    cue,
                    reason: cancel.reason,
                    by: cancel.by,
                })
            })
            .await
        }
        Request::Undo(undo) => with_cue(connection, id, &undo.cue, |cue| Ok(Work::Undo(cue))).await,
        Request::Say(say) => match find_agent(connection, &say.agent).await {
            Ok(agent) => check_message(Some(&say.text)).and_then(|()| {
                check_by(say.by.as_ref())?;
                submit(
                    connection,
                    id,
                    Work::Say {
                        agent,
                        text: say.text,
                        purpose: say.purpose,
                        by: say.by,
                    },
                )
            }),
            Err(failure) => Err(failure),
        },
        Request::Collect(collect) => check_message(collect.close.as_deref()).and_then(|()| {
            submit(
                connection,
                id,
                Work::Collect {
                    agent: collect.agent_id,
                    close: collect.close,
                },
            )
        }),
        Request::Import(import) => match import::read(&connection.broker, import).await {
            Ok(work) => submit(connection, id, work),
            Err(failure) => Err(failure),
        },
        Request::Status(_) => {
            let status = connection.broker.status().await;
            match status {
                Ok(status) => connection.send(id, &Reply::Status(status)).await.map(Ok)?,
                Err(error) => Err(stopping(&error)),
            }
        }
        Request::Stop(_) => {
            connection
                .send(
                    id,
                    &Reply::Stopping(Stopping {
                        pid: std::process::id(),
                    }),
                )
                .await?;
            connection.broker.stop(StopReason::Asked);
            Ok(())
        }
        Request::Retire(retire) => match connection.broker.retire(&retire) {
            Ok(()) => {
                connection
                    .send(
                        id,
                        &Reply::Stopping(Stopping {
                            pid: std::process::id(),
                        }),
                    )
                    .await?;
                connection.broker.stop(StopReason::Retired);
                Ok(())
            }
            Err(failure) => Err(failure),
        },
        Request::Check(_) => match read(connection, crate::store::Reader::check).await {
            Ok(report) => {
                let checked = Checked {
                    problems: report.problems,
                    schema: report.schema,
                    bytes: report.bytes,
                    cues: report.cues,
                };
                connection.send(id, &Reply::Checked(checked)).await.map(Ok)?
            }
            Err(failure) => Err(failure),
        },
        Request::Backup(backup) => {
            let path = PathBuf::from(&backup.path);
            match absolute(&path) {
                Ok(()) => match read(connection, move |reader| reader.back_up(&path)).await {
                    Ok(report) => {
                        let done = BackedUp {
                            path: backup.path,
                            bytes: report.bytes,
                            cues: report.cues,
                        };
                        connection.send(id, &Reply::BackedUp(done)).await.map(Ok)?
                    }
                    Err(failure) => Err(failure),
                },
                Err(failure) => Err(failure),
            }
        }
        Request::Purge(purge) => {
            let age = std::time::Duration::from_millis(purge.older_than_ms);
            match connection.broker.purge(age, purge.dry_run).await {
                Ok(cues) => {
                    if !purge.dry_run {
                        let broker = std::sync::Arc::clone(&connection.broker);
                        tokio::spawn(async move { broker.shrink().await });
                    }
                    connection
                        .send(id, &Reply::Purged(Purged { cues }))
                        .await
                        .map(Ok)?
                }
                Err(failure) => Err(failure),
            }
        }
        Request::WebLink(link) => match make_link(connection, link).await {
            Ok(reply) => connection.send(id, &reply).await.map(Ok)?,
            Err(failure) => Err(failure),
        },
        Request::Token(mint) => match make_token(connection, mint).await {
            Ok(reply) => connection.send(id, &reply).await.map(Ok)?,
            Err(failure) => Err(failure),
        },
        Request::RunReport(report) => match connection.broker.report_run(*report).await {
            Ok(noted) => connection.send(id, &Reply::RunNoted(noted)).await.map(Ok)?,
            Err(failure) => Err(failure),
        },
        Request::RunFollow(follow) => return runs::follow(connection, id, follow).await,
        Request::Runs(query) => return runs::list(connection, id, query).await,
        Request::Bootstrap(mint) => match connection.broker.mint_bootstrap(mint).await {
            Ok(made) => connection.send(id, &Reply::Bootstrap(made)).await.map(Ok)?,
            Err(failure) => Err(failure),
        },
    };
    match done {
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

async fn make_link(connection: &Connection, link: WebLink) -> Result<Reply, Failure> {
    let link = connection.broker.web()?.make_link(link.name).await?;
    Ok(Reply::WebLink(link))
}

async fn make_token(connection: &Connection, mint: MintToken) -> Result<Reply, Failure> {
    let web = connection.broker.web()?;
    let agent = match &mint.agent {
        Some(agent) => Some(find_agent(connection, agent).await?),
        None => None,
    };
    let token = web.mint(mint.scope, agent, mint.name).await?;
    Ok(Reply::Token(token))
}

/// Hands work to the engine, which replies.
fn submit(connection: &Connection, id: RequestId, work: Work) -> Result<(), Failure> {
    hand_in(connection, connection.broker.engine().ticket(), id, work)
}

/// Hands in work whose outcome is waited for.
fn wait(connection: &mut Connection, id: RequestId, work: Work) -> Result<(), Failure> {
    if connection.waits.len() >= WAITS_PER_CONNECTION_MAX {
        let message = format!("{WAITS_PER_CONNECTION_MAX} waits on one connection");
        return Err(Failure::new(ErrorCode::Busy, message).with_hint("open another connection"));
    }
    let ticket = connection.broker.engine().ticket();
    hand_in(connection, ticket, id, work)?;
    // Hardly anybody waits for more than one thing at once.
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
        .order(order, connection.sender.clone())
        .map_err(|error| stopping(&error))
}

pub(super) fn stopping(error: &EngineError) -> Failure {
    Failure::new(ErrorCode::Busy, error.to_string()).with_hint("run the same command again")
}

/// Reads beside the engine.
pub(super) async fn read<T: Send + 'static>(
    connection: &Connection,
    read: impl FnOnce(&crate::store::Reader) -> Result<T, crate::store::StoreError> + Send + 'static,
) -> Result<T, Failure> {
    let broker = std::sync::Arc::clone(&connection.broker);
    blocking(move || read(broker.reader())).await
}

async fn with_cue(
    connection: &Connection,
    id: RequestId,
    prefix: &str,
    work: impl FnOnce(CueId) -> Result<Work, Failure>,
) -> Result<(), Failure> {
    let cue = find_cue(connection, prefix).await?;
    submit(connection, id, work(cue)?)
}

/// Finds the question a human means by an id or a unique prefix of one.
pub(super) async fn find_cue(connection: &Connection, prefix: &str) -> Result<CueId, Failure> {
    if let Ok(id) = prefix.parse() {
        return Ok(id);
    }
    let wanted = prefix.to_ascii_lowercase();
    let found = read(connection, move |reader| reader.cues_with_prefix(&wanted)).await?;
    unique(
        &found,
        prefix,
        ErrorCode::UnknownCue,
        "question",
        "`cueme inbox` lists the open questions",
    )
}

/// Finds the agent a human means by an id or a unique prefix of one.
pub(super) async fn find_agent(connection: &Connection, prefix: &str) -> Result<AgentId, Failure> {
    let wanted = prefix.to_owned();
    let found = read(connection, move |reader| reader.agents_with_prefix(&wanted)).await?;
    if let Some(exact) = found.iter().find(|id| id.as_str() == prefix) {
        return Ok(exact.clone());
    }
    unique(
        &found,
        prefix,
        ErrorCode::UnknownAgent,
        "agent",
        "`cueme agents` lists them",
    )
}

fn unique<T: Clone>(
    found: &[T],
    prefix: &str,
    code: ErrorCode,
    what: &str,
    hint: &str,
) -> Result<T, Failure> {
    match found {
        [one] if !prefix.is_empty() => Ok(one.clone()),
        [] | [_] => Err(Failure::new(code, format!("there is no {what} {prefix:?}")).with_hint(hint)),
        _ => Err(Failure::new(
            ErrorCode::Ambiguous,
            format!("{prefix:?} is the beginning of more than one {what}"),
        )
        .with_hint("type more of the id")),
    }
}

/// Checks a question once more: the socket is open to any program, not only to ours.
pub(crate) fn check_ask(ask: Ask) -> Result<Work, Failure> {
    if ask.prompt.len() > PROMPT_BYTES_MAX {
        let message = format!(
            "a prompt of {} bytes is longer than {PROMPT_BYTES_MAX}",
            ask.prompt.len()
        );
        return Err(Failure::new(ErrorCode::TooLarge, message)
            .with_hint("write the text to a file and name its path in the prompt"));
    }
    if ask.prompt.trim().is_empty() {
        return Err(Failure::new(ErrorCode::BadRequest, "the prompt is empty"));
    }
    let payload = match &ask.payload {
        None => None,
        Some(written) => {
            let payload = Payload::parse(written.get()).map_err(|error| {
                Failure::new(ErrorCode::BadRequest, format!("payload: {error}")).with_hint(error.hint())
            })?;
            Some(payload.written().to_owned())
        }
    };
    if ask.kind == protocol_spec::outcome::Kind::Pause && payload.is_some() {
        return Err(Failure::new(ErrorCode::BadRequest, "a pause takes no payload"));
    }
    Ok(Work::ask(ask.agent_id, ask.kind, ask.prompt, payload, ask.origin))
}

/// Candidates stand apart, so that a client which does not know them takes none of them for a match.
fn recalled(found: Recollection) -> Recalled {
    let (matches, candidates) = if found.is_clear {
        (found.matches, Vec::new())
    } else {
        (Vec::new(), found.matches)
    };
    Recalled { matches, candidates }
}

/// The engine looks each question up while everybody else waits.
fn check_ack(ack: Ack) -> Result<Work, Failure> {
    let count = ack.cue_ids.len();
    if count > ACKS_MAX {
        let message = format!("{count} questions are more than {ACKS_MAX}");
        return Err(
            Failure::new(ErrorCode::TooLarge, message).with_hint("acknowledge them in several requests")
        );
    }
    Ok(Work::Ack {
        cues: ack.cue_ids,
        nonce: ack.nonce,
    })
}

pub(crate) fn check_names(names: &[&String]) -> Result<(), Failure> {
    if names.iter().any(|name| name.len() > NAME_BYTES_MAX) {
        return Err(Failure::new(
            ErrorCode::TooLarge,
            format!("a name is longer than {NAME_BYTES_MAX} bytes"),
        ));
    }
    Ok(())
}

fn check_by(by: Option<&String>) -> Result<(), Failure> {
    by.map_or(Ok(()), |by| check_names(&[by]))
}

fn check_session(session: &String) -> Result<(), Failure> {
    if session.trim().is_empty() {
        return Err(Failure::new(ErrorCode::BadRequest, "the session has no name")
            .with_hint("name the host's conversation, or leave the session out (CUEME_SESSION)"));
    }
    check_names(&[session])
}

pub(super) fn check_message(text: Option<&str>) -> Result<(), Failure> {
    let Some(text) = text else { return Ok(()) };
    if text.trim().is_empty() {
        return Err(Failure::new(ErrorCode::BadRequest, "there is nothing written"));
    }
    if text.len() > MESSAGE_BYTES_MAX {
        return Err(Failure::new(
            ErrorCode::TooLarge,
            format!("more than {MESSAGE_BYTES_MAX} bytes"),
        )
        .with_hint("write the text to a file and name its path"));
    }
    Ok(())
}

fn absolute(path: &Path) -> Result<(), Failure> {
    if path.is_absolute() {
        return Ok(());
    }
    Err(Failure::new(
        ErrorCode::BadRequest,
        format!("{} is not an absolute path", path.display()),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(count: u64) -> Ack {
        Ack {
            cue_ids: (0..count).map(CueId::from_random).collect(),
            nonce: None,
        }
    }

    #[test]
    fn an_acknowledgement_names_no_more_questions_than_the_engine_looks_up_in_a_moment() {
        assert!(check_ack(ack(ACKS_MAX as u64)).is_ok());
        let failure = check_ack(ack(ACKS_MAX as u64 + 1)).unwrap_err();
        assert_eq!(failure.code, ErrorCode::TooLarge);
        assert!(failure.message.contains("256"), "{failure}");
    }
}
