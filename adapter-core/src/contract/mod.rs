//! The event contract: frames in, contract events out.
