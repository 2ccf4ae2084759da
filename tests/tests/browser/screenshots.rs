//! The pictures of the documentation. `CUEME_SCREENSHOTS=1` with the filter `screenshots` takes all of them again.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use cueme_tests::phone_fakes::Push;
use cueme_tests::{Client, Home, Wire, envelope};
use rusqlite::params;
use serde_json::json;

use crate::driver::{Browser, DESKTOP, PHONE, key, link, sign_in};
use crate::page::ui;
use crate::push::{click_line, stand_in};
use crate::visible::approve_with;

const TABLET: (u32, u32) = (800, 900);

/// Takes a picture. Only with `CUEME_SCREENSHOTS` set does it replace the one in the repository.
fn picture(browser: &Browser, name: &str) {
    browser.until("return document.getAnimations().length === 0");
    let folder = match std::env::var_os("CUEME_SCREENSHOTS") {
        Some(_) => ui().join("screenshots"),
        None => Path::new(env!("CARGO_TARGET_TMPDIR")).join("screenshots"),
    };
    let path = folder.join(name);
    browser.screenshot(&path);
    let bytes = std::fs::metadata(&path).unwrap().len();
    assert!(bytes > 10_000, "{} has {bytes} bytes", path.display());
}

/// A busy morning: six agents in every state.
pub(crate) struct Morning {
    /// Dropped before the home is: a waiting client would start its broker again.
    asking: Vec<Client>,
    approval: Option<Wire>,
    pub(crate) home: Home,
}

impl Morning {
    pub(crate) fn new() -> Self {
        let mut morning = Self {
            asking: Vec::new(),
            approval: None,
            home: Home::created(),
        };
        // Since when nobody listens is stored, and read when the broker starts.
        let detached = morning.joins("opencode", "runner");
        let question = "The third run failed with a timeout. Retry, or look into it first?";
        drop(morning.home.ask(&detached, question, None).0);
        morning.home.wait_until_unattended(question);
        morning.home.run(&["broker", "stop"]).expect(0);
        morning.backdates(&[(&detached, "Flaky tests", 5_400)]);
        let first = morning.joins("claude_code", "shop-api");
        let (earlier, cue) = morning.home.ask(&first, EARLIER, None);
        let answer = "Keep it for one release, but log every call.\n\nThen delete it.";
        morning.home.run(&["answer", &cue, answer]).expect(0);
        earlier.finish().expect(0);
        morning.asks(&first, DATABASE, Some(CHOICE));
        let confirm = morning.joins("cursor", "web-app");
        morning.asks(
            &confirm,
            "I am about to drop the table `sessions_old` on staging.",
            Some(DROP),
        );
        let form = morning.joins("codex", "infra");
        morning.asks(&form, "Where should I deploy this?", Some(DEPLOY));
        let pause = morning.joins("windsurf", "handbook");
        let paused = "Paused before publishing the handbook.";
        let pausing = morning.home.start_with(&["pause", &pause, paused], "");
        morning.asking.push(pausing);
        morning.home.wait_for(paused, 1);
        let working = morning.joins("kiro", "mobile");
        morning.backdates(&[
            (&first, "Checkout rewrite", 252),
            (&confirm, "Design tokens", 95),
            (&form, "Deploy", 41),
            (&pause, "Handbook", 12),
            (&working, "Offline mode", 720),
        ]);
        morning
    }

    /// The same with a review, an approval, and one question of two agents.
    fn busy() -> Self {
        let mut morning = Self::new();
        let review = morning.joins("cursor", "payments-api");
        morning.asks(&review, REVIEW, Some(MERGE));
        let twins = [
            morning.joins("claude_code", "ledger"),
            morning.joins("cursor", "storefront"),
        ];
        for agent in &twins {
            let asking = morning.waits(agent, NODE, Some(MOVE));
            morning.home.wait_for_one(|cue| cue["agent_id"] == agent.as_str());
            morning.asking.push(asking);
        }
        let approval = morning.joins("gemini_cli", "terraform");
        morning.approval = Some(approve_with(&morning.home, &approval, APPLY, ALLOW).0);
        morning.backdates(&[
            (&review, "Retries", 184),
            (&twins[0], "Ledger", 860),
            (&twins[1], "Checkout page", 840),
            (&approval, "Database", 27),
        ]);
        morning
    }

    fn joins(&self, runtime: &str, project: &str) -> String {
        let directory = self.home.path().join(project);
        std::fs::create_dir_all(&directory).unwrap();
        let mut command = self.home.command(&["join", runtime]);
        let output = command.current_dir(directory).output().unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        let agent = stdout.lines().find_map(|line| line.strip_prefix("agent_id="));
        agent.unwrap().to_owned()
    }

