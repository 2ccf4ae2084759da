//! The adapter's probes of the CLI.

use std::path::{Path, PathBuf};

use adapter_core::cursor::cli::{State, create_chat, examine, login_status, models, probe, version};

fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_fake-cursor-agent"))
}

#[tokio::test]
async fn version_login_models_and_a_new_chat_are_read() {
    assert!(version(program()).await.unwrap().starts_with("2026."));
    assert!(
        login_status(program())
            .await
            .unwrap()
            .contains("user@example.com")
    );
    assert_eq!(models(program()).await.unwrap().len(), 2);
    let chat = create_chat(program(), Some(&PathBuf::from("/"))).await.unwrap();
    assert_eq!(chat.len(), 36);
}

#[tokio::test]
async fn an_unknown_option_is_told_apart() {
    let answer = probe(program(), &["--nonsense"], None).await.unwrap();
    assert!(answer.stderr.contains("unknown option '--nonsense'"));
}

#[tokio::test]
async fn the_doctor_finds_what_is_there_and_says_what_to_do_about_the_rest() {
    let home = tempfile::tempdir().unwrap();
    let findings = examine(&program().display().to_string(), home.path()).await;
    let states: Vec<_> = findings
        .iter()
        .map(|finding| (finding.what, finding.state))
        .collect();
    let expected = [
        ("command", State::Good),
        ("version", State::Good),
        ("login", State::Good),
        ("permissions", State::Warning),
    ];
    assert_eq!(states, expected);
    assert!(findings[3].remedy.as_deref().unwrap().contains("cueme init"));
    let findings = examine("/nowhere/agent", home.path()).await;
    assert_eq!(findings[0].state, State::Bad);
}
