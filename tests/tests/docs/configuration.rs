//! The tables of keys in `configuration.md` are the doc comments of the fields that hold the keys. They are the keys that the program
//! accepts, with the defaults that it takes. Variables and examples are checked too.
//!
//! A doc comment is the meaning, then a paragraph `Default: …`. `UPDATE_DOCS=1 cargo test --workspace --test docs configuration` writes
//! the tables anew.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use adapter_core::cursor::cloud::{CloudConfig, Reach};
use cueme_broker::config::Config;

use crate::markdown::{documents, lines, root};

/// The tables that the top level holds, which have sections of their own.
const TABLES: [&str; 7] = ["web", "public", "cloud", "policy", "notify", "push", "runtime"];

const UPDATE: &str = "UPDATE_DOCS";
const END: &str = "<!-- /keys -->\n";

/// Each section with the source of its keys: a file, and a struct in it.
const SOURCES: [(&str, &str, &str); 7] = [
    ("General", "cueme-broker/src/config.rs", "Config"),
    ("Web and public", "cueme-broker/src/config.rs", "WebConfig"),
    (
        "Runtime",
        "adapter-core/runtime-settings/src/lib.rs",
        "RuntimeConfig",
    ),
    ("Policy", "cueme-broker/src/policy/written.rs", "Written"),
    ("Notify", "cueme-broker/src/notify/channel.rs", "Written"),
    ("Push", "cueme-broker/src/config.rs", "PushConfig"),
    (
        "Cloud",
        "adapter-core/cloud-settings/src/written.rs",
        "CloudConfig",
    ),
];

/// Each section with a place where its keys may stand, and a complete table there to which a key can be added.
const SECTIONS: [(&str, &str, &str); 7] = [
    ("General", "", ""),
    ("Web and public", "[web]", ""),
    ("Web and public", "[public]", ""),
    ("Runtime", "[runtime.cursor]", ""),
    ("Policy", "[[policy]]", "name = \"a rule\"\nanswer = \"Go on.\""),
    ("Notify", "[[notify]]", "kind = \"desktop\""),
    ("Push", "[push]", ""),
];

/// The key whose default is chosen by the program that reads it: without the key, `cueme init` may have chosen another one.
const CHOSEN_LATER: (&str, &str) = ("[runtime.cursor]", "language");

/// Variables that are not for users, and what they are for.
const INTERNAL: [(&str, &str); 9] = [
    ("CUEME_AGENT_ID", "a hook tells its session the agent"),
    ("CUEME_SESSION", "a hook tells its session the name of it"),
    ("CUEME_RUN_ID", "the broker tells a run its id"),
    ("CUEME_TURN", "the adapter marks the processes of a turn"),
    ("CUEME_COMPLETE", "a shell asks for completions"),
    ("CUEME_COMMIT", "of the build"),
    ("CUEME_BUILD", "of the build"),
    ("CUEME_FEATURES", "of the build"),
    ("CUEME_TEST_TUI_PANIC", "a test of debug builds"),
];

/// Variables of other programs that users of cueme know, and where the program reads them.
const OF_OTHERS: [(&str, &str); 16] = [
    ("VISUAL", "cueme/src/dialogue/external_editor.rs"),
    ("EDITOR", "cueme/src/dialogue/external_editor.rs"),
    ("PAGER", "cueme/src/output.rs"),
    ("NO_COLOR", "cueme/src/display/paint.rs"),
    ("LC_ALL", "cueme/src/command/protocol.rs"),
    ("LC_MESSAGES", "cueme/src/command/protocol.rs"),
    ("LANG", "cueme/src/command/protocol.rs"),
    ("PGPASSWORD", "cueme-broker/store-postgres/src/password.rs"),
    ("PGPASSFILE", "cueme-broker/store-postgres/src/password.rs"),
    ("CURSOR_API_KEY", "adapter-core/cloud-settings/src/resolve.rs"),
    (
        "CURSOR_WEBHOOK_SECRET",
        "adapter-core/cloud-settings/src/resolve.rs",
    ),
    ("XDG_DATA_HOME", "protocol-spec/src/endpoint.rs"),
    ("XDG_CONFIG_HOME", "protocol-spec/src/endpoint.rs"),
    ("XDG_STATE_HOME", "protocol-spec/src/endpoint.rs"),
    ("XDG_RUNTIME_DIR", "protocol-spec/src/endpoint.rs"),
    ("TERM", "cueme/src/display/paint.rs"),
];

