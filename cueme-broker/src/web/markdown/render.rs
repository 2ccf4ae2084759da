//! Markdown to HTML.
//!
//! Two independent layers keep agents' words from doing harm: nothing an agent writes is taken for HTML here, and what
//! comes out is sanitised once more against a short list of what may be in it.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::sync::LazyLock;

use protocol_spec::visible::{Piece, code, has_hidden, pieces};
use pulldown_cmark::{CodeBlockKind, CowStr, Event, Options, Parser, Tag, TagEnd, html};

use super::links::{bare_addresses, linkable_host};

/// How deep quotes and lists may be nested; deeper ones are shown at this depth.
const DEPTH_MAX: usize = 16;
/// The longest name of a language.
const LANGUAGE_BYTES_MAX: usize = 32;

/// Renders Markdown to sanitised HTML.
pub(in crate::web) fn render(source: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut writer = Writer::default();
    for event in Parser::new_ext(source, options) {
        writer.write(event);
    }
    let mut unsafe_html = String::with_capacity(source.len() * 3 / 2);
    html::push_html(&mut unsafe_html, writer.events.into_iter());
    SANITISER.clean(&unsafe_html).to_string()
}

static SANITISER: LazyLock<ammonia::Builder<'static>> = LazyLock::new(|| {
    let tags = HashSet::from([
        "a",
        "blockquote",
        "br",
        "code",
        "del",
        "em",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "li",
        "ol",
        "p",
        "pre",
        "span",
        "strong",
        "table",
        "tbody",
        "td",
        "th",
        "thead",
        "tr",
        "ul",
    ]);
    let attributes = HashMap::from([
        ("a", HashSet::from(["href", "title", "class"])),
        ("code", HashSet::from(["class"])),
        ("span", HashSet::from(["class", "title"])),
        ("ol", HashSet::from(["start"])),
    ]);
    let mut builder = ammonia::Builder::empty();
    builder
        .tags(tags)
        .tag_attributes(attributes)
        .url_schemes(HashSet::from(["http", "https", "mailto"]))
        .url_relative(ammonia::UrlRelative::Deny)
        .link_rel(Some("noopener noreferrer nofollow"))
        .set_tag_attribute_value("a", "target", "_blank")
        .attribute_filter(|element, attribute, value| match (element, attribute) {
            ("a", "class") => (value == "image").then_some(Cow::Borrowed(value)),
            ("span", "class") => matches!(value, "goes-to" | "invisible").then_some(Cow::Borrowed(value)),
            ("code", "class") => is_language_class(value).then_some(Cow::Borrowed(value)),
            _ => Some(Cow::Borrowed(value)),
        });
    builder
});

fn is_language_class(value: &str) -> bool {
    value.strip_prefix("language-").is_some_and(|name| {
        !name.is_empty() && name.len() <= LANGUAGE_BYTES_MAX && name.chars().all(is_language_letter)
    })
}

fn is_language_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '+' | '#' | '-' | '_' | '.')
}

/// Rewrites events on their way from the parser to the HTML.
#[derive(Default)]
struct Writer<'a> {
    events: Vec<Event<'a>>,
    /// How deep quotes and lists are nested, and how many of them are shown.
    depth: usize,
    in_code: bool,
    /// The link being written, if one is: where it goes and what its text is so far.
    link: Option<Link<'a>>,
}

struct Link<'a> {
    address: CowStr<'a>,
    is_image: bool,
    text: String,
}

