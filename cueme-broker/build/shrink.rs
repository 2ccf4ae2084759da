//! Reads scripts line by line, and serves style sheets without comments and blanks.
//!
//! This is no parser: it relies on how the sources are written (comments fill their lines, no text goes over several), and the
//! browser tests run what comes out of it.

/// Blanks that separate nothing in a style sheet.
const BLANKS: [(&str, &str); 7] = [
    (": ", ":"),
    ("; ", ";"),
    (" {", "{"),
    ("{ ", "{"),
    (", ", ","),
    (" > ", ">"),
    (";}", "}"),
];

/// Returns the lines of a script that are neither blank nor comment, without types in the middle of lines.
pub(crate) fn statements(source: &str) -> impl Iterator<Item = String> {
    let mut is_comment = false;
    source.lines().filter_map(move |line| {
        let line = line.trim();
        if is_comment {
            is_comment = !line.ends_with("*/");
            return None;
        }
        if line.starts_with("/*") && !line.contains("*/") {
            is_comment = true;
            return None;
        }
        let is_note = line.starts_with("//") || (line.starts_with("/*") && line.ends_with("*/"));
        (!is_note && !line.is_empty()).then(|| without_types(line))
    })
}

/// Drops `/** @type {…} */` and its kin.
fn without_types(line: &str) -> String {
    let mut kept = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(start) = rest.find("/** @") {
        let Some(length) = rest[start..].find("*/") else {
            break;
        };
        kept.push_str(&rest[..start]);
        rest = rest[start + length + 2..].trim_start();
    }
    kept.push_str(rest);
    kept
}

/// Drops comments, and blanks that separate nothing.
pub(crate) fn shrink_style(source: &str) -> String {
    let mut is_comment = false;
    let lines = source.lines().map(|line| {
        let line = line.trim();
        if is_comment || line.starts_with("/*") {
            is_comment = !line.ends_with("*/");
            return String::new();
        }
        without(&BLANKS, line)
    });
    // Each line ends with what ends a rule or a declaration.
    lines.collect()
}

/// Replaces each first by its second.
fn without(pairs: &[(&str, &str)], line: &str) -> String {
    pairs
        .iter()
        .fold(line.to_owned(), |line, (from, to)| line.replace(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_keeps_its_statements_and_loses_its_comments() {
        let source = "/**\n * Why.\n */\nexport const f = (/** @type {Event} */ event) => {\n  // Note.\n  return g(/** @type {any} */ (event)); \n};\n";
        let lines: Vec<String> = statements(source).collect();
        assert_eq!(
            lines,
            ["export const f = (event) => {", "return g((event));", "};"]
        );
    }

    #[test]
    fn an_address_or_a_pattern_is_not_taken_for_a_comment() {
        for line in [
            "const SVG = \"http://www.w3.org/2000/svg\";",
            "slash: /(\\/\\/[^\\n]*|\\/\\*[^]*?)/,",
        ] {
            assert_eq!(statements(line).collect::<Vec<_>>(), [line]);
        }
    }

    #[test]
    fn a_style_keeps_what_its_rules_mean() {
        let source = "/* Why. */\n.a :is(p, b) > c { margin: 0 auto; color: light-dark(#fff, #000); }\n";
        assert_eq!(
            shrink_style(source),
            ".a :is(p,b)>c{margin:0 auto;color:light-dark(#fff,#000)}"
        );
    }
}