    /// Starts a client that waits as long as the pictures take, whatever its runtime allows.
    fn waits(&self, agent: &str, prompt: &str, payload: Option<&str>) -> Client {
        let mut command = self.home.command(&["cue", agent, "-"]);
        Client::start(
            command.env("CUEME_WAIT", "1h"),
            envelope(prompt, payload).as_bytes(),
        )
    }

    fn asks(&mut self, agent: &str, prompt: &str, payload: Option<&str>) {
        self.asking.push(self.waits(agent, prompt, payload));
        self.home.wait_for(prompt, 1);
    }

    /// Gives agents names and a folder, and lets what they asked last have been asked some seconds ago. They joined before
    /// that, and what was answered was asked in between.
    fn backdates(&self, agents: &[(&String, &str, i64)]) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
        let now = i64::try_from(now).unwrap();
        let database = rusqlite::Connection::open(self.home.database()).unwrap();
        database.busy_timeout(std::time::Duration::from_secs(10)).unwrap();
        for (agent, name, seconds) in agents {
            let asked = now - seconds * 1000;
            let (joined, earlier) = (asked - 9_000_000, asked - 4_000_000);
            let change = |statement: &str, at: i64| database.execute(statement, params![agent, at]).unwrap();
            let folder = "UPDATE agents SET name = ?2, project_dir = '/home/ada/code/' || replace(project_dir, rtrim(project_dir, replace(project_dir, '/', '')), '') WHERE agent_id = ?1";
            database.execute(folder, params![agent, name]).unwrap();
            change("UPDATE agents SET joined_at = ?2 WHERE agent_id = ?1", joined);
            change("UPDATE agents SET seen_at = ?2 WHERE agent_id = ?1", asked);
            change(
                "UPDATE cues SET asked_at = ?2 WHERE agent_id = ?1 AND delivery = 0",
                asked,
            );
            change(
                "UPDATE cues SET detached_at = ?2 WHERE agent_id = ?1 AND detached_at IS NOT NULL AND delivery = 0",
                asked + 60_000,
            );
            change(
                "UPDATE cues SET asked_at = ?2, handed_at = ?2 + 240000, acknowledged_at = ?2 + 240000 WHERE agent_id = ?1 AND delivery = 2",
                earlier,
            );
            database
                .execute("UPDATE decisions SET decided_by = 'Ada'", [])
                .unwrap();
            change(
                "UPDATE decisions SET decided_at = ?2 + 239000, released_at = ?2 + 239000 WHERE seq IN (SELECT seq FROM cues WHERE agent_id = ?1)",
                earlier,
            );
        }
    }
}

const EARLIER: &str = "I mapped the checkout flow. The tax step calls the old service **twice**:\n\n```rust\n// Totals are computed before discounts.\nfn total(cart: &Cart) -> Result<Money> {\n    let net: Money = cart.lines.iter().map(Line::net).sum();\n    Ok(net + tax_service::rate(cart.region, \"v1\")? * net)\n}\n```\n\nShall I keep the old endpoint until the clients have moved?";
const DATABASE: &str = "## Database for the integration tests\n\nThe suite needs a real database. Three options, by what they cost:\n\n- **SQLite** starts in `3 ms`, but has no row locks\n- **PostgreSQL** is what production runs; adds 9 s a run\n- **Both**: SQLite on each push, PostgreSQL nightly\n\nWhich one should I set up?";
const DEPLOY: &str = r#"{"type":"form","fields":[{"label":"Environment","options":["production","staging"],"required":true},{"label":"Replicas","kind":"number","required":true},{"label":"Date","kind":"date"},{"label":"API key","kind":"password"},{"label":"Run migrations","kind":"boolean"}]}"#;

const CHOICE: &str =
    r#"{"type":"choice","options":["SQLite","PostgreSQL","Both: SQLite on push, PostgreSQL nightly"]}"#;
