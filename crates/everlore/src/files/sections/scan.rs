//! Finds the headings of a markdown text, line by line, without being fooled by code, comments or lists.

/// A heading that begins a part of the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SectionHeading {
    /// Where its line begins.
    pub(super) start: usize,
    /// Where its line ends, without the line break.
    pub(super) end: usize,
    /// Where the next line begins.
    pub(super) body_start: usize,
    /// 1 or 2; deeper ones stay inside their section.
    pub(super) level: usize,
    /// Its text.
    pub(super) title: String,
}

/// A code fence or a comment that is never closed, so that everything after it belongs to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UnclosedMarkup {
    /// Where its line begins.
    pub(super) start: usize,
    /// The line it begins on, from 1.
    pub(super) line: usize,
    /// What it is.
    pub(super) construct: &'static str,
}

/// A line without its line break, and where it stands.
pub(super) struct MarkdownLine<'a> {
    pub(super) start: usize,
    pub(super) text: &'a str,
    /// Where the next line begins.
    pub(super) next_start: usize,
}

/// The lines of a text; `\n`, `\r\n` and `\r` end one.
pub(super) fn lines(text: &str) -> impl Iterator<Item = MarkdownLine<'_>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let length = rest.find(['\n', '\r']).unwrap_or(rest.len());
        let ending = match &rest[length..] {
            ending if ending.starts_with("\r\n") => 2,
            "" => 0,
            _ => 1,
        };
        let line =
            MarkdownLine { start, text: &rest[..length], next_start: start + length + ending };
        start = line.next_start;
        Some(line)
    })
}

/// What a line may be inside of.
enum ScanState {
    Text,
    Fence {
        mark: char,
        length: usize,
    },
    /// A block of HTML that goes on until a line has one of these.
    Html(&'static [&'static str]),
}

/// HTML blocks in which markdown means nothing: how a line begins, and what ends them.
const HTML_BLOCKS: [(&str, &[&str]); 8] = [
    ("<!--", &["-->"]),
    ("<?", &["?>"]),
    ("<![CDATA[", &["]]>"]),
    ("<!", &[">"]),
    ("<pre", RAW_TEXT_ENDS),
    ("<script", RAW_TEXT_ENDS),
    ("<style", RAW_TEXT_ENDS),
    ("<textarea", RAW_TEXT_ENDS),
];

const RAW_TEXT_ENDS: &[&str] = &["</pre>", "</script>", "</style>", "</textarea>"];

struct HeadingScanner {
    state: ScanState,
    /// Where the contents of the open list items begin, outermost first.
    item_indents: Vec<usize>,
    last_opened: UnclosedMarkup,
    headings: Vec<SectionHeading>,
}

/// The headings of level 1 and 2 that stand at the top of the text, and what is left open at its end.
pub(super) fn scan_headings(text: &str) -> (Vec<SectionHeading>, Option<UnclosedMarkup>) {
    let opened = UnclosedMarkup { start: 0, line: 0, construct: "" };
    let mut scanner = HeadingScanner {
        state: ScanState::Text,
        item_indents: Vec::new(),
        last_opened: opened,
        headings: Vec::new(),
    };
    // A byte order mark is not part of the first line.
    let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    for (index, line) in lines(&text[mark..]).enumerate() {
        let line = MarkdownLine {
            start: line.start + mark,
            text: line.text,
            next_start: line.next_start + mark,
        };
        scanner.scan_line(&line, index + 1);
    }
    let open = !matches!(scanner.state, ScanState::Text);
    (scanner.headings, open.then_some(scanner.last_opened))
}