type Keys = BTreeSet<String>;

/// Returns the table of the keys that a struct holds, from its source. Fields without a default are tables of their own.
fn table(source: &str, name: &str) -> String {
    let (before, rest) = source
        .split_once(&format!("struct {name} {{\n"))
        .unwrap_or_else(|| panic!("no struct {name}"));
    let body = rest.split("\n}\n").next().unwrap();
    let attributes = before.rsplit("\n\n").next().unwrap();
    let is_camel_case = attributes.contains("rename_all = \"camelCase\"");
    let mut rows = vec![
        "| key | default | meaning |".to_owned(),
        "|---|---|---|".to_owned(),
    ];
    let (mut doc, mut attribute) = (Vec::new(), String::new());
    for line in body.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("///") {
            doc.push(text.trim());
            continue;
        }
        let Some((field, _)) = line
            .trim_start_matches("pub ")
            .split_once(": ")
            .filter(|_| line.ends_with(','))
        else {
            attribute.push_str(line);
            continue;
        };
        let renamed = attribute.split_once("rename = \"").map(|(_, rest)| rest);
        let key = match renamed.and_then(|rest| rest.split('"').next()) {
            Some(key) => key.to_owned(),
            None if is_camel_case => camel_case(field),
            None => field.to_owned(),
        };
        let text = doc.join(" ");
        if let Some((meaning, default)) = text.split_once("  Default: ") {
            let default = default.strip_suffix('.').unwrap_or(default);
            rows.push(format!("| `{key}` | {default} | {} |", meaning.trim_end()));
        }
        doc.clear();
        attribute.clear();
    }
    rows.join("\n") + "\n"
}

#[test]
fn the_tables_are_the_doc_comments_of_the_keys() {
    let path = root().join("cueme/docs/configuration.md");
    let mut text = fs::read_to_string(&path).unwrap();
    let is_update = std::env::var_os(UPDATE).is_some();
    for (heading, file, name) in SOURCES {
        let begin = format!("\n## {heading}\n");
        let (before, section) = text
            .split_once(&begin)
            .unwrap_or_else(|| panic!("no section {heading}"));
        let mark = format!("<!-- keys: {name} in {file} -->\n");
        let (introduction, rest) = section
            .split_once(&mark)
            .unwrap_or_else(|| panic!("no mark: {mark}"));
        let (written, after) = rest.split_once(END).unwrap();
        let table = table(&fs::read_to_string(root().join(file)).unwrap(), name);
        if is_update {
            text = format!("{before}{begin}{introduction}{mark}{table}{END}{after}");
        } else {
            assert_eq!(
                written, table,
                "run this test with {UPDATE}=1 to write configuration.md anew"
            );
        }
    }
    if is_update {
        fs::write(&path, text).unwrap();
    }
}

#[test]
fn a_table_has_the_names_defaults_and_meanings_of_its_fields() {
    let source = "/// Other.\nstruct Other {\n    a: u8,\n}\n\n#[serde(rename_all = \"camelCase\")]\npub struct Keys {\n\
                  \x20   /// A long\n    /// meaning.\n    ///\n    /// Default: `1`.\n    #[serde(\n        alias = \"x\",\n        \
                  default\n    )]\n    pub one_key: u8,\n    /// B.\n    ///\n    /// Default: none.\n    #[serde(rename = \"ref\")]\n    \
                  reference: String,\n    /// A table.\n    pub table: Other,\n}\n";
    let expected = "| key | default | meaning |\n|---|---|---|\n| `oneKey` | `1` | A long meaning. |\n| `ref` | none | B. |\n";
    assert_eq!(table(source, "Keys"), expected);
}

/// Returns the lines of a section.
fn section<'a>(text: &'a str, heading: &str) -> &'a str {
    let section = text.split_once(&format!("\n## {heading}\n")).unwrap().1;
    section.split("\n## ").next().unwrap()
}

/// Returns the keys in the table below a heading.
fn documented(text: &str, heading: &str) -> Keys {
    let key = |line: &str| Some(line.strip_prefix("| `")?.split('`').next()?.to_owned());
    section(text, heading).lines().filter_map(key).collect()
}

