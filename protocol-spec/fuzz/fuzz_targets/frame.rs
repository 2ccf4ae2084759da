//! Lines from a hostile peer: whatever the bytes and the pieces they come in, the splitter finds the same lines, and
//! what decodes as a message encodes to something that decodes to the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use protocol_spec::frame::Splitter;
use protocol_spec::message::{decode_reply, decode_request, encode_reply, encode_request};

fuzz_target!(|bytes: &[u8]| {
    let Some((cut, bytes)) = bytes.split_first() else { return };
    let mut whole = Splitter::default();
    whole.push(bytes);
    let mut pieces = Splitter::default();
    let mut lines = Vec::new();
    for piece in bytes.chunks(usize::from(*cut).max(1)) {
        pieces.push(piece);
        while let Ok(Some(line)) = pieces.next_line() {
            lines.push(line.to_vec());
        }
    }
    for line in lines {
        assert_eq!(whole.next_line(), Ok(Some(&line[..])));
        if let Ok((id, request)) = decode_request(&line) {
            let again = encode_request(id, &request).expect("what was read can be written");
            let (_, read) = decode_request(again.trim_ascii_end()).expect("what was written can be read");
            assert_eq!(encode_request(id, &read).expect("twice"), again);
        }
        if let Ok((id, reply)) = decode_reply(&line) {
            let again = encode_reply(id, &reply).expect("what was read can be written");
            assert!(decode_reply(again.trim_ascii_end()).is_ok());
        }
    }
    assert_eq!(whole.next_line(), Ok(None));
});
