//! Finds the name somebody most likely meant.

/// Longer names are not compared letter by letter, because they are not typed with a single mistake.
const COMPARED_CHARS_MAX: usize = 100;

/// Returns the known name nearest to `given`, if one is near.
pub(super) fn closest<'k>(given: &str, known: &'k [String]) -> Option<&'k String> {
    let wanted = folded(given);
    let longest = wanted.len().max(1);
    known
        .iter()
        .map(|name| (distance(&wanted, &folded(name)), name))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, _)| *distance * 5 <= longest * 2)
        .map(|(_, name)| name)
}

fn folded(text: &str) -> Vec<char> {
    text.trim()
        .chars()
        .flat_map(char::to_lowercase)
        .take(COMPARED_CHARS_MAX)
        .collect()
}

/// Returns how many letters must change to make one of the other (Levenshtein).
fn distance(from: &[char], to: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typing_mistake_finds_its_option_and_a_stranger_finds_none() {
        let known = ["staging".to_owned(), "prod".to_owned()];
        assert_eq!(closest("Stagng ", &known), Some(&known[0]));
        assert_eq!(closest("PROD", &known), Some(&known[1]));
        assert_eq!(closest("localhost", &known), None);
        assert_eq!(closest("", &[]), None);
    }
}
