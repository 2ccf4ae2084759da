//! `cueme docs` prints the pages of `cueme/docs`, and what users read elsewhere in the repository, as they are.

use std::process::{Command, Output};

use cueme_tests::cueme;

use crate::markdown::documents;

/// Pages outside of `cueme/docs`, by their topics.
const ELSEWHERE: [(&str, &str); 3] = [
    ("security", "SECURITY.md"),
    ("protocol", "protocol-spec/SPEC.md"),
    ("api", "cueme-broker/src/web/API.md"),
];

fn docs(topic: &[&str]) -> Output {
    Command::new(cueme()).arg("docs").args(topic).output().unwrap()
}

#[test]
fn every_page_is_listed_and_printed_as_it_is() {
    let list = String::from_utf8(docs(&[]).stdout).unwrap();
    let mut seen = 0;
    for (path, text) in documents() {
        let elsewhere = ELSEWHERE.iter().find(|(_, file)| path.ends_with(file));
        let topic = match elsewhere {
            Some((topic, _)) => topic,
            None if path.parent().unwrap().ends_with("cueme/docs") => {
                path.file_stem().unwrap().to_str().unwrap()
            }
            None => continue,
        };
        assert!(
            list.lines().any(|line| line.starts_with(&format!("{topic} "))),
            "{topic}: {list}"
        );
        assert_eq!(String::from_utf8(docs(&[topic]).stdout).unwrap(), text, "{topic}");
        seen += 1;
    }
    assert_eq!(seen, list.lines().take_while(|line| !line.is_empty()).count());
}

#[test]
fn a_topic_that_does_not_exist_is_refused_and_the_others_are_named() {
    let output = docs(&["flying"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("getting-started")
    );
}
