//! Calls of `cueme` in `sh` blocks name verbs and options that the binary knows.

use std::collections::BTreeMap;
use std::process::Command;

use cueme_tests::cueme;

use crate::markdown::{documents, lines};

/// The help of the verbs that were looked up: none where there is no such verb.
#[derive(Default)]
struct Help(BTreeMap<String, Option<String>>);

impl Help {
    fn of(&mut self, verbs: &[&str]) -> Option<&str> {
        let help = self.0.entry(verbs.join(" ")).or_insert_with(|| {
            let output = Command::new(cueme()).args(verbs).arg("--help").output().unwrap();
            output
                .status
                .success()
                .then(|| String::from_utf8(output.stdout).unwrap())
        });
        help.as_deref()
    }

    /// Returns what is wrong with the words behind `cueme`.
    fn check(&mut self, words: &[String]) -> Result<(), String> {
        let verb = words.first().ok_or("a verb is missing")?;
        if verb.starts_with('-') {
            return Ok(());
        }
        let help = self
            .of(&[verb])
            .ok_or_else(|| format!("there is no verb {verb}"))?;
        let mut path = vec![verb.as_str()];
        // `cueme agents` and `cueme store` say something by themselves and have verbs as well.
        let usages = ["[OPTIONS]", "[COMMAND]"].map(|rest| format!("\nUsage: cueme {verb} {rest}\n"));
        let is_whole = usages.iter().any(|usage| help.contains(usage))
            && words.get(1).is_none_or(|word| word.starts_with('-'));
        if help.contains("\nCommands:\n") && !is_whole {
            path.push(
                words
                    .get(1)
                    .ok_or_else(|| format!("{verb} needs a verb of its own"))?,
            );
        }
        let name = path.join(" ");
        let help = self.of(&path).ok_or_else(|| format!("there is no verb {name}"))?;
        let options = options(help);
        for word in &words[path.len()..] {
            let option = word.split('=').next().unwrap_or_default();
            if option == "--" {
                break;
            }
            if option.len() > 1 && option.starts_with('-') && !options.iter().any(|known| known == option) {
                return Err(format!("{name} has no option {option}"));
            }
        }
        Ok(())
    }
}

/// Returns the options that a help text lists: words that begin with a dash at the beginning of a line.
fn options(help: &str) -> Vec<String> {
    let mut options = Vec::new();
    for line in help.lines().filter(|line| line.trim_start().starts_with('-')) {
        let words = line.split_whitespace();
        let listed = words.take_while(|word| word.starts_with('-') || word.starts_with('<'));
        options.extend(listed.map(|word| word.trim_end_matches(',').to_owned()));
    }
    options
}

/// Splits a line of a shell into words, at blanks outside of quotes, up to a comment.
///
/// An operator that stands alone is a word of its own; a quoted word is kept as one that names no option.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    for letter in line.chars() {
        match (letter, quote) {
            (mark, Some(open)) if mark == open => quote = None,
            (_, Some(_)) => word.push('_'),
            ('"' | '\'', None) => {
                quote = Some(letter);
                word.push('_');
            }
            ('#', None) if word.is_empty() => break,
            (blank, None) if blank.is_whitespace() => words.extend(taken(&mut word)),
            (other, None) => word.push(other),
        }
    }
    words.extend(taken(&mut word));
    words
}

fn taken(word: &mut String) -> Option<String> {
    Some(std::mem::take(word)).filter(|word| !word.is_empty())
}

/// Returns the words behind each `cueme` of a line that is the name of a command, also of one that was built here.
fn calls(line: &str) -> Vec<Vec<String>> {
    if let Some((before, rest)) = line.split_once("$(")
        && let Some((inner, after)) = rest.split_once(')')
    {
        let mut found = calls(inner);
        found.extend(calls(&format!("{before}_{after}")));
        return found;
    }
    let words = words(line);
    let is_operator = |word: &String| matches!(word.as_str(), "|" | "||" | "&&" | ";" | "&");
    let commands = words.split(is_operator);
    let call = |command: &[String]| {
        let is_assignment = |word: &&String| word.contains('=');
        let start = command.iter().take_while(is_assignment).count();
        let (name, arguments) = command[start..].split_first()?;
        let is_redirection = |word: &&String| word.starts_with(['<', '>']);
        let arguments = arguments.iter().take_while(|word| !is_redirection(word));
        let name = name.strip_prefix("target/debug/").unwrap_or(name);
        (name == "cueme").then(|| arguments.cloned().collect())
    };
    commands.filter_map(call).collect()
}

#[test]
fn every_call_in_a_shell_block_is_one_that_the_binary_knows() {
    let mut help = Help::default();
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for (path, text) in documents() {
        for line in lines(&text) {
            if line.fence != Some("sh") {
                continue;
            }
            for call in calls(line.text) {
                seen += 1;
                if let Err(why) = help.check(&call) {
                    wrong.push(format!("{}:{}: {why}", path.display(), line.number));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 50, "only {seen} calls were found");
}

#[test]
fn a_wrong_verb_and_a_wrong_option_are_found() {
    let mut help = Help::default();
    let mut is_right = |line: &str| calls(line).iter().all(|call| help.check(call).is_ok());
    assert!(is_right(
        "cueme history --search x | head && cueme broker logs -n 5 # --wrong"
    ));
    assert!(is_right("cueme answer 7k3 \"--no option\" --field A=1 > --file"));
    assert!(is_right("echo cueme fly"));
    for wrong in [
        "cueme fly",
        "cueme inbox --wach",
        "cueme broker fly",
        "cueme broker status --lines 5",
        "CUEME_WAIT=5s cueme inbox --wach",
        "git log | cueme answer 7k3 - --selct x",
        "target/debug/cueme fly",
        "target/debug/cueme cue \"$(target/debug/cueme jion demo | sed -n 's/^agent_id=//p')\" --prompt x &",
    ] {
        assert!(!is_right(wrong), "{wrong}");
    }
}
