//! Commands around a call of ours, as an attacker would write them.

use cueme_tests::Random;
use protocol_spec::truncate;

use super::usual;

/// Pieces that are inserted anywhere into a command. `intruder` is a program that must never run.
const PIECES: &[&str] = &[
    ";intruder",
    "; intruder",
    "&&intruder",
    "||intruder",
    "|intruder",
    "&intruder",
    " & ",
    "\nintruder\n",
    "\nintruder",
    "$(intruder)",
    "`intruder`",
    "\"$(intruder)\"",
    "${x:-`intruder`}",
    "<(intruder)",
    ">(intruder)",
    "$((1))",
    "$HOME",
    "${HOME}",
    "$x",
    "$'\\x27'",
    "$\"x\"",
    "~",
    "~/x",
    "*",
    "?",
    "[a]",
    "{a,b}",
    "{1..3}",
    "!",
    "!!",
    "!x",
    "^a^b",
    "=intruder",
    ">new",
    "> new",
    ">>f",
    "2>new",
    "2>&1",
    "&>new",
    ">|f",
    "<f",
    "< f",
    "<>f",
    "<<<x",
    ">&2",
    "3<<'E'",
    "'",
    "\"",
    "\\",
    "\\\n",
    "\\'",
    "\\\"",
    "''",
    "\"\"",
    "'\\''",
    "\r",
    "\r\n",
    "\0",
    "\t",
    " ",
    "\n",
    "\n\n",
    "\u{a0}",
    "\u{3000}",
    "\u{2028}",
    "\u{85}",
    "\u{feff}",
    "\u{200b}",
    "\u{b}",
    "\u{c}",
    "\u{1b}",
    "\u{7f}",
    "#",
    " # ",
    "\n#",
    "(",
    ")",
    "{",
    "}",
    "{ ",
    "; }",
    "<<'E'",
    "<<'E'\n",
    "<<E",
    "<<-'E'",
    " <<'E' <<'F'\n",
    "<<\"E\"",
    "<<\\E",
    "<<''",
    "<<'EOF'",
    "<<'EOF'\nx\nEOF\n",
    "\nE\n",
    "\nE\nintruder\n",
    "\nEOF\n",
    "\nEOF\nintruder\n",
    "\nEOF\nintruder\nEOF",
    "\n EOF\n",
    "\nEOF \n",
    "\n\tEOF\n",
    "EOF",
    "\nEOF",
    "\nEOF\r\n",
    "\nEOF;intruder\n",
    "PATH=. ",
    "PATH=.:$PATH ",
    "LD_PRELOAD=x ",
    "BASH_ENV=f ",
    "ENV=f ",
    "CUEME_WAIT=1 ",
    "CUEME_WAIT= ",
    "CUEME_HOME=. ",
    "IFS=e ",
    "x=1 ",
    "env ",
    "command ",
    "exec ",
    "eval ",
    "time ",
    "sudo ",
    "nohup ",
    "builtin ",
    "coproc ",
    "then ",
    "do ",
    "function ",
    "alias cueme=intruder\n",
    "cueme(){ intruder; }\n",
    "intruder ",
    "--",
    "-",
    " - ",
    "中",
    "é",
    "“",
    "”",
];

/// Wrappers of a whole command.
const WRAPPERS: &[(&str, &str)] = &[
    ("(", ")"),
    ("{ ", "; }"),
    ("$(", ")"),
    ("`", "`"),
    ("eval '", "'"),
    ("sh -c '", "'"),
    ("sh -c \"", "\""),
    ("if true; then ", "; fi"),
    ("while ", "; do intruder; break; done"),
    ("! ", ""),
    ("", " || intruder"),
    ("", " && intruder"),
    ("", "\nintruder"),
    ("intruder; ", ""),
    ("intruder | ", ""),
    ("cat <<'X' | ", "\nX"),
    ("true & ", ""),
    ("", " > new"),
    ("exec 3>new; ", ""),
    ("trap intruder EXIT; ", ""),
    ("set -x; ", ""),
    ("cd . && ", ""),
    ("", " #"),
    ("", "\n# end"),
    ("x='", "'"),
    ("\"", "\""),
    ("'", "'"),
    ("\\", ""),
    (":;", ""),
    ("[ -f f ] && ", ""),
];

