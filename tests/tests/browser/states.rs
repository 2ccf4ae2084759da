//! axe-core finds nothing in any state of a question, notice, toast or banner, and each state has a name for people who do not
//! see it.

use cueme_tests::{Client, Home, Wire};
use protocol_spec::id::RunId;
use protocol_spec::message::{Reply, Request, Run, RunEvent, RunKind, RunReport};
use protocol_spec::time::Timestamp;
use serde_json::{Value, json};

use crate::axe::{DESK, axe_core, check, open_part};
use crate::driver::{Browser, DESKTOP, PHONE, key, link};
use crate::resilience::kill_broker;
use crate::visible::{CONFIRM, approve_with, long};

const TEXT: &str = ".composer-text";
const FORM: &str = r#"{"type":"form","fields":[{"label":"Env","options":["prod","staging"],"required":true},{"label":"Loud","kind":"boolean"},{"label":"Token","kind":"password"}]}"#;

/// A home with a question in every state.
struct States {
    _asking: Vec<Client>,
    _approval: Wire,
    _run: Wire,
    home: Home,
    approval: String,
    pause: String,
    left: String,
    damaged: String,
    form: String,
    confirm: String,
    idle: String,
}

impl States {
    fn new() -> Self {
        let home = Home::new();
        let [approval, pause, left, damaged, form, confirm, idle] = std::array::from_fn(|_| home.join());
        home.ask_for("1ms", &damaged, "What shall I delete?", None)
            .expect(75);
        let cue = home.open("What shall I delete?").unwrap()["cue_id"].clone();
        home.run(&["answer", cue.as_str().unwrap(), "delete nothing"])
            .expect(0);
        home.run(&["broker", "stop"]).expect(0);
        let database = rusqlite::Connection::open(home.database()).unwrap();
        let changed = database.execute("UPDATE decisions SET text = 'delete everything'", []);
        assert_eq!(changed.unwrap(), 1);
        drop(database);
        home.ask_for("1ms", &left, "Left behind?", None).expect(75);
        home.ask_for("1ms", &left, "Detached?", None).expect(75);
        let filled = ["Env=prod", "Loud=true", "Token=hunter2"];
        let fields: Vec<&str> = filled.iter().flat_map(|field| ["--field", *field]).collect();
        home.ask_and_answer(&form, "Where?", Some(FORM), &fields);
        let (wire, _) = approve_with(&home, &approval, &long(1450), CONFIRM);
        let mut asking = vec![home.start_with(&["pause", &pause, "Look at the plan first"], "")];
        home.wait_for("Look at the plan first", 1);
        asking.push(home.ask(&confirm, "Ship it?", Some(CONFIRM)).0);
        let mut run = home.wire();
        let reported = run.call(&Request::RunReport(Box::new(report(&idle))));
        assert!(matches!(reported, Some(Reply::RunNoted(_))), "{reported:?}");
        Self {
            _asking: asking,
            _approval: wire,
            _run: run,
            home,
            approval,
            pause,
            left,
            damaged,
            form,
            confirm,
            idle,
        }
    }
}

/// A run that goes on, with events.
fn report(agent: &str) -> RunReport {
    let event = |what: &str, text: &str| RunEvent {
        at: Timestamp::from_millis(1_790_000_000_000),
        what: what.to_owned(),
        text: text.to_owned(),
    };
    RunReport {
        run: Run {
            run_id: RunId(uuid::Uuid::now_v7()),
            kind: RunKind::Local,
            agent_id: Some(agent.parse().unwrap()),
            project: "/srv/shop".to_owned(),
            title: "Fix the carry".to_owned(),
            status: "RUNNING".to_owned(),
            end: None,
            error: Some("the shell ended with 1".to_owned()),
            session: None,
            session_params: None,
            model: Some("sonnet".to_owned()),
            branch: Some("fix/carry".to_owned()),
            pr_url: Some("https://example.org/pull/1".to_owned()),
            url: None,
        },
        events: vec![
            event("status", "RUNNING"),
            event("tool", "shell: cargo test"),
            event("error", "the shell ended with 1"),
        ],
    }
}

