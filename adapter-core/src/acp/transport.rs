//! The pipes of an agent as lines, none of which is longer than the contract allows.

use std::io;

use agent_client_protocol::Lines;
use futures_util::{Sink, Stream, sink, stream};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout};

use crate::contract::LINE_BYTES_MAX;

/// Makes a transport of an agent's pipes.
pub(super) fn transport(
    stdin: ChildStdin,
    stdout: ChildStdout,
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
    let outgoing = sink::unfold(stdin, |mut pipe, line: String| async move {
        pipe.write_all(line.as_bytes()).await?;
        pipe.write_all(b"\n").await?;
        pipe.flush().await?;
        Ok(pipe)
    });
    Lines::new(Box::pin(outgoing), Box::pin(incoming))
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