/// Programs that are not ours, and spellings of ours.
const PROGRAMS: &[&str] = &[
    "./cueme",
    "../work/cueme",
    "/tmp/x/cueme",
    "cueme.exe",
    "CUEME",
    "'cueme'",
    "\"cueme\"",
    "cu'e'me",
    "c\\ueme",
    "$x\"cueme\"",
    "cueme ",
    "~/cueme",
    "${HOME}/cueme",
    "/bin/cueme",
    "intruder",
    "cuem?",
    "cue[m]e",
    "{cueme,x}",
    "=cueme",
];

/// Verbs that agents have no business with, and spellings of others.
const VERBS: &[&str] = &[
    "answer",
    "token",
    "restore",
    "agent run",
    "mcp",
    "init --yes",
    "say",
    "purge",
    "hook",
    "broker",
    "CUE",
    "'cue'",
    "cue;intruder",
    "--json cue",
    "cue|intruder",
    "$x",
    "",
];

/// Makes one command.
pub(super) fn command(random: &mut Random, own: &str) -> String {
    let mut text = base(random, own);
    // A quarter has no other change than one of the whole, so that these are not drowned.
    for _ in 0..random.below(4) {
        text = changed(text, random, own);
    }
    match random.below(12) {
        0 => {
            let (before, after) = random.pick(WRAPPERS).copied().unwrap_or(("", ""));
            format!("{before}{text}{after}")
        }
        1 => text.replacen("cueme", random.pick(PROGRAMS).copied().unwrap_or("x"), 1),
        2 => {
            let verb = random.pick(VERBS).copied().unwrap_or("x");
            let mut words: Vec<&str> = text.splitn(3, ' ').collect();
            if words.len() > 1 {
                words[1] = verb;
            }
            words.join(" ")
        }
        _ => text,
    }
}

fn base(random: &mut Random, own: &str) -> String {
    let program = if random.below(4) == 0 { own } else { "cueme" };
    let verb = random
        .pick(&["cue", "cue", "cue", "pause", "join", "recall"])
        .copied()
        .unwrap_or("cue");
    let body = random.pick(usual::BODIES).copied().unwrap_or("x");
    let delimiter = random.pick(&["EOF", "E", "CUEME", "F"]).copied().unwrap_or("E");
    match random.below(6) {
        0 => format!("{program} {verb} tidy-fox"),
        1 => format!("{program} {verb} tidy-fox 'go on; or $(not)?'"),
        2 => format!("{program} {verb} tidy-fox \"it's done; next?\""),
        3 => format!("{program} {verb} tidy-fox - <<\"{delimiter}\"\n{body}\n{delimiter}\n"),
        _ => format!("{program} {verb} tidy-fox - <<'{delimiter}'\n{body}\n{delimiter}"),
    }
}

fn changed(mut text: String, random: &mut Random, own: &str) -> String {
    let place = boundary(&text, random);
    match random.below(10) {
        0 => {
            // Takes a piece out.
            let end = boundary(&text, random);
            let (from, to) = (place.min(end), place.max(end).min(place.min(end) + 6));
            let to = from.max(truncate::head(&text, to).len());
            text.replace_range(from..to, "");
        }
        1 => {
            // Repeats a piece elsewhere.
            let end = boundary(&text, random);
            let piece = text[place.min(end)..place.max(end)].to_owned();
            let at = boundary(&text, random);
            text.insert_str(at, &piece);
        }
        2 => text.truncate(place),
        3 => {
            // Goes on as another command does.
            let other = base(random, own);
            let from = boundary(&other, random);
            text.truncate(place);
            text.push_str(&other[from..]);
        }
        4 => {
            // At the end of a line, where documents begin and end.
            let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
            let at = random.pick(&ends).copied().unwrap_or(text.len());
            text.insert_str(at, piece(random));
        }
        5 => {
            // Between words.
            let blanks: Vec<usize> = text.match_indices(' ').map(|(at, _)| at).collect();
            let at = random.pick(&blanks).copied().unwrap_or(0);
            text.insert_str(at, piece(random));
        }
        6 => text.insert_str(0, piece(random)),
        7 => text.push_str(piece(random)),
        _ => text.insert_str(place, piece(random)),
    }
    text
}

fn piece(random: &mut Random) -> &'static str {
    random.pick(PIECES).copied().unwrap_or("")
}

fn boundary(text: &str, random: &mut Random) -> usize {
    truncate::head(text, random.index(text.len() + 1)).len()
}
