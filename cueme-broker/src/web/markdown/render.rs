//! Text to HTML: Markdown, or exactly as it was written.
//!
//! Two independent layers keep agents' words from doing harm: nothing that an agent writes is parsed as HTML here, and
//! the output is sanitised once more with an allowlist. A third layer keeps them from hiding anything: text that a
//! rendering would not show is shown as text.

use protocol_spec::visible::{Piece, code, pieces};
use pulldown_cmark::{Options, Parser, html};

use super::patch::{Segment, segments};
use super::sanitise::sanitise;
use super::writer::{Writer, Written};

/// A text as HTML.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::web) struct Rendered {
    /// Sanitised.
    pub(in crate::web) html: String,
    /// Whether marks of the source, such as `**`, are not in the text.
    pub(in crate::web) hides_marks: bool,
}

/// Renders Markdown to sanitised HTML.
///
/// Every character that is neither blank nor a mark is in the text of the result.
pub(in crate::web) fn render(source: &str) -> Rendered {
    let mut unsafe_html = String::with_capacity(source.len() * 3 / 2);
    let mut hides_marks = false;
    for segment in segments(source) {
        match segment {
            Segment::Patch(patch) => push_code(&mut unsafe_html, patch, "diff"),
            Segment::Markdown(markdown) => {
                let written = write(markdown);
                if written.is_complete {
                    hides_marks |= written.hides_marks;
                    html::push_html(&mut unsafe_html, written.events.into_iter());
                } else {
                    push_code(&mut unsafe_html, markdown, "text");
                }
            }
        }
    }
    Rendered {
        html: sanitise(&unsafe_html),
        hides_marks,
    }
}

/// Renders a text exactly as it was written.
pub(in crate::web) fn verbatim(source: &str) -> Rendered {
    let mut html = String::with_capacity(source.len() + 64);
    push_code(&mut html, source, "text");
    Rendered {
        html: sanitise(&html),
        hides_marks: false,
    }
}

fn write(markdown: &str) -> Written<'_> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut writer = Writer::new(markdown);
    for (event, range) in Parser::new_ext(markdown, options).into_offset_iter() {
        writer.write(event, range);
    }
    writer.finish()
}

fn push_code(html: &mut String, text: &str, language: &str) {
    html.push_str("<pre><code class=\"language-");
    html.push_str(language);
    html.push_str("\">");
    for piece in pieces(text) {
        match piece {
            Piece::Seen(seen) => html.push_str(&escape(seen)),
            Piece::Hidden(letter) => html.push_str(&spelled_out(letter)),
        }
    }
    html.push_str("</code></pre>\n");
}

/// Returns the mark that stands for an invisible character.
pub(super) fn spelled_out(letter: char) -> String {
    let code = code(letter);
    format!("<span class=\"invisible\" title=\"{code}\">⟨{code}⟩</span>")
}

