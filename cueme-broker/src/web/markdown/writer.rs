//! Rewrites the parser's events on their way to HTML, and follows the source beside them: a character that no event
//! carries is a mark, or is shown as text.

use std::ops::Range;

use protocol_spec::visible::{Piece, has_hidden, pieces};
use pulldown_cmark::{CodeBlockKind, CowStr, Event, LinkType, Tag, TagEnd};

use super::links::{bare_addresses, disguised_host, linkable_host};
use super::render::{escape, spelled_out};
use super::sanitise::language;
use super::shown::{Tally, is_same, letters};

/// The deepest nesting of quotes and lists; deeper ones are shown at this depth.
const DEPTH_MAX: usize = 16;

/// The result of rewriting a source.
#[derive(Debug)]
pub(super) struct Written<'a> {
    pub(super) events: Vec<Event<'a>>,
    /// Whether marks of the source are left out.
    pub(super) hides_marks: bool,
    /// Whether all text but marks is shown.
    pub(super) is_complete: bool,
}

#[derive(Debug)]
pub(super) struct Writer<'a> {
    source: &'a str,
    events: Vec<Event<'a>>,
    tally: Tally,
    hides_marks: bool,
    /// The offset up to which the source is shown, or is a mark.
    at: usize,
    open: Vec<Open>,
    /// Whether the innermost element is still empty.
    is_opening: bool,
    /// The nesting of quotes and lists.
    depth: usize,
    quotes: usize,
    links: Vec<Link<'a>>,
}

/// An element that has begun, with its marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Quote,
    List,
    Item,
    Heading,
    Fenced,
    Indented,
    /// Emphasis of any kind, and whether its marks are shown.
    Emphasis {
        marks: usize,
        are_shown: bool,
    },
    Link,
    Table,
    Row,
    Cell,
    /// Paragraphs and the like, which have no marks.
    Other,
}

#[derive(Debug)]
struct Link<'a> {
    kind: LinkType,
    address: CowStr<'a>,
    title: CowStr<'a>,
    is_image: bool,
    text: String,
}