fn show(browser: &Browser, agent: &str) {
    browser.script(&format!("location.hash = '#/agent/{agent}'"));
    browser.until(&format!(
        "return document.querySelector('.head-place')?.title.includes('{agent}') && document.querySelector('.composer') !== null"
    ));
}

/// Signs in, in a language.
fn visit(home: &Home, size: (u32, u32), language: &str) -> Browser {
    let browser = Browser::start(size, language);
    browser.goto(&link(home));
    browser.wait_until_ready();
    browser
}

/// Changes what the page keeps of an agent.
pub(crate) fn change_agent(browser: &Browser, agent: &str, change: &Value) {
    let script = format!(
        "return fetch('/api/v1/agents/{agent}', {{ method: 'PATCH', headers: {{ 'content-type': 'application/json' }}, body: {} }}).then((answer) => answer.status)",
        json!(change.to_string())
    );
    assert_eq!(browser.script(&script), json!(200));
}

/// Lets an answer be taken back for a while.
fn hold_answers(browser: &Browser) {
    let change = "return fetch('/api/v1/settings', { method: 'PATCH', headers: { 'content-type': 'application/json' }, body: '{\"undo_ms\":60000}' }).then((answer) => answer.status)";
    assert_eq!(browser.script(change), json!(200));
}

#[test]
fn axe_finds_nothing_in_any_state_of_a_question() {
    let axe = axe_core();
    let states = States::new();
    let home = &states.home;
    for (size, scheme, language) in visits() {
        let browser = visit(home, size, language);
        browser.prefer(scheme);
        browser.script(&format!("{axe}; return null"));
        let view = |name: &str| format!("{name}, {scheme}, {}, {language}", size.0);
        let shown = [
            (&states.approval, ".unseen", "approval with a fold"),
            (&states.pause, ".confirm", "pause"),
            (
                &states.left,
                ".delivery[data-tone=warn]",
                "detached and superseded",
            ),
            (&states.damaged, ".close-damaged", "damaged"),
            (&states.form, ".given", "past form"),
        ];
        for (agent, part, name) in shown {
            show(&browser, agent);
            browser.sees(part, "");
            check(&browser, &view(name));
        }
        show(&browser, &states.idle);
        browser.write(TEXT, "**a note** that is not sent");
        browser.script("document.querySelector('.composer-bar .icon-button[aria-pressed], .composer-bar [aria-label*=Markdown]').click()");
        browser.sees(".preview strong", "a note");
        check(&browser, &view("preview"));
        let (asking, cue) = home.ask(&states.idle, "And this?", None);
        browser.sees(".notice .text-button", "");
        check(&browser, &view("a new question"));
        home.run(&["cancel", &cue]).expect(0);
        asking.finish().expect(4);
        browser.script(&format!("const area = document.querySelector('{TEXT}'); area.value = ''; area.dispatchEvent(new Event('input', {{ bubbles: true }}))"));
        // What has just been cleared is no draft any more when the next visit begins.
        browser.until(&format!("return fetch('/api/v1/agents/{}').then((answer) => answer.json()).then(({{ draft }}) => !draft?.body.text)", states.idle));

        let asker = home.join();
        let (asking, cue) = home.ask(&asker, "Answered elsewhere?", None);
        show(&browser, &asker);
        browser.sees(".composer[data-target=cue]", "");
        let file = home.scratch().join("notes.txt");
        std::fs::write(&file, "chosen").unwrap();
        browser.write("input[type=file]", file.to_str().unwrap());
        browser.sees(".attachment", "notes.txt");
        browser.write(TEXT, "words of mine");
        check(&browser, &view("a file"));
        home.run(&["answer", &cue, "from the terminal"]).expect(0);
        asking.finish().expect(0);
        browser.sees(".notice .text-button.strong", "");
        check(&browser, &view("answered elsewhere"));
        change_agent(&browser, &asker, &json!({ "archived": true }));
    }
}

