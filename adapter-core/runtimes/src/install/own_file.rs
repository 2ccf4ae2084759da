//! A text file that is ours as a whole: a plugin, a rule file of a kind that only we write.

use super::Problem;

/// The text of the first line of such a file, after the comment sign.
pub(super) const MARK: &str = "managed by `cueme init`: edits in here are replaced";

/// Returns the file's new contents.
pub(super) fn upsert(current: Option<&str>, text: &str) -> Result<String, Problem> {
    match current {
        Some(current) if !is_ours(current) && !current.trim().is_empty() => Err(Problem::NotOurs),
        _ => Ok(text.to_owned()),
    }
}

/// Tells whether a file is one that we wrote.
pub(super) fn is_ours(text: &str) -> bool {
    text.lines().next().is_some_and(|line| line.contains(MARK))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_someone_else_is_refused() {
        let ours = format!("// {MARK}\ncode\n");
        assert_eq!(upsert(None, &ours), Ok(ours.clone()));
        assert_eq!(
            upsert(Some(&format!("// {MARK}\nold\n")), &ours),
            Ok(ours.clone())
        );
        assert_eq!(upsert(Some("mine\n"), &ours), Err(Problem::NotOurs));
    }
}
