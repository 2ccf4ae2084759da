//! Features for a person at a shell: completions, a pager, help that fits, and a guided demo.

use cueme_tests::{Home, Signal, Terminal, eventually, not_run_without, processes_with, send_signal};

#[test]
fn on_a_terminal_the_demo_waits_for_the_person_and_ends_with_their_own_answer() {
    if !Terminal::is_available() {
        return not_run_without("tmux");
    }
    let home = Home::new();
    let scratch = home.scratch().join("tmp");
    std::fs::create_dir(&scratch).unwrap();
    let mut command = home.command(&["demo"]);
    let screen = Terminal::running(command.env("TMPDIR", &scratch));
    for scene in [
        "An agent joins",
        "plain words",
        "a choice",
        "a yes or a no",
        "several values",
        "may continue",
    ] {
        screen.sees(scene);
        screen.sees("(Enter goes on, Ctrl-C leaves)");
        eventually("the scene is over", || {
            let seen = screen.screen();
            let last = seen.lines().rev().find(|line| !line.trim().is_empty());
            last?.starts_with("(Enter goes on").then_some(())
        });
        screen.press("Enter");
    }
    screen.sees("press Enter to open `cueme tui`");
    screen.sees("in a browser: http://127.0.0.1");
    screen.press("Enter");
    screen.sees("What do you think of it?");
    screen.press("Enter");
    screen.sees("> 1. ( ) I like it");
    screen.press("Enter");
    screen.sees("will read, as the answer to");
    screen.press("Enter");
    screen.sees("0 open");
    screen.press("q");
    let seen = screen.sees("exit=0");
    assert!(
        seen.contains("I like it") && seen.contains("That is all"),
        "{seen}"
    );
    assert_eq!(std::fs::read_dir(&scratch).unwrap().count(), 0);
}

#[test]
fn a_demo_that_is_left_early_leaves_no_process_no_directory_and_no_socket() {
    if !Terminal::is_available() {
        return not_run_without("tmux");
    }
    for (enters, signal) in [(0, Signal::INT), (6, Signal::INT), (6, Signal::TERM)] {
        let home = Home::new();
        let scratch = home.scratch().join("tmp");
        std::fs::create_dir(&scratch).unwrap();
        let mut command = home.command(&["demo"]);
        let screen = Terminal::running(command.env("TMPDIR", &scratch));
        screen.sees("(Enter goes on, Ctrl-C leaves)");
        for _ in 0..enters {
            screen.press("Enter");
        }
        if enters > 0 {
            screen.sees("press Enter to open `cueme tui`");
        }
        let demo = eventually("the demo runs", || {
            let found = processes_with("TMPDIR", &scratch);
            found.into_iter().find(|pid| {
                let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
                line.ends_with("\0demo\0") && line.starts_with(&home.binary().display().to_string())
            })
        });
        if signal == Signal::INT {
            screen.press("C-c");
            screen.sees("exit=130");
        } else {
            send_signal(demo, signal);
            screen.sees("exit=143");
        }
        eventually("nothing of it is left", || {
            let is_clean = processes_with("TMPDIR", &scratch).is_empty();
            (is_clean && std::fs::read_dir(&scratch).ok()?.count() == 0).then_some(())
        });
    }
}

#[test]
fn an_agent_is_renamed_and_forgotten_until_it_asks_again() {
    let home = Home::new();
    let agent = home.join();
    let other = home.join();
    home.ok(&["agents", "rename", &agent, "payments", "service"]);
    assert!(home.ok(&["agents"]).contains("payments service"));
    assert!(
        home.ok(&["agents", "--name", "payments", "--json"])
            .contains(&agent)
    );
    home.ok(&["agents", "rename", &agent]);
    assert!(!home.ok(&["agents"]).contains("payments"));
    let (client, cue) = home.ask(&agent, "Which port?", None);
    let refused = home.run(&["agents", "forget", &agent]);
    assert!(
        refused.code == Some(1)
            && refused.stderr.contains("open questions")
            && refused.stderr.contains("cueme inbox"),
        "{}",
        refused.stderr
    );
    home.ok(&["answer", &cue, "8080"]);
    client.finish().printed(0);
    home.ok(&["agents", "forget", &agent]);
    let listed = home.ok(&["agents"]);
    assert!(!listed.contains(&agent) && listed.contains(&other), "{listed}");
    assert!(home.ok(&["history", "--agent", &agent]).contains("Which port?"));
    let (_client, _) = home.ask(&agent, "Which host?", None);
    assert!(home.ok(&["agents"]).contains(&agent));
    home.run(&["agents", "forget", "nobody"]).printed(3);
}