const DROP: &str = r#"{"type":"confirm","text":"Drop sessions_old now?","confirm_label":"Drop it","cancel_label":"Leave it alone"}"#;
const NODE: &str = "Node 20 leaves support in April. Move CI to Node 22 now?";
const MOVE: &str = r#"{"type":"confirm","confirm_label":"Yes, move","cancel_label":"Not yet"}"#;
const MERGE: &str = r#"{"type":"confirm","confirm_label":"Merge","cancel_label":"Not yet"}"#;
const ALLOW: &str = r#"{"type":"confirm","confirm_label":"Allow","cancel_label":"Deny"}"#;
const APPLY: &str = "May `run_shell_command` run in `/home/ada/code/terraform`?\n\n```\naws rds modify-db-parameter-group --db-parameter-group-name prod-16 \\\n  --parameters ParameterName=max_connections,ParameterValue=400,ApplyMethod=pending-reboot\naws rds reboot-db-instance --db-instance-identifier prod-replica-1\n```\n\n```\n{\n  \"description\": \"Raises max_connections and restarts replica 1\"\n}\n```";
const REVIEW: &str = "Retry card charges within a time budget. Merge it?\n\n```diff\ndiff --git a/src/retry.ts b/src/retry.ts\n--- a/src/retry.ts\n+++ b/src/retry.ts\n@@ -8,7 +8,9 @@ export async function charge(card: Card) {\n const MAX = 5;\n-const BACKOFF_MS = 200;\n+const BUDGET_MS = 8_000;\n+const BACKOFF_MS = 250;\n \n-for (let attempt = 0; attempt < MAX; attempt++) {\n+const until = Date.now() + BUDGET_MS;\n+for (let attempt = 0; attempt < MAX && Date.now() < until; attempt++) {\n   const result = await gateway.charge(card);\n   if (result.ok) return result;\ndiff --git a/config/defaults.ts b/config/defaults.ts\n--- a/config/defaults.ts\n+++ b/config/defaults.ts\n@@ -1,3 +1,3 @@\n export const retries = {\n-  attempts: 5,\n+  attempts: 3,\n };\n```";

pub(crate) fn open(browser: &Browser, agent: &str) {
    browser.click_text(".row-name", agent);
    browser.until("return document.querySelector('.entry[data-outcome=open]') !== null && document.querySelector('.composer') !== null");
    // The whole question is in view, or its beginning where it is longer than the view.
    browser.until("const box = document.querySelector('.entry[data-outcome=open]').getBoundingClientRect(), view = document.querySelector('.timeline').getBoundingClientRect(); return box.bottom <= view.bottom + 1 || Math.abs(box.top - view.top) < 24");
}

fn visit(morning: &Morning, size: (u32, u32), scheme: &str) -> Browser {
    let browser = sign_in(&morning.home, size);
    browser.prefer(scheme);
    browser.script("document.querySelectorAll('.nudge .text-button')[1]?.click()");
    browser.misses(".nudge");
    if size != PHONE {
        // A browser without a screen has no mouse either.
        browser.script("const real = window.matchMedia.bind(window); window.matchMedia = (query) => real(query === '(hover: none)' ? 'not all' : query)");
    }
    browser.until(&format!(
        "return matchMedia('(prefers-color-scheme: {scheme})').matches"
    ));
    browser
}

#[test]
fn of_the_readme_are_taken() {
    let morning = Morning::new();
    let desktop = visit(&morning, DESKTOP, "light");
    open(&desktop, "Checkout rewrite");
    desktop.misses(".unread [data-current]");
    picture(&desktop, "desktop-light.png");
    desktop.prefer("dark");
    desktop.until("return matchMedia('(prefers-color-scheme: dark)').matches");
    picture(&desktop, "desktop-dark.png");
    let phone = visit(&morning, PHONE, "light");
    phone.sees(".row-name", "Checkout rewrite");
    picture(&phone, "phone-inbox.png");
    open(&phone, "Checkout rewrite");
    picture(&phone, "phone-question.png");
    let tablet = visit(&morning, TABLET, "light");
    open(&tablet, "Deploy");
    picture(&tablet, "tablet-form.png");
}

#[test]
fn of_a_review_an_approval_and_one_question_of_several_agents_are_taken() {
    let morning = Morning::busy();
    let dark = visit(&morning, DESKTOP, "dark");
    open(&dark, "Retries");
    dark.until("const line = [...document.querySelectorAll('.diff-line')].find((line) => line.innerText.includes('BUDGET_MS = 8')); line?.querySelectorAll('i')[1].click(); return Boolean(line)");
    dark.until("return document.activeElement.matches('.review-editor textarea')");
    dark.press(&format!(
        "The gateway gives up after 6 s. Clamp it to that.{}{}{}",
        key::CONTROL,
        key::ENTER,
        key::RELEASE
    ));
    dark.sees(".review-note", "Clamp it");
    dark.script("document.querySelector('.entry[data-outcome=open]').scrollIntoView({ block: 'start' })");
    dark.script("document.activeElement.blur()");
    picture(&dark, "review-dark.png");
    let light = visit(&morning, DESKTOP, "light");
    light.until("const row = [...document.querySelectorAll('.row')].find((row) => row.innerText.includes('Approval')); if (row) location.hash = row.hash; return Boolean(row)");
    light.sees("[data-confirm=true]", "Allow");
    picture(&light, "approval-light.png");
    light.script(&format!("location.hash = [...document.querySelectorAll('.row')].find((row) => row.innerText.includes({})).hash", json!("Node 20")));
    light.sees(".once-line", "storefront");
    picture(&light, "ask-once-light.png");
}