/// Returns each key of a table whose default is a value, with that value as TOML.
fn documented_defaults(text: &str, heading: &str) -> Vec<(String, String)> {
    let default = |line: &str| {
        let mut cells = line.split(" | ");
        let key = cells.next()?.strip_prefix("| `")?.strip_suffix('`')?;
        let cell = cells.next()?;
        let value = cell.strip_prefix('`').and_then(|cell| cell.strip_suffix('`'));
        let value = value.filter(|value| !value.contains('`'));
        let value = value.or_else(|| cell.parse::<u64>().is_ok().then_some(cell))?;
        Some((key.to_owned(), value.to_owned()))
    };
    section(text, heading).lines().filter_map(default).collect()
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
    for (heading, place, _) in SECTIONS.into_iter().skip(1) {
        assert_eq!(documented(&text, heading), accepted(place), "{place}");
    }
    assert_eq!(documented(&text, "Cloud"), accepted_for_cloud());
}

#[test]
fn every_documented_default_is_the_value_that_a_missing_key_has() {
    let text = page("cueme/docs/configuration.md");
    let mut seen = 0;
    for (heading, place, rest) in SECTIONS {
        let without: Config = toml::from_str(&format!("{place}\n{rest}\n")).unwrap();
        for (key, value) in documented_defaults(&text, heading) {
            if (place, key.as_str()) == CHOSEN_LATER {
                continue;
            }
            let with: Config = toml::from_str(&format!("{place}\n{rest}\n{key} = {value}\n")).unwrap();
            assert_eq!(with, without, "{place} {key}");
            seen += 1;
        }
    }
    assert!(seen >= 6, "only {seen} defaults were found");
}

#[test]
fn every_documented_default_of_the_cloud_is_the_setting_of_a_missing_key() {
    let settings = |line: &str| {
        let written = format!("[cloud]\nrepository = \"https://github.com/acme/site\"\n{line}\n");
        let config = toml::from_str::<Config>(&written).unwrap().cloud;
        let variable = |_: &str| Some("https://agents.example.org/0123456789abcdef".to_owned());
        format!("{:?}", config.settings(Reach::Optional, &variable).unwrap())
    };
    let text = page("cueme/docs/configuration.md");
    let defaults = documented_defaults(&text, "Cloud");
    for (key, value) in &defaults {
        let is_word = !matches!(value.as_str(), "true" | "false") && value.parse::<u64>().is_err();
        // A default that names a variable is no value.
        if is_word && value.starts_with("CUEME_") {
            continue;
        }
        let value = if is_word {
            format!("{value:?}")
        } else {
            value.clone()
        };
        assert_eq!(settings(&format!("{key} = {value}")), settings(""), "{key}");
    }
    assert!(defaults.len() >= 8, "{defaults:?}");
}

#[test]
fn every_variable_that_the_program_reads_is_documented() {
    let mut read = Keys::new();
    for sources in ["adapter-core", "cueme", "cueme-broker", "protocol-spec"] {
        collect_variables(&root().join(sources), &mut read);
    }
    for (name, purpose) in INTERNAL {
        assert!(read.remove(name), "{name}: {purpose}");
    }
    let text = page("cueme/docs/configuration.md");
    let table = section(&text, "Environment variables");
    let documented: Keys = table
        .lines()
        .filter_map(|line| line.strip_prefix("| `CUEME_"))
        .flat_map(|line| line.split(" | ").next().unwrap_or_default().split(", "))
        .map(|name| format!("CUEME_{}", name.trim_matches('`').trim_start_matches("CUEME_")))
        .collect();
    assert_eq!(documented, read);
    for (name, file) in OF_OTHERS {
        let source = fs::read_to_string(root().join(file)).unwrap();
        assert!(
            source.contains(&format!("\"{name}\"")),
            "{file} does not read {name}"
        );
        assert!(table.contains(&format!("`{name}`")), "{name} is not documented");
    }
}

/// Collects the names of variables that are string literals in the sources of a crate, its tests aside.
fn collect_variables(folder: &Path, names: &mut Keys) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir()
            && !["tests", "benches", "ui", "node_modules"]
                .iter()
                .any(|other| name == *other)
        {
            collect_variables(&path, names);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let source = fs::read_to_string(&path).unwrap();
            let source = source.split("\n#[cfg(test)]").next().unwrap_or_default();
            let literals = source.split('"').filter(|text| text.starts_with("CUEME_"));
            let is_name = |text: &&str| {
                text.chars()
                    .all(|letter| letter.is_ascii_uppercase() || letter == '_')
            };
            names.extend(literals.filter(is_name).map(str::to_owned));
        }
    }
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
