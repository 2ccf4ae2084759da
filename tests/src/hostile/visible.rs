//! Holds what a page shows against what an agent wrote: every character that is not blank is there, or is a mark of
//! Markdown and the page says that it leaves marks out.

/// Marks, blanks, and everything that Markdown may swallow between them: what generated prompts are put together from.
#[allow(dead_code, reason = "readers of given bytes put nothing together")]
pub const FRAGMENTS: [&str; 72] = [
    "a",
    "bc",
    "数据",
    "$(x)",
    "7",
    "x_y",
    "*",
    "**",
    "_",
    "__",
    "~",
    "~~",
    "`",
    "``",
    "```",
    "```diff\n",
    "~~~sh z\n",
    "```rust ignore\n",
    "\n",
    "\n\n",
    "\n\n",
    " ",
    "  \n",
    "\\\n",
    "\\",
    "# ",
    "## ",
    " ##",
    "\n---\n",
    "\n===\n",
    "- ",
    "* ",
    "+ ",
    "1. ",
    "9) ",
    "> ",
    ">",
    "[",
    "]",
    "(",
    ")",
    "](",
    "[a]",
    "[a]: ",
    "[a]: b 'c'\n",
    "![",
    "<",
    "<b>",
    "<!-- d -->",
    "<https://e.f>",
    "https://g.h/i",
    "[j](https://k.l \"m\")",
    "[n](<o p>)",
    "![r](https://s.t/u)",
    "|",
    "|q|r|\n|-|-|\n",
    "|s|t|u|\n",
    "&amp;",
    "&#36;",
    "&copy;",
    "- [x] ",
    "    ",
    "\t",
    "\u{202e}",
    "\u{200b}",
    "rm *.o *.a\n",
    "ls **/x **/y",
    "+ added\n",
    "- gone\n",
    "@@ -1,2 +1,2 @@\n",
    "--- a/v\n+++ b/v\n",
    "diff --git a/v b/v\n",
];

/// Characters that Markdown uses as marks.
const MARKS: &str = "#*_~`>|-+:=[]()<!\"'\\";

/// Says what of a source is missing in the text that is shown of it.
pub fn check(source: &str, text: &str, hides_marks: bool) -> Result<(), String> {
    // The x of a task is shown as its tick.
    let text = text.replace('☑', "x");
    let is_mark = |letter: &char| MARKS.contains(*letter);
    if let Some(missing) = first_missing(source.chars().filter(|letter| !is_mark(letter)), &text) {
        return Err(format!("{missing:?} of {source:?} is not in {text:?}"));
    }
    if hides_marks {
        return Ok(());
    }
    match first_missing(source.chars(), &text) {
        Some(missing) => Err(format!(
            "{missing:?} of {source:?} is not in {text:?}, and nothing says that marks are left out"
        )),
        None => Ok(()),
    }
}

/// Returns the first character that is not shown after the ones before it. An invisible one is shown by its name.
fn first_missing(letters: impl Iterator<Item = char>, text: &str) -> Option<char> {
    let mut rest = text;
    letters.filter(|letter| !letter.is_whitespace()).find(|letter| {
        let name = format!("⟨U+{:04X}⟩", u32::from(*letter));
        let found = [letter.to_string(), name]
            .iter()
            .filter_map(|shown| rest.find(shown.as_str()).map(|at| at + shown.len()))
            .min();
        match found {
            Some(end) => {
                rest = &rest[end..];
                false
            }
            None => true,
        }
    })
}

/// Returns what a reader sees of HTML.
pub fn text_of(html: &str) -> String {
    let mut text = String::new();
    for part in html.split('<') {
        text.push_str(part.split_once('>').map_or(part, |(_, text)| text));
    }
    for (escaped, letter) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&nbsp;", "\u{a0}"),
        ("&amp;", "&"),
    ] {
        text = text.replace(escaped, letter);
    }
    text
}