#[test]
fn an_option_is_selected_in_any_case_and_a_wrong_flag_is_answered_with_the_right_one() {
    let home = Home::new();
    let agent = home.join();
    let choice = r#"{"type":"choice","options":["SQLite","PostgreSQL"]}"#;
    let (client, cue) = home.ask(&agent, "Which database?", Some(choice));
    let wrong = home.run(&["answer", &cue, "--confirm"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("--select SQLite"), "{}", wrong.stderr);
    let wrong = home.run(&["answer", &cue, "--select", "Oracle"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("--other"), "{}", wrong.stderr);
    home.ok(&["answer", &cue, "--select", "postgresql"]);
    assert!(client.finish().printed(0).starts_with("PostgreSQL\n"));
}

#[test]
fn a_question_that_does_not_fit_the_screen_goes_through_the_pager() {
    if !Terminal::is_available() {
        return not_run_without("tmux");
    }
    let home = Home::new();
    let agent = home.join();
    let lines: String = (0..80).map(|line| format!("line {line}\n")).collect();
    let (_client, cue) = home.ask(&agent, &format!("# Plan\n\n{lines}end"), None);
    let mut command = home.command(&["show", &cue]);
    let screen = Terminal::running(command.env("PAGER", "sed 's/^/paged: /'"));
    screen.sees("paged: end");
    let mut command = home.command(&["show", &cue]);
    let screen = Terminal::running(command.env("PAGER", "no-such-pager"));
    screen.sees("exit=0");
    assert!(screen.screen().contains("end"));
    let piped = home
        .command(&["show", &cue])
        .env("PAGER", "sed 's/^/paged: /'")
        .output()
        .unwrap();
    let piped = String::from_utf8(piped.stdout).unwrap();
    assert!(piped.contains("line 79") && !piped.contains("paged:"), "{piped}");
}

#[test]
fn a_page_of_the_documentation_goes_through_the_pager_and_names_commands_in_place_of_links() {
    if !Terminal::is_available() {
        return not_run_without("tmux");
    }
    let home = Home::new();
    let mut command = home.command(&["docs", "answering"]);
    let screen = Terminal::running(command.env("PAGER", "grep -o 'SECURITY.md (`cueme docs security`)'"));
    screen.sees("SECURITY.md (`cueme docs security`)");
}

#[test]
fn help_wraps_at_the_width_of_the_terminal() {
    if !Terminal::is_available() {
        return not_run_without("tmux");
    }
    let home = Home::new();
    for columns in [60, 80, 100] {
        for verb in ["answer", "init", "agents", "demo", "--help"] {
            let words = if verb == "--help" {
                &[verb][..]
            } else {
                &["help", verb]
            };
            let screen = Terminal::sized(&home.command(words), columns, 120);
            let seen = screen.sees("exit=0");
            // A line that the terminal had to break would end in the middle of a word, at the last column.
            let text = home.ok(words);
            for word in text.split_whitespace().filter(|word| word.len() < 20) {
                assert!(
                    seen.contains(word),
                    "{verb} at {columns} breaks {word:?}:\n{seen}"
                );
            }
        }
    }
}

#[test]
fn completions_know_the_verbs() {
    let home = Home::new();
    let agent = home.join();
    let choice = r#"{"type":"choice","options":["SQLite","PostgreSQL","$(reboot)"]}"#;
    let (_client, cue) = home.ask(&agent, "Which database?", Some(choice));
    for shell in ["bash", "zsh", "fish"] {
        let script = home.ok(&["completions", shell]);
        assert!(script.contains("CUEME_COMPLETE"), "{shell}: {script}");
    }
    home.run(&["completions", "tcsh"]).printed(2);
    // A shell that has read the script, asked for a word as it asks for it when a person presses Tab.
    let completed = |words: &[&str]| {
        let script = r#"PATH="$(dirname "$CUEME_BIN"):$PATH"; source <(cueme completions bash)
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_TYPE=9; IFS=$'\n'
            _clap_complete_cueme "$1" "${@: -1}" "${@: -2:1}"; echo "${COMPREPLY[*]}""#;
        let words: Vec<&str> = ["--norc", "-c", script, "bash"]
            .iter()
            .chain(words)
            .copied()
            .collect();
        let output = home.command_of("/bin/bash".as_ref(), &words).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(completed(&["cueme", "inb"]).contains("inbox"));
    assert!(completed(&["cueme", "answer", ""]).contains(&cue));
    assert!(completed(&["cueme", "say", ""]).contains(&agent));
    assert!(completed(&["cueme", "pause", ""]).contains(&agent));
    assert!(completed(&["cueme", "agents", "--runtime", "cla"]).contains("claude_code"));
    assert!(completed(&["cueme", "init", "cla"]).contains("claude_code"));
    assert!(completed(&["cueme", "join", "cod"]).contains("codex"));
    home.configure(
        "[[notify]]\nkind = \"webhook\"\nname = \"desk\"\nurl = \"http://127.0.0.1:1/x\"\nafter = \"1h\"\n",
    );
    assert!(completed(&["cueme", "notify", "test", ""]).contains("desk"));
    let options = completed(&["cueme", "answer", &cue, "--select", ""]);
    assert!(
        options.contains("PostgreSQL") && !options.contains("reboot"),
        "{options}"
    );
}
