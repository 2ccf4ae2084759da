//! The table in `CHECKED.md`: written from a whole run, or compared with one.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use runtimes::Runtime;

use crate::hosts;
use crate::limits;
use crate::programs::Programs;
use crate::verdict::Row;

/// Set to write the table instead of comparing it.
const WRITE: &str = "CUEME_WRITE_CHECKED";
const BEGIN: &str = "<!-- table of tests/tests/programs: begin -->\n";
const END: &str = "<!-- table of tests/tests/programs: end -->\n";

/// Writes the table where that is asked for; otherwise fails when the committed one says something else.
pub(crate) fn compare_or_write(programs: &Programs, rows: &[Row]) -> ExitCode {
    let page = page();
    let text = std::fs::read_to_string(&page).unwrap_or_default();
    let Some((before, rest)) = text.split_once(BEGIN) else {
        eprintln!("{} has no place for the table", page.display());
        return ExitCode::FAILURE;
    };
    let (committed, after) = rest.split_once(END).unwrap_or((rest, ""));
    let seen = table(programs, rows);
    if std::env::var_os(WRITE).is_some() {
        let written = std::fs::write(&page, format!("{before}{BEGIN}{seen}{END}{after}"));
        return written.map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    if committed == seen && versions_agree(programs) {
        return ExitCode::SUCCESS;
    }
    eprintln!(
        "{} says something else than this run has shown; {WRITE}=1 writes it:\n{seen}",
        page.display()
    );
    ExitCode::FAILURE
}

/// `cueme init --status` tells people which versions were checked.
fn versions_agree(programs: &Programs) -> bool {
    hosts::ALL.into_iter().all(|host| {
        let told = Runtime::from_tag(host.tag).and_then(|runtime| runtime.facts().checked);
        let version = programs.version(host.package);
        let is_same = told == Some(version.as_str());
        if !is_same {
            eprintln!(
                "{}: facts say that {told:?} was checked, it is {version}",
                host.tag
            );
        }
        is_same
    })
}

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../adapter-core/runtimes/CHECKED.md")
}

/// A line per case in the order of the suite, a column per host; limits are numbered below.
fn table(programs: &Programs, rows: &[Row]) -> String {
    let mut cases: Vec<&str> = Vec::new();
    let mut results: BTreeMap<(&str, &str), bool> = BTreeMap::new();
    let mut sorted: Vec<&Row> = rows.iter().collect();
    sorted.sort_by_key(|row| (row.scenario, row.index));
    for row in sorted {
        if !cases.contains(&row.case) {
            cases.push(row.case);
        }
        results.insert((row.case, row.host), row.result.is_ok());
    }
    let mut out = String::from("| Case |");
    for host in hosts::ALL {
        let _ = write!(out, " {} {} |", host.name, programs.version(host.package));
    }
    let _ = write!(out, "\n|---|{}\n", "---|".repeat(hosts::ALL.len()));
    let mut reasons: Vec<&str> = Vec::new();
    for case in cases {
        let _ = write!(out, "| {case} |");
        for host in hosts::ALL {
            let cell = match (results.get(&(case, host.tag)), limits::reason(host.tag, case)) {
                (Some(true), _) => "yes".to_owned(),
                (_, Some(reason)) => {
                    let known = reasons.iter().position(|known| *known == reason);
                    let number = known.unwrap_or_else(|| {
                        reasons.push(reason);
                        reasons.len() - 1
                    });
                    format!("no [{}]", number + 1)
                }
                (Some(false), None) => "**fails**".to_owned(),
                (None, None) => "–".to_owned(),
            };
            let _ = write!(out, " {cell} |");
        }
        out.push('\n');
    }
    out.push('\n');
    for (index, reason) in reasons.iter().enumerate() {
        let _ = writeln!(out, "{}. {reason}", index + 1);
    }
    out
}