impl<'a> Writer<'a> {
    fn write(&mut self, event: Event<'a>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text),
            // What looks like HTML is something an agent wants to show.
            Event::Html(text) => self.lines(&text),
            Event::InlineHtml(text) => self.plain(&text),
            Event::Code(text) => self.code(text),
            // Agents mean the line breaks they write.
            Event::SoftBreak | Event::HardBreak => self.events.push(Event::HardBreak),
            Event::Rule => self.events.push(Event::Rule),
            Event::TaskListMarker(done) => self.plain(if done { "☑ " } else { "☐ " }),
            Event::FootnoteReference(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.plain(&text);
            }
        }
    }

    fn start(&mut self, tag: Tag<'a>) {
        match tag {
            Tag::Link { dest_url, .. } => self.open_link(dest_url, false),
            Tag::Image { dest_url, .. } => self.open_link(dest_url, true),
            Tag::CodeBlock(kind) => {
                self.in_code = true;
                let kind = match kind {
                    CodeBlockKind::Fenced(info) => CodeBlockKind::Fenced(language(&info).into()),
                    CodeBlockKind::Indented => CodeBlockKind::Indented,
                };
                self.events.push(Event::Start(Tag::CodeBlock(kind)));
            }
            Tag::HtmlBlock => self.events.push(Event::Start(Tag::Paragraph)),
            Tag::BlockQuote(_) | Tag::List(_) | Tag::Item => {
                self.depth += 1;
                if self.depth <= DEPTH_MAX {
                    self.events.push(Event::Start(tag));
                }
            }
            tag => self.events.push(Event::Start(tag)),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Link | TagEnd::Image => self.close_link(),
            TagEnd::CodeBlock => {
                self.in_code = false;
                self.events.push(Event::End(tag));
            }
            TagEnd::HtmlBlock => self.events.push(Event::End(TagEnd::Paragraph)),
            TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item => {
                if self.depth <= DEPTH_MAX {
                    self.events.push(Event::End(tag));
                }
                self.depth = self.depth.saturating_sub(1);
            }
            tag => self.events.push(Event::End(tag)),
        }
    }

    /// Opens a link; links do not nest, so one inside another (an image, say) only adds its text.
    fn open_link(&mut self, address: CowStr<'a>, is_image: bool) {
        if let Some(link) = &mut self.link {
            link.is_image |= is_image;
            return;
        }
        if linkable_host(&address).is_some() {
            let class = if is_image { " class=\"image\"" } else { "" };
            let shown = escape(&address);
            self.html(format!("<a href=\"{shown}\" title=\"{shown}\"{class}>"));
        }
        self.link = Some(Link {
            address,
            is_image,
            text: String::new(),
        });
    }

    fn close_link(&mut self) {
        let Some(link) = self.link.take() else { return };
        match linkable_host(&link.address) {
            Some(host) => {
                if link.is_image && link.text.trim().is_empty() {
                    self.plain("image");
                }
                self.html("</a>".to_owned());
                if !link.text.contains(host) {
                    self.html(format!(" <span class=\"goes-to\">{}</span>", escape(host)));
                }
            }
            // What cannot be followed is shown, so that nothing an agent wrote is lost.
            None => self.plain(&format!(" ({})", link.address)),
        }
    }

    fn text(&mut self, text: &str) {
        if self.in_code || self.link.is_some() {
            return self.plain(text);
        }
        let mut from = 0;
        for range in bare_addresses(text) {
            self.plain(&text[from..range.start]);
            let address = &text[range.clone()];
            self.html(format!("<a href=\"{}\">", escape(address)));
            self.plain(address);
            self.html("</a>".to_owned());
            from = range.end;
        }
        self.plain(&text[from..]);
    }

    /// Writes text that spans lines, and keeps them apart.
    fn lines(&mut self, text: &str) {
        for line in text.split_inclusive('\n') {
            self.plain(line.trim_end_matches('\n'));
            if line.ends_with('\n') {
                self.events.push(Event::HardBreak);
            }
        }
    }

    fn code(&mut self, text: CowStr<'a>) {
        if !has_hidden(&text) {
            if let Some(link) = &mut self.link {
                link.text.push_str(&text);
            }
            return self.events.push(Event::Code(text));
        }
        self.html("<code>".to_owned());
        self.plain(&text);
        self.html("</code>".to_owned());
    }

    /// Writes text as text, with what is hidden in it spelled out.
    fn plain(&mut self, text: &str) {
        for piece in pieces(text) {
            match piece {
                Piece::Seen(seen) => self.events.push(Event::Text(seen.to_owned().into())),
                Piece::Hidden(letter) => {
                    let code = code(letter);
                    self.html(format!(
                        "<span class=\"invisible\" title=\"{code}\">⟨{code}⟩</span>"
                    ));
                }
            }
        }
        if let Some(link) = &mut self.link {
            link.text.push_str(text);
        }
    }

    fn html(&mut self, html: String) {
        self.events.push(Event::InlineHtml(html.into()));
    }
}

/// Returns the first word of a code block's info, as far as it can be a language.
fn language(info: &str) -> String {
    info.split(|letter: char| letter.is_whitespace() || letter == ',')
        .next()
        .unwrap_or_default()
        .chars()
        .filter(|letter| is_language_letter(*letter))
        .take(LANGUAGE_BYTES_MAX)
        .collect()
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // Writing to a string cannot fail.
            letter if letter.is_control() => drop(write!(escaped, "&#xfffd;")),
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let html = render(attack);
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
        assert_eq!(render("use <Button>"), "<p>use &lt;Button&gt;</p>\n");
        assert_eq!(
            render("<div>\n  x\n</div>"),
            "<p>&lt;div&gt;<br>\n  x<br>\n&lt;/div&gt;</p>\n"
        );
    }

    #[test]
    fn links_show_where_they_go() {
        let html = render("[your bank](https://evil.test/x)");
        assert!(
            html.contains("<span class=\"goes-to\">evil.test</span>"),
            "{html}"
        );
        assert!(html.contains("rel=\"noopener noreferrer nofollow\""), "{html}");
        assert!(html.contains("target=\"_blank\""), "{html}");
        let plain = render("see https://a.b/c.");
        assert!(
            plain.contains(">https://a.b/c</a>.") && !plain.contains("goes-to"),
            "{plain}"
        );
    }

    #[test]
    fn remote_images_are_links() {
        let html = render("![a chart](https://tracker.test/pixel.png)");
        assert!(!html.contains("<img"), "{html}");
        assert!(
            html.contains("class=\"image\"") && html.contains(">a chart</a>"),
            "{html}"
        );
        assert!(render("![](https://t.test/p.png)").contains(">image</a>"));
    }

    #[test]
    fn code_keeps_its_language_and_loses_everything_else() {
        assert_eq!(
            render("```rust ignore\nlet a = 1 < 2;\n```"),
            "<pre><code class=\"language-rust\">let a = 1 &lt; 2;\n</code></pre>\n"
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
            let html = render(source);
            assert!(
                html.contains("<span class=\"invisible\" title=\"U+202E\">⟨U+202E⟩</span>"),
                "{html}"
            );
        }
    }

    #[test]
    fn line_breaks_tables_and_tasks_are_kept() {
        assert_eq!(render("a\nb"), "<p>a<br>\nb</p>\n");
        assert!(render("|a|b|\n|-|-|\n|1|2|").contains("<td>1</td>"));
        assert!(render("- [x] done\n- [ ] not").contains("☑ done"));
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
            render(&source);
        }
        assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
    }
}
