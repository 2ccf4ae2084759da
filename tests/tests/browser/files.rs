//! Images of the project are shown with the question that names them, and an attached patch opens as a review with its files.

use serde_json::json;

use crate::driver::{DESKTOP, PHONE, key, sign_in};
use cueme_tests::Home;

/// A red picture of one pixel.
pub(crate) const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90wS\xde\0\0\0\x0cIDATx\x9cc\xf8\xcf\xc0\0\0\x03\x01\x01\0\xc9\xfe\x92\xef\0\0\0\0IEND\xaeB`\x82";
pub(crate) const PATCH: &str = "diff --git a/src/retry.ts b/src/retry.ts\n--- a/src/retry.ts\n+++ b/src/retry.ts\n@@ -8,3 +8,3 @@ charge\n const MAX = 5;\n-const BACKOFF = 200;\n+const BACKOFF = 300;\n return charge();\ndiff --git a/defaults.ts b/defaults.ts\n--- a/defaults.ts\n+++ b/defaults.ts\n@@ -1,2 +1,2 @@\n {\n-  attempts: 5,\n+  attempts: 3,\n";

#[test]
fn an_image_of_the_project_is_seen_and_an_attached_patch_is_reviewed() {
    for size in [DESKTOP, PHONE] {
        let home = Home::new();
        let project = home.scratch().join("shop");
        std::fs::create_dir_all(&project).unwrap();
        std::fs::write(project.join("after.png"), PNG).unwrap();
        std::fs::write(project.join("change.patch"), PATCH).unwrap();
        let joined = home
            .command(&["join", "patient"])
            .current_dir(&project)
            .output()
            .unwrap();
        let joined = String::from_utf8(joined.stdout).unwrap();
        let agent = joined
            .lines()
            .find_map(|line| line.strip_prefix("agent_id="))
            .unwrap()
            .to_owned();
        let prompt =
            "The page now looks like ![after](after.png). The change is in `change.patch`. Merge it?";
        let (asking, _) = home.ask(&agent, prompt, None);
        let browser = sign_in(&home, size);
        browser.script("window.violations = []; addEventListener('securitypolicyviolation', (event) => violations.push(event.blockedURI))");
        browser.click_text(".row-name", &agent);
        browser.sees(".question figcaption", "after.png");
        browser.until("const image = document.querySelector('.question img'); return image.complete && image.naturalWidth === 1 && image.checkVisibility()");
        browser.sees(".patch-files", "src/retry.ts");
        browser.sees(".patch-files", "defaults.ts");
        browser.script("[...document.querySelectorAll('.patch-files button')].find((one) => one.innerText.includes('defaults.ts')).click()");
        browser.until("return document.activeElement.matches('summary') && document.activeElement.innerText.includes('defaults.ts')");
        browser.until("const line = [...document.querySelectorAll('.diff-line')].find((line) => line.innerText.includes('attempts: 3')); line?.querySelectorAll('i')[1].click(); return Boolean(line)");
        browser.until("return document.activeElement.matches('.review-editor textarea')");
        browser.press("Why three?");
        browser.press(&format!("{}{}{}", key::CONTROL, key::ENTER, key::RELEASE));
        browser.sees(".review-note", "Why three?");
        browser.write(".composer-text", "Nearly.");
        browser.click(".send");
        let told = asking.finish().expect(0).stdout;
        assert!(
            told.contains("defaults.ts:2") && told.contains("Why three?"),
            "{told}"
        );
        assert_eq!(browser.script("return violations"), json!([]));
    }
}
