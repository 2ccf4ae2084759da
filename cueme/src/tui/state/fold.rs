//! Selects the lines of a text that fit the screen when the first and the last row may count the hidden lines.

use std::ops::Range;

/// Returns the lines that are shown in `height` rows from `first` on.
///
/// The first row counts the lines above it and the last row those below it, where there is room for that.
pub(in crate::tui) fn shown(count: usize, first: usize, height: usize) -> Range<usize> {
    let end = (first + height).min(count);
    let start = first + usize::from(first > 0 && height > 2);
    let end = end - usize::from(first + height < count && height > 1);
    start.min(end)..end
}

/// Returns by how many lines a page moves, so that each line is shown on one page or the other.
pub(in crate::tui) fn page(height: usize) -> usize {
    height.saturating_sub(2).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turning_pages_shows_every_line() {
        for height in 1..9 {
            for count in 0..30 {
                let (mut first, mut read) = (0, 0);
                loop {
                    let lines = shown(count, first, height);
                    assert!(
                        lines.start <= read,
                        "{count} lines, {height} rows: a gap at {read}"
                    );
                    read = read.max(lines.end);
                    if first + height >= count {
                        break;
                    }
                    first = (first + page(height)).min(count - height);
                }
                assert_eq!(read, count, "{height} rows");
            }
        }
    }
}
