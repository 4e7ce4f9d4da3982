//! Word wrap of a stream: what came is shown at once, and a word that grows beyond the line is taken back to the next one.

use unicode_width::UnicodeWidthChar;

use crate::text_width::may_break;

/// Text on its way to the terminal.
#[derive(Debug, Default)]
pub(super) struct WrappedText {
    /// Width of the terminal; `None` does not wrap.
    width: Option<usize>,
    out: String,
    /// Cells of the current line that are used.
    column: usize,
    /// Blanks before the next word.
    blanks: String,
    /// Word that is not complete yet, with the codes of its style.
    word: String,
    word_cells: usize,
    /// Bytes and cells of the word that are shown already.
    shown: (usize, usize),
    /// Last visible character of the word.
    last_char: Option<char>,
    in_escape: bool,
    /// Beginning of the lines that continue this one, and its width.
    hanging: (String, usize),
    /// Set on lines that are not wrapped.
    is_verbatim: bool,
}

impl WrappedText {
    /// Returns an empty text for a terminal of this width.
    pub(super) fn new(width: Option<usize>) -> Self {
        Self { width: width.filter(|width| *width > 1), ..Self::default() }
    }

    /// Adds a text, which may have codes for styles.
    pub(super) fn push_str(&mut self, text: &str) {
        text.chars().for_each(|c| self.push(c));
    }

    /// Adds a character.
    pub(super) fn push(&mut self, c: char) {
        if self.width.is_none() {
            return self.out.push(c);
        }
        match c {
            '\n' => self.end_line(),
            '\x1b' => self.begin_escape(),
            _ if self.in_escape => {
                self.word.push(c);
                self.in_escape = !c.is_ascii_alphabetic();
            }
            _ if self.is_verbatim => self.out.push(c),
            c if c.is_whitespace() => {
                self.end_word();
                self.blanks.push(c);
            }
            c => self.push_visible(c),
        }
    }

    /// Begins a marked line: what continues it begins with `hanging`, which takes this many cells.
    pub(super) fn hang(&mut self, hanging: String, cells: usize) {
        self.hanging = (hanging, cells);
    }

    /// Begins a line that is not wrapped, such as code.
    pub(super) fn begin_verbatim(&mut self) {
        self.end_word();
        self.out.push_str(&std::mem::take(&mut self.blanks));
        self.is_verbatim = true;
    }

    /// Returns what can be shown so far, also of a word that is not complete.
    pub(super) fn take(&mut self) -> String {
        let gap = self.blanks.chars().count();
        let is_visible = self.last_char.is_some() && !self.in_escape;
        // In the last cell of a line the cursor stays on it, and could not be moved back by as many cells.
        let has_room = self.width.is_none_or(|width| self.column + gap + self.word_cells < width);
        if is_visible && has_room {
            self.out.push_str(&std::mem::take(&mut self.blanks));
            self.column += gap;
            self.out.push_str(&self.word[self.shown.0..]);
            self.shown = (self.word.len(), self.word_cells);
        }
        std::mem::take(&mut self.out)
    }

    fn fits(&self, gap: usize) -> bool {
        self.width.is_none_or(|width| self.column + gap + self.word_cells <= width)
    }

    /// Returns everything, also a word that is not complete.
    pub(super) fn finish(&mut self) -> String {
        self.end_word();
        std::mem::take(&mut self.out)
    }

    fn begin_escape(&mut self) {
        if self.is_verbatim {
            return self.out.push('\x1b');
        }
        self.word.push('\x1b');
        self.in_escape = true;
    }

    fn push_visible(&mut self, c: char) {
        if self.last_char.is_some_and(|last| may_break(last, c)) {
            self.end_word();
        }
        self.word.push(c);
        self.word_cells += c.width().unwrap_or(0);
        self.last_char = Some(c);
    }

    fn end_word(&mut self) {
        let blanks = std::mem::take(&mut self.blanks);
        if self.last_char.is_none() {
            // Only codes, or nothing: blanks wait for the next word.
            self.out.push_str(&std::mem::take(&mut self.word));
            self.blanks = blanks;
            return;
        }
        let gap = blanks.chars().count();
        let (shown, shown_cells) = std::mem::take(&mut self.shown);
        let is_first = self.column + gap == 0;
        let word = std::mem::take(&mut self.word);
        if self.fits(gap) || is_first {
            self.out.push_str(&blanks);
            self.out.push_str(&word[shown..]);
            self.column += gap;
        } else {
            if shown_cells > 0 {
                // The part that is shown is erased.
                self.out.push_str(&format!("\x1b[{shown_cells}D\x1b[K"));
            }
            self.out.push('\n');
            self.out.push_str(&self.hanging.0);
            self.out.push_str(&word);
            self.column = self.hanging.1;
        }
        self.column += std::mem::take(&mut self.word_cells);
        if let Some(width) = self.width.filter(|width| self.column > *width) {
            // The terminal itself breaks a word that is wider than a line.
            self.column %= width;
        }
        self.last_char = None;
    }

    fn end_line(&mut self) {
        self.end_word();
        self.blanks.clear();
        self.out.push('\n');
        (self.column, self.is_verbatim) = (0, false);
        self.hanging = (String::new(), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(text: &str, width: usize) -> String {
        let mut wrap = WrappedText::new(Some(width));
        wrap.push_str(text);
        wrap.finish()
    }

    #[test]
    fn lines_break_between_words_in_both_languages() {
        assert_eq!(wrapped("the quick brown fox", 10), "the quick\nbrown fox");
        assert_eq!(wrapped("我喜欢喝龙井茶。", 8), "我喜欢喝\n龙井茶。");
        assert_eq!(wrapped("用 everlore list", 11), "用 everlore\nlist");
        assert_eq!(wrapped("  two", 10), "  two");
        assert_eq!(wrapped("one\n\ntwo", 10), "one\n\ntwo");
    }

    #[test]
    fn codes_of_styles_take_no_place() {
        assert_eq!(wrapped("a \x1b[1mbold\x1b[0m one", 10), "a \x1b[1mbold\x1b[0m one");
        assert_eq!(wrapped("a \x1b[1mbold\x1b[0m word", 8), "a \x1b[1mbold\x1b[0m\nword");
    }

    #[test]
    fn continued_lines_hang_and_code_is_left_alone() {
        let mut wrap = WrappedText::new(Some(9));
        wrap.push_str("• ");
        wrap.hang("  ".into(), 2);
        wrap.push_str("one two three\n");
        wrap.begin_verbatim();
        wrap.push_str("let x = y + z;\n");
        assert_eq!(wrap.finish(), "• one two\n  three\nlet x = y + z;\n");
    }

    #[test]
    fn a_word_is_shown_at_once_and_taken_back_if_it_grows_too_long() {
        let mut wrap = WrappedText::new(Some(13));
        wrap.push_str("Hello, wor");
        assert_eq!(wrap.take(), "Hello, wor");
        wrap.push_str("ld");
        assert_eq!(wrap.take(), "ld");
        wrap.push_str("wide ");
        assert_eq!(wrap.take(), "\x1b[5D\x1b[K\nworldwide");
    }
}
