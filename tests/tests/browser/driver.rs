//! The browser of these tests, signed in to a home.

#[allow(unused_imports, reason = "each test file uses its own part of this")]
pub(crate) use cueme_tests::browser::{ALL_STYLES, Browser, DESKTOP, PHONE, key};

/// Signs a new browser in.
pub(crate) fn sign_in(home: &cueme_tests::Home, size: (u32, u32)) -> Browser {
    Browser::open(&link(home), size)
}

/// Returns a link that signs in once.
pub(crate) fn link(home: &cueme_tests::Home) -> String {
    home.run(&["ui", "--print-url"])
        .expect(0)
        .stdout
        .trim()
        .to_owned()
}
