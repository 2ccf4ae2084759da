//! Reads any text as a payload; what is accepted must keep its meaning in its normal form and on the wire.

#![no_main]

use libfuzzer_sys::fuzz_target;
use protocol_spec::payload::Payload;

fuzz_target!(|text: &str| {
    let Ok(payload) = Payload::parse(text) else { return };
    let normal = Payload::parse(&payload.normalised()).expect("the normal form is valid");
    assert_eq!(normal.shape(), payload.shape());
    assert_eq!(normal.normalised(), payload.normalised());
    let line = payload.one_line();
    assert!(!line.contains('\n'));
    assert_eq!(Payload::parse(&line).expect("the wire form is valid"), payload);
});
