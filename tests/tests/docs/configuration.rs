//! The tables of `configuration.md` have the keys that the program accepts, and no others; its examples are accepted.

use std::collections::BTreeSet;

use adapter_core::cursor::cloud::CloudConfig;
use cueme_broker::config::Config;

use crate::markdown::{documents, lines};

/// The tables that the top level holds, which have sections of their own.
const TABLES: [&str; 7] = ["web", "public", "cloud", "policy", "notify", "push", "runtime"];

type Keys = BTreeSet<String>;

/// Returns the keys in the table below a heading.
fn documented(text: &str, heading: &str) -> Keys {
    let section = text.split_once(&format!("\n## {heading}\n")).unwrap().1;
    let section = section.split("\n## ").next().unwrap();
    let key = |line: &str| Some(line.strip_prefix("| `")?.split('`').next()?.to_owned());
    section.lines().filter_map(key).collect()
}

/// Returns the keys that are accepted in a place: the refusal of one that does not exist names all others.
fn accepted(place: &str) -> Keys {
    let error = toml::from_str::<Config>(&format!("{place}\nno_such_key = 1\n")).unwrap_err();
    let message = error.message().to_owned();
    let expected = message
        .split_once("expected ")
        .unwrap_or_else(|| panic!("{place}: {message}"))
        .1;
    expected
        .split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

/// Returns the keys of `[cloud]`, which keeps unknown ones, by the names of its fields.
fn accepted_for_cloud() -> Keys {
    let shown = format!("{:#?}", CloudConfig::default());
    let field = |line: &str| Some(line.strip_prefix("    ")?.split_once(": ")?.0.to_owned());
    let fields = shown
        .lines()
        .filter_map(field)
        .filter(|name| !name.starts_with(' '));
    fields
        .filter(|name| name != "unknown")
        .map(|name| {
            if name == "reference" {
                "ref".to_owned()
            } else {
                camel_case(&name)
            }
        })
        .collect()
}

fn camel_case(name: &str) -> String {
    let mut parts = name.split('_');
    let mut camel = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (first, rest) = part.split_at(1);
        camel.push_str(&first.to_uppercase());
        camel.push_str(rest);
    }
    camel
}

fn page(name: &str) -> String {
    let found = documents().into_iter().find(|(path, _)| path.ends_with(name));
    found.unwrap().1
}

#[test]
fn every_key_is_documented_and_every_documented_key_exists() {
    let text = page("cueme/docs/configuration.md");
    let mut general = accepted("");
    for table in TABLES {
        assert!(general.remove(table), "{table}");
    }
    assert_eq!(documented(&text, "General"), general);
    for (heading, place) in [
        ("Web and public", "[web]"),
        ("Web and public", "[public]"),
        ("Runtime", "[runtime.cursor]"),
        ("Policy", "[[policy]]"),
        ("Notify", "[[notify]]"),
        ("Push", "[push]"),
    ] {
        assert_eq!(documented(&text, heading), accepted(place), "{place}");
    }
    assert_eq!(documented(&text, "Cloud"), accepted_for_cloud());
}

#[test]
fn every_example_of_a_configuration_is_accepted() {
    let mut seen = 0;
    for (path, text) in documents() {
        let mut block = String::new();
        let mut last = 0;
        let mut blocks = Vec::new();
        for line in lines(&text).iter().filter(|line| line.fence == Some("toml")) {
            if line.number != last + 1 {
                blocks.push(std::mem::take(&mut block));
            }
            block.push_str(line.text);
            block.push('\n');
            last = line.number;
        }
        blocks.push(block);
        for block in blocks.iter().filter(|block| !block.is_empty()) {
            let config: Config =
                toml::from_str(block).unwrap_or_else(|error| panic!("{}: {error}\n{block}", path.display()));
            assert!(config.cloud.check_fields().is_ok(), "{}: {block}", path.display());
            seen += 1;
        }
    }
    assert!(seen >= 6, "only {seen} examples were found");
}
