//! Looking after it: doctor, demo, logs, the user service.

use cueme_tests::{Home, not_run};

#[test]
fn doctor_is_content_with_a_sound_home_and_times_a_real_question() {
    let home = Home::new();
    let report = home.ok(&["doctor"]);
    for part in [
        "ok    program: cueme ",
        "ok    configuration: ",
        "ok    socket: ",
        "ok    broker: ",
        "ok    data directory: ",
        "ok    database file: ",
        "ok    socket file: ",
        "ok    database: sound",
        "  question: ",
    ] {
        assert!(report.contains(part), "{part:?} is missing in\n{report}");
    }
    assert!(!report.contains("fail"), "{report}");
    assert!(home.open_cues().is_empty(), "nobody is disturbed");
    let left = std::fs::read_dir(home.path())
        .unwrap()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("cueme-"))
        .count();
    assert_eq!(left, 0, "nothing is left behind");
}

#[test]
fn doctor_names_a_problem_and_its_remedy() {
    let home = Home::new();
    home.join();
    home.configure("idle_exit = \"soon\"\n");
    let run = home.run(&["doctor", "--quick"]);
    let report = run.printed(1);
    assert!(report.contains("fail  configuration: "), "{report}");
    assert!(
        report.contains("\"soon\"") && report.contains("→ correct "),
        "{report}"
    );
}

#[test]
fn the_demo_shows_the_whole_loop_and_touches_nothing() {
    let home = Home::new();
    let shown = home.ok(&["demo"]);
    for part in [
        "cueme join demo",
        "tidy-payments, please",
        "--select SQLite",
        "Leave it",
        "Environment: staging",
        "Replicas: 3",
        "Continue",
    ] {
        assert!(shown.contains(part), "{part:?} is missing in\n{shown}");
    }
    assert!(!home.path().exists(), "the user's own home was not touched");
}

#[test]
fn the_log_is_printed_and_missing_when_there_is_none() {
    let home = Home::new();
    home.run(&["broker", "logs"]).refused(1, &["no log", "hint: "]);
    home.join();
    assert!(home.ok(&["broker", "logs"]).contains("the broker is ready"));
    assert_eq!(home.ok(&["broker", "logs", "-n", "1"]).lines().count(), 1);
}

#[test]
fn what_humans_and_agents_say_is_not_in_the_log() {
    let home = Home::new();
    let agent = home.join();
    home.ask_and_answer(
        &agent,
        "a-very-private-question",
        None,
        &["a-very-private-answer"],
    );
    home.ok(&["say", &agent, "a-very-private-message"]);
    assert!(!home.log().contains("very-private"), "{}", home.log());
}

#[test]
fn the_user_service_is_shown_before_it_is_written() {
    if cfg!(not(target_os = "linux")) {
        return not_run("the expected text is the one of systemd");
    }
    let home = Home::new();
    let shown = home.run(&["broker", "install", "--dry-run"]);
    let text = shown.printed(0);
    assert!(text.contains("broker run"), "{text}");
    assert!(text.contains(home.binary().to_str().unwrap()), "{text}");
}

/// A library more would have to be installed on every machine, and is loaded whenever an agent asks something.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn the_program_loads_no_library_but_those_of_the_c_compiler() {
    let mut program = std::process::Command::new(cueme_tests::cueme());
    // The loader then says what it would load, and ends.
    let listing = program.env("LD_TRACE_LOADED_OBJECTS", "1").output().unwrap();
    let listing = String::from_utf8(listing.stdout).unwrap();
    let mut libraries: Vec<&str> = listing
        .lines()
        .filter_map(|line| line.trim().split_once(" => "))
        .map(|(name, _)| name)
        .collect();
    libraries.sort_unstable();
    assert_eq!(
        libraries,
        ["libc.so.6", "libgcc_s.so.1", "libm.so.6"],
        "{listing}"
    );
}