/// Each size and scheme in English, and Chinese on a desk and on a phone.
fn visits() -> Vec<((u32, u32), &'static str, &'static str)> {
    vec![
        (DESK, "light", "en-US"),
        (DESK, "dark", "en-US"),
        (PHONE, "light", "en-US"),
        (PHONE, "dark", "en-US"),
        (DESK, "dark", "zh-CN"),
        (PHONE, "light", "zh-CN"),
    ]
}

#[test]
fn axe_finds_nothing_in_lists_toasts_runs_and_banners() {
    let axe = axe_core();
    let states = States::new();
    let home = &states.home;
    for (size, scheme, language) in visits() {
        let browser = visit(home, size, language);
        browser.prefer(scheme);
        browser.script(&format!("{axe}; return null"));
        let view = |name: &str| format!("{name}, {scheme}, {}, {language}", size.0);
        let runs = if language == "en-US" { "Runs" } else { "运行" };
        browser.click(&format!(".inbox-head [aria-label='{runs}']"));
        browser.sees(".run-title", "Fix the carry");
        browser.click(".run-more summary");
        browser.sees(".run-events", "cargo test");
        check(&browser, &view("a run with events"));
        browser.press(key::ESCAPE);
        browser.misses("dialog");
        browser.write("#search", "zzzzz");
        browser.sees(".empty-note", "");
        check(&browser, &view("nothing found"));
        browser.script("const search = document.getElementById('search'); search.value = ''; search.dispatchEvent(new Event('input', { bubbles: true })); search.blur()");
        browser.press(&format!("{}k{}", key::CONTROL, key::RELEASE));
        browser.sees(".palette", "");
        browser.press("zzzzz");
        browser.sees(".palette .muted", "");
        check(&browser, &view("palette with nothing found"));
        browser.press(key::ESCAPE);
        browser.misses("dialog");

        show(&browser, &states.confirm);
        hold_answers(&browser);
        browser.click("[data-confirm=true]");
        browser.sees(".toast .text-button", "");
        check(&browser, &view("undo"));
        browser.script("document.querySelector('.toast .text-button').click()");
        browser.sees("[data-confirm=true]", "");
        browser.script("const [plain, bad] = ['plain', 'bad'].map((tone) => { const toast = document.createElement('div'); toast.className = 'toast'; toast.dataset.tone = tone; toast.append(Object.assign(document.createElement('span'), { textContent: tone })); return toast; }); document.querySelector('.toasts').append(plain, bad); return null");
        check(&browser, &view("toasts"));
        browser.script("document.querySelectorAll('.toast').forEach((toast) => toast.remove())");

        browser.script("return fetch('/api/v1/devices').then((answer) => answer.json()).then(({ devices }) => fetch('/api/v1/devices/' + devices.find((device) => device.current).device_id, { method: 'DELETE' })).then((answer) => answer.status)");
        browser.sees(".banner[data-state=signed-out]", "cueme ui");
        check(&browser, &view("signed out"));
    }
}

#[test]
fn axe_finds_nothing_in_the_filters_and_without_a_broker() {
    let axe = axe_core();
    let home = Home::new();
    let (agent, archived) = (home.join(), home.join());
    home.ask_for("1ms", &agent, "Not now?", None).expect(75);
    for (size, scheme, language) in visits() {
        let browser = visit(&home, size, language);
        browser.prefer(scheme);
        browser.script(&format!("{axe}; return null"));
        let view = |name: &str| format!("{name}, {scheme}, {}, {language}", size.0);
        change_agent(&browser, &archived, &json!({ "archived": true }));
        for filter in ["unread", "archived", "waiting"] {
            open_part(&browser, &format!(".chip[data-filter={filter}]"), "");
            browser.until(&format!(
                "return document.querySelector('.chip[data-filter={filter}]').ariaPressed === 'true'"
            ));
            check(&browser, &view(filter));
        }
        let cue = home.open("Not now?").unwrap()["cue_id"]
            .as_str()
            .unwrap()
            .to_owned();
        let snooze = |until: &str| {
            let change = json!({ "page": { "snoozed": serde_json::from_str::<Value>(&format!("{{{until}}}")).unwrap() } });
            browser.script(&format!("return fetch('/api/v1/settings', {{ method: 'PATCH', headers: {{ 'content-type': 'application/json' }}, body: {} }}).then((answer) => answer.status)", json!(change.to_string())));
        };
        snooze(&format!("\"{cue}\": 0"));
        browser.reload();
        browser.wait_until_ready();
        browser.script(&format!("{axe}; return null"));
        open_part(&browser, ".chip[data-filter=snoozed]", "");
        browser.sees("[data-state=snoozed] .row-text", "Not now?");
        check(&browser, &view("snoozed"));
        snooze("");
        browser.sees(".empty-note", "");
        check(&browser, &view("nothing snoozed"));
        kill_broker(&home);
        browser.sees(".banner[data-state=lost]", "");
        check(&browser, &view("no connection"));
        home.run(&["inbox"]).expect(0);
    }
}