#[test]
fn of_the_settings_on_a_phone_are_taken() {
    let push = Push::start();
    let home = Home::created();
    let channel =
        "[[notify]]\nkind = \"ntfy\"\nname = \"team\"\nurl = \"https://ntfy.example/team\"\nafter = \"1h\"\n";
    home.configure(&format!("{}{channel}", push.section()));
    home.join();
    let browser = sign_in(&home, PHONE);
    let origin = browser.script("return location.origin");
    browser.devtools(
        "Browser.grantPermissions",
        json!({ "permissions": ["notifications"], "origin": origin }),
    );
    browser.until("return navigator.serviceWorker.ready.then((worker) => worker.active !== null)");
    let public_key = browser.script(
        "return fetch('/api/v1/push').then((answer) => answer.json()).then((state) => state.public_key)",
    );
    stand_in(&browser, &push.subscribe(public_key.as_str().unwrap()));
    browser.click("[aria-label=Settings]");
    browser.click("#settings-reach summary");
    click_line(
        &browser,
        "Send questions to this device, even when the page is closed",
    );
    browser.sees("#settings-reach", "Show the question on the lock screen");
    browser.sees("[data-channel=team]", "notifications only");
    browser.script("document.getElementById('settings-reach').scrollIntoView(); return true");
    picture(&browser, "phone-reach.png");
}

/// Opens the question of the row that holds these words.
fn open_row(browser: &Browser, words: &str) {
    browser.until(&format!("const row = [...document.querySelectorAll('.row')].find((row) => row.innerText.includes({})); if (row) location.hash = row.hash; return Boolean(row)", json!(words)));
    browser.until(&format!("return document.querySelector('.entry[data-outcome=open]')?.innerText.includes({}) && document.querySelector('.composer') !== null", json!(words)));
}

/// Takes a picture for the eye alone, into `target/walk`.
fn step(browser: &Browser, view: &str, of: &str) {
    browser.until("return document.getAnimations().every((animation) => animation.effect?.getTiming().iterations === Infinity)");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../walk");
    browser.screenshot(&folder.join(format!("{view}-{of}.png")));
}

#[test]
fn of_every_view_are_taken_for_a_walk() {
    if std::env::var_os("CUEME_WALK").is_none() {
        return;
    }
    let (busy, empty) = (Morning::busy(), Home::new());
    for (size, scheme, language) in walks() {
        let of = format!("{}-{scheme}-{}", size.0, &language[..2]);
        let begin = |home: &Home| {
            let browser = Browser::start(size, language);
            browser.goto(&link(home));
            browser.wait_until_ready();
            browser.prefer(scheme);
            browser.script("document.querySelectorAll('.nudge .text-button')[1]?.click()");
            browser
        };
        let first = begin(&empty);
        first.sees(".guide-list .guide-name", "");
        step(&first, "first-visit", &of);
        let browser = begin(&busy.home);
        step(&browser, "inbox", &of);
        let views = [
            ("question", "Which one should I set up?"),
            ("review", "Retry card charges"),
            ("form", "Where should I deploy this?"),
            ("approval", "run_shell_command"),
            ("once", "Node 20"),
        ];
        for (view, words) in views {
            let row = if view == "question" { "Database for" } else { words };
            open_row(&browser, row);
            browser.sees(".entry[data-outcome=open]", words);
            step(&browser, view, &of);
        }
        for (pressed, view) in [
            (",", "settings"),
            ("?", "keys"),
            ("m", "message"),
            ("s", "snooze"),
        ] {
            browser.script("document.activeElement.blur()");
            browser.press(pressed);
            browser.sees("dialog h2", "");
            step(&browser, view, &of);
            browser.press(key::ESCAPE);
            browser.misses("dialog");
        }
        browser.press(&format!("{}k{}", key::CONTROL, key::RELEASE));
        browser.sees(".palette", "");
        step(&browser, "palette", &of);
    }
}

fn walks() -> impl Iterator<Item = ((u32, u32), &'static str, &'static str)> {
    [(1440, 900), TABLET, PHONE].into_iter().flat_map(|size| {
        ["light", "dark"].into_iter().flat_map(move |scheme| {
            ["en-US", "zh-CN"]
                .into_iter()
                .map(move |language| (size, scheme, language))
        })
    })
}
