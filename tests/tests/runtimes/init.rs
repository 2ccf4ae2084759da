//! `cueme init` and `cueme protocol` as a person uses them, in a home of their own.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use cueme_tests::{Home, Run, Terminal, files_below, not_run_without};
use runtimes::Runtime;

/// A person's home and project beside our own data.
struct Person {
    home: Home,
}

impl Person {
    fn new() -> Self {
        let home = Home::created();
        fs::create_dir(home.path().join("person")).unwrap();
        fs::create_dir(home.path().join("project")).unwrap();
        Self { home }
    }

    fn folder(&self) -> PathBuf {
        self.home.path().join("person")
    }

    fn config(&self) -> PathBuf {
        self.home.path().join("config.toml")
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.home.command(words);
        command
            .env("HOME", self.folder())
            .env("PATH", "/nowhere")
            .env("LANG", "C")
            .current_dir(self.home.path().join("project"));
        for variable in [
            "XDG_CONFIG_HOME",
            "CLAUDE_CONFIG_DIR",
            "CODEX_HOME",
            "KIRO_HOME",
            "COPILOT_HOME",
            "LC_ALL",
            "LC_MESSAGES",
        ] {
            command.env_remove(variable);
        }
        command
    }

    fn run(&self, words: &[&str]) -> Run {
        let output = self.command(words).output().unwrap();
        Run {
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code(),
        }
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.folder().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Everything in the person's home and project.
    fn tree(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut tree = files_below(&self.folder());
        tree.extend(files_below(&self.home.path().join("project")));
        tree
    }
}

#[test]
fn a_runtime_is_connected_with_one_command_and_removed_without_a_trace() {
    let person = Person::new();
    person.write(
        ".claude/settings.json",
        "{\n  // mine\n  \"model\": \"opus\"\n}\n",
    );
    fs::write(person.config(), "# mine\nreminder = false\n").unwrap();
    let before = person.tree();
    let installed = person.run(&["init", "claude_code", "--yes"]).expect(0);
    assert!(installed.stdout.contains("+++ "), "{}", installed.stdout);
    let settings = fs::read_to_string(person.folder().join(".claude/settings.json")).unwrap();
    assert!(
        settings.contains("// mine") && settings.contains("hook claude_code stop"),
        "{settings}"
    );
    let config = fs::read_to_string(person.config()).unwrap();
    assert!(config.starts_with("# mine\nreminder = false\n"), "{config}");
    assert!(
        config.contains("[runtime.claude_code]\nwait = \"590s\" # set by cueme init"),
        "{config}"
    );
    let after = person.tree();
    let again = person.run(&["init", "claude_code"]).expect(0);
    assert!(again.stdout.contains("up to date"), "{}", again.stdout);
    assert_eq!(person.tree(), after);
    person
        .run(&["init", "claude_code", "--remove", "--yes"])
        .expect(0);
    assert_eq!(person.tree(), before);
    assert_eq!(
        fs::read_to_string(person.config()).unwrap(),
        "# mine\nreminder = false\n"
    );
}

#[test]
fn every_runtime_is_connected_and_removed_in_both_scopes() {
    for runtime in [
        "cursor",
        "claude_code",
        "codex",
        "windsurf",
        "vscode",
        "kiro",
        "opencode",
        "gemini_cli",
        "copilot_cli",
        "qwen_code",
        "droid",
        "agents_md",
    ] {
        for scope in ["--user", "--project"] {
            let person = Person::new();
            person.run(&["init", runtime, scope, "--yes"]).expect(0);
            assert!(!person.tree().is_empty(), "{runtime} {scope}");
            let table = person.run(&["init", "--status", runtime]).expect(0).stdout;
            assert!(table.contains("connected"), "{table}");
            person
                .run(&["init", runtime, scope, "--remove", "--yes"])
                .expect(0);
            person.run(&["init", "--status", runtime]).expect(1);
            assert_eq!(person.tree(), BTreeMap::new(), "{runtime} {scope}");
            assert!(!person.config().exists(), "{runtime} {scope}");
        }
    }
}

/// Returns the row of a runtime, column by column.
fn row(table: &str, runtime: &str, scope: &str) -> Vec<String> {
    let line = table
        .lines()
        .find(|line| line.starts_with(&format!("{runtime} ")) && line.contains(&format!(" {scope} ")))
        .unwrap_or_else(|| panic!("no {runtime} {scope} in {table}"));
    line.split("  ")
        .map(str::trim)
        .filter(|cell| !cell.is_empty())
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_status_tells_each_part_of_each_host_and_the_version_that_was_checked() {
    let person = Person::new();
    for runtime in [
        "cursor",
        "claude_code",
        "codex",
        "windsurf",
        "vscode",
        "kiro",
        "opencode",
        "gemini_cli",
        "copilot_cli",
        "qwen_code",
        "droid",
    ] {
        person.run(&["init", runtime, "--yes"]).expect(0);
    }
    let table = person.run(&["init", "--status"]).expect(0).stdout;
    let headings = table.lines().next().unwrap();
    for heading in ["RULE", "PERMISSION", "HOOKS", "MCP", "CHECKED WITH"] {
        assert!(headings.contains(heading), "{headings}");
    }
    let parts = |runtime: &str| row(&table, runtime, "user")[2..7].join(" ");
    assert_eq!(parts("claude_code"), "connected yes yes yes yes");
    assert_eq!(parts("codex"), "connected yes yes yes yes");
    assert_eq!(parts("copilot_cli"), "connected yes impossible yes yes");
    assert_eq!(parts("opencode"), "connected yes not needed yes yes");
    assert_eq!(row(&table, "qwen_code", "user")[2], "connected");
    // Programs that read AGENTS.md are not connected, though others have our rule.
    assert_eq!(row(&table, "agents_md", "user")[2], "-");
    for (runtime, version) in [("claude_code", "2.1."), ("codex", "0.1")] {
        assert!(row(&table, runtime, "user")[7].starts_with(version), "{table}");
    }
    assert!(table.contains("never tried"), "{table}");
    // The table names the features that a host makes impossible.
    assert!(table.contains("Windsurf's hooks cannot hold a turn"), "{table}");
    fs::remove_file(person.folder().join(".codex/hooks.json")).unwrap();
    let table = person.run(&["init", "--status", "codex"]).expect(1).stdout;
    assert_eq!(
        row(&table, "codex", "user")[2..7].join(" "),
        "outdated yes yes missing yes"
    );
}

#[test]
fn a_rule_that_another_runtime_reads_too_does_not_make_it_connected() {
    let person = Person::new();
    person.run(&["init", "codex", "--project", "--yes"]).expect(0);
    let table = person.run(&["init", "--status"]).expect(0).stdout;
    assert_eq!(row(&table, "codex", "project")[2], "connected");
    for other in ["opencode", "droid", "agents_md"] {
        assert!(!table.contains(&format!("{other}  project")), "{table}");
        person.run(&["init", "--status", other]).expect(1);
    }
}

#[test]
fn what_moves_the_broker_and_the_language_are_where_hosts_and_agents_find_them() {
    let person = Person::new();
    person
        .run(&["init", "codex", "--language", "zh", "--yes"])
        .expect(0);
    let home = person.home.path().display().to_string();
    let toml = fs::read_to_string(person.folder().join(".codex/config.toml")).unwrap();
    assert!(
        toml.contains(&format!("env = {{ CUEME_HOME = \"{home}\" }}")),
        "{toml}"
    );
    let hooks = fs::read_to_string(person.folder().join(".codex/hooks.json")).unwrap();
    assert!(
        hooks.contains("\"env ") && hooks.contains(&format!("CUEME_HOME={home}")),
        "{hooks}"
    );
    let config = fs::read_to_string(person.config()).unwrap();
    assert!(
        config.contains("[runtime.codex]\nlanguage = \"zh\" # set by cueme init"),
        "{config}"
    );
    let joined = person.run(&["join", "codex"]).expect(0).stdout;
    assert!(joined.contains("你已加入"), "{joined}");
    let english = person.run(&["join", "cursor"]).expect(0).stdout;
    assert!(english.contains("You have joined"), "{english}");
    person.run(&["init", "codex", "--remove", "--yes"]).expect(0);
    assert!(!person.config().exists());
}

#[test]
fn a_plugin_folder_has_the_hooks_and_the_rule_of_an_installation() {
    let person = Person::new();
    let folder = person.folder().join("plugin");
    let path = folder.to_str().unwrap();
    person.run(&["init", "claude_code", "--plugin", path]).expect(0);
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&read(".claude-plugin/plugin.json")).unwrap();
    assert_eq!(manifest["name"], "cueme");
    let skill = read("skills/cueme/SKILL.md");
    assert!(skill.starts_with("---\nname: cueme\ndescription: "), "{skill}");
    person.run(&["init", "claude_code", "--yes"]).expect(0);
    let settings = fs::read_to_string(person.folder().join(".claude/settings.json")).unwrap();
    let settings: serde_json::Value = serde_json::from_str(&settings).unwrap();
    let hooks: serde_json::Value = serde_json::from_str(&read("hooks/hooks.json")).unwrap();
    assert_eq!(hooks["hooks"], settings["hooks"]);
    let rule = fs::read_to_string(person.folder().join(".claude/CLAUDE.md")).unwrap();
    let (_, taught) = skill.split_once("---\n\n").unwrap();
    assert!(rule.contains(taught.trim_end()), "{rule}");
    // A second time renews it; a folder of somebody else is left alone.
    person.run(&["init", "claude_code", "--plugin", path]).expect(0);
    person.write("theirs/notes.txt", "mine");
    let theirs = person.folder().join("theirs");
    let refused = person
        .run(&["init", "claude_code", "--plugin", theirs.to_str().unwrap()])
        .expect(2);
    assert!(refused.stderr.contains("not empty"), "{}", refused.stderr);
    person.run(&["init", "codex", "--plugin", path]).expect(2);
}

#[test]
fn nothing_is_written_without_a_yes() {
    let person = Person::new();
    let refused = person.run(&["init", "codex", "--project"]).expect(2);
    assert!(
        refused.stdout.contains("+++ "),
        "the diff is shown: {}",
        refused.stdout
    );
    assert!(
        refused.stderr.contains("cueme init codex --project --yes"),
        "{}",
        refused.stderr
    );
    let shown = person.run(&["init", "codex", "--dry-run"]).expect(0);
    assert!(shown.stdout.contains("nothing was changed"), "{}", shown.stdout);
    assert_eq!(person.tree(), BTreeMap::new());
    assert!(!person.config().exists());
}

#[test]
fn a_file_that_cannot_be_understood_is_named_and_left_alone() {
    let person = Person::new();
    person.write(".claude/settings.json", "{ broken");
    let ended = person.run(&["init", "claude_code", "--yes"]).expect(2);
    assert!(
        ended.stderr.contains("left alone: ") && ended.stderr.contains("settings.json: line 1"),
        "{}",
        ended.stderr
    );
    let tree = person.tree();
    assert_eq!(tree[&person.folder().join(".claude/settings.json")], b"{ broken");
    assert!(tree.len() > 1, "the other files were written with consent");
    let table = person.run(&["init", "--status"]).expect(1).stdout;
    assert!(
        table.contains("broken") && table.contains("settings.json"),
        "{table}"
    );
    let doctor = person.run(&["doctor", "--quick"]);
    assert!(
        doctor.stdout.contains("claude_code: cannot be read"),
        "{}",
        doctor.stdout
    );
}

#[test]
fn what_is_found_on_the_machine_is_offered() {
    let person = Person::new();
    let nothing = person.run(&["init"]).expect(1);
    assert!(nothing.stderr.contains("no runtime"), "{}", nothing.stderr);
    fs::create_dir(person.folder().join(".codex")).unwrap();
    let offered = person.run(&["init"]).expect(2);
    assert!(
        offered.stderr.contains("cueme init codex --yes"),
        "{}",
        offered.stderr
    );
    let doctor = person.run(&["doctor", "--quick"]);
    assert!(
        doctor.stdout.contains("codex: found, not connected"),
        "{}",
        doctor.stdout
    );
    person.run(&["init", "--yes"]).expect(0);
    let doctor = person.run(&["doctor", "--quick"]);
    assert!(
        doctor.stdout.contains("codex: connected (user)"),
        "{}",
        doctor.stdout
    );
}

#[test]
fn an_installation_in_another_language_is_kept_and_current() {
    let person = Person::new();
    person
        .run(&["init", "codex", "--language", "zh", "--yes"])
        .expect(0);
    let tree = person.tree();
    assert!(
        person
            .run(&["init", "codex"])
            .expect(0)
            .stdout
            .contains("up to date")
    );
    assert_eq!(person.tree(), tree);
    let table = person.run(&["init", "--status", "codex"]).expect(0).stdout;
    assert!(
        table.contains("connected") && !table.contains("outdated"),
        "{table}"
    );
}

#[test]
fn the_protocol_is_printed_in_either_language_with_a_runtimes_guidance() {
    let person = Person::new();
    let plain = person.run(&["protocol"]).expect(0).stdout;
    let cursor = person.run(&["protocol", "cursor"]).expect(0).stdout;
    assert!(cursor.starts_with(&plain) && cursor.len() > plain.len());
    let chinese = person.run(&["protocol", "--language", "zh"]).expect(0).stdout;
    assert!(chinese.contains('的') && !plain.contains('的'));
    let both = person.run(&["protocol", "--language", "both"]).expect(0).stdout;
    assert!(both.contains(plain.trim()) && both.contains(chinese.trim()));
    let wrong = person.run(&["protocol", "emacs"]).expect(2);
    assert!(wrong.stderr.contains("claude_code"), "{}", wrong.stderr);
}

#[test]
fn an_update_keeps_the_language_and_the_extras_that_were_chosen() {
    let person = Person::new();
    person
        .run(&["init", "codex", "--language", "zh", "--approvals", "--yes"])
        .expect(0);
    let chosen = person.tree();
    // As an older version had left it: another path of the program, other words in the rule.
    for (path, bytes) in &chosen {
        let text = String::from_utf8(bytes.clone()).unwrap();
        let binary = cueme_tests::cueme().to_str().unwrap();
        let old = text
            .replace(binary, "/old/bin/cueme")
            .replace("TOOLS_UNAVAILABLE", "NO_TOOLS");
        fs::write(path, old).unwrap();
    }
    let table = person.run(&["init", "--status", "codex"]).expect(1).stdout;
    assert!(table.contains("outdated"), "{table}");
    person.run(&["init", "codex", "--yes"]).expect(0);
    assert_eq!(person.tree(), chosen);
    // An option overrides an earlier choice.
    person
        .run(&["init", "codex", "--language", "en", "--yes"])
        .expect(0);
    let rule = fs::read_to_string(person.folder().join(".codex/AGENTS.md")).unwrap();
    assert!(!rule.contains('的'), "{rule}");
    let hooks = fs::read_to_string(person.folder().join(".codex/hooks.json")).unwrap();
    assert!(hooks.contains("hook codex permission"), "{hooks}");
}

#[test]
fn blocks_of_the_original_are_replaced_by_ours_and_come_back_on_removal() {
    for (begin, end) in [
        (
            "<!-- HUMAN_AGENT_PROTO_BEGIN -->",
            "<!-- HUMAN_AGENT_PROTO_END -->",
        ),
        (
            "<!-- HUAMN_AGENT_PROTO_BEGIN -->",
            "<!-- HUAMN_AGENT_PROTO_END -->",
        ),
    ] {
        let person = Person::new();
        let text = format!("# Mine\n\n{begin}\nold words\n{end}\n\nMore of mine.\n");
        person.write(".claude/CLAUDE.md", &text);
        let before = person.tree();
        person.run(&["init", "claude_code", "--yes"]).expect(0);
        let rule = fs::read_to_string(person.folder().join(".claude/CLAUDE.md")).unwrap();
        assert!(
            rule.starts_with("# Mine\n\n<!-- cueme:begin") && rule.ends_with("\n\nMore of mine.\n"),
            "{rule}"
        );
        assert!(
            !rule.contains("_AGENT_PROTO") && !rule.contains("old words"),
            "{rule}"
        );
        person
            .run(&["init", "claude_code", "--remove", "--yes"])
            .expect(0);
        assert_eq!(person.tree(), before);
    }
}

#[test]
fn a_person_is_shown_what_would_change_and_asked() {
    if !Terminal::is_available() {
        return not_run_without("tmux");
    }
    let home = cueme_tests::Home::created();
    let person = home.path().join("person");
    fs::create_dir_all(person.join(".codex")).unwrap();
    fs::create_dir_all(person.join(".gemini")).unwrap();
    let folder = person.to_str().unwrap();
    let open = |words: &[&str]| {
        let variables = [
            ("HOME", folder),
            ("PATH", "/nowhere"),
            ("LANG", "C"),
            ("XDG_CONFIG_HOME", ""),
        ];
        Terminal::open_with(&home, &variables, words)
    };
    let files = || files_below(&person).len();

    let refusing = open(&["init", "codex"]);
    refusing.sees("Connect Codex with these changes? [y/N]");
    refusing.press("Enter");
    refusing.sees("Codex: nothing was changed");
    refusing.sees("exit=0");
    assert_eq!(files(), 0, "silence is no consent");

    // Alone it offers each runtime that is found, and each is answered for itself.
    let choosing = open(&["init"]);
    choosing.sees("Connect Codex with these changes? [y/N]");
    choosing.types("no");
    choosing.press("Enter");
    choosing.sees("Connect Gemini CLI with these changes? [y/N]");
    choosing.types("y");
    choosing.press("Enter");
    choosing.sees("Gemini CLI: connected");
    choosing.sees("exit=0");
    assert!(person.join(".gemini/settings.json").exists());
    assert!(!person.join(".codex/hooks.json").exists());

    let removing = open(&["init", "gemini_cli", "--remove"]);
    removing.sees("Remove cueme from Gemini CLI with these changes? [y/N]");
    removing.types("yes");
    removing.press("Enter");
    removing.sees("Gemini CLI: disconnected");
    removing.sees("exit=0");
    assert_eq!(files(), 0);
}

#[test]
fn the_limits_of_a_host_are_told_when_it_is_connected() {
    let person = Person::new();
    for runtime in Runtime::ALL {
        let told = person.run(&["init", runtime.tag(), "--yes"]).stderr;
        let lines: Vec<&str> = told
            .lines()
            .filter_map(|line| line.strip_prefix("limit: "))
            .collect();
        let known: Vec<&str> = runtime.limits().iter().map(|limit| limit.reason).collect();
        assert_eq!(lines, known, "{runtime}");
        let removed = person.run(&["init", runtime.tag(), "--remove", "--yes"]);
        assert!(
            !removed.stderr.contains("limit: "),
            "{runtime}: {}",
            removed.stderr
        );
    }
    assert!(!Runtime::QwenCode.limits().is_empty());
}
