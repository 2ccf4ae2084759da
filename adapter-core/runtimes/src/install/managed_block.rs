//! A block of our text between markers in a file that belongs to someone else.
//!
//! Everything outside the markers is kept byte for byte, and so are line endings and a missing newline at the end:
//! a block that closes the file without a newline says that the file had none.

use std::borrow::Cow;

use super::Problem;

const BEGIN: &str = "<!-- cueme:begin (managed by `cueme init`: edits in here are replaced) -->";
const END: &str = "<!-- cueme:end -->";

/// The prefix of our markers; the rest of the line may vary.
const BEGIN_PREFIX: &str = "<!-- cueme:begin";
const END_PREFIX: &str = "<!-- cueme:end";

/// Blocks that the original cueme wrote, also with its misspelling; ours takes their place.
const LEGACY_BLOCKS: [&str; 4] = [
    "HUMAN_AGENT_PROTO",
    "HUAMN_AGENT_PROTO",
    "HUMAN_AGENT_RUNTIME",
    "HUAMN_AGENT_RUNTIME",
];

/// Returns the text with our block in it: in the place of an older one, else at the end.
pub(super) fn upsert(text: &str, body: &str) -> Result<String, Problem> {
    let newline = newline_of(text);
    let block = render(body, newline);
    let found = find(text)?;
    let Some(first) = found.first() else {
        return Ok(append(text, &block, newline));
    };
    let mut out = text[..first.start].to_owned();
    out.push_str(&block);
    let mut rest = first.end;
    for extra in &found[1..] {
        out.push_str(text[rest..extra.start].trim_end_matches(['\r', '\n']));
        rest = extra.end;
    }
    out.push_str(&text[rest..]);
    Ok(out)
}

/// Returns the text without our block, or `None` when there is none.
///
/// Blocks of the original cueme are left: they are not ours to take out.
pub(super) fn remove(text: &str) -> Result<Option<String>, Problem> {
    let newline = newline_of(text);
    let Some(block) = find(text)?.into_iter().find(|block| !block.legacy) else {
        return Ok(None);
    };
    let (mut before, mut after) = (&text[..block.start], &text[block.end..]);
    if after.is_empty() {
        // The file had no newline at its end: take both newlines that set the block off.
        let double = newline.repeat(2);
        before = before.strip_suffix(double.as_str()).unwrap_or(before);
    } else {
        after = after.strip_prefix(newline).unwrap_or(after);
        if after.is_empty() || after.starts_with(newline) || before.ends_with(&newline.repeat(2)) {
            before = strip_blank_line(before, newline);
        }
    }
    Ok(Some(format!("{before}{after}")))
}

/// Returns what stands in our block, if there is one.
pub(super) fn body(text: &str) -> Option<&str> {
    let block = find(text).ok()?.into_iter().find(|block| !block.legacy)?;
    text.get(block.start..block.end)
}

/// Returns a fresh file that holds only the block, below front matter.
pub(super) fn fresh(front_matter: &str, body: &str) -> String {
    let gap = if front_matter.is_empty() { "" } else { "\n" };
    format!("{front_matter}{gap}{}\n", render(body, "\n"))
}

/// Replaces a front matter that an older version wrote by the present one.
pub(super) fn renew_front_matter<'a>(text: &'a str, front_matter: &str, retired: &[&str]) -> Cow<'a, str> {
    let newline = newline_of(text);
    retired
        .iter()
        .find_map(|old| text.strip_prefix(old.replace('\n', newline).as_str()))
        .map_or(Cow::Borrowed(text), |rest| {
            Cow::Owned(format!("{}{rest}", front_matter.replace('\n', newline)))
        })
}

/// Tells whether what is left after a removal is only the front matter of [`fresh`].
pub(super) fn is_left_over(text: &str, front_matter: &str) -> bool {
    let text = text.replace("\r\n", "\n");
    text.trim().is_empty() || (!front_matter.is_empty() && text.trim_end() == front_matter.trim_end())
}

/// Returns the newline that a text uses: that of its first line.
pub(super) fn newline_of(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

struct Block {
    start: usize,
    end: usize,
    legacy: bool,
}

fn render(body: &str, newline: &str) -> String {
    let body = body.trim_end();
    let lines = [BEGIN, body, END].join("\n");
    if newline == "\n" {
        lines
    } else {
        lines.replace('\n', newline)
    }
}

fn append(text: &str, block: &str, newline: &str) -> String {
    if text.is_empty() {
        format!("{block}{newline}")
    } else if text.ends_with('\n') {
        format!("{text}{newline}{block}{newline}")
    } else {
        format!("{text}{newline}{newline}{block}")
    }
}

/// Takes away one blank line at the end, which the block was set off by.
fn strip_blank_line<'a>(before: &'a str, newline: &str) -> &'a str {
    match before.strip_suffix(newline) {
        Some(shorter) if shorter.ends_with('\n') => shorter,
        _ => before,
    }
}

