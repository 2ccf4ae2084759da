//! `cueme docs` prints the pages of `cueme/docs` as they are.

use std::process::{Command, Output};

use cueme_tests::cueme;

use crate::markdown::documents;

fn docs(topic: &[&str]) -> Output {
    Command::new(cueme()).arg("docs").args(topic).output().unwrap()
}

#[test]
fn every_page_is_listed_and_printed_as_it_is() {
    let list = String::from_utf8(docs(&[]).stdout).unwrap();
    let pages = documents()
        .into_iter()
        .filter(|(path, _)| path.parent().unwrap().ends_with("cueme/docs"));
    let mut seen = 0;
    for (path, text) in pages {
        let topic = path.file_stem().unwrap().to_str().unwrap();
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
