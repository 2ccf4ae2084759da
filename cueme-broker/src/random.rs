//! Random names and bytes.

use protocol_spec::hex::hex;

/// Generates a name that cannot be guessed and is safe in a path and in a file name.
pub(crate) fn random_name() -> String {
    hex(&random::<12>())
}

/// Returns random bytes.
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    // Without random numbers from the system no token is safe; there is no fallback.
    getrandom::fill(&mut bytes).unwrap_or_else(|error| panic!("the system gives no random bytes: {error}"));
    bytes
}
