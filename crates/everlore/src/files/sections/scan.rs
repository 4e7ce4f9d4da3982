//! Finds the headings of a markdown text, line by line, without being fooled by code, comments or lists.

/// A heading that begins a part of the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Heading {
    /// Where its line begins.
    pub(super) start: usize,
    /// Where its line ends, without the line break.
    pub(super) end: usize,
    /// Where the next line begins.
    pub(super) body: usize,
    /// 1 or 2; deeper ones stay inside their section.
    pub(super) level: usize,
    /// Its text.
    pub(super) title: String,
}

/// A code fence or a comment that is never closed, so that everything after it belongs to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unclosed {
    /// Where its line begins.
    pub(super) start: usize,
    /// The line it begins on, from 1.
    pub(super) line: usize,
    /// What it is.
    pub(super) what: &'static str,
}

/// A line without its line break, and where it stands.
pub(super) struct Line<'a> {
    pub(super) start: usize,
    pub(super) text: &'a str,
    /// Where the next line begins.
    pub(super) next: usize,
}

/// The lines of a text; `\n`, `\r\n` and `\r` end one.
pub(super) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let length = rest.find(['\n', '\r']).unwrap_or(rest.len());
        let ending = match &rest[length..] {
            ending if ending.starts_with("\r\n") => 2,
            "" => 0,
            _ => 1,
        };
        let line = Line { start, text: &rest[..length], next: start + length + ending };
        start = line.next;
        Some(line)
    })
}

/// What a line may be inside of.
enum Inside {
    Text,
    Fence {
        mark: char,
        length: usize,
    },
    /// A block of HTML that goes on until a line has one of these.
    Html(&'static [&'static str]),
}

/// HTML blocks in which markdown means nothing: how a line begins, and what ends them.
const HTML: [(&str, &[&str]); 8] = [
    ("<!--", &["-->"]),
    ("<?", &["?>"]),
    ("<![CDATA[", &["]]>"]),
    ("<!", &[">"]),
    ("<pre", RAW),
    ("<script", RAW),
    ("<style", RAW),
    ("<textarea", RAW),
];

const RAW: &[&str] = &["</pre>", "</script>", "</style>", "</textarea>"];

struct Scanner {
    inside: Inside,
    /// Where the contents of the open list items begin, outermost first.
    items: Vec<usize>,
    opened: Unclosed,
    headings: Vec<Heading>,
}

/// The headings of level 1 and 2 that stand at the top of the text, and what is left open at its end.
pub(super) fn scan(text: &str) -> (Vec<Heading>, Option<Unclosed>) {
    let opened = Unclosed { start: 0, line: 0, what: "" };
    let mut scanner =
        Scanner { inside: Inside::Text, items: Vec::new(), opened, headings: Vec::new() };
    // A byte order mark is not part of the first line.
    let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    for (index, line) in lines(&text[mark..]).enumerate() {
        let line = Line { start: line.start + mark, text: line.text, next: line.next + mark };
        scanner.line(&line, index + 1);
    }
    let open = !matches!(scanner.inside, Inside::Text);
    (scanner.headings, open.then_some(scanner.opened))
}

impl Scanner {
    fn line(&mut self, line: &Line<'_>, number: usize) {
        let blank = line.text.trim().is_empty();
        let indent = width(line.text);
        if !blank && self.items.last().is_some_and(|item| indent < *item) {
            // The list item ends here, and with it what was open inside of it.
            self.items.retain(|item| indent >= *item);
            self.inside = Inside::Text;
        }
        let nested = self.items.last().copied().unwrap_or(0);
        let inner = skip(line.text, nested);
        match &self.inside {
            Inside::Fence { mark, length } => {
                if closes(inner, *mark, *length) {
                    self.inside = Inside::Text;
                }
            }
            Inside::Html(ends) => {
                if has_any(inner, ends) {
                    self.inside = Inside::Text;
                }
            }
            Inside::Text if blank => {}
            Inside::Text => self.text(line, inner, nested, number),
        }
    }

    fn text(&mut self, line: &Line<'_>, inner: &str, nested: usize, number: usize) {
        let (mut inner, mut nested) = (inner, nested);
        while let Some(marker) = list_marker(inner) {
            nested += marker;
            self.items.push(nested);
            inner = skip_bytes(inner, marker);
        }
        if width(inner) > 3 {
            return;
        }
        let trimmed = inner.trim_start_matches(' ');
        if let Some((mark, length)) = opens(trimmed) {
            self.open(Inside::Fence { mark, length }, line, number, "code fence");
        } else if let Some(ends) = html(trimmed) {
            self.open(Inside::Html(ends), line, number, "block of HTML or comment");
        } else if let Some((level, title)) = heading(trimmed).filter(|_| nested == 0) {
            let end = line.start + line.text.len();
            let title = title.to_owned();
            self.headings.push(Heading { start: line.start, end, body: line.next, level, title });
        }
    }