impl HeadingScanner {
    fn scan_line(&mut self, line: &MarkdownLine<'_>, number: usize) {
        let blank = line.text.trim().is_empty();
        let indent = indent_width(line.text);
        if !blank && self.item_indents.last().is_some_and(|item| indent < *item) {
            // The list item ends here, and with it what was open inside of it.
            self.item_indents.retain(|item| indent >= *item);
            self.state = ScanState::Text;
        }
        let nested = self.item_indents.last().copied().unwrap_or(0);
        let inner = skip_indent(line.text, nested);
        match &self.state {
            ScanState::Fence { mark, length } => {
                if closes_fence(inner, *mark, *length) {
                    self.state = ScanState::Text;
                }
            }
            ScanState::Html(ends) => {
                if contains_any(inner, ends) {
                    self.state = ScanState::Text;
                }
            }
            ScanState::Text if blank => {}
            ScanState::Text => self.scan_text(line, inner, nested, number),
        }
    }

    fn scan_text(&mut self, line: &MarkdownLine<'_>, inner: &str, nested: usize, number: usize) {
        let (mut inner, mut nested) = (inner, nested);
        while let Some(marker) = list_marker(inner) {
            nested += marker;
            self.item_indents.push(nested);
            inner = skip_bytes(inner, marker);
        }
        if indent_width(inner) > 3 {
            return;
        }
        let trimmed = inner.trim_start_matches(' ');
        if let Some((mark, length)) = fence_start(trimmed) {
            self.open(ScanState::Fence { mark, length }, line, number, "code fence");
        } else if let Some(ends) = html_block_ends(trimmed) {
            self.open(ScanState::Html(ends), line, number, "block of HTML or comment");
        } else if let Some((level, title)) = parse_heading(trimmed).filter(|_| nested == 0) {
            let end = line.start + line.text.len();
            let title = title.to_owned();
            self.headings.push(SectionHeading {
                start: line.start,
                end,
                body_start: line.next_start,
                level,
                title,
            });
        }
    }

    fn open(
        &mut self,
        inside: ScanState,
        line: &MarkdownLine<'_>,
        number: usize,
        what: &'static str,
    ) {
        self.state = inside;
        self.last_opened = UnclosedMarkup { start: line.start, line: number, construct: what };
    }
}

/// The level and the text of a heading of level 1 or 2.
fn parse_heading(line: &str) -> Option<(usize, &str)> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    let separated = rest.is_empty() || rest.starts_with([' ', '\t']);
    ((1..=2).contains(&level) && separated).then(|| (level, strip_closing_hashes(rest)))
}

/// The text of a heading without the number signs that may close it.
fn strip_closing_hashes(rest: &str) -> &str {
    let blank = [' ', '\t'];
    let text = rest.trim_matches(blank);
    let open = text.trim_end_matches('#');
    if open.is_empty() || open.ends_with(blank) { open.trim_end_matches(blank) } else { text }
}

/// The mark and the length of a code fence that begins here.
fn fence_start(line: &str) -> Option<(char, usize)> {
    let mark = line.chars().next().filter(|c| ['`', '~'].contains(c))?;
    let rest = line.trim_start_matches(mark);
    let length = line.len() - rest.len();
    let fence = length >= 3 && (mark == '~' || !rest.contains('`'));
    fence.then_some((mark, length))
}

fn closes_fence(line: &str, mark: char, length: usize) -> bool {
    let trimmed = line.trim_start_matches(' ');
    let rest = trimmed.trim_start_matches(mark);
    indent_width(line) <= 3 && trimmed.len() - rest.len() >= length && rest.trim().is_empty()
}

/// What ends the block of HTML that begins here, unless this line ends it already.
fn html_block_ends(line: &str) -> Option<&'static [&'static str]> {
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
    let (name, ends) = HTML_BLOCKS.iter().find(|(name, _)| is_start(name))?;
    let after = line.get(name.len()..).unwrap_or_default();
    (!contains_any(after, ends)).then_some(*ends)
}

fn contains_any(line: &str, ends: &[&str]) -> bool {
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
fn indent_width(line: &str) -> usize {
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
fn skip_indent(line: &str, columns: usize) -> &str {
    let blanks = line.bytes().take(columns).take_while(|byte| *byte == b' ').count();
    &line[blanks..]
}

fn skip_bytes(line: &str, bytes: usize) -> &str {
    line.get(bytes..).unwrap_or_default()
}
