//! The pipes of an agent as lines, none of which is longer than the contract allows.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agent_client_protocol::Lines;
use futures_util::{Sink, Stream, sink, stream};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout};

use crate::contract::LINE_BYTES_MAX;

/// Makes a transport of an agent's pipes. It sets `is_gone` when nobody reads what is written: the agent has ended.
pub(super) fn transport(
    stdin: ChildStdin,
    stdout: ChildStdout,
    is_gone: Arc<AtomicBool>,
) -> Lines<
    impl Sink<String, Error = io::Error> + Send + 'static,
    impl Stream<Item = io::Result<String>> + Send + 'static,
> {
    let incoming = stream::unfold(Some(BufReader::new(stdout)), |pipe| async move {
        let mut pipe = pipe?;
        match next_line(&mut pipe).await {
            Ok(Some(line)) => Some((Ok(line), Some(pipe))),
            Ok(None) => None,
            Err(error) => Some((Err(error), None)),
        }
    });
    Lines::new(Box::pin(outgoing(stdin, is_gone)), Box::pin(incoming))
}

fn outgoing(
    stdin: ChildStdin,
    is_gone: Arc<AtomicBool>,
) -> impl Sink<String, Error = io::Error> + Send + 'static {
    sink::unfold(stdin, move |mut pipe, line: String| {
        let is_gone = Arc::clone(&is_gone);
        async move {
            let written = write_line(&mut pipe, &line).await;
            if matches!(&written, Err(error) if error.kind() == io::ErrorKind::BrokenPipe) {
                is_gone.store(true, Ordering::Relaxed);
            }
            written.map(|()| pipe)
        }
    })
}

async fn write_line(pipe: &mut ChildStdin, line: &str) -> io::Result<()> {
    pipe.write_all(line.as_bytes()).await?;
    pipe.write_all(b"\n").await?;
    pipe.flush().await
}

/// Returns the next line that begins like JSON. Other words are notices, as they are in the stream of the CLI.
async fn next_line(pipe: &mut BufReader<ChildStdout>) -> io::Result<Option<String>> {
    let limit = u64::try_from(LINE_BYTES_MAX).unwrap_or(u64::MAX);
    loop {
        let mut line = Vec::new();
        if (&mut *pipe).take(limit).read_until(b'\n', &mut line).await? == 0 {
            return Ok(None);
        }
        if line.len() >= LINE_BYTES_MAX && !line.ends_with(b"\n") {
            let message = format!("a line is longer than {LINE_BYTES_MAX} bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        if text.starts_with(['{', '[']) {
            return Ok(Some(text.to_owned()));
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::process::Stdio;

    use futures_util::SinkExt;
    use tokio::process::Command;

    use super::*;

    #[tokio::test]
    async fn a_line_that_nobody_reads_says_that_the_agent_has_ended() {
        let mut child = Command::new("true").stdin(Stdio::piped()).spawn().unwrap();
        let stdin = child.stdin.take().unwrap();
        child.wait().await.unwrap();
        let is_gone = Arc::<AtomicBool>::default();
        let mut outgoing = Box::pin(outgoing(stdin, Arc::clone(&is_gone)));
        outgoing.send("{}".into()).await.unwrap_err();
        assert!(is_gone.load(Ordering::Relaxed));
    }
}
