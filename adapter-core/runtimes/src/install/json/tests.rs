//! Our parts go in and come out again without a trace, whatever the file looks like.

use serde_json::json;

use super::{MemberKind, Nesting, Part, install, is_present, withdraw};
use crate::install::Problem;

fn parts() -> Vec<Part> {
    let command = |event: &str| format!("/opt/cueme hook claude_code {event}");
    let group =
        |event: &str| json!({ "hooks": [{ "type": "command", "command": command(event), "timeout": 30 }] });
    vec![
        Part::Item {
            path: vec!["permissions", "allow"],
            text: "Bash(cueme *)".to_owned(),
        },
        Part::Member {
            kind: MemberKind::Setting,
            path: vec!["env"],
            key: "BASH_DEFAULT_TIMEOUT_MS",
            value: json!("600000"),
        },
        Part::Hooks {
            nesting: Nesting::Grouped,
            events: vec![("SessionStart", group("session_start")), ("Stop", group("stop"))],
        },
        Part::Member {
            kind: MemberKind::Ours,
            path: vec!["mcpServers"],
            key: "cueme",
            value: json!({ "command": "/opt/cueme" }),
        },
    ]
}

const FOREIGN: [&str; 12] = [
    "{}\n",
    "{}",
    "{\n}\n",
    "{\n  \"model\": \"opus\"\n}\n",
    "{\"model\":\"opus\",\"env\":{\"A\":\"1\"}}",
    "{\n\t\"env\": {\n\t\t\"A\": \"1\"\n\t}\n}",
    "{\n    // mine\n    \"permissions\": {\n        \"allow\": [\"Bash(git *)\"], // one line\n        \"deny\": []\n    },\n}\n",
    "{\r\n  \"env\": {\r\n    \"A\": \"1\"\r\n  }\r\n}\r\n",
    "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          { \"type\": \"command\", \"command\": \"say done\" }\n        ]\n      }\n    ]\n  }\n}\n",
    "{\n  \"hooks\": {},\n  \"permissions\": {\n    \"allow\": []\n  }\n}\n",
    "/* head */\n{\n  \"mcpServers\": {\n    \"other\": { \"command\": \"x\" } /* tail */\n  }\n}\n// foot\n",
    "\u{feff}{\n  \"a\": 1\n}\n",
];

#[test]
fn parts_come_out_without_a_trace_when_it_is_known_how_the_file_was() {
    for text in FOREIGN {
        let with = install(Some(text), &parts(), None).unwrap().text;
        assert!(is_present(&with, &parts()).unwrap(), "{with}");
        assert_eq!(
            with.matches('\n').count(),
            if text.contains('\r') {
                with.matches("\r\n").count()
            } else {
                with.matches('\n').count()
            }
        );
        let without = withdraw(&with, &parts(), Some(text)).unwrap().unwrap();
        assert_eq!(value(&without), value(text), "{without}");
        assert!(!is_present(&without, &parts()).unwrap());
    }
}

#[test]
fn in_files_as_editors_write_them_even_the_spacing_comes_back() {
    for text in FOREIGN {
        let is_hand_made = text.starts_with("{\"model") || text == "{\n}\n" || text.contains("one line");
        if !is_hand_made {
            let with = install(Some(text), &parts(), None).unwrap().text;
            assert_eq!(
                withdraw(&with, &parts(), Some(text)).unwrap().as_deref(),
                Some(text),
                "{with}"
            );
        }
    }
}

#[test]
fn installing_twice_changes_nothing() {
    for text in FOREIGN {
        let once = install(Some(text), &parts(), None).unwrap().text;
        assert_eq!(install(Some(&once), &parts(), None).unwrap().text, once);
    }
}

#[test]
fn comments_and_entries_of_others_stay() {
    let text = "{\n  // keep me\n  \"hooks\": {\n    // and me\n    \"Stop\": [{\"hooks\": [{\"command\": \"say done\"}]}]\n  }\n}\n";
    let with = install(Some(text), &parts(), None).unwrap().text;
    for kept in ["// keep me", "// and me", "say done"] {
        assert!(with.contains(kept), "{with}");
    }
    assert_eq!(value(&with)["hooks"]["Stop"].as_array().unwrap().len(), 2);
}

#[test]
fn a_fresh_file_is_gone_after_a_removal_without_a_record() {
    let with = install(None, &parts(), None).unwrap().text;
    assert!(with.ends_with("}\n"), "{with:?}");
    assert_eq!(withdraw(&with, &parts(), None).unwrap(), None);
}

#[test]
fn without_a_record_foreign_members_stay_and_emptied_ones_go() {
    let text = "{\n  \"model\": \"opus\"\n}\n";
    let with = install(Some(text), &parts(), None).unwrap().text;
    assert_eq!(withdraw(&with, &parts(), None).unwrap().as_deref(), Some(text));
}

