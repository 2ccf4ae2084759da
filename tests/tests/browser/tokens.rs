//! API tokens in the settings.

use cueme_tests::Home;
use serde_json::json;

use crate::driver::{PHONE, sign_in};

#[test]
fn a_token_is_made_shown_once_listed_with_its_last_use_and_revoked() {
    let home = Home::created();
    home.join_as("terminal");
    let browser = sign_in(&home, PHONE);
    browser.click("[aria-label=Settings]");
    browser.click("#settings-tokens summary");
    browser.sees("#settings-tokens", "No tokens yet.");
    browser.write("#settings-tokens [id^=token]", "build server");
    browser.click_text("#settings-tokens button", "Create a token");
    browser.sees("#settings-tokens form [role=status]", "not shown again");
    let token = browser.script("return document.querySelector('#settings-tokens code').innerText");
    let token = token.as_str().unwrap().to_owned();
    browser.sees("[data-token]", "build server");
    browser.sees("[data-token]", "not used yet");
    browser.sees("[data-token]", "expires ");

    // What others do shows here without a reload.
    let listed = home.ok(&["token", "list", "--json"]);
    assert!(
        listed.contains("build server") && !listed.contains(&token),
        "{listed}"
    );
    home.ok(&["token", "--name", "laptop"]);
    browser.until("return document.querySelectorAll('[data-token]').length === 2");
    browser.sees("[data-token]:last-child", "does not expire");

    browser.click_text("[data-token]:first-child button", "Revoke");
    browser.click_text("[data-token]:first-child button", "Press again to revoke it");
    browser.until("return document.querySelectorAll('[data-token]').length === 1");
    let listed = home.ok(&["token", "list"]);
    assert!(
        !listed.contains("build server") && listed.contains("laptop"),
        "{listed}"
    );
    assert_eq!(
        browser.script(
            "return document.querySelector('#settings-tokens ul').getBoundingClientRect().right <= innerWidth"
        ),
        json!(true)
    );
}
