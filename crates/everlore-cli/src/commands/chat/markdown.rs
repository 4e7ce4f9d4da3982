//! Streaming markdown renderer for a terminal: each chunk is shown at once, and nothing is drawn twice.
//!
//! Only what is undecided is held back: markers at the beginning of a line, one whose next character decides its meaning,
//! the word that may begin a new line, and the rows of a table until it ends.

use super::{markdown_table::render_markdown_table, word_wrap::WrappedText};

/// Kind of the current line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineKind {
    /// Undecided: its beginning is held back.
    Unknown,
    Text,
    Heading,
    /// Inside a fence, or the fence itself.
    Code,
}

const BOLD: &str = "\x1b[1m";
const FAINT: &str = "\x1b[2m";
const ITALIC: &str = "\x1b[3m";
const CODE: &str = "\x1b[36m";
const RESET: &str = "\x1b[0m";

/// Characters that a backslash escapes.
const ESCAPABLE: &str = "*_`#[]<>-+.!|~()";

/// Renderer of one markdown text.
#[derive(Debug)]
pub(super) struct MarkdownRenderer {
    line_kind: LineKind,
    /// Characters held back.
    pending: String,
    /// Closing fence of the current code block.
    fence: Option<String>,
    bold: bool,
    italic: bool,
    code: bool,
    /// Last character shown.
    last_char: char,
    /// Rows of the current table.
    table: Vec<String>,
    /// Text on its way to the terminal, and its width.
    out: WrappedText,
    width: Option<usize>,
}

impl MarkdownRenderer {
    /// Returns a renderer at the beginning of a text, for a terminal of this width; `None` does not wrap.
    pub(super) fn new(width: Option<usize>) -> Self {
        Self {
            table: Vec::new(),
            out: WrappedText::new(width),
            width,
            line_kind: LineKind::Unknown,
            pending: String::new(),
            fence: None,
            bold: false,
            italic: false,
            code: false,
            last_char: '\n',
        }
    }

    /// Renders the next chunk, as far as its markers are decided.
    pub(super) fn push(&mut self, chunk: &str) -> String {
        let mut out = std::mem::take(&mut self.out);
        for c in chunk.chars().filter(|c| *c == '\n' || *c == '\t' || !c.is_control()) {
            self.push_char(c, &mut out);
        }
        self.out = out;
        self.out.take()
    }

    /// Renders what was held back, resets all styles and ends the last line.
    pub(super) fn finish(&mut self) -> String {
        let mut out = std::mem::take(&mut self.out);
        if self.line_kind == LineKind::Unknown && !self.pending.is_empty() {
            self.end_line(&mut out);
        }
        self.end_table(&mut out);
        self.flush_pending(' ', &mut out);
        if self.is_styled() {
            out.push_str(RESET);
        }
        if self.last_char != '\n' {
            out.push('\n');
        }
        *self = Self::new(self.width);
        out.finish()
    }

    fn push_char(&mut self, c: char, out: &mut WrappedText) {
        match (c, self.line_kind) {
            ('\n', _) => self.end_line(out),
            (_, LineKind::Unknown) => {
                self.pending.push(c);
                match &self.fence {
                    None if !may_be_marker(&self.pending) => self.begin_line(out),
                    Some(fence) if !may_close_fence(&self.pending, fence) => self.begin_code(out),
                    _ => {}
                }
            }
            (_, LineKind::Code) => self.emit(c, out),
            (_, LineKind::Text | LineKind::Heading) => self.push_inline(c, out),
        }
    }

    /// Renders the beginning of a line, whose markers are complete.
    fn begin_line(&mut self, out: &mut WrappedText) {
        self.end_table(out);
        let pending = std::mem::take(&mut self.pending);
        let text = pending.trim_start();
        let indent = &pending[..pending.len() - text.len()];
        let marks = text.chars().take_while(|c| *c == '#').count();
        let (line, shown, rest) = if (1..=6).contains(&marks) && text[marks..].starts_with(' ') {
            (LineKind::Heading, BOLD.to_owned(), text[marks..].trim_start())
        } else if let Some(rest) = ["- ", "* ", "+ "].iter().find_map(|m| text.strip_prefix(m)) {
            (LineKind::Text, format!("{indent}• "), rest)
        } else if let Some(rest) = text.strip_prefix('>') {
            let rest = rest.strip_prefix(' ').unwrap_or(rest);
            (LineKind::Text, format!("{indent}{FAINT}│{RESET} "), rest)
        } else {
            (LineKind::Text, indent.to_owned(), text)
        };
        out.push_str(&shown);
        hang(out, &shown, indent);
        self.line_kind = line;
        self.last_char = ' ';
        for c in rest.chars() {
            self.push_inline(c, out);
        }
    }

    fn begin_code(&mut self, out: &mut WrappedText) {
        let pending = std::mem::take(&mut self.pending);
        out.begin_verbatim();
        out.push_str(CODE);
        out.push_str(&pending);
        (self.line_kind, self.last_char) = (LineKind::Code, ' ');
    }

    /// Renders the rest of a line at its end.
    fn end_line(&mut self, out: &mut WrappedText) {
        if self.line_kind == LineKind::Unknown {
            let pending = std::mem::take(&mut self.pending);
            if self.fence.is_none() && pending.trim_start().starts_with('|') {
                return self.table.push(pending);
            }
            self.end_table(out);
            match self.render_whole_line(&pending) {
                Some(shown) => {
                    out.begin_verbatim();
                    out.push_str(&shown);
                }
                None => {
                    self.pending = pending;
                    self.begin_line(out);
                }
            }
        }
        self.flush_pending('\n', out);
        if self.is_styled() {
            out.push_str(RESET);
        }
        out.push('\n');
        (self.bold, self.italic, self.code) = (false, false, false);
        (self.line_kind, self.last_char) = (LineKind::Unknown, '\n');
    }

