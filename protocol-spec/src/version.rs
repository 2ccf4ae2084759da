//! The versions of the protocol and of the program.

/// The wire protocol's generation. It changes only when an older peer would misunderstand a line.
///
/// Additions (a new operation, a new optional key) do not change it: an older broker answers an operation it does
/// not know with [`ErrorCode::Unsupported`](crate::message::ErrorCode::Unsupported).
pub const PROTOCOL: u32 = 1;

/// The version of the program this contract was built into.
pub const PROGRAM: &str = env!("CARGO_PKG_VERSION");
