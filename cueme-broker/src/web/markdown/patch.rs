//! Finds patches in a text without a code block around them: Markdown would turn their lines into lists.

/// A part of a text.
#[derive(Debug, PartialEq, Eq)]
pub enum Segment<'a> {
    /// Any other text.
    Markdown(&'a str),
    /// A patch as `git diff` writes it.
    Patch(&'a str),
}

/// The lines with which a file's part of a patch may begin.
const HEADERS: [&str; 15] = [
    "diff --git ",
    "index ",
    "--- ",
    "+++ ",
    "old mode ",
    "new mode ",
    "new file mode ",
    "deleted file mode ",
    "similarity index ",
    "dissimilarity index ",
    "rename from ",
    "rename to ",
    "copy from ",
    "copy to ",
    "Binary files ",
];

/// Splits a text at its patches.
pub fn segments(text: &str) -> Vec<Segment<'_>> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut segments = Vec::new();
    let (mut at, mut start, mut number) = (0, 0, 0);
    let mut fence: Option<&str> = None;
    while number < lines.len() {
        let line = lines[number];
        fence = fence_after(fence, line);
        let count = if fence.is_none() {
            patch_lines(&lines[number..])
        } else {
            0
        };
        if count == 0 {
            at += line.len();
            number += 1;
            continue;
        }
        let length: usize = lines[number..number + count].iter().map(|line| line.len()).sum();
        push_markdown(&mut segments, &text[start..at]);
        segments.push(Segment::Patch(&text[at..at + length]));
        (at, number) = (at + length, number + count);
        start = at;
    }
    push_markdown(&mut segments, &text[start..]);
    segments
}

fn push_markdown<'a>(segments: &mut Vec<Segment<'a>>, text: &'a str) {
    if !text.trim().is_empty() {
        segments.push(Segment::Markdown(text));
    }
}

/// Returns the fence that is open after a line.
fn fence_after<'a>(open: Option<&'a str>, line: &'a str) -> Option<&'a str> {
    let trimmed = line.trim();
    let mark = trimmed.chars().next().filter(|mark| matches!(mark, '`' | '~'));
    let Some(mark) = mark else { return open };
    let fence = &trimmed[..trimmed.len() - trimmed.trim_start_matches(mark).len()];
    match open {
        None => (fence.len() >= 3).then_some(fence),
        Some(opened) if trimmed == fence && fence.starts_with(opened) => None,
        Some(_) => open,
    }
}

/// Returns the number of lines of the patch that begins with the first line; `None` if no patch does.
fn patch_lines(lines: &[&str]) -> usize {
    let begins = |at: usize, with: &str| lines.get(at).is_some_and(|line| line.starts_with(with));
    let is_git = begins(0, "diff --git ") && HEADERS[1..].iter().any(|header| begins(1, header));
    let is_plain = begins(0, "--- ") && begins(1, "+++ ") && begins(2, "@@ -");
    if !is_git && !is_plain {
        return 0;
    }
    let mut left = Hunk::default();
    let count = lines.iter().take_while(|line| left.take(line)).count();
    // Blank lines at the end belong to the text below.
    let blank = lines[..count]
        .iter()
        .rev()
        .take_while(|line| line.trim().is_empty())
        .count();
    count - blank
}

/// The number of lines of a hunk that are still to come.
#[derive(Debug, Default)]
struct Hunk {
    old: u64,
    new: u64,
}

impl Hunk {
    /// Takes a line, if it belongs to the patch.
    fn take(&mut self, line: &str) -> bool {
        if let Some(hunk) = Self::parse(line) {
            *self = hunk;
            return true;
        }
        if line.starts_with('\\') {
            return true;
        }
        if self.old + self.new == 0 {
            return HEADERS.iter().any(|header| line.starts_with(header));
        }
        let (old, new) = match line.chars().next() {
            Some('+') => (0, 1),
            Some('-') => (1, 0),
            // Editors strip the blank of an empty line.
            Some(' ' | '\n' | '\r') => (1, 1),
            _ => return false,
        };
        (self.old, self.new) = (self.old.saturating_sub(old), self.new.saturating_sub(new));
        true
    }

    /// Parses `@@ -1,2 +3,4 @@`.
    fn parse(line: &str) -> Option<Self> {
        let (ranges, _) = line.strip_prefix("@@ -")?.split_once(" @@")?;
        let (old, new) = ranges.split_once(" +")?;
        let count = |range: &str| match range.split_once(',') {
            Some((_, count)) => count.parse().ok(),
            None => Some(1),
        };
        Some(Self {
            old: count(old)?,
            new: count(new)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str =
        "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@ fn\n a\n-- b\n++ c\n\n";

    #[test]
    fn a_patch_ends_where_its_hunks_do() {
        let text = format!("Shall I?\n\n{PATCH}\n- a list\n");
        let (patch, after) = PATCH.split_at(PATCH.len() - 1);
        let after = format!("{after}\n- a list\n");
        assert_eq!(
            segments(&text),
            [
                Segment::Markdown("Shall I?\n\n"),
                Segment::Patch(patch),
                Segment::Markdown(&after)
            ]
        );
    }

    #[test]
    fn what_is_in_a_code_block_or_no_patch_is_markdown() {
        let fenced = format!("```diff\n{PATCH}```\n");
        for text in [
            &fenced,
            "--- a\n\ntext",
            "diff --git is a command\n",
            "+ a\n- b\n",
        ] {
            assert_eq!(segments(text), [Segment::Markdown(text)], "{text}");
        }
    }
}
