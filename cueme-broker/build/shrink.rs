//! Serves the page's sources without their comments and indentation.
//!
//! The sources are written for readers; the browser needs none of that, and a phone on a slow line pays for each byte.
//! Statements stay as they were written, so what the browser's console shows is still found in the source. This is not a parser:
//! it relies on how the sources are written (comments fill their lines, no text goes over several), and the browser tests run
//! what comes out of it.

/// Returns what is served of a file.
pub(crate) fn shrink(name: &str, source: &str) -> String {
    match name.rsplit('.').next() {
        Some("js") => shrink_script(source),
        Some("css") => shrink_style(source),
        _ => source.to_owned(),
    }
}

/// Operators that need no blanks around them. No text of the page holds one.
const OPERATORS: [(&str, &str); 6] = [
    (" = ", "="),
    (" => ", "=>"),
    (" === ", "==="),
    (" !== ", "!=="),
    (" && ", "&&"),
    (" || ", "||"),
];
/// Blanks that separate nothing between the texts of a script.
const SEPARATORS: [(&str, &str); 21] = [
    ("; }", "}"),
    ("async (", "async("),
    ("void (", "void("),
    (", ", ","),
    (" : ", ":"),
    (": ", ":"),
    ("; ", ";"),
    ("{ ", "{"),
    (" }", "}"),
    (" {", "{"),
    (" ? ", "?"),
    (" ?? ", "??"),
    ("if (", "if("),
    ("for (", "for("),
    (") ", ")"),
    ("} ", "}"),
    (" + ", "+"),
    (" < ", "<"),
    (" > ", ">"),
    (" <= ", "<="),
    (" >= ", ">="),
];
/// What means nothing in a style sheet.
const BLANKS: [(&str, &str); 12] = [
    (": ", ":"),
    ("; ", ";"),
    (" {", "{"),
    ("{ ", "{"),
    (", ", ","),
    (" > ", ">"),
    (";}", "}"),
    // A number below one needs no zero.
    (" 0.", " ."),
    (":0.", ":."),
    ("(0.", "(."),
    (",0.", ",."),
    ("-0.", "-."),
];

/// Drops comments that fill their lines, types in the middle of lines, indentation, and blanks around operators.
fn shrink_script(source: &str) -> String {
    let mut is_comment = false;
    let lines = source.lines().map(|line| {
        let line = line.trim();
        if is_comment {
            is_comment = !line.ends_with("*/");
            return String::new();
        }
        if line.starts_with("/*") && !line.contains("*/") {
            is_comment = true;
            return String::new();
        }
        let is_note = line.starts_with("//") || (line.starts_with("/*") && line.ends_with("*/"));
        if is_note {
            String::new()
        } else {
            squeeze(&without(&OPERATORS, &without_types(line)))
        }
    });
    joined(lines)
}

/// Drops blanks between the texts of a line. A line whose texts are not certain stays as it is.
fn squeeze(line: &str) -> String {
    parts(line).map_or_else(
        || line.to_owned(),
        |parts| {
            let squeezed = parts.into_iter().map(|part| match part {
                Part::Text(text) => text.to_owned(),
                Part::Code(code) => without(&SEPARATORS, code),
            });
            squeezed.collect()
        },
    )
}

/// A part of a line.
enum Part<'a> {
    /// In quotes, which belong to it.
    Text(&'a str),
    /// Everything else.
    Code(&'a str),
}

/// Tells texts from code; not where a slash may begin a pattern, nor where one text may hold another.
fn parts(line: &str) -> Option<Vec<Part<'_>>> {
    if line.matches('`').count() > 2 {
        return None;
    }
    let mut parts = Vec::new();
    let mut rest = line;
    while let Some(start) = rest.find(['"', '\'', '`']) {
        let (code, quoted) = rest.split_at(start);
        let end = end_of_text(quoted)?;
        parts.extend([Part::Code(code), Part::Text(&quoted[..end])]);
        rest = &quoted[end..];
    }
    parts.push(Part::Code(rest));
    let may_hold_pattern = parts
        .iter()
        .any(|part| matches!(part, Part::Code(code) if code.contains('/')));
    (!may_hold_pattern).then_some(parts)
}

/// Returns where a text ends that begins with its quote.
fn end_of_text(quoted: &str) -> Option<usize> {
    let mut characters = quoted.char_indices();
    let (_, quote) = characters.next()?;
    while let Some((at, character)) = characters.next() {
        if character == '\\' {
            characters.next();
        } else if character == quote {
            return Some(at + quote.len_utf8());
        }
    }
    None
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
fn shrink_style(source: &str) -> String {
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

fn joined(lines: impl Iterator<Item = String>) -> String {
    lines
        .filter(|line| !line.is_empty())
        .fold(String::new(), |mut all, line| {
            all.push_str(&line);
            all.push('\n');
            all
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_keeps_its_statements_and_loses_its_comments() {
        let source = "/**\n * Why.\n */\nexport const f = (/** @type {Event} */ event) => {\n  // Note.\n  return g(/** @type {any} */ (event)); \n};\n";
        assert_eq!(
            shrink("js/f.js", source),
            "export const f=(event)=>{\nreturn g((event));\n};\n"
        );
    }

    #[test]
    fn blanks_go_between_texts_and_stay_inside_them() {
        for (written, served) in [
            ("f({ a: 1, b: \"x, y: { z }\" });", "f({a:1,b:\"x, y: { z }\"});"),
            (
                "if (a) b(c ? 'd, e' : `f, ${g}: h`);",
                "if(a)b(c?'d, e':`f, ${g}: h`);",
            ),
            ("g(\"say \\\", it\", 1);", "g(\"say \\\", it\",1);"),
        ] {
            assert_eq!(shrink("js/f.js", written), format!("{served}\n"));
        }
        for kept in [
            "x.replace(/[\"'], {2}/, y);",
            "`a ${b ? `c, d` : e}`, f",
            "it's, so",
        ] {
            assert_eq!(shrink("js/f.js", kept), format!("{kept}\n"));
        }
    }

    #[test]
    fn an_address_or_a_pattern_is_not_taken_for_a_comment() {
        for line in [
            "const SVG=\"http://www.w3.org/2000/svg\";",
            "slash: /(\\/\\/[^\\n]*|\\/\\*[^]*?)/,",
        ] {
            assert_eq!(shrink("js/f.js", line), format!("{line}\n"));
        }
    }

    #[test]
    fn a_style_keeps_what_its_rules_mean() {
        let source = "/* Why. */\n.a :is(p, b) > c { margin: 0 -0.5em; color: light-dark(#fff, #000); }\n";
        assert_eq!(
            shrink("css/a.css", source),
            ".a :is(p,b)>c{margin:0 -.5em;color:light-dark(#fff,#000)}"
        );
    }
}
