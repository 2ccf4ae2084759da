//! Writes the scripts and style sheets that the document names into it.
//!
//! A browser that had to ask for them would wait for each before it can show the inbox.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use thiserror::Error;

/// Where the broker writes the state.
const STATE_LINE: &str = "<script type=\"application/json\" id=\"state\"></script>";
/// What ends a script or a style sheet, or hides that it ends.
const ENDS: [&str; 3] = ["</script", "</style", "<!--"];

/// The document with all that it named.
#[derive(Debug, Default)]
pub(crate) struct Document {
    pub(crate) text: String,
    /// How the content policy knows the scripts in it.
    pub(crate) scripts: Vec<String>,
    /// How it knows the styles.
    pub(crate) styles: Vec<String>,
    /// How many bytes come before the state.
    pub(crate) state_at: usize,
}

/// Why the document cannot be written.
#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum DocumentError {
    #[error("index.html has no line `{STATE_LINE}`, where the state belongs")]
    NoState,
    #[error("index.html names {0}, which is not there")]
    Missing(String),
    #[error("`{text}` in {name} would end it in the middle of the document")]
    EndsEarly { name: String, text: &'static str },
}

impl Document {
    /// Writes what `find` has of each name into the lines of `source`. Style sheets that follow each other become one.
    pub(crate) fn write(source: &str, find: impl Fn(&str) -> Option<String>) -> Result<Self, DocumentError> {
        let find = |name: &str| {
            let text = find(name).ok_or_else(|| DocumentError::Missing(name.to_owned()))?;
            let lowered = text.to_ascii_lowercase();
            match ENDS.into_iter().find(|end| lowered.contains(end)) {
                None => Ok(text),
                Some(text) => Err(DocumentError::EndsEarly {
                    name: name.to_owned(),
                    text,
                }),
            }
        };
        let mut document = Self::default();
        let mut style = String::new();
        for line in source.lines().map(str::trim) {
            if let Some(name) = style_named(line) {
                style.push_str(&find(name)?);
                continue;
            }
            document.push_style(std::mem::take(&mut style));
            match script_named(line) {
                Some(name) => document.push_script(&find(name)?),
                None => document.push_line(line),
            }
        }
        if document.state_at == 0 {
            return Err(DocumentError::NoState);
        }
        Ok(document)
    }

    fn push_line(&mut self, line: &str) {
        if line == STATE_LINE {
            self.state_at = self.text.len() + line.len() - "</script>".len();
        }
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn push_script(&mut self, script: &str) {
        self.scripts.push(policy_source(script));
        self.push_line(&format!("<script>{script}</script>"));
    }

    fn push_style(&mut self, style: String) {
        if !style.is_empty() {
            self.styles.push(policy_source(&style));
            self.push_line(&format!("<style>{style}</style>"));
        }
    }
}

/// Returns how the content policy names a text that may stand in the document.
fn policy_source(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}

fn style_named(line: &str) -> Option<&str> {
    line.strip_prefix("<link rel=\"stylesheet\" href=\"/")?
        .strip_suffix("\">")
}

fn script_named(line: &str) -> Option<&str> {
    line.strip_prefix("<script src=\"/")?.strip_suffix("\"></script>")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "<head>\n  <link rel=\"stylesheet\" href=\"/a.css\">\n  <link rel=\"stylesheet\" href=\"/b.css\">\n\
        </head>\n  <script type=\"application/json\" id=\"state\"></script>\n  <script src=\"/a.js\"></script>\n\
        <link rel=\"stylesheet\" href=\"/c.css\">\n</html>\n";

    fn found(name: &str) -> Option<String> {
        name.split_once('.').map(|(name, kind)| format!("{kind} {name};"))
    }

    #[test]
    fn what_is_named_is_written_in_its_place_and_known_to_the_policy() {
        let document = Document::write(SOURCE, found).unwrap();
        assert_eq!(
            document.text,
            "<head>\n<style>css a;css b;</style>\n</head>\n\
             <script type=\"application/json\" id=\"state\"></script>\n<script>js a;</script>\n<style>css c;</style>\n</html>\n"
        );
        assert_eq!(document.scripts, [policy_source("js a;")]);
        assert_eq!(
            document.styles,
            [policy_source("css a;css b;"), policy_source("css c;")]
        );
        let (before, after) = document.text.split_at(document.state_at);
        assert!(before.ends_with("id=\"state\">"), "{before}");
        assert!(after.starts_with("</script>\n<script>"), "{after}");
    }

    #[test]
    fn what_cannot_be_written_is_named() {
        let failed =
            |source: &str, find: fn(&str) -> Option<String>| Document::write(source, find).unwrap_err();
        assert_eq!(failed("<html>", found), DocumentError::NoState);
        assert_eq!(
            failed(SOURCE, |name| found(name).filter(|_| name != "c.css")),
            DocumentError::Missing("c.css".into())
        );
        for text in ENDS {
            let ending = |name: &str| {
                found(name).map(|part| {
                    if name == "a.js" {
                        part + &text.to_uppercase()
                    } else {
                        part
                    }
                })
            };
            let ended = DocumentError::EndsEarly {
                name: "a.js".into(),
                text,
            };
            assert_eq!(Document::write(SOURCE, ending).unwrap_err(), ended);
        }
    }
}