impl<'a> Writer<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        Self {
            source,
            events: Vec::new(),
            tally: Tally::of(source),
            hides_marks: false,
            at: 0,
            open: Vec::new(),
            is_opening: false,
            depth: 0,
            quotes: 0,
            links: Vec::new(),
        }
    }

    /// Writes one event, which the parser read from this part of the source.
    pub(super) fn write(&mut self, event: Event<'a>, range: Range<usize>) {
        match event {
            Event::Start(tag) => {
                self.before(range.start);
                self.start(tag, range);
                self.is_opening = true;
            }
            Event::End(tag) => self.end(tag, range),
            leaf => {
                self.before(range.start);
                self.at = self.at.max(range.end);
                self.leaf(leaf, &self.source[range]);
            }
        }
    }

    /// Ends the text.
    pub(super) fn finish(mut self) -> Written<'a> {
        self.before(self.source.len());
        Written {
            is_complete: self.tally.is_complete(),
            events: self.events,
            hides_marks: self.hides_marks,
        }
    }

    fn leaf(&mut self, event: Event<'a>, source: &'a str) {
        match event {
            // Character references are shown as they were written: `&#36;` is not what a shell would get.
            Event::Text(text) if is_same(&text, source) => self.text(&text),
            Event::Text(_) => self.text(source),
            // Text that looks like HTML is text that an agent wants to show.
            Event::Html(text) => self.lines(&text),
            Event::InlineHtml(text) => self.plain(&text),
            Event::Code(text) => self.code(text, source),
            // Agents mean the line breaks they write.
            Event::SoftBreak | Event::HardBreak => {
                self.plain(source.trim());
                self.events.push(Event::HardBreak);
            }
            Event::Rule => {
                self.hide(source);
                self.events.push(Event::Rule);
            }
            Event::TaskListMarker(done) => {
                self.hide(source);
                self.tally.show(source);
                self.plain(if done { "☑ " } else { "☐ " });
            }
            Event::FootnoteReference(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.plain(&text);
            }
            Event::Start(_) | Event::End(_) => {}
        }
    }

    fn start(&mut self, tag: Tag<'a>, range: Range<usize>) {
        let open = match &tag {
            Tag::BlockQuote(_) => Open::Quote,
            Tag::List(_) => Open::List,
            Tag::Item => Open::Item,
            Tag::Heading { .. } => Open::Heading,
            Tag::CodeBlock(CodeBlockKind::Fenced(_)) => Open::Fenced,
            Tag::CodeBlock(CodeBlockKind::Indented) => Open::Indented,
            Tag::Emphasis => self.emphasis(&range, 1),
            Tag::Strong => self.emphasis(&range, 2),
            Tag::Strikethrough => {
                let marks = if self.source[range.clone()].starts_with("~~") {
                    2
                } else {
                    1
                };
                self.emphasis(&range, marks)
            }
            Tag::Link { .. } | Tag::Image { .. } => Open::Link,
            Tag::Table(_) => Open::Table,
            Tag::TableHead | Tag::TableRow => Open::Row,
            Tag::TableCell => Open::Cell,
            _ => Open::Other,
        };
        if let Open::Emphasis { marks, are_shown } = open {
            self.emphasis_marks(marks, are_shown);
        }
        self.open.push(open);
        match tag {
            Tag::Link {
                link_type,
                dest_url,
                title,
                ..
            } => self.open_link(link_type, dest_url, title, false),
            Tag::Image {
                link_type,
                dest_url,
                title,
                ..
            } => self.open_link(link_type, dest_url, title, true),
            Tag::CodeBlock(CodeBlockKind::Fenced(info)) => self.open_fence(&range, &info),
            Tag::HtmlBlock => self.events.push(Event::Start(Tag::Paragraph)),
            Tag::BlockQuote(_) | Tag::List(_) | Tag::Item => {
                self.depth += 1;
                self.quotes += usize::from(open == Open::Quote);
                if self.depth <= DEPTH_MAX {
                    self.events.push(Event::Start(tag));
                }
            }
            tag => self.events.push(Event::Start(tag)),
        }
    }

    fn end(&mut self, tag: TagEnd, range: Range<usize>) {
        let open = self.open.last().copied().unwrap_or(Open::Other);
        match open {
            Open::Link => {
                self.opening_marks(open);
                self.close_link(range.end);
            }
            // Its marks follow below, outside of the element.
            Open::Emphasis { marks, .. } => self.close(open, range.end - marks),
            open => self.close(open, range.end),
        }
        self.open.pop();
        self.is_opening = false;
        match tag {
            TagEnd::Link | TagEnd::Image => {}
            TagEnd::HtmlBlock => self.events.push(Event::End(TagEnd::Paragraph)),
            TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item => {
                self.quotes -= usize::from(open == Open::Quote);
                if self.depth <= DEPTH_MAX {
                    self.events.push(Event::End(tag));
                }
                self.depth = self.depth.saturating_sub(1);
            }
            tag => self.events.push(Event::End(tag)),
        }
        if let Open::Emphasis { marks, are_shown } = open {
            self.emphasis_marks(marks, are_shown);
        }
    }

    /// Shows the marks of an emphasis, or skips them.
    fn emphasis_marks(&mut self, marks: usize, are_shown: bool) {
        let text = self.source.get(self.at..self.at + marks).unwrap_or_default();
        self.at += text.len();
        if are_shown {
            self.span("delim", text);
        } else {
            self.hide(text);
        }
    }

    /// Shows the source up to a place where something else begins, unless it is marks.
    fn before(&mut self, to: usize) {
        let open = self.open.last().copied().unwrap_or(Open::Other);
        self.opening_marks(open);
        self.gap(to, |text| match open {
            Open::Row => without(text, &['|']),
            Open::Table => without(text, &['|', '-', ':']),
            _ => text.trim(),
        });
    }

    /// Shows the source up to the end of an element, unless it is marks.
    fn close(&mut self, open: Open, to: usize) {
        self.opening_marks(open);
        self.gap(to, |text| match open {
            Open::Fenced => match text.trim().chars().next() {
                Some(mark @ ('`' | '~')) => without(text, &[mark]),
                _ => text.trim(),
            },
            Open::Row => without(text, &['|']),
            Open::Table => without(text, &['|', '-', ':']),
            _ => text.trim(),
        });
    }

    /// Skips the marks with which an element begins.
    fn opening_marks(&mut self, open: Open) {
        if !std::mem::take(&mut self.is_opening) {
            return;
        }
        let rest = &self.source[self.at..];
        let trimmed = rest.trim_start_matches([' ', '\t']);
        let blank = rest.len() - trimmed.len();
        let marks = match open {
            Open::Quote => run(trimmed, 1, |mark| mark == '>'),
            Open::Heading => run(trimmed, 6, |mark| mark == '#'),
            Open::Item => return self.item_marks(blank, trimmed),
            Open::Link => ["![", "[", "<"]
                .iter()
                .find(|mark| trimmed.starts_with(**mark))
                .map_or(0, |mark| mark.len()),
            _ => 0,
        };
        self.hide(&trimmed[..marks]);
        if marks > 0 {
            self.at += blank + marks;
        }
    }

    /// Skips a bullet, and shows a number as it was written.
    fn item_marks(&mut self, blank: usize, trimmed: &'a str) {
        let digits = run(trimmed, trimmed.len(), |letter| letter.is_ascii_digit());
        let length = digits + run(&trimmed[digits..], 1, |mark| "-*+.)".contains(mark));
        self.at += blank + length;
        if digits > 0 {
            self.span("number", &trimmed[..length]);
            self.plain(" ");
        } else {
            self.hide(&trimmed[..length]);
        }
    }

    /// Shows what `rest` leaves of the source up to `to`. The marks of quotes at the beginnings of lines are left out.
    fn gap(&mut self, to: usize, rest: impl Fn(&str) -> &str) {
        if to <= self.at {
            return;
        }
        let is_line_start = self.source[..self.at].ends_with('\n') || self.at == 0;
        let gap = &self.source[self.at..to];
        self.at = to;
        if letters(gap).next().is_none() {
            return;
        }
        let mut text = String::new();
        for (number, line) in gap.split_inclusive('\n').enumerate() {
            if self.quotes > 0 && (number > 0 || is_line_start) {
                text.push_str(line.trim_start_matches([' ', '\t', '>']));
            } else {
                text.push_str(line);
            }
        }
        let shown = rest(&text);
        self.hides_marks |= !is_same(gap, shown);
        if letters(shown).next().is_some() {
            self.literal(shown);
        }
    }

    /// Shows text that the parser swallowed, where it stood.
    fn literal(&mut self, text: &str) {
        match self.open.last() {
            None | Some(Open::Quote | Open::List | Open::Item) => {
                self.html("<p>".to_owned());
                self.raw(text);
                self.html("</p>".to_owned());
            }
            Some(Open::Row) => {
                self.html("<td>".to_owned());
                self.raw(text);
                self.html("</td>".to_owned());
            }
            Some(Open::Table) => {
                self.html("<tr><td>".to_owned());
                self.raw(text);
                self.html("</td></tr>".to_owned());
            }
            Some(Open::Heading) => {
                self.events.push(Event::HardBreak);
                self.span("delim", text);
            }
            Some(Open::Fenced | Open::Indented) => self.plain(text),
            Some(_) => self.span("delim", text),
        }
    }

    fn raw(&mut self, text: &str) {
        self.html("<span class=\"raw\">".to_owned());
        self.lines(text);
        self.html("</span>".to_owned());
    }

    fn span(&mut self, class: &str, text: &str) {
        self.html(format!("<span class=\"{class}\">"));
        self.plain(text);
        self.html("</span>".to_owned());
    }

    /// Records that a mark is left out.
    fn hide(&mut self, mark: &str) {
        self.hides_marks |= !mark.trim().is_empty();
    }

    /// Hides the marks of `**strong**` in a sentence. All others are shown: they may be stars of a command.
    fn emphasis(&self, range: &Range<usize>, marks: usize) -> Open {
        let inside = &self.source[range.clone()];
        let inner = inside
            .strip_prefix("**")
            .and_then(|inside| inside.strip_suffix("**"));
        let before = self.source[..range.start].chars().next_back();
        let mut after = self.source[range.end..].chars();
        let follows = match after.next() {
            // A full stop ends a sentence, or begins the rest of a name.
            Some('.') => after.next().is_none_or(char::is_whitespace),
            Some(letter) => !is_of_commands(letter),
            None => true,
        };
        let is_sentence = marks == 2
            && follows
            && before.is_none_or(|letter| !is_of_commands(letter))
            && inner.is_some_and(|inner| {
                !inner.starts_with(is_of_paths) && (inner.ends_with('.') || !inner.ends_with(is_of_paths))
            });
        Open::Emphasis {
            marks,
            are_shown: !is_sentence,
        }
    }

    /// Begins a code block with its info as a label.
    fn open_fence(&mut self, range: &Range<usize>, info: &str) {
        let line = self.source[range.clone()].lines().next().unwrap_or_default();
        let fence = line.trim_start_matches([' ', '\t']);
        let written = fence.trim_start_matches(['`', '~']).trim();
        self.hides_marks = true;
        self.at = range.start + line.len();
        if !written.is_empty() {
            self.span("info", written);
        }
        let kind = CodeBlockKind::Fenced(language(info).into());
        self.events.push(Event::Start(Tag::CodeBlock(kind)));
    }

    /// Opens a link; links do not nest, so one inside another (an image, say) only adds its text.
    fn open_link(&mut self, kind: LinkType, address: CowStr<'a>, title: CowStr<'a>, is_image: bool) {
        if self.links.is_empty() && linkable_host(&address).is_some() {
            let class = if is_image { " class=\"image\"" } else { "" };
            let shown = escape(&address);
            self.html(format!("<a href=\"{shown}\" title=\"{shown}\"{class}>"));
        }
        if let Some(outer) = self.links.first_mut() {
            outer.is_image |= is_image;
        }
        self.links.push(Link {
            kind,
            address,
            title,
            is_image,
            text: String::new(),
        });
    }

    fn close_link(&mut self, to: usize) {
        let Some(link) = self.links.pop() else { return };
        let is_outermost = self.links.is_empty();
        let is_linked = is_outermost && linkable_host(&link.address).is_some();
        if is_linked {
            if link.is_image && link.text.trim().is_empty() {
                self.plain("image");
            }
            self.html("</a>".to_owned());
        }
        let gap = self.source.get(self.at..to).unwrap_or_default();
        self.at = self.at.max(to);
        self.hide(gap);
        match link.kind {
            LinkType::Autolink | LinkType::Email => self.disguise(&link.address),
            LinkType::Inline if is_told(gap, &link) => {
                self.destination(&link, is_linked);
                if !link.title.is_empty() {
                    self.plain(" ");
                    self.span("delim", &format!("“{}”", link.title));
                }
            }
            // Written with character references or escapes: shown as it was written.
            _ => {
                let written = gap.trim().trim_start_matches(']');
                if !written.is_empty() {
                    self.span("delim", written);
                }
                self.destination(&link, is_linked);
            }
        }
        if let Some(outer) = self.links.last_mut() {
            outer.text.push_str(&link.text);
        }
    }

    /// Shows the target of a link.
    fn destination(&mut self, link: &Link<'_>, is_linked: bool) {
        if is_linked {
            self.plain(" ");
            self.span("goes-to", &link.address);
            self.disguise(&link.address);
        } else if !link.address.is_empty() {
            // The target of a link that cannot be followed is shown, so that nothing an agent wrote is lost.
            self.plain(&format!(" ({})", link.address));
        }
    }

    /// Shows the host of an address that looks like another's.
    fn disguise(&mut self, address: &str) {
        if let Some(host) = disguised_host(address) {
            self.plain(" ");
            self.span("goes-to", &host);
        }
    }

    fn text(&mut self, text: &str) {
        let is_code = matches!(self.open.last(), Some(Open::Fenced | Open::Indented));
        if is_code || !self.links.is_empty() {
            return self.plain(text);
        }
        let mut from = 0;
        for range in bare_addresses(text) {
            self.plain(&text[from..range.start]);
            let address = &text[range.clone()];
            self.html(format!("<a href=\"{}\">", escape(address)));
            self.plain(address);
            self.html("</a>".to_owned());
            self.disguise(address);
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

    fn code(&mut self, text: CowStr<'a>, source: &'a str) {
        self.hides_marks = true;
        let ticks = run(source, source.len() / 2, |mark| mark == '`');
        let written = &source[ticks..source.len() - ticks];
        let text = if is_same(&text, written) {
            text
        } else {
            written.into()
        };
        if !has_hidden(&text) {
            self.tally.show(&text);
            if let Some(link) = self.links.last_mut() {
                link.text.push_str(&text);
            }
            return self.events.push(Event::Code(text));
        }
        self.html("<code>".to_owned());
        self.plain(&text);
        self.html("</code>".to_owned());
    }

    /// Writes text as text, with hidden characters spelled out.
    fn plain(&mut self, text: &str) {
        for piece in pieces(text) {
            match piece {
                Piece::Seen(seen) => self.events.push(Event::Text(seen.to_owned().into())),
                Piece::Hidden(letter) => self.html(spelled_out(letter)),
            }
        }
        self.tally.show(text);
        if let Some(link) = self.links.last_mut() {
            link.text.push_str(text);
        }
    }

    fn html(&mut self, html: String) {
        self.events.push(Event::InlineHtml(html.into()));
    }
}

/// Says whether address and title as they are shown are all that the source has of them.
fn is_told(gap: &str, link: &Link<'_>) -> bool {
    let inside = gap
        .trim()
        .strip_prefix("](")
        .and_then(|gap| gap.strip_suffix(')'));
    let told = format!("{}{}", link.address, link.title);
    let quotes = |letter: &char| !matches!(letter, '<' | '>' | '"' | '\'' | '(' | ')');
    inside.is_some_and(|inside| letters(inside).filter(quotes).eq(letters(&told).filter(quotes)))
}

/// Returns how many bytes at the beginning match, at most `max`; all of them ASCII.
fn run(text: &str, max: usize, is_mark: impl Fn(char) -> bool) -> usize {
    text.chars()
        .take(max)
        .take_while(|letter| letter.is_ascii() && is_mark(*letter))
        .count()
}

/// Returns the text without these marks and blanks around it.
fn without<'t>(text: &'t str, marks: &[char]) -> &'t str {
    text.trim_matches(|letter: char| letter.is_whitespace() || marks.contains(&letter))
}

/// Says whether a star beside this character may be part of a command.
fn is_of_commands(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || is_of_paths(letter) || "=@%&|<>{}".contains(letter)
}

fn is_of_paths(letter: char) -> bool {
    "*/._\\$~".contains(letter)
}
