//! A caller on another machine reads a file that an answer carries.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use protocol_spec::id::CueId;
use protocol_spec::message::{ErrorCode, Failure, FilePiece, FileWanted, Reply};
use protocol_spec::outcome::Delivery;

use super::Next;
use crate::broker::Broker;
use crate::store::{Reader, StoreError};

/// The bytes in one reply.
const PIECE_BYTES: u64 = 512 * 1024;

pub(in crate::socket) async fn file(broker: &Arc<Broker>, wanted: FileWanted) -> Result<Next, Failure> {
    let path = wanted.path.clone();
    let piece = broker.read(move |reader| {
        if !is_carried(reader, wanted.cue_id, &wanted.path)? {
            return Ok(None);
        }
        match reader.upload_piece(&wanted.path, wanted.offset, PIECE_BYTES)? {
            Some(piece) => Ok(Some(Ok(piece))),
            None => Ok(Some(read_piece(&wanted.path, wanted.offset))),
        }
    });
    match piece.await? {
        Some(Ok((data, bytes))) => Ok(Next::Reply(Reply::File(FilePiece {
            data: STANDARD.encode(data),
            bytes,
        }))),
        Some(Err(error)) => Err(Failure::new(
            ErrorCode::NotFound,
            format!("could not read {path} where the broker runs: {error}"),
        )),
        None => Err(Failure::new(
            ErrorCode::NotFound,
            "no delivered answer contains this file",
        )),
    }
}

/// Says whether a question's answer carries a file and was delivered to the agent.
fn is_carried(reader: &dyn Reader, cue: CueId, path: &str) -> Result<bool, StoreError> {
    let found = reader.cue(cue)?.filter(|cue| cue.delivery != Delivery::None);
    let answer = found.and_then(|cue| cue.answer);
    Ok(answer.is_some_and(|answer| answer.attachments.iter().any(|file| file.path == path)))
}

fn read_piece(path: &str, offset: u64) -> io::Result<(Vec<u8>, u64)> {
    let mut file = File::open(path)?;
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(ErrorKind::InvalidInput.into());
    }
    file.seek(SeekFrom::Start(offset))?;
    let mut data = Vec::new();
    file.take(PIECE_BYTES).read_to_end(&mut data)?;
    Ok((data, found.len()))
}