/// Escapes a text for HTML.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\t' => escaped.push(letter),
            letter if letter.is_control() => escaped.push_str("&#xfffd;"),
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html_of(source: &str) -> String {
        render(source).html
    }

    #[test]
    fn what_agents_write_is_never_markup() {
        for attack in [
            "<script>alert(1)</script>",
            "<img src=x onerror=alert(1)>",
            "<svg/onload=alert(1)>",
            "[x](javascript:alert(1))",
            "[x](JaVaScRiPt:alert(1))",
            "![x](data:image/svg+xml,<svg/onload=alert(1)>)",
            "<a href=\"javascript:alert(1)\">x</a>",
            "```\"><script>alert(1)</script>\nx\n```",
            "[x](https://a.b/\"onmouseover=alert(1))",
            "<div style=\"position:fixed\">x</div>",
            "<iframe src=https://evil.test></iframe>",
            "| <b onclick=x>a</b> |\n|---|\n| <form action=x> |",
        ] {
            let html = html_of(attack);
            let tags: Vec<&str> = html
                .split('<')
                .skip(1)
                .filter_map(|tag| tag.split(['>', ' ', '/']).find(|name| !name.is_empty()))
                .collect();
            assert!(
                tags.iter().all(|tag| [
                    "p", "a", "code", "pre", "span", "br", "table", "thead", "tbody", "tr", "th", "td"
                ]
                .contains(tag)),
                "{attack} became {html}"
            );
            for inside in html.split('<').skip(1).filter_map(|tag| tag.split('>').next()) {
                assert!(!inside.contains("href=\"java"), "{attack} became {html}");
                let outside_quotes: String = inside.split('"').step_by(2).collect();
                assert!(
                    !outside_quotes.contains(" on") && !outside_quotes.contains("style"),
                    "{attack} became {html}"
                );
            }
        }
    }

    #[test]
    fn markup_an_agent_shows_stays_readable() {
        assert_eq!(html_of("use <Button>"), "<p>use &lt;Button&gt;</p>\n");
        assert_eq!(
            html_of("<div>\n  x\n</div>"),
            "<p>&lt;div&gt;<br>\n  x<br>\n&lt;/div&gt;</p>\n"
        );
    }

    #[test]
    fn links_show_where_they_go() {
        let html = html_of("[your bank](https://evil.test/x)");
        assert!(
            html.contains("<span class=\"goes-to\">https://evil.test/x</span>"),
            "{html}"
        );
        assert!(html.contains("rel=\"noopener noreferrer nofollow\""), "{html}");
        assert!(html.contains("target=\"_blank\""), "{html}");
        let masked = html_of("[https://good.test](https://evil.test)");
        assert!(masked.contains("\"goes-to\">https://evil.test<"), "{masked}");
        for disguised in [
            "https://аррӏе.com",
            "<https://аррӏе.com>",
            "[apple.com](https://аррӏе.com)",
        ] {
            let html = html_of(disguised);
            assert!(html.contains("\"goes-to\">xn--80ak6aa92e.com<"), "{html}");
        }
        let plain = html_of("see https://a.b/c.");
        assert!(
            plain.contains(">https://a.b/c</a>.") && !plain.contains("goes-to"),
            "{plain}"
        );
    }

    #[test]
    fn remote_images_are_links() {
        let html = html_of("![a chart](https://tracker.test/pixel.png)");
        assert!(!html.contains("<img"), "{html}");
        assert!(
            html.contains("class=\"image\"") && html.contains(">a chart</a>"),
            "{html}"
        );
        assert!(html_of("![](https://t.test/p.png)").contains(">image</a>"));
    }

    #[test]
    fn code_keeps_its_language_and_shows_the_rest_of_its_info() {
        assert_eq!(
            html_of("```rust ignore\nlet a = 1 < 2;\n```"),
            "<span class=\"info\">rust ignore</span>\n<pre><code class=\"language-rust\">let a = 1 &lt; 2;\n</code></pre>\n"
        );
    }

    #[test]
    fn swallowed_text_is_shown_where_it_stood() {
        for (source, shown) in [
            ("ls ./src\n\n[x]: $(reboot)", "[x]: $(reboot)"),
            ("a\n\n[x]: <y> 'some\n  title'", "title"),
            ("[a](https://x.y \"a title\")", "a title"),
            ("![a](https://x.y/z)", "https://x.y/z"),
            ("|a|\n|-|\n|1|extra|", "extra"),
            ("a <!-- secret --> b", "&lt;!-- secret --&gt;"),
            ("cost: &#36;5", "&amp;#36;5"),
            ("rm *foo* \\*", "*</span><em>foo</em>"),
            ("rm a\\*b", "\\</span>*b"),
            ("# title ##", "##"),
            ("title\n-----", "-----"),
            ("7. a\n7. b", "7.</span> b"),
            ("__init__.py", "__</span><strong>init"),
            ("> [a]: b", "[a]: b"),
            ("- a\n\n  [a]: b", "[a]: b"),
        ] {
            let html = html_of(source);
            assert!(html.contains(shown), "{source} became {html}");
        }
    }

    #[test]
    fn marks_that_are_not_shown_are_told_of() {
        for (source, hides_marks) in [
            ("plain *words*, 1 < 2", false),
            ("**strong**", true),
            ("# title", true),
            ("`code`", true),
            ("- item", true),
            ("> quote", true),
            ("```\ncode\n```", true),
            ("[a](https://b.c)", true),
        ] {
            assert_eq!(render(source).hides_marks, hides_marks, "{source}");
        }
    }

    #[test]
    fn a_patch_without_a_fence_is_code() {
        let html = html_of("Apply?\n\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n- a\n+ b\n  *c*\n\nYes?");
        assert!(
            html.contains("<code class=\"language-diff\">--- a/x\n+++ b/x"),
            "{html}"
        );
        assert!(html.contains("  *c*\n</code></pre>\n<p>Yes?</p>"), "{html}");
    }

    #[test]
    fn verbatim_text_is_neither_read_nor_shortened() {
        let source = "May it run?\n\n```\nrm *.o &amp; <b>\u{202e}\n```\n[x]: y";
        assert_eq!(
            verbatim(source).html,
            "<pre><code class=\"language-text\">May it run?\n\n```\nrm *.o &amp;amp; &lt;b&gt;<span class=\"invisible\" title=\"U+202E\">⟨U+202E⟩</span>\n```\n[x]: y</code></pre>\n"
        );
    }

    #[test]
    fn hidden_characters_are_visible_in_text_and_in_code() {
        for source in [
            "a\u{202e}b",
            "`a\u{202e}b`",
            "```\na\u{202e}b\n```",
            "[a\u{202e}b](https://x.y)",
        ] {
            let html = html_of(source);
            assert!(
                html.contains("<span class=\"invisible\" title=\"U+202E\">⟨U+202E⟩</span>"),
                "{html}"
            );
        }
    }

    #[test]
    fn line_breaks_tables_and_tasks_are_kept() {
        assert_eq!(html_of("a\nb"), "<p>a<br>\nb</p>\n");
        assert!(html_of("|a|b|\n|-|-|\n|1|2|").contains("<td>1</td>"));
        assert!(html_of("- [x] done\n- [ ] not").contains("☑ done"));
    }

    #[test]
    fn hostile_nesting_takes_no_time() {
        let started = std::time::Instant::now();
        for source in [
            ">".repeat(65536),
            "- ".repeat(32768),
            "*".repeat(65536),
            "[".repeat(65536),
            "`a".repeat(32768),
        ] {
            html_of(&source);
        }
        assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
    }
}