    fn open(&mut self, inside: Inside, line: &Line<'_>, number: usize, what: &'static str) {
        self.inside = inside;
        self.opened = Unclosed { start: line.start, line: number, what };
    }
}

/// The level and the text of a heading of level 1 or 2.
fn heading(line: &str) -> Option<(usize, &str)> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    let separated = rest.is_empty() || rest.starts_with([' ', '\t']);
    ((1..=2).contains(&level) && separated).then(|| (level, without_closing(rest)))
}

/// The text of a heading without the number signs that may close it.
fn without_closing(rest: &str) -> &str {
    let blank = [' ', '\t'];
    let text = rest.trim_matches(blank);
    let open = text.trim_end_matches('#');
    if open.is_empty() || open.ends_with(blank) { open.trim_end_matches(blank) } else { text }
}

/// The mark and the length of a code fence that begins here.
fn opens(line: &str) -> Option<(char, usize)> {
    let mark = line.chars().next().filter(|c| ['`', '~'].contains(c))?;
    let rest = line.trim_start_matches(mark);
    let length = line.len() - rest.len();
    let fence = length >= 3 && (mark == '~' || !rest.contains('`'));
    fence.then_some((mark, length))
}

fn closes(line: &str, mark: char, length: usize) -> bool {
    let trimmed = line.trim_start_matches(' ');
    let rest = trimmed.trim_start_matches(mark);
    width(line) <= 3 && trimmed.len() - rest.len() >= length && rest.trim().is_empty()
}

/// What ends the block of HTML that begins here, unless this line ends it already.
fn html(line: &str) -> Option<&'static [&'static str]> {
    if !line.starts_with('<') {
        return None;
    }
    let start: String = line.chars().take(10).collect::<String>().to_ascii_lowercase();
    let is_start = |name: &str| {
        let rest = start.strip_prefix(&name.to_ascii_lowercase());
        let next = rest.and_then(|rest| rest.chars().next());
        let tag = name.ends_with(char::is_alphabetic);
        match name {
            "<!" => next.is_some_and(|c| c.is_ascii_alphabetic()),
            _ if tag => rest.is_some() && next.is_none_or(|c| c == '>' || c.is_whitespace()),
            _ => rest.is_some(),
        }
    };
    let (name, ends) = HTML.iter().find(|(name, _)| is_start(name))?;
    let after = line.get(name.len()..).unwrap_or_default();
    (!has_any(after, ends)).then_some(*ends)
}

fn has_any(line: &str, ends: &[&str]) -> bool {
    let lower = line.to_ascii_lowercase();
    ends.iter().any(|end| lower.contains(end))
}

/// How many bytes a list marker takes with the blanks around it, if one begins here.
fn list_marker(line: &str) -> Option<usize> {
    let rest = line.trim_start_matches(' ');
    let indent = line.len() - rest.len();
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let marker = match rest.as_bytes().get(digits) {
        Some(b'-' | b'*' | b'+') if digits == 0 => 1,
        Some(b'.' | b')') if (1..=9).contains(&digits) => digits + 1,
        _ => return None,
    };
    let after = &rest[marker..];
    let blanks = after.len() - after.trim_start_matches(' ').len();
    let separated = after.is_empty() || blanks > 0;
    // More than four blanks are code inside the item.
    let gap = if blanks > 4 || after.trim().is_empty() { 1 } else { blanks };
    (indent <= 3 && separated).then_some(indent + marker + gap)
}

/// How far a line is moved in; a tab goes on to the next multiple of four.
fn width(line: &str) -> usize {
    let mut width = 0;
    for c in line.chars() {
        match c {
            ' ' => width += 1,
            '\t' => width += 4 - width % 4,
            _ => break,
        }
    }
    width
}

/// The line without so many blanks at its beginning.
fn skip(line: &str, columns: usize) -> &str {
    let blanks = line.bytes().take(columns).take_while(|byte| *byte == b' ').count();
    &line[blanks..]
}

fn skip_bytes(line: &str, bytes: usize) -> &str {
    line.get(bytes..).unwrap_or_default()
}