#[test]
fn an_older_entry_is_replaced_in_its_place_and_a_retired_one_removed() {
    let old = "{\n  \"hooks\": {\n    \"Stop\": [\n      { \"hooks\": [{ \"command\": \"cueme hook claude_code stop\" }] },\n      { \"hooks\": [{ \"command\": \"say done\" }] }\n    ],\n    \"Notification\": [{ \"hooks\": [{ \"command\": \"/old/cueme hook claude_code notify\" }] }]\n  }\n}\n";
    let new = value(&install(Some(old), &parts(), None).unwrap().text);
    assert_eq!(
        new["hooks"]["Stop"][0]["hooks"][0]["command"],
        "/opt/cueme hook claude_code stop"
    );
    assert_eq!(new["hooks"]["Stop"][1]["hooks"][0]["command"], "say done");
    assert!(new["hooks"].get("Notification").is_none());
}

#[test]
fn in_a_group_shared_with_others_only_ours_is_touched() {
    let text = "{\"hooks\": {\"Stop\": [{\"matcher\": \"x\", \"hooks\": [{\"command\": \"say\"}, {\"command\": \"cueme hook claude_code stop\"}]}]}}";
    let with = value(&install(Some(text), &parts(), None).unwrap().text);
    assert_eq!(with["hooks"]["Stop"][0]["matcher"], "x");
    assert_eq!(with["hooks"]["Stop"][0]["hooks"][1]["timeout"], 30);
    let without = value(&withdraw(text, &parts(), None).unwrap().unwrap());
    assert_eq!(
        without,
        json!({ "hooks": { "Stop": [{ "matcher": "x", "hooks": [{ "command": "say" }] }] } })
    );
}

#[test]
fn a_setting_of_the_user_wins_and_is_named() {
    let text = "{\"env\": {\"BASH_DEFAULT_TIMEOUT_MS\": \"5\"}}";
    let out = install(Some(text), &parts(), None).unwrap();
    assert_eq!(out.kept, ["env.BASH_DEFAULT_TIMEOUT_MS = \"5\""]);
    assert_eq!(value(&out.text)["env"]["BASH_DEFAULT_TIMEOUT_MS"], "5");
    assert_eq!(
        value(&withdraw(&out.text, &parts(), None).unwrap().unwrap()),
        value(text)
    );
}

#[test]
fn what_was_there_before_us_stays_even_if_it_equals_ours() {
    let text = "{\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(cueme *)\"\n    ]\n  }\n}\n";
    let with = install(Some(text), &parts(), None).unwrap().text;
    assert_eq!(
        withdraw(&with, &parts(), Some(text)).unwrap().as_deref(),
        Some(text)
    );
    assert!(
        !is_present(text, &parts()).unwrap(),
        "a permission alone is no installation"
    );
}

#[test]
fn what_cannot_be_understood_is_refused_with_its_place() {
    let syntax = |text: &str| match install(Some(text), &parts(), None) {
        Err(Problem::Syntax { line, column, .. }) => (line, column),
        other => panic!("{text:?} gave {other:?}"),
    };
    assert_eq!(syntax("{\n  \"a\": 1\n  \"b\": 2\n}").0, 2);
    assert_eq!(syntax("{\n  \"a\": }").0, 2);
    assert_eq!(syntax("{'a': 1}"), (1, 2));
    assert!(matches!(
        install(Some("[]"), &parts(), None),
        Err(Problem::WrongType { .. })
    ));
    assert!(matches!(
        install(Some("{\"hooks\": []}"), &parts(), None),
        Err(Problem::WrongType { .. })
    ));
    assert!(matches!(
        install(Some("{\"env\": \"x\"}"), &parts(), None),
        Err(Problem::WrongType { .. })
    ));
    assert!(matches!(
        install(Some("{\"env\": {}, \"env\": {}}"), &parts(), None),
        Err(Problem::Duplicate { .. })
    ));
}

fn value(text: &str) -> serde_json::Value {
    let text = text.trim_start_matches('\u{feff}');
    jsonc_parser::cst::CstRootNode::parse(text, &jsonc_parser::ParseOptions::default())
        .unwrap()
        .to_serde_value()
        .unwrap()
}

#[test]
fn a_retired_part_goes_unless_the_user_had_it_before_us() {
    let retired = [
        Part::RetiredItem {
            path: vec!["permissions", "allow"],
            text: "Bash(cueme *)",
        },
        Part::Member {
            kind: MemberKind::Retired,
            path: vec!["approve"],
            key: "cueme",
            value: json!(true),
        },
    ];
    let text = r#"{"permissions": {"allow": ["Bash(cueme *)", "Bash(ls)"]}, "approve": {"cueme": true}}"#;
    let with = |before| value(&install(Some(text), &retired, before).unwrap().text);
    assert_eq!(with(None), json!({ "permissions": { "allow": ["Bash(ls)"] } }));
    assert_eq!(with(Some(text)), value(text));
    let changed = r#"{"approve": {"cueme": false}}"#;
    assert_eq!(
        value(&install(Some(changed), &retired, None).unwrap().text),
        value(changed)
    );
}