/// Returns the names of everything with a role, as a screen reader hears them.
fn names(browser: &Browser, role: &str) -> Vec<String> {
    browser.devtools("Accessibility.enable", json!({}));
    let tree = browser.devtools("Accessibility.getFullAXTree", json!({}));
    let nodes = tree["nodes"].as_array().unwrap();
    let named = nodes.iter().filter(|node| node["role"]["value"] == role);
    named
        .filter_map(|node| node["name"]["value"].as_str().map(str::to_owned))
        .collect()
}

#[track_caller]
fn hears(browser: &Browser, role: &str, parts: &[&str]) {
    let heard = names(browser, role);
    assert!(
        heard
            .iter()
            .any(|name| parts.iter().all(|part| name.contains(part))),
        "no {role} says {parts:?}: {heard:#?}"
    );
}

#[test]
fn every_state_has_a_name_for_people_who_do_not_see_it() {
    let home = Home::new();
    let (agent, twin) = (home.join(), home.join());
    home.run(&["say", &agent, "Mind the tests."]).expect(0);
    let diff = "Merge it?\n\n```diff\n--- a/lib.rs\n+++ b/lib.rs\n@@ -1,2 +1,2 @@\n fn main() {\n-    old();\n+    new();\n```";
    let (_asking, _) = home.ask(&agent, diff, None);
    let _twin = home.start_cue(&twin, diff, None);
    home.wait_for_one(|cue| cue["agent_id"] == twin.as_str());
    let browser = visit(&home, DESKTOP, "en-US");
    change_agent(
        &browser,
        &agent,
        &json!({ "pinned": true, "standing": "analysis only" }),
    );
    show(&browser, &agent);
    browser.sees(".once-line", "");
    hears(&browser, "checkbox", &["Waiting"]);
    browser.sees(".answering .patch-bar", "");
    browser.script("document.querySelector('.patch').focus()");
    browser.press("jj");
    browser.sees(".entry > .sr[role=status]", "line 2, removed, old();");
    browser.press("j");
    browser.sees(".entry > .sr[role=status]", "line 2, added, new();");
    browser.script("document.activeElement.blur()");
    browser.press("s");
    browser.sees("dialog h2", "Snooze until");
    browser.until(
        "return document.querySelector('dialog input[type=datetime-local]').ariaLabel === 'Date and time'",
    );
    browser.press(key::ESCAPE);
    browser.misses("dialog");
    browser.press("m");
    browser.sees("dialog .pick", &agent);
    hears(&browser, "checkbox", &[&agent, "waiting"]);
    browser.press(key::ESCAPE);
    browser.misses("dialog");
    home.run(&[
        "answer",
        home.open(diff).unwrap()["cue_id"].as_str().unwrap(),
        "yes",
    ])
    .expect(0);
    browser.until("return document.querySelectorAll('.row-item.same').length === 0");
    home.run(&["say", &agent, "And the docs."]).expect(0);
    browser.sees(".row .flag", "1");
    hears(
        &browser,
        "link",
        &[&agent, "1 not delivered yet", "Standing instruction", "Pinned"],
    );
}
