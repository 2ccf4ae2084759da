//! Findings of a doctor: a line for the problem, and a line for the remedy.

use super::paint::Paint;
use super::visible::visible_line;

/// The grade of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grade {
    Ok,
    Warn,
    Fail,
}

/// Writes a finding; every doctor's output looks like this.
pub(crate) fn finding(grade: Grade, what: &str, found: &str, remedy: Option<&str>, paint: Paint) -> String {
    let mark = match grade {
        Grade::Ok => paint.green("ok  "),
        Grade::Warn => paint.yellow("warn"),
        Grade::Fail => paint.red("fail"),
    };
    let mut text = format!("{mark}  {}: {}\n", visible_line(what), visible_line(found));
    if let Some(remedy) = remedy {
        text.push_str(&format!("      → {}\n", visible_line(remedy)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_has_a_grade_a_subject_and_a_remedy_on_a_line_of_its_own() {
        let text = finding(
            Grade::Fail,
            "disk",
            "full\u{1b}[2J",
            Some("free some"),
            Paint::off(),
        );
        assert_eq!(text, "fail  disk: full␛[2J\n      → free some\n");
    }
}