    /// Renders the table that ends here, if there is one.
    fn end_table(&mut self, out: &mut WrappedText) {
        let rows = std::mem::take(&mut self.table);
        if rows.is_empty() {
            return;
        }
        match render_markdown_table(&rows, self.width) {
            Some(table) => {
                for line in table.lines() {
                    out.begin_verbatim();
                    out.push_str(line);
                    out.push('\n');
                }
            }
            // Lines that only begin like a table.
            None => rows.iter().for_each(|row| out.push_str(&format!("{row}\n"))),
        }
    }

    /// Renders a line that is only recognised as a whole: a fence, code, or a thematic break.
    fn render_whole_line(&mut self, pending: &str) -> Option<String> {
        let text = pending.trim();
        if let Some(fence) = &self.fence {
            let ends = text.starts_with(fence.as_str()) && text.trim_matches(['`', '~']).is_empty();
            if ends {
                self.fence = None;
                return Some(format!("{FAINT}{pending}{RESET}"));
            }
            return Some(if pending.is_empty() {
                String::new()
            } else {
                format!("{CODE}{pending}{RESET}")
            });
        }
        if text.starts_with("```") || text.starts_with("~~~") {
            let mark = text.chars().next()?;
            self.fence = Some(text.chars().take_while(|c| *c == mark).collect());
            return Some(format!("{FAINT}{pending}{RESET}"));
        }
        let is_rule = text.len() >= 3
            && ["-", "*", "_"]
                .iter()
                .any(|mark| text.replace([' '], "").replace(mark, "").is_empty());
        is_rule.then(|| format!("{FAINT}────────────────────{RESET}"))
    }

    /// Renders a character inside a line.
    fn push_inline(&mut self, c: char, out: &mut WrappedText) {
        if self.pending == "\\" && ESCAPABLE.contains(c) {
            self.pending.clear();
            return self.emit(c, out);
        }
        if self.pending.starts_with(c) {
            return self.pending.push(c);
        }
        self.flush_pending(c, out);
        let is_mark = c == '`' || !self.code && ['*', '_', '\\'].contains(&c);
        if is_mark { self.pending.push(c) } else { self.emit(c, out) }
    }

    /// Shows or applies held-back markers, now that the next character is known.
    fn flush_pending(&mut self, next: char, out: &mut WrappedText) {
        let pending = std::mem::take(&mut self.pending);
        match pending.as_str() {
            "" => {}
            "`" => self.toggle(|styles| styles.code = !styles.code, out),
            "**" | "__" if self.is_emphasis(self.bold, &pending, next) => {
                self.toggle(|styles| styles.bold = !styles.bold, out);
            }
            "*" | "_" if self.is_emphasis(self.italic, &pending, next) => {
                self.toggle(|styles| styles.italic = !styles.italic, out);
            }
            _ => pending.chars().for_each(|c| self.emit(c, out)),
        }
    }

    /// Returns `true` if markers begin or end an emphasis, by the characters around them.
    fn is_emphasis(&self, on: bool, pending: &str, next: char) -> bool {
        let word = pending.starts_with('_');
        if on {
            !(self.last_char.is_whitespace() || word && next.is_alphanumeric())
        } else {
            !(next.is_whitespace() || word && self.last_char.is_alphanumeric())
        }
    }

    fn toggle(&mut self, change: impl FnOnce(&mut Self), out: &mut WrappedText) {
        change(self);
        out.push_str(RESET);
        let heading = self.line_kind == LineKind::Heading;
        for (on, style) in [(self.bold || heading, BOLD), (self.italic, ITALIC), (self.code, CODE)]
        {
            out.push_str(if on { style } else { "" });
        }
    }

    fn emit(&mut self, c: char, out: &mut WrappedText) {
        out.push(c);
        self.last_char = c;
    }

    fn is_styled(&self) -> bool {
        self.bold
            || self.italic
            || self.code
            || matches!(self.line_kind, LineKind::Heading | LineKind::Code)
    }
}

/// Returns `true` if a line of code may still become the closing fence.
fn may_close_fence(pending: &str, fence: &str) -> bool {
    let text = pending.trim_start();
    fence.starts_with(text) || text.starts_with(fence)
}

/// Returns `true` if the beginning of a line may still become a marker.
fn may_be_marker(pending: &str) -> bool {
    let text = pending.trim_start();
    let only = |marks: &[char]| text.chars().all(|c| marks.contains(&c));
    text.is_empty()
        || only(&['#']) && text.len() <= 6
        || text.starts_with("```")
        || text.starts_with("~~~")
        || only(&['`']) && text.len() < 3
        || only(&['~']) && text.len() < 3
        || only(&['-', ' '])
        || only(&['*', ' '])
        || only(&['_', ' '])
        || text == "+"
        || text == ">"
        || text.starts_with('|')
}

/// Lets the lines that continue a list item, a quote or an indented line begin below its text.
fn hang(out: &mut WrappedText, shown: &str, indent: &str) {
    let blanks = indent.chars().count();
    if shown.ends_with("• ") {
        out.hang(" ".repeat(blanks + 2), blanks + 2);
    } else if shown.contains('│') {
        out.hang(shown.to_owned(), blanks + 2);
    } else {
        out.hang(indent.to_owned(), blanks);
    }
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