/// Finds the blocks, ours and those of the original, from `<` of the first marker to `>` of the last.
fn find(text: &str) -> Result<Vec<Block>, Problem> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, usize, String, &str)> = None;
    let mut offset = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let content = line.trim();
        let start = offset + (line.len() - line.trim_start().len());
        offset += line.len();
        let Some((name, begins)) = marker(content) else {
            continue;
        };
        let unpaired = |line: usize, marker: &str| Problem::UnpairedMarker {
            line,
            marker: marker.to_owned(),
        };
        match (open.take(), begins) {
            (None, true) => open = Some((start, index + 1, name, content)),
            (Some((begin, _, opened, _)), false) if opened == name => {
                blocks.push(Block {
                    start: begin,
                    end: start + content.len(),
                    legacy: name != "cueme",
                });
            }
            (Some((_, line, _, marker)), true) => return Err(unpaired(line, marker)),
            (_, false) => return Err(unpaired(index + 1, content)),
        }
    }
    match open {
        Some((_, line, _, marker)) => Err(Problem::UnpairedMarker {
            line,
            marker: marker.to_owned(),
        }),
        None => Ok(blocks),
    }
}

/// Reads a line as a marker: the name of its block and whether it begins it.
fn marker(line: &str) -> Option<(String, bool)> {
    if line.starts_with(BEGIN_PREFIX) {
        return Some(("cueme".to_owned(), true));
    }
    if line.starts_with(END_PREFIX) {
        return Some(("cueme".to_owned(), false));
    }
    let inner = line.strip_prefix("<!--")?.strip_suffix("-->")?.trim();
    LEGACY_BLOCKS
        .iter()
        .find_map(|name| match inner.strip_prefix(name)? {
            "_BEGIN" => Some((name.replace("HUAMN", "HUMAN"), true)),
            "_END" => Some((name.replace("HUAMN", "HUMAN"), false)),
            _ => None,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = "# HAP\n\nask first\n";

    #[test]
    fn adding_and_removing_restores_every_kind_of_file() {
        for text in [
            "# Mine\n",
            "# Mine",
            "# Mine\r\n\r\ntext\r\n",
            "# Mine\r\ntext",
            "a\n\n\n",
            "\n",
            "a\n\n",
            "no newline\n\nat end",
            "中文\n",
        ] {
            let with = upsert(text, BODY).unwrap();
            assert!(with.contains("ask first"), "{text:?}");
            assert_eq!(remove(&with).unwrap().as_deref(), Some(text), "{with:?}");
        }
    }

    #[test]
    fn a_second_install_changes_nothing() {
        for text in ["", "# Mine\n", "# Mine", "# Mine\r\n"] {
            let once = upsert(text, BODY).unwrap();
            assert_eq!(upsert(&once, BODY).unwrap(), once);
        }
    }

    #[test]
    fn an_update_replaces_the_block_where_it_stands() {
        let text = "top\n\n<!-- cueme:begin (older words) -->\nold\n<!-- cueme:end -->\n\nbottom\n";
        let with = upsert(text, BODY).unwrap();
        assert!(with.starts_with("top\n\n<!-- cueme:begin"));
        assert!(with.ends_with("<!-- cueme:end -->\n\nbottom\n"));
        assert!(!with.contains("old"));
        assert_eq!(remove(&with).unwrap().as_deref(), Some("top\n\nbottom\n"));
    }

    #[test]
    fn blocks_of_the_original_are_replaced_even_misspelt() {
        for spelling in ["HUMAN", "HUAMN"] {
            let text = format!(
                "# Mine\n\n<!-- {spelling}_AGENT_PROTO_BEGIN -->\nold\n<!--{spelling}_AGENT_PROTO_END-->\n\n\
                 <!-- {spelling}_AGENT_RUNTIME_BEGIN -->\nolder\n<!-- {spelling}_AGENT_RUNTIME_END -->\nafter\n"
            );
            let with = upsert(&text, BODY).unwrap();
            assert!(!with.contains("old") && !with.contains("AGENT_PROTO"), "{with}");
            assert!(
                with.starts_with("# Mine\n\n<!-- cueme:begin")
                    && with.ends_with("<!-- cueme:end -->\nafter\n")
            );
        }
    }

    #[test]
    fn line_endings_of_the_file_are_used() {
        let with = upsert("a\r\n", BODY).unwrap();
        assert_eq!(with.matches('\n').count(), with.matches("\r\n").count());
    }

    #[test]
    fn a_marker_without_its_partner_is_refused_with_its_line() {
        for (text, line) in [
            ("a\n<!-- cueme:begin -->\n", 2),
            ("<!-- cueme:end -->\n", 1),
            (
                "<!-- cueme:begin -->\n<!-- cueme:begin -->\n<!-- cueme:end -->\n",
                1,
            ),
            ("<!-- HUMAN_AGENT_PROTO_BEGIN -->\n<!-- cueme:end -->\n", 2),
        ] {
            assert!(
                matches!(upsert(text, BODY), Err(Problem::UnpairedMarker { line: at, .. }) if at == line),
                "{text:?}"
            );
            assert!(remove(text).is_err());
        }
    }

    #[test]
    fn a_fresh_file_leaves_nothing_but_its_front_matter() {
        let front = "---\nalwaysApply: true\n---\n";
        let text = fresh(front, BODY);
        assert!(text.starts_with(front) && text.ends_with("-->\n"));
        let left = remove(&text).unwrap().unwrap();
        assert!(is_left_over(&left, front), "{left:?}");
        assert!(!is_left_over("---\nalwaysApply: true\n---\nmine\n", front));
    }
}
